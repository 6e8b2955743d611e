"""Tests of oplens_annotate's modules that need no tool: costs as numbers of steps, and PyTorch 2, of
which a stand-in has what they look at, written from its public sources."""
import sys
import types
import unittest
from unittest import mock

import torch

from oplens_annotate import _modules, _paths


class Counted:
    """Paths that count what they look at and what they set."""

    def __init__(self):
        self.known = {}
        self.set_count = 0
        self.paths = _paths.Paths(torch.nn.Module, self.set, self.known.pop)

    def set(self, number, path):
        self.set_count += 1
        self.known[number] = path

    def path_of(self, module, around=None):
        self.paths.name(module, around)
        return self.known[id(module)].decode()


class Costs(unittest.TestCase):
    def looks(self, size):
        """How many modules are looked into when a module is made in the forward of a network."""
        counted = Counted()
        network = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.ReLU()) for _ in range(size)])
        counted.path_of(network)
        counted.set_count = 0
        with mock.patch.object(_paths, "_children", wraps=_paths._children) as children:
            for _ in range(10):
                made = torch.nn.ReLU()
                self.assertEqual(counted.path_of(made, network), "Sequential.ReLU")
                del made
            return children.call_count, counted.set_count

    def test_module_made_in_forward_takes_the_same_time_in_every_network(self):
        self.assertEqual(self.looks(1000), self.looks(10_000))
        self.assertEqual(self.looks(10)[1], 10)

    def test_what_was_added_to_a_large_network_is_found(self):
        counted = Counted()
        network = torch.nn.Sequential(torch.nn.ModuleList([torch.nn.ReLU() for _ in range(5000)]))
        counted.path_of(network)
        network[0].append(torch.nn.Sequential(torch.nn.ReLU()))
        self.assertEqual(counted.path_of(network[0][-1], network), "0.5000")
        self.assertEqual(counted.path_of(network[0][-1][0]), "0.5000.0")

    def test_heap_is_not_searched_for_ever(self):
        counted = Counted()
        with mock.patch.object(counted.paths, "_parents", wraps=counted.paths._parents) as parents:
            for _ in range(300):
                counted.path_of(torch.nn.Linear(1, 1))
        self.assertLess(parents.call_count, 20)

    def test_heap_is_not_searched_for_long(self):
        counted = Counted()
        counted.paths._seconds = 3.0
        network = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
        with mock.patch.object(counted.paths, "_parents") as parents:
            self.assertEqual(counted.path_of(network[0]), "Sequential")
        self.assertEqual(parents.call_count, 0)

    def test_nothing_is_kept_of_modules_that_are_gone(self):
        counted = Counted()
        for _ in range(100):
            counted.path_of(torch.nn.Sequential(torch.nn.Linear(1, 1)))
        self.assertEqual(counted.known, {})
        self.assertEqual(counted.paths._known, {})
        self.assertEqual(counted.path_of(torch.nn.Sequential(torch.nn.Linear(1, 1))), "Sequential")

    def test_many_modules_outside_of_networks(self):
        counted = Counted()
        modules = [torch.nn.Linear(1, 1) for _ in range(3000)]
        paths = [counted.path_of(module) for module in modules]
        self.assertEqual(paths[:2] + paths[-1:], ["Linear", "Linear#2", "Linear#3000"])
        del modules[1000], modules[500]
        made = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
        self.assertEqual([counted.path_of(module) for module in made], ["Linear#501", "Linear#1001"])


class Names(unittest.TestCase):
    def test_module_without_init(self):
        class Lazy(torch.nn.Module):
            def __init__(self):
                pass

        self.assertEqual(Counted().path_of(Lazy()), "Lazy")

    def test_network_that_contains_itself(self):
        network = torch.nn.Sequential(torch.nn.ReLU())
        network._modules["module"] = network
        self.assertEqual(Counted().path_of(network), "Sequential")

    def test_child_called_module_of_a_network(self):
        network = torch.nn.Sequential()
        network.module = torch.nn.ReLU()
        network.other = torch.nn.ReLU()
        counted = Counted()
        counted.path_of(network)
        self.assertEqual(counted.path_of(network.module), "module")

    def test_networks_are_not_called_as_parts_of_the_first(self):
        counted = Counted()
        network = torch.nn.ModuleDict({"Linear": torch.nn.ReLU()})
        counted.path_of(network)
        self.assertEqual(counted.path_of(network["Linear"]), "Linear")
        self.assertEqual(counted.path_of(torch.nn.Linear(1, 1)), "Linear#2")

    def test_network_around_a_part_that_ran_alone(self):
        counted = Counted()
        part = torch.nn.Sequential(torch.nn.ReLU())
        self.assertEqual(counted.path_of(part), "Sequential")
        network = torch.nn.ModuleDict({"part": part, "more": torch.nn.Sequential(torch.nn.Tanh())})
        self.assertEqual(counted.path_of(network), "ModuleDict")
        self.assertEqual(counted.path_of(part[0]), "0")
        self.assertEqual(counted.path_of(network["more"][0]), "ModuleDict.more.0")


class StandIn:
    """As much of PyTorch 2 as _modules looks at; `place` is where it tells that it compiles."""

    def __init__(self, place):
        self.compiling = False

        class Module:
            def __init__(self):
                self._modules = {}

            def _call_impl(self, *args, **kwargs):
                return self.forward(*args, **kwargs)

            def _wrapped_call_impl(self, *args, **kwargs):
                return self._call_impl(*args, **kwargs)

            __call__ = _wrapped_call_impl

        self.torch = types.ModuleType("torch")
        self.torch.nn = types.SimpleNamespace(Module=Module)
        self.torch.compile = lambda network: network
        holder = types.ModuleType(f"torch.{place[0]}")
        setattr(holder, place[1], lambda: self.compiling)
        setattr(self.torch, place[0], holder)
        self.modules = {"torch": self.torch, f"torch.{place[0]}": holder}


class Library:
    """Of ranges that are remembered, without native functions."""

    def __init__(self):
        self.ranges = []

    def oplens_layer_path_begin(self, path):
        self.ranges.append(path.decode())
        return len(self.ranges)

    def oplens_end(self, token):
        self.ranges.append(f"end {token}")


class PyTorch2(unittest.TestCase):
    PLACES = (("compiler", "is_dynamo_compiling"), ("compiler", "is_compiling"),
              ("_utils", "is_compiling"), ("_dynamo", "is_compiling"))

    def run_with(self, place, use):
        stand_in = StandIn(place)
        library = Library()
        saved = {name: getattr(_modules, name)
                 for name in ("_original", "_is_compiling", "_enter", "_leave")}
        with mock.patch.dict(sys.modules, stand_in.modules):
            try:
                _modules.hook(library)
                use(stand_in, library)
            finally:
                for name, value in saved.items():
                    setattr(_modules, name, value)

    def test_layers(self):
        for place in self.PLACES:
            def use(stand_in, library):
                class Network(stand_in.torch.nn.Module):
                    def forward(self, fails, more=0):
                        if fails:
                            raise ValueError
                        return 7 + more

                network = Network()
                self.assertEqual(network(False, more=1), 8)
                with self.assertRaises(ValueError):
                    network(True)
                self.assertEqual(library.ranges,
                                 ["Network", "end 1", "Network", "end 3"])

            with self.subTest(place):
                self.run_with(place, use)

    def test_compiled_code_sees_nothing_but_the_original(self):
        for place in self.PLACES:
            def use(stand_in, library):
                class Network(stand_in.torch.nn.Module):
                    def forward(self, x):
                        # What the compiler would have to look into.
                        frames = []
                        frame = sys._getframe(1)
                        while frame is not None and len(frames) < 4:
                            frames.append(frame.f_code.co_name)
                            frame = frame.f_back
                        return frames

                network = Network()
                stand_in.compiling = True
                with mock.patch.object(_modules, "_enter", None), mock.patch.object(_modules, "_leave", None):
                    frames = network(1)
                self.assertEqual(frames[:3], ["_call_impl", "_wrapped_call_impl", "_call_unless_compiling"])
                self.assertEqual(library.ranges, [])

            with self.subTest(place):
                self.run_with(place, use)

    def test_it_is_asked_before_anything_else(self):
        # The compiler follows the code from its beginning to the return of the original's result.
        self.assertEqual(_modules._call_unless_compiling.__code__.co_names[:2],
                         ("_is_compiling", "_original"))
        self.assertEqual(_modules._call_unless_compiling.__code__.co_freevars, ())

    def test_hooked_once(self):
        def use(stand_in, library):
            hooked = stand_in.torch.nn.Module.__call__
            _modules.hook(library)
            self.assertIs(stand_in.torch.nn.Module.__call__, hooked)

        self.run_with(self.PLACES[0], use)


if __name__ == "__main__":
    unittest.main()
