#!/usr/bin/python3
"""Makes the traces of this folder and the tables that PyTorch 1.13 prints for them.

    apt-get install python3-torch    # 1.13.1 of Debian 12, which has no Kineto
    /usr/bin/python3 make_tables.py

Each trace is made up. It is written as a file of Kineto's (NAME.json) and built as a list of
torch.autograd.profiler_util.FunctionEvent, as PyTorch's profiler does it; NAME.txt holds what
EventList.key_averages().table() prints for it, each table behind a line that says how it was asked
for: "@ by=shape,stack sort=cpu_time limit=3".
"""

import json
import pathlib
import random

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEvent, _filter_name, _rewrite_name

FOLDER = pathlib.Path(__file__).parent
PROCESS = 42
SORT_KEYS = [
    "cpu_time", "cuda_time", "cpu_time_total", "cuda_time_total", "count", "self_cpu_time_total",
    "self_cuda_time_total", "cpu_memory_usage", "cuda_memory_usage", "self_cpu_memory_usage",
    "self_cuda_memory_usage",
]
STACK_FRAMES = 5


class Call:
    """A call of an operator; times in us."""

    def __init__(self, name, start, duration, thread=1, dims=None, stack=(), sequence=-1,
                 forward_thread=0, backward=False):
        self.name = name
        self.start = start
        self.end = start + duration
        self.thread = thread
        self.dims = dims  # Of tensors lists, of others [].
        self.stack = list(stack)  # "file.py(10): function", innermost first.
        self.sequence = sequence
        self.forward_thread = forward_thread
        self.backward = backward


class Work:
    """Something that a GPU did, launched at a time by a thread; None: nobody knows by whom."""

    def __init__(self, name, start, duration, launch=None, thread=1, category="kernel"):
        self.name = name
        self.start = start
        self.end = start + duration
        self.launch = launch
        self.thread = thread
        self.category = category


class Memory:
    """Memory taken (or, below 0, given back)."""

    def __init__(self, time, size, device=-1, thread=1):
        self.time = time
        self.size = size
        self.device = device
        self.thread = thread


def frame_text(frame):
    """As a stack shows it: "file.py:10"."""
    place = frame.split("): ")[0]
    file, line = place.rsplit("(", 1)
    return f"{file}:{line}"


class Trace:
    def __init__(self, calls=(), work=(), memory=()):
        self.calls = list(calls)
        self.work = list(work)
        self.memory = list(memory)

    def document(self):
        events = []

        def add(category, name, process, thread, start, end, args):
            events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
                           "ts": start, "dur": end - start, "args": args})

        # So that a trace without anything is one of PyTorch's profiler, too.
        add("user_annotation", "recording", PROCESS, 99, 0, 1, {})
        for number, call in enumerate(self.calls):
            args = {"External id": number + 1}
            if call.dims is not None:
                args["Input Dims"] = call.dims
                args["Input type"] = ["float" if dims else "Scalar" for dims in call.dims]
            if call.stack:
                args["Call stack"] = ";".join(call.stack)
            if call.sequence >= 0:
                args["Sequence number"] = call.sequence
                args["Fwd thread id"] = call.forward_thread
            add("cpu_op", call.name, PROCESS, call.thread, call.start, call.end, args)
        for number, work in enumerate(self.work):
            args = {"device": 0, "context": 1, "stream": 7}
            if work.launch is not None:
                args["correlation"] = number + 1
                add("cuda_runtime", "cudaLaunchKernel", PROCESS, work.thread, work.launch,
                    work.launch + 0.5, {"correlation": number + 1})
            if work.category == "kernel":
                args.update({"grid": [1, 1, 1], "block": [32, 1, 1]})
            else:
                args["bytes"] = 1024
            add(work.category, work.name, 0, 7, work.start, work.end, args)
        for memory in self.memory:
            events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
                           "pid": PROCESS, "tid": memory.thread, "ts": memory.time,
                           "args": {"Device Type": 0 if memory.device < 0 else 1,
                                    "Device Id": memory.device, "Addr": 4096,
                                    "Bytes": memory.size}})
        return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Made up"}],
                "traceEvents": events}

    def events(self):
        """What torch.autograd.profiler makes of the records of such a run."""
        all_events = []
        taken = set()

        def usage(start, end, device):
            total = 0
            for number, memory in enumerate(self.memory):
                if start <= memory.time <= end:
                    taken.add(number)
                    if (memory.device >= 0) == device:
                        total += memory.size
            return total

        functions = {}
        for number, call in enumerate(self.calls):
            if _filter_name(call.name):
                continue
            event = FunctionEvent(
                id=number + 1, name=_rewrite_name(call.name, with_wildcard=True),
                thread=call.thread, start_us=call.start, end_us=call.end,
                fwd_thread=call.forward_thread, input_shapes=call.dims or [],
                stack=[frame_text(frame) for frame in call.stack],
                scope=1 if call.backward else 0,
                cpu_memory_usage=usage(call.start, call.end, False),
                cuda_memory_usage=usage(call.start, call.end, True), sequence_nr=call.sequence)
            functions[number] = event
            all_events.append(event)
        for number, work in enumerate(self.work):
            name = _rewrite_name(work.name)
            all_events.append(FunctionEvent(
                id=1000 + number, name=name, thread=7, start_us=work.start, end_us=work.end,
                input_shapes=[], stack=[], device_type=DeviceType.CUDA))
            if work.launch is None:
                continue
            # The innermost call around the launch, which began last.
            around = [place for place, call in enumerate(self.calls)
                      if call.thread == work.thread and call.start <= work.launch < call.end]
            if around:
                innermost = max(around, key=lambda place: self.calls[place].start)
                if innermost in functions:
                    functions[innermost].append_kernel(name, 0, work.end - work.start)
        for number, memory in enumerate(self.memory):
            if number in taken:
                continue
            all_events.append(FunctionEvent(
                id=2000 + number, name="[memory]", thread=memory.thread, start_us=memory.time,
                end_us=memory.time, input_shapes=[], stack=[],
                cpu_memory_usage=memory.size if memory.device < 0 else 0,
                cuda_memory_usage=memory.size if memory.device >= 0 else 0))
        all_events.sort(key=lambda event: [event.time_range.start, -event.time_range.end])
        events = EventList(all_events, use_cuda=bool(self.work), profile_memory=bool(self.memory))
        events._build_tree()
        return events


def network():
    """A step of a small network: every rule of the tables once."""
    stack = ["model.py(40): forward", "train.py(12): step", "train.py(30): main"]
    deep = [f"package/some_directory/another_directory/yet_another_directory/module_{i}.py({i}): f"
            for i in range(7)]
    calls = [
        Call("aten::linear", 100, 1500, dims=[[32, 128], [64, 128], [64]], stack=stack, sequence=3),
        Call("aten::t", 150, 50, dims=[[64, 128]], stack=stack),
        Call("aten::addmm", 300, 1200, dims=[[64], [32, 128], [128, 64]], stack=stack),
        # One call inside, of the same name: made one, with what the inner one launched.
        Call("aten::relu", 2000, 400, dims=[[32, 64]], stack=deep),
        Call("aten::relu", 2050, 300, dims=[[32, 64]], stack=deep),
        Call("aten::clamp_min", 2100, 200, dims=[[32, 64]], stack=deep),
        # Two calls inside of the same name stay.
        Call("aten::matmul", 2500, 500, dims=[[8, 8], [8, 8]]),
        Call("aten::matmul", 2510, 100, dims=[[8, 8], [8, 8]]),
        Call("aten::matmul", 2700, 100, dims=[[8, 8], [8, 8]]),
        # A look-up is left out: what is in it is its caller's.
        Call("aten::to", 3100, 300, dims=[[4]]),
        Call("aten::is_leaf", 3120, 200),
        Call("aten::_to_copy", 3150, 100, dims=[[4]]),
        # Crossing calls are no parts of each other.
        Call("my::first", 3500, 300, dims=[[1, 2], [], [3]]),
        Call("my::second", 3700, 400, dims=[[1, 2], [], [4]]),
        Call("my::third", 3720, 50, dims=[[1]]),
        Call("my::third", 3900, 50, dims=[[1]]),
        # Crossing inside another: the self time is less than what is not covered.
        Call("my::around", 4200, 400),
        Call("my::left", 4250, 150),
        Call("my::right", 4300, 200),
        # Without a length, at the end of another, which is no parent of it.
        Call("my::whole", 5000, 10),
        Call("my::empty", 5010, 0),
        Call("a_name_of_an_operator::that_is_longer_than_the_column_of_names_can_be", 5100, 2),
        Call("a_name_of_an_operator::that_is_as_long_as_is_not_", 5110, 2),
        Call("a_name_of_an_operator::that_is_as_long_as_is_cut_off", 5120, 2),
        Call("my::long_shapes", 5130, 3, dims=[[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]] * 3),
        Call("slow::operator", 10000, 2500000, thread=2, dims=[[1]]),
        Call("autograd::engine::evaluate_function: MmBackward0", 6000, 900, thread=3, sequence=3,
             forward_thread=1),
        Call("MmBackward0", 6050, 800, thread=3, sequence=3, forward_thread=1,
             backward=True),
        Call("aten::mm", 6100, 700, thread=3, dims=[[32, 64], [64, 128]]),
    ]
    work = [
        Work("void gemm_kernel<float, 128, 128>(float*, float const*, float const*, int)", 2000,
             5000, 400),
        Work("relu_kernel", 7000, 30, 2150),
        Work("fill_kernel", 7030, 3, 2010),
        Work("Memcpy HtoD (Pageable -> Device)", 7100, 20, 3130, category="gpu_memcpy"),
        Work("Memcpy HtoD (Pageable -> Device)", 7130, 20, 3160, category="gpu_memcpy"),
        Work("Memset (Device)", 7200, 4, 3510, category="gpu_memset"),
        Work("crossing_kernel", 7300, 7, 3750),
        Work("größer_als", 7400, 8),
        Work("slow_kernel", 20000, 1500000, 11000, thread=2),
        Work("void gemm_kernel<float, 128, 128>(float*, float const*, float const*, int)", 1600000,
             900, 6200, thread=3),
    ]
    memory = [
        Memory(310, 8192, 0), Memory(320, 1024), Memory(2060, 5 * 1024**2, 0),
        Memory(2120, -3 * 1024**2, 0), Memory(2600, 7 * 1024**3, 0), Memory(3130, 100),
        Memory(4260, 2000, 0, thread=2), Memory(9000, 12, 0), Memory(9100, -500),
        Memory(6300, 512 * 1024, 0, thread=3), Memory(5010, 77),
    ]
    return Trace(calls, work, memory)


def without(trace, *parts):
    """The same with less."""
    calls = trace.calls
    if "shapes" in parts or "stacks" in parts:
        calls = [Call(call.name, call.start, call.end - call.start, call.thread,
                      None if "shapes" in parts else call.dims,
                      () if "stacks" in parts else call.stack, call.sequence, call.forward_thread,
                      call.backward) for call in trace.calls]
    return Trace(calls, [] if "work" in parts else trace.work,
                 [] if "memory" in parts else trace.memory)


def anything(seed):
    """Calls, kernels and memory at random times, of which no two are the same."""
    choose = random.Random(seed)
    times = iter(choose.sample(range(1, 4000), 400))
    calls = []
    for _ in range(40):
        start = next(times) / 4
        duration = choose.choice([1.25, 10.5, 70.75, 300.5]) + choose.randrange(40) / 4
        stack = [f"file{choose.randrange(2)}.py({choose.randrange(3)}): f" for _ in range(3)]
        calls.append(Call(f"op::{choose.choice('abc')}", start, duration, choose.randrange(1, 3),
                          choose.choice([None, [[2, 3]], [[], [4]]]),
                          choose.choice([stack[:1], stack])))
    work = [Work(f"kernel_{choose.choice('xy')}", 1000 + next(times),
                 choose.randrange(1, 400) / 4, choose.choice([None, next(times) / 4]),
                 choose.randrange(1, 3)) for _ in range(20)]
    memory = [Memory(next(times) / 4, choose.randrange(-5000, 9000), choose.randrange(-1, 1),
                     choose.randrange(1, 3)) for _ in range(25)]
    return Trace(calls, work, memory)


def table(events, by=(), sort=None, limit=100):
    averages = events.key_averages("shape" in by, STACK_FRAMES if "stack" in by else 0)
    head = "@"
    if by:
        head += " by=" + ",".join(by)
    if sort:
        head += " sort=" + sort
    if limit != 100:
        head += f" limit={limit}"
    return head + "\n" + averages.table(sort_by=sort, row_limit=limit)


GROUPS = [(), ("shape",), ("stack",), ("shape", "stack")]


def write(name, trace, tables):
    with open(FOLDER / f"{name}.json", "w", encoding="utf-8") as file:
        document = trace.document()
        events = document.pop("traceEvents")
        lines = ",\n".join(json.dumps(event) for event in events)
        file.write(json.dumps(document)[:-1] + ', "traceEvents": [\n' + lines + "\n]}\n")
    with open(FOLDER / f"{name}.txt", "w", encoding="utf-8") as file:
        file.write("".join(table(trace.events(), *args) for args in tables))


def main():
    assert torch.__version__.startswith("1.13"), torch.__version__
    whole = network()
    write("network", whole,
          [((), None)] + [((), key, 12) for key in SORT_KEYS] + [(by, "cpu_time_total") for by in GROUPS[1:]] +
          [(("shape",), None), (("stack",), None), ((), "self_cuda_time_total", 3), ((), None, 1)])
    write("no_work", without(whole, "work"), [((), None), (("shape",), "self_cpu_memory_usage")])
    write("no_memory", without(whole, "memory"), [((), "count"), (("stack",), "cuda_time")])
    write("no_arguments", without(whole, "shapes", "stacks", "memory"), [(by, None) for by in GROUPS])
    write("kernels", Trace(work=[Work("a", 1, 2), Work("b", 4, 1)]), [((), None)])
    write("nothing", Trace(), [((), None), (("shape", "stack"), "cpu_time")])
    for seed in range(3):
        write(f"anything_{seed}", anything(seed), [(by, "cpu_time_total") for by in GROUPS[:3]] +
              [(GROUPS[3], None), ((), "self_cuda_memory_usage")])


if __name__ == "__main__":
    main()
