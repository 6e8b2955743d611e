"""Run with the Python that has HTA: what it finds in traces, as tables.

    read_hta.py OUT.json FILE...             all analyses of the ranks of one run
    read_hta.py OUT.json diff BASE NEW       TraceDiff
"""
import logging
import re
import sys
import time

from peer_tables import Tables

START = time.perf_counter()
from hta.common.trace import Trace  # noqa: E402
from hta.trace_analysis import TraceAnalysis  # noqa: E402
from hta.trace_diff import DeviceType, LabeledTrace, TraceDiff  # noqa: E402

FIGURES = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")


def rank_of(path):
    match = re.search(r"rank[-_]?(\d+)[^/]*$", path)
    return int(match[1]) if match else 0


def table(frame):
    """Of a frame that may be none."""
    if frame is None:
        return [], []
    frame = frame.reset_index(drop=True)
    return [str(column) for column in frame.columns], frame.values.tolist()


def launches(analysis, ranks):
    """What the charts of launches count, with their bounds."""
    rows = []
    for rank, frame in analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False).items():
        if frame.empty:
            continue
        cpu, gpu, delay = frame["cpu_duration"], frame["gpu_duration"], frame["launch_delay"]
        rows.append([rank, len(frame), int(((gpu < cpu) & (cpu <= 50)).sum()), int((cpu > 50).sum()),
                     int((delay > 100).sum()), cpu.sum(), gpu.sum(), delay.sum(), delay.max()])
    return ["rank", "launches", "short", "slow", "late", "cpu", "gpu", "delay", "max_delay"], rows


def described(frame, prefix, key):
    """Quartiles of a counter, a row for each rank and key."""
    if frame is None or frame.empty:
        return [], []
    frame.columns = ["_".join(column) if isinstance(column, tuple) else column for column in frame.columns]
    frame = frame.reset_index()
    columns = ["rank", key, *(f"{prefix}_{figure}" for figure in FIGURES)]
    return columns, frame[columns].values.tolist()


def critical_path(analysis, rank):
    """Of the first step, or of the whole trace where there is none, as the example of the documentation has it."""
    found = analysis.critical_path_analysis(rank, "ProfilerStep", 0)
    if found is None:
        found = analysis.critical_path_analysis(rank, "", 0)
    if found is None or not found[1]:
        return [], []
    edges = found[0].get_critical_path_breakdown()
    sums = edges.groupby("bound_by").duration.sum()
    return ["bound_by", "duration", "share"], [[cause, sum_us, 100 * sum_us / edges.duration.sum()]
                                               for cause, sum_us in sums.items()]


def kernel_breakdown(analysis):
    return analysis.get_gpu_kernel_breakdown(num_kernels=10, include_memory_kernels=True, visualize=False)


def read_run(tables, paths):
    ranks = {rank_of(path): path for path in paths}
    analysis = TraceAnalysis(trace_files=ranks, trace_dir="/", include_last_profiler_step=False)
    tables.loaded()
    numbers = sorted(ranks)
    tables.add("temporal", lambda: table(analysis.get_temporal_breakdown(visualize=False)))
    tables.add("overlap", lambda: table(analysis.get_comm_comp_overlap(visualize=False)))
    tables.add("kernel-types", lambda: table(kernel_breakdown(analysis)[0]))
    tables.add("groups", lambda: table(kernel_breakdown(analysis)[1]))
    tables.add("idle", lambda: table(analysis.get_idle_time_breakdown(ranks=numbers, visualize=False)[0]))
    tables.add("launches", lambda: launches(analysis, numbers))
    tables.add("queue", lambda: described(analysis.get_queue_length_summary(ranks=numbers), "queue_length", "stream"))
    tables.add("bandwidth", lambda: described(analysis.get_memory_bw_summary(ranks=numbers), "memory_bw_gbps", "name"))
    if len(numbers) == 1:
        tables.add("critical-path", lambda: critical_path(analysis, numbers[0]))


def diff(traces, device):
    frame = TraceDiff.compare_traces(*traces, device_type=device)
    frame.columns = ["base_count", "base", "new_count", "new", "delta_count", "delta", "category"]
    return ["name", *frame.columns], [[name, *row] for name, row in zip(frame.index, frame.values.tolist())]


def read_diff(tables, base, new):
    traces = [LabeledTrace(label=label, t=Trace(trace_files={0: path}, trace_dir="/"))
              for label, path in (("base", base), ("new", new))]
    tables.loaded()
    tables.add("diff: cpu", lambda: diff(traces, DeviceType.CPU))
    tables.add("diff: gpu", lambda: diff(traces, DeviceType.GPU))
    tables.add("diff: lists", lambda: (["list", "count"], [
        [kind, len(names)] for kind, names in TraceDiff.ops_diff(*traces).items()]))


def main():
    out, *paths = sys.argv[1:]
    logging.disable(logging.WARNING)
    tables = Tables(START)
    if paths[0] == "diff":
        read_diff(tables, *paths[1:])
    else:
        read_run(tables, paths)
    tables.write(out)


main()
