"""Rows of `HOT` kept column by column: a pass over all pages touches only what it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from recrawl.model.rows import HOT

Rows = slice | NDArray[np.integer[Any]] | NDArray[np.bool_]
_ALL = slice(None)


class Columns:
    """A table with the columns of `HOT`, 60 bytes a row; read like a structured array.

    `columns["last"]` is that column, `columns[rows]` a table of those rows: its columns are taken
    when they are asked for, so that the others cost nothing.

    >>> table = Columns.of(np.zeros(3, HOT))
    >>> table["key"][1:] = 7
    >>> table[1:]["key"].tolist(), len(table), table[np.array([1])].array()["key"].tolist()
    ([7, 7], 3, [7])
    """

    __slots__ = ("_columns", "_rows")

    def __init__(self, columns: Mapping[str, NDArray[Any]], rows: Rows = _ALL) -> None:
        """`columns`: all of HOT's, aligned; `rows`: those of them that are the table's."""
        self._columns, self._rows = columns, rows

    @classmethod
    def of(cls, hot: np.ndarray) -> Columns:
        """A copy of rows of dtype HOT."""
        return cls({name: np.ascontiguousarray(hot[name]) for name in _NAMES})

    @classmethod
    def joined(cls, parts: Iterable[np.ndarray]) -> Columns:
        """The rows of arrays of dtype HOT, one after the other; little more memory than theirs."""
        columns = {name: np.zeros(0, HOT[name]) for name in _NAMES}
        n = 0
        for part in parts:
            end = n + len(part)
            for name, column in columns.items():
                if end > len(column):
                    columns[name] = column = longer(column, end + end // 2)
                column[n:end] = part[name]
            n = end
        return cls({name: column[:n] for name, column in columns.items()})

    def array(self) -> np.ndarray:
        """A copy as rows of dtype HOT."""
        hot = np.zeros(len(self), HOT)
        for name in _NAMES:
            hot[name] = self[name]
        return hot

    def __len__(self) -> int:
        return len(self["state"])

    @overload
    def __getitem__(self, what: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, what: Rows) -> Columns: ...
    def __getitem__(self, what: str | Rows) -> NDArray[Any] | Columns:
        if isinstance(what, str):
            return self._columns[what][self._rows]
        if self._rows is _ALL:
            return Columns(self._columns, what)
        return Columns({name: self[name] for name in _NAMES}, what)


def longer(column: NDArray[Any], room: int) -> NDArray[Any]:
    """A copy with room behind it, which takes no memory before it is used."""
    out = np.zeros(room, column.dtype)
    out[: len(column)] = column
    return out


_NAMES: tuple[str, ...] = HOT.names or ()
Table = np.ndarray | Columns
"""Rows with the columns of `HOT`, in either form."""
