"""Calls whose cost is known, for kernels that are put into their ranges afterwards: see PRICES in priced.py."""
import torch
from torch import nn

from common import program
from subclass import Sharded


@program
def linear_under_autocast():
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        nn.Linear(64, 32, bias=False)(torch.rand(128, 64))


@program
def vmapped_product():
    from functorch import vmap

    vmap(torch.mm)(torch.rand(64, 16, 16), torch.rand(64, 16, 16))


@program
def cat_of_300():
    torch.cat([torch.rand(100) for _ in range(300)])


@program
def cat_of_unlike():
    torch.cat([torch.rand(i % 7 + 1, 5) for i in range(300)])


@program
def foreach_of_300():
    torch._foreach_add_([torch.rand(10) for _ in range(300)], 1.5)


@program
def product_of_a_shard():
    torch.mm(Sharded(torch.rand(32, 16)), torch.rand(16, 8))
