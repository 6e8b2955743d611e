#!/usr/bin/env python3
"""How time and memory of parse and prof grow with traces whose ranges lie deep in each other.

    patterns.py --bin DIR [--only TEXT] [--shape NAME] [--size N] [--limit EXPONENT]

Makes traces of PyTorch's profiler of four shapes, at a quarter, a half and the whole of a size: ops of
one start, ops nested in each other, ops that cross each other, and modules nested in each other; every
one launches a kernel. Runs `parse`, the table of kernels and every view of `prof` on each, and prints
of each run the CPU seconds and the peak of memory at the largest size, with the exponents of both: 1 is
linear, 2 is quadratic. What is the same for every size (starting a program) is measured on an empty
trace and taken off. Exit code 1 when an exponent is above the limit (1.2), where the run takes long
enough to tell (0.1 s, 16 MB).
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

SIZES = {"one-start": 5000, "nested": 20000, "crossing": 20000, "modules": 20000}
LEAST_SECONDS = 0.1
LEAST_BYTES = 16 << 20


def host(name, category, start_us, end_us, args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start_us, "dur": end_us - start_us,
            "args": args}


def spans(shape, count):
    """Start and end of each range, and when it launches its kernel; microseconds."""
    for i in range(count):
        if shape == "one-start":
            yield 1000, 1000 + 10 * (i + 1), 1000 + 10 * i + 4
        elif shape == "crossing":
            yield 1000 + 10 * i, 1000 + 10 * (count + i), 1000 + 10 * i + 4
        else:
            yield 1000 + 10 * i, 1000 + 10 * (2 * count - i), 1000 + 10 * i + 4


def trace(shape, count):
    events = []
    for i, (start, end, launch) in enumerate(spans(shape, count)):
        if shape == "modules":
            events.append(host(f"nn.Module: Layer_{i}", "python_function", start, end,
                               {"Python id": i + 1, "Python module id": i, "Ev Idx": i}))
        else:
            events.append(host("aten::mm", "cpu_op", start, end,
                               {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"],
                                "External id": i + 1, "Ev Idx": i}))
        events.append(host("cudaLaunchKernel", "cuda_runtime", launch, launch + 3, {"correlation": i + 1}))
        events.append({"ph": "X", "cat": "kernel", "name": f"gemm_{i % 7}", "pid": 0, "tid": 7, "ts": launch + 4,
                       "dur": 5, "args": {"device": 0, "stream": 7, "correlation": i + 1, "grid": [1, 1, 1],
                                          "block": [128, 1, 1]}})
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8,
                                                      "computeMinor": 0, "numSms": 108}], "traceEvents": events}


def commands(programs):
    listed = subprocess.run([programs / "prof", "--view", "list"], check=True, capture_output=True, text=True).stdout
    views = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    yield "parse", [programs / "parse", "--quiet"]
    yield "parse --format chrome", [programs / "parse", "--quiet", "--format", "chrome"]
    yield "prof", [programs / "prof", "--quiet", "-c", "all", "--csv"]
    for view in views:
        yield f"prof --view {view}", [programs / "prof", "--quiet", "--json", "--view", view]


def cost(command, path, limit_seconds):
    """CPU seconds and peak bytes of a run; None when it took longer than the limit or failed."""
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(["timeout", str(limit_seconds), *command, path], stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def exponent(costs, sizes, base, least):
    """Between the first and the last size, of what the runs cost beyond that of an empty trace; less than `least`
    cannot be told from nothing and counts as that."""
    first, last = max(costs[0] - base, least), max(costs[-1] - base, least)
    return math.log(last / first) / math.log(sizes[-1] / sizes[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where parse and prof lie")
    parser.add_argument("--only", default="", help="only commands that hold this text")
    parser.add_argument("--shape", choices=sorted(SIZES), help="only this shape")
    parser.add_argument("--size", type=int, help="the largest number of ranges (default: by shape, 5,000 or 20,000)")
    parser.add_argument("--limit", type=float, default=1.2, help="the largest exponent that is good")
    parser.add_argument("--seconds", type=int, default=60, help="a run that takes longer is given up")
    options = parser.parse_args()
    worst = 0
    print(f"{'shape':<10} {'command':<28} {'CPU s':>8} {'exponent':>8} {'MB':>8} {'exponent':>8}")
    with tempfile.TemporaryDirectory() as folder:
        empty = pathlib.Path(folder) / "empty.json"
        empty.write_text(json.dumps(trace("nested", 1)), encoding="utf-8")
        for shape in [options.shape] if options.shape else SIZES:
            whole = options.size or SIZES[shape]
            sizes = [whole // 4, whole // 2, whole]
            paths = []
            for size in sizes:
                paths.append(pathlib.Path(folder) / f"{shape}_{size}.json")
                paths[-1].write_text(json.dumps(trace(shape, size), separators=(",", ":")), encoding="utf-8")
            for name, command in commands(options.bin):
                if options.only not in name:
                    continue
                costs = [cost(command, path, options.seconds) for path in [empty, *paths]]
                if None in costs:
                    print(f"{shape:<10} {name:<28} gave up", flush=True)
                    worst = math.inf
                    continue
                seconds, peaks = zip(*costs)
                in_time = exponent(seconds[1:], sizes, seconds[0], LEAST_SECONDS / 10)
                in_memory = exponent(peaks[1:], sizes, peaks[0], LEAST_BYTES / 10)
                bad_time = in_time > options.limit and seconds[-1] >= LEAST_SECONDS
                bad_memory = in_memory > options.limit and peaks[-1] - peaks[0] >= LEAST_BYTES
                if bad_time:
                    worst = max(worst, in_time)
                if bad_memory:
                    worst = max(worst, in_memory)
                print(f"{shape:<10} {name:<28} {seconds[-1]:8.2f} {in_time:8.2f} {peaks[-1] / 1e6:8.1f} {in_memory:8.2f}"
                      + ("  <- above the limit" if bad_time or bad_memory else ""), flush=True)
    return 1 if worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
