"""torch_layers.py MODE [ROUNDS [IDLE]]: what oplens_annotate costs a Python program, as the ratio of the CPU
time of a step to that of the bare step and, with IDLE (libidle_observer.so), to that with an observer that does
nothing: medians over rounds of all in this process. MODE is printed; with "trace" in it there are call sites, with
"layers" in it nothing but layers. bench/torch_layers.sh starts it, under a tool or without."""
import ctypes
import statistics
import sys
import time

import torch


def small_network():
    layers = [layer for _ in range(50) for layer in (torch.nn.Linear(8, 8), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers), torch.randn(4, 8)


def linear_relu():
    """50 x (Linear 8, ReLU), forward and backward."""
    network, x = small_network()

    def step():
        network.zero_grad()
        network(x).sum().backward()

    return step, 20


def linear_relu_forward():
    """The forward pass alone."""
    network, x = small_network()

    def step():
        with torch.no_grad():
            network(x)

    return step, 80


def pointwise():
    """200 pointwise ops on 64 numbers."""
    x = torch.rand(64)

    def step():
        y = x
        for _ in range(50):
            y = ((y * x).tanh() + x).sigmoid()

    return step, 80


def large():
    """Ops that take a millisecond and more."""
    network = torch.nn.Sequential(
        torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU())
    x = torch.randn(256, 1024)

    def step():
        network.zero_grad()
        network(x).sum().backward()

    return step, 1


def cpu_time(step, count):
    start = time.process_time()
    for _ in range(count):
        step()
    return time.process_time() - start


class Switch:
    """Who observes the step: nobody, an observer that does nothing (bench/idle_observer.cc) or oplens_annotate."""

    def __init__(self, idle):
        import oplens_annotate
        from oplens_annotate import _modules

        self.module = torch.nn.Module
        self.bare_call = torch.nn.Module.__call__
        self.emits = oplens_annotate.init(trace="trace" in sys.argv[1])
        self.hooked_call = torch.nn.Module.__call__
        self.library = ctypes.CDLL(oplens_annotate._api._name) if self.emits else None
        self.idle_library = ctypes.CDLL(idle) if idle else None

    def bare(self):
        self.module.__call__ = self.bare_call
        if self.emits:
            self.library.oplens_torch_uninstall()
        if self.idle_library:
            self.idle_library.idle_observer_uninstall()

    def idle(self):
        self.bare()
        self.idle_library.idle_observer_install()

    def annotated(self):
        self.bare()
        self.module.__call__ = self.hooked_call
        if self.emits and "layers" not in sys.argv[1]:
            self.library.oplens_torch_install()


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    torch.set_num_threads(1)
    idle = sys.argv[3] if len(sys.argv) > 3 else ""
    switch = Switch(idle)
    observers = ["bare", "idle", "annotated"] if idle else ["bare", "annotated"]
    print(f"{sys.argv[1]}, PyTorch {torch.__version__}:")
    for make in (linear_relu, linear_relu_forward, pointwise, large):
        step, count = make()
        cpu_time(step, 2 * count)
        ratios = {"of bare": [], "of idle": [], "idle of bare": []}
        for i in range(rounds):
            # Whichever comes first has the colder caches.
            times = {}
            for which in observers if i % 2 == 0 else reversed(observers):
                getattr(switch, which)()
                cpu_time(step, 1)
                times[which] = cpu_time(step, count)
            ratios["of bare"].append(times["annotated"] / times["bare"])
            if idle:
                ratios["of idle"].append(times["annotated"] / times["idle"])
                ratios["idle of bare"].append(times["idle"] / times["bare"])
        medians = (f"{name} {statistics.median(values):.3f}" for name, values in ratios.items() if values)
        print(f"  {make.__name__}: " + ", ".join(medians))


if __name__ == "__main__":
    main()
