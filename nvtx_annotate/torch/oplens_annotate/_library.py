"""Finds and loads the library that emits."""
import ctypes
import os
import platform
import re
import sys

_LIBRARY = "liboplens_torch.so"
_PLAIN_LIBRARY = "liboplens_annotate.so.1"


def warn(text):
    print(f"oplens_annotate: {text}", file=sys.stderr)


def _folders():
    """Where libraries lie, nearest first: in the package (wheels), beside it, above it, where the system has
    them, in the user's cache (what init(build=True) built)."""
    package = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.dirname(package)
    yield from (package, beside, os.path.dirname(beside))
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    for root in ("/usr/local", "/usr"):
        for name in ("lib", f"lib/{platform.machine()}-linux-gnu", "lib64"):
            yield f"{root}/{name}"
    yield cache_folder()


def cache_folder():
    """Where the libraries lie that these sources were built to at first use."""
    from . import _build

    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "oplens", _build.digest())


def minor_of(version):
    """"2.9" of "2.9.1+cu128"; None of what does not begin like that."""
    found = re.match(r"\d+\.\d+", version)
    return found.group() if found else None


def name_for(torch):
    """The name of the library for a PyTorch: one a minor version, C++ ABI and architecture."""
    abi = "cxx11" if getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True) else "pre11"
    return f"liboplens_torch-{minor_of(torch.__version__)}-{abi}-{platform.machine()}.so"


def find():
    """(path, None) of the library for this PyTorch, or (None, why there is none). Nothing is loaded."""
    import torch

    chosen = os.environ.get("OPLENS_TORCH_LIBRARY")
    if chosen:
        problem = _mismatch(chosen, torch)
        return (None, problem) if problem else (chosen, None)
    problem = None
    for folder in _folders():
        for name in (name_for(torch), _LIBRARY):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                mismatch = _mismatch(path, torch)
                if not mismatch:
                    return path, None
                problem = problem or mismatch
    return None, problem or f"there is no {name_for(torch)} for PyTorch {torch.__version__}"


def load(path):
    """The library, or None and what is wrong with it. It installs itself where a tool listens."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        return None, f"{path} cannot be loaded ({error})"
    library.oplens_torch_version.restype = ctypes.c_char_p
    return library, None


def _mismatch(path, torch):
    """Why the library does not fit this PyTorch, None if it does. It is not loaded for that: it would
    bring the PyTorch that it was built for."""
    try:
        with open(path, "rb") as file:
            build = re.search(rb"oplens_torch build: torch (\S+) soname (\S+) (?:abi (\d) )?end", file.read())
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    if not build:
        return f"{path} is no library of oplens"
    built, soname, abi = (text.decode() if text else None for text in build.groups())
    minor = minor_of(torch.__version__)
    if minor is not None and minor_of(built) != minor:
        return f"{path} was built for PyTorch {built}, this is {torch.__version__}"
    if minor is None and not os.environ.get("OPLENS_TORCH_LIBRARY"):
        return (f"{path} was built for PyTorch {built}, the version {torch.__version__} of this one tells nothing; "
                f"if they are the same, set OPLENS_TORCH_LIBRARY={path}")
    if abi is not None and bool(int(abi)) != bool(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", int(abi))):
        return f"{path} was built for a PyTorch {built} with another C++ ABI"
    try:
        ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return f"{path} was built for another PyTorch {built}, with {soname}"
    return None


def plain_library():
    """The library without operators, for layers beside PyTorch's own ranges; None if there is none."""
    for path in [os.path.join(folder, _PLAIN_LIBRARY) for folder in _folders()] + [_PLAIN_LIBRARY]:
        if os.path.isabs(path) and not os.path.exists(path):
            continue
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def tool_listens(library):
    """Whether a profiler listens to NVTX in this process. `library`: of ours, or None where there is none to
    ask; then it is what NVTX itself looks at first."""
    if library is not None and hasattr(library, "oplens_has_tool"):
        return bool(library.oplens_has_tool())
    return bool(os.environ.get("NVTX_INJECTION64_PATH")) or hasattr(ctypes.CDLL(None), "InitializeInjectionNvtx2")


def declare(library):
    library.oplens_layer_path_begin.argtypes = [ctypes.c_char_p]
    library.oplens_layer_path_begin.restype = ctypes.c_uint64
    library.oplens_trace_begin.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_uint64]
    library.oplens_trace_begin.restype = ctypes.c_uint64
    library.oplens_end.argtypes = [ctypes.c_uint64]
    library.oplens_end.restype = None
