#!/usr/bin/env python3
"""What `oplens.open(FILE).kernels()` costs beside a sink that drops all rows.

    python.py FILE [--discard PROGRAM] [--prof PROGRAM] [--frame] [--hta] [--runs N]

Runs each in a process of its own, N times, and prints the least CPU and the largest memory. --discard: the program
discard_rows of this folder; --prof: for the memory of `prof --json`; --frame: also as a DataFrame of pandas; --hta: the
kernel breakdown, idle time and overlap of HTA, in the same run (FILE in a folder of its own, PyTorch's; without
collectives HTA divides by no time and prints nan for the overlap). --hta-python: the Python that has HTA.
"""
import argparse
import os
import subprocess
import sys

KERNELS = """
import time, sys
begun, start = time.process_time(), time.monotonic()
import oplens, warnings
warnings.simplefilter("ignore")
loaded = time.process_time()
run = oplens.open(sys.argv[1], progress=False)
table = run.kernels()
done = time.process_time()
print(f"{len(table)} kernels, {done - loaded:.3f} s of CPU, {time.monotonic() - start:.2f} s; table {table.nbytes / 1e6:.1f} MB")
"""
FRAME = KERNELS + """
start = time.process_time()
run.close()
frame = table.to_pandas()
print(f"frame: {time.process_time() - start:.2f} s of CPU more, {frame.memory_usage(deep=True).sum() / 1e6:.0f} MB as pandas counts")
"""
OURS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
start = time.monotonic()
import oplens
run = oplens.open(sys.argv[1], progress=False)
tables = run.views("groups,temporal,idle", compat="hta")
print(f"{time.monotonic() - start:.2f} s; kernels", sum(tables["groups"]["sum_ns"]) / 1000, "us, idle",
      [idle / 1000 for idle in tables["temporal"]["idle_ns"]], "us, overlap", tables["temporal"]["overlap_pct"], "%")
"""
HTA = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
start = time.monotonic()
from hta.trace_analysis import TraceAnalysis
path = os.path.abspath(sys.argv[1])
analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path))
_, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=10**6)
temporal = analysis.get_temporal_breakdown(visualize=False)
idle = analysis.get_idle_time_breakdown(visualize=False)
overlap = analysis.get_comm_comp_overlap(visualize=False)
print(f"{time.monotonic() - start:.2f} s; kernels", kernels["sum (us)"].sum(), "us, idle", list(temporal["idle_time(us)"]),
      "us, overlap", list(overlap["comp_comm_overlap_pctg"]), "%")
"""


def measured(name, command, runs):
    best_cpu, largest, said = float("inf"), 0, ""
    for _ in range(runs):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        said = process.stdout.read().strip()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{name}: failed")
        best_cpu = min(best_cpu, usage.ru_utime + usage.ru_stime)
        largest = max(largest, usage.ru_maxrss * 1024)
    print(f"{name:8} {best_cpu:7.3f} s of CPU, {largest / 1e6:7.0f} MB at most; {said[-300:]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--discard")
    parser.add_argument("--prof")
    parser.add_argument("--frame", action="store_true")
    parser.add_argument("--hta", action="store_true")
    parser.add_argument("--hta-python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    if given.discard:
        measured("discard", [given.discard, given.file], given.runs)
    measured("kernels", [sys.executable, "-c", KERNELS, given.file], given.runs)
    if given.prof:
        measured("prof", [given.prof, "prof", "--quiet", "--json", "-o", "/dev/null", given.file], given.runs)
    if given.frame:
        measured("frame", [sys.executable, "-c", FRAME, given.file], given.runs)
    if given.hta:
        measured("oplens", [sys.executable, "-c", OURS, given.file], 1)
        measured("HTA", [given.hta_python, "-c", HTA, given.file], 1)


if __name__ == "__main__":
    main()
