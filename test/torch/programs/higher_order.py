"""Functions of functions, and what is kept of the forward pass, in PyTorch 2."""
import functools

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils import checkpoint as checkpoints

from common import program


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 4)

    def forward(self, x):
        return x + self.second(F.gelu(self.first(x)))


class Kept(nn.Module):
    """Blocks that run again in the backward pass, by one of the ways of checkpoint()."""

    def __init__(self, **options):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.options = options

    def forward(self, x):
        for block in self.blocks:
            x = checkpoints.checkpoint(block, x, **self.options)
        return x


@program
def checkpoint_with_reentry():
    Kept(use_reentrant=True)(torch.rand(3, 4, requires_grad=True)).sum().backward()


@program
def checkpoint_without_reentry():
    Kept(use_reentrant=False, early_stop=False)(torch.rand(3, 4, requires_grad=True)).sum().backward()
    Kept(use_reentrant=False)(torch.rand(3, 4, requires_grad=True)).sum().backward()


@program
def selective_checkpoint():
    """Products are kept, the rest runs again."""
    contexts = functools.partial(checkpoints.create_selective_checkpoint_contexts, [torch.ops.aten.addmm.default])
    Kept(use_reentrant=False, context_fn=contexts)(torch.rand(3, 4, requires_grad=True)).sum().backward()


@program
def kept_elsewhere():
    with torch.autograd.graph.save_on_cpu():
        Block()(torch.rand(3, 4)).sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.to(torch.float64), lambda x: x.to(torch.float32)):
        Block()(torch.rand(3, 4)).sum().backward()


@program
def functional_grad():
    block = Block()
    parameters = dict(block.named_parameters())

    def loss(parameters, x):
        return torch.func.functional_call(block, parameters, (x,)).square().sum()

    torch.func.grad(loss)(parameters, torch.rand(3, 4))
    torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, torch.rand(5, 4))


@program
def functional_jvp():
    weight = torch.rand(4, 4)
    torch.func.jvp(lambda x: (x @ weight).tanh(), (torch.rand(3, 4),), (torch.rand(3, 4),))
    torch.func.jacfwd(lambda x: (weight @ x).sin())(torch.rand(4))
    torch.func.hessian(lambda x: (weight @ x).sin().sum())(torch.rand(4))


@program
def forward_mode_of_a_module():
    block = Block()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.rand(3, 4), torch.rand(3, 4))
        torch.autograd.forward_ad.unpack_dual(block(dual))


@program
def gradients_of_gradients():
    block = Block()
    x = torch.rand(3, 4, requires_grad=True)
    gradient, = torch.autograd.grad(block(x).square().sum(), x, create_graph=True)
    gradient.square().sum().backward()
    torch.autograd.grad(block(x), x, torch.rand(2, 3, 4), is_grads_batched=True)
