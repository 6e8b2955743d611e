"""RELATIONS: what must be equal and what bounds what. Whether they hold for a run."""
import collections

from consistency.run import AT_MOST, HOLDS, NEARLY
from consistency.screen import page_tables, screen_bars, screen_idle, screen_verdict
from consistency.views import (
    advice_gains, advice_together, bandwidth_overview, distributed_collectives, distributed_overview,
    distributed_parts, gap_steps, gpu_idle, gpu_overview, idle_calls, idle_causes, idle_gap_lengths, idle_gaps,
    idle_steps, launches_bounds, overview_busy, overview_exposed, overview_idle, overview_idle_of_all,
    overview_mean, overview_mfu, overview_other, overview_parts, path_length, path_work, queue_bounds,
    ranks_overview, sums_of_kernels, temporal_overlap, temporal_steps, temporal_whole, types_steps, types_whole,
    verdict_advice, verdict_call, verdict_largest, verdict_length, verdict_sentence, verdict_share, verdict_time)

# Name, tables that it reads, what it compares, and for --self-test: what to change in SELF so that it no longer
# holds, (table, number of the row, field, value) or for a screen (line, text).
Relation = collections.namedtuple("Relation", "name reads compare planted")

RELATIONS = [
    Relation("the parts of a step sum to its length", ["overview"], overview_parts,
             [("overview", 0, "cpu_ns", 110)]),
    Relation("queued and cold time are parts of other", ["overview"], overview_other,
             [("overview", 0, "queued_ns", 201), ("overview", 1, "cold_ns", 51)]),
    Relation("busy_pct is the share of kernels, copies, memsets and communication", ["overview"], overview_busy,
             [("overview", 1, "busy_pct", 80.1), ("overview", 2, "busy_pct", 70.1)]),
    Relation("the mean is over the steady steps, or all", ["overview"], overview_mean,
             [("overview", 2, "host_ns", 801.0), ("overview", 1, "state", "ending")]),
    Relation("mfu: products that ran, and their types, have the utilisation of the mean step", ["mfu", "overview"],
             overview_mfu, [("mfu", 0, "mfu_pct", 41.0), ("mfu", 1, "mfu_pct", 29.0), ("mfu", 0, "hfu_pct", 39.0)]),
    Relation("a part of a step is at most its exposed and hidden time, and at least the exposed time of the GPU, at most "
             "that of the host", ["overview"], overview_exposed,
             [("overview", 0, "kernel_hidden_ns", 1), ("overview", 0, "comm_exposed_ns", 51),
              ("overview", 1, "runtime_exposed_ns", 49)]),
    Relation("one GPU: the parts of the host are the causes of idle time; tail and unknown are what any thread does",
             ["overview", "idle", "idle by step"], overview_idle,
             [("idle by step", 0, "idle_ns", 401), ("idle by step", 4, "idle_ns", 99), ("idle by step", 1, "idle_ns", 101),
              ("overview", 0, "runtime_ns", 101), ("overview", 1, "cold_ns", 1)]),
    Relation("a rank is idle when all of its GPUs are", ["overview", "idle", "idle by step"], overview_idle_of_all,
             [("idle by step", 0, "idle_ns", 399)]),
    Relation("causes sum to (all), and shares are those of its time and window", ["idle", "idle by step"], idle_causes,
             [("idle", 1, "idle_ns", 151), ("idle", 1, "share_pct", 26.0), ("idle by step", 1, "window_pct", 9.0),
              ("idle", 0, "cause", "launch")]),
    Relation("gaps, percentiles and the longest gap of a cause fit its time", ["idle", "idle by step"], idle_gap_lengths,
             [("idle", 1, "gaps", 4), ("idle", 1, "max_ns", 250), ("idle", 0, "p95_ns", 210), ("idle", 0, "p50_ns", 201),
              ("idle", 0, "max_ns", 150)]),
    Relation("idle time in steps is part of that in the window", ["idle", "idle by step"], idle_steps,
             [("idle by step", 1, "idle_ns", 101), ("idle by step", 5, "cause", "sync")]),
    Relation("idle by call and op sums to idle", ["idle", "idle by call,op"], idle_calls,
             [("idle by call,op", 1, "idle_ns", 101), ("idle by call,op", 2, "cause", "sync")]),
    Relation("gaps are those of idle, the longest first", ["overview", "idle", "gaps"], idle_gaps,
             [("gaps", 0, "gap_ns", 201), ("gaps", 2, "gap_ns", 199), ("gaps", 0, "cause_ns", 201),
              ("gaps", 0, "cause", "dataloader")]),
    Relation("a gap begins in its step", ["overview", "gaps"], gap_steps,
             [("gaps", 0, "step", 2), ("gaps", 1, "step", None)]),
    Relation("a GPU is idle or works: kernels, replays, copies", ["gpu", "idle"], gpu_idle,
             [("gpu", 0, "busy_ns", 1401), ("gpu", 0, "copy_ns", 49), ("gpu", 0, "window_ns", 2001),
              ("gpu", 0, "kernel_ns", 1100)]),
    Relation("steps lie in the window, and so do their kernels", ["gpu", "overview"], gpu_overview,
             [("gpu", 0, "busy_ns", 1199), ("gpu", 0, "window_ns", 1999)]),
    Relation("temporal by step is overview", ["temporal by step", "overview"], temporal_steps,
             [("temporal by step", 0, "idle_ns", 401), ("temporal by step", 0, "compute_ns", 501),
              ("temporal by step", 0, "non_compute_ns", 101), ("temporal by step", 0, "kernel_ns", 1001)]),
    Relation("temporal by step and distributed have the same overlap", ["temporal by step", "distributed"],
             temporal_overlap, [("temporal by step", 0, "overlap_pct", 1.0), ("distributed", 1, "overlap_ns", 1)]),
    Relation("temporal: its parts sum; one GPU: all work of the window, and no more idle time than idle without tail",
             ["temporal", "overview", "idle", "gpu"], temporal_whole,
             [("temporal", 0, "idle_ns", 601), ("temporal", 0, "compute_ns", 1199), ("temporal", 0, "idle_pct", 31.0)]),
    Relation("one GPU: kernel-types by step is overview", ["kernel-types by step", "overview", "idle"], types_steps,
             [("kernel-types by step", 0, "sum_ns", 501), ("kernel-types by step", 1, "type", "COMMUNICATION"),
              ("kernel-types by step", 4, "sum_ns", 99)]),
    Relation("one GPU: kernel-types has the work of temporal", ["kernel-types", "temporal", "overview", "idle"],
             types_whole, [("kernel-types", 0, "sum_ns", 1201)]),
    Relation("share_pct of the verdict is its time of its length", ["verdict"], verdict_share,
             [("verdict", 0, "share_pct", 21.0), ("verdict", 0, "time_ns", 2001)]),
    Relation("the verdict is over the steps of the mean, or the run after its cold start, and is idle when no "
             "work of overview runs", ["verdict", "overview", "idle", "idle by step"], verdict_length,
             [("verdict", 0, "steps", 1), ("verdict", 0, "total_ns", 2001), ("verdict", 0, "idle_pct", 31.0)]),
    Relation("the time of the verdict is that of its causes of idle time, of communication alone or of work",
             ["verdict", "overview", "idle", "idle by step"], verdict_time,
             [("verdict", 0, "time_ns", 401), ("verdict", 0, "cause", "busy"), ("verdict", 0, "cause", "collectives")]),
    Relation("one GPU: no other cause has more time than that of the verdict, which has a tenth or is none",
             ["verdict", "overview", "idle", "idle by step"], verdict_largest,
             [("verdict", 0, "time_ns", 399), ("verdict", 0, "cause", "busy"), ("overview", 0, "comm_exposed_ns", 500)]),
    Relation("one GPU: the call of the verdict is that with most idle time of its cause, where all steps count",
             ["verdict", "overview", "gpu", "idle by call,op"], verdict_call,
             [("verdict", 0, "call", "cudaFree")]),
    Relation("the advice on data loaders is not below a verdict on them, on communication it is there",
             ["verdict", "advice", "overview"], verdict_advice,
             [("verdict", 0, "cause", "dataloader")]),
    Relation("the sentence of the verdict has its share", ["verdict"], verdict_sentence,
             [("verdict", 0, "verdict", "the GPU waits: 20.1 % of a step")]),
    Relation("the critical path is as long as the step, and causes sum to it", ["critical-path", "overview"], path_length,
             [("critical-path", 0, "time_ns", 501), ("critical-path", 0, "length_ns", 1001),
              ("critical-path", 2, "step_ns", 1001)]),
    Relation("work on the critical path is work of the step", ["critical-path", "overview"], path_work,
             [("critical-path", 0, "time_ns", 601), ("critical-path", 0, "cause", "communication"),
              ("critical-path", 0, "cause", "copy"), ("critical-path", 2, "time_ns", 701),
              ("critical-path", 4, "time_ns", 101), ("critical-path", 5, "time_ns", 51)]),
    Relation("distributed is overview, step by step and in the mean", ["distributed", "overview"], distributed_overview,
             [("distributed", 0, "total_ns", 1001), ("distributed", 0, "computation_ns", 501),
              ("distributed", 0, "memory_ns", 51), ("distributed", 2, "communication_ns", 75.5),
              ("overview", 1, "comm_exposed_ns", 101)]),
    Relation("distributed: its parts sum", ["distributed"], distributed_parts,
             [("distributed", 0, "other_ns", 451), ("distributed", 1, "memory_ns", 301), ("distributed", 1, "wait_ns", 1)]),
    Relation("distributed sums up collectives", ["overview", "distributed", "collectives"], distributed_collectives,
             [("distributed", 0, "collectives", 2), ("collectives", 0, "latency_ns", 49)]),
    Relation("ranks sums up the steps of the mean", ["ranks", "overview", "distributed"], ranks_overview,
             [("ranks", 0, "steps", 1), ("ranks", 0, "total_ns", 1999), ("ranks", 0, "busy_ns", 1401),
              ("ranks", 0, "compute_ns", 1201), ("ranks", 0, "communication_ns", 151), ("ranks", 0, "busy_pct", 70.1)]),
    Relation("launches: counts and percentiles bound each other; its steps sum to it; its kernels are some of all",
             ["launches", "launches by step", "ranks"], launches_bounds,
             [("launches", 0, "early_starts", 12), ("launches", 0, "p50_delay_ns", 31), ("launches", 0, "max_delay_ns", 20),
              ("launches by step", 0, "launches", 6), ("launches", 0, "delay_ns", 301), ("ranks", 0, "kernels", 9),
              ("ranks", 0, "kernel_ns", 1349)]),
    Relation("queue: levels are in order, the mean lies between, and times in its span", ["queue"], queue_bounds,
             [("queue", 0, "p25", 3), ("queue", 0, "mean", 9.5), ("queue", 0, "starved_ns", 1701)]),
    Relation("copies and memsets of steps are some of bandwidth", ["bandwidth", "overview"], bandwidth_overview,
             [("bandwidth", 0, "time_ns", 49), ("bandwidth", 0, "kind", "Memset")]),
    Relation("operators, places, groups, ranks and gpu have the same kernels and copies",
             ["operators", "places", "groups", "ranks", "gpu"], sums_of_kernels,
             [("groups", 0, "count", 9), ("groups", 0, "total", 1351), ("operators", 0, "device_self_ns", 1401),
              ("gpu", 0, "copy_ns", 51), ("places", 0, "time_ns", 1349)]),
    Relation("advice: gains are shares of overview, or at most what idle and collectives allow",
             ["advice", "overview", "idle", "idle by step", "verdict", "collectives"], advice_gains,
             [("advice", 0, "gain_pct", 20.5), ("advice", 1, "gain_pct", 5.5), ("advice", 1, "gain_ns", 52),
              ("advice", 2, "gain_pct", 8.0), ("advice", 3, "gain_pct", 20.1), ("advice", 0, "estimate_pct", 19.5)]),
    Relation("advice: rules share idle time", ["advice", "overview", "idle", "idle by step", "verdict"],
             advice_together, [("advice", 3, "gain_pct", 7.0)]),
    Relation("screen: bars and busy share are those of the mean of overview", ["screen", "overview", "distributed"],
             screen_bars,
             [("screen", 5, "  compute              60.1 %      600 ns  ###################################"),
              ("screen", 5, "  compute              60.0 %      601 ns  ###################################"),
              ("screen", 5, "  compute              60.0 %      600 ns  ######"),
              ("screen", 5, "  kernels              60.0 %      600 ns  ###################################"),
              ("screen", 10, "  GPU 0: busy 70.1 %"), ("screen", 9, "")]),
    Relation("screen: its first sentence is the verdict", ["screen", "verdict", "overview", "distributed"], screen_verdict,
             [("screen", 2, "The GPU waits: 20.1 % of a step")]),
    Relation("screen: idle time is that of the steps of the mean, its largest causes first",
             ["screen", "overview", "idle by step", "gpu", "distributed"], screen_idle,
             [("screen", 11, "  Idle 30.1 %: launch 7.5 %, python or other code 7.5 %, dataloader 5.0 %"),
              ("screen", 11, "  Idle 30.0 %: launch 7.4 %, python or other code 7.5 %, dataloader 5.0 %"),
              ("screen", 11, "  Idle 30.0 %: host-op 5.0 %, python or other code 7.5 %, dataloader 5.0 %"),
              ("screen", 11, "  Idle 30.0 %: launch 7.5 %")]),
    Relation("page: its tables are those of prof", ["page", "verdict", "overview"], page_tables,
             [("page", ("overview", 0), "kernel_ns", 501), ("page", ("verdict", 0), "cause", "sync")]),
]


def holds(figure, how, other):
    if figure is None or other is None:
        return None
    if how == HOLDS:
        return bool(figure)
    slack = 0 if isinstance(figure, int) and isinstance(other, int) else NEARLY * max(abs(figure), abs(other)) + 1e-9
    return figure <= other + slack if how == AT_MOST else abs(figure - other) <= slack


def check(run, relations=None):
    """Number of comparisons by relation, and a line for each that does not hold."""
    counts = collections.Counter()
    faults = []
    for relation in relations or RELATIONS:
        if not all(run.has(table) for table in relation.reads):
            continue
        for about, figure, how, other in relation.compare(run):
            fine = holds(figure, how, other)
            counts[relation.name] += fine is not None
            if fine is False:
                figures = f"not so: {other}" if how == HOLDS else f"{figure} {how} {other} does not hold"
                faults.append(f"{relation.name}: {about}: {figures}")
    return counts, faults
