"""Tables that PyTorch 2.13 makes of the events of a Kineto trace.

The events of the file become what torch.autograd.profiler.profile._parse_kineto_results is given, and
PyTorch's own code does the rest. What a file does not say is filled in by the rules of
docs/views_torch.md ("What a trace does not hold").
"""

import decimal
import gzip
import json
import types

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler import profile
from torch.autograd.profiler_util import EventList, FunctionEvent

STACK_FRAMES = 5
HOST_CATEGORIES = {"cpu_op", "operator", "user_annotation", "python_function", "overhead", "collective_comm", "runtime",
                   "driver", "cuda_driver", "xpu_driver", "privateuse1_driver"}
GPU_CATEGORIES = {"kernel", "memcpy", "gpu_memcpy", "memset", "gpu_memset", "gpu_user_annotation", "cuda_sync",
                  "cuda_profiler_range"}
OTHER_DEVICES = {"mtia_ccp_events": DeviceType.MTIA, "mtia_insight": DeviceType.MTIA, "mtia_counters": DeviceType.MTIA,
                 "hpu_op": DeviceType.HPU}
# Whose number is that of a call that they belong to.
LINKED = {"kernel", "memcpy", "gpu_memcpy", "memset", "gpu_memset", "cuda_sync", "cuda_profiler_range", "driver",
          "cuda_driver", "xpu_driver", "privateuse1_driver"}
CALLS = {"cpu_op", "operator", "user_annotation", "python_function"}
OPERATORS = {"cpu_op", "operator"}
NODE = "autograd::engine::evaluate_function: "
MARKS_OF_2 = {"displayTimeUnit", "baseTimeNanoseconds"}


def kept(prop):
    """A property that is found once: PyTorch finds it again for all that is inside, each time."""
    key = "_kept_" + prop.fget.__name__

    def find(self):
        if key not in self.__dict__:
            self.__dict__[key] = prop.fget(self)
        return self.__dict__[key]

    return property(find)


FunctionEvent.device_time_total = kept(FunctionEvent.device_time_total)


def load(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as file:
        return json.load(file, parse_float=decimal.Decimal)


def number(value):
    """A whole number of 64 bits, or None."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() or isinstance(value, decimal.Decimal) and value % 1 == 0:
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63
    return value if whole else None


def nanoseconds(value):
    if isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool):
        return int((value * 1000).to_integral_value(decimal.ROUND_HALF_UP)) if isinstance(value, decimal.Decimal) else value * 1000
    return None


def is_name(text):
    return text != "" and text.isascii() and text.replace("_", "a").isalnum() and not text[0].isdigit()


def split_overload(name):
    """("aten::add", "Tensor") of "aten::add.Tensor"."""
    operator, point, overload = name.partition(".")
    space, colons, own = operator.partition("::")
    if point and colons and is_name(space) and is_name(own) and is_name(overload):
        return operator, overload
    return name, ""


class Event:
    """What the file says of an event, as _parse_kineto_results asks for it."""

    def __init__(self, record, place):
        args = record.get("args")
        args = args if isinstance(args, dict) else {}
        self.category = record.get("cat", "").lower() if isinstance(record.get("cat"), str) else ""
        self.start = nanoseconds(record.get("ts"))
        self.length = nanoseconds(record.get("dur", 0))
        self.text = record["name"]
        self.operator, self.overload = self.text, ""
        if self.category in OPERATORS:
            self.operator, self.overload = split_overload(self.text)
        order = number(args.get("Ev Idx"))
        self.place = (self.start, 2**63 if order is None else order, place)
        self.key = tuple(record.get(key) if number(record.get(key)) is None else number(record.get(key))
                         for key in ("pid", "tid"))
        self.thread = 0
        identity = number(args.get("External id", args.get("external id"))) or 0
        linked = self.category in LINKED or is_runtime(self.category)
        self.linked = max(identity, 0) if linked else 0
        self.identity = (number(args.get("correlation")) or 0) if linked else identity
        self.sequence, self.forward = -1, 0
        if self.category in OPERATORS:
            sequence = number(args.get("Sequence number"))
            self.sequence = -1 if sequence is None else sequence
            self.forward = number(args.get("Fwd thread id")) or 0
        dims = args.get("Input Dims", args.get("Input dims"))
        self.dims = []
        if self.category in OPERATORS and isinstance(dims, list):
            self.dims = [one if isinstance(one, list) and all(number(n) is not None for n in one) else []
                         for one in dims]
        stack = args.get("Call stack", "")
        self.frames = [frame for frame in stack.split(";") if frame] if isinstance(stack, str) else []
        self.bytes = number(args.get("Bytes"))
        self.on = number(args.get("Device Type")) or 0
        self.device = DeviceType.CPU

    def __getattr__(self, name):
        answers = {"name": self.operator, "overload_name": self.overload, "start_ns": self.start,
                   "end_ns": self.start + self.length, "correlation_id": self.identity,
                   "linked_correlation_id": self.linked, "start_thread_id": self.thread, "end_thread_id": self.thread,
                   "is_async": False, "is_hidden_event": False, "fwd_thread_id": self.forward, "shapes": self.dims,
                   "stack": self.frames, "scope": 0, "sequence_nr": self.sequence, "device_index": 0,
                   "is_user_annotation": self.category in ("user_annotation", "gpu_user_annotation"),
                   "is_python_function": self.category == "python_function", "cuda_elapsed_us": -1,
                   "privateuse1_elapsed_us": -1, "nbytes": self.bytes, "device_type": self.device}
        return lambda: answers.get(name)


def is_runtime(category):
    return category == "runtime" or category.endswith("_runtime")


def is_memory(record):
    return record.get("ph") in ("i", "I") and record.get("name") in ("[memory]", "[OutOfMemory]")


def is_taken(event):
    return (event.category in HOST_CATEGORIES or is_runtime(event.category) or event.category in GPU_CATEGORIES or
            event.category in OTHER_DEVICES)


class Recording:
    def __init__(self, document):
        records = document if isinstance(document, list) else document["traceEvents"]
        members = {} if isinstance(document, list) else document
        self.events = []
        starts = []
        for place, record in enumerate(records):
            if not isinstance(record, dict) or not isinstance(record.get("name"), str):
                continue
            if is_memory(record):
                event = Event(record, place)
                if event.start is not None and event.bytes is not None:
                    event.length = 0
                    event.device = self.memory_device(event.on)
                    event.category = "memory"
                    self.events.append(event)
                continue
            if record["name"] == "Iteration Start: PyTorch Profiler" and record.get("ph") in ("i", "I"):
                starts.append(nanoseconds(record.get("ts")))
            if record.get("ph") != "X" or "dur" not in record:
                continue
            event = Event(record, place)
            if event.start is None or event.length is None or event.length < 0:
                continue
            if event.category == "trace" and record["name"] == "PyTorch Profiler (0)":
                starts.append(event.start)
            if is_taken(event):
                self.events.append(event)
        self.events.sort(key=lambda event: event.place)
        starts = [start for start in starts if start is not None]
        self.start = min(starts) if starts else min((event.start for event in self.events), default=0)
        memory = number(members.get("profile_memory"))
        self.memory = memory != 0 if memory is not None else any(event.category == "memory" for event in self.events)
        self.find_devices()
        self.find_threads()

    @staticmethod
    def memory_device(kind):
        kinds = {int(value): value for name, value in DeviceType.__members__.items()}
        return kinds.get(kind, DeviceType.FPGA)

    def find_devices(self):
        categories = {event.category for event in self.events}
        gpu, self.use_device = DeviceType.CUDA, "cuda"
        if any(category.startswith("xpu_") for category in categories):
            gpu, self.use_device = DeviceType.XPU, "xpu"
        elif any(category.startswith("privateuse1_") for category in categories):
            gpu, self.use_device = DeviceType.PrivateUse1, "privateuseone"
        elif any(category.startswith("mtia_") for category in categories):
            self.use_device = "mtia"
        elif "hpu_op" in categories:
            self.use_device = "hpu"
        for event in self.events:
            if event.category in GPU_CATEGORIES:
                event.device = gpu
            elif event.category in OTHER_DEVICES:
                event.device = OTHER_DEVICES[event.category]
        if not any(event.category != "memory" and event.device != DeviceType.CPU for event in self.events):
            self.use_device = None

    def find_threads(self):
        threads = {}
        sequences = {}
        owner = {}
        for event in self.events:
            if event.category not in CALLS and event.category != "memory":
                continue
            event.thread = threads.setdefault(event.key, len(threads) + 1)
            if event.identity > 0:
                owner.setdefault(event.identity, event.thread)
            if event.category in OPERATORS and event.sequence >= 0 and event.forward == 0:
                sequences.setdefault(event.thread, set()).add(event.sequence)
        main = next((thread for key, thread in threads.items() if key[0] == key[1]), 1)
        forwards = {}
        for event in self.events:
            if event.thread == 0 and event.device == DeviceType.CPU:
                event.thread = owner.get(event.linked, main)
            if event.forward != 0:
                forwards.setdefault(event.forward, set()).add(event.sequence)
        known = {}
        for forward, wanted in forwards.items():
            best = max(sequences, key=lambda thread: (len(wanted & sequences[thread]), -thread), default=0)
            known[forward] = best if best and wanted & sequences[best] else -1
        for event in self.events:
            event.forward = known.get(event.forward, 0)

    def function_events(self):
        result = types.SimpleNamespace(events=lambda: self.events, trace_start_ns=lambda: self.start)
        profiler = types.SimpleNamespace(use_device=self.use_device)
        found = profile._parse_kineto_results(profiler, result)
        events = EventList(found, use_device=self.use_device, profile_memory=self.memory)
        events._populate_cpu_children()
        for event in events:
            called = event.cpu_parent is not None and event.cpu_parent.name == NODE + event.name
            if called or event.fwd_thread and not event.name.startswith(NODE):
                event.scope = 1
        events._remove_dup_nodes()
        events._set_backward_stacktraces()
        events._tree_built = True
        return events


def events_of(document):
    return Recording(document).function_events()


def ask(by=(), sort=None, limit=100):
    """How a table was asked for: "@ by=shape,stack sort=cpu_time limit=3"."""
    head = "@"
    if by:
        head += " by=" + ",".join(by)
    if sort:
        head += " sort=" + sort
    if limit != 100:
        head += f" limit={limit}"
    return head


def table(events, by=(), sort=None, limit=100):
    averages = events.key_averages("shape" in by, STACK_FRAMES if "stack" in by else 0, "overload" in by)
    return averages.table(sort_by=sort, row_limit=limit)
