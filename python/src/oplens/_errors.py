"""Exceptions and warnings of oplens."""

from __future__ import annotations

from typing import Literal, Optional

Kind = Literal["usage", "input", "stopped", "internal"]


class Error(Exception):
    """A question that has no answer. Its text is the line that the programs print.

    Attributes:
        kind: "usage": words are wrong; "input": a file cannot be read, or an output not written;
            "stopped": the work was asked to stop; "internal": anything else.
        file: the file it is about, None if it is about none.
        row: the row of a database's table, None if it is about none.
    """

    kind: Kind
    file: Optional[str]
    row: Optional[int]

    def __init__(self, message: str, kind: Kind = "input", file: Optional[str] = None, row: Optional[int] = None):
        super().__init__(message)
        self.kind = kind
        self.file = file
        self.row = row

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.kind, self.file, self.row))


class UsageError(Error, ValueError):
    """Words of a question are wrong: a view, a column or a condition that does not exist."""


class Warning(UserWarning):
    """Damage of a file: what was lost, cut or left out. The answer is of the rest."""
