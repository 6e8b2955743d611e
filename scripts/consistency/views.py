"""Relations between the views of a run: each yields what it compares."""
import collections

from consistency.run import (
    AT_MOST, CAUSES_OF_PART, CAUSES_OF_VERDICT, EQUAL, HISTOGRAM, HOLDS, HOST, MOST_GAPS, OF_ANY_THREAD, OUTSIDE,
    PARTS, REPLAYS, ROOT_SHARE, busy_of, name_of, percent, sum_in, sum_of, texts_of)


# Each relation yields (about what, figure, EQUAL or AT_MOST, figure), or (about what, whether, HOLDS, what).

def overview_parts(run):
    for rank in run.ranks():
        for row in run.steps(rank):
            yield name_of(rank, row["step"]), sum_of([row], *PARTS), EQUAL, row["total_ns"]


def overview_other(run):
    for row in run.rows("overview"):
        if row["queued_ns"] is not None:
            yield name_of(row["rank"], row["step"]), sum_of([row], "queued_ns", "cold_ns", "end_ns"), AT_MOST, row["other_ns"]


def overview_busy(run):
    for row in run.rows("overview"):
        if row["busy_pct"] is not None:
            yield name_of(row["rank"], row["step"]), row["busy_pct"], EQUAL, percent(busy_of([row]), row["total_ns"])


def overview_mean(run):
    for rank in run.ranks():
        counted = run.counted(rank)
        mean = run.mean(rank)
        for key in mean:
            if key.endswith("_ns") and key != "start_ns":
                known = all(row[key] is not None for row in counted)
                expected = sum_of(counted, key) / len(counted) if known else None
                yield f"{name_of(rank)}: {key}", mean[key], EQUAL, expected


def overview_mfu(run):
    """The products that ran, by type and together, have the utilisation of the mean step."""
    for rank in run.ranks():
        for row in run.rows("mfu", rank=rank, counts="products"):
            yield name_of(rank), row["mfu_pct"], EQUAL, run.mean(rank)["mfu_pct"]
            types = run.rows("mfu", rank=rank, counts="type")
            yield f"{name_of(rank)}: types", sum_of(types, "mfu_pct"), EQUAL, row["mfu_pct"]
            yield f"{name_of(rank)}: HFU", row["mfu_pct"], AT_MOST, row["hfu_pct"]


def overview_exposed(run):
    for rank in run.ranks():
        for row in run.steps(rank):
            name = name_of(rank, row["step"])
            if row["kernel_ns"] is not None:
                yield f"{name}: kernel", row["kernel_ns"], EQUAL, row["kernel_exposed_ns"] + row["kernel_hidden_ns"]
                for part in ("memcpy", "memset", "comm"):
                    yield f"{name}: {part}", row[f"{part}_exposed_ns"], AT_MOST, row[f"{part}_ns"]
                    yield (f"{name}: {part}", row[f"{part}_ns"], AT_MOST,
                           row[f"{part}_exposed_ns"] + row[f"{part}_hidden_ns"])
            for part in HOST:
                key = part.replace("_ns", "_exposed_ns")
                yield f"{name}: {part}", row[part], AT_MOST, row[key]


def overview_idle(run):
    for rank in run.ranks_of_one_gpu():
        for number, row in run.numbered(rank).items():
            causes = run.causes("idle by step", rank=rank, step=number)
            name = name_of(rank, number)
            yield name, causes["(all)"], EQUAL, sum_of([row], *HOST, "other_ns")
            yield f"{name}: queued", causes["queued"], EQUAL, row["queued_ns"]
            yield f"{name}: cold-start", causes["cold-start"], EQUAL, row["cold_ns"]
            # The end of a run without steps is no part of what a thread does.
            end_ns = row["end_ns"] or 0
            of_any = sum_in(causes, OF_ANY_THREAD) - end_ns
            for part, words in CAUSES_OF_PART.items():
                known = sum_in(causes, words)
                yield f"{name}: {part}", known, AT_MOST, row[part]
                yield f"{name}: {part}", row[part], AT_MOST, known + of_any + end_ns * (part == "other_ns")


def overview_idle_of_all(run):
    for rank in run.ranks():
        for number, row in run.numbered(rank).items():
            worked = 0
            for device in run.devices(rank):
                idle = run.causes("idle by step", rank=rank, device=device, step=number)["(all)"]
                worked += row["total_ns"] - idle
                yield f"{name_of(rank, number)}: GPU {device}", row["total_ns"] - busy_of([row]), AT_MOST, idle
            if run.devices(rank):
                yield f"{name_of(rank, number)}: work", busy_of([row]), AT_MOST, worked


def idle_groups(run, table):
    groups = collections.defaultdict(list)
    for row in run.rows(table):
        groups[(row["rank"], row["device"], row.get("step"))].append(row)
    return groups


def idle_causes(run):
    for table in ("idle", "idle by step"):
        for (rank, device, step), rows in idle_groups(run, table).items():
            name = f"{name_of(rank, step)}: GPU {device}"
            whole = rows[0]
            yield f"{name}: first row", whole["cause"] == "(all)", HOLDS, "is (all)"
            yield name, sum_of(rows[1:], "idle_ns"), EQUAL, whole["idle_ns"]
            for row in rows:
                if whole["idle_ns"] > 0:
                    yield f"{name}: {row['cause']}", row["share_pct"], EQUAL, percent(row["idle_ns"], whole["idle_ns"])
                    yield (f"{name}: window of {row['cause']}", percent(row["idle_ns"], row["window_pct"]), EQUAL,
                           percent(whole["idle_ns"], whole["window_pct"]))


def idle_gap_lengths(run):
    for table in ("idle", "idle by step"):
        for (rank, device, step), rows in idle_groups(run, table).items():
            for row in rows:
                name = f"{name_of(rank, step)}: GPU {device}: {row['cause']}"
                if row["gaps"] == 0:
                    continue
                yield f"{name}: gaps", row["gaps"], AT_MOST, rows[0]["gaps"]
                yield f"{name}: max_ns", row["max_ns"], AT_MOST, min(row["idle_ns"], rows[0]["max_ns"])
                yield f"{name}: idle_ns", row["idle_ns"], AT_MOST, row["gaps"] * row["max_ns"]
                yield f"{name}: p50_ns", row["p50_ns"], AT_MOST, row["p95_ns"]
                yield f"{name}: p95_ns", row["p95_ns"], AT_MOST, row["max_ns"] * HISTOGRAM


def idle_steps(run):
    for (rank, device, _), rows in idle_groups(run, "idle").items():
        steps = run.causes("idle by step", rank=rank, device=device)
        whole = {row["cause"]: row["idle_ns"] for row in rows}
        for cause, idle_ns in steps.items():
            yield f"{name_of(rank)}: GPU {device}: {cause}", idle_ns, AT_MOST, whole.get(cause, 0)


def idle_calls(run):
    for (rank, device, _), rows in idle_groups(run, "idle").items():
        calls = run.causes("idle by call,op", rank=rank, device=device)
        for row in rows:
            yield f"{name_of(rank)}: GPU {device}: {row['cause']}", calls.pop(row["cause"], 0), EQUAL, row["idle_ns"]
        yield f"{name_of(rank)}: GPU {device}: causes", not calls, HOLDS, f"are those of idle, without {list(calls)}"


def idle_gaps(run):
    for rank in run.ranks():
        gaps = run.rows("gaps", rank=rank)
        whole = run.rows("idle", rank=rank, cause="(all)")
        if not whole:
            continue
        count = sum_of(whole, "gaps")
        yield f"{name_of(rank)}: number", len(gaps), EQUAL, min(count, MOST_GAPS)
        yield f"{name_of(rank)}: longest", max((row["gap_ns"] for row in gaps), default=0), EQUAL, max(
            row["max_ns"] or 0 for row in whole)
        sums = sum_of(gaps, "gap_ns"), sum_of(whole, "idle_ns")
        yield f"{name_of(rank)}: sum", sums[0], EQUAL if count <= MOST_GAPS else AT_MOST, sums[1]
        causes = run.causes("idle", rank=rank)
        for cause in {row["cause"] for row in gaps}:
            yield (f"{name_of(rank)}: {cause}", sum_of(run.rows("gaps", rank=rank, cause=cause), "cause_ns"), AT_MOST,
                   causes[cause])
        for row in gaps:
            yield f"{name_of(rank)}: gap at {row['start_ns']}", row["cause_ns"], AT_MOST, row["gap_ns"]


def gap_steps(run):
    for rank in run.ranks():
        for row in run.rows("gaps", rank=rank):
            steps = [step for step in run.steps(rank)
                     if step["start_ns"] <= row["start_ns"] < step["start_ns"] + step["total_ns"]]
            numbers = [int(step["step"]) for step in steps] or [None]
            yield (f"{name_of(rank)}: gap at {row['start_ns']}", row["step"] in numbers, HOLDS,
                   f"step {row['step']} is one of {numbers}")


def gpu_idle(run):
    for row in run.rows("gpu"):
        idle = run.rows("idle", rank=row["rank"], device=row["device"], cause="(all)")
        for whole in idle:
            name = f"{name_of(row['rank'])}: GPU {row['device']}"
            worked = row["window_ns"] - whole["idle_ns"]
            yield f"{name}: window", whole["window_pct"], EQUAL, percent(whole["idle_ns"], row["window_ns"])
            yield f"{name}: busy", row["busy_ns"], AT_MOST, worked
            yield f"{name}: work", worked, AT_MOST, row["busy_ns"] + row["copy_ns"]
            yield f"{name}: kernels", row["busy_ns"], AT_MOST, sum_of([row], "kernel_ns", "comm_ns", "replay_ns")


def gpu_overview(run):
    for rank in run.ranks():
        rows = run.rows("gpu", rank=rank)
        steps = run.steps(rank)
        if rows and steps and steps[0]["kernel_ns"] is not None:
            yield f"{name_of(rank)}: kernels", sum_of(steps, "kernel_ns"), AT_MOST, sum_of(rows, "busy_ns")
            yield f"{name_of(rank)}: length", sum_of(steps, "total_ns"), AT_MOST, rows[0]["window_ns"]


def temporal_steps(run):
    for row in run.rows("temporal by step"):
        step = run.numbered(row["rank"])[row["step"]]
        name = name_of(row["rank"], row["step"])
        yield f"{name}: length", row["kernel_ns"], EQUAL, step["total_ns"]
        yield f"{name}: idle", row["idle_ns"], EQUAL, sum_of([step], *HOST, "other_ns")
        yield f"{name}: compute", row["compute_ns"], EQUAL, step["kernel_ns"]
        yield f"{name}: other work", row["non_compute_ns"], EQUAL, sum_of([step], "memcpy_ns", "memset_ns", "comm_ns")


def temporal_overlap(run):
    for row in run.rows("temporal by step"):
        steps = run.rows("distributed", rank=row["rank"], step=str(row["step"]))
        communication = sum_of(steps, "overlap_ns", "communication_ns")
        yield (name_of(row["rank"], row["step"]), row["overlap_pct"], EQUAL,
               percent(sum_of(steps, "overlap_ns"), communication))


def temporal_whole(run):
    for row in run.rows("temporal"):
        name = name_of(row["rank"])
        yield f"{name}: parts", sum_of([row], "idle_ns", "compute_ns", "non_compute_ns"), EQUAL, row["kernel_ns"]
        yield f"{name}: idle_pct", row["idle_pct"], EQUAL, percent(row["idle_ns"], row["kernel_ns"])
        if row["rank"] not in run.ranks_of_one_gpu():
            continue
        causes = run.causes("idle", rank=row["rank"])
        gpu = run.rows("gpu", rank=row["rank"])[0]
        worked = row["compute_ns"] + row["non_compute_ns"]
        yield f"{name}: work", gpu["window_ns"] - causes["(all)"], AT_MOST, worked
        if gpu["window_ns"] - causes["(all)"] == worked:
            # All work is in the window, so that idle time of its own is between its first and its last work.
            yield f"{name}: idle", row["idle_ns"], AT_MOST, causes["(all)"] - causes["tail"]


def types_steps(run):
    for rank in run.ranks_of_one_gpu():
        for number, step in run.numbered(rank).items():
            rows = run.rows("kernel-types by step", rank=rank, step=number)
            types = {row["type"]: row["sum_ns"] for row in rows}
            name = name_of(rank, number)
            yield f"{name}: work", sum(types.values()), EQUAL, busy_of([step])
            compute = sum(ns for kind, ns in types.items() if "COMPUTATION" in kind)
            yield f"{name}: compute", compute, EQUAL, step["kernel_ns"]
            yield f"{name}: compute alone", types.get("COMPUTATION", 0), EQUAL, step["kernel_exposed_ns"]
            yield f"{name}: communication alone", types.get("COMMUNICATION", 0), EQUAL, step["comm_exposed_ns"]
            yield (f"{name}: copies alone", sum_of([step], "memcpy_exposed_ns", "memset_exposed_ns"), AT_MOST,
                   types.get("MEMORY", 0))


def types_whole(run):
    ranks = run.ranks()
    if len(ranks) == 1 and len(run.devices(ranks[0])) == 1:
        for row in run.rows("temporal"):
            yield (name_of(row["rank"]), sum_of(run.rows("kernel-types"), "sum_ns"), EQUAL,
                   row["compute_ns"] + row["non_compute_ns"])


def verdict_share(run):
    for row in run.rows("verdict"):
        yield f"{name_of(row['rank'])}: share", row["share_pct"], EQUAL, percent(row["time_ns"], row["total_ns"])
        yield f"{name_of(row['rank'])}: share", row["share_pct"], AT_MOST, 100


def verdict_length(run):
    for row in run.rows("verdict"):
        counted = run.counted(row["rank"])
        name = name_of(row["rank"])
        total_ns = sum_of(counted, "total_ns")
        if row["steps"] > 0:
            yield f"{name}: steps", row["steps"], EQUAL, len(counted)
            yield f"{name}: length", row["total_ns"], EQUAL, total_ns
        elif row["rank"] in run.ranks_of_one_gpu():
            causes = run.causes_counted(row["rank"])
            yield f"{name}: length", row["total_ns"], EQUAL, total_ns - sum_in(causes, OUTSIDE)
        else:
            yield f"{name}: length", row["total_ns"], AT_MOST, total_ns - sum_of(counted, "cold_ns", "end_ns")
        if row["idle_pct"] is not None:
            yield f"{name}: idle", row["idle_pct"], EQUAL, percent(row["total_ns"] - busy_of(counted), row["total_ns"])


def copies_alone(run, rank):
    return sum_of(run.counted(rank), "memcpy_exposed_ns", "memset_exposed_ns")


def verdict_groups(run, row):
    """Time of all that a verdict may be about, of a rank with one GPU."""
    causes = run.causes_counted(row["rank"])
    groups = {cause: sum_in(causes, words) for cause, words in CAUSES_OF_VERDICT.items()}
    groups["collectives"] = sum_of(run.counted(row["rank"]), "comm_exposed_ns")
    if row["steps"] == 0:
        del groups["tail"]  # It is no part of the run.
    # Copies and memsets at once are alone together.
    groups["copies"] = row["time_ns"] if row["cause"] == "copies" else copies_alone(run, row["rank"])
    return groups


def verdict_time(run):
    for row in run.rows("verdict"):
        name = f"{name_of(row['rank'])}: {row['cause']}"
        if row["cause"] == "busy":
            yield name, row["time_ns"], EQUAL, busy_of(run.counted(row["rank"]))
        elif row["cause"] == "copies":
            yield name, copies_alone(run, row["rank"]), AT_MOST, row["time_ns"]
        elif row["cause"] == "collectives":
            yield name, row["time_ns"], EQUAL, sum_of(run.counted(row["rank"]), "comm_exposed_ns")
        elif row["rank"] in run.ranks_of_one_gpu() and run.has_distinct_steps(row["rank"]):
            yield name, row["time_ns"], EQUAL, verdict_groups(run, row)[row["cause"]]
        else:
            # The rank is idle when all GPUs are.
            for device in run.devices(row["rank"]):
                idle = run.causes("idle by step", rank=row["rank"], device=device)["(all)"]
                yield f"{name}: GPU {device}", row["time_ns"], AT_MOST, idle


def verdict_largest(run):
    for row in run.rows("verdict"):
        if row["rank"] not in run.ranks_of_one_gpu() or not run.has_distinct_steps(row["rank"]):
            continue
        most = max(verdict_groups(run, row).values())
        least = ROOT_SHARE * row["total_ns"]
        name = f"{name_of(row['rank'])}: {row['cause']}"
        if row["cause"] == "busy":
            yield name, most < least or most == 0, HOLDS, f"{most} of {row['total_ns']} ns are less than a tenth"
        else:
            yield f"{name}: largest", row["time_ns"], EQUAL, most
            yield f"{name}: a tenth", least, AT_MOST, row["time_ns"]


def verdict_call(run):
    for row in run.rows("verdict"):
        gpus = run.rows("gpu", rank=row["rank"])
        counted = run.counted(row["rank"])
        # idle by call is over the window.
        if row["call"] is None or len(gpus) != 1 or gpus[0]["window_ns"] != sum_of(counted, "total_ns"):
            continue
        calls = collections.Counter()
        for part in run.rows("idle by call,op", rank=row["rank"]):
            if part["cause"] in CAUSES_OF_VERDICT[row["cause"]]:
                calls[part["call"]] += part["idle_ns"]
        yield f"{name_of(row['rank'])}: {row['call']}", calls[row["call"]], EQUAL, max(calls.values(), default=0)


def verdict_advice(run):
    gains = {row["id"]: row["gain_pct"] for row in run.rows("advice")}
    for row in run.rows("verdict"):
        if row["cause"] == "dataloader" and row["steps"] > 0:
            # Advice is about the rank with the largest gain.
            yield f"{name_of(row['rank'])}: dataloader", row["share_pct"], AT_MOST, gains.get("dataloader", 0)
        if row["cause"] == "collectives":
            told = {"exposed-communication", "waits-for-ranks"} & set(gains)
            yield f"{name_of(row['rank'])}: communication", bool(told), HOLDS, "is in the advice"


def share_texts(pct):
    if 0 < pct < 0.05:
        return ["<0.1"]
    return [">99.9"] * (99.95 < pct < 100) + texts_of(pct)


def verdict_sentence(run):
    for row in run.rows("verdict"):
        if row["share_pct"] is not None:
            of = ("a step", "a repetition") if row["steps"] > 0 else ("the run",)
            found = any(f": {text} % of {one}" in row["verdict"] for text in share_texts(row["share_pct"]) for one in of)
            yield name_of(row["rank"]), found, HOLDS, f"{row['share_pct']} % in '{row['verdict']}'"


def path_steps(run):
    paths = collections.defaultdict(list)
    for row in run.rows("critical-path"):
        paths[(row["rank"], row["step"])].append(row)
    return paths


def path_length(run):
    for (rank, number), rows in path_steps(run).items():
        name = name_of(rank, number)
        yield f"{name}: causes", sum_of(rows, "time_ns"), EQUAL, rows[0]["length_ns"]
        yield f"{name}: path", rows[0]["length_ns"], EQUAL, rows[0]["step_ns"]
        yield f"{name}: step", rows[0]["step_ns"], EQUAL, run.numbered(rank)[number]["total_ns"]


def path_work(run):
    for (rank, number), rows in path_steps(run).items():
        step = run.numbered(rank)[number]
        name = name_of(rank, number)
        times = collections.Counter({row["cause"]: row["time_ns"] for row in rows})
        yield name, sum_in(times, ("compute", "communication", "copy")), AT_MOST, busy_of([step])
        yield f"{name}: compute", times["compute"], AT_MOST, step["kernel_ns"]
        yield (f"{name}: communication", times["communication"], AT_MOST,
               sum_of([step], "comm_exposed_ns", "comm_hidden_ns"))
        for causes, part in ((("dataloader",), "dataloader"), (("launch", "pageable-copy", "api-call"), "runtime")):
            yield (f"{name}: {part}", sum_in(times, causes), AT_MOST,
                   sum_of([step], f"{part}_exposed_ns", f"{part}_hidden_ns"))
        copies = sum_of([step], "memcpy_exposed_ns", "memcpy_hidden_ns", "memset_exposed_ns", "memset_hidden_ns")
        yield f"{name}: copies", times["copy"], AT_MOST, copies


def distributed_overview(run):
    seen = collections.Counter()
    overview = collections.defaultdict(list)
    for row in run.rows("overview"):
        overview[(row["rank"], row["step"])].append(row)
    for row in run.rows("distributed"):
        key = (row["rank"], row["step"])
        step = overview[key][seen[key]]
        seen[key] += 1
        name = name_of(*key)
        yield f"{name}: length", row["total_ns"], EQUAL, step["total_ns"]
        yield f"{name}: compute", row["computation_ns"] + row["overlap_ns"], EQUAL, step["kernel_ns"]
        yield f"{name}: beside", row["overlap_ns"], AT_MOST, step["comm_hidden_ns"]
        yield f"{name}: other work", row["communication_ns"] + row["memory_ns"], EQUAL, sum_of(
            [step], "memcpy_ns", "memset_ns", "comm_ns")
        yield f"{name}: communication alone", step["comm_exposed_ns"], AT_MOST, row["communication_ns"]


def distributed_parts(run):
    for row in run.rows("distributed"):
        name = name_of(row["rank"], row["step"])
        yield (f"{name}: parts", sum_of([row], "computation_ns", "overlap_ns", "communication_ns", "other_ns"), EQUAL,
               row["total_ns"])
        yield f"{name}: copies", row["memory_ns"], AT_MOST, row["other_ns"]
        if row["latency_ns"] is not None:
            latency_ns = sum_of([row], "wait_ns", "transfer_ns", "unmatched_ns")
            yield f"{name}: latency", latency_ns, EQUAL, row["latency_ns"]


def distributed_collectives(run):
    for rank in run.ranks():
        calls = [row for row in run.rows("collectives", rank=rank) if row["step"] is not None]
        rows = [row for row in run.rows("distributed", rank=rank) if row["step"] != "mean"]
        if rows:
            numbers = {int(row["step"]) for row in rows}
            calls = [row for row in calls if row["step"] in numbers]
            yield f"{name_of(rank)}: calls", sum_of(rows, "collectives"), EQUAL, len(calls)
            yield f"{name_of(rank)}: latency", sum_of(rows, "latency_ns"), EQUAL, sum_of(calls, "latency_ns")
            yield f"{name_of(rank)}: wait", sum_of(rows, "wait_ns"), EQUAL, sum_of(calls, "wait_ns")


def ranks_overview(run):
    for row in run.rows("ranks"):
        counted = run.counted(row["rank"])
        if not counted or not row["steps"]:
            continue
        name = name_of(row["rank"])
        yield f"{name}: steps", row["steps"], EQUAL, len(counted)
        yield f"{name}: length", row["total_ns"], EQUAL, sum_of(counted, "total_ns")
        yield f"{name}: work", row["busy_ns"], EQUAL, busy_of(counted)
        yield f"{name}: compute", row["compute_ns"], EQUAL, sum_of(counted, "kernel_ns")
        mean = run.mean(row["rank"])
        yield f"{name}: busy_pct", row["busy_pct"], EQUAL, mean["busy_pct"]
        for other in run.rows("distributed", rank=row["rank"], step="mean"):
            yield (f"{name}: communication", row["communication_ns"], EQUAL, other["communication_ns"] * len(counted))


def launches_bounds(run):
    for row in run.rows("launches"):
        name = name_of(row["rank"])
        for key in ("short_kernels", "runtime_outliers", "delay_outliers", "early_starts"):
            yield f"{name}: {key}", row[key], AT_MOST, row["launches"]
        yield f"{name}: classes", row["short_kernels"] + row["runtime_outliers"], AT_MOST, row["launches"]
        yield f"{name}: late", row["delay_outliers"] + row["early_starts"], AT_MOST, row["launches"]
        if row["launches"] > 0:
            yield f"{name}: p50", row["p50_delay_ns"], AT_MOST, row["p95_delay_ns"]
            yield f"{name}: p95", row["p95_delay_ns"], AT_MOST, row["max_delay_ns"] * HISTOGRAM
            yield f"{name}: delay", row["delay_ns"], AT_MOST, row["launches"] * row["max_delay_ns"]
        steps = run.rows("launches by step", rank=row["rank"])
        for key in ("launches", "short_kernels", "delay_outliers", "early_starts", "delay_ns", "gpu_ns",
                    "graph_launches"):
            yield f"{name}: {key} of steps", sum_of(steps, key), EQUAL, row[key]
        for rank in run.rows("ranks", rank=row["rank"]):
            yield f"{name}: kernels", row["launches"], AT_MOST, rank["kernels"]
            yield f"{name}: kernel time", row["gpu_ns"], AT_MOST, rank["kernel_ns"]


def queue_bounds(run):
    for row in run.rows("queue"):
        name = f"{name_of(row['rank'])}: GPU {row['device']} stream {row['stream']}"
        levels = [row[key] for key in ("min", "p25", "p50", "p75", "max")]
        for low, high in zip(levels, levels[1:]):
            yield f"{name}: levels", low, AT_MOST, high * HISTOGRAM
        if row["span_ns"]:
            yield f"{name}: mean", row["min"], AT_MOST, row["mean"]
            yield f"{name}: mean", row["mean"], AT_MOST, row["max"]
        yield f"{name}: times", row["blocked_ns"] + row["starved_ns"], AT_MOST, row["span_ns"]


def bandwidth_overview(run):
    for rank in run.ranks():
        rows = run.rows("bandwidth", rank=rank)
        for part, word in (("memcpy", "Memcpy"), ("memset", "Memset")):
            steps = run.steps(rank)
            if steps and steps[0][f"{part}_ns"] is not None:
                of_kind = [row for row in rows if row["kind"].startswith(word)]
                yield (f"{name_of(rank)}: {part}", sum_of(steps, f"{part}_exposed_ns", f"{part}_hidden_ns"), AT_MOST,
                       sum_of(of_kind, "time_ns"))


def sums_of_kernels(run):
    ranks = run.rows("ranks")
    groups = run.rows("groups")
    kernels = [row for row in groups if row["kernel"] != REPLAYS]
    yield "groups and ranks: kernels", sum_of(kernels, "count"), EQUAL, sum_of(ranks, "kernels")
    yield "groups and ranks: time", sum_of(kernels, "total"), EQUAL, sum_of(ranks, "kernel_ns")
    places_ns = sum_of(run.rows("places"), "time_ns")
    yield "operators and places: time", sum_of(run.rows("operators"), "device_self_ns"), EQUAL, places_ns
    yield "groups and places: time", sum_of(groups, "total"), AT_MOST, places_ns
    yield ("gpu and places: time", sum_of(run.rows("gpu"), "kernel_ns", "comm_ns", "copy_ns", "replay_ns"), AT_MOST,
           places_ns)


def advice_time(run, rank):
    """What the shares of advice are of, and idle time by cause within it; None: for several GPUs."""
    return (run.rows("verdict", rank=rank)[0]["total_ns"],
            run.causes_counted(rank) if rank in run.ranks_of_one_gpu() else None)


def advice_gains(run):
    """Advice is about the rank with the largest gain."""
    for row in run.rows("advice"):
        rank = row["worst_rank"]
        counted = run.counted(rank)
        if row["gain_pct"] is None or not counted or not run.rows("verdict", rank=rank):
            continue
        total_ns, causes = advice_time(run, rank)
        gain, rule = row["gain_pct"], row["id"]
        calls = run.rows("collectives", rank=rank)
        exposed = percent(sum_of(counted, "comm_exposed_ns"), total_ns)
        bounds = {
            "dataloader": (EQUAL, percent(sum_of(counted, "dataloader_ns"), total_ns)),
            "exposed-communication": (AT_MOST, exposed),
            "waits-for-ranks": (AT_MOST, exposed),
            "small-messages": (AT_MOST, percent(sum_of(calls, "exposed_ns"), total_ns)),
        }
        if causes is not None:
            host_ns = sum_in(causes, CAUSES_OF_VERDICT["host"])
            copies_ns = sum_of(counted, "memcpy_exposed_ns", "memset_exposed_ns")
            bounds.update({
                "pageable-copies": (AT_MOST, percent(copies_ns + causes["pageable-copy"], total_ns)),
                "pinned-copies": (AT_MOST, percent(copies_ns, total_ns)),
                "host-bound": (AT_MOST, percent(host_ns, total_ns)),
                "step-start": (AT_MOST, percent(host_ns, total_ns)),
                "short-kernels": (AT_MOST, percent(host_ns, total_ns)),
                "blocking-calls": (AT_MOST, percent(host_ns + causes["sync"], total_ns)),
                "graph-launch": (AT_MOST, percent(causes["launch"] + causes["queued"], total_ns)),
                "api-calls": (AT_MOST, percent(causes["api-call"], total_ns)),
                "allocator-retries": (AT_MOST, percent(causes["api-call"], total_ns)),
            })
        if rule in bounds:
            yield f"{name_of(rank)}: {rule}", gain, *bounds[rule]
        yield f"{name_of(rank)}: {rule}", gain, AT_MOST, 100
        yield f"{name_of(rank)}: {rule}: estimate", row["estimate_pct"] or 0, AT_MOST, gain
        verdict = run.rows("verdict", rank=rank)[0]
        # A repetition of kernels is no step.
        marked = verdict["steps"] > 0 and "% of a repetition" not in verdict["verdict"]
        mean_ns = total_ns / len(counted) if marked else total_ns
        yield f"{name_of(rank)}: {rule}: of a step", abs(row["gain_ns"] - gain / 100 * mean_ns), AT_MOST, 1


def advice_together(run):
    """A nanosecond in which the GPU waits belongs to one rule."""
    gains = collections.defaultdict(float)
    for row in run.rows("advice"):
        if row["id"] in ("host-bound", "step-start", "blocking-calls", "short-kernels", "graph-launch", "api-calls"):
            gains[row["worst_rank"]] += row["gain_pct"]
    for rank, gain in gains.items():
        total_ns, causes = advice_time(run, rank)
        if causes is not None:
            words = CAUSES_OF_VERDICT["host"] | {"sync", "queued", "api-call"}
            yield name_of(rank), gain, AT_MOST, percent(sum_in(causes, words), total_ns)


# The screen.
