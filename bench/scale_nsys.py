#!/usr/bin/env python3
"""Makes a large export of Nsight Systems out of a small one, for benchmarks.

    scale_nsys.py IN.sqlite[.gz] OUT.sqlite [--times N]

OUT holds the events of IN N times (40 by default), one repetition after the other, as if the program had gone on.
In every repetition
  - clocks are later by the span of the profile and a gap, NULL stays NULL;
  - correlation, range, grid and graph ids and primary keys are new; 0, negative ones and 2^32 - 1 mean "none" and stay.
A range that was never closed ends with the recording, so it ends with the longer recording in OUT.
Events are the rows of tables with a clock or a correlation id. All others (strings, processes, GPUs, the log of the
profiler, ...) are there once, and so is the session, which is as much longer. Ids of objects that live on (streams,
contexts, CUDA events, call chains) stay. Tables, indices and the order of rows are those of IN.

OUT is written whole or not at all. Exit code 1: IN cannot be read or has no kernel table, OUT cannot be written, or
the ids of so many repetitions would not fit.
"""
import argparse
import errno
import gzip
import os
import pathlib
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import zlib

GAP_NS = 1_000_000
NO_ID = 2**32 - 1
KERNELS, RANGES, SESSIONS = "CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS", "ANALYSIS_DETAILS"
# Tables that say what was profiled and how, whatever their columns are.
FIXED = re.compile(r"(ENUM|TARGET_INFO|META_DATA|ANALYSIS|DIAGNOSTIC|sqlite)_")
# rangeStart and rangeEnd of DX12_MEMORY_OPERATION, for one, are no clocks.
CLOCK = re.compile(r"start|end|timestamp|rawTimestamp")
# Columns of ids, and what they number: columns that number the same thing are shifted alike in all tables.
IDS = {
    "correlationId": "correlation", "endCorrelationId": "correlation", "rangeId": "range", "gridId": "grid",
    "eventSyncId": "wait", "graphId": "graph", "originalGraphId": "graph", "graphExecId": "executable graph",
    "graphNodeId": "graph node", "originalGraphNodeId": "graph node"
}
# Readers hold ids of calls in 32 bits, as CUPTI does; others are only bound by SQLite.
LARGEST = {"correlation": NO_ID - 1}
# Tables without a clock that belong to the events of another one, by its key.
PARTS = {"SAMPLING_CALLCHAINS": "COMPOSITE_EVENTS"}


class Failure(Exception):
    pass


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def uri(path: pathlib.Path, mode: str) -> str:
    return f"{path.resolve().as_uri()}?mode={mode}"


def is_table(table: str, name: str) -> bool:
    """Newer exports number some tables: NVTX_EVENTS_V2."""
    return re.fullmatch(rf"{name}(_V\d+)?", table) is not None


class Profile:
    """What the tables of IN hold, and how far apart their repetitions lie; IN is `src` of the connection."""

    def __init__(self, db: sqlite3.Connection):
        self.db = db
        self.tables: dict[str, list[str]] = {}
        self.keys: dict[str, str] = {}
        for (table,) in db.execute("SELECT name FROM src.sqlite_master WHERE type = 'table'").fetchall():
            columns = db.execute(f"PRAGMA src.table_info({quoted(table)})").fetchall()
            self.tables[table] = [column[1] for column in columns]
            keys = [column[1] for column in columns if column[5]]
            if len(keys) == 1:
                self.keys[table] = keys[0]
        if "StringIds" not in self.tables:
            raise Failure("no table StringIds: not an export of Nsight Systems")
        if not self.named(KERNELS):
            raise Failure(f"no table {KERNELS}: no kernels were recorded")
        self.events = [table for table, columns in self.tables.items() if self.is_event(table, columns)]
        self.ends = [self.ends_of(table, "duration") for table in self.named(SESSIONS)]
        self.session_end = max((high for _, high in filter(None, self.ends)), default=None)
        self.step_ns = self.span() + GAP_NS
        self.largest, self.steps = self.numbers()

    def named(self, name: str) -> list[str]:
        return [table for table in self.tables if is_table(table, name)]

    def is_event(self, table: str, columns: list[str]) -> bool:
        if FIXED.match(table):
            return False
        return PARTS.get(table) in self.tables or any(CLOCK.fullmatch(c) or c == "correlationId" for c in columns)

    def ends_of(self, table: str, column: str, where: str = "1") -> tuple[int, int] | None:
        """The least and the greatest number of a column; None when it has none."""
        column = quoted(column)
        low, high = self.db.execute(f"SELECT min({column}), max({column}) FROM src.{quoted(table)} "
                                    f"WHERE typeof({column}) = 'integer' AND {where}").fetchone()
        return None if low is None else (low, high)

    def span(self) -> int:
        lows, highs = [0], [self.session_end or 0]
        for table in self.events:
            # The raw clock may have another origin.
            for column in {"start", "end", "timestamp"}.intersection(self.tables[table]):
                ends = self.ends_of(table, column)
                if ends:
                    lows.append(ends[0])
                    highs.append(ends[1])
        return max(highs) - min(lows)

    def kind(self, table: str, column: str) -> str | None:
        """What the ids of a column number; None when they stay or are none."""
        if column == self.keys.get(table):
            return f"row of {table}"
        if column == "id" and table in PARTS:
            return f"row of {PARTS[table]}"
        return IDS.get(column)

    def numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """The largest id of a kind, and the distance of the same ids in two repetitions."""
        ends: dict[str, tuple[int, int]] = {}
        for table in self.events:
            for column in self.tables[table]:
                kind = self.kind(table, column)
                found = self.ends_of(table, column, self.is_id(column)) if kind else None
                if found:
                    low, high = ends.get(kind, (0, 0))
                    ends[kind] = min(low, found[0]), max(high, found[1])
        return {k: high for k, (_, high) in ends.items()}, {k: high - low + 1 for k, (low, high) in ends.items()}

    def is_id(self, column: str) -> str:
        return f"{quoted(column)} > 0 AND {quoted(column)} <> {NO_ID}" if column in IDS else "1"

    def check(self, times: int) -> None:
        for kind, step in [*self.steps.items(), ("clock", self.step_ns)]:
            high = self.largest.get(kind, self.step_ns)
            if high + (times - 1) * step > LARGEST.get(kind, 2**63 - 1):
                raise Failure(f"{times} times are too many: {kind} numbers would not fit")

    def shifted(self, table: str, column: str, times: int) -> str:
        """SQL for the column in repetition :k."""
        name = quoted(column)
        kind = self.kind(table, column)
        if kind in self.steps:
            return f"CASE WHEN {self.is_id(column)} THEN {name} + :k * {self.steps[kind]} ELSE {name} END"
        if not CLOCK.fullmatch(column):
            return name
        later = f"{name} + :k * {self.step_ns}"
        if column == "end" and is_table(table, RANGES) and self.session_end is not None:
            return f"CASE WHEN {name} >= {self.session_end} THEN {name} + {(times - 1) * self.step_ns} ELSE {later} END"
        return later


def repeat(db: sqlite3.Connection, profile: Profile, times: int) -> None:
    longer = (times - 1) * profile.step_ns
    for table in profile.named(SESSIONS):
        for column in {"duration", "stopTime"}.intersection(profile.tables[table]):
            db.execute(f"UPDATE main.{quoted(table)} SET {column} = {column} + {longer}")
    for table in profile.named(RANGES):
        if profile.session_end is not None and "end" in profile.tables[table]:
            db.execute(f'UPDATE main.{quoted(table)} SET "end" = "end" + {longer} WHERE "end" >= {profile.session_end}')
    for table in profile.events:
        columns = profile.tables[table]
        insert = (f"INSERT INTO main.{quoted(table)} ({', '.join(map(quoted, columns))}) "
                  f"SELECT {', '.join(profile.shifted(table, column, times) for column in columns)} "
                  f"FROM src.{quoted(table)}")
        for k in range(1, times):
            db.execute(insert, {"k": k})


def scale(source: pathlib.Path, target: pathlib.Path, times: int) -> tuple[int, int]:
    """Writes `target`, a new file, and answers how many events and kernels it holds."""
    db = sqlite3.connect(uri(target, "rwc"), uri=True, isolation_level=None)
    try:
        db.execute("ATTACH ? AS src", (uri(source, "ro"),))
        profile = Profile(db)
        profile.check(times)
        original = sqlite3.connect(uri(source, "ro"), uri=True)
        original.backup(db)
        original.close()
        # A file that is thrown away when anything fails needs no journal.
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -262144"):
            db.execute(f"PRAGMA main.{setting}")
        db.execute("BEGIN")
        repeat(db, profile, times)
        db.execute("COMMIT")

        def rows(tables: list[str]) -> int:
            return sum(db.execute(f"SELECT count(*) FROM main.{quoted(table)}").fetchone()[0] for table in tables)

        return rows(profile.events), rows(profile.named(KERNELS))
    finally:
        db.close()


def is_gzip(path: pathlib.Path) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def run(source: pathlib.Path, out: pathlib.Path, times: int) -> tuple[int, int]:
    if out.exists() and out.samefile(source):
        raise Failure("IN and OUT are the same file")
    if not out.parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "no such folder", str(out.parent))
    if out.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(out))
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    with tempfile.TemporaryDirectory() as folder:
        if is_gzip(source):
            plain = pathlib.Path(folder) / "plain.sqlite"
            with gzip.open(source) as packed, open(plain, "wb") as file:
                shutil.copyfileobj(packed, file)
            source = plain
        try:
            counts = scale(source, part, times)
            os.replace(part, out)
        finally:
            part.unlink(missing_ok=True)
    return counts


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return int(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", metavar="IN.sqlite", type=pathlib.Path)
    parser.add_argument("out", metavar="OUT.sqlite", type=pathlib.Path)
    parser.add_argument("--times", type=positive, default=40, metavar="N", help="repetitions (default: 40)")
    options = parser.parse_args()
    began = time.monotonic()
    try:
        events, kernels = run(options.source, options.out, options.times)
    except OSError as error:
        print(f"scale_nsys.py: {error.filename or options.source}: {error.strerror or error}", file=sys.stderr)
        return 1
    except (Failure, sqlite3.Error, EOFError, zlib.error) as error:
        print(f"scale_nsys.py: {options.source}: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {kernels} kernels among {events} events, {options.out.stat().st_size / 1e6:.1f} MB, "
          f"{time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
