"""profiled_run.py FAMILY FOLDER: runs the programs of a family under torch.profiler, with all that it can record.

Writes into FOLDER, N being the rank: N.json, as Kineto writes it; N.python.json, as PyTorch's own writer does;
N.execution.json, the execution trace; N.counts.json, what the profiler itself counted: {"calls": {NAME: COUNT},
"memory": COUNT, "python": whether its own writer came to an end}.
FAMILY "inductor" is a compiled network, whose CPU kernels are recorded.
"""
import collections
import importlib
import json
import os
import pathlib
import sys

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, record_function

import common


def compiled_network():
    """What inductor makes of a network, with a record of each of its kernels."""
    import sysconfig

    import torch._inductor.config as config

    config.compile_threads = 1
    config.cpp.enable_kernel_profile = True
    sysconfig.get_config_vars()["LIBDIR"] = os.path.join(os.path.dirname(torch.__file__), "lib")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.second = torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4)

        def forward(self, x):
            return self.second(torch.nn.functional.gelu(self.norm(self.first(x)))).softmax(-1)

    network = torch.compile(Net())
    network(torch.rand(8, 16)).sum().backward()

    @common.program
    def training():
        network(torch.rand(8, 16)).sum().backward()


def name_of(event):
    try:
        return event.name()
    except UnicodeDecodeError:  # 2.13 has names of Python's functions that are no texts.
        return ""


def counts_of(profiler):
    events = profiler.profiler.kineto_results.events()
    calls = collections.Counter(name_of(event) for event in events if event.activity_type() == "cpu_op")
    return {"calls": calls, "memory": sum(name_of(event) == "[memory]" for event in events)}


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rank, process = os.environ.get("RANK", "0"), os.getpid()
    torch.set_num_threads(1)
    if name == "inductor":
        compiled_network()
    else:
        getattr(importlib.import_module(name), "begin", lambda: None)()
    trace = ExecutionTraceObserver().register_callback(str(folder / f"{rank}.execution.json"))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True,
                 with_flops=True, with_modules=True, execution_trace_observer=trace) as profiler:
        for program, function in common.PROGRAMS.items():
            torch.manual_seed(1)
            with record_function(f'program "{program}" {{"device": "cpu"}}'):
                function()
            if os.getpid() != process:
                os._exit(0)
    counts = counts_of(profiler)
    profiler.export_chrome_trace(str(folder / f"{rank}.json"))
    try:
        profiler.export_chrome_trace(str(folder / f"{rank}.python.json"), use_python_export=True)
        counts["python"] = True
    except UnicodeDecodeError:  # A name that is no text: 2.13 stops in the middle of the file.
        counts["python"] = False
    (folder / f"{rank}.counts.json").write_text(json.dumps(counts), encoding="utf-8")
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
