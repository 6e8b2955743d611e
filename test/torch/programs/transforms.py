"""What stands between a call and the call that does the work."""
import warnings

import torch
from torch import nn

from common import program
from subclass import Sharded


def begin():
    torch.set_num_interop_threads(1)  # forked_script() counts on it.


@program
def autocast():
    linear = nn.Linear(64, 32, bias=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        linear(torch.rand(64, 64)).float().sum().backward()
        network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 4))
        nn.functional.cross_entropy(network(torch.rand(2, 1, 8, 8)), torch.tensor([0, 1])).backward()


@program
def vmapped():
    from functorch import grad, jacrev, vmap

    vmap(torch.mm)(torch.rand(16, 32, 32), torch.rand(16, 32, 16))
    vmap(vmap(torch.dot))(torch.rand(2, 3, 4), torch.rand(2, 3, 4))
    weight = torch.rand(3, 3)
    loss = lambda x: (weight @ x).tanh().sum()
    vmap(grad(loss))(torch.rand(5, 3))
    jacrev(lambda x: x.sin() * weight[0])(torch.rand(3))
    vmap(lambda x: nn.functional.linear(x, weight).relu().sum(), in_dims=1)(torch.rand(3, 5))


@program
def wrapper_subclass():
    x = Sharded(torch.rand(4, 8))
    weight = torch.rand(8, 16)
    torch.mm(x, weight)
    torch.relu(x + 1).mul(2)
    nn.functional.linear(x, weight.t())


@program
def subclass_with_function():
    class Logs(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, inputs=(), keywords=None):
            return super().__torch_function__(function, types, inputs, keywords or {})

    x = torch.rand(3, 3).as_subclass(Logs)
    (x @ x).exp().sum()


@program
def python_dispatch_mode():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Doubles(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, inputs=(), keywords=None):
            return function(*inputs, **(keywords or {}))

    with Doubles():
        torch.rand(2, 3).mm(torch.rand(3, 2)).sum()


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 3)
        self.gate = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

    def forward(self, x):
        y = self.hidden(x)
        if bool(y.sum() > 100):
            y = y.neg()
        return self.gate(x) * y


@program
def scripted():
    cell = torch.jit.script(Cell())
    for _ in range(3):  # Profiled, optimised, run.
        cell(torch.rand(2, 3)).sum().backward()

    @torch.jit.script
    def loop(x: torch.Tensor, count: int):
        for i in range(count):
            x = torch.relu(x * 2 + i)
        return x, x.size(0)

    loop(torch.rand(2), 3)


@program
def traced():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cell = torch.jit.trace(Cell(), torch.rand(2, 3))
    for _ in range(3):
        cell(torch.rand(2, 3)).sum().backward()
    frozen = torch.jit.freeze(torch.jit.trace(nn.Sequential(nn.Linear(3, 2), nn.ReLU()).eval(), torch.rand(2, 3)))
    frozen(torch.rand(2, 3))


@program
def script_in_a_module():
    """A scripted module as a part of one that is not."""

    class Holds(nn.Module):
        def __init__(self):
            super().__init__()
            self.scripted = torch.jit.script(Cell())
            self.out = nn.Linear(3, 1)

        def forward(self, x):
            return self.out(self.scripted(x))

    Holds()(torch.rand(2, 3)).sum().backward()


@program
def forked_script():
    @torch.jit.script
    def work(x: torch.Tensor):
        return torch.relu(x) + 1

    @torch.jit.script
    def both(x: torch.Tensor):
        first = torch.jit.fork(work, x)
        second = work(x.neg())
        return torch.jit.wait(first) + second

    x = torch.rand(2, 3)
    both(x)
    # Its range ends on the one other thread, some time after the wait. What that thread did next came after.
    torch._C._autograd._enable_record_function(False)
    both(x)
    torch._C._autograd._enable_record_function(True)


@program
def functionalised():
    from functorch import functionalize, make_fx

    def steps(x):
        y = x.clone()
        y[0].add_(1)
        return y.mul_(2)

    functionalize(steps)(torch.rand(2, 3))
    make_fx(lambda x: torch.relu(x).sum())(torch.rand(2))
