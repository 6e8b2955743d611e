#!/usr/bin/env python3
"""Checks that the commands of README.md and docs/*.md do what the pages say.

    check_doc_commands.py --bin DIR [FILE...]   runs them with the programs of DIR; exit code 1 if one is wrong
    check_doc_commands.py --self-test           checks that it finds wrong pages

In a fenced block, a line `$ COMMAND` (with a backslash at its end it goes on) is run by bash in a folder that
has what the project's has, and the demo profile as demo.sql. The lines below it are what it prints: all of
standard output, of standard error, or of both; a line `...` stands for any number of lines. Where none are
below it, its exit code must be 0. What cannot be run has a comment before its block:

    <!-- not run: needs a GPU -->

Every option of our programs in a command, in any block and in `code` that begins with a program's name, must
be in that program's help.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = ("oplens", "parse", "prof", "record", "report")
COMMAND = re.compile(r"^ +oplens ([a-z]+) ", re.M)
FENCE = re.compile(r"^\s*```")
NOT_RUN = re.compile(r"<!-- not run: (\S.*) -->")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
OPTION = re.compile(r"^(--[a-z][a-z0-9-]*|-[a-zA-Z])(?:=.*|[0-9]+)?$")
# Where a shell begins another command.
ENDS = re.compile(r"\s*(?:\|\||&&|[|;&()]|#.*$)\s*")
ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")
TIMEOUT_S = 60


class Block:
    def __init__(self, page, line, reason):
        self.page, self.line, self.reason = page, line, reason
        self.lines = []

    def commands(self):
        """(line, command, lines of output) of each `$ COMMAND`."""
        found, at = [], 0
        while at < len(self.lines):
            text = self.lines[at]
            if not text.startswith("$ "):
                if found:
                    found[-1][2].append(text)
                at += 1
                continue
            line, command = self.line + 1 + at, text[2:]
            while command.endswith("\\") and at + 1 < len(self.lines):
                at += 1
                command = command[:-1] + self.lines[at].strip()
            found.append((line, command, []))
            at += 1
        return found


def blocks_of(page, text):
    """The fenced blocks of a page, and its text outside them as (line, text)."""
    blocks, outside, block, reason = [], [], None, None
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            if block is None:
                block = Block(page, number, reason)
            else:
                blocks.append(block)
                block, reason = None, None
        elif block is not None:
            block.lines.append(line)
        else:
            outside.append((number, line))
            if line.strip():
                marker = NOT_RUN.search(line)
                reason = marker.group(1) if marker else None
    return blocks, outside


def same(shown, printed):
    """Whether lines that are shown, some of them cut to `...`, are those that are printed."""
    shown = [line.rstrip() for line in shown]
    printed = [line.rstrip() for line in printed]
    while shown and not shown[-1]:
        shown.pop()
    while printed and not printed[-1]:
        printed.pop()
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def run(command, folder, bin_dir):
    environment = {"PATH": f"{bin_dir}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    out, err = (text.decode("utf-8", "replace").splitlines() for text in (result.stdout, result.stderr))
    return result.returncode, out, err


def fault_of(command, shown, folder, bin_dir):
    """What is wrong with a command, or None."""
    try:
        code, out, err = run(command, folder, bin_dir)
    except subprocess.TimeoutExpired:
        return f"takes more than {TIMEOUT_S} s"
    if not any(line.strip() for line in shown):
        return f"exit code {code}: {' '.join(err)[:200]}" if code else None
    if any(same(shown, printed) for printed in (out, err, out + err, err + out)):
        return None
    printed = out or err
    for number, (want, got) in enumerate(zip(shown, printed), 1):
        if want.rstrip() != got.rstrip():
            return f"line {number} of its output is\n    {got}\n  and shown is\n    {want}"
    return f"prints {len(printed)} lines, shown are {len(shown)}: cut what is shown with a line ..."


def commands_in(text):
    """The words of each command of ours in a line of shell."""
    for part in ENDS.split(text):
        words = part.split()
        while words and ASSIGNMENT.match(words[0]):
            words.pop(0)
        if words and words[0] in PROGRAMS:
            yield words


def options_of(words):
    """The options among the words of a command: `record` runs what is behind its own."""
    for word in words[1:]:
        if word == "--":
            return
        found = OPTION.match(word.strip("[]"))
        if found:
            yield found.group(1)


class Help:
    """What the help of each program, and of each command of `oplens`, names."""

    def __init__(self, bin_dir):
        self.bin_dir, self.known = bin_dir, {}

    def output(self, *words):
        """What a program prints; None where it is not built."""
        if words not in self.known:
            path = pathlib.Path(self.bin_dir) / words[0]
            self.known[words] = subprocess.run([path, *words[1:]], stdout=subprocess.PIPE, check=False).stdout.decode() \
                if path.exists() else None
        return self.known[words]

    def has(self, words, option):
        text = self.output(*words, "-h")
        return text is None or re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None

    def faults(self, text):
        for words in commands_in(text):
            program, rest = words[:1], words
            if words[0] == "oplens" and len(words) > 1 and words[1] in COMMAND.findall(self.output("oplens") or ""):
                program, rest = words[:2], words[1:]
            for option in options_of(rest):
                if not self.has(program, option):
                    yield f"{' '.join(program)} has no option {option}"


def check(page, text, folder, bin_dir, helps):
    """Yields (what was run, fault or None) of a page."""
    blocks, outside = blocks_of(page, text)
    for number, line in outside:
        for span in SPAN.findall(line):
            for fault in helps.faults(span):
                yield f"{page}:{number}", fault
    for block in blocks:
        for at, line in enumerate(block.lines, block.line + 1):
            command = line[2:] if line.startswith("$ ") else line
            for fault in helps.faults(command.rstrip("\\")):
                yield f"{page}:{at}", fault
        if block.reason:
            continue
        for line, command, shown in block.commands():
            fault = fault_of(command, shown, folder, bin_dir)
            yield f"{page}:{line}: {command}", fault


def prepare(root, folder):
    """A folder that has what `root` has, where files can be written."""
    for entry in root.iterdir():
        if not entry.name.startswith((".", "build")):
            (folder / entry.name).symlink_to(entry)
    demo = root / "examples/data/demo.sql"
    if demo.exists():
        (folder / "demo.sql").symlink_to(demo)


def check_all(root, bin_dir, pages):
    helps, faults, runs = Help(bin_dir), [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(root, folder)
        for page in pages:
            for what, fault in check(page, (root / page).read_text(encoding="utf-8"), folder, bin_dir, helps):
                runs += 1
                if fault:
                    faults.append(f"{what}\n  {fault}")
    return runs, faults


def self_test():
    """Pages with known faults, and a program that is a shell script."""
    cases = {
        "```\n$ echo a; echo b\na\nb\n```\n": 0,
        "```\n$ echo a; echo b\na\n```\n": 1,
        "```\n$ echo a; echo b\na\n...\n```\n": 0,
        "```\n$ seq 9\n1\n...\n5\n...\n9\n```\n": 0,
        "```\n$ seq 9\n1\n...\n5\n...\n8\n```\n": 1,
        "```\n$ echo a \\\n  b\na b\n```\n": 0,
        "```\n$ echo a >&2\na\n```\n": 0,
        "```\n$ false\n```\n": 1,
        "```\n$ true\n$ echo x\ny\n```\n": 1,
        "<!-- not run: needs a GPU -->\n```\n$ false\n```\n": 0,
        "<!-- not run: needs a GPU -->\nOther text.\n```\n$ false\n```\n": 1,
        "```\nprof --view x FILE\n```\n": 0,
        "```\nprof --vjew x FILE\n```\n": 1,
        "```\nA=1 prof --quiet FILE | prof --loud\n```\n": 1,
        "```\nrecord --view -- prog --any\n```\n": 0,
        "Text `prof --csv FILE` and `nsys --csv`.\n": 1,
        "Text `oplens view --gaps FILE`, `oplens view --quiet x` and `oplens --gaps run.json`.\n": 2,
        "```\n$ prof -w100 --view=x\nran -w100 --view=x\n```\n": 0,
    }
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "bin").mkdir()
        for program in ("prof", "record", "oplens"):
            script = root / "bin" / program
            script.write_text('#!/bin/sh\ncase "$*" in\n  *-h) echo "  -w, --view X  --quiet" ;;\n'
                              '  "") echo "  oplens view VIEW  shows" ;;\n  *) echo "ran $*" ;;\nesac\n')
            script.chmod(0o755)
        for text, expected in cases.items():
            (root / "page.md").write_text(text)
            _, faults = check_all(root, root / "bin", ["page.md"])
            if len(faults) != expected:
                sys.exit(f"{text!r}: expected {expected} faults, found {faults}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE", help="pages; without: README.md and docs/*.md")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    if options.bin is None:
        parser.error("--bin is missing")
    pages = options.files or ["README.md"] + sorted(f"docs/{path.name}" for path in (options.root / "docs").glob("*.md"))
    runs, faults = check_all(options.root, options.bin.resolve(), pages)
    for fault in faults:
        print(fault)
    print(f"{runs} commands and options checked, {len(faults)} faults")
    sys.exit(1 if faults or runs == 0 else 0)


if __name__ == "__main__":
    main()
