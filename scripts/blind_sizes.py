#!/usr/bin/env python3
"""Checks what launches tell of sizes against recorded sizes.

For each profile the kernels with recorded FLOPs are handed, without their ops and sizes, to
launch_sizes_probe; then bounds must hold the recorded figures. Prints a line a profile and a table of
all: kernels, how many of them something is said of, how many of those are wrong, and the time of both.
Exits with 1 where more than a limit is wrong.

  blind_sizes.py --bin build/release/bin [--wrong 0.1] [--list 20] PROFILE...

--wrong: of the time that something is said of, in percent. --list: how many wrong ones to print.
"""
import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys

COLUMNS = "name_full,kernel,family,op,params,shape,grid,block,flops,flops_kind,bytes,stream,start,sil"
HIDDEN = ("name_full", "grid", "block", "stream", "sil")
PRODUCT = re.compile(r"(?:B=(\d+),)?M=(\d+),N=(\d+),K=(\d+)")
TENSOR = re.compile(r"\((?:\d+,? ?)*\)")


def lines_of(command, text=None):
    run = subprocess.run(command, input=text, stdout=subprocess.PIPE)
    if run.returncode:
        sys.exit(f"{command[0]}: exit code {run.returncode}")
    return [json.loads(line) for line in run.stdout.decode("utf-8", "replace").splitlines()]


def kernels_of(args, path):
    command = [os.path.join(args.bin, "prof"), "--quiet", "--json", "-c", COLUMNS, path]
    rows = lines_of(command)
    rows.sort(key=lambda row: row["start"] or 0)
    text = "".join(json.dumps({key: row[key] for key in HIDDEN}) + "\n" for row in rows)
    return rows, lines_of([os.path.join(args.bin, "launch_sizes_probe")], text.encode())


def broadcast(shape):
    """Elements of the result of an elementwise op; None: unknown."""
    parts = (shape or "").split(";")
    if not shape or not all(TENSOR.fullmatch(part) for part in parts):
        return None
    shapes = [[int(size) for size in re.findall(r"\d+", part)] for part in parts]
    result = [1] * max(map(len, shapes))
    for one in shapes:
        for i, size in enumerate(reversed(one), 1):
            if size != 1:
                if result[-i] not in (1, size):
                    return None
                result[-i] = size
    return math.prod(result)


def holds(bounds, value):
    return bounds[0] <= value <= bounds[1]


def tiles(recorded, said):
    """(what, whether it is right) for extents that a launch shows in tiles: "Sq=129..256", "N*P*Q=..."."""
    sizes = dict(part.split("=") for part in recorded.split(",") if "=" in part)
    ranges = [part.split("=") for part in said.split(",") if "=" in part]
    what = "attention" if "Sq" in dict(ranges) else "convolution"
    for word, bounds in ranges:
        factors = [sizes.get(key, "") for key in word.split("*")]
        is_tiled = what == "attention" or "*" in said
        if is_tiled and all(factor.isdigit() for factor in factors):
            low, _, high = bounds.partition("..")
            yield f"{what} {word}", holds((int(low), int(high or low)), math.prod(map(int, factors)))


def verdicts(row, said):
    """(what, whether something is said, whether it is right) for each figure of a kernel."""
    if row["flops"] is not None and row["flops_kind"] != "bound":
        yield "flops " + row["family"], "flops" in said, "flops" in said and holds(said["flops"], row["flops"])
        estimate = said.get("flops_estimate")
        if estimate and said["mma"] and row["flops"]:
            full = min(said["M"][1] / (said["M"][1] - said["M"][0] + 1),
                       said["N"][1] / (said["N"][1] - said["N"][0] + 1))
            if full >= 20:
                yield "within 5 % at 20 tiles", True, abs(estimate / row["flops"] - 1) <= 0.05
    if row["bytes"] and "bytes" in said:
        yield "bytes " + row["family"], True, holds(said["bytes"], row["bytes"])
    product = PRODUCT.match(row["params"] or "")
    if row["family"] == "gemm" and product and said["M"][1]:
        sizes = [int(size) for size in product.groups()[1:3]]
        right = [holds(said["M"], sizes[0]) and holds(said["N"], sizes[1]),
                 holds(said["M"], sizes[1]) and holds(said["N"], sizes[0])]
        yield "M, N", True, any(right)
    for what, is_right in tiles(row["params"] or "", said["params"]):
        yield what, True, is_right
    elements = broadcast(row["shape"])
    is_pointwise = "elementwise_kernel" in (row["kernel"] or "") and row["family"] == "elementwise"
    if is_pointwise and elements and said["n"][1]:
        yield "n elementwise", True, holds(said["n"], elements)


def check(args, path, total, wrong):
    rows, said = kernels_of(args, path)
    time = said_time = wrong_time = 0
    for row, sizes in zip(rows, said):
        for what, is_said, is_right in verdicts(row, sizes):
            counts = total[what]
            duration = row["sil"] or 0
            counts[0] += 1
            counts[1] += is_said
            counts[2] += is_said and not is_right
            counts[3] += duration * is_said
            counts[4] += duration * (is_said and not is_right)
            if what.startswith("flops"):
                time += duration
                said_time += duration * is_said
                wrong_time += duration * (is_said and not is_right)
            if is_said and not is_right:
                wrong[(what, row["op"], row["params"], sizes["params"], row["flops"],
                       str(sizes.get("flops")), (row["name_full"] or "")[:80])] += duration
    share = lambda part, whole: 100.0 * part / whole if whole else 0.0
    print(f"{path}: of {time} ns with recorded FLOPs, said {share(said_time, time):.2f} %, of that wrong "
          f"{share(wrong_time, said_time):.3f} %")
    return time, said_time, wrong_time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--wrong", type=float, default=0.1)
    parser.add_argument("--list", type=int, default=20)
    parser.add_argument("profile", nargs="+")
    args = parser.parse_args()
    total = collections.defaultdict(lambda: [0] * 5)
    wrong = collections.Counter()
    times = [check(args, path, total, wrong) for path in args.profile]
    print(f"{'figure':28}{'kernels':>9}{'said':>9}{'wrong':>7}{'said_ns':>15}{'wrong_ns':>12}")
    for what, counts in sorted(total.items()):
        print(f"{what:28}{counts[0]:9}{counts[1]:9}{counts[2]:7}{counts[3]:15}{counts[4]:12}")
    for key, duration in wrong.most_common(args.list):
        print("wrong:", duration, "ns", *key)
    said, mistaken = sum(t[1] for t in times), sum(t[2] for t in times)
    sys.exit(0 if mistaken * 100 <= args.wrong * said else 1)


if __name__ == "__main__":
    main()
