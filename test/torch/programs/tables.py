"""tables.py PROF FOLDER FAMILY..: runs programs under torch.profiler and compares what it prints with what
`prof --compat torch` prints for the trace that it exported, byte for byte: key_averages(..).table(..) by
each grouping, and export_stacks. For PyTorch 2.13, the version of these tables; 77 elsewhere.

What a trace does not hold (docs/views_torch.md) is left out: asynchronous calls, and names of Python code that is
gone, which PyTorch reads again for its table.
"""
import argparse
import collections
import importlib
import json
import os
import pathlib
import subprocess
import sys

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import profiler_util
from torch.profiler import ProfilerActivity, profile, record_function, schedule

import common

ALL = 1_000_000
MOST_EVENTS = 20_000
# by, sort, rows
TABLES = [((), None, ALL), ((), "cpu_time_total", 7), ((), "self_cpu_memory_usage", ALL), (("shape",), "cpu_time", ALL),
          (("stack",), "self_cpu_time_total", ALL), (("shape", "stack"), None, ALL), (("overload",), "count", ALL)]
RECORDINGS = {
    "plain": {},
    "all": {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_modules": True},
    "stacks": {"record_shapes": True, "with_stack": True, "verbose": True},
    "threads": {"record_shapes": True, "profile_memory": True, "all_threads": True},
    "steps": {"record_shapes": True, "profile_memory": True, "steps": True},
}


def recordings_of(number, program):
    """Two for each program, in turn; with stacks PyTorch reads names of other threads that may be gone."""
    if program == "threads":
        return ["threads"]
    others = [name for name in RECORDINGS if name not in ("all", "threads")]
    return ["all", others[number % len(others)]]


def plain_sum(values, start=0):
    """As Python 3.11 adds floats: later sum() makes up for what rounding lost."""
    for value in values:
        start = start + value
    return start


def record(program, verbose=False, steps=False, all_threads=False, **options):
    config = _ExperimentalConfig(verbose=verbose, capture_overload_names=verbose, profile_all_threads=all_threads)
    plan = schedule(wait=1, warmup=1, active=2, repeat=1) if steps else None
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, experimental_config=config, **options) as profiler:
        for _ in range(4 if steps else 1):
            with record_function("a label"):
                program()
            if steps:
                profiler.step()
    return profiler


def printed(prof, trace, view, by, sort, rows):
    command = [prof, "--quiet", "--view", view, "--compat", "torch", trace]
    command += ["--by", ",".join(by)] if by else []
    command += ["--sort", sort] if sort else []
    command += ["--top", str(rows)] if rows else []
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def difference(theirs, ours):
    pairs = [(a, b) for a, b in zip(theirs.splitlines(), ours.splitlines()) if a != b]
    lines = f"{len(theirs.splitlines())} and {len(ours.splitlines())} lines"
    return lines + "".join(f"\n  PyTorch: {a[:300]}\n  prof:    {b[:300]}" for a, b in pairs[:3])


def stacks_of(text):
    """{stack: us}: PyTorch writes a line for each call."""
    sums = collections.Counter()
    for line in text.splitlines():
        stack, _, value = line.rpartition(" ")
        sums[stack] += int(value)
    return sums


class Comparison:
    def __init__(self, prof, folder):
        self.prof, self.folder = prof, folder
        self.names = []
        self.equal = 0
        self.traces = 0
        self.skipped = collections.Counter()
        self.faults = []

    def expect(self, what, theirs, ours):
        if theirs == ours:
            self.equal += 1
        else:
            self.faults.append(f"{what}: {difference(theirs, ours)}")

    def compare(self, what, profiler):
        events = profiler.profiler.kineto_results.events()
        if any(event.is_async() or event.start_thread_id() != event.end_thread_id() for event in events):
            self.skipped["with asynchronous calls"] += 1
            return
        if len(events) > MOST_EVENTS:  # PyTorch's own tables would take minutes.
            self.skipped[f"with more than {MOST_EVENTS} events"] += 1
            return
        try:
            profiler.key_averages()
        except UnicodeDecodeError:  # A name of Python code that is gone.
            self.skipped["with names that PyTorch cannot read"] += 1
            return
        trace = str(self.folder / f"{what}.json")
        profiler.export_chrome_trace(trace)
        if names_of(events) != names_in(trace):
            self.skipped["with names that PyTorch cannot read"] += 1
            return
        self.traces += 1
        for by, sort, rows in TABLES:
            averages = profiler.key_averages("shape" in by, 5 if "stack" in by else 0, "overload" in by)
            self.expect(f"{what} {by} {sort}", averages.table(sort_by=sort, row_limit=rows),
                        printed(self.prof, trace, "events", by, sort, rows))
        if profiler.with_stack:
            stacks = self.folder / "stacks.txt"
            profiler.profiler.export_stacks(str(stacks))
            self.expect(f"{what} stacks", lines_of(stacks_of(stacks.read_text())),
                        lines_of(stacks_of(printed(self.prof, trace, "stacks", ("host",), None, 0))))
        os.unlink(trace)


def names_of(events):
    return sorted(event.name() for event in events if event.is_python_function())


def names_in(trace):
    with open(trace, encoding="utf-8") as file:
        return sorted(event["name"] for event in json.load(file)["traceEvents"] if event.get("cat") == "python_function")


def lines_of(sums):
    return "".join(f"{stack} {value}\n" for stack, value in sorted(sums.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prof")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("families", nargs="+")
    options = parser.parse_args()
    if not torch.__version__.startswith("2.13"):
        print(f"PyTorch {torch.__version__}: these tables are those of 2.13")
        return 77
    if sys.version_info >= (3, 12):
        profiler_util.sum = plain_sum
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    comparison = Comparison(options.prof, options.folder)
    record(lambda: torch.ones(3))  # What the profiler imports first.
    for name in options.families:
        common.PROGRAMS.clear()
        family = importlib.import_module(name)
        getattr(family, "begin", lambda: None)()
        for program, function in list(common.PROGRAMS.items()):
            for recording in recordings_of(len(comparison.names), program):
                torch.manual_seed(1)
                comparison.compare(f"{name}.{program}.{recording}", record(function, **RECORDINGS[recording]))
            comparison.names.append(program)
        getattr(family, "end", lambda: None)()
    print("\n".join(comparison.faults))
    print(f"{comparison.traces} traces: {comparison.equal} texts are PyTorch's, {len(comparison.faults)} differ; "
          f"left out: {json.dumps(comparison.skipped)}")
    return 1 if comparison.faults or not comparison.equal else 0


if __name__ == "__main__":
    sys.exit(main())
