"""The capture schedule of torch.profiler, and ranges of the user's own.

The state machine is that of the library (oplens_schedule_* of oplens_annotate.h); what is here hands
it the actions of the steps."""
import contextlib
import ctypes
import enum
import operator
import warnings
import weakref

from . import _library

_FURTHEST = 2**60  # Numbers of steps that are all the same.
_EXIT = 4


class ProfilerAction(enum.Enum):
    """What is done during a step; the numbers are those of torch.profiler.ProfilerAction."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class _Plan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in
                ("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait")]


_TraceReady = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
_loaded = []  # The library, once it was looked for.


def _api():
    """The library, or None where there is none that knows schedules; said once."""
    if not _loaded:
        _loaded.append(_load())
    return _loaded[0]


def _load():
    library = None
    try:
        path, problem = _library.find()
        if path is not None:
            library, problem = _library.load(path)
    except ImportError:
        problem = "there is no PyTorch"
    if library is None:
        library = _library.plain_library()
    if library is None or not hasattr(library, "oplens_schedule_new"):
        _library.warn(f"no schedules: {problem or 'the library is too old for them'}")
        return None
    library.oplens_schedule_action.argtypes = [ctypes.POINTER(_Plan), ctypes.c_int64]
    library.oplens_schedule_transition.restype = ctypes.c_char_p
    library.oplens_schedule_new.argtypes = [ctypes.POINTER(_Plan), _TraceReady, ctypes.c_void_p]
    library.oplens_schedule_new.restype = ctypes.c_void_p
    for name in ("start", "step", "stop"):
        function = getattr(library, "oplens_schedule_" + name)
        function.argtypes = [ctypes.c_void_p]
        function.restype = ctypes.c_char_p
    for name in ("start_with", "step_with"):
        function = getattr(library, "oplens_schedule_" + name)
        function.argtypes = [ctypes.c_void_p, ctypes.c_int]
        function.restype = ctypes.c_char_p
    library.oplens_schedule_cycle.argtypes = [ctypes.c_void_p]
    library.oplens_schedule_cycle.restype = ctypes.c_int64
    library.oplens_schedule_delete.argtypes = [ctypes.c_void_p]
    library.oplens_schedule_delete.restype = None
    library.oplens_range_begin.argtypes = [ctypes.c_char_p]
    library.oplens_range_begin.restype = ctypes.c_uint64
    library.oplens_end.argtypes = [ctypes.c_uint64]
    library.oplens_end.restype = None
    return library


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A schedule for profile(), as torch.profiler.schedule: skips the first skip_first steps, then waits
    for `wait` steps, warms up for `warmup` steps, records `active` steps, and so on, `repeat` times (0:
    until the end). With skip_first_wait other than 0 the first cycle does not wait."""
    plan = _Plan(*(max(-1, min(operator.index(number), _FURTHEST)) for number in
                   (wait, warmup, active, repeat, skip_first, skip_first_wait != 0)))
    if min(plan.wait, plan.warmup, plan.repeat, plan.skip_first) < 0 or plan.active <= 0:
        raise ValueError("a schedule needs active > 0, and no number below 0")
    if warmup == 0:
        warnings.warn("a schedule without warmup records what the beginning costs", stacklevel=2)

    def action_of(step):
        library = _api()
        if library is None:
            return ProfilerAction.NONE
        action = library.oplens_schedule_action(ctypes.byref(plan), min(step, _FURTHEST))
        if action < 0:
            raise ValueError("steps are numbered from 0")
        return ProfilerAction(action)

    return action_of


def _number(action):
    """That of an action, be it of torch.profiler."""
    return ProfilerAction(getattr(action, "value", action)).value


def _always(_step):
    return ProfilerAction.RECORD


class profile:
    """Records parts of a program, as torch.profiler.profile does; the trace is that of the profiler
    under which the program runs.

        with oplens_annotate.profile(
                schedule=oplens_annotate.schedule(wait=1, warmup=1, active=3, repeat=2),
                on_trace_ready=lambda p: print("cycle", p.cycle)) as p:
            for batch in batches:
                train(batch)
                p.step()

    schedule: what is done during a step, by its number; also of torch.profiler. None: records always,
    without ranges for steps.
    on_trace_ready: called with this object when a cycle is complete.
    record_shapes: ops carry their arguments. profile_memory: events of the allocators.
    with_stack: call sites. with_modules: layers. Both stay on once they are.
    """

    def __init__(self, *, schedule=None, on_trace_ready=None, record_shapes=True,
                 profile_memory=False, with_stack=False, with_modules=True):
        self.schedule = schedule or _always
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._has_steps = schedule is not None
        self._running = False
        self._error = None
        self._memory = False
        self._done = ""  # Letters of the last transition.
        self._library = _api()
        self._machine = None
        if self._library is None:
            return
        reference = weakref.ref(self)

        def ready(_cycle, _context):
            owner = reference()
            if owner is not None:
                owner._trace_ready()

        self._callback = _TraceReady(ready)
        self._machine = self._library.oplens_schedule_new(None, self._callback, None)
        # A program that ends without stop() was cut off: its last cycle is not complete.
        weakref.finalize(self, _delete, self._library, self._machine, self._callback).atexit = False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_exception):
        self.stop()

    @property
    def cycle(self):
        """The number of the cycle that is recorded, or was completed last, from 1: the number in the
        name of its file under `record`."""
        return self._library.oplens_schedule_cycle(self._machine) if self._machine else 0

    def start(self):
        if self._running:
            return
        self._running = True
        if self._machine is None:
            return
        self._switch_on()
        if self._has_steps:
            done = self._library.oplens_schedule_start_with(
                self._machine, _number(self.current_action))
        else:
            done = self._library.oplens_schedule_start(self._machine)
        self._finish(done)

    def step(self):
        """The next step begins."""
        if not self._running:
            return
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if self._machine is None:
            return
        now = _number(self.current_action)
        if b"W" in self._library.oplens_schedule_transition(_number(before), now):
            warnings.warn(f"Incorrect schedule: {before.name} followed by "
                          f"{self.current_action.name}", stacklevel=2)
        if self._has_steps:
            self._finish(self._library.oplens_schedule_step_with(self._machine, now))

    def stop(self):
        if not self._running:
            return
        self._running = False
        if self._machine is None:
            return
        try:
            self._finish(self._library.oplens_schedule_stop(self._machine))
        finally:
            self._switch_off()

    def _finish(self, done):
        self._done = done.decode()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _trace_ready(self):
        try:
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        except BaseException as error:  # It cannot pass through the library.
            self._error = error

    def _switch_on(self):
        from . import init

        observes = init(trace=self.with_stack, layers=self.with_modules)
        if not observes or not hasattr(self._library, "oplens_torch_memory"):
            return
        self._library.oplens_torch_shapes(1 if self.record_shapes else 0)
        self._memory = self.profile_memory and bool(self._library.oplens_torch_memory(1))

    def _switch_off(self):
        if self._memory:
            self._library.oplens_torch_memory(0)
            self._memory = False
        if not self.record_shapes and hasattr(self._library, "oplens_torch_shapes"):
            self._library.oplens_torch_shapes(1)


def _delete(library, machine, _callback):
    library.oplens_schedule_delete(machine)


class record_function(contextlib.ContextDecorator):
    """A range with a name of one's own, around a block or a function; args, a text, stands behind it.

        with oplens_annotate.record_function("augment"): ...

        @oplens_annotate.record_function("augment")
        def augment(batch): ...
    """

    def __init__(self, name, args=None):
        self.name = name
        self.args = args
        text = name if args is None else f"{name}: {args}"
        self._text = str(text).replace("\0", " ").encode("utf-8", "surrogateescape")
        self._token = 0

    def _recreate_cm(self):
        # A function may call itself, and run on several threads.
        return type(self)(self.name, self.args)

    def __enter__(self):
        library = _api()
        if library is not None:
            self._token = library.oplens_range_begin(self._text)
        return self

    def __exit__(self, *_exception):
        token, self._token = self._token, 0
        if token:
            _api().oplens_end(token)
        return False
