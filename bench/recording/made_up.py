#!/usr/bin/env python3
"""Made-up recordings for the self test: databases with the columns of nvprof's that are read, and programs that stand
in for record, parse, prof and step.py:

    made_up.py record|parse|prof|step ARGS

MADE_UP_FAULT in the environment names what is wrong with them, separated by commas.
"""
import ast
import contextlib
import json
import os
import sqlite3
import struct
import subprocess
import sys

import checks
import profiles

PROCESS = 4242
# A thread whose number the tables of calls show negative, and one of the backward pass.
MAIN_THREAD, BACKWARD_THREAD = 3940300608, 452974336
START = 1_600_000_000_000_000_000
# Mangled, and as another demangler writes it.
NAMES = {
    "_ZN2at6native4fillILj4EfEEvT0_": "void at::native::fill<4u, float>(float)",
    "_ZN2at6native3addIiLb1EEEvT_": "void at::native::add<int, true>(int)",
    "ampere_sgemm_32x32_tn": "ampere_sgemm_32x32_tn",
}
OPS = {"fill": "zero_", "add": "add", "ampere_sgemm_32x32_tn": "linear"}

TABLES = """
CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT, end INT, gridX INT, gridY INT,
  gridZ INT, blockX INT, blockY INT, blockZ INT, correlationId INT, name INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, start INT, end INT, processId INT, threadId INT,
  correlationId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER(_id_ INTEGER PRIMARY KEY, start INT, end INT, processId INT, threadId INT,
  correlationId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT, objectKind INT,
  objectId BLOB, name INT);
CREATE TABLE OPLENS_META(key TEXT PRIMARY KEY, value);
INSERT INTO StringTable VALUES (0, '-- null --');
"""
META = {"gpu": "recorded", **dict.fromkeys(checks.LOSSES, 0)}


class Database:
    """A recording that is written call by call; every call takes its time."""

    def __init__(self, path):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        self.database = sqlite3.connect(path)
        self.database.executescript(TABLES)
        self.now, self.numbers, self.correlation = START, 0, 100
        self.meta(META)

    def meta(self, facts):
        self.database.executemany("INSERT OR REPLACE INTO OPLENS_META VALUES (?, ?)", facts.items())

    def insert(self, table, *values):
        marks = ", ".join("?" * (len(values) + 1))
        self.database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES ({marks})", (None, *values))

    def text(self, value):
        found = self.database.execute("SELECT _id_ FROM StringTable WHERE value = ?", (value,)).fetchone()
        return found[0] if found else self.database.execute("INSERT INTO StringTable VALUES (NULL, ?)",
                                                            (value,)).lastrowid

    @contextlib.contextmanager
    def range(self, name, thread=MAIN_THREAD, close=True):
        self.numbers += 1
        number, owner = self.numbers, struct.pack("<III", PROCESS, thread, 0)
        self.insert("MARKER", profiles.MARKER_START, self.tick(), number, 2, owner, self.text(name))
        yield
        if close:
            self.insert("MARKER", profiles.MARKER_END, self.tick(), number, 2, owner, 0)

    def tick(self, by=1000):
        self.now += by
        return self.now

    def call(self, thread=MAIN_THREAD, table="RUNTIME"):
        self.correlation += 1
        signed = struct.unpack("<i", struct.pack("<I", thread))[0]
        self.insert(table, self.tick(), self.tick(), PROCESS, signed, self.correlation)
        return self.correlation

    def kernel(self, name, ns=2000, correlation=None, grid=(8, 1, 1), start=None):
        correlation = self.call() if correlation is None else correlation
        start = self.tick() if start is None else start
        self.insert("CONCURRENT_KERNEL", start, start + ns, *grid, 128, 1, 1, correlation, self.text(name))

    def close(self):
        self.database.commit()
        self.database.close()


def faulty(what):
    return what in os.environ.get("MADE_UP_FAULT", "").split(",")


def write_step(database):
    """A forward op, and one of a backward thread that calls the driver."""
    for name in list(NAMES)[:1 if faulty("lost kernel") else 2]:
        with database.range("aten::op"):
            database.kernel(name)
    with database.range("Backward0", BACKWARD_THREAD):
        database.kernel("ampere_sgemm_32x32_tn", correlation=database.call(BACKWARD_THREAD, "DRIVER"))


def write_example(database):
    with database.range("iteration"):
        for name, count in checks.EXAMPLE_KERNELS.items():
            for _ in range(2 * count):
                database.kernel(f"_ZN6oplens8examples12_GLOBAL__N_1{len(name)}{name}EPf")


def write_window(database):
    with database.range("window"):
        write_step(database)


def write_whole(database):
    for _ in range(2):
        write_step(database)


def write_events(database):
    ns = 480_000 if faulty("short kernels") else 500_000
    with database.range("timed spin"):
        for _ in range(4):
            database.kernel("spin_kernel", ns)
    skew = database.range("somewhere") if faulty("skewed clock") else contextlib.nullcontext()
    with database.range("tight 0"):
        if not faulty("skewed clock"):
            database.kernel("spin_kernel")
    with skew:
        pass


def write_graph(database):
    with database.range("part eager"):
        write_step(database)
    with database.range("part replay"):
        for _ in range(3):
            call = database.call()
            for name in NAMES:
                database.kernel(name, correlation=call)


WRITERS = {"window": write_window, "whole": write_whole, "events": write_events, "graph": write_graph}


def record(arguments):
    at = arguments.index("--")
    command = arguments[at + 1:]
    result = subprocess.run(command, env=dict(os.environ, MADE_UP_RECORD="1"), check=False).returncode
    if faulty("no record"):
        print("record: out of luck", file=sys.stderr)
        return 1
    database = Database(arguments[arguments.index("-o") + 1])
    mode = next((word for word in command if word in WRITERS), None)
    WRITERS.get(mode, write_example)(database)
    if faulty("dropped"):
        database.meta({"cupti_lost": 3})
    if faulty("path"):
        database.text("at /home/someone/step.py")
    database.close()
    if faulty("fallback") and "oplens" in command:
        print("oplens_annotate: emit_nvtx takes its place", file=sys.stderr)
    return result


def parse(arguments):
    """Records of the keys that are looked at."""
    recording = profiles.Recording(arguments[-1])
    out = open(arguments[1], "w", encoding="utf-8") if arguments[0] == "-o" else sys.stdout
    for kernel in recording.kernels:
        launch = recording.launches.get(kernel.correlation)
        start = launch.start if launch else None
        print({"kShortName": profiles.function_name(kernel.name), "launchStart": start}, file=out)
    out.flush()
    return 0


def prof(arguments):
    with open(arguments[-1], encoding="utf-8") as file:
        names = [ast.literal_eval(line)["kShortName"] for line in file]
    for i, name in enumerate(names, 1):
        nameless = faulty("no op in replays") and i > 3
        print(json.dumps({"idx": i, "kernel": name, "op": None if nameless else OPS.get(name, name)}))
    return 0


def kineto_trace():
    kernels = [{"ph": "X", "cat": "kernel", "name": name, "args": {"grid": [8, 1, 1], "block": [128, 1, 1]}}
               for name in NAMES.values()]
    return {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {}}] + kernels}


def step(arguments):
    mode, options = arguments[0], dict(zip(arguments[1::2], arguments[2::2]))
    if "--kineto" in options:
        with open(options["--kineto"], "w", encoding="utf-8") as file:
            json.dump(kineto_trace(), file)
    slow = {"none": 1.0, "plain": 1.5, "shapes": 2.0}[options.get("--profiler", "none")]
    if os.environ.get("MADE_UP_RECORD"):
        slow = {"none": 1.8 if faulty("slow") else 1.2}.get(options["--annotate"] if mode == "time" else "", 1.6)
    told = {
        "time": {"seconds": slow},
        "events": {"empty_ns": 4000, "tight": ["tight 0"],
                   "batches": [{"range": "timed spin", "launches": 4, "elapsed_ns": 4 * 501_000 + 4000}]},
        "graph": {"eager": "part eager", "replay": "part replay", "replays": 3},
    }.get(mode)
    if "--out" in options:
        with open(options["--out"], "w", encoding="utf-8") as file:
            json.dump(told, file)
    return 0


if __name__ == "__main__":
    sys.exit({"record": record, "parse": parse, "prof": prof, "step": step}[sys.argv[1]](sys.argv[2:]))
