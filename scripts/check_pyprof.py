#!/usr/bin/env python3
"""Tells what PyProf's own parse and prof make of the files of the mode `pyprof`, and whether its texts
are PyProf's: docs/pyprof_differences.md. PyProf is no part of this project.

    check_pyprof.py --pyprof DIR [--build DIR] [--python PYTHON] [--keep DIR] [PROGRAM...]
    check_pyprof.py --pyprof DIR [--build DIR] --operators
    check_pyprof.py --pyprof DIR [--build DIR] --calls [--all]
    check_pyprof.py --self-test

DIR is a checkout of https://github.com/NVIDIA/PyProf. Without --calls each program of
test/torch/pyprof_programs.py and examples/train.py is recorded with `record`. There need be no GPU:
every innermost range of an op or a node is given kernels, launched in it, whose names are such as a
GPU's libraries have for the op. PyProf's parse and prof then read the file. A line a program: exit
codes, kernels, how many of them prof priced, showed with the shapes that it found, and showed with
nothing. With --operators the programs run the list of operators of PyTorch's own tests, with their
samples, types and gradients, 30 a program: that takes a quarter of an hour. With --calls the functions of that file are called one by one, under PyProf's patches and
under ours, and the texts of their ops compared; --all prints the equal ones too. Exit code 1 if a
program fails.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "test/torch/pyprof_programs.py"

OP = re.compile(r"\{'mod': '[^']*', 'op': '([^']*)'")
NODE = re.compile(r"(\S*?)Backward, seq = (\d+)$")
FORWARD = re.compile(r"\S*(?<!Backward), seq = (\d+)$")

# What PyProf's parse imports, where it is not installed.
STAND_INS = {
    "tqdm.py": "def tqdm(items, **options):\n    return items\n",
    "cxxfilt.py": "def demangle(name):\n    return name\n",
}

# Counts the classes of prof that price kernels, while prof runs as it is.
COUNTING_PROF = """
import sys
from pyprof.prof import prof
choose = prof.foo
def chosen(mod, op, data):
    made = choose(mod, op, data)
    print(type(made).__name__, data.dir, op[0], file=sys.stderr)
    return made
prof.foo = chosen
prof.main()
"""

# Calls functions under PyProf's patches, which need no GPU once their ranges go nowhere.
PATCHED_CALLS = """
import json, sys
import torch
import torch.cuda.nvtx as nvtx
pushed, depth = [], [0]
def push(text):
    pushed.append((depth[0], text))
    depth[0] += 1
def pop():
    depth[0] -= 1
nvtx.range_push, nvtx.range_pop = push, pop
sys.path.insert(0, sys.argv[1])
import pyprof_programs as programs
import pyprof
pyprof.init()
for name, call in programs._calls():
    pushed.clear()
    call()
    # A trace, then for modules their description, then the op: the outermost ones.
    ops = [(d, t) for d, t in pushed if "'op'" in t and "'args'" in t]
    ops = [t for d, t in ops if d <= 2 and not any(d2 < d for d2, t2 in ops)]
    print("CALL " + json.dumps([name, ops]))
"""


def kernel_names(op, node):
    """Kernels as libraries for GPUs have them for an op, or for a node of its gradient."""
    if op in ("matmul", "__matmul__") and node and node not in ("Mm", "Bmm", "Mv", "Dot", "Addmm"):
        # Of views; those of products that are expanded sum, and have another op.
        return ["void at::native::elementwise_kernel<128, 4>(int)"]
    if op in ("linear", "mm", "bmm", "addmm", "addmm_", "baddbmm", "matmul", "__matmul__", "forward"):
        return ["ampere_sgemm_32x32_sliced1x4_nn", "void at::native::elementwise_kernel<128, 4>(int)"]
    if op.startswith("conv"):
        return ["void implicit_convolve_sgemm<float, float, 1024, 5>(int)", "ampere_scudnn_128x64_relu_medium_nn_v1"]
    return ["void at::native::vectorized_elementwise_kernel<4>(int)", "void at::native::reduce_kernel<512, 1>(int)"]


class Ranges:
    """The ranges of a recorded database, nested."""

    def __init__(self, database):
        rows = database.execute(
            "SELECT a.timestamp, b.timestamp, a.objectId, s.value FROM CUPTI_ACTIVITY_KIND_MARKER a "
            "JOIN CUPTI_ACTIVITY_KIND_MARKER b ON a.id = b.id AND a.flags = 2 AND b.flags = 4 "
            "JOIN StringTable s ON s._id_ = a.name ORDER BY a.objectId, a.timestamp, b.timestamp DESC, a._id_")
        self.ranges = []
        stack = []
        for start, end, thread, text in rows:
            while stack and (stack[-1]["thread"] != thread or stack[-1]["end"] < end):
                stack.pop()
            entry = {"start": start, "end": end, "thread": thread, "text": text, "leaf": True,
                     "around": stack[-1] if stack else None}
            if stack:
                stack[-1]["leaf"] = False
            self.ranges.append(entry)
            stack.append(entry)

    @staticmethod
    def enclosing(entry):
        """The range and those around it, innermost first."""
        while entry is not None:
            yield entry
            entry = entry["around"]


def forward_ops(ranges):
    """The outermost op of each sequence number, the last one that had it."""
    found = {}
    for entry in ranges:
        match = FORWARD.match(entry["text"])
        ops = [OP.match(around["text"]) for around in Ranges.enclosing(entry)]
        ops = [op.group(1) for op in ops if op]
        if match and ops:
            found[match.group(1)] = ops[-1]
    return found


def op_of(entry, forward):
    """The op that a kernel in a range belongs to and the node, None where there is none."""
    op = node = None
    for around in Ranges.enclosing(entry):
        match = OP.match(around["text"])
        if match:
            op = match.group(1)
        match = NODE.match(around["text"])
        if match and node is None:
            node = match.group(1)
            op = op or forward.get(match.group(2), node)
    return op, node


def add_kernels(path):
    """Gives every innermost range of an op or a node two kernels. Answers their number, and of how many
    ranges they are."""
    database = sqlite3.connect(path)
    strings = {}

    def string(text):
        if text not in strings:
            strings[text] = database.execute("INSERT INTO StringTable(value) VALUES(?)", (text,)).lastrowid
        return strings[text]

    columns = [row[1] for row in database.execute("PRAGMA table_info(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)")]
    number = ranges = 0
    found = Ranges(database).ranges
    forward = forward_ops(found)
    for entry in found:
        op, node = op_of(entry, forward) if entry["leaf"] else (None, None)
        if op is None:
            continue
        names = kernel_names(op, node)
        step = (entry["end"] - entry["start"]) // (3 * len(names) + 1)
        if step < 1:
            raise SystemExit(f"{path}: a range is too short for a launch: {entry['text'][:80]}")
        ranges += 1
        process, thread = (int.from_bytes(entry["thread"][i:i + 4], "little") for i in (0, 4))
        for i, name in enumerate(names):
            number += 1
            start = entry["start"] + step * (3 * i + 1)
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(cbid, start, end, processId, threadId, "
                             "correlationId, returnValue) VALUES(211, ?, ?, ?, ?, ?, 0)",
                             (start, start + step, process, thread, number))
            kernel = dict.fromkeys(columns[1:], 0)
            kernel.update(cacheConfig=b"", start=start + 2 * step, end=start + 2 * step + 1000, correlationId=number,
                          gridX=4, gridY=4, gridZ=1, blockX=128, blockY=1, blockZ=1, streamId=7, name=string(name))
            database.execute(
                f"INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL({', '.join(kernel)}) "
                f"VALUES({', '.join('?' * len(kernel))})", list(kernel.values()))
    database.commit()
    database.close()
    return number, ranges


class Check:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        stand_ins = folder / "stand-ins"
        stand_ins.mkdir()
        for name, text in STAND_INS.items():
            if subprocess.run([options.python, "-c", f"import {name[:-3]}"], capture_output=True).returncode != 0:
                (stand_ins / name).write_text(text, encoding="utf-8")
        self.pyprof = {**os.environ, "PYTHONPATH": f"{options.pyprof}:{stand_ins}", "PYTHONWARNINGS": "ignore"}
        self.ours = {**os.environ, "PYTHONPATH": str(options.build / "lib"), "PYTHONWARNINGS": "ignore"}

    def record(self, program, name):
        path = self.folder / f"{name}.sql"
        run = subprocess.run(
            [self.options.build / "bin/record", "-f", "-o", path, "--", self.options.python, "-m", "oplens_annotate",
             "--pyprof", *program], env=self.ours, capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{name}: record: exit code {run.returncode}\n{run.stderr}")
        return path

    def program(self, name):
        """Records and reads one program; whether PyProf came to an end."""
        program = [ROOT / "examples/train.py"] if name == "train" else [PROGRAMS, *name.split(":")]
        path = self.record(program, name)
        kernels, ranges = add_kernels(path)
        records = self.folder / f"{name}.dict"
        with open(records, "w", encoding="utf-8") as out:
            parse = subprocess.run([self.options.python, "-m", "pyprof.parse", path], env=self.pyprof, stdout=out,
                                   stderr=subprocess.PIPE, text=True)
        prof = subprocess.run([self.options.python, "-c", COUNTING_PROF, "--csv", "-c", "idx,dir,op,params,flops,bytes",
                               records], env=self.pyprof, capture_output=True, text=True)
        lines = len(prof.stdout.splitlines()) - 1
        classes = [line.split(" ") for line in prof.stderr.splitlines() if re.match(r"[A-Z]\w+ [fb]prop ", line)]
        shown = sum(1 for kind, _, _ in classes if kind == "Foo")
        priced = len(classes) - shown
        good = parse.returncode == prof.returncode == 0 and lines == kernels
        print(f"{name:17} parse {parse.returncode} prof {prof.returncode}  {ranges:5} ranges {kernels:5} kernels: "
              f"{priced:5} priced, {shown:5} shown, {lines - priced - shown:5} without an op"
              f"{'' if good else '   FAILS'}", flush=True)
        if not good:
            print("\n".join((parse.stderr + prof.stderr).splitlines()[-4:]))
        return good, classes

    def listed(self, option):
        return subprocess.run([self.options.python, PROGRAMS, option], env=self.ours, capture_output=True, text=True,
                              check=True).stdout.split()

    def programs(self):
        names = self.options.programs or ["train"] + self.listed("--list")
        if self.options.operators:
            count = int(self.listed("--operators")[-1])
            names = [f"operators:{i}:{min(i + 30, count)}" for i in range(0, count, 30)]
        whole, seen = 0, {}
        for name in names:
            good, classes = self.program(name)
            whole += good
            for kind, direction, _ in classes:
                seen.setdefault(kind, set()).add(direction)
        print(f"{whole} of {len(names)} programs are read and priced to the end")
        print("classes of prof: " + ", ".join(
            kind + ("" if len(ways) == 2 else f" ({min(ways)})") for kind, ways in sorted(seen.items())))
        return whole == len(names)

    def calls(self):
        """Compares the calls one by one."""
        run = subprocess.run([self.options.python, "-c", PATCHED_CALLS, PROGRAMS.parent], env=self.pyprof,
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"PyProf's patches: exit code {run.returncode}\n{run.stderr}")
        theirs = [json.loads(line[5:]) for line in run.stdout.splitlines() if line.startswith("CALL ")]
        database = sqlite3.connect(self.record([PROGRAMS, "calls"], "calls"))
        ours = [[] for _ in theirs]
        for entry in Ranges(database).ranges:
            if not OP.match(entry["text"]):
                continue
            around = [e["text"] for e in list(Ranges.enclosing(entry))[1:]]
            calls = [text for text in around if text.startswith("call ")]
            if calls and not any(OP.match(text) for text in around):
                ours[int(calls[0][5:])].append(entry["text"])
        equal = 0
        for (name, texts), mine in zip(theirs, ours):
            equal += texts == mine
            if texts != mine:
                print(f"different  {name}\n  PyProf {texts}\n  oplens {mine}")
            elif self.options.all:
                print(f"equal      {name}  {mine[-1]}")
        print(f"{equal} of {len(theirs)} calls have PyProf's texts")
        return True


def self_test():
    """Kernels are found where they were put, and only in ranges of ops and nodes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "test.sql"
        database = sqlite3.connect(path)
        database.executescript(
            "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags, timestamp, id, objectId, name);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid, start, end, processId, threadId,"
            " correlationId, returnValue);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, cacheConfig, start, end,"
            " correlationId, gridX, gridY, gridZ, blockX, blockY, blockZ, streamId, name);")
        texts = [("a label", 0, 1000), ("{'mod': 'torch', 'op': 'mm', 'args': []}", 100, 300),
                 ("mm, seq = 0", 150, 250), ("MmBackward, seq = 0", 400, 500), ("autograd::engine", 600, 700)]
        thread = bytes([7, 0, 0, 0, 9] + 7 * [0])
        for i, (text, start, end) in enumerate(texts):
            database.execute("INSERT INTO StringTable VALUES(?, ?)", (i, text))
            for flags, time in ((2, start), (4, end)):
                database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER(flags, timestamp, id, objectId, name) "
                                 "VALUES(?, ?, ?, ?, ?)", (flags, time, i, thread, i))
        database.commit()
        database.close()
        assert add_kernels(path) == (4, 2)
        launches = sqlite3.connect(path).execute(
            "SELECT start, end, threadId FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchall()
        for (start, end, number), (low, high) in zip(launches, 2 * [(150, 250)] + 2 * [(400, 500)]):
            assert low < start < end < high and number == 9
    print("self-test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pyprof", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--keep", type=pathlib.Path, help="keeps all files there")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.pyprof is None or not (options.pyprof / "pyprof/prof").is_dir():
        parser.error("--pyprof must name a checkout of PyProf")
    options.pyprof, options.build = options.pyprof.resolve(), options.build.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="check_pyprof."))
    try:
        check = Check(options, folder)
        good = check.calls() if options.calls else check.programs()
    finally:
        if options.keep:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True)
        shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
