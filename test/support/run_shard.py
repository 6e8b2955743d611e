#!/usr/bin/env python3
"""Runs a share of the tests of a GoogleTest binary in one process, and tells of each how it went.

    run_shard.py BINARY SHARD SHARDS [--prefix TEXT] [--seconds N] [--filter PATTERN]     SHARD from 1
    run_shard.py --self-test

A line a test: ok, skipped or FAILED, the seconds it took, its name behind TEXT; below a failed one what it
printed. A test that ends the process, or takes longer than N seconds, failed; those behind it are run in a new
process. Exit code 1 when a test failed, or the process after its last one.
"""
import argparse
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

STARTS = re.compile(r"\[ RUN      \] (\S+)")
ENDS = re.compile(r"\[(       OK|  FAILED |  SKIPPED) \] ([^\s,]+)")


def names_of(binary, pattern="*"):
    """The names of all tests of the pattern that are not disabled, as GoogleTest lists them."""
    listed = subprocess.run([binary, "--gtest_list_tests", "--gtest_filter=" + pattern], stdout=subprocess.PIPE, text=True, check=True).stdout
    names, suite = [], ""
    for line in listed.splitlines():
        word = line.split("#")[0].rstrip()
        if word.endswith(".") and not word.startswith(" "):
            suite = word
        elif word.startswith("  ") and "DISABLED_" not in suite + word:
            names.append(suite + word.strip())
    return names


class Shard:
    """The tests that are to be run, and what became of the others."""

    def __init__(self, binary, names, prefix, seconds):
        self.binary = binary
        self.left = list(names)
        self.prefix = prefix
        self.seconds = seconds
        self.failed = []
        self.forget()

    def forget(self):
        """Begins the time and the output of a test, or of what is between two."""
        self.name = None
        self.text = []
        self.start = time.monotonic()

    def end(self, state, why=""):
        """Tells of the test that runs."""
        print(f"{state:8}{time.monotonic() - self.start:8.3f} s  {self.prefix}{self.name}{why}", flush=True)
        if state == "FAILED":
            self.failed.append(self.name)
            print("".join(self.text), end="", flush=True)
        self.left.remove(self.name)
        self.forget()

    def take(self, line):
        """Reads a line of the process."""
        self.text.append(line)
        started = STARTS.search(line)
        if started and started[1] in self.left:
            self.forget()
            self.name = started[1]
            return
        ended = ENDS.search(line)
        if ended and ended[2] == self.name:
            self.end({"OK": "ok", "FAILED": "FAILED", "SKIPPED": "skipped"}[ended[1].strip()])

    def read(self, process):
        """Takes its lines to their end. True when it took too long."""
        rest = b""
        while True:
            left = self.start + self.seconds - time.monotonic()
            if left <= 0:
                return True
            if not select.select([process.stdout], [], [], left)[0]:
                continue
            block = os.read(process.stdout.fileno(), 1 << 16)
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                self.take(line.decode(errors="replace") + "\n")
            if not block:
                if rest:
                    self.take(rest.decode(errors="replace") + "\n")
                return False

    def run_process(self):
        """Runs what is left in one process. False when no more can be run."""
        before = len(self.left)
        failed = len(self.failed)
        self.forget()
        with subprocess.Popen([self.binary, "--gtest_color=no", "--gtest_filter=" + ":".join(self.left)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as process:
            late = self.read(process)
            if late:
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        how = f"took more than {self.seconds:g} s" if late else (
            f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}")
        if self.name is not None:
            self.end("FAILED", f": {how}")
            return True
        if late or (code != 0 and len(self.failed) == failed):
            self.failed.append("the process")
            print(f"FAILED  the process {how} outside of a test")
            print("".join(self.text), end="")
        return len(self.left) < before

    def run(self):
        while self.left and self.run_process():
            pass
        if self.left:
            self.failed += self.left
            print("FAILED  not run: " + " ".join(self.left))
        return self.failed


def run(binary, shard, shards, prefix="", seconds=300, pattern="*"):
    names = names_of(binary, pattern)[shard - 1::shards]
    failed = Shard(binary, names, prefix, seconds).run()
    print(f"{len(names)} tests of {pathlib.Path(binary).name}, {len(failed)} failed" +
          "".join(f"\n  {prefix}{name}" for name in failed))
    return 1 if failed else 0


MADE = r"""#!/usr/bin/env python3
import os, sys, time
tests = ["A.Good", "A.Bad", "B/P.Skips/0", "B/P.Dies/1", "B/P.After/2", "C.Waits", "C.Last"]
if "--gtest_list_tests" in sys.argv:
    print("Running main() from gtest_main.cc\nA.\n  Good\n  Bad\n  DISABLED_Not\nB/P.\n  Skips/0  # GetParam() = 1\n"
          "  Dies/1\n  After/2\nC.\n  Waits\n  Last")
    sys.exit()
chosen = sys.argv[-1].split("=")[1].split(":")
for test in [test for test in tests if test in chosen]:
    print(f"[ RUN      ] {test}", flush=True)
    print("output of", test)
    sys.stdout.flush()
    if "Dies" in test:
        os.kill(os.getpid(), 11)
    if "Waits" in test:
        time.sleep(600)
    word = "  FAILED " if "Bad" in test else "  SKIPPED" if "Skips" in test else "       OK"
    # What a test printed may lack the end of its line.
    print(f"half a line[{word} ] {test}, where GetParam() = 1 (0 ms)" if "/" in test else f"[{word} ] {test} (0 ms)")
print("[  FAILED  ] A.Bad")
if "C.Last" in chosen and os.path.exists(sys.argv[0] + ".leaks"):
    print("leaked")
    sys.exit(23)
sys.exit("A.Bad" in chosen)
"""


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        binary = pathlib.Path(folder) / "made_test"
        binary.write_text(MADE)
        binary.chmod(0o755)

        def told(*arguments):
            result = subprocess.run([sys.executable, __file__, str(binary), *arguments, "--prefix", "made."],
                                    stdout=subprocess.PIPE, text=True, check=False)
            return result.returncode, re.sub(r" +[0-9.]+ s ", "", result.stdout)

        def problem_with(seconds):
            code, text = told("1", "1", "--seconds", seconds)
            expected = [
                "made.A.Good", "FAILED", "made.A.Bad", "output of A.Bad", "skipped", "made.B/P.Skips/0",
                "made.B/P.Dies/1: ended by SIGSEGV", "output of B/P.Dies/1", "made.B/P.After/2",
                f"made.C.Waits: took more than {seconds} s", "made.C.Last", "7 tests of made_test, 3 failed"]
            at = 0
            for part in expected:
                at = text.find(part, at)
                if at < 0:
                    return f"'{part}' is not told in its place:\n{text}"
            return f"exit code {code}:\n{text}" if code != 1 or "output of A.Good" in text else None

        # On a slow machine the good ones may take longer than two seconds too.
        if problem_with("2") and (problem := problem_with("30")):
            sys.exit(problem)
        # Every test is in one shard.
        shares = [told(str(shard), "3", "--seconds", "2")[1].split(" tests of ")[0] for shard in (1, 2, 3)]
        for name in ("A.Good", "A.Bad", "B/P.Skips/0", "B/P.Dies/1", "B/P.After/2", "C.Waits", "C.Last"):
            if sum(f"made.{name}" in share for share in shares) != 1:
                sys.exit(f"{name} is not in one shard: {shares}")
        # What is found when the process ends is not lost.
        (pathlib.Path(folder) / "made_test.leaks").touch()
        code, text = told("7", "7")
        if code != 1 or "the process ended with exit code 23" not in text or "leaked" not in text:
            sys.exit(f"exit code {code}:\n{text}")
        (pathlib.Path(folder) / "made_test.leaks").unlink()
        if told("7", "7")[0] != 0:
            sys.exit("a good shard fails")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("shard", type=int)
    parser.add_argument("shards", type=int)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--filter", default="*")
    options = parser.parse_args()
    return run(options.binary, options.shard, options.shards, options.prefix, options.seconds,
               options.filter)


if __name__ == "__main__":
    sys.exit(main())
