"""Tells the observer which module a thread is in: from the calls of modules, by a table of paths that is
made here."""
import os
import threading
import weakref

import torch

# Attributes under which wrappers keep the module that they wrap.
_WRAPPERS = {"module": torch.nn.parallel.DistributedDataParallel}

_paths = weakref.WeakKeyDictionary()
_local = threading.local()


def observe(observer):
    """Every module that is called is told, from now on."""
    call = torch.nn.Module.__call__

    def observed(module, *inputs, **keywords):
        around = getattr(_local, "path", "")
        _local.path = _path_of(module, around)
        observer.programs_observer_layer(_local.path.encode())
        try:
            return call(module, *inputs, **keywords)
        finally:
            _local.path = around
            observer.programs_observer_layer(around.encode())

    torch.nn.Module.__call__ = observed
    # A tool sees of a child what happens there: not the layers that its parent was in.
    os.register_at_fork(after_in_child=lambda: _leave_all(observer))


def _leave_all(observer):
    _local.path = ""
    observer.programs_observer_layer(b"")


def forget():
    """What was called so far."""
    _paths.clear()


def _type_name(module):
    return getattr(module, "original_name", None) or type(module).__name__


def _path_of(module, around):
    """The path in the root that was called first; a module that no root has is named after the one that
    calls it."""
    if module not in _paths and not around:
        for path, found in module.named_modules():
            _paths.setdefault(found, _without_wrappers(module, path) or _type_name(found))
    if module not in _paths:
        _paths[module] = f"{around}.{_type_name(module)}" if around else _type_name(module)
    return _paths[module]


def _without_wrappers(root, path):
    kept = []
    for name in path.split(".") if path else []:
        if not isinstance(root, _WRAPPERS.get(name, ())):
            kept.append(name)
        root = root._modules[name]
    return ".".join(kept)
