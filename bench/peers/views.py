"""Which of our views shows which table of a peer, and what its columns are there: data."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    theirs: str
    ours: str
    scale: float = 1  # Ours is so much of theirs.
    figure: bool = True  # Else a word.
    slack: float = 0  # What ours may differ by.


@dataclass(frozen=True)
class View:
    peer: str
    table: str  # Of the peer.
    view: str  # Of ours.
    keys: tuple[tuple[str, str], ...]  # Columns of theirs, fields of ours.
    cells: tuple[Cell, ...]
    by: str = ""  # Ours with --by.
    only: dict = field(default_factory=dict)  # Rows of ours with these values,
    but: dict = field(default_factory=dict)  # without those that have these.
    kind: str = "one"  # Of "one" file, "ranks" or "diff".


def us(**columns):
    return tuple(Cell(theirs, ours, 1000) for theirs, ours in columns.items())


def same(*names):
    return tuple(Cell(name, name) for name in names)


def word(theirs, ours):
    return Cell(theirs, ours, figure=False)


_OVERVIEW = us(Kernel="kernel_ns", Memcpy="memcpy_ns", Memset="memset_ns", Communication="comm_ns",
               Runtime="runtime_ns", DataLoader="dataloader_ns", CpuOp="cpu_ns", Other="other_ns", Total="total_ns")
_OPERATORS = (Cell("calls", "calls"), *us(device_self="device_self_ns", device_total="device_total_ns",
                                          host_self="host_self_ns", host_total="host_total_ns"),
              word("tc_eligible", "tc_elig"), Cell("tc_self_ratio", "tc_self_pct", 100),
              Cell("tc_total_ratio", "tc_total_pct", 100))
_KERNELS = (word("tc_used", "tc"), Cell("count", "calls"), *us(sum="total_ns", mean="mean_ns", max="max_ns",
                                                               min="min_ns"),
            Cell("blocks_per_sm", "blocks_per_sm", slack=1e-6), Cell("occupancy", "achieved_occupancy_pct"))
_SIDES = (("left", "base"), ("right", "new"))


def _described(prefix, ours):
    figures = {"count": "count", "mean": "mean", "std": "std", "min": "min", "25%": "p25", "50%": "p50", "75%": "p75",
               "max": "max"}
    return tuple(Cell(f"{prefix}_{theirs}", ours_name if theirs == "count" else ours_name + ours)
                 for theirs, ours_name in figures.items())


VIEWS = (
    View("tb", "overview", "overview", (("step", "step"),),
         _OVERVIEW),
    View("tb", "overlap", "overview", (("step", "step"),),
         us(computation="kernel_exposed_ns|cpu_exposed_ns", overlap="comm_hidden_ns",
            communication="comm_exposed_ns"), but={"step": "mean"}),
    View("tb", "gpu", "gpu", (("gpu", "device"),),
         (Cell("utilization", "busy_pct", 100), Cell("est_sm_efficiency", "sm_efficiency_pct", 100),
          Cell("est_achieved_occupancy", "achieved_occupancy_pct"), Cell("tensor_core_ratio", "tc_time_pct", 100))),
    View("tb", "operators", "operators", (("name", "op"),), _OPERATORS),
    View("tb", "operators by shape", "operators", (("name", "op"), ("input_shape", "shape")), _OPERATORS, by="shape"),
    View("tb", "kernels", "groups", (("name", "kernel"),), _KERNELS),
    View("tb", "kernels by op", "groups",
         (("name", "kernel"), ("op", "op"), ("grid", "grid"), ("block", "block"), ("regs", "regs"), ("smem", "smem")),
         (word("tc_eligible", "tc_elig"), *_KERNELS), by="kernel,op,grid,block,regs,smem"),
    View("tb", "modules", "modules", (("row", "#"),),
         (word("name", "name"), *same("id", "level"), Cell("occurences", "calls"), Cell("operators", "operators"),
          *us(host_duration="host_total_ns", self_host_duration="host_self_ns", device_duration="device_total_ns",
              self_device_duration="device_self_ns", avg_duration="mean_ns"))),
    View("tb", "memory", "memory", (("device", "device"), ("point", "#device")),
         (*us(time="time_ns"), Cell("allocated", "allocated_bytes"), Cell("reserved", "reserved_bytes"))),
    View("tb", "memory-events", "memory-events",
         (("device", "device"), ("op", "op"), ("size", "size_bytes"), ("allocated", "alloc_ns"),
          ("released", "free_ns")), us(duration="duration_ns")),
    View("tb", "memory-ops", "memory-ops", (("device", "device"), ("op", "op")),
         (Cell("calls", "calls"), Cell("increase", "size_increase_bytes"),
          Cell("self_increase", "self_size_increase_bytes"), Cell("allocations", "allocations"),
          Cell("self_allocations", "self_allocations"), Cell("allocated", "allocated_bytes"),
          Cell("self_allocated", "self_allocated_bytes"))),
    View("tb", "distributed", "distributed", (("worker", "rank"), ("step", "step")),
         us(computation="computation_ns", overlap="overlap_ns", communication="communication_ns", other="other_ns"),
         kind="ranks"),
    View("tb", "distributed: wait", "distributed", (("worker", "rank"), ("step", "step")),
         us(transfer="transfer_ns", wait="wait_ns"), kind="ranks"),
    View("tb", "collectives", "collectives", (("worker", "rank"), ("name", "kind")),
         (Cell("calls", "calls"), Cell("size", "total_bytes"), Cell("mean_size", "mean_bytes"),
          *us(latency="latency_ns", mean_latency="mean_latency_ns", transfer="transfer_ns",
              mean_transfer="mean_transfer_ns")), kind="ranks"),
    View("tb", "diff tree", "diff_tree", (("node", "node"),),
         tuple(cell for theirs, ours in _SIDES for cell in
               (word(theirs, ours), Cell(theirs + "_host", ours + "_host_ns", 1000),
                Cell(theirs + "_device", ours + "_device_ns", 1000), Cell(theirs + "_total", ours + "_ns", 1000))),
         kind="diff"),
    View("tb", "diff operators", "diff_operators", (("name", "op"),),
         tuple(cell for theirs, ours in _SIDES for cell in
               (Cell(theirs + "_calls", ours + "_calls"),
                Cell(theirs + "_host_duration", ours + "_host_total_ns", 1000),
                Cell(theirs + "_self_host_duration", ours + "_host_self_ns", 1000),
                Cell(theirs + "_device_duration", ours + "_device_total_ns", 1000),
                Cell(theirs + "_self_device_duration", ours + "_device_self_ns", 1000))), kind="diff"),
    View("hta", "temporal", "temporal", (("rank", "rank"),),
         (Cell("idle_time(us)", "idle_ns", 1000), Cell("idle_time_pctg", "idle_pct"),
          Cell("compute_time(us)", "compute_ns", 1000), Cell("compute_time_pctg", "compute_pct"),
          Cell("non_compute_time(us)", "non_compute_ns", 1000), Cell("non_compute_time_pctg", "non_compute_pct"),
          Cell("kernel_time(us)", "kernel_ns", 1000))),
    View("hta", "overlap", "temporal", (("rank", "rank"),), (Cell("comp_comm_overlap_pctg", "overlap_pct"),)),
    View("hta", "kernel-types", "kernel-types", (("kernel_type", "type"),),
         (Cell("sum", "sum_ns", 1000), Cell("percentage", "share_pct"))),
    View("hta", "groups", "groups", (("rank", "rank"), ("kernel_type", "type"), ("name", "name")),
         (Cell("sum (us)", "sum_ns", 1000), Cell("max (us)", "max_ns", 1000), Cell("min (us)", "min_ns", 1000),
          Cell("stddev", "stddev_ns", 1000), Cell("mean (us)", "mean_ns", 1000))),
    View("hta", "idle", "idle", (("rank", "rank"), ("stream", "stream"), ("idle_category", "cause")),
         (Cell("idle_time", "idle_ns", 1000), Cell("idle_time_ratio", "share"))),
    View("hta", "launches", "launches", (("rank", "rank"),),
         (Cell("launches", "launches"), Cell("short", "short_kernels"), Cell("slow", "runtime_outliers"),
          Cell("late", "delay_outliers"), *us(cpu="cpu_ns", gpu="gpu_ns", delay="delay_ns",
                                              max_delay="max_delay_ns")), but={"launches": 0}),
    View("hta", "queue", "queue", (("rank", "rank"), ("stream", "stream")), _described("queue_length", "")),
    View("hta", "bandwidth", "bandwidth", (("rank", "rank"), ("name", "kind")),
         _described("memory_bw_gbps", "_gbps")),
    View("hta", "critical-path", "critical-path", (("bound_by", "cause"),),
         (*us(duration="time_ns"), Cell("share", "share_pct"))),
    View("hta", "diff: cpu", "diff_names", (("name", "name"),),
         (Cell("base_count", "base_count"), Cell("new_count", "new_count"), *us(base="base_ns", new="new_ns"),
          word("category", "category")), by="device", only={"device": "cpu"}, kind="diff"),
    View("hta", "diff: gpu", "diff_names", (("name", "name"),),
         (Cell("base_count", "base_count"), Cell("new_count", "new_count"), *us(base="base_ns", new="new_ns"),
          word("category", "category")), by="device", only={"device": "gpu"}, kind="diff"),
    View("hta", "diff: lists", "diff_names", (("list", "list"),), (Cell("count", "#list"),), kind="diff"),
)

# What --view names, where the rows say another name.
OF_VIEW = {"diff_tree": "tree", "diff_operators": "operators", "diff_names": ""}

# What differs for a reason that docs/peers.md tells: peer, pattern of the trace, pattern of the table, reason.
KNOWN = (
    ("tb", "mi300|sglang|vllm|xdit", "memory-ops", "it has no name for the memory of AMD's GPUs"),
    ("tb", "large_integer", "overview|overlap", "no event of the host: it shows a step from 2^63 to -2^63"),
    ("tb", "linear_tp2", "distributed: wait", "it has a row for collectives outside of all steps"),
    ("tb", "^made-up", "gpu|operators.*|kernels by op|modules",
     "it drops backward nodes without a forward op in a module, with their kernels"),
    ("hta", "large_integer", "overlap|kernel-types|groups", "a kernel that names no stream is none"),
)
