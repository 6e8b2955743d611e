"""Layers and call stacks of the modules that run."""
import ctypes
import inspect
import os
import sys
import threading
import weakref

_MAX_FRAMES = 12


def hook(library, layers, trace):
    """Begins a range for each module that runs, from now on."""
    from torch.nn.modules import module

    hooks = _Hooks(library, layers, trace)
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
        self._begin = library.oplens_layer_path_begin
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
        known = (path, path.encode("utf-8", "surrogateescape"))
        self._paths.set(module, known)
        return known


class _Traces:
    """Call stacks, each made once."""

    _OWN_FILES = (__file__, os.path.join("oplens_annotate", "__main__.py"), os.path.join("torch", "nn", "modules", "module.py"), "runpy>", "runpy.py")

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
