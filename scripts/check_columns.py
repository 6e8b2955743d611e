#!/usr/bin/env python3
"""Tells whether --check counts the kernels that have a column as prof prints them, on real profiles.

    check_columns.py --bin DIR [--corpus DIR] [--jobs N]

For every profile of the corpus and every column of prof: `prof --check` must name as many kernels as
`prof --json -c all` prints with a value (not null, no empty list; `reason` always has one);
`parse --check` must too, or where it says "at most", no less. The corpus is that of
OPLENS_CORPUS_DIR unless it is given; without either the exit code is 77.
"""
import argparse
import collections
import concurrent.futures
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# No text can hold this: quotes in texts are escaped.
WITHOUT = re.compile(rb'"(\w+)":(?:null|\[\])[,}]')
COUNT = re.compile(r"^  (\S.*?) +(at most )?(\d+) of (\d+)")


def run(program, *arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True)


def counts_of(text):
    """{column: (count, at most)} of the lines of --check."""
    counts = {}
    lines = text.decode("utf-8", "replace").split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("columns")]
    for line in lines[starts[0] + 1:] if starts else []:
        match = COUNT.match(line)
        for key in match.group(1).split() if match else []:
            counts[key] = (int(match.group(3)), match.group(2) is not None)
    return counts


# What parse knows of: names and launches tell prof more.
RECORDED = ("--evidence", "range,capture,vocabulary,repetition,reference")


def faults_of(bin_dir, profile, name):
    described = run(bin_dir / "parse", "--check", "--quiet", profile)
    if described.returncode != 0:
        return []  # No profile.
    printed = run(bin_dir / "prof", "--json", "-c", "all", "--quiet", *RECORDED, profile).stdout
    checked = counts_of(run(bin_dir / "prof", "--check", "--quiet", *RECORDED, profile).stdout)
    rows = printed.count(b"\n")
    without = collections.Counter(key.decode() for key in WITHOUT.findall(printed))
    del without["reason"]
    if not checked:
        return [f"{name}: prof --check names no column"]
    faults = []
    for key, (count, _) in checked.items():
        if count != rows - without[key]:
            faults.append(f"{name}: {key}: prof --check says {count}, prof prints {rows - without[key]}")
    said = counts_of(described.stdout)
    if said.keys() != checked.keys():
        faults.append(f"{name}: parse and prof name other columns: {sorted(said.keys() ^ checked.keys())}")
    for key, (count, at_most) in said.items():
        has = rows - without[key]
        if count < has or (count > has and not at_most):
            faults.append(f"{name}: {key}: parse --check says {'at most ' if at_most else ''}{count}, prof prints {has}")
    return faults


def unpacked(file, folder):
    """The file itself, or for a packed database what is in it."""
    if file.suffix != ".gz" or ".json" in file.name:
        return file
    target = pathlib.Path(folder) / file.stem
    with gzip.open(file) as packed:
        target.write_bytes(packed.read())
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default=os.environ.get("OPLENS_CORPUS_DIR"))
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of parse and prof")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not options.corpus:
        print("no corpus: set OPLENS_CORPUS_DIR or give --corpus")
        sys.exit(77)
    corpus = pathlib.Path(options.corpus)
    bin_dir = options.bin.resolve()
    files = [f for family in ("kineto", "nsys", "nvprof") for f in sorted((corpus / family).rglob("*"))
             if f.is_file() and f.suffix != ".md"]

    def check(file):
        with tempfile.TemporaryDirectory() as folder:
            return faults_of(bin_dir, unpacked(file, folder), file.relative_to(corpus))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        faults = [fault for found in pool.map(check, files) for fault in found]
    print("\n".join(faults[:40] + [f"{len(files)} files, {len(faults)} faults"]))
    sys.exit(1 if faults or not files else 0)


if __name__ == "__main__":
    main()
