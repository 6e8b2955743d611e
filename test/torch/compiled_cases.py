"""Launches of Triton kernels and CUDA graphs, with stand-ins for both: compiled_cases.py COMMAND.

Written from the public interface of Triton's hooks: which class or module has them, what they are called with
and when.
"""
import importlib.machinery
import sys
import types

import torch


class Graph:
    """torch.cuda.CUDAGraph, of which a build without CUDA has none."""

    def capture_begin(self, pool=None):
        print("begin", pool)

    def capture_end(self):
        print("end")

    def replay(self):
        print("replay")
        return "replayed"


torch.cuda.CUDAGraph = Graph


class LazyDict:
    """What Triton 3 tells its hooks."""

    def __init__(self, data):
        self.data = data

    def get(self):
        raise AssertionError("would run functions of the program")


def make_triton(kind):
    """A module `triton` as of 2.1 ("2"), 3.0 ("3"), 3.4 ("knobs") or 3.5 ("chain")."""
    triton = types.ModuleType("triton")
    triton.compiler = types.ModuleType("triton.compiler")

    class HookChain:
        def __init__(self):
            self.calls = []

        def add(self, function):
            self.calls.append(function)

        def __call__(self, *args):
            for call in self.calls:
                call(*args)

    class Runtime:
        launch_enter_hook = HookChain() if kind == "chain" else None
        launch_exit_hook = HookChain() if kind == "chain" else None

    if kind in ("knobs", "chain"):
        triton.knobs = sys.modules["triton.knobs"] = types.ModuleType("triton.knobs")
        triton.knobs.runtime = Runtime()

    class CompiledKernel:
        if kind in ("2", "3"):
            launch_enter_hook = None
            launch_exit_hook = None

        def __init__(self, name, arg_names, constexprs=()):
            self.src = types.SimpleNamespace(fn=types.SimpleNamespace(arg_names=arg_names, constexprs=constexprs))
            self.metadata = {"name": name} if kind == "2" else types.SimpleNamespace(name=name)
            if kind != "2":
                self.name = name

        def run(self, grid, *args):
            hooks = triton.knobs.runtime if kind in ("knobs", "chain") else CompiledKernel
            if kind == "2":
                metadata = self
            else:
                metadata = self.launch_metadata(grid, 1234, *args) if hooks.launch_enter_hook else None
            if hooks.launch_enter_hook:
                hooks.launch_enter_hook(metadata)
            if "fails" in args:
                raise RuntimeError("out of resources")
            torch.ones(2).neg()  # So that it shows what is around.
            if hooks.launch_exit_hook:
                hooks.launch_exit_hook(metadata)

    if kind != "2":
        def launch_metadata(self, grid, stream, *args):
            return LazyDict({"name": self.name, "function": 1, "stream": stream})

        CompiledKernel.launch_metadata = launch_metadata
    triton.compiler.CompiledKernel = CompiledKernel
    return triton


class Finder:
    """Makes `import triton` find it."""

    def __init__(self, module):
        self.module = module

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "triton" else None

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        pass

    def marker(self):
        return "the loader's own"


import oplens_annotate  # noqa: E402


def triton(kind, late):
    module = make_triton(kind)
    if late:
        sys.meta_path.append(Finder(module))
        assert oplens_annotate.init(layers=False)
        import triton as imported

        assert imported is module
        assert imported.__loader__.marker() == "the loader's own"
        assert not any(type(finder).__name__ == "_Watcher" for finder in sys.meta_path)
    else:
        sys.modules["triton"] = module
        assert oplens_annotate.init(layers=False)
    kernel = module.compiler.CompiledKernel("add_kernel", ["x_ptr", "n", "scale", "BLOCK"], (3,))
    kernel.run((4, 2), torch.ones(8, 16, dtype=torch.float16), 128, 0.5)
    try:
        kernel.run((1,), torch.ones(2), 1, "fails")
    except RuntimeError:
        pass
    kernel.run((1, 1, 1), torch.ones(2), 7, True)
    oplens_annotate.stop()
    kernel.run((1, 1, 1), torch.ones(2), 8, True)


def triton_2():
    triton("2", late=False)


def triton_3():
    triton("3", late=True)


def triton_knobs():
    triton("knobs", late=False)


def triton_chain():
    triton("chain", late=True)


def hook_of_others():
    module = sys.modules["triton"] = make_triton("3")
    seen = []
    module.compiler.CompiledKernel.launch_enter_hook = lambda metadata: seen.append(metadata.data["name"])
    assert oplens_annotate.init(layers=False)
    module.compiler.CompiledKernel("add_kernel", ["n"]).run((1,), 1)
    assert seen == ["add_kernel"]


def inductor():
    class Record:
        """PyTorch's own, which tells its own profilers only."""

        def __init__(self, name, input_values=None, keyword_values=None):
            self.name = name

        def __enter__(self):
            print("recorded", self.name)

        def __exit__(self, *_):
            pass

    def enable(on):
        torch.autograd.profiler._is_profiler_enabled = on

    torch._C._profiler._RecordFunctionFast = Record
    torch.autograd.profiler._set_is_profiler_enabled = enable
    assert oplens_annotate.init(layers=False)
    assert torch.autograd.profiler._is_profiler_enabled
    torch.autograd.profiler._set_is_profiler_enabled(False)  # As at the end of torch.profiler.
    assert torch.autograd.profiler._is_profiler_enabled

    def launch():
        facts = {"kernel_backend": "triton", "kernel_kwargs": "XBLOCK=8", "stream": 0, "kernel_num_gb": 2e-6}
        with torch._C._profiler._RecordFunctionFast("triton_poi_fused_neg_0", (torch.ones(8, 4), 32), facts):
            torch.ones(2).neg()

    launch()
    with torch._C._profiler._RecordFunctionFast("a label", keyword_values={"scope": "user_scope"}):
        pass
    oplens_annotate.stop()
    launch()


def graphs():
    assert oplens_annotate.init(layers=False)
    for _ in range(2):
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(pool=(0, 1))
        torch.ones(2).neg()
        graph.capture_end()
        assert graph.replay() == "replayed"
    torch.ones(2).neg()


globals()[sys.argv[1]]()
