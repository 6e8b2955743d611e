#!/usr/bin/env python3
"""Checks record on a machine with an NVIDIA GPU, line by line; run.sh starts it. docs/recording_gpu.md explains.

    recording.py BUILD_DIR [OUT_DIR] [--step PROGRAM] [--lines REGEX] [--rounds N]      exit code 1 when a line failed
    recording.py --self-test                               checks the checks on made-up data, without a GPU
"""
import argparse
import pathlib
import re
import shutil
import sys

import checks
import profiles
import session
import small_data

HERE = pathlib.Path(__file__).resolve().parent


def accuracy(s):
    """bench/accuracy has its own table; here counts whether it passed."""
    if shutil.which("ncu") is None:
        raise session.NotRun("ncu is not installed")
    s.run("accuracy", ["bash", str(HERE.parent / "accuracy" / "run.sh"), str(s.build / "bin"), str(s.out / "accuracy")])
    return [], f"table in {s.out / 'accuracy'}"


def kernels_of_step(name):
    return lambda s: checks.same_kernels(s.recording(name), s.kineto())


def in_order(name):
    return lambda s: checks.ordered(s.recording(name))


def complete(name):
    return lambda s: checks.whole(s.recording(name))


def graph(name):
    return lambda s: checks.graph_ops(s.recording(name), *s.records_and_rows(name), s.told(name))


# What is printed, and the check of it.
LINES = [
    ("C++ example: recorded whole", complete("mlp_step")),
    ("C++ example: the kernels of its source",
     lambda s: checks.example_kernels(s.recording("mlp_step"), session.EXAMPLE_ITERATIONS)),
    ("C++ example: range <= launch <= kernel", in_order("mlp_step")),
    ("C++ example: every kernel has an op", lambda s: checks.with_ops(s.records_and_rows("mlp_step")[1])),
    ("emit_nvtx: recorded whole", complete("emit_nvtx")),
    ("emit_nvtx: kernels as PyTorch's profiler sees them", kernels_of_step("emit_nvtx")),
    ("emit_nvtx: range <= launch <= kernel", in_order("emit_nvtx")),
    ("emit_nvtx: the window is a part of the run",
     lambda s: checks.within(s.recording("emit_nvtx"), s.recording("whole"))),
    ("oplens_torch: recorded whole", complete("oplens")),
    ("oplens_torch: kernels as PyTorch's profiler sees them", kernels_of_step("oplens")),
    ("oplens_torch: range <= launch <= kernel", in_order("oplens")),
    ("oplens_torch: every kernel has an op", lambda s: checks.with_ops(s.records_and_rows("oplens")[1])),
    ("Clocks: a launch lies in its own range", lambda s: checks.tight(s.recording("events"), s.told("events"))),
    ("Kernel durations against CUDA events", lambda s: checks.durations(s.recording("events"), s.told("events"))),
    ("Slowdown", lambda s: checks.slowdown(s.seconds(), session.PAIRS)),
    ("CUDA graph: ops of the replay, emit_nvtx", graph("graph_emit_nvtx")),
    ("CUDA graph: ops of the replay, oplens_torch", graph("graph_oplens")),
    ("FLOPs and Tensor Cores against counters", accuracy),
] + small_data.LINES


def judge(s, line):
    """(state, note) of one line."""
    try:
        faults, note = line(s)
    except session.NotRun as reason:
        return "not run", str(reason)
    # Whatever goes wrong in one line, the others are to be told too.
    except (session.Failed, profiles.Unreadable) as failure:
        return "fail", str(failure)
    except Exception as fault:  # pylint: disable=broad-except
        return "fail", f"the check itself failed: {fault!r}"
    return ("fail", "; ".join(faults)) if faults else ("pass", note)


def table_row(*cells):
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def measure(s, lines=None):
    """Prints the table as it grows and writes it to table.md. True when no line failed."""
    good = True
    with open(s.out / "table.md", "w", encoding="utf-8") as file:
        for row in [("check", "result", "note"), ("---", "---", "---")]:
            file.write(table_row(*row))
        for name, line in lines or LINES:
            state, note = judge(s, line)
            good = good and state != "fail"
            file.write(table_row(name, state, note))
            file.flush()
            print(f"{state:8}{name}: {note}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", metavar="BUILD_DIR")
    parser.add_argument("out", nargs="?", metavar="OUT_DIR", default="recording")
    parser.add_argument("--step", default=str(HERE / "step.py"), help="the program in the place of step.py")
    parser.add_argument("--lines", default="", help="only the lines that this regular expression finds")
    parser.add_argument("--rounds", type=int, default=5, help="of the timed runs (5)")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        import self_test
        return self_test.run()
    if options.build is None:
        parser.error("the build folder is needed")
    lines = [line for line in LINES if re.search(options.lines, line[0])]
    return 0 if measure(session.Session(pathlib.Path(options.build).resolve(), pathlib.Path(options.out).resolve(),
                                        options.step, rounds=options.rounds), lines) else 1


if __name__ == "__main__":
    sys.exit(main())
