"""Runs: profiles that are read once and asked again and again."""

from __future__ import annotations

import atexit
import builtins
import html
import importlib
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import _oplens
from ._errors import Error, Warning
from ._table import Table

Path = Union[str, bytes, "os.PathLike[str]"]
Source = Union[Path, BinaryIO]
Words = Union[str, Sequence[str]]
Progress = Union[None, bool, Callable[[int, int], None]]

_FOLDER = os.path.dirname(__file__)

# A stopped thread ends before the interpreter does.
atexit.register(_oplens.await_stopped)


def _is_content(source: object) -> bool:
    """Whether bytes are a file's content: profiles begin with what no name begins with."""
    return isinstance(source, (bytearray, memoryview)) or (
        isinstance(source, bytes) and (len(source) > 4096 or source[:1] in (b"{", b"[") or b"\0" in source[:64] or b"\x1f\x8b" == source[:2])
    )


class _Spool:
    """Copies of what is no file, for as long as a run lives."""

    def __init__(self) -> None:
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    def path_of(self, source: Any) -> bytes:
        if not hasattr(source, "read") and not _is_content(source):
            return os.fsencode(source)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="oplens-")
        name = os.path.basename(str(getattr(source, "name", "") or "profile")) or "profile"
        path = os.path.join(self._folder.name, name)
        for number in range(1, sys.maxsize):
            if not os.path.exists(path):
                break
            path = os.path.join(self._folder.name, f"{number}-{name}")
        with builtins.open(path, "wb") as copy:
            if not hasattr(source, "read"):
                copy.write(source)
            else:
                first = source.read(1 << 20)
                if isinstance(first, str):
                    raise Error("the file object gives text; open the file in binary mode", "usage", name)
                while first:
                    copy.write(first)
                    first = source.read(1 << 20)
        return os.fsencode(path)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _words(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options of `prof` from keyword arguments: step_range="3-7" is --step-range=3-7."""
    words = []
    for name, value in options.items():
        word = name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        values = value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            words.append((word, "" if one is True else os.fspath(one) if hasattr(one, "__fspath__") else str(one)))
    return words


def _list(words: Optional[Words]) -> str:
    if words is None:
        return ""
    return words if isinstance(words, str) else ",".join(words)


class _Meter:
    """Shows progress by a callback, or by tqdm where somebody looks."""

    def __init__(self, progress: Progress):
        self._bar: Any = None
        self.callback: Optional[Callable[[int, int], None]] = None
        if callable(progress):
            self.callback = progress
        elif progress is not False and (progress or sys.stderr is not None and sys.stderr.isatty()):
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(delay=1, leave=False, unit_scale=True)
            self.callback = self._show

    def _show(self, done: int, total: int) -> None:
        self._bar.total = total or None
        self._bar.n = done
        self._bar.refresh()

    def __enter__(self) -> Optional[Callable[[int, int], None]]:
        return self.callback

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _warn(told: tuple[list[str], list[str]]) -> tuple[str, ...]:
    """Warns where the user called, and returns what is only noted."""
    notes, lost = told
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _FOLDER:
        frame = frame.f_back
        level += 1
    for line in lost:
        warnings.warn(line, Warning, stacklevel=level)
    return tuple(notes)


@dataclass(frozen=True)
class Summary:
    """A run on one screen: what `oplens FILE` shows."""

    text: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Run:
    """Profiles of the ranks of a run, from `open`. They stay in memory, joined, until `close`."""

    def __init__(self, sources: Sequence[Source], options: Mapping[str, Any], progress: Progress):
        self._spool = _Spool()
        self._progress = progress
        self._core: Optional[_oplens.Run] = None
        try:
            paths = [self._spool.path_of(source) for source in sources]
            self.paths = tuple(os.fsdecode(path) for path in paths)
            """The files as they were named."""
            with _Meter(progress) as meter:
                self._core = _oplens.Run(paths, _words(options), meter)
        except BaseException:
            self._spool.close()
            raise

    def _open(self) -> _oplens.Run:
        if self._core is None:
            raise Error("the run is closed", "usage")
        return self._core

    def _ask(self, view: str, by: Optional[Words], where: str, columns: Optional[Words], top: int,
             options: Mapping[str, Any]) -> list[Table]:
        with _Meter(self._progress) as meter:
            tables, told = self._open().ask(view, _list(by), where, _list(columns), top, _words(options), meter)
        notes = _warn(told)
        return [Table(table, notes) for table in tables]

    def kernels(self, where: str = "", columns: Optional[Words] = None, top: int = 0, *, sort: Optional[str] = None,
                by: Optional[Words] = None, **options: Any) -> Table:
        """A row per kernel, or with `by` per group of kernels, as `prof --json` prints it.

        Args:
            where: a condition such as "dir=bprop and sil>10us" (docs/where.md).
            columns: keys of columns (docs/columns.md) or "all"; default: those of `prof`.
            top: only the first rows; 0: all.
            sort: a column; "-sil" reverses it.
            by: keys such as ["op", "dir"], or "op,dir".
            options: others of `prof`, such as step="ProfilerStep", range="layer1", copies=True.

        >>> import oplens
        >>> oplens.open(demo).kernels(by="dir", columns="dir,count").columns
        ['dir', 'count']
        """
        return self._ask("", by, where, columns, top, {"sort": sort, **options})[0]

    def view(self, name: str, by: Optional[Words] = None, where: str = "", columns: Optional[Words] = None,
             top: int = 0, *, sort: Optional[str] = None, **options: Any) -> Table:
        """The table of a view, as `prof --view NAME --json` prints it; `oplens.views()` names them.

        Args:
            name: such as "operators", "overview", "modules".
            options: others of `prof`, such as step_range="3-7", device=0, compat="hta", all_steps=True.

        >>> import oplens
        >>> oplens.open(demo).view("overview").name
        'overview'
        """
        if "," in name or name == "all":
            raise Error("view() answers with one table: views() takes several names", "usage")
        return self._ask(name, by, where, columns, top, {"sort": sort, **options})[0]

    def views(self, names: Words, by: Optional[Words] = None, where: str = "", columns: Optional[Words] = None,
              top: int = 0, **options: Any) -> dict[str, Table]:
        """Tables of several views, found in one pass over the kernels; "all": of all."""
        return {table.name: table for table in self._ask(_list(names), by, where, columns, top, options)}

    def summary(self, *, markdown: bool = False) -> Summary:
        """The run on one screen."""
        with _Meter(self._progress) as meter:
            text, told = self._open().screen(markdown, meter)
        return Summary(text, _warn(told))

    def report(self, path: Path, **options: Any) -> tuple[str, ...]:
        """Writes the page of `oplens report`: all tables and a timeline. Returns what it says.

        Args:
            path: the file; written whole or not at all.
            options: of `report`, such as title="nightly", limit="5MB", step_range="3-7".
        """
        with _Meter(self._progress) as meter:
            return _warn(self._open().page(os.fsencode(path), _words(options), meter))

    def timeline(self, path: Path, columns: Optional[Words] = None) -> tuple[str, ...]:
        """Writes a timeline for Perfetto and chrome://tracing; `columns`: among the arguments of kernels."""
        with _Meter(self._progress) as meter:
            return _warn(self._open().timeline(os.fsencode(path), _list(columns), meter))

    def page(self, height: int = 800, **options: Any) -> Any:
        """The page of `report` inside a notebook: `height` in pixels, `options` as of `report()`. Needs IPython."""
        display: Any = importlib.import_module("IPython.display")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            self.report(path, **options)
            with builtins.open(path, encoding="utf-8") as page:
                text = page.read()
        # In a block, since IPython has advice about a frame alone.
        return display.HTML(
            f'<div><iframe srcdoc="{html.escape(text)}" width="100%" height="{int(height)}" '
            'sandbox="allow-scripts" style="border:0"></iframe></div>'
        )

    def close(self) -> None:
        """Frees the memory, and copies of what was no file. A closed run cannot be asked."""
        self._core = None
        self._spool.close()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"<oplens.Run of {self.paths[0]}{more}{' (closed)' if self._core is None else ''}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def open(source: Union[Source, Iterable[Source]], *, progress: Progress = None, **options: Any) -> Run:
    """Opens a run: one profile, several files or folders (its ranks), records, or summaries.

    Profiles are read when something is first asked of them, and read again only for a view that needs a part of
    them that no earlier answer needed.

    Args:
        source: a path, a binary file object, the bytes of a file, or a list of these.
        progress: called with (done, total) of the current stage, bytes or kernels, total 0 if it is unknown; True:
            tqdm; None: tqdm if it is installed and standard error is a terminal; False: nothing.
        options: of `prof`, for each question: gpu="H200", rules="rules.toml", step="ProfilerStep", op="outer",
            execution_trace=..., evidence=..., reference=..., counters=..., jobs=N.

    Raises:
        Error: a file is missing or no profile. UsageError: an option is wrong.
    """
    many = not isinstance(source, (str, bytes, bytearray, memoryview)) and not hasattr(source, "read") and not hasattr(
        source, "__fspath__"
    )
    sources = list(source) if many else [source]  # type: ignore[arg-type]
    return Run(sources, options, progress)  # type: ignore[arg-type]


class Diff:
    """Two runs compared.

    Attributes:
        total: a row per run, base and new: its steps and their mean length.
        setup: facts that differ, such as the GPU.
        causes: parts of the change, largest first; they add up to it.
        tables: of each view, by its name.
        text: what is said of both runs.
        notes: what `prof -v` says.
    """

    def __init__(self, tables: list[Table], text: str, notes: tuple[str, ...]):
        named = {table.name: table for table in tables}
        self.total = named["diff"]
        self.setup = named.get("diff_setup")
        self.causes = named["diff_causes"]
        self.tables = {
            name.removeprefix("diff_"): table
            for name, table in named.items()
            if name not in ("diff", "diff_setup", "diff_causes")
        }
        self.text = text
        self.notes = notes

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>" + self.causes._repr_html_()


def diff(base: Union[Run, Source], new: Union[Run, Source], views: Optional[Words] = None, *,
         by: Optional[Words] = None, top: int = 0, all: bool = False, **options: Any) -> Diff:
    """Compares two runs as `oplens diff`: what changed per step, why, and whether it is more than noise.

    Args:
        base, new: runs, or what `open` takes. Both are read for it.
        views: whose tables to compare; default: operators.
        all: also rows that did not change.
        options: such as step_range="3-7", device=0.
    """
    opened = []
    try:
        sides = []
        for side in (base, new):
            if not isinstance(side, Run):
                side = open(side)
                opened.append(side)
            sides.append(side)
        words = {"view": _list(views) or None, "by": _list(by) or None, "top": top or None, "all": all, **options}
        with _Meter(sides[1]._progress) as meter:
            tables, text, told = sides[0]._open().diff(sides[1]._open(), _words(words), meter)
        return Diff([Table(table) for table in tables], text, _warn(told))
    finally:
        for run in opened:
            run.close()


@dataclass(frozen=True)
class Cost:
    """The cost of one call, by the model of its op (docs/costs.md); None: unknown.

    `flops` counts an FMA as two, `flops_mma` are those of matrix products; `bytes` is the least traffic of DRAM.
    `roof_ns` is the least time on the GPU by its peaks, in ns: at the roof that is reached first.
    """

    op: str
    params: str
    flops: Optional[int]
    flops_mma: Optional[int]
    bytes: Optional[int]
    roof_ns: Optional[float]
    backward_flops: Optional[int]
    backward_flops_mma: Optional[int]
    backward_bytes: Optional[int]
    backward_roof_ns: Optional[float]
    flops_bounded: bool
    gpu: Optional[str]


def price(op: str, shapes: Sequence[Sequence[int]] = (), dtype: Union[str, Sequence[str]] = "float32",
          args: Sequence[Any] = (), gpu: Optional[str] = None) -> Cost:
    """FLOPs and bytes of a call without a profile.

    Args:
        op: an operator of PyTorch: "aten::mm" or "mm".
        shapes: of its tensors, in the order of its schema.
        dtype: of all tensors, or one each: "bf16", "torch.float16".
        args: arguments after the tensors, in the order of the schema.
        gpu: whose roofs count, as --gpu takes it.

    >>> import oplens
    >>> cost = oplens.price("aten::mm", shapes=[(64, 32), (32, 16)], dtype="bf16", gpu="H200")
    >>> cost.flops, cost.bytes, cost.params
    (65536, 7168, 'M=16,N=64,K=32,bf16')
    """
    dtypes = [dtype] if isinstance(dtype, str) else list(dtype)
    return Cost(**_oplens.price(op, [list(shape) for shape in shapes], [str(one) for one in dtypes], list(args), gpu))


def views() -> str:
    """The views of `Run.view` with what they show, a line each."""
    return _oplens.list_of_views()
