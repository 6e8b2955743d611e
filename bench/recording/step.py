#!/usr/bin/env python3
"""A training step with a fixed seed, to be recorded. Runs the same kernels in every mode and every run.

    step.py window [--kineto FILE]   one step between cudaProfilerStart and Stop, warm-up before it; with
                                     --kineto under PyTorch's own profiler, which writes its trace
    step.py whole                    two steps, without a word to the CUDA profiler
    step.py time --out FILE          the seconds of --iterations steps, as JSON; --profiler plain|shapes: under
                                     PyTorch's profiler
    step.py events --out FILE        long kernels between CUDA events and one range a kernel; the events' times
    step.py graph --out FILE         a step, its capture into a CUDA graph, replays

--annotate emit_nvtx|oplens says what puts ranges around the operators; --cpu runs it without a GPU (nothing to
record but ranges then): a check of this program itself.
"""
import argparse
import contextlib
import json
import time

import torch
import torch.nn.functional as F

REPLAYS = 3
BATCH_KERNELS = 40
TIGHT_KERNELS = 50
LONG_CYCLES = 1_000_000  # Half a millisecond and more: the queue never runs dry.
FILL_CYCLES = 100 * LONG_CYCLES  # While this runs the whole batch is launched.


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 32, 3, padding=1, bias=False)
        self.bn = torch.nn.BatchNorm2d(32)
        self.hidden = torch.nn.Linear(32, 256)
        self.norm = torch.nn.LayerNorm(256)
        self.head = torch.nn.Linear(256, 100)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x))).mean((2, 3))
        return self.head(self.norm(F.gelu(self.hidden(x))))


class Training:
    def __init__(self, device):
        self.cuda = device == "cuda"
        torch.manual_seed(1)
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        self.net = Net().to(device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)
        self.x = torch.randn(32, 3, 32, 32, device=device)
        self.target = torch.randint(0, 100, (32,), device=device)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(self.net(self.x), self.target).backward()
        self.optimizer.step()

    def run(self, steps):
        for _ in range(steps):
            self.step()
        self.wait()

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    @contextlib.contextmanager
    def window(self):
        """What --profile-from-start off records."""
        self.wait()
        if self.cuda:
            torch.cuda.cudart().cudaProfilerStart()
        yield
        self.wait()
        if self.cuda:
            torch.cuda.cudart().cudaProfilerStop()

    @contextlib.contextmanager
    def named(self, text):
        if self.cuda:
            torch.cuda.nvtx.range_push(text)
        yield
        if self.cuda:
            torch.cuda.nvtx.range_pop()


@contextlib.contextmanager
def annotated(how):
    if how == "emit_nvtx":
        with torch.autograd.profiler.emit_nvtx(record_shapes=True):
            yield
        return
    if how == "oplens":
        import oplens_annotate
        oplens_annotate.init()
    yield


def profiled(shapes=False):
    return torch.profiler.profile(record_shapes=shapes)


def run_window(training, options):
    training.run(3)
    if options.kineto:
        with profiled() as profile:
            training.run(1)
        profile.export_chrome_trace(options.kineto)
        return
    with training.window(), annotated(options.annotate), training.named("window"):
        training.run(1)


def run_whole(training, options):
    with annotated(options.annotate), training.named("whole"):
        training.run(2)


def run_time(training, options):
    """The start of a profiler is not timed, nor is the writing of its trace."""
    with annotated(options.annotate):
        training.run(5)
        profiler = contextlib.nullcontext() if options.profiler == "none" else profiled(options.profiler == "shapes")
        with profiler:
            training.run(5)
            begin = time.perf_counter()
            training.run(options.iterations)
            seconds = time.perf_counter() - begin
    return {"seconds": seconds}


def between_events(work):
    """Nanoseconds between two CUDA events around `work`, all of it queued before the first one is reached."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    torch.cuda._sleep(FILL_CYCLES)
    first.record()
    work()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) * 1e6


def run_events(training, options):
    if not training.cuda:
        return {"empty_ns": 0, "batches": [], "tight": []}
    a = torch.randn(2048, 2048, device="cuda")
    kernels = {"spin": lambda: torch.cuda._sleep(LONG_CYCLES), "product": lambda: torch.mm(a, a)}
    for launch in kernels.values():
        launch()
    batches = []
    for name, launch in kernels.items():
        text = f"timed {name}"

        def batch():
            with training.named(text):
                for _ in range(BATCH_KERNELS):
                    launch()

        batches.append({"range": text, "launches": BATCH_KERNELS, "elapsed_ns": between_events(batch)})
    tight = [f"tight {i}" for i in range(TIGHT_KERNELS)]
    for text in tight:
        with training.named(text):
            torch.cuda._sleep(1000)
    training.wait()
    return {"empty_ns": between_events(lambda: None), "batches": batches, "tight": tight}


def run_graph(training, options):
    if not training.cuda:
        with annotated(options.annotate):
            training.run(2)
        return {"eager": "part eager", "replay": "part replay", "replays": REPLAYS}
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        training.run(3)
    torch.cuda.current_stream().wait_stream(side)
    with annotated(options.annotate):
        with training.named("part eager"):
            training.run(1)
        graph = torch.cuda.CUDAGraph()
        with training.named("part capture"), torch.cuda.graph(graph):
            training.step()
        with training.named("part replay"):
            for _ in range(REPLAYS):
                graph.replay()
            training.wait()
    return {"eager": "part eager", "replay": "part replay", "replays": REPLAYS}


MODES = {"window": run_window, "whole": run_whole, "time": run_time, "events": run_events, "graph": run_graph}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--annotate", choices=["none", "emit_nvtx", "oplens"], default="none")
    parser.add_argument("--kineto", metavar="FILE")
    parser.add_argument("--profiler", choices=["none", "plain", "shapes"], default="none")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--out", metavar="FILE", help="what the mode tells, as JSON")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    training = Training("cpu" if options.cpu else "cuda")
    told = MODES[options.mode](training, options)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as out:
            json.dump(told, out)


if __name__ == "__main__":
    main()
