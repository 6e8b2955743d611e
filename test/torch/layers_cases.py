"""Networks whose modules are called in every way there is: layers_cases.py COMMAND."""
import copy
import gc
import os
import pickle
import sys
import tempfile
import threading

import torch
from torch.utils.checkpoint import checkpoint


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x).sin()


class Network(torch.nn.Module):
    """A network of which parts are called alone."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(Block(), Block())
        self.decoder = Block()

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def generate(self, x):
        for _ in range(2):
            x = self.decoder(x)
            yield x

    def embed(self, x):
        return self.encoder[1](x).cos()


class Checkpointed(torch.nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.reentrant = reentrant

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=self.reentrant)
        return x.sum()


def ones():
    return torch.ones(2, 3)


def recomputed():
    x = ones().requires_grad_()
    Checkpointed(reentrant=True)(x).backward()


def recomputed_by_hooks():
    x = ones().requires_grad_()
    Checkpointed(reentrant=False)(x).backward()


def part_first():
    """A part runs before the network does, which only an attribute of an attribute holds."""

    class Trainer:
        pass

    trainer = Trainer()
    trainer.state = {"model": [Network()]}

    def step(part):
        part(ones())

    step(trainer.state["model"][0].encoder[1])
    trainer.state["model"][0](ones())


def methods():
    network = Network()
    for _ in network.generate(ones()):
        pass
    network.embed(ones())


def two_networks():
    """Networks of one class and of two, whose modules have the same names."""
    first, second = Network(), Network()
    third = torch.nn.Sequential(Block())
    for network in (first, second, third, second):
        network(ones())


def losses():
    """Modules without children have no network to be told apart by."""
    for _ in range(20):
        torch.nn.MSELoss()(ones(), ones())
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    first(ones())
    second(ones())
    Network()(ones())


def replaced():
    """Each network takes the place of one that is gone."""
    for _ in range(3):
        network = Network()
        network(ones())
        del network
        gc.collect()


class OptimizedModule(torch.nn.Module):
    """What torch.compile makes of a network."""

    def __init__(self, wrapped):
        super().__init__()
        self._orig_mod = wrapped

    def forward(self, x):
        return self._orig_mod(x)


class Sharded(torch.nn.Module):
    """What FullyShardedDataParallel makes of a module."""

    def __init__(self, wrapped):
        super().__init__()
        self._fsdp_wrapped_module = wrapped

    def forward(self, x):
        return self._fsdp_wrapped_module(x)


def wrappers():
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

    network = Network()
    network.encoder[0] = checkpoint_wrapper(network.encoder[0])
    network.encoder[1] = Sharded(network.encoder[1])
    torch.nn.DataParallel(OptimizedModule(network))(ones())


def distributed():
    with tempfile.NamedTemporaryFile() as file:
        torch.distributed.init_process_group("gloo", f"file://{file.name}", rank=0, world_size=1)
        network = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(Block()))
        network(ones()).sum().backward()
        torch.distributed.destroy_process_group()


def replicas():
    """What DataParallel does for each batch on several devices."""
    network = Network()

    def replicate(module):
        replica = module._replicate_for_data_parallel()
        for name, parameter in module._parameters.items():
            setattr(replica, name, parameter * 1)
        for name, child in module._modules.items():
            replica._modules[name] = replicate(child)
        return replica

    network(ones())
    for _ in range(2):
        copies = [replicate(network), replicate(network)]
        threads = [threading.Thread(target=copy, args=(ones(),)) for copy in copies]
        for thread in threads:
            thread.start()
            thread.join()


def scripted():
    network = Network()
    network.decoder = torch.jit.script(network.decoder)
    network.encoder[1] = torch.jit.trace(network.encoder[1], ones())
    network(ones())
    alone = torch.jit.script(Block())
    alone(ones())
    traced = torch.jit.trace(torch.nn.Sequential(Block()), ones())
    traced(ones())


def failures():
    """Layers that are left by an exception; the op that follows is in none of them."""

    class Failing(torch.nn.Module):
        def forward(self, x):
            x.sin()
            raise ValueError("of the user")

    class Careful(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.failing = torch.nn.Sequential(Failing())

        def forward(self, x):
            try:
                self.failing(x)
            except ValueError:
                x.cos()
            return self.failing(x)

    try:
        Careful()(ones())
    except ValueError:
        ones().tanh()


def made_in_forward():
    class Making(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.late = torch.nn.ModuleList()

        def forward(self, x):
            for _ in range(2):
                x = torch.nn.Sequential(torch.nn.ReLU())(x)
            self.late.append(Block())
            return self.late[-1](x)

    network = Making()
    network(ones())
    network(ones())


def addresses():
    """Modules of two classes that come and go: the addresses are the same."""

    class Sine(torch.nn.Module):
        def forward(self, x):
            return x.sin()

    class Cosine(torch.nn.Module):
        def forward(self, x):
            return x.cos()

    x = ones()
    seen = set()
    for i in range(50):
        module = (Sine, Cosine)[i % 2]()
        seen.add(id(module))
        module(x)
        del module
    print(len(seen))


def many_paths():
    """More of them than are kept."""
    children = torch.nn.ModuleDict({f"child{i}": torch.nn.Identity() for i in range(66_000)})
    children.forward = lambda x: x
    children(1)
    for i in (0, 65_000, 65_999):
        children[f"child{i}"](1)
    del children
    torch.nn.Identity()(1)


def untouched():
    """What a module is saved as knows nothing of its path."""
    network = Network()
    before = copy.deepcopy(vars(network)).keys(), pickle.dumps(network.decoder)
    network(ones())
    assert (vars(network).keys(), pickle.dumps(network.decoder)) == before
    copy.deepcopy(network)(ones())


def many_threads():
    network = Network()
    networks = [Network() for _ in range(4)]

    def work(own):
        for _ in range(20):
            network(ones())
            own(ones())
            torch.nn.Sequential(torch.nn.Tanh())(ones())

    threads = [threading.Thread(target=work, args=(own,)) for own in networks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def window():
    import oplens_annotate

    network = Network()
    oplens_annotate.stop()
    network(ones())
    oplens_annotate.start()
    network.decoder(ones())


def without_adaptor():
    """By the library that any program may load, from Python: ctypes alone."""
    import ctypes

    from oplens_annotate import _library, _modules

    library = ctypes.CDLL(os.path.join(os.environ["PYTHONPATH"], "liboplens_annotate.so.1"))
    _library.declare(library)
    _modules.hook(library)
    failures()
    made_in_forward()
    many_threads()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
