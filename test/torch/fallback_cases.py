"""What oplens_annotate does where no library fits the PyTorch: fallback_cases.py COMMAND.

emit_nvtx needs a GPU: $OPLENS_PROGRAMS_EMIT has what a build without CUDA lacks. Here it also says when it is
entered and left, but for the commands "emitted" and, without that library, "bare".
"""
import ctypes
import os
import sys

import torch
from torch.autograd import profiler


class Emit(profiler.emit_nvtx):
    def __init__(self, record_shapes):
        assert record_shapes
        super().__init__(record_shapes=True)

    def __enter__(self):
        super().__enter__()
        print("enter", flush=True)

    def __exit__(self, *reason):
        super().__exit__(*reason)
        print("leave", flush=True)


if sys.argv[1] != "bare":
    ctypes.CDLL(os.environ["OPLENS_PROGRAMS_EMIT"])
    torch.cuda.synchronize = lambda: None
if sys.argv[1] not in ("emitted", "bare"):
    profiler.emit_nvtx = Emit

if sys.argv[1] == "training_2":
    # Hooks of all optimizers, which PyTorch 2 has.
    post_hooks = []
    sys.modules[torch.optim.Optimizer.__module__].register_optimizer_step_post_hook = post_hooks.append

if sys.argv[1] == "compiling":
    # As Dynamo, when it traces a module: the function is True there.
    where = torch.compiler if hasattr(torch, "compiler") else torch._utils
    where.is_compiling = lambda: True

import oplens_annotate  # noqa: E402

assert oplens_annotate.init(layers=False)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.fails = False

    def forward(self, x):
        if self.fails:
            raise ValueError("of the user")
        return self.inner(self.inner(x))


network = Network()
data = torch.ones(2, 3)


def inference():
    with torch.no_grad():
        network(data)
        network(data)


bare = inference


def training():
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(2):
        network(data).sum().backward()
        optimizer.step()


emitted = training


def training_2():
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(2):
        network(data).sum().backward()
        optimizer.step()
        for hook in post_hooks:
            hook(optimizer, (), {})


def exception():
    with torch.no_grad():
        network.fails = True
        try:
            network(data)
        except ValueError:
            network.fails = False
        network(data)


def window():
    with torch.no_grad():
        network(data)
        oplens_annotate.stop()
        print("stopped", flush=True)
        network(data)
        oplens_annotate.start()
        network(data)


def compiling():
    network(data)


def linear_ops(profile):
    return sum(event.count for event in profile.key_averages() if event.key == "aten::linear")


def profiler_inside():
    """Begins where the step of the first call is still open."""
    network(data)
    with torch.profiler.profile() as profile:
        network(data)
    print("ops:", linear_ops(profile), flush=True)
    with torch.no_grad():
        network(data)


def profiler_around():
    with torch.profiler.profile() as profile, torch.no_grad():
        network(data)
        network(data)
    print("ops:", linear_ops(profile), flush=True)
    with torch.no_grad():
        network(data)


def profiler_schedule():
    """One step that is waited for, one to warm up, two that are recorded."""
    def ready(profile):
        print("ops:", linear_ops(profile), flush=True)

    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(schedule=plan, on_trace_ready=ready) as profile:
        for _ in range(4):
            network(data).sum().backward()
            profile.step()


globals()[sys.argv[1]]()
print("end", flush=True)
