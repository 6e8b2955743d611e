"""What torch.compile makes of a program, by inductor on the CPU.

All is compiled in begin(): what the compilers call then belongs to no program, and depends on what inductor finds
in its cache. The program `recompiled` has one compilation in it.
"""
import os
import sys
import sysconfig
import tempfile

import torch
from torch import nn

from common import program

_made = {}  # Program -> what it runs.


def begin():
    import torch._inductor.config as config

    config.compile_threads = 1
    # Inductor links with the folder of Python's library before PyTorch's: where that is the system's, and has
    # another PyTorch, it would be that one.
    sysconfig.get_config_vars()["LIBDIR"] = os.path.join(os.path.dirname(torch.__file__), "lib")
    for make in (training, recompiled, graph_break, eager_backend, compiled_optimizer, exported, tuned):
        torch.manual_seed(1)
        _made[make.__name__] = getattr(sys.modules[__name__], "make_" + make.__name__)()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 4)

    def forward(self, x):
        return self.second(self.first(x).relu())


def make_training():
    network = torch.compile(Net())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)

    def step():
        network(torch.rand(8, 16)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    return step


@program
def training():
    for _ in range(2):
        _made["training"]()


def make_recompiled():
    function = torch.compile(lambda x, y: (x @ y).sin() + 1)
    function(torch.rand(4, 8), torch.rand(8, 3))
    return function


@program
def recompiled():
    """Other sizes: a guard fails, the next version takes any."""
    for rows in (4, 5, 6):
        _made["recompiled"](torch.rand(rows, 8), torch.rand(8, 3))


def make_graph_break():
    def function(x):
        y = x @ x
        torch._dynamo.graph_break()
        return y.cos() @ x

    compiled = torch.compile(function)
    compiled(torch.rand(6, 6))
    return compiled


@program
def graph_break():
    _made["graph_break"](torch.rand(6, 6))


def make_eager_backend():
    networks = [torch.compile(Net(), backend=backend) for backend in ("eager", "aot_eager")]
    for network in networks:
        network(torch.rand(8, 16)).sum().backward()
    return networks


@program
def eager_backend():
    """Dynamo alone, and with autograd's part ahead of time: the ops are those that the program calls."""
    for network in _made["eager_backend"]:
        network(torch.rand(8, 16)).sum().backward()


def make_compiled_optimizer():
    network = nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(network.parameters(), foreach=True)
    compiled = torch.compile(lambda: optimizer.step())

    def step():
        network(torch.rand(2, 4)).sum().backward()
        compiled()

    for _ in range(2):
        step()
    return step


@program
def compiled_optimizer():
    _made["compiled_optimizer"]()


def make_exported():
    made = torch.export.export(Net(), (torch.rand(8, 16),))
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = torch._inductor.aoti_compile_and_package(made, package_path=os.path.join(folder, "net.pt2"))
        return made.module(), torch._inductor.aoti_load_package(path)


@program
def exported():
    for network in _made["exported"]:
        with torch.no_grad():
            network(torch.rand(8, 16))


def make_tuned():
    network = torch.compile(Net().eval(), mode="max-autotune-no-cudagraphs")
    with torch.no_grad():
        network(torch.rand(8, 16))
    return network


@program
def tuned():
    with torch.no_grad():
        _made["tuned"](torch.rand(8, 16))
