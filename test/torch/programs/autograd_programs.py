"""What the backward pass can be made to do."""
import contextlib
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from common import program


class Blocks(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(3))
        self.reentrant = reentrant

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=self.reentrant)
        return x


@program
def reentrant_checkpoint():
    Blocks(True)(torch.rand(2, 3, requires_grad=True)).sum().backward()


@program
def other_checkpoint():
    Blocks(False)(torch.rand(2, 3, requires_grad=True)).sum().backward()


@program
def sequential_checkpoint():
    network = nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)])
    checkpoint_sequential(network, 2, torch.rand(2, 3, requires_grad=True)).sum().backward()


@program
def custom_function():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * x * x * factor

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3 * ctx.saved_tensors[0].square() * ctx.factor, None

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.mul(2)

    x = torch.rand(2, 3, requires_grad=True)
    Outer.apply(Cube.apply(x.exp(), 2.5).sin()).sum().backward()


@program
def double_backward():
    x, weight = torch.rand(2, 3, requires_grad=True), torch.rand(3, 3, requires_grad=True)
    y = torch.tanh(x @ weight).pow(3).sum()
    gradient, = torch.autograd.grad(y, x, create_graph=True)
    gradient.norm(dim=1).sub(1).square().mean().backward()


@program
def gradient_hooks():
    layer = nn.Linear(3, 3)
    layer.register_full_backward_hook(lambda module, into, out: (into[0] * 2,))
    layer.weight.register_hook(lambda gradient: gradient.clamp(-1, 1))
    layer.register_forward_hook(lambda module, inputs, output: output.relu())
    layer.register_forward_pre_hook(lambda module, inputs: (inputs[0].sin(),))
    x = torch.rand(2, 3, requires_grad=True)
    y = layer(x.exp())
    y.retain_grad()
    y.register_hook(lambda gradient: gradient.neg())
    (y.sum() + y.mean()).backward()
    y.grad_fn.register_hook(lambda into, out: None)


@program
def accumulation():
    """Gradients from several places, and of several backward passes."""
    weight = torch.rand(3, 3, requires_grad=True)
    for _ in range(2):
        x = torch.rand(2, 3)
        y = x @ weight
        z = y @ weight
        (y.sum() + z.sum() + weight.abs().sum()).backward(retain_graph=True)
        z.sum().backward()


@program
def in_place():
    x = torch.rand(4, 3, requires_grad=True)
    y = x * 2
    y.add_(1).mul_(2)
    y[0] = 5
    y[:, 1].mul_(3)
    y.narrow(0, 1, 2).copy_(torch.ones(2, 3))
    view = y.view(3, 4)
    view[1].neg_()
    y.clamp_(min=0.1)
    y.index_add_(0, torch.tensor([0, 2]), torch.ones(2, 3), alpha=2)
    y.masked_fill_(torch.zeros(4, 3, dtype=torch.bool), 7.5)
    y[1:].sigmoid_()
    y = y + torch.relu_(x * 3)
    y.sum().backward()


@program
def views():
    x = torch.rand(2, 3, 4, requires_grad=True)
    parts = [x.view(6, 4), x.permute(2, 0, 1), x.transpose(0, 1), x[1], x[..., ::2], x.unsqueeze(1),
             x.narrow(2, 1, 2), x.expand(5, 2, 3, 4), x.diagonal(0, 1, 2), x.unfold(2, 2, 1), x.flatten(1),
             x.reshape(-1), x.select(0, 1), x.movedim(0, 2), x.unflatten(2, (2, 2)), x.mT, x.squeeze(),
             x.as_strided((2, 2), (4, 1)), x.swapaxes(0, 1), x.view_as(x), x.ravel()]
    parts += list(x.split(2, 2)) + list(x.chunk(2)) + list(x.unbind(1)) + list(torch.tensor_split(x, 3, 1))
    sum(part.sum() for part in parts).backward()


@program
def modes():
    """Without gradients in several ways."""
    weight = torch.rand(3, 3, requires_grad=True)
    with torch.no_grad():
        y = torch.rand(2, 3) @ weight
        with torch.enable_grad():
            z = (y @ weight).sum()
    with torch.inference_mode():
        torch.relu(y @ weight).add_(1)
    with torch.autograd.set_detect_anomaly(True):
        (z * 2).backward()
    with torch.set_grad_enabled(False):
        weight.mul_(2)


@program
def saved_tensor_hooks():
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x * 2, lambda x: x / 2):
        y = torch.rand(3, requires_grad=True).exp().sin()
    with torch.autograd.graph.save_on_cpu():
        y = y.cos()
    y.sum().backward()


@program
def forward_mode():
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.rand(2, 3), torch.rand(2, 3))
        forward_ad.unpack_dual((x.exp() @ torch.rand(3, 2)).tanh())
    torch.autograd.functional.jvp(lambda x: x.square().sum(), torch.rand(3), torch.rand(3))
    torch.autograd.functional.hessian(lambda x: x.pow(3).sum(), torch.rand(2))


@program
def deep_nesting():
    """More ranges in one another than there is room for: modules, and ranges of the user."""

    class Deep(nn.Module):
        def __init__(self, depth):
            super().__init__()
            self.inner = Deep(depth - 1) if depth > 1 else nn.Linear(2, 2)

        def forward(self, x):
            with torch.autograd.profiler.record_function("deep"):
                return self.inner(x) * 1.5

    sys.setrecursionlimit(20000)
    with torch.no_grad():
        Deep(560)(torch.rand(1, 2))
        torch.rand(2).neg()
    deep = nn.Linear(2, 2)
    for _ in range(300):
        deep = nn.Sequential(deep)
    deep(torch.rand(1, 2)).sum().backward()


@program
def too_deep_nesting():
    """More ranges in one another than are kept: what is missing is counted."""
    with torch.no_grad(), contextlib.ExitStack() as stack:
        for _ in range(4200):
            stack.enter_context(torch.autograd.profiler.record_function("deeper"))
        torch.rand(2).neg()
    torch.rand(2).abs()
