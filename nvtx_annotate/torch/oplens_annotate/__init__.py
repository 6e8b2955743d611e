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

Without a profiler that listens to NVTX nothing is hooked and nothing slows down. The library
liboplens_torch.so is looked for in $OPLENS_TORCH_LIBRARY, beside this package, in the folder above, and
where the system looks for libraries. Needs Python 3.8.
"""
from . import _library, _modules
from ._schedule import ProfilerAction, profile, record_function, schedule

__all__ = ["init", "start", "stop", "profile", "schedule", "record_function", "ProfilerAction"]

_FALLBACK = "emit_nvtx of PyTorch takes its place, without data types and forward threads"

_api = None  # The loaded library; None before init() and where no profiler listens.


def init(trace=False, layers=True, pyprof=False):
    """Begins to annotate. True if ranges will be emitted: False means that no profiler listens.

    trace: the Python stack that calls each op, also switched on by OPLENS_ANNOTATE=trace.
    layers: the path of each module that runs, e.g. "encoder.2.attention".
    pyprof: texts for PyProf's own prof, as OPLENS_ANNOTATE=pyprof; before the library is loaded.
    """
    global _api
    if _api is not None:
        return True
    if pyprof:
        words = os.environ.get("OPLENS_ANNOTATE", "")
        os.environ["OPLENS_ANNOTATE"] = f"{words},pyprof" if words else "pyprof"
    library, problem = _library.load()
    if problem:
        _library.warn(f"{problem}; {_FALLBACK}")
        _library.emit_nvtx()
        library = _library.plain_library()
    elif not library.oplens_torch_install():
        return False
    if library is None:
        return True
    _library.declare(library)
    _api = library
    if trace and not (hasattr(library, "oplens_python_trace") and library.oplens_python_trace(1)):
        _library.warn("no call sites: they need CPython 3.9 or later, and the library for this PyTorch")
    if layers:
        _modules.hook(library)
    return True


def start():
    """Begins the capture window. Does nothing before init()."""
    if _api is not None:
        _api.oplens_start()


def stop():
    """Ends the capture window."""
    if _api is not None:
        _api.oplens_stop()
