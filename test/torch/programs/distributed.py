"""Two processes, over gloo: this one and a child that it starts before it has run anything."""
import os
import socket
import subprocess
import sys

import torch
from torch import nn
import torch.distributed as dist

from common import classes, program, train


_other = None


def begin():
    """Makes the group."""
    global _other
    if "RANK" not in os.environ:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(probe.getsockname()[1]), WORLD_SIZE="2",
                              GLOO_SOCKET_IFNAME="lo")
        environment = {k: v for k, v in os.environ.items() if k != "OPLENS_PROGRAMS_GRAPH"}
        _other = subprocess.Popen([sys.executable, "-m", "oplens_annotate"] + sys.argv,
                                  env={**environment, "RANK": "1"})
        os.environ["RANK"] = "0"
    dist.init_process_group("gloo")


def end():
    dist.destroy_process_group()
    if _other:
        assert _other.wait(60) == 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


@program
def data_parallel():
    network = nn.parallel.DistributedDataParallel(Net())
    train(network, [torch.rand(4, 6)], classes(3, 4))
    with network.no_sync():
        network(torch.rand(4, 6)).sum().backward()


@program
def collectives():
    x = torch.full((3,), float(dist.get_rank()))
    dist.all_reduce(x)
    dist.broadcast(x, 0)
    dist.all_gather([torch.zeros(3), torch.zeros(3)], x)
    dist.all_reduce(x, op=dist.ReduceOp.MAX, async_op=True).wait()
    if dist.get_rank() == 0:
        dist.send(x, 1)
    else:
        dist.recv(x, 0)
    dist.barrier()
