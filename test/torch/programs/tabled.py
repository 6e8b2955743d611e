"""Programs for tables.py: what the tables of torch.profiler have rules for, and other families do not do."""
import threading

import torch
from torch.profiler import record_function

from common import program


def train_once(name):
    with record_function(name):
        x = torch.rand(8, 8, requires_grad=True)
        (x @ x).relu().sum().backward()


@program
def threads():
    running = [threading.Thread(target=train_once, args=(f"thread {number}",)) for number in range(3)]
    for thread in running:
        thread.start()
    train_once("main thread")
    for thread in running:
        thread.join()


@program
def names():
    """Labels that are names of types, that repeat, and that are as long as columns."""
    for name in ("Pi", "f", "_Z5saxpyifPfS_", "ProfilerStep#7", "forward.of_a.label", "x" * 51, "x" * 52, "x" * 60):
        with record_function(name), record_function(name):
            torch.ones(2)
    with record_function("twice"):
        with record_function("twice"):
            pass
        with record_function("twice"):
            pass


@program
def lists_of_tensors():
    parts = [torch.rand(2, 3), torch.rand(4, 3)]
    torch.cat(parts)
    torch.stack(parts[:1] * 3)
    torch._foreach_add(parts, parts)
    torch.broadcast_tensors(*[part[:1] for part in parts])


@program
def memory_of_others():
    """Taken before, given back inside, and none."""
    kept = [torch.rand(300, 300) for _ in range(3)]
    with record_function("frees"):
        kept.clear()
    torch.rand(0)
    torch.rand(1024, 1024)
