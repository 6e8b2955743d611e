"""Annotates a PyTorch program with NVTX ranges for oplens: every operator and every node of the
backward pass with shapes, data types and sequence numbers, and the layers they belong to.

    python3 -m oplens_annotate [--trace] [--no-layers] train.py ARGS     # without touching train.py

or in the program:

    import oplens_annotate
    oplens_annotate.init()          # after "import torch"; trace=True adds call stacks
    oplens_annotate.stop()          # optional: only what lies between start() and stop() is
    ...                             # annotated; OPLENS_ANNOTATE=off begins outside of the window
    oplens_annotate.start()

Without a profiler that listens to NVTX nothing is hooked and nothing slows down. The library
liboplens_torch.so is looked for in $OPLENS_TORCH_LIBRARY, beside this file, in the folder above, and
where the system looks for libraries. Needs Python 3.8.
"""
import ctypes
import inspect
import os
import re
import sys
import threading
import weakref

__all__ = ["init", "start", "stop"]

_LIBRARY = "liboplens_torch.so"
_PLAIN_LIBRARY = "liboplens_annotate.so.1"
_MAX_FRAMES = 12
_FALLBACK = "emit_nvtx of PyTorch takes its place, without data types and forward threads"

_api = None  # The loaded library; None before init() and where no profiler listens.


def init(trace=False, layers=True):
    """Begins to annotate. True if ranges will be emitted: False means that no profiler listens.

    trace: a call stack for each module that runs, also switched on by OPLENS_ANNOTATE=trace.
    layers: the path of each module that runs, e.g. "encoder.2.attention".
    """
    global _api
    if _api is not None:
        return True
    library, problem = _load()
    if problem:
        _warn(f"{problem}; {_FALLBACK}")
        _emit_nvtx()
        library = _plain_library()
    elif not library.oplens_torch_install():
        return False
    if library is None:
        return True
    _declare(library)
    _api = library
    trace = trace or "trace" in os.environ.get("OPLENS_ANNOTATE", "").split(",")
    if layers or trace:
        _hook_modules(_Hooks(library, layers, trace))
    return True


def start():
    """Begins the capture window. Does nothing before init()."""
    if _api is not None:
        _api.oplens_start()


def stop():
    """Ends the capture window."""
    if _api is not None:
        _api.oplens_stop()


# ---- the library ----


def _warn(text):
    print(f"oplens_annotate: {text}", file=sys.stderr)


def _candidates(name):
    own = os.path.dirname(os.path.abspath(__file__))
    return [os.path.join(own, name), os.path.join(os.path.dirname(own), name)]


def _load():
    """The library of the operators, or None and what is wrong with it."""
    import torch

    chosen = os.environ.get("OPLENS_TORCH_LIBRARY")
    paths = [chosen] if chosen else [p for p in _candidates(_LIBRARY) if os.path.exists(p)]
    if paths:
        problem = _mismatch(paths[0], torch.__version__)
        if problem:
            return None, problem
    try:
        library = ctypes.CDLL(paths[0] if paths else _LIBRARY)
    except OSError as error:
        return None, f"{_LIBRARY} cannot be loaded ({error})"
    library.oplens_torch_version.restype = ctypes.c_char_p
    return library, None


def _mismatch(path, version):
    """Why the library does not fit this PyTorch, None if it does. It is not loaded for that: it would
    bring the PyTorch that it was built for."""
    try:
        with open(path, "rb") as file:
            build = re.search(rb"oplens_torch build: torch (\S+) soname (\S+) end", file.read())
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    if not build:
        return f"{path} is no library of oplens"
    built, soname = (text.decode() for text in build.groups())
    if built.split(".")[:2] != version.split(".")[:2]:
        return f"{path} was built for PyTorch {built}, this is {version}"
    try:
        ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return f"{path} was built for another PyTorch {built}, with {soname}"
    return None


def _plain_library():
    """The library without operators, for layers beside PyTorch's own ranges; None if there is none."""
    for path in _candidates(_PLAIN_LIBRARY) + [_PLAIN_LIBRARY]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _emit_nvtx():
    import torch

    try:
        torch.autograd.profiler.emit_nvtx(record_shapes=True).__enter__()
    except Exception as error:  # A build without CUDA refuses, in words of its own.
        _warn(f"emit_nvtx failed too, no operator is annotated ({error})")


def _declare(library):
    library.oplens_range_begin.argtypes = [ctypes.c_char_p]
    library.oplens_range_begin.restype = ctypes.c_uint64
    library.oplens_trace_begin.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_uint64]
    library.oplens_trace_begin.restype = ctypes.c_uint64
    library.oplens_end.argtypes = [ctypes.c_uint64]
    library.oplens_end.restype = None


# ---- modules ----


def _hook_modules(hooks):
    from torch.nn.modules import module

    module.register_module_forward_pre_hook(hooks.enter)
    # Newer versions call the hook also after an exception; enter() repairs what older ones leave.
    register = module.register_module_forward_hook
    options = {"always_call": True} if "always_call" in inspect.signature(register).parameters else {}
    register(hooks.leave, **options)


class _Entry:
    """A module that runs."""

    __slots__ = ("module", "token", "frame", "code", "paths", "path")

    def __init__(self, module, token, frame, paths, path):
        self.module = id(module)
        self.token = token
        self.frame = id(frame)  # Of the call; a reference would keep its variables alive.
        self.code = frame.f_code
        self.paths = paths
        self.path = path


class _Hooks:
    """Begins and ends a range for each module that runs, on any thread."""

    def __init__(self, library, layers, trace):
        self._begin = library.oplens_range_begin
        self._end = library.oplens_end
        self._layers = layers
        self._traces = _Traces(library) if trace else None
        self._roots = _WeakMap()  # Root module -> _Paths.
        self._local = threading.local()

    def enter(self, module, _inputs):
        frame = sys._getframe(1)
        stack = self._stack()
        if stack:
            self._drop_dead(stack, frame)
        if stack:
            paths, around = stack[-1].paths, stack[-1].path
        else:
            paths, around = self._paths_of(module), ""
        path, text = paths.find(module, around)
        token = self._traces.begin(frame) if self._traces else 0
        if self._layers:
            inner = self._begin(text)
            # Ending the outer of the two ranges ends both.
            token = token or inner
        stack.append(_Entry(module, token, frame, paths, path))

    def leave(self, module, _inputs, _output):
        stack = self._stack()
        number = id(module)
        for i in range(len(stack) - 1, -1, -1):
            if stack[i].module == number:
                self._cut(stack, i)
                return

    def _stack(self):
        try:
            return self._local.stack
        except AttributeError:
            self._local.stack = stack = []
            return stack

    def _paths_of(self, root):
        paths = self._roots.get(root)
        if paths is None:
            paths = _Paths(root)
            self._roots.set(root, paths)
        return paths

    def _cut(self, stack, size):
        """Ends all but the first entries. Ending the outermost of them ends those in it."""
        token = next((entry.token for entry in stack[size:] if entry.token), 0)
        del stack[size:]
        if token:
            self._end(token)

    def _drop_dead(self, stack, frame):
        """Drops the modules that were left by an exception: their calls do not enclose this one."""
        around = frame.f_back
        top = stack[-1]
        while around is not None:
            if id(around) == top.frame and around.f_code is top.code:
                return
            around = around.f_back
        alive = set()
        around = frame.f_back
        while around is not None:
            alive.add((id(around), around.f_code))
            around = around.f_back
        size = len(stack)
        while size > 0 and (stack[size - 1].frame, stack[size - 1].code) not in alive:
            size -= 1
        self._cut(stack, size)


class _WeakMap:
    """Values by object, which it keeps neither alive nor compares."""

    def __init__(self):
        self._entries = {}

    def get(self, key):
        entry = self._entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def set(self, key, value):
        number = id(key)
        entries = self._entries

        def forget(reference):
            if number in entries and entries[number][0] is reference:
                del entries[number]

        entries[number] = (weakref.ref(key, forget), value)


class _Paths:
    """The paths of the modules below a root, and the texts of their ranges."""

    def __init__(self, root):
        self._root = weakref.ref(root)
        self._paths = _WeakMap()
        self._read()

    def find(self, module, around):
        """(path, text); a module that its root does not know is named after the module around it."""
        known = self._paths.get(module)
        if known is None:
            self._read()
            known = self._paths.get(module)
        if known is None:
            name = type(module).__name__
            known = self._set(module, f"{around}.{name}" if around else name)
        return known

    def _read(self):
        root = self._root()
        if root is None:
            return
        # A module with several paths has the first of them.
        for path, module in root.named_modules():
            if self._paths.get(module) is None:
                self._set(module, path or type(module).__name__)

    def _set(self, module, path):
        known = (path, b"layer:" + _encoded(path))
        self._paths.set(module, known)
        return known


def _encoded(path):
    """Percent-encodes what a layer's text must not hold, as docs/markers.md says."""
    text = b"".join(
        b"%%%02X" % byte if byte in b"%:" or byte < 0x20 or byte > 0x7E else bytes((byte,))
        for byte in path.encode("utf-8", "surrogateescape"))
    # All four words together would make an old parser take the layer for an op.
    if all(word in text for word in (b"mod", b"op", b"args", b"type")):
        text = text.replace(b"args", b"%61rgs")
    return text


class _Traces:
    """Call stacks, each made once."""

    _OWN_FILES = (__file__, os.path.join("torch", "nn", "modules", "module.py"), "runpy>", "runpy.py")

    def __init__(self, library):
        self._begin = library.oplens_trace_begin
        self._known = {}

    def begin(self, frame):
        key = []
        codes = []
        while frame is not None and len(codes) < _MAX_FRAMES:
            code = frame.f_code
            if not code.co_filename.endswith(self._OWN_FILES):
                key.append((id(code), frame.f_lineno))
                codes.append(code)
            frame = frame.f_back
        key = tuple(key)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(key, codes)
        return self._begin(known[0], known[1])

    @staticmethod
    def _make(key, codes):
        texts = [f"{code.co_filename}:{line}".encode("utf-8", "surrogateescape")
                 for code, (_, line) in zip(codes, key)]
        texts.reverse()
        # The codes are kept: another one could have the same id.
        return (ctypes.c_char_p * len(texts))(*texts), len(texts), codes


# ---- python3 -m oplens_annotate ----


def _main():
    import argparse
    import runpy

    parser = argparse.ArgumentParser(
        prog="python3 -m oplens_annotate",
        description="Runs a PyTorch program with its operators, nodes and layers as NVTX ranges.")
    parser.add_argument("--trace", action="store_true", help="add the call stack of each module")
    parser.add_argument("--no-layers", action="store_true", help="leave out the modules' paths")
    parser.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    # The program must find this module, not a second one, when it imports it.
    sys.modules["oplens_annotate"] = sys.modules["__main__"]
    init(trace=options.trace, layers=not options.no_layers)
    sys.argv = [options.program] + options.arguments
    if options.is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    _main()
