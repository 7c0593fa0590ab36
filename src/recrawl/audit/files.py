"""Log files of any known kind -> rows; what can't be read is counted and shown."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from recrawl.audit import httpcache, jsons, kinds, parquet, tables, warc
from recrawl.audit.account import Account, DamageError, LogError, MissingError
from recrawl.audit.lines import Cdx, access, squid, text_lines, weeks
from recrawl.audit.paths import URLS_NAME, Input, beside, expand
from recrawl.audit.rows import Row, RowError
from recrawl.audit.unpack import STDIN, open_log, start
from recrawl.audit.weeks_urls import Urls

CACHE = "Scrapy HTTP cache"


class Reading(Account):
    """Reads logs, and says what it read and what was wrong with it."""

    __slots__ = ()

    def read_all(self, named: Iterable[Path]) -> Iterator[Row]:
        """The rows of files, folders, patterns and stdin ('-').

        A file of no known kind is counted and left out. Raises LogError where none is of a known
        kind or a package is missing, and OSError.
        """
        named, first = list(named), None
        with closing(Urls()) as urls:
            for item in expand(named):
                if item.path.name.startswith(URLS_NAME):
                    self._join(urls, item.path)
            for item in expand(named):
                if beside(item.path):
                    continue
                try:
                    yield from self._cached(item.path) if item.cached else self._file(item, urls)
                except MissingError:
                    raise
                except LogError as error:
                    first = first or error
                    self.leave(error)
        if first is not None and not self.kinds:
            raise first

    def read(self, path: Path) -> Iterator[Row]:
        """The rows of a file. Raises LogError where it is of no known kind, and OSError."""
        with closing(Urls()) as urls:
            yield from self._file(Input(path), urls)

    def _file(self, item: Input, urls: Urls) -> Iterator[Row]:
        path, number = item.path, 0
        with open_log(path) as stream:
            self.kinds[str(path)] = kind = kinds.sniff(start(stream), path, self.host)
            try:
                for number, row in self._numbered(kind, path, stream, urls):  # noqa: B007 - below
                    self.rows += 1
                    yield row
            except DamageError as error:
                self.breaks(path, number + 1, str(error))
            except LogError:
                del self.kinds[str(path)]
                raise

    def _numbered(
        self, kind: str, path: Path, stream: io.BufferedReader, urls: Urls
    ) -> Iterator[tuple[int, Row]]:
        """The reader of a kind, begun."""
        if kind == kinds.PARQUET:
            return parquet.read(self, path, stream)
        if kind == kinds.WARC:
            return warc.read(self, path, stream)
        if kind == kinds.JSON:
            return tables.rows(self, path, jsons.objects(stream))
        lines = text_lines(self, path, stream)
        if kind == kinds.JSON_LINES:
            return tables.rows(self, path, jsons.lines(lines))
        if kind in (kinds.TABLE, kinds.EMPTY):
            return tables.table(self, path, lines)
        if kind == kinds.WEEKS:
            for there in [] if path == STDIN else sorted(path.parent.glob(URLS_NAME + "*")):
                self._join(urls, there)
        parsers: dict[str, Callable[[str], Iterator[Row]]] = {
            kinds.ACCESS: lambda line: kinds.one(access(line, self.host)),
            kinds.SQUID: lambda line: kinds.one(squid(line)),
            kinds.CDX: Cdx(),
            kinds.WEEKS: lambda line: weeks(line, urls),
        }
        return self._parsed(path, lines, parsers[kind])

    def _parsed(
        self, path: Path, lines: Iterable[tuple[int, str]], parse: Callable[[str], Iterator[Row]]
    ) -> Iterator[tuple[int, Row]]:
        for number, line in lines:
            if not line.strip():
                continue
            try:
                for row in parse(line):
                    yield number, row
            except RowError as error:
                self.reject(path, number, str(error))

    def _join(self, urls: Urls, path: Path) -> None:
        """Take in a URL file of the 14-week set, once."""
        if str(path) in self.kinds:
            return
        self.kinds[str(path)] = kinds.WEEKS_URLS
        with open_log(path) as stream:
            try:
                urls.load(self, path, text_lines(self, path, stream))
            except DamageError as error:
                self.breaks(path, 1, str(error))

    def _cached(self, folder: Path) -> Iterator[Row]:
        self.kinds.setdefault(str(folder.parent.parent), CACHE)
        try:
            row = httpcache.read(folder)
        except RowError as error:
            self.reject(folder, 1, str(error))
            return
        if row is not None:
            self.rows += 1
            yield row
