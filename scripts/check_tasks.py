#!/usr/bin/env python3
"""Asks what people ask of a profile, and compares the answers with figures computed apart.

    check_tasks.py --bin DIR [--corpus DIR] [TASK...]

Each task is a command of docs/cookbook.md on a real profile of the corpus (OPLENS_CORPUS_DIR unless
it is given; without either the exit code is 77). What it must print is computed here from the file
itself, by SQL or from the JSON, with nothing of the programs.
"""
import argparse
import collections
import csv
import gzip
import io
import json
import math
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile


class Task:
    """A profile of the corpus, and the programs that are asked about it."""

    def __init__(self, bin_dir, corpus, work):
        self.bin_dir = bin_dir
        self.corpus = corpus
        self.work = work

    def path(self, name):
        return str(self.corpus / name)

    def run(self, *command):
        """What a program of ours prints."""
        program, *arguments = command
        ran = subprocess.run([self.bin_dir / program, *arguments], stdin=subprocess.DEVNULL,
                             capture_output=True)
        if ran.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit code {ran.returncode}: "
                                 f"{ran.stderr.decode('utf-8', 'replace')}")
        return ran.stdout.decode()

    def rows(self, *command):
        """Rows of `prof ... --json`."""
        return [json.loads(line) for line in self.run(*command, "--json").splitlines()]

    def events(self, name):
        """Events of a trace of PyTorch's profiler, those that last, with times in ns."""
        with gzip.open(self.corpus / name) as file:
            trace = json.load(file)
        events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
        for event in events:
            event["start"] = round(float(event["ts"]) * 1000)
            event["end"] = event["start"] + round(float(event["dur"]) * 1000)
        return events

    def database(self, name):
        """A database of the corpus, unpacked."""
        path = self.work / pathlib.Path(name).stem
        if not path.exists():
            with gzip.open(self.corpus / name) as packed:
                path.write_bytes(packed.read())
        return sqlite3.connect(path)

    def unpacked(self, name):
        self.database(name).close()
        return str(self.work / pathlib.Path(name).stem)


def is_kernel(event):
    return event.get("cat", "").lower() == "kernel"


def length(event):
    return event["end"] - event["start"]


def union(intervals):
    """Intervals in order, those that touch as one."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > start:
            merged.append([start, end])
    return merged


def total(intervals):
    return sum(end - start for start, end in intervals)


def without(intervals, holes):
    """What of these unions of intervals is in no hole."""
    left = []
    for start, end in intervals:
        for hole_start, hole_end in holes:
            if hole_end <= start or hole_start >= end:
                continue
            if hole_start > start:
                left.append([start, hole_start])
            start = max(start, hole_end)
        if start < end:
            left.append([start, end])
    return left


def same(found, wanted, what, tolerance=0.0):
    if found is None or not math.isclose(found, wanted, rel_tol=tolerance, abs_tol=0):
        raise AssertionError(f"{what}: printed {found}, computed {wanted}")


# --- the tasks, in the order of docs/cookbook.md

TIMESFORMER = "kineto/h100/timesformer.json.gz"
DDP = "kineto/ddp_a100_nccl_meta/rank0.json.gz"
VIT = "kineto/h100/vit_nsfw.json.gz"
TIMESFORMER_OF_AMD = "kineto/mi300/timesformer.json.gz"
SERVED = "kineto/sglang_qwen3_8b/prefill_decode.json.gz"
BACKWARD = "kineto/v100_ns/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"


def launches_of(events):
    """{correlation id: the call of the CUDA API}."""
    return {e["args"]["correlation"]: e for e in events
            if e.get("cat") in ("cuda_runtime", "cuda_driver")
            and "correlation" in e.get("args", {})}


def launched_inside(events, ranges):
    """Each kernel with those of `ranges` that were open on the thread of its launch."""
    launches = launches_of(events)
    of_thread = collections.defaultdict(list)
    for event in ranges:
        of_thread[event["tid"]].append(event)
    for kernel in filter(is_kernel, events):
        launch = launches.get(kernel["args"]["correlation"])
        around = of_thread[launch["tid"]] if launch else []
        yield kernel, [e for e in around if e["start"] <= launch["start"] and
                       launch["end"] <= e["end"]]


def costliest_layer(task):
    """1: the layer whose kernels take most time, of those that hold no other layer with it."""
    events = task.events(TIMESFORMER)
    modules = [e for e in events if e["name"].startswith("nn.Module: ")]
    times = collections.Counter()
    for kernel, around in launched_inside(events, modules):
        innermost = max(around, key=lambda e: e["start"], default=None)
        times[innermost["name"].removeprefix("nn.Module: ") if innermost else "-"] += length(kernel)
    ((layer, time),) = times.most_common(1)
    row = task.rows("prof", "--by", "layer", "--top", "1", task.path(TIMESFORMER))[0]
    if row["layer"].split(":")[-1] != layer:
        raise AssertionError(f"printed {row['layer']}, computed {layer}")
    same(row["total"], time, "its time")


def backward_share(task):
    """2: what of the time is the backward pass: kernels launched by a node of autograd."""
    events = task.events(BACKWARD)
    nodes = [e for e in events if e["name"].startswith("autograd::engine::evaluate_function")]
    times = collections.Counter()
    for kernel, around in launched_inside(events, nodes):
        times[bool(around)] += length(kernel)
    rows = task.rows("prof", "--by", "dir", task.path(BACKWARD))
    printed = {row["dir"]: row["share"] for row in rows}
    same(printed["bprop"], 100 * times[True] / times.total(), "share of bprop", 1e-9)


def tensor_core_share(task):
    """3: what of the time is of kernels whose name says that they use Tensor Cores."""
    kernels = list(filter(is_kernel, task.events(TIMESFORMER)))
    on = sum(length(e) for e in kernels
             if re.search("tensorop|xmma_gemm|gmma|nvjet", e["name"]))
    (row,) = task.rows("prof", "--by", "device", task.path(TIMESFORMER))
    same(row["tc"], 100 * on / sum(map(length, kernels)), "share of Tensor Cores", 1e-9)


def time_by_shape(task):
    """4: the time of the products of matrices of each shape."""
    events = task.events(TIMESFORMER)
    calls = [e for e in events if e["name"] == "aten::bmm"]
    times = collections.Counter()
    for kernel, around in launched_inside(events, calls):
        if around:
            dims = around[0]["args"]["Input Dims"][:2]
            times[";".join("(" + ",".join(map(str, d)) + ")" for d in dims)] += length(kernel)
    printed = {row["shape"]: row["total"]
               for row in task.rows("prof", "--by", "op,shape", task.path(TIMESFORMER))
               if row["op"] == "bmm"}
    if not times or printed != times:
        raise AssertionError(f"printed {printed}, computed {dict(times)}")


def products_by_size(task):
    """28: the time of the products of each M, N and K, which count the columns first, by calls."""
    events = task.events(TIMESFORMER)
    products = [e for e in events if e["name"] in ("aten::mm", "aten::addmm", "aten::bmm")]
    times = collections.Counter()
    for kernel, around in launched_inside(events, products):
        if not around:
            continue
        a, b = [dims for dims in around[-1]["args"]["Input Dims"] if len(dims) > 1][-2:]
        times[b[-1], a[-2], a[-1], a[0] if len(a) > 2 else 1] += length(kernel)
    printed = collections.Counter()
    for row in task.rows("prof", "--view", "gemms", task.path(TIMESFORMER)):
        if row["op"] in ("mm", "addmm", "bmm"):
            printed[row["m"], row["n"], row["k"], row["batch"]] += row["time_ns"]
    if not times or printed != times:
        raise AssertionError(f"printed {dict(printed)}, computed {dict(times)}")


def host_bound(task):
    """5: what of the steps the device did something."""
    events = task.events(DDP)
    steps = [e for e in events if e["name"].startswith("ProfilerStep#")
             and e["cat"] == "user_annotation"]
    start, end = min(e["start"] for e in steps), max(e["end"] for e in steps)
    busy = union((max(e["start"], start), min(e["end"], end)) for e in events
                 if is_kernel(e) or e.get("cat") in ("gpu_memcpy", "gpu_memset"))
    row = task.rows("prof", "--view", "idle", task.path(DDP))[0]
    # The steps as they are on the device: a launch after the end of the host's may be of it.
    same(row["window_pct"], 100 - 100 * total(busy) / (end - start), "idle share", 0.02)


def exposed_communication(task):
    """8: how long the device communicates and does nothing else."""
    kernels = list(filter(is_kernel, task.events(DDP)))
    nccl = union((e["start"], e["end"]) for e in kernels if e["name"].startswith("nccl"))
    other = union((e["start"], e["end"]) for e in kernels if not e["name"].startswith("nccl"))
    rows = task.rows("prof", "--view", "distributed", task.path(DDP))
    steps = [row for row in rows if row["step"] != "mean"]
    same(sum(row["communication_ns"] for row in steps), total(without(nccl, other)), "exposed", 1e-9)
    same(sum(row["communication_ns"] + row["overlap_ns"] for row in steps), total(nccl), "all", 1e-9)


def rows_for_pandas(task):
    """10: a row a kernel, with what it was and when."""
    columns = "start,sil,corr,stream,name_full"
    printed = list(csv.DictReader(io.StringIO(task.run(
        "prof", "--csv", "--header", "keys", "-c", columns, task.path(TIMESFORMER)))))
    kernels = [e for e in task.events(TIMESFORMER) if is_kernel(e)]
    computed = collections.Counter((length(e), e["args"]["correlation"], e["args"]["stream"],
                                    e["name"]) for e in kernels)
    found = collections.Counter((int(row["sil"]), int(row["corr"]), int(row["stream"]),
                                 row["name_full"]) for row in printed)
    if found != computed:
        raise AssertionError(f"rows differ: {list((found - computed).items())[:2]} printed, "
                             f"{list((computed - found).items())[:2]} computed")


def sums_in_sql(task):
    """11: the table as a database, asked with SQL."""
    output = str(task.work / "timesformer.db")
    task.run("prof", "--sqlite", output, task.path(TIMESFORMER))
    with sqlite3.connect(output) as database:
        ((count, time),) = database.execute("SELECT COUNT(*), SUM(sil) FROM kernels")
    kernels = list(filter(is_kernel, task.events(TIMESFORMER)))
    same(count, len(kernels), "kernels")
    same(time, sum(map(length, kernels)), "time")


def kernel_summary(task):
    """13: count, total and median of each kernel, as `nsys stats` has them."""
    name = "nsys/lm27b_nvtx.sqlite.gz"
    durations = collections.defaultdict(list)
    for text, duration in task.database(name).execute(
            "SELECT s.value, k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k "
            "JOIN StringIds s ON s.id = k.demangledName"):
        durations[text].append(duration)
    # Names are written otherwise: a kernel is known by what it took.
    medians = collections.defaultdict(list)
    for times in durations.values():
        medians[len(times), sum(times)].append(statistics.median_low(times))
    rows = task.rows("prof", "--view", "groups", "--by", "name_full", task.unpacked(name))
    for row in rows:
        wanted = medians.get((row["count"], row["total"]), [])
        if not any(math.isclose(row["p50_ns"], median, rel_tol=0.017) for median in wanted):
            raise AssertionError(f"{row['name_full']}: printed {row['p50_ns']}, computed {wanted}")
    same(len(rows), len(durations), "names")


def copies_by_kind(task):
    """15: how fast copies to the device are."""
    name = "nsys/llama_stream.sqlite.gz"
    ((size, time),) = task.database(name).execute(
        "SELECT SUM(bytes), SUM(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1")
    rows = task.rows("prof", "--view", "bandwidth", task.unpacked(name))
    (row,) = [row for row in rows if row["kind"] == "Memcpy HtoD"]
    same(row["mean_gbps"], size / time, "GB/s", 1e-9)


def kernels_of_ranks(task):
    """17: the time of each rank's kernels."""
    folder = "kineto/ddp_sampled_w128"
    rows = task.rows("prof", "--by", "rank", task.path(folder))
    printed = sorted(row["total"] for row in rows)
    names = sorted(path.name for path in (task.corpus / folder).iterdir())
    computed = sorted(sum(length(e) for e in task.events(f"{folder}/{name}") if is_kernel(e))
                      for name in names)
    if printed != computed:
        raise AssertionError(f"printed {printed}, computed {computed}")


def table_for_a_pull_request(task):
    """26: the time of each stream, in Markdown."""
    lines = task.run("prof", "--markdown", "--by", "stream", "-c", "stream,count,total",
                     task.path(TIMESFORMER)).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if cells[:2] != [["Stream", "Count", "Total(ns)"], ["---:"] * 3]:
        raise AssertionError(f"not the head of a table: {lines[:2]}")
    computed = collections.defaultdict(list)
    for event in filter(is_kernel, task.events(TIMESFORMER)):
        computed[str(event["args"]["stream"])].append(length(event))
    found = {stream: (int(count), int(time)) for stream, count, time in cells[2:]}
    if found != {stream: (len(times), sum(times)) for stream, times in computed.items()}:
        raise AssertionError(f"streams: printed {found}")


def work_of_gpu(events):
    return [e for e in events if is_kernel(e) or e.get("cat") in ("gpu_memcpy", "gpu_memset")]


def gaps_of_gpu(events):
    """[start, end] of each stretch between works in which none runs."""
    busy = union((e["start"], e["end"]) for e in work_of_gpu(events))
    return [[before[1], after[0]] for before, after in zip(busy, busy[1:])]


def flame_graph(task):
    """27: the whole of the picture is the time of all kernels, copies and fills."""
    picture = task.run("prof", "--view", "stacks", "--svg", task.path(TIMESFORMER))
    printed = re.search(r"<title>all: ([0-9.]+) ms, 100", picture)
    computed = sum(map(length, work_of_gpu(task.events(TIMESFORMER))))
    same(float(printed[1]) if printed else None, computed / 1e6, "time of the flame graph", 1e-5)


def gaps_by_next_op(task):
    """29: how long the GPU was idle before kernels of addmm."""
    events = task.events(VIT)
    products = [e for e in events if e["name"] == "aten::addmm"]
    starts = {kernel["start"] for kernel, around in launched_inside(events, products) if around}
    computed = sum(end - start for start, end in gaps_of_gpu(events) if end in starts)
    rows = task.rows("prof", "--view", "idle", "--by", "op_after", task.path(VIT))
    printed = [row["idle_ns"] for row in rows if row["op_after"] == "addmm"]
    if printed != [computed] or not computed:
        raise AssertionError(f"printed {printed}, computed {computed}")


def layers_of_two_runs(task):
    """30: GPU time of a layer's own kernels on an H100 and on an MI300X."""
    layer = "TimesformerLayer_3"

    def time_of(name):
        events = task.events(name)
        modules = [e for e in events if e["name"].startswith("nn.Module: ")]
        return sum(length(kernel) for kernel, around in launched_inside(events, modules)
                   if around and max(around, key=lambda e: e["start"])["name"].endswith(f" {layer}"))

    lines = task.run("prof", "--diff", task.path(TIMESFORMER), task.path(TIMESFORMER_OF_AMD), "--view",
                     "modules", "--quiet", "--blank").splitlines()
    printed = [line.split()[1:4] for line in lines if line.split()[0:1] and line.split()[0].endswith(f"/{layer}")]
    base, new = time_of(TIMESFORMER), time_of(TIMESFORMER_OF_AMD)
    if printed != [[str(base), str(new), str(new - base)]] or not base or not new:
        raise AssertionError(f"printed {printed}, computed {base} and {new}")


def idle_inside_calls(task):
    """31: what of the gaps of the GPU each API call of the host takes, in SQL."""
    database = task.work / "raw.db"
    task.run("prof", "--sqlite", str(database), "--raw", task.path(VIT))
    printed = dict(sqlite3.connect(database).execute(
        "SELECT a.name, SUM(MIN(g.end_ns, a.end_ns) - MAX(g.start_ns, a.start_ns)) FROM gpu_gaps g JOIN api_calls a "
        "ON a.run = g.run AND a.start_ns < g.end_ns AND a.end_ns > g.start_ns GROUP BY a.name"))
    events = task.events(VIT)
    gaps = gaps_of_gpu(events)
    computed = collections.Counter()
    for call in events:
        if call.get("cat") in ("cuda_runtime", "cuda_driver"):
            computed[call["name"]] += sum(max(0, min(end, call["end"]) - max(start, call["start"]))
                                          for start, end in gaps)
    computed = {name: idle for name, idle in computed.items() if idle > 0}
    if not computed or {name: idle for name, idle in printed.items() if idle > 0} != computed:
        raise AssertionError(f"printed {printed}, computed {computed}")


def flops_of_a_token(task):
    """32: FLOPs a token of a server's prefill: its products, and attention to earlier tokens."""
    tokens, requests, heads, head_dim = 15360, 15, 32, 128
    flops = 0
    for event in task.events(SERVED):
        if event["name"] == "aten::mm":
            (m, k), (_, n) = event["args"]["Input Dims"][:2]
            flops += 2 * m * n * k
    blocks = sum(e["name"].startswith("aiter::mha_batch_prefill") for e in task.events(SERVED))
    length_of_one = tokens // requests
    flops += blocks * requests * 4 * heads * head_dim * length_of_one * (length_of_one + 1) // 2
    printed = re.search(r"([0-9.]+) GFLOP a token", task.run("oplens", task.path(SERVED)))
    same(float(printed[1]) if printed else None, flops / tokens / 1e9, "GFLOP a token", 1e-3)


TASKS = {function.__name__: function for function in (
    costliest_layer, backward_share, tensor_core_share, time_by_shape, products_by_size,
    host_bound, exposed_communication, rows_for_pandas, sums_in_sql, kernel_summary, copies_by_kind,
    kernels_of_ranks, table_for_a_pull_request, flame_graph, gaps_by_next_op, layers_of_two_runs,
    idle_inside_calls, flops_of_a_token)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("tasks", nargs="*", help="one of " + ", ".join(TASKS))
    arguments = parser.parse_args()
    corpus = arguments.corpus or os.environ.get("OPLENS_CORPUS_DIR")
    if not corpus:
        print("skipped: OPLENS_CORPUS_DIR is not set")
        return 77
    faults = 0
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.tasks or TASKS:
            try:
                TASKS[name](Task(arguments.bin, pathlib.Path(corpus), pathlib.Path(work)))
                print(f"ok    {name}")
            except AssertionError as fault:
                faults += 1
                print(f"FAULT {name}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
