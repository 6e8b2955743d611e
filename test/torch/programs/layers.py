"""Tells the observer which module a thread is in: from the calls of modules, by a table of paths that is
made here.

What is told of a module is "NUMBER<tab>CLASS<tab>PATH": its own number, the class of its network and its path in
there, "" for the network itself. The network is the largest one that has the module when it is first called. A
module that is in none is named after the one that calls it: "encoder.ReLU".
"""
import itertools
import os
import threading
import weakref

import torch

_numbers = itertools.count(1)
_made = weakref.WeakSet()
_known = weakref.WeakKeyDictionary()  # Module -> (number, class, path)
_local = threading.local()


def observe(observer):
    """Every module that is called is told, from now on."""
    call, init = torch.nn.Module.__call__, torch.nn.Module.__init__

    def noted(module, *inputs, **keywords):
        init(module, *inputs, **keywords)
        _made.add(module)

    compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else lambda: False

    def observed(module, *inputs, **keywords):
        if compiling():
            return call(module, *inputs, **keywords)
        around = getattr(_local, "module", None)
        _enter(observer, module, around)
        try:
            return call(module, *inputs, **keywords)
        finally:
            _enter(observer, around, None)

    torch.nn.Module.__init__ = noted
    torch.nn.Module.__call__ = observed
    # A tool sees of a child what happens there: not the layers that its parent was in.
    os.register_at_fork(after_in_child=lambda: _enter(observer, None, None))


def _enter(observer, module, around):
    _local.module = module
    observer.programs_observer_layer(b"" if module is None else "\t".join(_names(module, around)).encode())


def _names(module, around):
    if module not in _known:
        network = _network_of(module)
        if around is None or around in network.modules():
            _name_all(network, _class_name(network), [])
        else:
            _, kind, path = _known[around]
            _name_all(network, kind, [path, _class_name(network)])
    return _known[module]


def _network_of(module):
    """The largest module that has this one and that no path is known of."""
    inside = [other for other in _made if other not in _known and any(one is module for one in other.modules())]
    return max(inside, key=lambda other: len(list(other.modules())), default=module)


def _name_all(network, kind, prefix):
    for path, module in network.named_modules():
        names = prefix + _without_wrappers(network, path.split(".") if path else [])
        _known.setdefault(module, (str(next(_numbers)), kind, ".".join(name for name in names if name)))


def _is_wrapper(module):
    return type(module).__name__ in ("DistributedDataParallel", "AveragedModel", "OptimizedModule")


def _without_wrappers(module, names):
    kept = []
    for name in names:
        if not _is_wrapper(module):
            kept.append(name)
        module = module._modules[name]
    return kept


def _class_name(module):
    while _is_wrapper(module):
        module = module._orig_mod if type(module).__name__ == "OptimizedModule" else module.module
    # What a scripted module was made from.
    return getattr(module, "original_name", None) or type(module).__name__
