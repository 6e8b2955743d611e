"""What PyTorch itself has, where there is no library for its version: emit_nvtx, entered for a step and
left again, and the execution trace.

A step begins with the forward pass of the outermost module, and ends with the optimizer's step (PyTorch 2),
at the end of a forward pass without gradients, or where the next one begins. emit_nvtx takes the one place
that a thread has for a profiler: it is not entered while another one is active, and left before another one
begins.
"""
import atexit
import os
import threading
import weakref

from . import _library
from ._compiled import is_compiling


class Fallback:
    """Ranges of PyTorch's own, a step at a time."""

    def __init__(self):
        from torch.autograd import profiler
        from torch.nn.modules import module

        self._profiler = profiler
        self._local = threading.local()  # .step: the step that is open on this thread.
        self._open = "off" not in os.environ.get("OPLENS_ANNOTATE", "").split(",")  # The capture window.
        self._failed = False
        self._step_aside()
        module.register_module_forward_pre_hook(self._before)
        module.register_module_forward_hook(self._after)
        try:
            from torch.optim.optimizer import register_optimizer_step_post_hook
        except ImportError:
            return  # PyTorch 1.
        register_optimizer_step_post_hook(self._after_optimizer)

    def start(self):
        self._open = True

    def stop(self):
        self._open = False
        self.leave()

    def leave(self):
        """Ends this thread's step, if one is open."""
        step = getattr(self._local, "step", None)
        if step is not None:
            self._local.step = None
            step.leave()

    def _step_aside(self):
        """Whatever begins a profiler on a thread leaves the step of that thread first."""
        for name in ("_prepare_profiler", "_enable_profiler"):
            original = getattr(self._profiler, name, None)
            if original is not None:
                setattr(self._profiler, name, self._leaving(original))

    def _leaving(self, original):
        def begin(*args, **kwargs):
            self.leave()
            return original(*args, **kwargs)

        return begin

    def _before(self, module, _inputs):
        if is_compiling() or not self._open or self._failed:
            return
        step = getattr(self._local, "step", None)
        if step is not None:
            if step.root() is not module:
                return
            self.leave()  # The same network again: the next step.
        if _profiler_is_active(self._profiler):
            return
        try:
            self._local.step = _Step(self._profiler, module)
        except Exception as error:  # A build without CUDA refuses, in words of its own.
            self._failed = True
            _library.warn(f"emit_nvtx cannot be entered, no operator is annotated ({error})")

    def _after(self, module, _inputs, _output):
        if is_compiling():
            return
        step = getattr(self._local, "step", None)
        if step is not None and step.root() is module and not _gradients_are_recorded():
            self.leave()

    def _after_optimizer(self, _optimizer, _args, _kwargs):
        if not is_compiling():
            self.leave()


class _Step:
    """emit_nvtx while it is entered."""

    def __init__(self, profiler, root):
        self.root = weakref.ref(root)
        self._entered = profiler.emit_nvtx(record_shapes=True)
        self._entered.__enter__()

    def leave(self):
        try:
            self._entered.__exit__(None, None, None)
        except RuntimeError as error:  # The program ended it in its own way.
            _library.warn(f"emit_nvtx ended otherwise ({error})")


def _profiler_is_active(profiler):
    import torch

    if getattr(profiler, "_is_profiler_enabled", False):
        return True
    enabled = getattr(torch.autograd, "_profiler_enabled", None)
    return bool(enabled()) if enabled is not None else False


def _gradients_are_recorded():
    import torch

    return torch.is_grad_enabled()


def begin():
    """Enters emit_nvtx a step at a time, from now on."""
    fallback = Fallback()
    atexit.register(fallback.leave)
    return fallback


def save_execution_trace():
    """Has PyTorch write what it calls into $OPLENS_EXECUTION_TRACE, until the process ends: ops with shapes,
    data types and values, by the number that emit_nvtx calls op_id. True if it does."""
    path = os.environ.get("OPLENS_EXECUTION_TRACE")
    if not path:
        return False
    import torch.profiler

    kind = getattr(torch.profiler, "ExecutionTraceObserver", None) or getattr(
        torch.profiler, "ExecutionGraphObserver", None)
    if kind is None:
        _library.warn("this PyTorch has no execution trace")
        return False
    observer = kind()
    observer.register_callback(path)
    if not getattr(observer, "_registered", True):
        _library.warn("another execution trace is being recorded, OPLENS_EXECUTION_TRACE is ignored")
        return False
    observer.start()
    atexit.register(observer.unregister_callback)
    return True
