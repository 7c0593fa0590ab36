"""Rows of named cells -> fetches; CSV and its kin as such rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from recrawl.audit.account import Account, DamageError, LogError
from recrawl.audit.columns import Columns, guess
from recrawl.audit.items import fetches
from recrawl.audit.paths import time_in
from recrawl.audit.rows import Row, RowError

SAMPLE = 100  # first rows that tell which column is what
DELIMITERS = ",\t;|"
LONGEST_CELL = 1 << 20
REREAD = 100  # unclosed quotes of a file after which each line is read by itself

Cells = Iterable[tuple[int, Mapping[str, Any] | RowError]]
"""(line or row, cells by column or what is wrong with it)."""


def rows(
    account: Account, path: Path, cells: Cells, columns: Sequence[str] = ()
) -> Iterator[tuple[int, Row]]:
    """The fetches that a table tells. `columns` are all it has; without, those of its first rows.

    Raises LogError before the first row, and what `cells` raises after the rows before.
    """
    sample: list[tuple[int, Mapping[str, Any] | RowError]] = []
    after = coming = iter(cells)
    try:
        for number, named in coming:
            sample.append((number, named))
            if len(sample) == SAMPLE:
                break
    except (DamageError, OSError) as error:
        after = _raised(error)
    good = [named for _, named in sample if not isinstance(named, RowError)]
    names = columns or list(dict.fromkeys(column for named in good for column in named))
    if names:
        known = settle(account, path, names, good)
        yield from fetched(account, path, known, chain(sample, after))
    else:
        yield from fetched(account, path, Columns({}), chain(sample, after))


def settle(
    account: Account, path: Path, names: Sequence[str], sample: Sequence[Mapping[str, Any]]
) -> Columns:
    """What the columns mean, noted for the user. Raises LogError."""
    known = guess(names, account.told, str(path), sample, account.host, time_in(path))
    account.columns[str(path)] = known.shown()
    return known


def fetched(
    account: Account, path: Path, columns: Columns, cells: Cells
) -> Iterator[tuple[int, Row]]:
    """The fetches of rows whose columns are known."""
    found = _read(account, path, columns, cells)
    return fetches(found) if columns.items else found


def _raised(error: Exception | None) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    if error is not None:
        raise error
    yield from ()


def _read(
    account: Account, path: Path, columns: Columns, cells: Cells
) -> Iterator[tuple[int, Row]]:
    for number, named in cells:
        try:
            if isinstance(named, RowError):
                raise named
            row = columns.row(named)
        except RowError as error:
            account.reject(path, number, str(error), error.rows)
        else:
            if row is not None:
                yield number, row


def delimiter(heading: str) -> str:
    """What stands most often in a heading, outside of quotes.

    >>> delimiter('"a,b";c;d')
    ';'
    """
    bare = "".join(heading.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def table(
    account: Account, path: Path, lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, Row]]:
    """A CSV, TSV or the like. Without a heading (a URL stands in it) columns are 1, 2, 3."""
    first = next((line for line in lines if line[1].strip()), None)
    if first is None:
        return
    records = _records(chain((first,), lines), delimiter(first[1]))
    number, heading = next(records, (0, []))
    if isinstance(heading, RowError):
        raise LogError(f"{path}:{number}: the heading can't be read: {heading}")
    if any(c.strip().lower().startswith(("http://", "https://")) for c in heading):
        records = chain(((number, heading),), records)
        heading = [str(n) for n in range(1, len(heading) + 1)]
    yield from rows(account, path, _named(heading, records), heading)


def _named(heading: list[str], records: Iterator[tuple[int, list[str] | RowError]]) -> Cells:
    for number, cells in records:
        if isinstance(cells, RowError):
            yield number, cells
        elif len(cells) != len(heading):
            yield number, RowError(f"{len(cells)} cells of {len(heading)}")
        elif cells != heading:  # else the heading again: files that were put together
            yield number, dict(zip(heading, cells, strict=True))


def _records(
    lines: Iterator[tuple[int, str]], mark: str
) -> Iterator[tuple[int, list[str] | RowError]]:
    """Lines parsed. A quote that is never closed costs its own line at most, none that follow."""
    csv.field_size_limit(LONGEST_CELL)
    taken: list[tuple[int, str]] = []  # lines of the record that is being read
    again: list[tuple[int, str]] = []  # the next line last

    def feed() -> Iterator[str]:
        while (line := again.pop() if again else next(lines, None)) is not None:
            taken.append(line)
            yield line[1]

    width = 0
    for _ in range(REREAD):
        reader = csv.reader(feed(), delimiter=mark, strict=True)
        try:
            for cells in reader:
                width = width or len(cells)
                if len(taken) > 1 and len(cells) != width:
                    break
                if cells or taken[0][1].strip():
                    yield taken[0][0], cells
                taken.clear()
            else:
                return
        except csv.Error:
            pass
        yield taken[0][0], _alone(taken[0][1], mark, width)
        again += reversed(taken[1:])
        taken.clear()
    for number, line in chain(reversed(again), lines):
        yield number, _alone(line, mark, width)


def _alone(line: str, mark: str, width: int) -> list[str] | RowError:
    """A line by itself; where its quotes make no sense they are letters like others."""
    for quotes in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        try:
            cells = next(csv.reader([line], delimiter=mark, quoting=quotes, strict=True), [])
        except csv.Error as error:
            why = str(error)
            continue
        if len(cells) == width or not width:
            return cells
        why = f"{len(cells)} cells of {width}"
    return RowError(why)
