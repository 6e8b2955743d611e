"""Reads what is compared: databases of nvprof's schema with Python's sqlite3, traces of PyTorch's profiler.

Apart from oplens' own readers on purpose, so that one checks the other.
"""
import collections
import contextlib
import ctypes
import gzip
import json
import re
import sqlite3
import struct

Kernel = collections.namedtuple("Kernel", "name grid block start end correlation")
Launch = collections.namedtuple("Launch", "start end thread")
Range = collections.namedtuple("Range", "name start end thread")

MARKER_START, MARKER_END = 2, 4
OBJECT_THREAD = 2
LOW_32_BITS = 0xFFFFFFFF
PREFIX = "CUPTI_ACTIVITY_KIND_"


class Unreadable(Exception):
    pass


class Recording:
    """A database: kernels by start, launches by correlation id, closed ranges, facts of OPLENS_META."""

    def __init__(self, path):
        try:
            # A missing file must not become an empty database.
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                self._read(database)
        except sqlite3.Error as error:
            raise Unreadable(f"{path}: {error}") from error

    def _read(self, database):
        strings = dict(database.execute("SELECT _id_, value FROM StringTable"))
        self.kernels = sorted(
            (Kernel(strings.get(row[0], ""), row[1:4], row[4:7], *row[7:])
             for row in database.execute(
                 "SELECT name, gridX, gridY, gridZ, blockX, blockY, blockZ, start, end, correlationId "
                 f"FROM {PREFIX}CONCURRENT_KERNEL")), key=lambda kernel: kernel.start)
        self.launches = {}
        for table in ("DRIVER", "RUNTIME"):  # A call of the runtime makes calls of the driver: it counts.
            for correlation, start, end, process, thread in database.execute(
                    f"SELECT correlationId, start, end, processId, threadId FROM {PREFIX}{table}"):
                self.launches[correlation] = Launch(start, end, (process, thread & LOW_32_BITS))
        self.ranges, self.unpaired = self._read_ranges(database, strings)
        self.meta = {}
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'OPLENS_META'").fetchone():
            self.meta = dict(database.execute("SELECT key, value FROM OPLENS_META"))

    @staticmethod
    def _read_ranges(database, strings):
        starts, ends = {}, {}
        for flags, time, number, kind, owner, name in database.execute(
                f"SELECT flags, timestamp, id, objectKind, objectId, name FROM {PREFIX}MARKER"):
            if flags & MARKER_START and kind == OBJECT_THREAD:
                starts[number] = (strings.get(name, ""), time, struct.unpack_from("<II", owner))
            elif flags & MARKER_END:
                ends[number] = time
        ranges = [Range(name, time, ends[number], thread)
                  for number, (name, time, thread) in starts.items() if number in ends]
        return sorted(ranges, key=lambda r: r.start), len(starts.keys() ^ ends.keys())

    def named(self, name):
        """The one range of this name."""
        found = [r for r in self.ranges if r.name == name]
        if len(found) != 1:
            raise Unreadable(f"{len(found)} ranges are named \"{name}\", one was expected")
        return found[0]

    def launched_in(self, around, same_thread=True):
        """The kernels whose launch lies in a range, in order of their start."""
        inside = []
        for kernel in self.kernels:
            launch = self.launches.get(kernel.correlation)
            if (launch and around.start <= launch.start and launch.end <= around.end
                    and (launch.thread == around.thread or not same_thread)):
                inside.append(kernel)
        return inside


def read_kineto(path):
    """(name, grid, block) of each kernel of a trace of PyTorch's profiler."""
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            document = json.load(file)
        events = document["traceEvents"] if isinstance(document, dict) else document
        return [(event["name"], tuple(event["args"]["grid"]), tuple(event["args"]["block"]))
                for event in events if str(event.get("cat", "")).lower() == "kernel" and event.get("ph") == "X"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{path}: {error!r}") from error


def _demangler():
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        library.__cxa_demangle.restype = ctypes.c_void_p
        return library.__cxa_demangle, ctypes.CDLL(None).free
    except (OSError, AttributeError) as error:
        raise Unreadable(f"names cannot be demangled: {error}") from error


def demangled(name):
    if not name.startswith("_Z"):
        return name
    demangle, free = _demangler()
    free.argtypes = [ctypes.c_void_p]
    status = ctypes.c_int()
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        free(ctypes.c_void_p(text))


# Demanglers of two versions write the number 4 of a template in different ways: 4, 4u, (unsigned int)4.
_CAST = re.compile(r"\((?:unsigned )?(?:int|long|char|short|long long)\)(?=-?\d)")
_SUFFIX = re.compile(r"\b(\d+)(?:ull|ul|ll|u|l)\b")


def plain_name(name):
    """The name of a kernel, mangled or not, in one way of writing it."""
    name = _SUFFIX.sub(r"\1", _CAST.sub("", demangled(name)))
    return re.sub(r"\s+", "", name).replace("(bool)1", "true").replace("(bool)0", "false")


def function_name(name):
    """The bare name of a kernel: no namespaces, template arguments or parameters."""
    name = plain_name(name).replace("(anonymousnamespace)", "")
    return re.split(r"[<(]", name, maxsplit=1)[0].rsplit("::", 1)[-1]
