#!/usr/bin/env python3
"""Tells whether the views of a run, its screen and its page contradict each other, on real profiles.

    check_consistency.py --bin DIR [--corpus DIR] [--files PATTERN] [--jobs N] [--all]
    check_consistency.py --self-test                       checks that each relation finds what it forbids

Figures that follow from each other stand in several views. RELATIONS lists what must be equal and what
bounds what; every profile of the corpus is read once, its views are printed, and all relations are
checked. A figure that is not known is not compared. Without --files, a relation that compared nothing
is a fault too. The corpus is that of OPLENS_CORPUS_DIR unless it is given; without either the exit code
is 77.
"""
import argparse
import base64
import collections
import concurrent.futures
import copy
import fnmatch
import gzip
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import zlib

VIEWS = ("verdict,overview,idle,gaps,gpu,temporal,kernel-types,critical-path,distributed,collectives,ranks,launches,"
         "queue,bandwidth,mfu,advice")
VIEWS_BY_STEP = "idle,temporal,kernel-types,launches"
# Of these only sums are looked at.
VIEWS_OF_SUMS = "operators,places"
GROUPS = "kernel,count,total"
REPLAYS = "(graph replay)"

# Large ones that are left out without --all: others are of the same program or the same kind.
LARGE = ["kineto/resnet50_num_workers_4/*", "kineto/resnet50_v010_num_workers_4/*", "kineto/resnet50_autograd_api_w4/*",
         "kineto/param_resnet/*", "kineto/diff_ddp/control*", "kineto/ddp_v100_memory/*", "kineto/sam_amg/after_*",
         "kineto/sam_amg/before_*", "kineto/vllm_piecewise/*", "kineto/xdit_flux/*"]
# A second reading of the profile: without --all only if it has at most so many bytes, packed.
MOST_BY_CALL = 120_000
# Profiles whose screen is compared, and runs of several ranks; profiles whose page is.
SCREENS = ["kineto/gpu_user_annotation/gp100_steps.json", "kineto/critical_path/alexnet.json", "kineto/dlrm_w8/rank3.json",
           "kineto/llama_tp2/rank1.json", "kineto/h100/bert_small.json", "kineto/mi300/vit_nsfw.json",
           "kineto/ddp_sampled_w128/rank1.json", "kineto/switch_moe/moe_train.json", "kineto/sam_amg/compiled_triton.json",
           "nsys/ssb_old.sqlite", "nsys/mmagic.sqlite", "nsys/fuser2.sqlite", "nsys/saxpy_mpi.sqlite",
           "nvprof/lm.sql", "nvprof/thesis.nvprof"]
SETS = ["kineto/dlrm_w8", "kineto/llama_tp2"]
PAGES = ["kineto/llama_tp2/rank0.json", "kineto/h100/bert_small.json", "kineto/dlrm_w8/rank3.json", "nsys/ssb_old.sqlite",
         "nvprof/lm.sql"]

# Large blocks of memory, which are kept: a fifth less time.
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1",
               "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:"
                                 "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296"}

# The parts of a step (overview), and which causes of idle time are which part.
WORK = ("kernel_ns", "memcpy_ns", "memset_ns", "comm_ns")
HOST = ("runtime_ns", "dataloader_ns", "cpu_ns")
PARTS = WORK + HOST + ("other_ns",)
CAUSES_OF_PART = {
    "runtime_ns": {"launch", "module-load", "sync", "pageable-copy", "api-call"},
    "dataloader_ns": {"dataloader"},
    "cpu_ns": {"host-op", "communication"},
    "other_ns": {"queued", "cold-start", "python", "other-stream"},
}
# What is in no share of a run without steps.
OUTSIDE = ("cold-start", "tail")
# Time of these is what any thread does.
OF_ANY_THREAD = ("tail", "unknown")
# The causes of idle time of which a verdict speaks.
CAUSES_OF_VERDICT = {
    "host": {"launch", "host-op", "python"}, "module-load": {"module-load"}, "api-call": {"api-call"}, "sync": {"sync"},
    "pageable-copy": {"pageable-copy"}, "dataloader": {"dataloader"}, "communication": {"communication"},
    "queued": {"queued"}, "tail": {"tail"}, "unknown": {"unknown"},
}
ROOT_SHARE = 0.1
MOST_GAPS = 1000
HISTOGRAM = 1.016

# Of relations. Figures in whole ns are exact.
EQUAL, AT_MOST, HOLDS = "=", "<=", "holds"
NEARLY = 1e-9


# (Run, relation): why it does not hold.
EXCEPTIONS = {
    ("nvprof/lm.sql", "copies and memsets of steps are some of bandwidth"):
        "a memset of 93 MB in 1.4 us: bandwidth has no time of work of an impossible rate",
}


class Run:
    """What is said of one run: rows of views by "view" or "view by keys", lines of its screen, tables of its page."""

    def __init__(self, tables, screen=None, page=None):
        self.tables = tables
        self.screen = screen
        self.page = page

    def has(self, table):
        return {"screen": self.screen, "page": self.page}.get(table, self.tables.get(table)) is not None

    def rows(self, table, **where):
        return [row for row in self.tables[table] if all(row[key] == value for key, value in where.items())]

    def ranks(self):
        return list(dict.fromkeys(row["rank"] for row in self.rows("overview")))

    def devices(self, rank):
        return sorted({row["device"] for row in self.rows("idle", rank=rank)})

    def ranks_of_one_gpu(self):
        return [rank for rank in self.ranks() if len(self.devices(rank)) == 1]

    def steps(self, rank):
        return [row for row in self.rows("overview", rank=rank) if row["step"] != "mean"]

    def numbered(self, rank):
        """The sums of the steps of each number, of which there may be several."""
        numbered = collections.defaultdict(collections.Counter)
        for row in self.steps(rank):
            numbered[int(row["step"])].update({key: value or 0 for key, value in row.items() if key.endswith("_ns")})
        return numbered

    def counted(self, rank):
        """The steps that the mean is over: the steady ones, or all if none is."""
        steps = self.steps(rank)
        return [row for row in steps if row["state"] == "steady"] or steps

    def mean(self, rank):
        return next(iter(self.rows("overview", rank=rank, step="mean")), None)

    def causes(self, table, **where):
        """Idle time by cause, and of "(all)"."""
        causes = collections.Counter()
        for row in self.rows(table, **where):
            causes[row["cause"]] += row["idle_ns"]
        return causes

    def causes_counted(self, rank):
        """Idle time by cause over the steps that the mean is over, of a rank with one GPU."""
        numbers = {int(row["step"]) for row in self.counted(rank)}
        causes = collections.Counter()
        for row in self.rows("idle by step", rank=rank):
            if row["step"] in numbers:
                causes[row["cause"]] += row["idle_ns"]
        return causes

    def has_distinct_steps(self, rank):
        """Whether no step that counts has the number of one that does not."""
        counted = self.counted(rank)
        others = [row["step"] for row in self.steps(rank) if row not in counted]
        return not {row["step"] for row in counted} & set(others)


def sum_of(rows, *keys):
    return sum(row[key] or 0 for row in rows for key in keys)


def sum_in(causes, words):
    return sum(causes[word] for word in words)


def busy_of(rows):
    return sum_of(rows, *WORK)


def percent(part, whole):
    return 100 * part / whole if whole else None


def name_of(rank, row=None):
    words = ([] if rank is None else [f"rank {rank}"]) + ([] if row is None else [f"step {row}"])
    return " ".join(words) or "the run"


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

BAR = re.compile(r"^  (\S.*?) +(<?[0-9.]+) % +(<?\S+ (?:ns|us|ms|s))(?:  (#+))?$")
TITLE = re.compile(r"(A|The only|The) (step|steady|run|repetition)")
BARS = [("compute", "kernel_ns"), ("copies", "memcpy_ns"), ("fills", "memset_ns"), ("communication alone", "comm_ns"),
        ("API calls", "runtime_ns"), ("data loader", "dataloader_ns"), ("host ops", "cpu_ns"), ("queued", "queued_ns"),
        ("cold start", "cold_ns"), ("nothing recorded", "other_ns")]
BAR_COLUMNS = 58
MOST_CAUSES = 3


def texts_of(pct):
    """How a share is printed: of a half, either way."""
    values = (pct * (1 - NEARLY), pct * (1 + NEARLY))
    return list({"<0.1" if 0 < value < 0.05 else f"{value:.1f}" for value in values})


def time_texts(ns):
    texts = set()
    for value in (ns * (1 - NEARLY), ns * (1 + NEARLY)):
        unit, word = next(((unit, word) for unit, word in ((1e9, "s"), (1e6, "ms"), (1e3, "us"))
                           if value >= unit * 0.9995), (1, "ns"))
        if word == "ns":
            texts.add(f"{value:.0f} ns")
            continue
        rate = value / unit
        texts.add(f"{rate:.{2 if rate < 9.995 else 1 if rate < 99.95 else 0}f} {word}")
    return texts


def flat(lines):
    return " ".join(" ".join(lines).split())


def paragraph(lines, start):
    """A line that begins so, and those that go on with it."""
    for i, line in enumerate(lines):
        if line.startswith(start):
            end = i + 1
            while end < len(lines) and lines[end].startswith("    "):
                end += 1
            return flat(lines[i:end])
    return None


def shown_rank(run):
    """The rank that computes longest; of one rank it is the first."""
    ranks = run.rows("distributed", step="mean")
    if len(run.ranks()) < 2 or not ranks:
        return run.ranks()[0] if run.ranks() else None
    return max(ranks, key=lambda row: row["computation_ns"] + row["overlap_ns"])["rank"]


def is_of_run(run, rank):
    return any(row["steps"] == 0 for row in run.rows("verdict", rank=rank))


def outside_ns_of(run, rank):
    """A run without steps counts from its cold start to its last work."""
    mean = run.mean(rank)
    return sum_of([mean], "cold_ns", "end_ns") if mean and is_of_run(run, rank) else 0


def screen_bars(run):
    mean = run.mean(shown_rank(run))
    if mean is None or not mean["total_ns"]:
        return
    total_ns = mean["total_ns"] - outside_ns_of(run, shown_rank(run))
    outside = ("cold_ns", "end_ns") if is_of_run(run, shown_rank(run)) else ()
    parts = {}
    for word, key in BARS:
        ns = (mean[key] or 0) - (sum_of([mean], "queued_ns", "cold_ns", "end_ns") if key == "other_ns" else 0)
        if ns > 0 and key not in outside:
            parts[word] = ns
    lines = run.screen
    title = next((i for i, line in enumerate(lines) if TITLE.match(line)), None)
    yield "title", title is not None, HOLDS, "of the time is there"
    bars = []
    for line in lines[title + 1 if title is not None else len(lines):]:
        match = BAR.match(line)
        if match:
            bars.append(match.groups())
        elif bars:
            break
    named = [word for word, *_ in bars]
    for word, pct, time, bar in bars:
        ns = parts.get(word)
        if word == "others":
            ns = sum(ns for other, ns in parts.items() if other not in named)
        yield word, ns is not None, HOLDS, "is a part that is not 0"
        if ns is not None:
            share = percent(ns, total_ns)
            yield word, pct in texts_of(share), HOLDS, f"{pct} % is {share} %"
            yield word, time in time_texts(ns), HOLDS, f"{time} is {ns} ns"
            yield word, abs(len(bar or "") - share / 100 * BAR_COLUMNS), AT_MOST, 0.5
    for word, ns in parts.items():
        yield word, word in named or "others" in named, HOLDS, f"{ns} ns are shown"
    busy = mean["busy_pct"] and mean["busy_pct"] * mean["total_ns"] / total_ns
    text = paragraph(lines, "  GPU")
    if busy is not None and text is not None:
        shown = any(f"busy {pct} %" in text for pct in texts_of(busy))
        yield "busy", shown, HOLDS, f"{busy} % in '{text}'"


def screen_verdict(run):
    text = flat(run.screen)
    for row in run.rows("verdict", rank=shown_rank(run)):
        sentence = flat([row["verdict"]])
        several = len(run.ranks()) > 1
        begin = f"Rank {row['rank']}: {sentence}" if several else sentence[0].upper() + sentence[1:]
        # Of a long one the end is left out.
        cut = next((end for end in range(len(begin), 0, -1) if begin[:end] + "..." in text), 0)
        yield name_of(row["rank"]), begin in text or cut > 60, HOLDS, f"'{begin}' is on the screen"


def screen_idle(run):
    rank = shown_rank(run)
    gpus = run.rows("gpu", rank=rank)
    outside_ns = outside_ns_of(run, rank)
    total_ns = sum_of(run.counted(rank), "total_ns") - outside_ns
    text = paragraph(run.screen, "  Idle ")
    if not gpus or not total_ns or text is None:
        return
    device = max(gpus, key=lambda row: row["busy_ns"])["device"]
    numbers = {int(row["step"]) for row in run.counted(rank)}
    shares = collections.Counter()
    for row in run.rows("idle by step", rank=rank, device=device):
        if row["step"] in numbers:
            shares[row["cause"]] += percent(row["idle_ns"], total_ns)
    whole = shares.pop("(all)", 0) - percent(outside_ns, total_ns)
    if is_of_run(run, rank):
        for cause in OUTSIDE:
            shares.pop(cause, None)
    match = re.match(r"Idle (\S+) %(?:: (.*?))?(?:; |$)", text)
    yield "idle", match is not None and match.group(1) in texts_of(whole), HOLDS, f"{whole} % in '{text}'"
    shown = re.findall(r"([^,:]+) (\S+) %(?:, |$)", match.group(2) or "") if match else []
    largest = [pct for pct in sorted(shares.values(), reverse=True)[:MOST_CAUSES]]
    for i, (cause, pct) in enumerate(shown):
        share = shares[cause.replace("python or other code", "python")]
        yield cause, pct in texts_of(share), HOLDS, f"{pct} % is {share} %"
        yield f"{cause}: place {i + 1}", share, EQUAL, largest[i]
    yield "causes", len(shown), EQUAL, max(min(1, len(largest)), sum(pct >= 0.05 for pct in largest))


# The page.

def page_tables(run):
    for view, rows in run.page.items():
        expected = run.rows(view)
        yield f"{view}: rows", len(rows), EQUAL, len(expected)
        for number, (row, other) in enumerate(zip(rows, expected)):
            for key, value in row.items():
                # Long paths are cut on a page.
                if isinstance(value, str) and "/" in value:
                    continue
                # Integers beyond 2^53 are texts.
                same = value == other[key] or str(value) == str(other[key])
                yield f"{view}: row {number}: {key}", same, HOLDS, f"{value} is {other[key]}"


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


class Programs:
    """The programs of a build, and a folder to work in."""

    def __init__(self, bin_dir, work):
        self.bin_dir = bin_dir
        self.work = work

    def run(self, program, *arguments):
        return subprocess.run([self.bin_dir / program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              env=ENVIRONMENT, check=False)

    def rows(self, *arguments):
        ran = self.run("prof", "--quiet", "--json", *arguments)
        if ran.returncode != 0:
            raise AssertionError(f"prof {' '.join(map(str, arguments))}: {ran.stderr.decode('utf-8', 'replace')}")
        return [json.loads(line) for line in ran.stdout.decode("utf-8", "replace").splitlines()]


def tables_of(rows, views, by=""):
    tables = {view + by: [] for view in views.split(",")}
    for row in rows:
        tables[row["view"] + by].append(row)
    return tables


def page_of(path, views):
    """Rows of views as a page has them (docs/report_format.md)."""
    text = path.read_text(encoding="utf-8")
    blocks = dict(re.findall(r'<script type="application/[a-z-]+" id="(\w+)">(.*?)</script>', text, re.DOTALL))

    def chunk(name):
        return json.loads(zlib.decompress(base64.b64decode(blocks[name]), -zlib.MAX_WBITS))

    summary = json.loads(blocks["summary"])
    fields = chunk(summary["fields"])
    tables = {}
    for view in summary["views"]:
        if view["name"] not in views or view["table"] is None:
            continue
        columns = {}
        for place, column in zip(view["fields"], chunk(view["table"])["columns"]):
            values = column.get("v")
            if values is None:
                values = [None if i < 0 else column["d"][i] for i in column["i"]]
            columns[fields[place]["key"]] = values
        tables[view["name"]] = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return tables


def run_of(programs, folder, files, by_call, screen, page):
    """What is said of files; None if they are no profile."""
    saved = folder / "run.oplens"
    views = f"{VIEWS},groups,{VIEWS_OF_SUMS}"
    ran = programs.run("prof", "--quiet", "--save-baseline", saved, "--view", views, *files)
    if ran.returncode == 1:
        return None
    if ran.returncode != 0:
        raise AssertionError(f"prof: exit code {ran.returncode}: {ran.stderr.decode('utf-8', 'replace')}")
    tables = tables_of(programs.rows("--view", VIEWS, saved), VIEWS)
    by_step = programs.rows("--view", VIEWS_BY_STEP, "--by", "rank,step", saved)
    tables.update(tables_of(by_step, VIEWS_BY_STEP, " by step"))
    tables.update(tables_of(programs.rows("--view", VIEWS_OF_SUMS, "--top", "1", saved), VIEWS_OF_SUMS))
    tables.update(tables_of(programs.rows("--view", "groups", "-c", GROUPS, saved), "groups"))
    if by_call:
        tables.update(tables_of(programs.rows("--view", "idle", "--by", "call,op", *files), "idle", " by call,op"))
    lines = None
    if screen:
        lines = programs.run("oplens", *files).stdout.decode("utf-8", "replace").splitlines()
    found = None
    if page and programs.run("report", "-o", folder / "page.html", *files).returncode == 0:
        found = page_of(folder / "page.html", ("verdict", "overview"))
    return Run(tables, lines, found)


def unpacked(file, folder):
    """The file itself, or for a packed database what is in it."""
    if file.suffix != ".gz" or ".json" in file.name:
        return file
    target = folder / file.stem
    with gzip.open(file, "rb") as packed, open(target, "wb") as out:
        shutil.copyfileobj(packed, out)
    return target


def runs_of(corpus, pattern, everything):
    """(name, files) of all profiles of the corpus and of the runs of several."""
    runs = []
    for family in ("kineto", "nsys", "nvprof"):
        for file in sorted((corpus / family).rglob("*.gz")):
            name = file.relative_to(corpus).with_suffix("").as_posix()
            if "golden" not in name.split("/"):
                runs.append((name, [file]))
    for name in SETS:
        runs.append((name, sorted((corpus / name).glob("*.gz"))))
    if pattern:
        return [run for run in runs if fnmatch.fnmatch(run[0], f"*{pattern}*")]
    return [run for run in runs if everything or not any(fnmatch.fnmatch(run[0], large) for large in LARGE)]


def check_corpus(programs, corpus, options):
    def check_run(run):
        name, files = run
        with tempfile.TemporaryDirectory(dir=programs.work) as folder:
            folder = pathlib.Path(folder)
            by_call = options.all or sum(file.stat().st_size for file in files) <= MOST_BY_CALL
            try:
                found = run_of(programs, folder, [unpacked(file, folder) for file in files], by_call,
                               name in SCREENS or len(files) > 1, name in PAGES)
            except AssertionError as error:
                return name, None, [str(error)]
        if found is None:
            return name, None, []
        counts, faults = check(found)
        for run, relation in EXCEPTIONS:
            if run == name:
                left = [fault for fault in faults if not fault.startswith(f"{relation}: ")]
                faults = left if len(left) < len(faults) else left + [f"{relation}: holds, in spite of EXCEPTIONS"]
        return name, counts, faults

    todo = runs_of(corpus, options.files, options.all)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(check_run, todo))
    counts = sum((found for _, found, _ in results if found), collections.Counter())
    faults = [f"{name}: {fault}" for name, _, found in results for fault in found]
    if not options.files:
        faults += [f"{relation.name}: compares nothing" for relation in RELATIONS if not counts[relation.name]]
    if options.counts:
        print("\n".join(f"{counts[relation.name]:8} {relation.name}" for relation in RELATIONS))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    profiles = sum(found is not None for _, found, _ in results)
    print("\n".join(faults if options.all else faults[:40]))
    print(f"{profiles} runs, {len(todo) - profiles} of no profile, {sum(counts.values())} comparisons of "
          f"{len(RELATIONS)} relations, {len(faults)} contradictions, {used.ru_utime + used.ru_stime:.0f} s of CPU")
    return not faults and bool(profiles)


# A run without contradictions: one GPU, two steps of 1000 ns.
def self_run():
    def step(number, total, host, parts, queued, busy):
        start_ns = None if number == "mean" else 1000 * int(number) - 1000
        row = {"rank": None, "step": number, "state": start_ns if start_ns is None else "steady", "start_ns": start_ns,
               "total_ns": total, "host_ns": host, **dict(zip(PARTS, parts)), "queued_ns": queued,
               "cold_ns": 0, "end_ns": 0}
        for part, ns in zip(PARTS, parts[:7]):
            row[part.replace("_ns", "_exposed_ns")] = ns
            row[part.replace("_ns", "_hidden_ns")] = 0
        return {**row, "busy_pct": busy, "mfu_pct": 40.0 if number == "mean" else None}

    def idle(number, window, whole, rows):
        rows = [("(all)", whole, whole // 200, 200)] + rows
        return [{"rank": None, "device": 0, "cause": cause, "idle_ns": ns, "share_pct": 100 * ns / whole,
                 "window_pct": 100 * ns / window, "gaps": gaps, "p50_ns": most // 2, "p95_ns": most, "max_ns": most,
                 **({} if number is None else {"step": number})} for cause, ns, gaps, most in rows]

    def rows_of(keys, *rows):
        return [dict(zip(keys.split(), row)) for row in rows]

    sentence = "the GPU waits for the host to launch its next work: 20.0 % of a step"
    tables = {
        "verdict": rows_of("rank verdict steps total_ns idle_pct cause time_ns share_pct call",
                           (None, sentence, 2, 2000, 30.0, "host", 400, 20.0, "cudaLaunchKernel")),
        "overview": [step("1", 1000, 900, (500, 50, 0, 50, 100, 0, 100, 200), 100, 60.0),
                     step("2", 1000, 700, (700, 0, 0, 100, 50, 100, 0, 50), 0, 80.0),
                     step("mean", 1000.0, 800.0, (600.0, 25.0, 0.0, 75.0, 75.0, 50.0, 50.0, 125.0), 50.0, 70.0)],
        "mfu": rows_of("rank counts name mfu_pct hfu_pct", (None, "products", "products that ran", 40.0, 45.0),
                       (None, "type", "bf16", 30.0, 35.0), (None, "type", "fp8", 10.0, 10.0)),
        "idle": idle(None, 2000, 600, [("launch", 150, 3, 100), ("python", 150, 2, 100), ("dataloader", 100, 1, 100),
                                  ("host-op", 100, 1, 100), ("queued", 100, 1, 100)]),
        "idle by step": idle(1, 1000, 400, [("launch", 100, 1, 100), ("python", 100, 1, 100), ("host-op", 100, 1, 100),
                                       ("queued", 100, 1, 100)])
        + idle(2, 1000, 200, [("dataloader", 100, 1, 100), ("launch", 50, 1, 50), ("python", 50, 1, 50)]),
        "idle by call,op": rows_of("rank device cause call op idle_ns", (None, 0, "(all)", None, None, 600),
                                   (None, 0, "launch", "cudaLaunchKernel", "mm", 100),
                                   (None, 0, "launch", "cudaLaunchKernel", "add", 50),
                                   (None, 0, "python", "exec", None, 150),
                                   (None, 0, "dataloader", None, None, 100), (None, 0, "host-op", "call", "mm", 100),
                                   (None, 0, "queued", "stream", "mm", 100)),
        "gaps": rows_of("rank device start_ns step gap_ns cause cause_ns", (None, 0, 100, 1, 200, "launch", 100),
                        (None, 0, 500, 1, 200, "host-op", 100), (None, 0, 1100, 2, 200, "dataloader", 100)),
        "gpu": rows_of("rank device window_ns busy_ns kernel_ns copy_ns comm_ns replay_ns",
                       (None, 0, 2000, 1350, 1200, 50, 150, 0)),
        "temporal": rows_of("rank idle_ns idle_pct compute_ns non_compute_ns kernel_ns",
                            (None, 600, 30.0, 1200, 200, 2000)),
        "temporal by step": rows_of("rank step idle_ns compute_ns non_compute_ns kernel_ns overlap_pct",
                                    (None, 1, 400, 500, 100, 1000, 0.0), (None, 2, 200, 700, 100, 1000, 0.0)),
        "kernel-types": rows_of("type sum_ns", ("COMPUTATION", 1200), ("COMMUNICATION", 150), ("MEMORY", 50)),
        "kernel-types by step": rows_of("rank step type sum_ns", (None, 1, "COMPUTATION", 500), (None, 1, "MEMORY", 50),
                                        (None, 1, "COMMUNICATION", 50), (None, 2, "COMPUTATION", 700),
                                        (None, 2, "COMMUNICATION", 100)),
        "critical-path": rows_of("rank step cause time_ns length_ns step_ns", (None, 1, "compute", 500, 1000, 1000),
                                 (None, 1, "python", 500, 1000, 1000), (None, 2, "compute", 700, 1000, 1000),
                                 (None, 2, "communication", 100, 1000, 1000), (None, 2, "dataloader", 100, 1000, 1000),
                                 (None, 2, "launch", 50, 1000, 1000), (None, 2, "host-op", 50, 1000, 1000)),
        "distributed": rows_of("rank step total_ns computation_ns overlap_ns communication_ns other_ns memory_ns "
                               "collectives latency_ns wait_ns transfer_ns unmatched_ns",
                               (None, "1", 1000, 500, 0, 50, 450, 50, 1, 50, None, None, 50),
                               (None, "2", 1000, 700, 0, 100, 200, 0, 1, 100, None, None, 100),
                               (None, "mean", 1000.0, 600.0, 0.0, 75.0, 325.0, 25.0, 1.0, 75.0, None, None, 75.0)),
        "collectives": rows_of("rank step latency_ns wait_ns exposed_ns", (None, 1, 50, None, 50),
                               (None, 2, 100, None, 100)),
        "ranks": rows_of("rank steps total_ns busy_ns compute_ns communication_ns busy_pct kernels kernel_ns",
                         (None, 2, 2000, 1400, 1200, 150, 70.0, 10, 1350)),
        "launches": rows_of("rank launches short_kernels runtime_outliers delay_outliers early_starts gpu_ns delay_ns "
                            "p50_delay_ns p95_delay_ns max_delay_ns graph_launches",
                            (None, 10, 2, 0, 0, 3, 1350, 90, 10, 30, 30, 0)),
        "launches by step": rows_of("rank step launches short_kernels delay_outliers early_starts gpu_ns delay_ns "
                                    "graph_launches", (None, 1, 5, 1, 0, 2, 550, 50, 0), (None, 2, 5, 1, 0, 1, 800, 40, 0)),
        "queue": rows_of("rank device stream min p25 p50 p75 max mean span_ns blocked_ns starved_ns",
                         (None, 0, 7, 0, 1, 2, 3, 9, 2.5, 1700, 0, 100)),
        "bandwidth": rows_of("rank device kind time_ns", (None, 0, "Memcpy HtoD", 50)),
        "groups": rows_of("kernel count total", ("gemm", 10, 1350)),
        "operators": rows_of("op device_self_ns", ("mm", 1400)),
        "places": rows_of("op time_ns", ("mm", 1400)),
        "advice": rows_of("id worst_rank gain_pct gain_ns estimate_pct", ("host-bound", None, 19.0, 190, 18.0),
                          ("dataloader", None, 5.0, 50, 5.0), ("exposed-communication", None, 7.5, 75, None),
                          ("blocking-calls", None, 1.0, 10, 0.5)),
    }
    screen = ["run.json", "", "The GPU waits for the host to launch its next work: 20.0 % of a step", "",
              "A step: median 1.00 us, mean 1.00 us (1.00 us to 1.00 us) of 2 steady steps",
              "  compute              60.0 %      600 ns  ###################################",
              "  communication alone   7.5 %       75 ns  ####", "  API calls             7.5 %       75 ns  ####",
              "  nothing recorded      7.5 %       75 ns  ####", "  others               17.5 %      175 ns  ##########",
              "  GPU 0: busy 70.0 %", "  Idle 30.0 %: launch 7.5 %, python or other code 7.5 %, dataloader 5.0 %"]
    page = {view: copy.deepcopy(tables[view]) for view in ("verdict", "overview")}
    return Run(tables, screen, page)


def plant(run, place, value):
    table, row, field = place
    if table == "screen":
        run.screen[row] = value
    elif table == "page":
        run.page[row[0]][row[1]][field] = value
    else:
        run.tables[table][row][field] = value


def self_test_page():
    """A page with one table, read back."""
    block = '<script type="application/{}" id="{}">{}</script>'

    def packed(name, value):
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        data = packer.compress(json.dumps(value).encode()) + packer.flush()
        return block.format("octet-stream", name, base64.b64encode(data).decode())

    views = [{"name": "verdict", "table": "c0", "fields": [1, 0]}, {"name": "idle", "table": "c1", "fields": [0]}]
    blocks = [block.format("json", "summary", json.dumps({"fields": "c2", "views": views})),
              packed("c0", {"columns": [{"v": [1, None]}, {"d": ["host"], "i": [-1, 0]}]}),
              packed("c2", [{"key": "cause"}, {"key": "steps"}])]
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text("\n".join(blocks), encoding="utf-8")
        found = page_of(page, ("verdict", "overview"))
    if found != {"verdict": [{"steps": 1, "cause": None}, {"steps": None, "cause": "host"}]}:
        sys.exit(f"a page was not read: {found}")


def self_test():
    self_test_page()
    _, faults = check(self_run())
    if faults:
        sys.exit("contradictions in a run without any:\n" + "\n".join(faults))
    if unknown := {relation for _, relation in EXCEPTIONS} - {relation.name for relation in RELATIONS}:
        sys.exit(f"exceptions of no relation: {unknown}")
    for relation in RELATIONS:
        if not relation.planted:
            sys.exit(f"{relation.name}: nothing to plant")
        for planted in relation.planted:
            run = self_run()
            table, row, *field = planted[:-1]
            plant(run, (table, row, field[0] if field else None), planted[-1])
            if not check(run, [relation])[1]:
                sys.exit(f"{relation.name}: {planted} was not found")
    run = self_run()
    del run.tables["idle"]
    if any(check(run)[0][relation.name] for relation in RELATIONS if "idle" in relation.reads):
        sys.exit("a relation was checked without what it reads")
    if holds(None, EQUAL, 1) is not None or holds(1, EQUAL, 2) or not holds(0.1 + 0.2, EQUAL, 0.3):
        sys.exit("unknown, different or rounded figures are not told apart")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default=os.environ.get("OPLENS_CORPUS_DIR"))
    parser.add_argument("--bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("--files", default="", help="only profiles whose name matches this pattern")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true",
                        help="all profiles, idle by call and op of the large ones too, and name every contradiction")
    parser.add_argument("--counts", action="store_true", help="how many figures each relation compared")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    if options.bin is None:
        parser.error("--bin is needed")
    if not options.corpus:
        print("no corpus: set OPLENS_CORPUS_DIR or give --corpus")
        sys.exit(77)
    corpus = pathlib.Path(options.corpus).resolve()
    for program in ("prof", "oplens", "report"):
        if not os.access(options.bin / program, os.X_OK):
            sys.exit(f"{options.bin / program}: no such program; build it first")
    with tempfile.TemporaryDirectory() as work:
        sys.exit(0 if check_corpus(Programs(options.bin.resolve(), pathlib.Path(work)), corpus, options) else 1)


if __name__ == "__main__":
    main()
