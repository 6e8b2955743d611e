"""Runs the programs of the check, each once: under record, bare, under PyTorch's profiler."""
import ast
import functools
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import profiles

LIMIT_SECONDS = 900
LOG_LINES = 4


class Failed(Exception):
    """A step could not be made: what was run and its last words."""


class NotRun(Exception):
    """A check that this machine has no means for."""


class Session:
    def __init__(self, build, out, step, python=sys.executable, rounds=5):
        self.build, self.out, self.step_program, self.python = (pathlib.Path(build), pathlib.Path(out), str(step),
                                                                python)
        self.rounds = rounds  # Of the timed runs.
        self.known_failures = set()
        self.out.mkdir(parents=True, exist_ok=True)

    def fresh(self, name):
        """The path of a result; what an earlier run left there is gone."""
        (self.out / name).unlink(missing_ok=True)
        return self.out / name

    def program(self, name):
        return str(self.build / "bin" / name)

    def step(self, *arguments):
        return [self.python, self.step_program, *map(str, arguments)]

    def run(self, name, command, cwd=None, environment=None):
        """Runs a command to its end; what it prints goes to NAME.out and NAME.log. Answers NAME.out."""
        log, out = self.out / f"{name}.log", self.out / f"{name}.out"
        if environment is None:
            environment = dict(os.environ)
            environment["PYTHONPATH"] = f"{self.build / 'lib'}:{environment.get('PYTHONPATH', '')}".rstrip(":")
        with open(out, "wb") as to_out, open(log, "wb") as to_log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_log, cwd=cwd,
                                     env=environment, start_new_session=True)
            try:
                result = child.wait(LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                result = f"nothing after {LIMIT_SECONDS} s"
        if result != 0:
            raise Failed(f"{shlex.join(command)}: {result}: {last_words(log)}")
        return out

    def record_command(self, database, command, options=()):
        return [self.program("record"), "-f", "-o", str(database), *options, "--", *command]

    def recorded(self, name, command, options=()):
        """Records a program to NAME.sql and answers that."""
        database = self.fresh(f"{name}.sql")
        self.run(name, self.record_command(database, command, options))
        self.refuse_fallback(name)
        return database

    def refuse_fallback(self, name):
        """oplens_annotate falls back to emit_nvtx where its library does not fit; that would check nothing."""
        words = (self.out / f"{name}.log").read_text(errors="replace")
        for line in words.splitlines():
            if line.startswith("oplens_annotate:"):
                raise Failed(f"{line}; configure with the CMAKE_PREFIX_PATH of this PyTorch")

    @functools.lru_cache(maxsize=None)
    def database(self, name):
        """The database of a recording of RECORDINGS. The first who asks has it made; a failure is told to all."""
        command, options = RECORDINGS[name]
        try:
            return self.recorded(name, command(self), options), None
        except Failed as failure:
            return None, failure

    @functools.lru_cache(maxsize=None)
    def recording(self, name):
        database, failure = self.database(name)
        if failure:
            known = name in self.known_failures
            self.known_failures.add(name)
            raise Failed(f"{name}.sql was not recorded, see above") if known else failure
        return profiles.Recording(database)

    def told(self, name):
        """What the program of a recording wrote with --out."""
        self.recording(name)
        return json.loads((self.out / f"{name}.json").read_text())

    @functools.lru_cache(maxsize=None)
    def kineto(self):
        trace = self.fresh("kineto.json")
        self.run("kineto", self.step("window", "--kineto", trace))
        return profiles.read_kineto(trace)

    def records_and_rows(self, name):
        """What parse makes of a recording, and prof of that: one line each a kernel."""
        self.recording(name)
        records = self.fresh(f"{name}.dict")
        self.run(f"{name}.parse", [self.program("parse"), "-o", str(records), str(self.out / f"{name}.sql")])
        rows = self.run(f"{name}.prof", [self.program("prof"), "--json", "-c", "idx,kernel,op", str(records)])
        return ([ast.literal_eval(line) for line in records.read_text().splitlines()],
                [json.loads(line) for line in rows.read_text().splitlines()])

    def seconds(self):
        """Times of the profiled part by variant. The variants take turns, so that a slower minute hits all."""
        times = {name: [] for name in VARIANTS}
        for _ in range(self.rounds):
            for name, (profiler, annotate, recorded) in VARIANTS.items():
                file = f"time.{name.replace(' ', '_')}"
                out = self.fresh(f"{file}.json")
                command = self.step("time", "--profiler", profiler, "--annotate", annotate, "--out", out)
                if recorded:
                    self.recorded(file, command)
                else:
                    self.run(file, command)
                times[name].append(json.loads(out.read_text())["seconds"])
        (self.out / "seconds.json").write_text(json.dumps(times, indent=1))
        return times


def last_words(log):
    lines = log.read_text(errors="replace").strip().splitlines()
    return " | ".join(lines[-LOG_LINES:]) or "it said nothing"


WINDOW = ("--profile-from-start", "off")
EXAMPLE_ITERATIONS = 2

# Name: command, options of record.
RECORDINGS = {
    "mlp_step": (lambda s: [str(s.build / "examples" / "mlp_step_cuda"), str(EXAMPLE_ITERATIONS)], ()),
    "whole": (lambda s: s.step("whole", "--annotate", "emit_nvtx"), ()),
    "emit_nvtx": (lambda s: s.step("window", "--annotate", "emit_nvtx"), WINDOW),
    "oplens": (lambda s: s.step("window", "--annotate", "oplens"), WINDOW),
    "events": (lambda s: s.step("events", "--out", s.fresh("events.json")), ()),
    "graph_emit_nvtx": (lambda s: s.step("graph", "--annotate", "emit_nvtx",
                                         "--out", s.fresh("graph_emit_nvtx.json")), ()),
    "graph_oplens": (lambda s: s.step("graph", "--annotate", "oplens", "--out",
                                      s.fresh("graph_oplens.json")), ()),
}

# Name: profiler of PyTorch, annotation, under record.
VARIANTS = {
    "bare": ("none", "none", False),
    "torch.profiler": ("plain", "none", False),
    "torch.profiler with shapes": ("shapes", "none", False),
    "record": ("none", "none", True),
    "record with oplens_torch": ("none", "oplens", True),
    "record with emit_nvtx": ("none", "emit_nvtx", True),
}
# The first of each is to be no slower than the second, which tells as much of the ops.
PAIRS = [("record", "torch.profiler"), ("record with oplens_torch", "torch.profiler with shapes")]
