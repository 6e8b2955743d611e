"""Annotates a PyTorch program with NVTX ranges for oplens: every operator and every node of the
backward pass with shapes, data types and sequence numbers, and the layers they belong to.

    python3 -m oplens_annotate [--trace] [--no-layers] train.py ARGS     # without touching train.py

or in the program:

    import oplens_annotate
    oplens_annotate.init()          # after "import torch"; trace=True adds call stacks
    oplens_annotate.stop()          # optional: only what lies between start() and stop() is
    ...                             # annotated; OPLENS_ANNOTATE=off begins outside of the window
    oplens_annotate.start()

Parts of a program are recorded by profile() and schedule(), as by those of torch.profiler;
record_function() adds ranges of one's own.

Without a profiler that listens to NVTX nothing is hooked and nothing slows down. The library for this
version of PyTorch is looked for in $OPLENS_TORCH_LIBRARY, in this package, beside it, in the folder above,
in the user's cache and where the system looks for libraries; where there is none, init(build=True) or
OPLENS_TORCH_BUILD=1 builds it. Needs Python 3.8.
"""
import os

from . import _library, _modules
from ._schedule import ProfilerAction, profile, record_function, schedule

__all__ = ["init", "start", "stop", "profile", "schedule", "record_function", "ProfilerAction"]

_FALLBACK = ("emit_nvtx of PyTorch takes its place, from each step's forward pass to its end: without data types, "
             "values and forward threads, and with nothing outside of modules. OPLENS_TORCH_BUILD=1 builds the library")

_api = None  # The loaded library; None before init() and where no profiler listens.
_stand_in = None  # What PyTorch itself has in its place.


def init(trace=False, layers=True, pyprof=False, build=False):
    """Begins to annotate. True if ranges will be emitted: False means that no profiler listens.

    trace: the Python stack that calls each op, also switched on by OPLENS_ANNOTATE=trace.
    layers: the path of each module that runs, e.g. "encoder.2.attention".
    pyprof: texts for PyProf's own prof, as OPLENS_ANNOTATE=pyprof; before the library is loaded.
    build: where no library fits this version of PyTorch, builds it first, once: takes half a minute and a
        C++ compiler. Also switched on by OPLENS_TORCH_BUILD=1.
    """
    global _api, _stand_in
    if _api is not None or _stand_in is not None:
        return True
    if pyprof:
        words = os.environ.get("OPLENS_ANNOTATE", "")
        os.environ["OPLENS_ANNOTATE"] = f"{words},pyprof" if words else "pyprof"
    path, problem = _library.find()
    if path is None:
        plain = _library.plain_library()
        if not _library.tool_listens(plain):
            return False
        if build or os.environ.get("OPLENS_TORCH_BUILD") == "1":
            path, problem = _build_library(problem)
    library = None
    if path is not None:
        library, problem = _library.load(path)
        if library is not None and not library.oplens_torch_install():
            return False
    if library is None:
        library = _library.plain_library()
        if not _library.tool_listens(library):
            return False
        _fall_back(problem)
    if library is None:  # Nothing of ours: what emit_nvtx does, which needs a GPU.
        import torch

        return torch.version.cuda is not None or getattr(torch.version, "hip", None) is not None
    _library.declare(library)
    _api = library
    from . import _compiled  # Not without a tool: it looks at PyTorch.

    _compiled.hook(library)
    if trace and not (hasattr(library, "oplens_python_trace") and library.oplens_python_trace(1)):
        _library.warn("no call sites: they need CPython 3.9 or later, and the library for this PyTorch")
    if layers:
        _modules.hook(library)
    return True


def _build_library(problem):
    """(path, None), or (None, why not)."""
    from . import _build

    _library.warn(f"{problem}; it is built now, for this and later runs")
    try:
        return _build.build_for_cache(), None
    except _build.BuildError as error:
        return None, f"{problem}, and could not be built: {error}"


def _fall_back(problem):
    global _stand_in
    from . import _fallback

    _library.warn(f"{problem}; {_FALLBACK}")
    _stand_in = _fallback.begin()
    _fallback.save_execution_trace()


def start():
    """Begins the capture window. Does nothing before init()."""
    if _stand_in is not None:
        _stand_in.start()
    if _api is not None:
        _api.oplens_start()


def stop():
    """Ends the capture window."""
    if _stand_in is not None:
        _stand_in.stop()
    if _api is not None:
        _api.oplens_stop()
