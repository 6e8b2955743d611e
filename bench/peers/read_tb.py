"""Run with the Python that has torch-tb-profiler: what its classes find in traces, as tables.

    read_tb.py OUT.json [--ns] FILE             what it shows of one worker
    read_tb.py OUT.json distributed FILE...     its distributed page of several
    read_tb.py OUT.json diff BASE NEW           its diff page

Nothing of the plugin is replaced. With --ns it gets all times as whole nanoseconds, so that its sums of doubles lose
nothing: its figures of files with fractions of a microsecond are then exact.
"""
import decimal
import functools
import json
import re
import sys
import tempfile
import time

from peer_tables import Tables

START = time.perf_counter()
from torch_tb_profiler.profiler import data as tb_data  # noqa: E402
from torch_tb_profiler.profiler.data import DistributedRunProfileData, RunProfileData  # noqa: E402
from torch_tb_profiler.profiler.loader import RunLoader  # noqa: E402
from torch_tb_profiler.profiler.overall_parser import ProfileRole  # noqa: E402
from torch_tb_profiler.profiler.run_generator import RunGenerator  # noqa: E402

ROLES = ("Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CpuOp", "Other", "Total")


def worker_of(path):
    match = re.search(r"rank[-_]?(\d+)[^/]*$", path)
    return f"rank{match[1]}" if match else "worker0"


def whole_ns(trace):
    for event in trace["traceEvents"]:
        for key, value in list(event.items()):
            if key in ("ts", "dur"):
                event[key] = int((decimal.Decimal(value) * 1000).to_integral_value())
    return floats_in(trace)


def floats_in(value):
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: floats_in(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [floats_in(inner) for inner in value]
    return value


def load(tables, path, in_ns):
    """As RunProfileData.parse() does."""
    folder = tempfile.mkdtemp()
    if in_ns:
        loads = json.loads
        tb_data.json.loads = functools.partial(loads, parse_float=decimal.Decimal)
        trace = whole_ns(RunProfileData._preprocess_file(path, folder)[1])
        tb_data.json.loads = loads
    else:
        trace = RunProfileData._preprocess_file(path, folder)[1]
    tables.fractions = tables.fractions or any(isinstance(event.get(key), float) and not event[key].is_integer()
                                               for event in trace["traceEvents"] for key in ("ts", "dur"))
    return RunProfileData.from_json(worker_of(path), None, trace)


def overview(data):
    rows = []
    for name, costs in (*zip(data.steps_names, data.steps_costs), ("mean", data.avg_costs)):
        rows.append([name, *(costs.costs[getattr(ProfileRole, role)] for role in ROLES)])
    return ["step", *ROLES], rows


def overlap(data):
    """Each part without what overlaps."""
    rows = [[name, costs.computation - costs.overlap, costs.overlap, costs.communication - costs.overlap]
            for name, costs in zip(data.steps_names, data.comm_overlap_costs)]
    return ["step", "computation", "overlap", "communication"], rows


def gpu(data):
    metrics = data.gpu_metrics_parser
    rows = [[gpu_id, metrics.gpu_utilization[gpu_id], metrics.avg_approximated_sm_efficiency_per_device[gpu_id],
             metrics.avg_occupancy_per_device[gpu_id], data.tc_ratio[gpu_id]] for gpu_id in sorted(metrics.gpu_ids)]
    return ["gpu", "utilization", "est_sm_efficiency", "est_achieved_occupancy", "tensor_core_ratio"], rows


def operators(data, aggregates):
    """It shows no times of devices where there is no work on any."""
    shown = data.has_kernel or data.has_memcpy_or_memset
    rows = [[op.name, op.input_shape, op.calls, op.self_device_duration if shown else None,
             op.device_duration if shown else None, op.self_host_duration, op.host_duration,
             "yes" if op.tc_eligible else "no", op.tc_self_ratio, op.tc_total_ratio] for op in aggregates]
    return ["name", "input_shape", "calls", "device_self", "device_total", "host_self", "host_total", "tc_eligible",
            "tc_self_ratio", "tc_total_ratio"], rows


def kernels(data):
    if not data.has_kernel:
        return [], []
    rows = [[name, "yes" if row["tc_used"] else "no", row["count"], row["sum"], row["mean"], row["max"], row["min"],
             row["blocks_per_sm"], row["occupancy"]] for name, row in data.kernel_stat.iterrows()]
    return ["name", "tc_used", "count", "sum", "mean", "max", "min", "blocks_per_sm", "occupancy"], rows


def kernels_by_op(data):
    if not data.has_kernel:
        return [], []
    rows = [[kernel.name, kernel.op_name, kernel.grid, kernel.block, kernel.regs_per_thread or 0,
             kernel.shared_memory or 0, "yes" if kernel.tc_used else "no", "yes" if kernel.op_tc_eligible else "no",
             kernel.calls, kernel.total_duration, kernel.avg_duration, kernel.max_duration, kernel.min_duration,
             kernel.avg_blocks_per_sm, kernel.avg_occupancy] for kernel in data.kernel_list_groupby_name_op]
    return ["name", "op", "grid", "block", "regs", "smem", "tc_used", "tc_eligible", "count", "sum", "mean", "max",
            "min", "blocks_per_sm", "occupancy"], rows


def modules(profile):
    rows = []

    def add(stats, level):
        for module in stats:
            rows.append([len(rows), level, module.name, module.id, module.occurences, module.operators,
                         module.host_duration, module.self_host_duration, module.device_duration,
                         module.self_device_duration, module.avg_duration])
            add(module.children, level + 1)
    add(profile.module_stats or [], 0)
    return ["row", "level", "name", "id", "occurences", "operators", "host_duration", "self_host_duration",
            "device_duration", "self_device_duration", "avg_duration"], rows


def memory_curve(profile):
    if not profile.memory_snapshot:
        return [], []
    curve = profile.get_memory_curve(time_metric="us", memory_metric="B", patch_for_step_plot=True)["rows"]
    start = min((points[0][0] for points in curve.values()), default=0)
    rows = [[device, i, time_us - start, *bytes] for device, points in curve.items()
            for i, (time_us, *bytes) in enumerate(points)]
    return ["device", "point", "time", "allocated", "reserved"], rows


def memory_events(profile):
    if not profile.memory_snapshot:
        return [], []
    events = profile.get_memory_events(time_metric="us", memory_metric="B")["rows"]
    times = [time_us for rows in events.values() for row in rows for time_us in row[2:4] if time_us is not None]
    start = min(times, default=0)
    rows = [[device, op, size, *(None if time_us is None else time_us - start for time_us in times_us), duration_us]
            for device, rows in events.items() for op, size, *times_us, duration_us in rows]
    return ["device", "op", "size", "allocated", "released", "duration"], rows


def memory_stats(profile):
    if not profile.memory_snapshot:
        return [], []
    rows = [[device, *row] for device, rows in profile.get_memory_stats(memory_metric="B")["rows"].items()
            for row in rows]
    return ["device", "op", "calls", "increase", "self_increase", "allocations", "self_allocations", "allocated",
            "self_allocated"], rows


def advice(data):
    return ["figure", "value"], [["tc_used_ratio", data.tc_used_ratio],
                                 ["tc_eligible_ops_kernel_ratio", data.tc_eligible_ops_kernel_ratio]]


def read_one(tables, path, in_ns):
    data = load(tables, path, in_ns)
    profile = RunGenerator(data.worker, None, data).generate_run_profile()
    tables.loaded()
    tables.add("overview", lambda: overview(data))
    tables.add("overlap", lambda: overlap(data))
    tables.add("gpu", lambda: gpu(data))
    tables.add("operators", lambda: operators(data, data.op_list_groupby_name))
    tables.add("operators by shape", lambda: operators(data, data.op_list_groupby_name_input))
    tables.add("kernels", lambda: kernels(data))
    tables.add("kernels by op", lambda: kernels_by_op(data))
    tables.add("modules", lambda: modules(profile))
    tables.add("memory", lambda: memory_curve(profile))
    tables.add("memory-events", lambda: memory_events(profile))
    tables.add("memory-ops", lambda: memory_stats(profile))


def chart(page):
    return [[worker, "mean" if step == "all" else step, *parts] for step, workers in page["data"].items()
            for worker, parts in workers.items()]


def collectives(page):
    rows = [[worker, *row] for worker, table in page["data"].items() for row in table["rows"]]
    return ["worker", "name", "calls", "size", "mean_size", "latency", "mean_latency", "transfer",
            "mean_transfer"], rows


def read_distributed(tables, paths, in_ns):
    profiles = [DistributedRunProfileData(load(tables, path, in_ns)) for path in paths]
    loader = RunLoader("run", "/", None)
    page = loader._process_distributed_profiles(profiles, None)
    tables.loaded()
    if page is None:
        for name in ("distributed", "distributed: wait", "collectives"):
            tables.add(name, lambda: ([], []))
        return
    tables.add("distributed", lambda: (["worker", "step", "computation", "overlap", "communication", "other"],
                                       chart(page.steps_to_overlap)))
    tables.add("distributed: wait", lambda: (["worker", "step", "transfer", "wait"], chart(page.steps_to_wait)))
    tables.add("collectives", lambda: collectives(page.comm_ops))


def diff_tree(stats):
    return ["node", "left", "left_host", "left_device", "left_total", "right", "right_host", "right_device",
            "right_total"], [
        [node, *(figure for side in (one.left, one.right) for figure in
                 (side.name, side.duration, side.device_duration, side.total_duration))]
        for node, one in stats.flatten_diff_tree().items()]


def diff_operators(stats):
    left, right = ({agg.name: agg for agg in side.op_aggs} for side in (stats.left, stats.right))
    parts = ("calls", "host_duration", "self_host_duration", "device_duration", "self_device_duration")
    rows = [[name, *(getattr(side[name], part) if name in side else 0 for side in (left, right) for part in parts)]
            for name in {**left, **right}]
    return ["name", *("left_" + part for part in parts), *("right_" + part for part in parts)], rows


def read_diff(tables, base, new, in_ns):
    profiles = []
    for path in (base, new):
        data = load(tables, path, in_ns)
        profiles.append(RunGenerator(data.worker, None, data).generate_run_profile())
    tables.loaded()
    stats = profiles[0].compare_run(profiles[1])
    tables.add("diff tree", lambda: diff_tree(stats))
    tables.add("diff operators", lambda: diff_operators(stats))


def main():
    out, *arguments = sys.argv[1:]
    in_ns = "--ns" in arguments
    paths = [argument for argument in arguments if argument != "--ns"]
    tables = Tables(START)
    if paths[0] == "distributed":
        read_distributed(tables, paths[1:], in_ns)
    elif paths[0] == "diff":
        read_diff(tables, *paths[1:], in_ns)
    else:
        read_one(tables, paths[0], in_ns)
    tables.write(out)


main()
