"""Ops and tensors of the user, as PyTorch 2 has them made."""
import os

import torch
from torch.utils._pytree import tree_map

from common import program


@torch.library.custom_op("oplens_programs::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float, rows: list[int]) -> torch.Tensor:
    return x * factor + len(rows)


@scaled.register_fake
def _(x, factor, rows):
    return torch.empty_like(x)


def _setup(ctx, inputs, output):
    ctx.factor = inputs[1]


scaled.register_autograd(lambda ctx, gradient: (gradient * ctx.factor, None, None), setup_context=_setup)


@torch.library.custom_op("oplens_programs::add_one_", mutates_args=("x",))
def add_one_(x: torch.Tensor) -> None:
    x.add_(1)


@program
def custom_op():
    scaled(torch.rand(3, 4, requires_grad=True), 2.5, [1, 2]).sum().backward()
    torch.ops.oplens_programs.scaled(torch.rand(5), 0.5, [])
    add_one_(torch.rand(2, 3))


@program
def triton_op():
    """Its kernel is for a GPU; what it calls on the CPU is registered for that, as Triton's users do."""

    @torch.library.triton_op("oplens_programs::swapped", mutates_args={})
    def swapped(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("for a GPU")

    swapped.register_kernel("cpu")(lambda x, y: torch.cat([y, x]))
    swapped(torch.rand(2, 3), torch.rand(4, 3))


@program
def library_of_the_user():
    library = torch.library.Library("oplens_programs", "FRAGMENT")
    library.define("twice(Tensor x, *, Tensor? like=None, int[2] size=[1, 2]) -> Tensor")
    library.impl("twice", lambda x, like=None, size=(): x + x, "CPU")
    torch.ops.oplens_programs.twice(torch.rand(2, 5), like=torch.rand(3), size=[7, 8])
    library._destroy()


@program
def libraries_that_come_and_go():
    """The names of operators that are removed make room for those of the next ones."""
    for number in range(12):
        library = torch.library.Library("oplens_programs", "FRAGMENT")
        library.define(f"visitor_{number:02}(Tensor x) -> Tensor")
        library.impl(f"visitor_{number:02}", lambda x: x + x, "CPU")
        for _ in range(2):
            getattr(torch.ops.oplens_programs, f"visitor_{number:02}")(torch.rand(2, number + 1))
        library._destroy()


@program
def cxx_extension():
    torch.ops.load_library(os.environ["OPLENS_PROGRAMS_EXTENSION"])
    torch.ops.oplens_extension.weighted(torch.rand(3, 4, requires_grad=True), torch.rand(3, 4), 0.5).sum().backward()


class Logged(torch.Tensor):
    """A wrapper with __torch_dispatch__."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, inputs=(), keywords=None):
        unwrap = lambda x: x.inner if isinstance(x, Logged) else x
        wrap = lambda x: Logged(x) if isinstance(x, torch.Tensor) else x
        return tree_map(wrap, function(*tree_map(unwrap, inputs), **tree_map(unwrap, keywords or {})))


@program
def dispatching_subclass():
    x = Logged(torch.rand(4, 6))
    torch.nn.functional.gelu(torch.addmm(torch.rand(5), x, torch.rand(6, 5)))
    scaled(x, 3.0, [1])


@program
def fake_tensors():
    """Nothing is computed: the calls are there, with sizes."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        torch.mm(torch.empty(1000, 2000), torch.empty(2000, 3000)).relu()
