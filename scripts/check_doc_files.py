#!/usr/bin/env python3
"""Checks that the files which docs/adding.md tells people to touch exist.

    check_doc_files.py [--root DIR]   lists each name that is not a file or folder; exit code 1 if any
    check_doc_files.py --self-test    checks that it finds wrong names in a made-up table

Every `word` in backquotes that holds a slash or ends like a file, inside the page
"To add X, touch these files", must name a file or folder from the root of the project.
"""
import argparse
import pathlib
import re
import sys
import tempfile

DOCUMENT = "docs/adding.md"
HEADING = "to add x, touch these files"
WORD = re.compile(r"`([^`\s]+)`")
FILE_LIKE = re.compile(r"/|\.(h|cc|md|txt|py|sh|json|csv|dict)$")


def section(text):
    """The lines from the heading to the next heading of the same or a higher level."""
    lines, level = [], 0
    for line in text.splitlines():
        hashes = len(line) - len(line.lstrip("#"))
        if level == 0:
            if hashes and HEADING in line.lower():
                level = hashes
            continue
        if 0 < hashes <= level:
            break
        lines.append(line)
    return "\n".join(lines)


def faults(root):
    names = [w for w in WORD.findall(section((root / DOCUMENT).read_text(encoding="utf-8"))) if FILE_LIKE.search(w)]
    if not names:
        yield f'{DOCUMENT}: the section "{HEADING}" names no file'
    for name in names:
        if not (root / name).exists():
            yield f"{DOCUMENT}: there is no {name}"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "a.cc").write_text("")
        document = root / DOCUMENT
        table = "## To add X, touch these files\n| an op | `a.cc`, one `row` |\n| a view | `views/b.cc` |\n## Next\n`c.cc`\n"
        document.write_text(table)
        if list(faults(root)) != [f"{DOCUMENT}: there is no views/b.cc"]:
            sys.exit(f"wrong faults: {list(faults(root))}")
        document.write_text("# Nothing\n")
        if len(list(faults(root))) != 1:
            sys.exit("a missing table was not noticed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    found = list(faults(options.root))
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
