"""The checks on made-up data, those that pass and those that do not, and the whole run with programs that are made up.
recording.py --self-test starts it.
"""
import contextlib
import gzip
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import checks
import made_up
import profiles
import recording
import session

HERE = pathlib.Path(__file__).resolve().parent
SPIN_NS, GAP_NS = 500_000, 1000


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def recorded(self, write):
        """The recording that write(Database) makes."""
        path = self.folder / "a.sql"
        database = made_up.Database(path)
        write(database)
        database.close()
        return profiles.Recording(path)

    def passes(self, answer):
        self.assertEqual(answer[0], [])
        self.assertTrue(answer[1])

    def fails(self, answer, *words):
        self.assertTrue(answer[0], "no fault was found")
        for word in words:
            self.assertIn(word, "; ".join(answer[0]))


class Reading(Folder):
    def test_nothing_there(self):
        with self.assertRaises(profiles.Unreadable):
            profiles.Recording(self.folder / "none.sql")
        self.assertFalse((self.folder / "none.sql").exists())
        (self.folder / "text.sql").write_text("no database" * 100)
        with self.assertRaises(profiles.Unreadable):
            profiles.Recording(self.folder / "text.sql")

    def test_trace(self):
        trace = json.dumps(made_up.kineto_trace())
        (self.folder / "a.json").write_text(trace)
        (self.folder / "a.json.gz").write_bytes(gzip.compress(trace.encode()))
        for name in ("a.json", "a.json.gz"):
            self.assertEqual(len(profiles.read_kineto(self.folder / name)), len(made_up.NAMES))
        for bad in ("{}", "[", '{"traceEvents": [{"cat": "kernel", "ph": "X", "name": "a", "args": {}}]}'):
            (self.folder / "bad.json").write_text(bad)
            with self.assertRaises(profiles.Unreadable):
                profiles.read_kineto(self.folder / "bad.json")

    def test_names(self):
        for mangled, plain in made_up.NAMES.items():
            self.assertEqual(profiles.plain_name(mangled), profiles.plain_name(plain))
        self.assertEqual(profiles.plain_name("f<(int)4, (bool)1>(unsigned int)"), "f<4,true>(unsignedint)")
        self.assertNotEqual(profiles.plain_name("f<4>(int)"), profiles.plain_name("f<8>(int)"))
        self.assertEqual(profiles.plain_name("_Znonsense"), "_Znonsense")

    def test_threads(self):
        ours = self.recorded(made_up.write_window)
        self.assertEqual({r.thread for r in ours.ranges},
                         {(made_up.PROCESS, made_up.MAIN_THREAD), (made_up.PROCESS, made_up.BACKWARD_THREAD)})
        self.assertEqual(len(ours.launched_in(ours.named("window"))), 2)
        self.assertEqual(len(ours.launched_in(ours.named("window"), same_thread=False)), 3)
        with self.assertRaises(profiles.Unreadable):
            ours.named("aten::op")


class Whole(Folder):
    def test_all(self):
        self.passes(checks.whole(self.recorded(made_up.write_window)))
        self.fails(checks.whole(self.recorded(lambda d: None)), "no kernel")
        for key, value in [("gpu", "unavailable"), ("cupti_lost", 1), ("lost_events", None)]:
            def write(database):
                made_up.write_window(database)
                database.meta({key: value})
            self.fails(checks.whole(self.recorded(write)), str(value))

    def test_open_range(self):
        def write(database):
            made_up.write_window(database)
            with database.range("open", close=False):
                pass
        self.fails(checks.whole(self.recorded(write)), "one end")


class SameKernels(Folder):
    kineto = [(name, (8, 1, 1), (128, 1, 1)) for name in made_up.NAMES.values()]

    def test_same(self):
        self.passes(checks.same_kernels(self.recorded(made_up.write_window), self.kineto))

    def test_others(self):
        ours = self.recorded(made_up.write_window)
        self.fails(checks.same_kernels(ours, self.kineto + self.kineto[:1]), "1 of record, 2 of PyTorch")
        self.fails(checks.same_kernels(ours, self.kineto[1:]), "1 of record, 0 of PyTorch")
        name, grid, _ = self.kineto[0]
        other_block = self.kineto[1:] + [(name, grid, (64, 1, 1))]
        self.fails(checks.same_kernels(ours, other_block), "(64, 1, 1)", "(128, 1, 1)")
        self.fails(checks.same_kernels(self.recorded(lambda d: None), []), "no kernel")

    def test_window(self):
        all_of_it = self.recorded(made_up.write_whole)
        part = self.recorded(made_up.write_window)
        self.passes(checks.within(part, all_of_it))
        self.fails(checks.within(all_of_it, part), "more than without", "6 kernels in the window")

    def test_example(self):
        ours = self.recorded(made_up.write_example)
        self.passes(checks.example_kernels(ours, 2))
        self.fails(checks.example_kernels(ours, 3), "gemm: 10 of record, 15 of the source")


class Order(Folder):
    def test_good(self):
        self.passes(checks.ordered(self.recorded(made_up.write_window)))

    def test_bad(self):
        def outside(database):
            database.kernel("k")

        def other_thread(database):
            with database.range("r", made_up.BACKWARD_THREAD):
                database.kernel("k")

        def ends_early(database):
            with database.range("r"):
                call = database.call()
                database.now -= 1500
            database.kernel("k", correlation=call)

        def begins_late(database):
            call = database.call()
            database.now -= 1500
            with database.range("r"):
                database.kernel("k", correlation=call, start=database.now + 5000)

        def no_launch(database):
            with database.range("r"):
                database.kernel("k", correlation=7)

        def too_soon(database):
            with database.range("r"):
                database.kernel("k", correlation=database.call(), start=made_up.START)

        def backwards(database):
            with database.range("r"):
                database.kernel("k", ns=-5)

        for write, words in [(outside, "no range"), (other_thread, "no range"), (ends_early, "no range"),
                             (begins_late, "no range"), (no_launch, "no launch"), (too_soon, "before its launch"),
                             (backwards, "runs from"),
                             (lambda d: None, "no kernels")]:
            self.fails(checks.ordered(self.recorded(write)), words)


class Clocks(Folder):
    def batch(self, kernel_ns, count=4):
        def write(database):
            with database.range("batch"):
                for _ in range(count):
                    database.kernel("spin", kernel_ns)
        elapsed = 4 * (SPIN_NS + GAP_NS) + 3000
        told = {"empty_ns": 3000, "batches": [{"range": "batch", "launches": 4, "elapsed_ns": elapsed}]}
        return checks.durations(self.recorded(write), told)

    def test_durations(self):
        self.passes(self.batch(SPIN_NS))
        self.passes(self.batch(SPIN_NS - 3900))
        self.fails(self.batch(SPIN_NS - 4100), "+5.10 us")
        self.fails(self.batch(SPIN_NS + 6100), "-5.10 us")
        self.fails(self.batch(SPIN_NS, count=3), "3 kernels")
        self.fails(checks.durations(self.recorded(lambda d: None), {"empty_ns": 0, "batches": []}), "no batches")

    def test_tight(self):
        def write(database):
            for name, kernels in [("one", 1), ("none", 0), ("two", 2)]:
                with database.range(name):
                    for _ in range(kernels):
                        database.kernel("k")
        ours = self.recorded(write)
        self.passes(checks.tight(ours, {"tight": ["one"]}))
        self.fails(checks.tight(ours, {"tight": ["one", "none", "two"]}), "0 launches", "2 launches")
        self.fails(checks.tight(ours, {"tight": []}), "no such ranges")

    def test_slowdown(self):
        times = {"bare": [1, 1, 9], "ours": [1.2, 1.3, 9], "theirs": [1.3, 1.3, 1.4]}
        self.passes(checks.slowdown(times, [("ours", "theirs")]))
        self.fails(checks.slowdown(dict(times, ours=[1.2, 1.4, 1.4]), [("ours", "theirs")]), "1.40 x bare", "1.30 x")


class Ops(Folder):
    told = {"eager": "part eager", "replay": "part replay", "replays": 3}

    def judge(self, change):
        ours = self.recorded(made_up.write_graph)
        records = [{"launchStart": ours.launches[k.correlation].start} for k in ours.kernels]
        rows = [{"kernel": k.name, "op": made_up.OPS.get(k.name, k.name)} for k in ours.kernels]
        change(records, rows)
        return checks.graph_ops(ours, records, rows, self.told)

    def test_graph(self):
        self.passes(self.judge(lambda records, rows: None))
        self.fails(self.judge(lambda records, rows: rows[5].update(op="mm")), "mm: 1 of the replays, 0 of 3 eager")
        self.fails(self.judge(lambda records, rows: rows[5].update(op=None)), "(no op): 1 of the replays")
        self.fails(self.judge(lambda records, rows: [row.update(op=None) for row in rows]), "no ops either")
        self.fails(self.judge(lambda records, rows: rows.pop()), "12 records, prof 11 rows")
        self.fails(self.judge(lambda records, rows: [r.update(launchStart=None) for r in records]), "no kernels")

    def test_every_kernel(self):
        self.passes(checks.with_ops([{"kernel": "k", "op": "mm"}]))
        self.fails(checks.with_ops([{"kernel": "k", "op": "mm"}, {"kernel": "l", "op": None}]), "l: no op")
        self.fails(checks.with_ops([]), "no rows")


# What is wrong with the made-up programs: the lines of the table that must fail, by a part of their names.
FAULTS = {
    "": [],
    "lost kernel,short kernels,slow,path": ["kernels as PyTorch's", "durations", "Slowdown", "CUDA graph",
                                            "nothing of the"],
    "dropped,skewed clock,no op in replays": ["recorded whole", "Clocks", "example: every kernel has an op",
                                              "CUDA graph"],
    "fallback": ["oplens_torch", "Slowdown", "graph.sql", "nothing of the"],
    "no record": [name for name, _ in recording.LINES if not name.startswith("FLOPs")],
}


class Run(Folder):
    """The whole run, with stand-ins for every program."""

    def stand_in(self, path, name):
        path.parent.mkdir(parents=True, exist_ok=True)
        # -S: without the packages of other people, which take most of a start.
        command = shlex.join([sys.executable, "-S", str(HERE / "made_up.py"), name])
        path.write_text(f"#!/bin/sh\nexec {command} \"$@\"\n")
        path.chmod(0o755)

    def measure(self, fault):
        build = self.folder / "build"
        for name in ("record", "parse", "prof"):
            self.stand_in(build / "bin" / name, name)
        example = build / "examples" / "mlp_step_cuda"
        example.parent.mkdir(exist_ok=True)
        example.write_text("#!/bin/sh\n")
        example.chmod(0o755)
        program = self.folder / "step.py"
        program.write_text(f"import sys\nsys.path.insert(0, {str(HERE)!r})\n"
                           "import made_up\nmade_up.step(sys.argv[1:])\n")
        # Small recordings are made without the environment.
        for name in ("record", "parse", "prof"):
            path = build / "bin" / name
            path.write_text(path.read_text().replace("exec ", f"MADE_UP_FAULT='{fault}' exec "))
        kept, os.environ["MADE_UP_FAULT"] = os.environ.get("MADE_UP_FAULT"), fault
        which, recording.shutil.which = recording.shutil.which, lambda name: None
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                good = recording.measure(session.Session(build, self.folder / "out", program, rounds=1))
        finally:
            recording.shutil.which = which
            os.environ["MADE_UP_FAULT"] = kept or ""
        return good, printed.getvalue()

    def test_faults(self):
        for fault, names in FAULTS.items():
            with self.subTest(fault):
                good, printed = self.measure(fault)
                self.assertEqual(good, not names, printed)
                self.assertEqual(len(printed.splitlines()), len(recording.LINES))
                for (check, _), line in zip(recording.LINES, printed.splitlines()):
                    failing = any(name in check for name in names)
                    state = "not run" if "FLOPs" in check else "fail" if failing else "pass"
                    self.assertEqual(line[:8].strip(), state, line)
                table = (self.folder / "out" / "table.md").read_text()
                self.assertEqual(table.count("\n"), 2 + len(recording.LINES))

    def test_command(self):
        for arguments, code in [([], 2), ([str(self.folder / "nothing"), str(self.folder / "out")], 1)]:
            result = subprocess.run([sys.executable, HERE / "recording.py", *arguments], check=False,
                                    capture_output=True, cwd=self.folder)
            self.assertEqual(result.returncode, code, result)
        result = subprocess.run(["bash", HERE / "run.sh", self.folder], check=False, capture_output=True, text=True)
        self.assertEqual((result.returncode, "no bin/record" in result.stderr), (2, True), result)


class Step(Folder):
    """step.py without a GPU: every mode runs and tells what it should."""

    def setUp(self):
        super().setUp()
        for python in (sys.executable, "/usr/bin/python3"):
            with contextlib.suppress(OSError):
                look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
                if subprocess.run([python, "-c", look], check=False, capture_output=True).returncode == 0:
                    self.python = python
                    return
        self.skipTest("no PyTorch")

    def test_modes(self):
        told = {"window": None, "whole": None, "time": "seconds", "events": "batches", "graph": "replays"}
        for mode, key in told.items():
            out = self.folder / f"{mode}.json"
            command = [self.python, HERE / "step.py", mode, "--cpu", "--iterations", "1", "--out", out]
            result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            if key:
                self.assertIn(key, json.loads(out.read_text()))


def run():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1
