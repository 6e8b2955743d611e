"""Layers: a range for each module that runs, with its path."""
import ctypes
import threading

from ._paths import Paths

# Set by hook(). They are globals, and _call_unless_compiling() is as it is, so that the compiler of PyTorch 2 can take
# it for what it passes on to: nothing else of this package may be seen in code that is compiled.
_original = None  # Module.__call__ as it was.
_is_compiling = None
_enter = None
_leave = None


def hook(library):
    """Begins a range for each module that runs, on any thread, from now on. `library` is a ctypes.CDLL."""
    global _original, _is_compiling, _enter, _leave
    from torch import nn

    if _original is not None:
        return
    functions = _native(library, nn.Module)
    if functions is None:
        layers = _Layers(library, nn.Module)
        functions = layers.enter, layers.leave, None
    _enter, _leave, divert = functions
    _original = nn.Module.__call__
    _is_compiling = _compiling_test()
    call = _call if _is_compiling is None else _call_unless_compiling
    if divert:
        divert((call, _original))
    nn.Module.__call__ = call


def _call(self, *args, **kwargs):
    layer = _enter(self)
    try:
        return _original(self, *args, **kwargs)
    finally:
        _leave(layer)


def _call_unless_compiling(self, *args, **kwargs):
    if _is_compiling():
        return _original(self, *args, **kwargs)
    return _call(self, *args, **kwargs)


def _compiling_test():
    """The function that code asks whether it is being compiled; None before PyTorch 2.

    The compiler knows it and puts True in its place; where code runs it answers False.
    """
    import torch

    for place, name in (("compiler", "is_dynamo_compiling"), ("compiler", "is_compiling"), ("_utils", "is_compiling")):
        found = getattr(getattr(torch, place, None), name, None)
        if found is not None:
            return found
    if hasattr(torch, "compile"):
        from torch._dynamo import is_compiling

        return is_compiling
    return None


def _native(library, module_class):
    """The functions of the library that PyTorch's version has; None where it has none, or this is no
    CPython that they know."""
    handle = getattr(library, "_handle", None)
    try:
        # Unlike CDLL this keeps the lock of the interpreter.
        make = ctypes.PyDLL(library._name, handle=handle).oplens_python_layers
    except AttributeError:
        return None
    make.argtypes = [ctypes.py_object]
    make.restype = ctypes.py_object
    paths = None

    def name(module, around):
        paths.name(module, around)

    try:
        enter, leave, set_path, forget_path, divert = make(name)
    except ValueError:  # Null.
        return None
    paths = Paths(module_class, lambda number, path: set_path((number, path)), forget_path)
    return enter, leave, divert


class _Layers:
    """The same by ctypes, with any library of oplens."""

    def __init__(self, library, module_class):
        self._begin = library.oplens_layer_path_begin
        self._end = library.oplens_end
        self._known = {}
        self._paths = Paths(module_class, self._known.__setitem__, self._forget)
        self._local = threading.local()

    def _forget(self, number):
        self._known.pop(number, None)

    def enter(self, module):
        try:
            stack = self._local.stack
        except AttributeError:
            self._local.stack = stack = []
        path = self._known.get(id(module))
        if path is None:
            self._paths.name(module, stack[-1][0] if stack else None)
            path = self._known.get(id(module))
        token = self._begin(path) if path is not None else 0
        stack.append((module, token))
        return len(stack)

    def leave(self, number):
        stack = self._local.stack
        if number > len(stack):
            return
        token = stack[number - 1][1]
        del stack[number - 1:]
        if token:
            self._end(token)
