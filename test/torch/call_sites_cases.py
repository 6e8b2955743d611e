"""Ops that are called in every way there is: call_sites_cases.py COMMAND. A line with "# at WORD" is
where the ops that the tests call WORD are called."""
import sys
import threading

import torch
from torch.utils.checkpoint import checkpoint


def ones():
    return torch.ones(2, 3)


def outer(x):
    return x.sin()  # at sine


def plain():
    x = ones()
    outer(x)  # at first
    outer(x)  # at second
    x.add_(1); x.cos()  # at in-place
    y = x.tan(); z = y.atan()  # at two


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x).tanh()  # at tanh


def training():
    network = torch.nn.Sequential(Block())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    loss = torch.nn.functional.mse_loss(network(ones()), ones())  # at loss
    loss.backward()  # at backward
    optimizer.step()  # at step


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin() * x  # at function

    @staticmethod
    def backward(ctx, gradient):
        return gradient.cos()  # at function backward


def hook(gradient):
    return gradient.tan()  # at hook


def functions():
    x = ones().requires_grad_()
    y = x.exp()
    y.register_hook(hook)
    Cube.apply(y).sum().backward()  # at apply


def recomputed():
    x = ones().requires_grad_()
    checkpoint(outer, x, use_reentrant=False).sum().backward()  # at checkpoint


def deep():
    def descend(depth):
        if depth == 0:
            return ones().sin()  # at bottom
        return descend(depth - 1)  # at descent

    descend(100)


def deep_modules():
    class Nested(torch.nn.Module):
        def forward(self, x, depth):
            if depth == 0:
                return x.sin()  # at bottom
            return self(x, depth - 1)  # at descent

    Nested()(ones(), 80)


def threads():
    """Threads that run Python between ops wait for one another all the time."""
    x = ones()
    started = threading.Barrier(4)

    def work():
        started.wait()
        for _ in range(300):
            sum(range(100))
            outer(x)  # at thread

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def raising():
    """An exception that is on its way stays what it is."""

    class Closing:
        def __del__(self):
            ones().sin()  # at del

    def fail():
        closing = Closing()
        raise KeyError("of the user")

    try:
        fail()
    except KeyError as error:
        ones().cos()  # at except
        assert error.args == ("of the user",)
    try:
        ones().mm(ones())
    except RuntimeError:
        ones().tan()  # at error


def many():
    """More stacks than are kept."""
    for i in range(700):
        exec(compile("ones().neg()\n" * 100, f"many{i}.py", "exec"), globals())


if __name__ == "__main__":
    globals()[sys.argv[1]]()
