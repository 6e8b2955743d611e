#!/usr/bin/env python3
"""Compares what prof says of the kernels of a run with what the hardware counted.

    compare.py PROF.csv [--table FILE]
    compare.py --self-test

PROF.csv: prof --counters NCU.csv --csv -c COLUMNS of the run's profile, COLUMNS as in run.sh: prof itself reads the
export of ncu and finds the kernels. Prints a Markdown table of the misses and a summary. Exit code 0: matrix FLOPs of
every kernel within 2 % and Tensor Core flags of every kernel above 5 us equal; 1: not; 2: no kernel was counted.
"""
import argparse
import csv
import io
import sys

TOLERANCE = 0.02
LONG_NS = 5000
COLUMNS = ("Idx", "Kernel", "Op", "Sil(ns)", "TC", "FLOPsMma", "FLOPsVec", "Bytes", "MeasuredFLOPs", "CoreFLOPs",
           "MeasuredBytes", "TensorInsts")


class NothingCounted(Exception):
    pass


def number(text):
    """A cell as a number; None when it is empty."""
    return float(text) if text else None


def read_prof(stream):
    rows = list(csv.DictReader(stream))
    for key in COLUMNS:
        if not rows or key not in rows[0]:
            raise NothingCounted(f"the rows of prof lack the column {key}")
    if not any(row["MeasuredBytes"] or row["CoreFLOPs"] or row["TensorInsts"] for row in rows):
        raise NothingCounted("no kernel of the profile was counted: are profile and export of one program?")
    return rows


def judge(rows):
    misses, ratios = [], []
    checked = flags = 0
    # An export of the first kernels only has no counters of the others.
    for row in rows:
        instructions = number(row["TensorInsts"])
        used = instructions is not None and instructions > 0
        if (number(row["Sil(ns)"]) or 0) > LONG_NS and instructions is not None:
            flags += 1
            if row["TC"] != str(int(used)):
                misses.append((row, "tc", row["TC"], int(used)))
        flops, core = number(row["MeasuredFLOPs"]), number(row["CoreFLOPs"])
        mma, vec = number(row["FLOPsMma"]), number(row["FLOPsVec"])
        # A product on CUDA cores does its bias and activation on them too.
        measured = (None if flops is None else flops - core) if used else core
        expected = mma if used else (mma or 0) + (vec or 0)
        # Without a counter of Tensor Cores it is not known which unit did the product.
        if mma and measured and instructions is not None:
            checked += 1
            if abs(measured - expected) > TOLERANCE * expected:
                misses.append((row, "flops", int(expected), int(measured)))
        moved, least = number(row["MeasuredBytes"]), number(row["Bytes"])
        if moved is not None and least:
            ratios.append(moved / least)
    return misses, ratios, checked, flags


def report(misses, ratios, checked, flags, out):
    out.write(f"{checked} kernels with matrix FLOPs and {flags} Tensor Core flags compared, {len(misses)} misses.\n")
    if ratios:
        ratios.sort()
        at = lambda q: ratios[min(int(q * len(ratios)), len(ratios) - 1)]
        out.write(f"DRAM bytes over the least of prof: median {at(.5):.2f}, middle half {at(.25):.2f} to {at(.75):.2f}, "
                  f"all {ratios[0]:.2f} to {ratios[-1]:.2f} ({len(ratios)} kernels).\n")
    if misses:
        out.write("\n| # | kernel | op | what | prof | counter |\n|---|---|---|---|---|---|\n")
    for row, what, expected, measured in misses:
        out.write(f"| {row['Idx']} | `{row['Kernel']}` | {row['Op']} | {what} | {expected} | {measured} |\n")


def self_test():
    text = ("Idx,Kernel,Op,Sil(ns),TC,FLOPsMma,FLOPsVec,Bytes,MeasuredFLOPs,CoreFLOPs,MeasuredBytes,TensorInsts\n"
            "1,gemm,mm,9000,1,1000,0,100,1015,5,150,8\n2,add,add,9000,0,0,50,10,50,50,10,0\n"
            "3,sgemm,mm,9000,0,100,10,10,110,110,20,0\n4,fmha,sdpa,100,?,10,0,,15,5,5,4\n5,k,,9000,0,,,,,,,\n"
            "6,gemm,mm,9000,1,1000,0,,5,5,,\n")
    rows = read_prof(io.StringIO(text))
    assert judge(rows) == ([], [1.5, 1.0, 2.0], 3, 3), judge(rows)
    rows[0]["TC"], rows[2]["FLOPsMma"] = "0", "50"
    assert [(row["Idx"], what) for row, what, _, _ in judge(rows)[0]] == [("1", "tc"), ("3", "flops")]
    for wrong in (text.replace("TC", "T", 1), "\n".join(text.splitlines()[:1]) + "\n5,k,,9000,0,,,,,,,\n"):
        try:
            read_prof(io.StringIO(wrong))
        except NothingCounted:
            continue
        raise AssertionError("rows without counters must be refused")
    print("self test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", metavar="FILE")
    parser.add_argument("--table", help="write the report to this file too")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if arguments.file is None:
        parser.error("a file is needed: rows of prof")
    try:
        with open(arguments.file, encoding="utf-8") as prof:
            result = judge(read_prof(prof))
    except (OSError, NothingCounted) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    text = io.StringIO()
    report(*result, text)
    print(text.getvalue(), end="")
    if arguments.table:
        with open(arguments.table, "w", encoding="utf-8") as table:
            table.write(text.getvalue())
    return 1 if result[0] else 0


if __name__ == "__main__":
    sys.exit(main())
