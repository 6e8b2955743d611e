#!/usr/bin/env python3
"""Compares what prof says of the kernels of a run with what the hardware counted.

    compare.py PROF.csv NCU.csv [--table FILE]
    compare.py --self-test

PROF.csv: prof --csv -c idx,kernel,op,sil,tc,role,flops_kind,flops_mma,flops_vec,bytes
NCU.csv:  ncu --csv --page raw --print-units base with the metrics that run.sh names

Both list the same kernels in the order of their launches; names must agree, line by line. Prints a Markdown
table of the misses and a summary. Exit code 0: matrix FLOPs of every kernel within 2 % and Tensor Core flags
of every kernel above 5 us equal; 1: not; 2: the files are not of one run.
"""
import argparse
import csv
import io
import re
import sys

TOLERANCE = 0.02
LONG_NS = 5000
# What the counters call operations of Tensor Cores counts multiplications and additions apart.
TENSOR_OPS = re.compile(r"^sm__ops_path_tensor_.*\.sum$")
TENSOR_PIPE = re.compile(r"^sm__inst_executed_pipe_tensor.*\.sum$")
DRAM = "dram__bytes.sum"
# Operations of CUDA cores by instruction, and FLOPs each.
SCALAR = {
    f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum": flops
    for kind, flops in [("fadd", 1), ("fmul", 1), ("ffma", 2), ("hadd", 1), ("hmul", 1), ("hfma", 2), ("dadd", 1),
                        ("dmul", 1), ("dfma", 2)]
}


class NotOneRun(Exception):
    pass


def number(text):
    """A cell as a number; None when it is empty or says that there is none."""
    text = (text or "").replace(",", "").strip()
    try:
        return float(text)
    except ValueError:
        return None


def total(row, names):
    values = [number(row[name]) for name in names if name in row]
    values = [value for value in values if value is not None]
    return sum(values) if values else None


def read_prof(stream):
    rows = list(csv.DictReader(stream))
    for key in ("Kernel", "TC", "FLOPsMma", "Bytes", "Sil(ns)"):
        if rows and key not in rows[0]:
            raise NotOneRun(f"the rows of prof lack the column {key}")
    return rows


def read_ncu(stream):
    # ncu writes what the program printed and its own messages first, and a row of units below the header.
    lines = stream.read().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise NotOneRun("no table in the output of ncu")
    rows = list(csv.DictReader(lines[start:]))
    return [row for row in rows if number(row["ID"]) is not None]


def short_name(name):
    name = re.sub(r"^void ", "", name)
    name = re.split(r"[<(]", name, maxsplit=1)[0]
    return name.rsplit("::", 1)[-1].replace(" ", "_")


def compare(prof, ncu):
    if len(prof) != len(ncu):
        raise NotOneRun(f"prof lists {len(prof)} kernels, ncu {len(ncu)}")
    for i, (ours, theirs) in enumerate(zip(prof, ncu), 1):
        names = short_name(ours["Kernel"]), short_name(theirs["Kernel Name"])
        if names[0] != names[1]:
            raise NotOneRun(f"kernel {i} is {names[0]} for prof and {names[1]} for ncu")
        yield i, ours, theirs


def judge(prof, ncu):
    misses, ratios = [], []
    checked = flags = 0
    for i, ours, theirs in compare(prof, ncu):
        tensor_ops = total(theirs, [name for name in theirs if TENSOR_OPS.match(name)])
        tensor_pipe = total(theirs, [name for name in theirs if TENSOR_PIPE.match(name)])
        scalar = sum((number(theirs.get(name)) or 0) * flops for name, flops in SCALAR.items())
        mma, vec = number(ours["FLOPsMma"]), number(ours["FLOPsVec"])
        used = tensor_pipe is not None and tensor_pipe > 0
        if (number(ours["Sil(ns)"]) or 0) > LONG_NS and tensor_pipe is not None:
            flags += 1
            if ours["TC"] != str(int(used)):
                misses.append((i, ours, "tc", ours["TC"], int(used)))
        # A product on CUDA cores does its bias and activation on them too.
        measured = tensor_ops if used else scalar
        expected = mma if used else (mma or 0) + (vec or 0)
        if mma and measured:
            checked += 1
            if abs(measured - expected) > TOLERANCE * expected:
                misses.append((i, ours, "flops", int(expected), int(measured)))
        moved, least = number(theirs.get(DRAM)), number(ours["Bytes"])
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
    for i, ours, what, expected, measured in misses:
        out.write(f"| {i} | `{short_name(ours['Kernel'])}` | {ours.get('Op', '')} | {what} | {expected} | {measured} |\n")


def self_test():
    prof = ("Kernel,Op,Sil(ns),TC,FLOPsMma,FLOPsVec,Bytes\n"
            "gemm,mm,9000,1,1000,0,100\nadd,add,9000,0,0,50,10\nsgemm,mm,9000,0,100,10,10\nfmha,sdpa,100,?,10,0,\n")
    ncu = ('==PROF== hello\n"ID","Kernel Name","dram__bytes.sum","sm__inst_executed_pipe_tensor.sum",'
           '"sm__ops_path_tensor_src_bf16_dst_fp32.sum","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"\n'
           '"","","byte","inst","",""\n'
           '"0","void ns::gemm<int>(int)","150","8","1,010","0"\n"1","add","10","0","0","25"\n'
           '"2","sgemm","20","0","0","55"\n"3","fmha","5","4","10","0"\n')
    rows = read_prof(io.StringIO(prof)), read_ncu(io.StringIO(ncu))
    assert judge(*rows) == ([], [1.5, 1.0, 2.0], 3, 3), judge(*rows)
    rows[0][0]["TC"], rows[0][2]["FLOPsMma"] = "0", "50"
    assert [(miss[0], miss[2]) for miss in judge(*rows)[0]] == [(1, "tc"), (3, "flops")]
    for wrong in (rows[0][:3], [dict(rows[0][0], Kernel="other")] + rows[0][1:]):
        try:
            judge(wrong, rows[1])
        except NotOneRun:
            continue
        raise AssertionError("files of two runs must be refused")
    print("self test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--table", help="write the report to this file too")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if len(arguments.files) != 2:
        parser.error("two files are needed: rows of prof and of ncu")
    try:
        with open(arguments.files[0], encoding="utf-8") as prof, open(arguments.files[1], encoding="utf-8") as ncu:
            result = judge(read_prof(prof), read_ncu(ncu))
    except (OSError, NotOneRun) as error:
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
