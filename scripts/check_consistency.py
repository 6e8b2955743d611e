#!/usr/bin/env python3
"""Tells whether the views of a run, its screen and its page contradict each other, on real profiles.

    check_consistency.py --bin DIR [--corpus DIR] [--files PATTERN] [--jobs N] [--all]
    check_consistency.py --self-test                       checks that each relation finds what it forbids

Figures that follow from each other stand in several views. RELATIONS of consistency/relations.py lists
what must be equal and what bounds what; every profile of the corpus is read once, its views are printed,
and all relations are checked. A figure that is not known is not compared. Without --files, a relation
that compared nothing is a fault too. The corpus is that of OPLENS_CORPUS_DIR unless it is given; without
either the exit code is 77.
"""
import argparse
import base64
import collections
import concurrent.futures
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

from consistency.relations import RELATIONS, check
from consistency.run import EXCEPTIONS, Run
from consistency.self_test import self_test

VIEWS = ("verdict,overview,idle,gaps,gpu,temporal,kernel-types,critical-path,distributed,collectives,ranks,launches,"
         "queue,bandwidth,mfu,advice")
VIEWS_BY_STEP = "idle,temporal,kernel-types,launches"
# Of these only sums are looked at.
VIEWS_OF_SUMS = "operators,places"
GROUPS = "kernel,count,total"

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
        self_test(page_of)
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
