"""Log files of any known kind -> rows; what can't be read is counted and shown."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.audit.columns import LogError, guess, to_row
from recrawl.audit.lines import access, cdx, weeks
from recrawl.audit.rows import Row, RowError

SHOWN = 5  # bad rows that are told one by one
LONGEST = 1 << 22  # characters of a line
CONTROL = dict.fromkeys(range(32), " ")


@dataclass(slots=True)
class Reading:
    """What was read so far, and what was wrong with it."""

    host: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)  # file -> what it was taken for
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)

    def reject(self, path: Path, number: int, why: str) -> None:
        """Count a bad row."""
        self.bad += 1
        if len(self.first_bad) < SHOWN:
            self.first_bad.append(f"{path}:{number}: {why.translate(CONTROL)}")

    def read(self, path: Path) -> Iterator[Row]:
        """The rows of a file. Raises LogError where it is of no known kind, and OSError."""
        with _open(path) as text:
            number = 0
            try:
                self.kinds[str(path)], parse = self._kind(path, text)
                for number, found in parse():  # noqa: B007 - told where the file breaks off
                    self.rows += 1
                    yield found
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                self.reject(path, number + 1, f"the file is cut off or damaged: {error}")

    def _kind(self, path: Path, text: io.BufferedReader) -> tuple[str, _Parse]:
        first = text.peek(1 << 16)[: 1 << 16].decode("utf-8", "replace").partition("\n")[0]
        if first.lstrip("\ufeff ").startswith("{"):
            return "JSON lines", lambda: self._json(path, text)
        for name, parser in self._parsers().items():
            try:
                list(parser(first))
            except RowError as error:
                if "--host" in str(error):
                    raise LogError(f"{path}: {error}") from None
                continue
            return name, lambda parser=parser: self._lines(path, text, parser)
        return "table", lambda: self._table(path, text, "\t" if "\t" in first else ",")

    def _parsers(self) -> dict[str, Callable[[str], Iterator[Row]]]:
        def one(row: Row | None) -> Iterator[Row]:
            return iter(() if row is None else (row,))

        return {
            "access log": lambda line: one(access(line, self.host)),
            "CDX": lambda line: one(cdx(line)),
            "14-week crawl data": lambda line: weeks(line, {}),
        }

    def _text(self, path: Path, raw: io.BufferedReader) -> Iterator[tuple[int, str]]:
        number = 0
        while line := raw.readline(LONGEST):
            number += 1
            if len(line) == LONGEST and not line.endswith(b"\n"):
                self.reject(path, number, "the line is longer than 4 MB")
                while (rest := raw.readline(LONGEST)) and not rest.endswith(b"\n"):
                    pass
                continue
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")

    def _lines(
        self, path: Path, raw: io.BufferedReader, parse: Callable[[str], Iterator[Row]]
    ) -> Iterator[tuple[int, Row]]:
        for number, line in self._text(path, raw):
            if not line.strip():
                continue
            try:
                for row in parse(line):
                    yield number, row
            except RowError as error:
                self.reject(path, number, str(error))

    def _json(self, path: Path, raw: io.BufferedReader) -> Iterator[tuple[int, Row]]:
        columns: dict[str, str] = {}
        for number, line in self._text(path, raw):
            try:
                cells = json.loads(line) if line.strip() else None
            except (ValueError, RecursionError):
                self.reject(path, number, "no JSON")
                continue
            if cells is not None:
                yield from self._row(path, number, cells, columns)

    def _row(
        self, path: Path, number: int, cells: Any, columns: dict[str, str]
    ) -> Iterator[tuple[int, Row]]:
        if not isinstance(cells, dict):
            self.reject(path, number, "no JSON object")
            return
        if not columns:
            columns |= guess(list(cells), self.told, str(path))
            self.columns[str(path)] = columns
        try:
            row = to_row(cells, columns)
        except RowError as error:
            self.reject(path, number, str(error))
        else:
            yield number, row

    def _table(
        self, path: Path, raw: io.BufferedReader, delimiter: str
    ) -> Iterator[tuple[int, Row]]:
        lines = (line for _, line in self._text(path, raw))
        reader = csv.reader(lines, delimiter=delimiter)
        header: list[str] | None = None
        columns: dict[str, str] = {}
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self.reject(path, reader.line_num, str(error))
                continue
            if header is None:
                header = cells
                columns = guess(header, self.told, str(path))
                self.columns[str(path)] = columns
            elif cells and len(cells) != len(header):
                self.reject(path, reader.line_num, f"{len(cells)} cells of {len(header)}")
            elif cells:
                named = dict(zip(header, cells, strict=True))
                yield from self._row(path, reader.line_num, named, columns)


_Parse = Callable[[], Iterator[tuple[int, Row]]]


def _open(path: Path) -> io.BufferedReader:
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return io.BufferedReader(gzip.open(path)) if packed else path.open("rb")
