"""Tables: answers, in Arrow's memory format."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Union, overload

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._oplens import Table as _Table

_SHOWN_ROWS = 20
_SHOWN_CHARACTERS = 40


class Field(NamedTuple):
    """A column: its key, as in `columns=`; its unit ("ns", "FLOP", "" for none); title; formula."""

    key: str
    unit: str
    title: str
    help: str


class Table:
    """Rows of one answer.

    It is Arrow's memory (`__arrow_c_stream__`, of one batch), so that pyarrow, polars and duckdb take it as it
    is. Integers are int64, times among them in ns as the metadata `unit` says; texts are dictionaries; unknown
    is null, None in Python.

    >>> import oplens
    >>> table = oplens.open(demo).kernels(columns=["op", "sil"], top=2)
    >>> len(table), table.columns
    (2, ['op', 'sil'])
    >>> table[0]["sil"] == table["sil"][0]
    True
    """

    def __init__(self, core: "_Table", notes: tuple[str, ...] = ()):
        self._core = core
        self.notes = notes
        """What `prof -v` says of this answer, a sentence each."""
        self.fields = tuple(Field(*field) for field in core.fields)
        """The columns in order."""
        self._places = {field.key: place for place, field in enumerate(self.fields)}

    @property
    def name(self) -> str:
        """The view's: "operators"."""
        return self._core.name

    @property
    def columns(self) -> list[str]:
        """Keys of the columns in order."""
        return [field.key for field in self.fields]

    @property
    def nbytes(self) -> int:
        """Memory of the arrays, in bytes."""
        return self._core.bytes

    def __len__(self) -> int:
        return self._core.rows

    def _row(self, row: int) -> dict[str, Any]:
        return {field.key: self._core.value(row, place) for place, field in enumerate(self.fields)}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self._row(row) for row in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    def __getitem__(self, key: Union[int, str]) -> Any:
        """A row by its number, or all values of a column by its key."""
        if isinstance(key, str):
            if key not in self._places:
                raise KeyError(key)
            return self._core.values(self._places[key])
        row = key + len(self) if key < 0 else key
        if not 0 <= row < len(self):
            raise IndexError(key)
        return self._row(row)

    def __arrow_c_schema__(self) -> object:
        """A capsule of Arrow's C data interface."""
        return self._core.arrow_schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule of Arrow's C stream interface. No bytes are copied; `requested_schema` is not heeded."""
        del requested_schema
        return self._core.arrow_stream()

    def to_dict(self) -> dict[str, list[Any]]:
        """All values by column."""
        return {field.key: self._core.values(place) for place, field in enumerate(self.fields)}

    def to_arrow(self) -> "pyarrow.Table":
        """A pyarrow.Table on the same memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> "polars.DataFrame":
        """A polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self, **options: Any) -> "pandas.DataFrame":
        """A pandas.DataFrame: texts as categories, integers as Int64 (pandas' own null), lists as Arrow's.

        `options` go to pyarrow.Table.to_pandas. Needs pyarrow.
        """
        import pandas
        import pyarrow

        def type_of(kind: Any) -> Any:
            if kind == pyarrow.int64():
                return pandas.Int64Dtype()
            # On the same memory: an array of Python's for each row would take more than all else.
            return pandas.ArrowDtype(kind) if pyarrow.types.is_nested(kind) else None

        options.setdefault("types_mapper", type_of)
        return self.to_arrow().to_pandas(**options)

    def _shown(self, row: int) -> list[str]:
        texts = []
        for place in range(len(self.fields)):
            text = _text_of(self._core.value(row, place))
            texts.append(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")
        return texts

    def _shown_rows(self) -> list[list[str]]:
        return [self._shown(row) for row in range(min(len(self), _SHOWN_ROWS))]

    def _titles(self) -> list[str]:
        return [f"{field.key} [{field.unit}]" if field.unit else field.key for field in self.fields]

    def _size(self) -> str:
        return f"{self.name}: {len(self)} rows, {len(self.fields)} columns"

    def __repr__(self) -> str:
        rows = [self._titles(), *self._shown_rows()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(self.fields))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([self._size(), *lines, *(["…"] if len(self) > _SHOWN_ROWS else [])])

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th title="{html.escape(field.help)}">{html.escape(title)}</th>'
            for field, title in zip(self.fields, self._titles())
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in self._shown_rows()
        )
        return f"<p>{html.escape(self._size())}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return str(value)
