#!/usr/bin/env python3
"""Tells whether `prof --view events --compat torch-2.13` prints the tables of PyTorch 2.13, over real traces.

    check_torch_tables.py --bin DIR [--corpus DIR] [--jobs N]

test/views/torch_tables/examples.2.13.txt and corpus.2.13.txt have, for each trace and some ways to ask, the
number of lines and the hash of what PyTorch's code prints for the events of the file (make_tables_2_13.py).
The corpus is that of OPLENS_CORPUS_DIR unless it is given; without either only the examples are compared.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
TABLES = PROJECT / "test/views/torch_tables"


def options_of(asked):
    """The options of prof for "@ by=shape sort=cpu_time limit=3"."""
    options = []
    names = {"by": "--by", "sort": "--sort", "limit": "--top"}
    for word in asked.split()[1:]:
        name, value = word.split("=", 1)
        options += [names[name], value]
    return options


def fault_of(prof, folder, line):
    path, lines, digest, asked = line.split(" ", 3)
    command = [prof, "--quiet", "--view", "events", "--compat", "torch-2.13", *options_of(asked), folder / path]
    text = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).stdout
    found = hashlib.sha256(text).hexdigest()[:16]
    if found == digest:
        return None
    return f"{path} {asked}: {len(text.splitlines())} lines, {found}; PyTorch prints {lines}, {digest}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path, default=os.environ.get("OPLENS_CORPUS_DIR"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    wanted = []
    absent = 0
    for name, folder in (("examples", PROJECT), ("corpus", options.corpus and pathlib.Path(options.corpus))):
        for line in (TABLES / f"{name}.2.13.txt").read_text(encoding="utf-8").splitlines():
            if folder and (folder / line.split(" ", 1)[0]).exists():
                wanted.append((folder, line))
            else:
                absent += 1
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        faults = [fault for fault in pool.map(lambda one: fault_of(options.bin / "prof", *one), wanted) if fault]
    print("\n".join(faults + [f"{len(wanted) - len(faults)} of {len(wanted)} tables are PyTorch's ({absent} are of traces "
                              "that are not here)"]))
    return 1 if faults or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
