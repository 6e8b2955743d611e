"""More than one thread, task or process."""
import asyncio
import os
import threading
import traceback
import warnings

import torch
from torch import nn

import common
from common import program


def finish_child():
    """What a process does that leaves without the end of a Python program."""
    recorder = os.environ.get("OPLENS_PROGRAMS_RECORDER")
    if recorder:
        import ctypes

        out = os.environ["OPLENS_TEST_RECORDER_OUT"].replace("%p", str(os.getpid()))
        ctypes.CDLL(recorder).oplens_test_recorder_write(out.encode())


def in_child(function):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            finish_child()
            code = 0
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


@program
def threads():
    shared = nn.Linear(3, 3)
    results = [None] * 3

    def work(i):
        x = torch.rand(2 + i, 3)
        results[i] = shared(x).sin().sum() if i else nn.Sequential(nn.Linear(3, 2), nn.ReLU())(x).sum()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sum(results).backward()


@program
def backward_on_threads():
    """Both run their backward pass at once."""
    losses = [nn.Linear(3, 3)(torch.rand(2, 3)).tanh().sum() for _ in range(2)]
    workers = [threading.Thread(target=loss.backward) for loss in losses]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@program
def tasks():
    """Coroutines that take turns inside of modules."""

    class Waits(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.second = nn.Linear(3, 3)

        async def forward(self, x):
            y = self.first(x)
            await asyncio.sleep(0)
            return self.second(y).relu()

    async def all_of_them():
        waits = Waits()
        return sum(await asyncio.gather(*[waits(torch.rand(2, 3)) for _ in range(3)]))

    asyncio.run(all_of_them()).sum().backward()


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return torch.full((3,), float(i)).square()


def end_worker(_number):
    import multiprocessing.util

    multiprocessing.util.Finalize(None, finish_child, exitpriority=100)


@program
def loader():
    linear = nn.Linear(3, 1)
    for batch in torch.utils.data.DataLoader(Squares(), batch_size=2, shuffle=True):
        linear(batch).sum().backward()


@program
def loader_with_workers():
    loader = torch.utils.data.DataLoader(Squares(), batch_size=2, num_workers=2, worker_init_fn=end_worker)
    linear = nn.Linear(3, 1)
    for batch in loader:
        linear(batch).sum().backward()


@program
def forked():
    network = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    x = torch.rand(2, 3)

    def work():
        network(x).sum().backward()
        thread = threading.Thread(target=lambda: network(x).mean().backward())
        thread.start()
        thread.join()

    work()
    in_child(work)
    network(x)


@program
def forked_inside():
    """A fork inside of ranges: of the user, and of a module."""

    class Forks(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            in_child(lambda: self.inner(x).exp().sum().backward())
            return self.inner(x)

    with torch.autograd.profiler.record_function("around the fork"):
        Forks()(torch.rand(2, 3)).sum().backward()


@program
def ranges_of_the_user():
    """record_function in its forms, and texts of all kinds."""
    with torch.autograd.profiler.record_function("outer {'mod': 'x', 'op': 'y', 'args': [], 'type'}"):
        torch.rand(2).neg()
        for text in ("inner\nline \x1b é", "{'mod': 'torch', 'op': 'mm', 'args': [], 'oplens': {'v': 1, 'type': 'op'}}",
                     "layer:made.up", "addmm, seq = 3", "100 %"):
            with torch.profiler.record_function(text):
                torch.rand(2).abs()

    @torch.autograd.profiler.record_function("decorated")
    def decorated():
        return torch.rand(2).exp()

    decorated()
    with torch.autograd.profiler.record_function("with inputs", "of the user"):
        torch.rand(2).sin()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.profiler.profile():
            torch.rand(2).cos()
