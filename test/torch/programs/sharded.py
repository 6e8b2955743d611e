"""What PyTorch 2 shards, over gloo: two processes as in distributed.py."""
import torch
from torch import nn
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh

from common import program
from distributed import begin, end  # noqa: F401
import common

# Those of distributed.py are a family of their own.
common.PROGRAMS.clear()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 8)

    def forward(self, x):
        return self.second(self.first(x).relu())


def mesh():
    return init_device_mesh("cpu", (2,))


@program
def fully_sharded():
    from torch.distributed.fsdp import fully_shard

    network = nn.Sequential(Net(), Net())
    for block in network:
        fully_shard(block, mesh=mesh())
    fully_shard(network, mesh=mesh())
    optimizer = torch.optim.AdamW(network.parameters(), foreach=True)
    for _ in range(2):
        network(torch.rand(4, 8)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


@program
def tensor_parallel():
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    network = parallelize_module(Net(), mesh(), {"first": ColwiseParallel(), "second": RowwiseParallel()})
    network(torch.rand(4, 8)).square().mean().backward()


@program
def distributed_tensors():
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    rows = distribute_tensor(torch.rand(6, 8), mesh(), [Shard(0)])
    weight = distribute_tensor(torch.rand(8, 4), mesh(), [Replicate()])
    (rows @ weight).full_tensor()
    rows.redistribute(placements=[Shard(1)]).sum().full_tensor()


@program
def functional_collectives():
    group = list(range(dist.get_world_size()))
    x = torch.full((4, 3), float(dist.get_rank()))
    (functional.all_reduce(x, "sum", group) + 1).sum()
    functional.all_gather_tensor(x, 0, group).mul(2)
    functional.reduce_scatter_tensor(x, "sum", 0, group).mul(2)
    functional.all_to_all_single(x, [2, 2], [2, 2], group).mul(2)


@program
def asynchronous():
    x = torch.rand(5)
    works = [dist.all_reduce(x, async_op=True),
             dist.all_gather_into_tensor(torch.zeros(10), torch.rand(5), async_op=True),
             dist.broadcast(torch.rand(7), 1, async_op=True)]
    torch.rand(3, 3).mm(torch.rand(3, 3))
    for work in works:
        work.wait()
    parts = [torch.zeros(2), torch.zeros(2)]
    dist.gather(torch.rand(2), parts if dist.get_rank() == 0 else None)


@program
def pipelined():
    from torch.distributed import pipelining

    rank = dist.get_rank()
    stage = pipelining.PipelineStage(Net(), rank, 2, torch.device("cpu"))
    schedule = pipelining.Schedule1F1B(stage, 2, loss_fn=nn.functional.mse_loss)
    if rank == 0:
        schedule.step(torch.rand(4, 8))
    else:
        schedule.step(target=torch.rand(4, 8), losses=[])
