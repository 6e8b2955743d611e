"""Small networks, one for each thing that the tests beside this look at: python_cases.py COMMAND."""
import sys
import threading

import torch
from torch.utils.checkpoint import checkpoint


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.fails = False

    def forward(self, x):
        y = self.inner(x)
        if self.fails:
            raise ValueError("of the user")
        return torch.relu(y)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.again = self.first  # A second path to the same module.

    def forward(self, x):
        return self.again(self.second(self.first(x))).sum()


def layers():
    Network()(torch.ones(2, 3)).backward()


def exception():
    """Leaves modules by an exception, at two depths, and goes on."""
    network = Network()
    for block in (network.first, network.second):
        block.fails = True
        try:
            network(torch.ones(2, 3))
        except ValueError:
            block.fails = False
    network(torch.ones(2, 3))


def caught_inside():
    """The module around the one that fails goes on."""

    class Careful(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.risky = Block()
            self.safe = torch.nn.Linear(3, 3)
            self.risky.fails = True

        def forward(self, x):
            try:
                return self.risky(x)
            except ValueError:
                return self.safe(x)

    Careful()(torch.ones(2, 3))


def added_later():
    """Modules that the root does not have when it first runs, or never."""
    network = torch.nn.Sequential(torch.nn.Linear(3, 3))
    network(torch.ones(2, 3))
    network.add_module("late", torch.nn.ReLU())
    network(torch.ones(2, 3))

    class Homeless(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = [torch.nn.ReLU()]

        def forward(self, x):
            return self.hidden[0](x)

    Homeless()(torch.ones(2, 3))


def threads():
    """Two threads, each with its own stack of layers, as in DataParallel."""
    networks = [torch.nn.Sequential(torch.nn.Linear(3, 3)), torch.nn.Sequential(torch.nn.ReLU())]
    for network in networks:
        thread = threading.Thread(target=network, args=(torch.ones(2, 3),))
        thread.start()
        thread.join()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3 * ctx.saved_tensors[0] ** 2


def custom():
    x = torch.ones(2, 3, requires_grad=True)
    Cube.apply(x.exp()).sum().backward()


def reentrant_checkpoint():
    x = torch.ones(2, 3, requires_grad=True)
    checkpoint(lambda y: y.sin().tanh(), x.exp(), use_reentrant=True).sum().backward()


def other_checkpoint():
    x = torch.ones(2, 3, requires_grad=True)
    checkpoint(lambda y: y.sin().tanh(), x.exp(), use_reentrant=False).sum().backward()


def window():
    import oplens_annotate

    oplens_annotate.stop()
    torch.ones(2).neg()
    oplens_annotate.start()
    torch.ones(2).abs()


globals()[sys.argv[1]]()
