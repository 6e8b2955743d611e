"""Which path a module has: one for as long as it lives, whoever calls it."""
import gc
import heapq
import itertools
import os
import threading
import time
import weakref

# A module made in forward() is looked for among this many of those below the one that calls it.
_MAX_SEARCHED = 256
_MAX_SECONDS = 2.0  # Of CPU time, that all searches of the heap together may take.

# Modules that only pass calls on to a child of this name: it is left out of paths.
_WRAPPED = ("_orig_mod", "_fsdp_wrapped_module", "_fpw_module", "_checkpoint_wrapped_module")
# The same with a child "module", whatever else they have.
_WRAPPERS = ("DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "DeepSpeedEngine")


class Paths:
    """The paths of all modules of the process.

    The first network that runs, or one module of it, has plain paths ("encoder.2.attn"; itself its
    class name); other networks have their class name in front ("Discriminator.main.0"; "Sequential#2"
    if another has that name). A module with several paths has the first.
    """

    def __init__(self, module_class, set_path, forget_path):
        """set_path(id, bytes) is called for each module that has got a path, forget_path(id) when one
        is destroyed."""
        self._class = module_class
        self._set_path = set_path
        self._forget_path = forget_path
        self._known = {}  # id -> _Reference
        self._numbers = {}  # Class name -> _Numbers of the networks that have it in front
        self._plain = None  # The class name of the network that has not, and that first came.
        self._has_plain = False  # Whether it is alive.
        self._originals = {}  # See _original_of().
        self._searches = {}  # Class -> times that the heap was searched in vain for one of it.
        self._seconds = 0.0  # That searches took.
        self._renew_lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self):
        self._lock = threading.RLock()

    def name(self, module, around):
        """Gives a path to a module that has none; `around` is the one that calls it, or None."""
        with self._lock:
            if self._path_of(module) is not None:
                return
            original = self._original_of(module)
            if original is not None:
                self._add(module, original, original)
            elif around is not None and self._path_of(around) is not None:
                self._name_inside(module, around)
            else:
                self._name_outermost(module)

    def _path_of(self, module):
        known = self._known.get(id(module))
        return known.path if known is not None and known() is module else None

    def _add(self, module, path, prefix):
        """`prefix`: what the paths of its children begin with, "" in the network with plain paths."""
        known = _Reference(module, self._forget)
        known.path = path
        known.prefix = prefix
        known.place = None
        self._known[id(module)] = known
        self._set_path(id(module), path.encode("utf-8", "surrogateescape"))
        return known

    def _forget(self, reference):
        """Called before the address of a module can be another's."""
        if self._known.get(reference.number) is reference:
            del self._known[reference.number]
            self._forget_path(reference.number)
        if reference.place is not None:
            name, number = reference.place
            self._numbers[name].give_back(number)
            if not reference.prefix:
                self._has_plain = False

    def _add_tree(self, root, path, prefix):
        """Gives paths to a module and to those below it that have none, in the order of
        named_modules()."""
        left = [(root, prefix)]
        while left:
            module, prefix = left.pop()
            if self._path_of(module) is not None:
                continue
            # A module that its wrapper passes calls on to has the path of the wrapper.
            self._add(module, prefix or path, prefix)
            children = list(_children(module).items())
            for name, child in reversed(children):
                if child is not None:
                    left.append((child, _joined(prefix, _component(module, name, len(children)))))
        return self._known[id(root)]

    def _name_inside(self, module, around):
        known = self._known[id(around)]
        components = self._find_below(around, module)
        if components is None:
            prefix = f"{known.path}.{_class_name(module)}"
        else:
            prefix = known.prefix
            for component in components:
                prefix = _joined(prefix, component)
        self._add_tree(module, prefix or known.path, prefix)

    def _find_below(self, around, module):
        """The components of the path from one module to another, None if it is not found soon. What
        was added last comes first."""
        level = [(around, [])]
        searched = 0
        while level:
            deeper = []
            for parent, components in level:
                children = _children(parent)
                for name in _reversed(children):
                    child = children[name]
                    path = components + [_component(parent, name, len(children))]
                    if child is module:
                        return path
                    searched += 1
                    if searched > _MAX_SEARCHED:
                        return None
                    if child is not None:
                        deeper.append((child, path))
            level = deeper
        return None

    def _name_outermost(self, module):
        top = self._top_of(module)
        if self._path_of(top) is None:
            self._add_root(top)
        if self._path_of(module) is None:
            # Added to a network that is known, and called without it.
            self._name_inside(module, top)

    def _add_root(self, root):
        """Gives paths to a network that is in no other. It takes over the name of one of its class
        that is gone."""
        name = _class_name(root)
        children = _children(root)
        if not children and not _has_parameters(root):
            # A loss or an activation: one is like another.
            self._add(root, name, name)
            return
        number = self._numbers.setdefault(name, _Numbers()).take()
        path = name if number == 1 else f"{name}#{number}"
        plain = children and not self._has_plain and self._plain in (None, name)
        if plain:
            self._plain = name
            self._has_plain = True
            for child in list(children):
                # So that no network is called as one of these.
                self._numbers.setdefault(child, _Numbers(1))
        reference = self._add_tree(root, path, "" if plain else path)
        reference.place = name, number

    def _top_of(self, module):
        """The nearest module with a path around a module, else the largest network that it is in."""
        if not self._worth_searching(type(module)):
            return module
        parents = self._parents()
        around = {id(module): module}
        level = [module]
        tops = []
        while level:
            outer = []
            for child in level:
                found = parents.get(id(child), ())
                if not found:
                    tops.append(child)
                for parent in found:
                    if self._path_of(parent) is not None:
                        return parent
                    if id(parent) not in around:
                        around[id(parent)] = parent
                        outer.append(parent)
            level = outer
        if len(around) == 1:
            self._searches[type(module)] = self._searches.get(type(module), 0) + 1
        return max(tops, key=_size) if tops else module

    def _worth_searching(self, kind):
        """A program may make modules and call them for ever: they are searched for ever less."""
        vain = self._searches.get(kind, 0)
        if self._seconds > _MAX_SECONDS:
            return False
        if vain < 4 or vain & (vain - 1) == 0:
            return True
        self._searches[kind] = vain + 1
        return False

    def _parents(self):
        """The modules that have a module as a child, by its id, of all that are alive."""
        start = time.thread_time()
        kinds = {self._class}
        left = [self._class]
        while left:
            for kind in type.__subclasses__(left.pop()):
                if kind not in kinds:
                    kinds.add(kind)
                    left.append(kind)
        parents = {}
        things = gc.get_objects()
        # Hundreds of thousands, without a step of the interpreter for each.
        for parent in list(itertools.compress(things, map(kinds.__contains__, map(type, things)))):
            for child in list(_children(parent).values()):
                parents.setdefault(id(child), []).append(parent)
        self._seconds += time.thread_time() - start
        return parents

    def _original_of(self, module):
        """The path of the module that DataParallel made a copy of, None if it is no such copy.

        It makes new copies for each batch. A copy has other children and parameters, but the hooks of
        its original.
        """
        variables = vars(module)
        if not variables.get("_is_replica"):
            return None
        hooks = variables.get("_forward_hooks")
        original = self._originals.get(id(hooks))
        original = original and original()
        if original is None or vars(original).get("_forward_hooks") is not hooks:
            self._originals = {}
            for reference in list(self._known.values()):
                other = reference()
                if other is not None and not vars(other).get("_is_replica"):
                    self._originals[id(vars(other).get("_forward_hooks"))] = reference
            original = self._originals.get(id(hooks))
            original = original and original()
        return None if original is None else self._path_of(original)


class _Numbers:
    """Numbers from 1 on, the least that are free."""

    def __init__(self, last=0):
        self._free = []
        self._last = last

    def take(self):
        if self._free:
            return heapq.heappop(self._free)
        self._last += 1
        return self._last

    def give_back(self, number):
        heapq.heappush(self._free, number)


class _Reference(weakref.ref):
    """What is known of a module: its path, what those of its children begin with, its name among the
    networks if it is one, and its id() when it is gone."""

    __slots__ = ("number", "path", "prefix", "place")

    def __new__(cls, module, forget):
        return super().__new__(cls, module, forget)

    def __init__(self, module, forget):
        super().__init__(module, forget)
        self.number = id(module)


def _children(module):
    """The children by name; one without __init__ has none."""
    return vars(module).get("_modules") or {}


def _reversed(children):
    try:
        return list(reversed(children))
    except TypeError:  # The children of a scripted module have no order of their own.
        return list(children.keys())[::-1]


def _has_parameters(module):
    variables = vars(module)
    return bool(variables.get("_parameters") or variables.get("_buffers"))


def _size(module):
    """How many modules there are in it."""
    seen = {id(module)}
    left = [module]
    while left:
        for child in list(_children(left.pop()).values()):
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                left.append(child)
    return len(seen)


def _component(parent, name, siblings):
    """What a child adds to the path of its parent: "" where that only passes calls on."""
    if name in _WRAPPED:
        return ""
    if name == "module" and (siblings == 1 or type(parent).__name__ in _WRAPPERS):
        return ""
    return name


def _joined(path, component):
    return f"{path}.{component}" if path and component else path or component


def _class_name(module):
    """The class of a module, as the user wrote it."""
    for _ in range(8):  # Wrappers in wrappers.
        children = list(_children(module).items())
        inner = next((child for name, child in children
                      if child is not None and not _component(module, name, len(children))), None)
        if inner is None:
            break
        module = inner
    name = type(module).__name__
    # A scripted or traced module tells what it was made from.
    if any(base.__name__ == "ScriptModule" for base in type(module).__mro__):
        name = getattr(module, "original_name", "") or name
    return str(name)
