"""What torch.compile needs to be left alone, and what it hides from the observer: launches of Triton
kernels and CUDA graphs."""
import ctypes
import importlib.abc
import importlib.util
import itertools
import sys
import threading


def _find_is_compiling():
    """The function that Dynamo takes for True where it traces, so that a hook vanishes from the graph."""
    import torch

    for path in ("compiler.is_compiling", "_utils.is_compiling", "_dynamo.is_compiling"):
        found = torch
        for name in path.split("."):
            # Not getattr(torch, "_dynamo"): that would import it.
            found = vars(found).get(name) if found is not None else None
        if callable(found):
            return found
    return lambda: False


is_compiling = _find_is_compiling()


def hook(library):
    """Begins ranges for launches of Triton kernels and for captures and replays of CUDA graphs."""
    calls = _Calls(library)
    _hook_graphs(calls)
    _InductorLaunches(calls).hook()
    _when_imported("triton", lambda triton: _TritonLaunches(calls).hook(triton))


# oplens_annotate.h.
_NONE, _TENSOR, _INT, _FLOAT, _BOOLEAN, _STRING, _INT_TUPLE, _OTHER = 0, 1, 2, 3, 4, 5, 7, 11
_DTYPES = {name: number + 1 for number, name in enumerate((
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
    "float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
    "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2"))}


class _Value(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("number", ctypes.c_double),
                ("ints", ctypes.POINTER(ctypes.c_int64)), ("text", ctypes.c_char_p)]


class _Arg(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_uint16), ("dtype", ctypes.c_uint16),
                ("list", ctypes.c_uint16), ("reserved", ctypes.c_uint16), ("count", ctypes.c_uint64),
                ("value", _Value)]


def _bytes(text):
    return str(text).encode("utf-8", "surrogateescape")


class _Calls:
    """The C interface: calls of ops with arguments."""

    def __init__(self, library):
        # Types of this module's own: other modules may give the same functions others.
        def function(name, result, *arguments):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            return ctypes.CFUNCTYPE(result, *arguments)(address)

        self.enabled = function("oplens_enabled", ctypes.c_int)
        self.end = function("oplens_end", None, ctypes.c_uint64)
        self._range = function("oplens_range_begin", ctypes.c_uint64, ctypes.c_char_p)
        self._op = function("oplens_op_begin", ctypes.c_uint64, ctypes.c_char_p, ctypes.c_char_p,
                            ctypes.POINTER(_Arg), ctypes.c_uint64)

    def begin_range(self, text):
        return self._range(_bytes(text))

    def begin_op(self, mod, op, values):
        """`values`: (keyword or None, value) each."""
        args = (_Arg * max(len(values), 1))()
        kept = [self._fill(arg, name, value) for arg, (name, value) in zip(args, values)]
        token = self._op(_bytes(mod), _bytes(op), args, len(values))
        del kept
        return token

    @staticmethod
    def _fill(arg, name, value):
        """Returns what must live until the call."""
        kept = None
        if isinstance(value, bool):
            arg.kind, arg.value.integer = _BOOLEAN, value
        elif isinstance(value, int):
            # A 64-bit address, as pointers are passed, wraps.
            arg.kind, arg.value.integer = _INT, value
        elif isinstance(value, float):
            arg.kind, arg.value.number = _FLOAT, value
        elif value is None:
            arg.kind = _NONE
        elif isinstance(value, str):
            kept = _bytes(value)
            arg.kind, arg.count, arg.value.text = _STRING, len(kept), kept
        elif isinstance(value, tuple) and all(isinstance(item, int) for item in value):
            kept = _ints(value)
            arg.kind, arg.count, arg.value.ints = _INT_TUPLE, len(value), kept
        elif hasattr(value, "shape") and hasattr(value, "dtype"):
            shape = tuple(value.shape)
            kept = _ints(shape)
            arg.kind, arg.count, arg.value.ints = _TENSOR, len(shape), kept
            arg.dtype = _DTYPES.get(str(value.dtype).rpartition(".")[2], 0)
        else:
            kept = _bytes(type(value).__name__)
            arg.kind, arg.count, arg.value.text = _OTHER, len(kept), kept
        arg.name = None if name is None else _bytes(name)
        return kept


def _ints(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


class _InductorLaunches:
    """An op around each launch of a kernel that Inductor compiled, as it tells torch.profiler and emit_nvtx: its
    static launcher, which it prefers, has no hooks. It tells nobody else, so it is asked here."""

    def __init__(self, calls):
        self._calls = calls

    def hook(self):
        import torch

        profiler = getattr(torch._C, "_profiler", None)
        enable = getattr(torch.autograd.profiler, "_set_is_profiler_enabled", None)
        self._record = getattr(profiler, "_RecordFunctionFast", None)
        if enable is None or self._record is None:
            return
        self._profiler_enabled = torch.autograd._profiler_enabled
        profiler._RecordFunctionFast = self.record
        # The end of a profiler of PyTorch's own must not end it.
        torch.autograd.profiler._set_is_profiler_enabled = lambda _: enable(True)
        enable(True)

    def record(self, name, *args, **kwargs):
        """What stands for PyTorch's _RecordFunctionFast(name, input_values, keyword_values)."""
        facts = args[1] if len(args) > 1 else kwargs.get("keyword_values")
        # A profiler of PyTorch's own makes it an op that the observer sees.
        if (not isinstance(facts, dict) or facts.get("kernel_backend") != "triton" or self._profiler_enabled()
                or not self._calls.enabled()):
            return self._record(name, *args, **kwargs)
        inputs = args[0] if args else kwargs.get("input_values")
        return _InductorLaunch(self._calls, name, inputs or (), facts)


class _InductorLaunch:
    def __init__(self, calls, name, inputs, facts):
        self._calls = calls
        self._name = name
        self._inputs = inputs
        self._facts = facts

    def __enter__(self):
        values = [(None, value) for value in self._inputs]
        values += [(key, self._facts[key]) for key in ("kernel_kwargs", "grid", "kernel_flop")
                   if isinstance(self._facts.get(key), (str, int)) and self._facts[key] != ""]
        gigabytes = self._facts.get("kernel_num_gb")
        if isinstance(gigabytes, float) and 0 <= gigabytes < _MOST_GIGABYTES:
            values.append(("kernel_bytes", round(gigabytes * 1e9)))
        self._token = self._calls.begin_op("triton", self._name, values)
        return self

    def __exit__(self, *_):
        self._calls.end(self._token)
        return False


_MOST_GIGABYTES = 9.2e9  # As many bytes as 63 bits hold.


def _inductor_tells(kernel):
    """Whether the launch of a kernel is seen as an op already."""
    import torch

    module = getattr(getattr(getattr(kernel, "src", None), "fn", None), "__module__", None) or ""
    return module.startswith("torch._inductor") and getattr(torch.autograd.profiler, "_is_profiler_enabled", False)


class _TritonLaunches:
    """An op around each launch of a Triton kernel, by Triton's own hooks: of the class CompiledKernel, or of
    triton.knobs since 3.4."""

    def __init__(self, calls):
        self._calls = calls
        self._local = threading.local()  # .launch: (metadata, kernel, grid, args); .token

    def hook(self, triton):
        kernels = getattr(getattr(triton, "compiler", None), "CompiledKernel", None)
        runtime = getattr(sys.modules.get("triton.knobs"), "runtime", None)
        owner = runtime if hasattr(runtime, "launch_enter_hook") else kernels
        if owner is None or not hasattr(owner, "launch_enter_hook"):
            return
        if hasattr(kernels, "launch_metadata"):
            kernels.launch_metadata = self._remembering(kernels.launch_metadata)
        self._add(owner, "launch_enter_hook", self.enter)
        self._add(owner, "launch_exit_hook", self.leave)

    @staticmethod
    def _add(owner, name, function):
        """Beside the hook of others, if there is one."""
        present = getattr(owner, name)
        if hasattr(present, "add"):
            return present.add(function)

        def both(*args):
            present(*args)
            function(*args)

        setattr(owner, name, function if present is None else both)
        return None

    def _remembering(self, original):
        """What Triton collects for its hooks, with grid and arguments, which it tells few of them."""
        local = self._local

        def launch_metadata(kernel, grid, stream, *args):
            metadata = original(kernel, grid, stream, *args)
            local.launch = (metadata, kernel, grid, args)
            return metadata

        return launch_metadata

    def enter(self, metadata=None, *_):
        self._end()  # A launch that failed was not left.
        remembered = getattr(self._local, "launch", None)
        self._local.launch = None
        if not self._calls.enabled():
            return
        if remembered is not None and remembered[0] is metadata:
            _, kernel, grid, args = remembered
            if _inductor_tells(kernel):
                return
            values = _arguments(kernel, args) + [("grid", _grid(grid))]
        else:
            kernel, values = metadata, []
        name = _kernel_name(kernel) or _kernel_name(metadata)
        if name:
            self._local.token = self._calls.begin_op("triton", name, values)

    def leave(self, *_):
        self._end()

    def _end(self):
        token = getattr(self._local, "token", 0)
        if token:
            self._local.token = 0
            self._calls.end(token)


def _kernel_name(found):
    """Of a compiled kernel, or of what Triton tells its hooks: a dict, or one that is filled when asked."""
    for source in (found, getattr(found, "data", None), getattr(found, "metadata", None)):
        name = source.get("name") if isinstance(source, dict) else getattr(source, "name", None)
        if isinstance(name, str):
            return name
    return None


def _arguments(kernel, args):
    """(name, value) of each argument; without names where they do not fit."""
    function = getattr(getattr(kernel, "src", None), "fn", None)
    names = (getattr(getattr(kernel, "metadata", None), "runtime_argument_order", None)
             or getattr(function, "arg_names", None) or [])
    if len(names) != len(args):
        constants = set(getattr(function, "constexprs", ()))
        names = [name for i, name in enumerate(names) if i not in constants]
    if len(names) != len(args):
        names = [f"arg{i}" for i in range(len(args))]
    return list(zip(names, args))


def _grid(grid):
    grid = tuple(int(size) for size in grid) if isinstance(grid, (tuple, list)) else (int(grid),)
    return grid + (1,) * (3 - len(grid))


def _hook_graphs(calls):
    """Ranges for captures and replays, each graph with its number."""
    import torch

    graphs = getattr(torch.cuda, "CUDAGraph", None)
    if not all(hasattr(graphs, name) for name in ("capture_begin", "capture_end", "replay")):
        return
    numbers = itertools.count(1)
    begin, end, replay = graphs.capture_begin, graphs.capture_end, graphs.replay

    def capture_begin(graph, *args, **kwargs):
        result = begin(graph, *args, **kwargs)
        graph.oplens_number = next(numbers)
        graph.oplens_token = calls.begin_range(f"CUDA graph capture #{graph.oplens_number}")
        return result

    def capture_end(graph, *args, **kwargs):
        try:
            return end(graph, *args, **kwargs)
        finally:
            calls.end(getattr(graph, "oplens_token", 0))
            graph.oplens_token = 0

    def replay_annotated(graph, *args, **kwargs):
        token = calls.begin_range(f"CUDA graph replay #{getattr(graph, 'oplens_number', 0)}")
        try:
            return replay(graph, *args, **kwargs)
        finally:
            calls.end(token)

    for name, wrapper in (("capture_begin", capture_begin), ("capture_end", capture_end),
                          ("replay", replay_annotated)):
        wrapper.__doc__ = getattr(graphs, name).__doc__
        wrapper.__name__ = name
        setattr(graphs, name, wrapper)


def _when_imported(name, then):
    """Calls `then` with a module, now or when the program has imported it."""
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Watcher(name, then))


class _Watcher(importlib.abc.MetaPathFinder):
    """Finds nothing itself."""

    def __init__(self, name, then):
        self._name = name
        self._then = then

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec, self._then)
        return spec


class _Loader:
    """The loader of a module, which says when the module is whole."""

    def __init__(self, spec, then):
        self._spec = spec
        self._loader = spec.loader
        self._then = then

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            self._then(module)
        except Exception as error:  # Not the program's concern: its import worked.
            from . import _library

            _library.warn(f"launches of {module.__name__} are not annotated ({error})")
