"""Finds and loads the library that emits."""
import ctypes
import os
import re
import sys

_LIBRARY = "liboplens_torch.so"
_PLAIN_LIBRARY = "liboplens_annotate.so.1"


def warn(text):
    print(f"oplens_annotate: {text}", file=sys.stderr)


def _candidates(name):
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [os.path.join(folder, name) for folder in (beside, os.path.dirname(beside))]


def load():
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


def plain_library():
    """The library without operators, for layers beside PyTorch's own ranges; None if there is none."""
    for path in _candidates(_PLAIN_LIBRARY) + [_PLAIN_LIBRARY]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def emit_nvtx():
    import torch

    try:
        torch.autograd.profiler.emit_nvtx(record_shapes=True).__enter__()
    except Exception as error:  # A build without CUDA refuses, in words of its own.
        warn(f"emit_nvtx failed too, no operator is annotated ({error})")


def declare(library):
    library.oplens_layer_path_begin.argtypes = [ctypes.c_char_p]
    library.oplens_layer_path_begin.restype = ctypes.c_uint64
    library.oplens_trace_begin.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_uint64]
    library.oplens_trace_begin.restype = ctypes.c_uint64
    library.oplens_end.argtypes = [ctypes.c_uint64]
    library.oplens_end.restype = None
