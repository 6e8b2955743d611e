"""Runs a family of programs beside the observers: python3 -m oplens_annotate run.py FAMILY.

OPLENS_PROGRAMS_OBSERVER is libprograms_observer.so, OPLENS_PROGRAMS_OBSERVED the file that it writes (see
observer.cc), OPLENS_PROGRAMS_GRAPH the one of PyTorch's execution graph observer; without it there is
none. With OPLENS_PROGRAMS_EMIT, libprograms_emit_nvtx.so, programs run inside emit_nvtx too.
OPLENS_PROGRAMS_NAMES becomes the names that PyTorch's modules have; OPLENS_PROGRAMS_FLOPS, where programs return
numbers, these: the FLOPs of their products and convolutions. A family may have begin()
and end(). Each program stands in a range of its name, "program NAME".
"""
import contextlib
import ctypes
import importlib
import json
import os
import sys

import torch

import common
import layers

MODULES = {"torch": torch, "Tensor": torch.Tensor, "torch.nn.functional": torch.nn.functional}

observer = ctypes.CDLL(os.environ["OPLENS_PROGRAMS_OBSERVER"])


def emitting():
    """Around a program: emit_nvtx, where it is asked for."""
    if "OPLENS_PROGRAMS_EMIT" not in os.environ:
        return contextlib.nullcontext()
    ctypes.CDLL(os.environ["OPLENS_PROGRAMS_EMIT"])
    torch.cuda.synchronize = lambda: None
    return torch.autograd.profiler.emit_nvtx(record_shapes=True)


def main():
    family = importlib.import_module(sys.argv[1])
    torch.set_num_threads(1)
    layers.observe(observer)
    getattr(family, "begin", lambda: None)()
    graph = None
    if "OPLENS_PROGRAMS_GRAPH" in os.environ:
        # Its name in 1.13, and since.
        graph = getattr(torch.profiler, "ExecutionGraphObserver", None) or torch.profiler.ExecutionTraceObserver
        graph = graph()
        graph.register_callback(os.environ["OPLENS_PROGRAMS_GRAPH"])
        graph.start()
        # It would write into the file of its parent.
        os.register_at_fork(after_in_child=graph.stop)
    flops = {}
    for name, function in common.PROGRAMS.items():
        torch.manual_seed(1)
        observer.programs_observer_program(name.encode())
        with torch.autograd.profiler.record_function("program " + name), emitting():
            told = function()
        if isinstance(told, int):
            flops[name] = told
        observer.programs_observer_program(b"")
    if graph:
        graph.stop()
        graph.unregister_callback()
    getattr(family, "end", lambda: None)()
    if flops:
        with open(os.environ["OPLENS_PROGRAMS_FLOPS"], "w", encoding="utf-8") as file:
            json.dump(flops, file)
    with open(os.environ["OPLENS_PROGRAMS_NAMES"], "w", encoding="utf-8") as file:
        json.dump({name: dir(module) for name, module in MODULES.items()}, file)


if __name__ == "__main__":
    main()
