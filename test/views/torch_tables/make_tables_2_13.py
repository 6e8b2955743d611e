#!/usr/bin/env python3
"""Makes the tables that PyTorch 2.13 prints for the traces of this folder, and those of the corpus.

    pip install torch==2.13.0
    make_tables_2_13.py [--corpus DIR]

NAME.2.13.txt holds what EventList.key_averages().table() prints for NAME.json, each table behind a
line that says how it was asked for (torch_2_13.py). The traces that make_tables.py does not make are made
here: made up as PyTorch 2.13 writes them. examples.2.13.txt has a line for each table of a trace of
examples/data: its hash and its number of lines, in place of the text; with --corpus, corpus.2.13.txt has
those of the corpus.
"""

import argparse
import hashlib
import json
import pathlib
import random
import sys

import torch

from torch_2_13 import ask, events_of, load, table

FOLDER = pathlib.Path(__file__).parent
PROCESS = 42
BASE = 1_790_857_026_000_000_000
START = 4_914_867_392_940_618  # In ns behind BASE: more digits than a double has in us.
GROUPS = [(), ("shape",), ("stack",), ("overload",), ("shape", "stack"), ("overload", "shape")]
SORT_KEYS = ["cpu_time", "device_time", "cpu_time_total", "cuda_time_total", "count", "self_cpu_time_total",
             "self_device_time_total", "cpu_memory_usage", "xpu_memory_usage", "self_cpu_memory_usage",
             "self_cuda_memory_usage"]
ALL = 1_000_000
TRACE_TABLES = [((), None, ALL), (("shape",), "self_device_time_total", ALL), (("stack",), "cpu_time_total", 50),
                 (("overload",), "count", 20)]


class Us:
    """A time in ns, written in us with three digits, as Kineto does."""

    def __init__(self, ns):
        self.ns = ns

    def __str__(self):
        return f"{self.ns // 1000}.{self.ns % 1000:03d}"


class Writer:
    def __init__(self, kind="cuda", memory=None):
        self.kind = kind
        self.memory = memory
        self.records = []
        self.numbered = 0

    def add(self, category, name, start, length, thread=PROCESS, args=None, process=PROCESS, index=True):
        args = dict(args or {})
        if index:
            args["Ev Idx"] = self.numbered
            self.numbered += 1
        self.records.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
                             "ts": Us(START + start), "dur": Us(length), "args": args})

    def call(self, name, start, length, identity, thread=PROCESS, dims=None, stack=(), sequence=None, forward=0,
             category="cpu_op"):
        args = {"External id": identity, "Record function id": 0}
        if dims is not None:
            args["Input Dims"] = dims
            args["Concrete Inputs"] = ["" for _ in dims]
        if stack:
            args["Call stack"] = ";".join(stack) + ";"
        if sequence is not None:
            args["Sequence number"] = sequence
            args["Fwd thread id"] = forward
        self.add(category, name, start, length, thread, args)

    def api(self, name, start, length, correlation, linked=None, thread=PROCESS, category=None):
        args = {"cbid": 211, "correlation": correlation}
        if linked is not None:
            args["External id"] = linked
        self.add(category or f"{self.kind}_runtime", name, start, length, thread, args, index=False)

    def work(self, category, name, start, length, correlation, linked=None, stream=7, **more):
        args = {"device": 0, "context": 1, "stream": stream, "correlation": correlation, **more}
        if linked is not None:
            args["External id"] = linked
        self.add(category, name, start, length, stream, args, process=0, index=False)

    def moment(self, name, time, size, device=0, thread=PROCESS):
        args = {"Bytes": size, "Device Id": -1 if device == 0 else 0, "Device Type": device, "Addr": 4096,
                "Ev Idx": self.numbered}
        self.numbered += 1
        self.records.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": name, "pid": PROCESS,
                             "tid": thread, "ts": Us(START + time), "args": args})

    def write(self, path):
        head = {"schemaVersion": 1, "deviceProperties": [], "trace_id": "0"}
        if self.memory is not None:
            head["profile_memory"] = int(self.memory)
        lines = []
        for record in self.records + [
                {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
                 "ts": Us(START), "dur": Us(10_000_000), "args": {"Op count": 0}},
                {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces",
                 "tid": "Trace PyTorch Profiler", "ts": Us(START)}]:
            fields = (f'"{key}": {value if isinstance(value, Us) else json.dumps(value)}' for key, value in record.items())
            lines.append("{" + ", ".join(fields) + "}")
        path.write_text(json.dumps(head)[:-1] + ',\n"traceEvents": [\n' + ",\n".join(lines) + "\n], " +
                        f'"displayTimeUnit": "ms", "baseTimeNanoseconds": {BASE}}}\n', encoding="utf-8")


def step():
    """A step of a small network: every rule of the tables once."""
    w = Writer(memory=True)
    main = ["train.py(12): step", "train.py(30): main"]
    deep = [f"package/some_directory/another_directory/yet_another_directory/module_{i}.py({i}): f" for i in range(7)]
    w.call("ProfilerStep#3", 1_000, 5_000_001, 1, category="user_annotation")
    w.add("python_function", "train.py(30): main", 2_000, 4_000_003, args={"Python id": 1})
    w.add("python_function", "nn.Module: Linear_0", 3_000, 1_000_001, args={"Python id": 2, "Python parent id": 1})
    w.call("aten::linear", 4_000, 900_001, 2, dims=[[32, 128], [64, 128], [64]], stack=main, sequence=3)
    w.call("aten::addmm.out", 10_000, 800_003, 3, dims=[[64], [32, 128], [128, 64], [], []], stack=main)
    w.call("aten::addmm", 900_100, 3_333, 30, dims=[[64]], stack=main)
    # Exactly one call inside, of its own name: its launches in place of the outer ones.
    w.call("aten::relu", 1_100_000, 40_003, 4, dims=[[32, 64]], stack=deep)
    w.call("aten::relu", 1_105_000, 30_001, 5, dims=[[32, 64]], stack=deep)
    w.call("aten::clamp_min", 1_110_000, 20_000, 6, dims=[[32, 64], []], stack=deep)
    # A list of tensors has no extents.
    w.call("aten::cat", 1_200_000, 30_000, 7, dims=[[[5, 8], [5, 8]], []], stack=["torch/tensor.py(3): backward"] + main)
    # Look-ups are left out; what they launched is nobody's.
    w.call("aten::to", 1_300_000, 30_000, 8, dims=[[4]])
    w.call("aten::is_leaf", 1_301_000, 20_000, 9)
    # Crossing calls are no parts of each other.
    w.call("my::around", 1_400_000, 90_000, 10)
    w.call("my::left", 1_410_000, 40_000, 11)
    w.call("my::right", 1_430_000, 50_000, 12)
    w.call("my::whole", 1_500_000, 10_000, 13)
    w.call("my::empty", 1_510_000, 0, 14)
    # Equal times: the recorder's order.
    w.call("my::outer", 1_600_000, 10_000, 15)
    w.call("my::inner", 1_600_000, 10_000, 16)
    # Names as they are demangled, and long ones.
    w.call("Pi", 1_700_000, 10_000, 17, category="user_annotation")
    w.call("f", 1_720_000, 10_000, 18, category="user_annotation")
    w.call("a_name_of_an_operator::that_is_longer_than_the_column_of_names_can_be", 1_740_000, 2_000, 19)
    w.call("forward.of_a.label", 1_760_000, 10_000, 20, category="user_annotation")
    w.call("aten::zero_", 1_780_000, 5_000, 31, dims=[])
    # The backward pass on a thread of its own.
    w.call("autograd::engine::evaluate_function: AddmmBackward0", 2_500_000, 90_001, 21, thread=50, sequence=3, forward=1,
           stack=["engine.py(1): run"])
    w.call("AddmmBackward0", 2_505_000, 80_001, 22, thread=50, sequence=3, forward=1, dims=[[32, 64]],
           stack=["engine.py(1): run"])
    w.call("aten::mm", 2_510_000, 70_003, 23, thread=50, dims=[[32, 64], [64, 128]])
    w.call("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 2_600_000, 9_000, 24, thread=50)
    w.call("torch::autograd::AccumulateGrad", 2_601_000, 7_000, 25, thread=50, dims=[[4]], stack=main)
    w.call("aten::mul", 2_700_000, 5_500, 26, thread=51, sequence=9, stack=main)
    # Calls of the API: of operators, of nobody, and one whose number is an operator's.
    w.api("cudaLaunchKernel", 20_000, 5_001, 101, linked=3)
    w.api("cudaLaunchKernel", 30_000, 6_002, 102, linked=3)
    w.api("cudaMemcpyAsync", 1_302_000, 3_000, 103, linked=9)
    w.api("cuLaunchKernel", 1_112_000, 4_000, 104, linked=6, category="cuda_driver")
    w.api("cudaLaunchKernel", 2_520_000, 4_001, 105, linked=23, thread=50)
    w.api("cudaLaunchKernel", 1_420_000, 4_001, 106, linked=11)
    w.api("cudaLaunchKernel", 1_445_000, 4_001, 107, linked=10)
    w.api("cudaDeviceSynchronize", 4_990_000, 1_000, 300, thread=51)
    w.api("cudaStreamIsCapturing", 1_210_000, 1_111, 8, thread=51)
    w.add("overhead", "Activity Buffer Request", 40_000, 7_000, thread=0, process=-1, index=False)
    w.work("kernel", "void gemm_kernel<float, 128, 128>(float*, float const*, float const*, int)", 100_000, 400_001, 101,
           linked=3, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("kernel", "_Z5saxpyifPfS_", 600_000, 33_333, 102, linked=3, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1_400_000, 20_002, 103, linked=9, bytes=1024)
    w.work("kernel", "relu_kernel", 1_450_000, 3_001, 104, linked=6, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("kernel", "void gemm_kernel<float, 128, 128>(float*, float const*, float const*, int)", 2_800_000, 90_003, 105,
           linked=23, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("kernel", "crossing_kernel", 1_460_000, 7_000, 106, linked=11, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("gpu_memset", "Memset (Device)", 1_470_000, 4_000, 107, linked=10, bytes=64)
    w.work("kernel", "replayed_kernel", 1_480_000, 4_500, 108, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("kernel", "of_to", 1_490_000, 2_500, 109, linked=8, grid=[1, 1, 1], block=[32, 1, 1])
    w.work("cuda_sync", "Stream Sync", 1_500_000, 1_500, 110, linked=13)
    w.work("gpu_user_annotation", "ProfilerStep#3", 100_000, 2_790_003, 1, linked=1)
    w.work("gpu_user_annotation", "Pi", 1_480_000, 4_500, 17, linked=17)
    for time, size, device in [(11_000, 8192, 1), (12_000, 1024, 0), (1_106_000, 5 * 1024**2, 1),
                               (1_111_000, -3 * 1024**2, 1), (1_410_500, 7 * 1024**3, 6), (1_302_000, 100, 0),
                               (1_435_000, 2000, 20), (4_500_000, 33, 9), (1_510_000, 77, 2)]:
        w.moment("[memory]", time, size, device)
    w.moment("[memory]", 6_500_000, -500, 0)
    w.moment("[memory]", 6_600_000, 12, 1)
    w.moment("[OutOfMemory]", 1_800_000, 4096, 1)
    return w


def other_device(kind):
    """Work of another device."""
    w = Writer(kind, memory=False)
    w.call("aten::mm", 1_000, 50_001, 1, dims=[[4, 4], [4, 4]])
    w.api(f"{kind}Launch", 2_000, 10_001, 11, linked=1)
    if kind == "mtia":
        w.add("mtia_ccp_events", "mm_on_a_device", 40_000, 70_002, 3, {"correlation": 11, "External id": 1}, process=0,
              index=False)
    else:
        w.work("kernel", "mm_kernel", 40_000, 70_002, 11, linked=1)
    w.call("aten::add.Tensor", 60_000, 2_001, 2)
    w.moment("[memory]", 1_500, 512, 12)
    return w


def anything(seed):
    """Events of all kinds at random times; equal times are frequent."""
    choose = random.Random(seed)
    w = Writer(memory=choose.choice([None, True]))
    stacks = [[f"file{choose.randrange(2)}.py({line}): f" for line in range(choose.randrange(1, 8))] for _ in range(4)]
    for number in range(1, 46):
        start, length = choose.randrange(0, 60_000, 7), choose.choice([0, 1_000, 7_001, 30_003])
        kind = choose.choice(["cpu_op"] * 4 + ["user_annotation"])
        name = choose.choice(["op::a", "op::b", "op::c.Tensor", "aten::is_leaf", "ProfilerStep#1", "ProfilerStep#2",
                              "autograd::engine::evaluate_function: op::a"])
        w.call(name, start, length, choose.choice([number, number, number // 2]), choose.choice([PROCESS, 50, 51]),
               choose.choice([None, [[2, 3]], [[], [[4], [5]]]]), choose.choice(stacks + [()]),
               choose.choice([None, 1, 2, 3]), choose.choice([0, 0, 1, 2]), kind)
    for _ in range(8):
        w.add("python_function", choose.choice(["f.py(1): g", "nn.Module: Linear_0"]), choose.randrange(0, 60_000, 7),
              choose.choice([1_000, 20_003]), choose.choice([PROCESS, 50]), {"Python id": 1})
    for _ in range(25):
        w.api(choose.choice(["cudaLaunchKernel", "cudaMalloc"]), choose.randrange(0, 60_000, 7), choose.randrange(1, 900),
              choose.randrange(1, 40), choose.choice([None, choose.randrange(1, 50)]), choose.choice([PROCESS, 50]))
    for _ in range(25):
        w.work(choose.choice(["kernel", "kernel", "gpu_memcpy", "cuda_sync", "gpu_user_annotation"]),
               choose.choice(["kernel_x", "op::a", "_Z5saxpyifPfS_"]), choose.randrange(0, 90_000, 7),
               choose.randrange(1, 9000), choose.randrange(1, 40), choose.choice([None, choose.randrange(1, 50)]))
    for _ in range(30):
        w.moment("[memory]", choose.randrange(0, 70_000, 7), choose.randrange(-5000, 9000), choose.choice([0, 1, 9]),
                 choose.choice([PROCESS, 50]))
    return w


MADE = {"since_2": step(), "since_2_xpu": other_device("xpu"), "since_2_mtia": other_device("mtia"),
        "since_2_privateuse1": other_device("privateuse1"), **{f"since_2_anything_{seed}": anything(seed) for seed in range(3)}}


def tables_of(name):
    if name == "since_2":
        return [(by, sort, 100) for by in GROUPS for sort in (None, "cpu_time_total")] + [
            ((), key, 12) for key in SORT_KEYS] + [((), None, 1)]
    if name in MADE:
        return [((), None, 100), (("shape",), "self_device_time_total", 40), (("stack",), "cpu_time_total", 20),
                (("overload", "shape"), "count", 30)]
    return [((), None, 100), (("shape", "stack"), "cpu_time_total", 10)]


def write_tables(path, name):
    events = events_of(load(path))
    text = "".join(ask(*one) + "\n" + table(events, *one) for one in tables_of(name))
    (FOLDER / f"{name}.2.13.txt").write_text(text, encoding="utf-8")


def lines_of(folder, traces):
    """For scripts/check_torch_tables.py."""
    for path in sorted(folder.glob(traces)):
        document = load(path)
        if not isinstance(document, dict) or "traceEvents" not in document:
            continue
        events = events_of(document)
        for one in TRACE_TABLES:
            text = table(events, *one)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            yield f"{path.relative_to(folder)} {len(text.splitlines())} {digest} {ask(*one)}\n"
        print(path.relative_to(folder), file=sys.stderr)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--corpus", type=pathlib.Path)
    options = options.parse_args()
    assert torch.__version__.startswith("2.13"), torch.__version__
    assert sys.version_info < (3, 12), "sum() of later Pythons adds floats in another way"
    for name, writer in MADE.items():
        writer.write(FOLDER / f"{name}.json")
    for path in sorted(FOLDER.glob("*.json")):
        write_tables(path, path.stem)
    project = FOLDER.parents[2]
    (FOLDER / "examples.2.13.txt").write_text("".join(lines_of(project, "examples/data/**/*.json.gz")), encoding="utf-8")
    if options.corpus:
        (FOLDER / "corpus.2.13.txt").write_text("".join(lines_of(options.corpus, "kineto/**/*.json.gz")), encoding="utf-8")


if __name__ == "__main__":
    main()
