#!/usr/bin/env python3
"""Compares the figures of collectives with those computed from the traces themselves, apart from the code of prof.

    check_collectives.py --bin DIR [--corpus DIR]

Of sets of ranks of the corpus and of made-up ranks whose clocks are off: latency, exposed time, wait, transfer and bus
bandwidth of every call of every rank, each rank's sums of these, and the wait that each rank caused. Times must be the
same to the nanosecond, bandwidths to 1e-9 of theirs; what a rank caused may differ by the calls for which two ranks came
within what their clocks are uncertain by (2 % of all waits). Without a corpus only the made-up ranks are compared.
"""
import argparse
import collections
import decimal
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parent
# Sets of which every call is matched on all ranks; of the others only what a rank knows by itself is compared.
MATCHED = {"dlrm_w8", "llama_tp2", "linear_tp2", "made"}
SETS = ["dlrm_w8", "llama_tp2", "linear_tp2", "diff_ddp", "ddp_sampled_w128"]
MADE = "--layout 4x2x1 --steps 6 --clocks 900,20 --straggler 3,aten::mm,30,2"

WORDS = [("reducescatter", "reduce_scatter"), ("allreduce", "all_reduce"), ("allgather", "all_gather"),
         ("alltoall", "all_to_all"), ("broadcast", "broadcast"), ("reduce", "reduce")]
BYTES = {"float": 4, "int": 4, "long": 8, "double": 8, "half": 2, "bfloat16": 2, "byte": 1, "char": 1, "bool": 1}


def ns(value):
    return int(decimal.Decimal(str(value)) * 1000)


def kind_of(text):
    """As collectives are called everywhere: 'nccl:_all_gather_base', 'allreduce_coalesced'."""
    letters = re.sub("[^a-z]", "", text.lower())
    return next((kind for word, kind in WORDS if word in letters), None)


def bytes_of_type(text):
    word = text.lower().removeprefix("c10::").split()[0] if text else ""
    return BYTES.get(word)


class Call:
    def __init__(self, start, end, kind, group, size, factor_ranks, number):
        self.start, self.end, self.kind, self.group = start, end, kind, group
        self.size, self.ranks, self.number = size, factor_ranks, number
        self.latency = end - start
        self.exposed = self.transfer = self.last = None

    def bus(self):
        """1e9 bytes per second; None: not known."""
        if self.size is None or not self.ranks or not self.transfer:
            return None
        n = self.ranks
        factor = {"all_reduce": 2 * (n - 1) / n, "broadcast": 1, "reduce": 1}.get(self.kind, (n - 1) / n)
        return self.size / self.transfer * factor


def union_of(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def covered(spans, start, end):
    return sum(max(0, min(end, b) - max(start, a)) for a, b in spans)


def of_record(args):
    """Size in bytes and number of ranks, by the kernel's own record."""
    width = bytes_of_type(args.get("dtype", ""))
    kind = kind_of(args["Collective name"])
    elements = args["In msg nelems"] if kind in ("all_reduce", "reduce_scatter", "all_to_all") else args["Out msg nelems"]
    return (elements * width if width else None), args.get("Group size")


def of_label(name, args):
    """Size in bytes, by the inputs of the range of the call; None: not told."""
    dims, types = args.get("Input Dims") or [], args.get("Input type") or []
    if kind_of(name) in ("all_gather", "reduce_scatter"):
        return None
    total = 0
    for extents, type_text in zip(dims, types):
        width = bytes_of_type(type_text)
        if width is None or not extents or any(not isinstance(extent, int) for extent in extents):
            return None
        total += math.prod(extents) * width
    return total or None


def calls_of(path):
    """The recorded rank, its number of ranks, the time of day of 0 on its clock, and its calls by start."""
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    trace = json.loads(data, parse_float=decimal.Decimal)
    world = trace["distributedInfo"]
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    launches, ranges, kernels = {}, collections.defaultdict(list), []
    for event in events:
        category = event.get("cat")
        if category == "kernel":
            kernels.append(event)
        elif category == "cuda_runtime":
            launches[event["args"].get("correlation")] = event
        elif category in ("cpu_op", "user_annotation"):
            ranges[event["tid"]].append(event)
    compute = union_of((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])) for event in kernels
                       if "nccl" not in event["name"].lower())
    calls, numbers = [], collections.Counter()
    for event in sorted((event for event in kernels if "nccl" in event["name"].lower()), key=lambda event: ns(event["ts"])):
        args = event["args"]
        start = ns(event["ts"])
        size, ranks, kind, group = None, world["world_size"], kind_of(event["name"]), ""
        if "Collective name" in args:
            size, ranks = of_record(args)
            kind, group = kind_of(args["Collective name"]), args.get("Process Group Ranks", "")
        elif (launch := launches.get(args.get("correlation"))) is not None:
            at = ns(launch["ts"])
            around = [one for one in ranges[launch["tid"]] if one["name"].startswith("nccl:")
                      and ns(one["ts"]) <= at < ns(one["ts"]) + ns(one["dur"])]
            if around:
                label = min(around, key=lambda one: one["dur"])
                kind, size = kind_of(label["name"]), of_label(label["name"], label.get("args", {}))
        number = numbers[kind, group] = numbers[kind, group] + 1
        call = Call(start, start + ns(event["dur"]), kind, group, size, ranks, number)
        call.exposed = call.latency - covered(compute, call.start, call.end)
        calls.append(call)
    return str(world["rank"]), int(trace.get("baseTimeNanoseconds", 0)), calls


def middle(values):
    """The median; of two the lower."""
    return sorted(values)[(len(values) - 1) // 2]


def match(ranks):
    """Sets transfer and the last rank of calls that have the same kind, group and number."""
    shared = collections.defaultdict(dict)
    for rank, (_, calls) in ranks.items():
        for call in calls:
            shared[call.kind, call.group, call.number][rank] = call
    by_group = collections.defaultdict(list)
    for (_, group, _), members in shared.items():
        transfer = min(call.latency for call in members.values())
        for call in members.values():
            call.transfer = transfer
        by_group[group].append(members)
    for calls in by_group.values():
        first = min(calls[0], key=int)
        # How far the clock of each rank is ahead: all end a call together.
        ahead = {rank: fitted([(members[first].end, members[rank].end - members[first].end) for members in calls])
                 for rank in calls[0]}
        for members in calls:
            begins = {rank: call.start - ahead[rank](members[first].end) for rank, call in members.items()}
            last = max(sorted(begins, key=int), key=begins.get)
            for call in members.values():
                call.last = last


def fitted(points):
    """Lag by time: the median, with a drift by the medians of the first and the last quarter where there are many."""
    if len(points) < 16:
        lag = middle([lag for _, lag in points])
        return lambda _: lag
    points = sorted(points)
    part = len(points) // 4
    ends = [(middle([time for time, _ in some]), middle([lag for _, lag in some])) for some in (points[:part], points[-part:])]
    slope = (ends[1][1] - ends[0][1]) / (ends[1][0] - ends[0][0])
    return lambda time: ends[0][1] + slope * (time - ends[0][0])


def rows_of(binaries, view, folder):
    run = subprocess.run([binaries / "prof", "--quiet", "--view", *view.split(), "--json", folder], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"check_collectives.py: {folder}: {run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


class Check:
    def __init__(self):
        self.compared, self.known_bandwidths, self.wrong = 0, 0, []

    def same(self, where, shown, expected, tolerance=0.0):
        self.compared += 1
        if shown is None or expected is None:
            right = shown is None and expected is None
        else:
            right = abs(shown - expected) <= tolerance
        if not right:
            self.wrong.append(f"{where}: prof has {shown}, the traces {expected}")


def compare(binaries, name, folder, check):
    ranks = {rank: (base, calls) for rank, base, calls in map(calls_of, sorted(folder.glob("*.json*")))}
    matched = name in MATCHED
    if matched:
        match(ranks)
    rows = collections.defaultdict(list)
    for row in rows_of(binaries, "collectives", folder):
        rows[row["rank"]].append(row)
    check.same(f"{name}: ranks", len(rows), len(ranks))
    for rank, (_, calls) in ranks.items():
        check.same(f"{name} {rank}: calls", len(rows[rank]), len(calls))
        # Between two figures of a rank its clock does not matter.
        begin = calls[0].start - rows[rank][0]["start_ns"] if rows[rank] else 0
        # Calls of two streams may begin at once.
        rows[rank].sort(key=lambda row: (row["start_ns"], row["kind"], row["latency_ns"]))
        calls.sort(key=lambda call: (call.start, call.kind, call.latency))
        for number, (row, call) in enumerate(zip(rows[rank], calls)):
            where = f"{name} {rank}, call {number}"
            check.same(f"{where}: start", row["start_ns"], call.start - begin)
            check.same(f"{where}: latency", row["latency_ns"], call.latency)
            check.same(f"{where}: exposed", row["exposed_ns"], call.exposed)
            if not matched:
                continue
            check.same(f"{where}: transfer", row["transfer_ns"], call.transfer)
            check.same(f"{where}: wait", row["wait_ns"], call.latency - call.transfer)
            bus = call.bus()
            check.same(f"{where}: bus bandwidth", row["bus_gbps"], bus, 1e-9 * (bus or 0))
            check.known_bandwidths += bus is not None
    for row in rows_of(binaries, "collectives --by rank", folder):
        calls = ranks[row["rank"]][1]
        where = f"{name} {row['rank']}, all calls"
        check.same(f"{where}: latency", row["latency_ns"], sum(call.latency for call in calls))
        check.same(f"{where}: exposed", row["exposed_ns"], sum(call.exposed for call in calls))
        if matched:
            check.same(f"{where}: transfer", row["transfer_ns"], sum(call.transfer for call in calls))
            check.same(f"{where}: wait", row["wait_ns"], sum(call.latency - call.transfer for call in calls))
    if not matched:
        return
    caused = collections.Counter()
    for rank, (_, calls) in ranks.items():
        for call in calls:
            if call.last != rank:
                caused[call.last] += call.latency - call.transfer
    waits = sum(call.latency - call.transfer for _, calls in ranks.values() for call in calls)
    for row in rows_of(binaries, "stragglers", folder):
        where = f"{name} {row['rank']}"
        check.same(f"{where}: caused", row["caused_ns"], caused[row["rank"]], 0.02 * waits)
        check.same(f"{where}: wait", row["wait_ns"], sum(call.latency - call.transfer for call in ranks[row["rank"]][1]))


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--bin", type=pathlib.Path, required=True)
    words.add_argument("--corpus", type=pathlib.Path, default=os.environ.get("OPLENS_CORPUS_DIR"))
    options = words.parse_args()
    check = Check()
    with tempfile.TemporaryDirectory() as work:
        made = pathlib.Path(work) / "made"
        subprocess.run([sys.executable, "-B", SCRIPTS.parent / "bench/ranks/make_ranks.py", made, *MADE.split()], check=True,
                       capture_output=True)
        compare(options.bin, "made", made, check)
    for name in SETS if options.corpus else []:
        compare(options.bin, name, options.corpus / "kineto" / name, check)
    for line in check.wrong[:20]:
        print(line)
    print(f"{check.compared} figures compared, among them {check.known_bandwidths} bandwidths that are known: {len(check.wrong)} differ")
    return 1 if check.wrong or not check.known_bandwidths else 0


if __name__ == "__main__":
    sys.exit(main())
