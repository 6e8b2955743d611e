"""Collective calls of two processes over gloo: collective_cases.py. The first process is annotated."""
import os
import socket
import subprocess
import sys

import torch
import torch.distributed


def calls():
    data = torch.ones(4, 5)
    torch.distributed.all_reduce(data)
    torch.distributed.broadcast(data, 0)
    torch.distributed.all_gather([torch.ones(3), torch.ones(3)], torch.ones(3))
    torch.distributed.barrier()


def main():
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    if len(sys.argv) > 1:
        torch.distributed.init_process_group("gloo", rank=1, world_size=2)
        calls()
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ["MASTER_PORT"] = str(free.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NVTX_")}
    other = subprocess.Popen([sys.executable, __file__, "other"], env=environment)
    torch.distributed.init_process_group("gloo", rank=0, world_size=2)
    import oplens_annotate

    assert oplens_annotate.init()
    calls()
    sys.exit(other.wait())


main()
