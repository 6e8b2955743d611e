"""The checks of a recording, one function each. A check answers a list of faults, none when it passes, and a note:
what was compared. docs/recording_gpu.md says what each demands and why.
"""
import collections
import statistics

import profiles

MOST_NS_PER_KERNEL = 5000
MOST_SHOWN = 5
# Facts of OPLENS_META that are 0 where nothing is missing.
LOSSES = ("lost_events", "handler_events", "child_events", "cut_texts", "lost_rows", "cupti_lost", "odd_rows",
          "unmatched_ends", "unfinished_launches", "gpu_busy_at_end", "first_error")
# Kernels of one iteration of examples/mlp_step.cc.
EXAMPLE_KERNELS = {
    "gemm": 5, "add_bias": 2, "relu": 1, "relu_backward": 1, "mse_loss": 1, "mse_loss_backward": 1, "sum_rows": 2,
    "sgd_update": 4
}


def shown(faults):
    return faults[:MOST_SHOWN] + ([f"and {len(faults) - MOST_SHOWN} more"] if len(faults) > MOST_SHOWN else [])


def differences(ours, theirs, our_name, their_name):
    """What two multisets do not share."""
    faults = []
    for item in sorted(set(ours) | set(theirs), key=repr):
        if ours[item] != theirs[item]:
            faults.append(f"{item}: {ours[item]} of {our_name}, {theirs[item]} of {their_name}")
    return faults


def whole(recording):
    """Everything was recorded: nothing lost, nothing refused."""
    faults = []
    if recording.meta.get("gpu") != "recorded":
        faults.append(f"OPLENS_META says of the GPU: {recording.meta.get('gpu')}")
    for key in LOSSES:
        if recording.meta.get(key) != 0:
            faults.append(f"OPLENS_META: {key} is {recording.meta.get(key)}")
    if recording.unpaired:
        faults.append(f"{recording.unpaired} ranges have one end only")
    if not recording.kernels:
        faults.append("no kernel was recorded")
    return faults, f"{len(recording.kernels)} kernels, {len(recording.ranges)} ranges"


def launches(kernels):
    return collections.Counter((profiles.plain_name(k[0]), tuple(k[1]), tuple(k[2])) for k in kernels)


def same_kernels(recording, kineto):
    """The multisets of (name, grid, block) are equal."""
    ours, theirs = launches(recording.kernels), launches(kineto)
    faults = differences(ours, theirs, "record", "PyTorch's profiler")
    if not theirs:
        faults.append("PyTorch's profiler saw no kernel")
    return shown(faults), f"{sum(ours.values())} kernels, {len(ours)} different ones"


def within(part, all_of_it):
    """A recording of the window holds no kernel that the recording from the start does not."""
    missing = launches(part.kernels) - launches(all_of_it.kernels)
    faults = [f"{item}: {count} more than without a window" for item, count in missing.items()]
    if len(part.kernels) >= len(all_of_it.kernels):
        faults.append(f"{len(part.kernels)} kernels in the window, {len(all_of_it.kernels)} in all")
    return shown(faults), f"{len(part.kernels)} of {len(all_of_it.kernels)} kernels"


def example_kernels(recording, iterations):
    """The example's kernels are those of its source."""
    ours = collections.Counter(profiles.function_name(k.name) for k in recording.kernels)
    theirs = collections.Counter({name: count * iterations for name, count in EXAMPLE_KERNELS.items()})
    return shown(differences(ours, theirs, "record", "the source")), f"{sum(ours.values())} kernels"


def ordered(recording):
    """Range start <= launch start <= kernel start, for every kernel; every launch lies in a range of its thread."""
    by_thread = collections.defaultdict(list)
    for r in recording.ranges:
        by_thread[r.thread].append(r)
    faults = []
    for kernel in recording.kernels:
        launch = recording.launches.get(kernel.correlation)
        what = f"{profiles.plain_name(kernel.name)[:60]} (correlation id {kernel.correlation})"
        if launch is None:
            faults.append(f"{what}: no launch")
            continue
        if not any(r.start <= launch.start and launch.end <= r.end for r in by_thread[launch.thread]):
            faults.append(f"{what}: no range around its launch")
        if kernel.start < launch.start:
            faults.append(f"{what}: starts {launch.start - kernel.start} ns before its launch")
        if kernel.start <= 0 or kernel.end < kernel.start:
            faults.append(f"{what}: runs from {kernel.start} to {kernel.end}")
    if not recording.kernels:
        faults.append("no kernels")
    return shown(faults), f"{len(recording.kernels)} kernels"


def tight(recording, events):
    """Ranges around one launch each hold that launch: the clocks of ranges and of calls are one."""
    faults = []
    for name in events["tight"]:
        inside = recording.launched_in(recording.named(name))
        if len(inside) != 1:
            faults.append(f"{len(inside)} launches in the range \"{name}\"")
    if not events["tight"]:
        faults.append("no such ranges")
    return shown(faults), f"{len(events['tight'])} ranges"


def durations(recording, events):
    """The durations of a batch of long kernels sum up to the time between CUDA events around it."""
    faults, notes = [], []
    for batch in events["batches"]:
        inside = recording.launched_in(recording.named(batch["range"]))
        if len(inside) < batch["launches"]:
            faults.append(f"{len(inside)} kernels in \"{batch['range']}\", {batch['launches']} were launched")
            continue
        total = sum(kernel.end - kernel.start for kernel in inside)
        off = (batch["elapsed_ns"] - events["empty_ns"] - total) / len(inside)
        note = f"{batch['range']}: {off / 1000:+.2f} us a kernel of {total / len(inside) / 1000:.0f} us"
        (faults if abs(off) > MOST_NS_PER_KERNEL else notes).append(note)
    if not events["batches"]:
        faults.append("no batches")
    return shown(faults), "; ".join(notes)


def slowdown(seconds, pairs):
    """`seconds`: a list of run times by variant. For each pair the first variant is no slower than the second."""
    median = {name: statistics.median(times) for name, times in seconds.items()}
    ratio = {name: median[name] / median["bare"] for name in median}
    faults = [f"{ours} takes {ratio[ours]:.2f} x bare, {theirs} {ratio[theirs]:.2f} x"
              for ours, theirs in pairs if median[ours] > median[theirs]]
    return faults, ", ".join(f"{name} {value:.2f}" for name, value in ratio.items())


def graph_ops(recording, records, rows, told):
    """Replayed kernels have the ops of the eager step. `records`: lines of parse; `rows`: those of prof, one each."""
    if len(records) != len(rows):
        return [f"parse wrote {len(records)} records, prof {len(rows)} rows"], ""
    counts = {}
    for part in ("eager", "replay"):
        around = recording.named(told[part])
        counts[part] = collections.Counter(
            row["op"] or "(no op)" for record, row in zip(records, rows)
            if record["launchStart"] is not None and around.start <= record["launchStart"] <= around.end)
    expected = collections.Counter({op: count * told["replays"] for op, count in counts["eager"].items()})
    faults = differences(counts["replay"], expected, "the replays", f"{told['replays']} eager steps")
    for part in counts:
        if not counts[part]:
            faults.append(f"no kernels in \"{told[part]}\"")
    if set(counts["eager"]) == {"(no op)"}:
        faults.append("the eager step has no ops either")
    return shown(faults), f"{sum(counts['replay'].values())} kernels replayed, {len(counts['eager'])} ops"


def with_ops(rows):
    """Every kernel has an op."""
    faults = [f"{row['kernel']}: no op" for row in rows if not row["op"]]
    return shown(faults) if rows else ["no rows"], f"{len(rows)} kernels"
