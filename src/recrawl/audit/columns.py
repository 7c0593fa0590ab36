"""Which column of a table says what: guessed from names and values, overridden by the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from recrawl.audit.account import LogError
from recrawl.audit.items import ALL, BUT_TIMES, digest_of, says_something
from recrawl.audit.rows import (
    Row,
    RowError,
    read_changed,
    read_count,
    read_digest,
    read_time,
    read_url,
)
from recrawl.extract.structured import at_path

NAMES: dict[str, tuple[str, ...]] = {
    "url": (
        "url", "link", "uri", "request_url", "target_uri", "request_uri", "original", "address",
        "page_url", "page", "loc", "href", "canonical_url",
    ),
    "time": (
        "fetched_at", "crawled_at", "scraped_at", "visited_at", "fetch_time", "crawl_time",
        "time", "timestamp", "ts", "t", "@timestamp", "time_iso8601", "time_local", "datetime",
        "crawl_date", "warc_date", "date",
    ),
    "status": ("status", "status_code", "http_status", "code", "statuscode", "fetch_status"),
    "bytes": (
        "bytes", "size", "length", "content_length", "body_bytes", "response_size",
        "body_bytes_sent", "bytes_sent", "response_bytes", "warc_record_length",
    ),
    "digest": (
        "digest", "hash", "content_hash", "content_digest", "checksum", "sha1", "sha256", "md5",
        "etag",
    ),
    "changed": ("changed", "is_changed", "modified", "change"),
    "page_type": ("page_type", "type", "template", "kind", "category"),
    "method": ("method", "request_method", "http_method", "verb"),
    "host": ("host", "hostname", "vhost", "server_name", "domain"),
    "ignore": (),
}  # fmt: skip
"""A field -> names of columns, the surest first. `ignore` names columns no digest is made of."""

VAGUE = {"size", "length", "code", "change", "modified"}  # things have these too
FILE_NAME = "(the file's name)"
LONGEST_TYPE = 60  # characters of a page type; a longer value is a text


@dataclass(frozen=True)
class Columns:
    """What a table's columns mean. `at` holds field -> column."""

    at: Mapping[str, str]
    host: str = ""  # owns paths without a host
    time: float | None = None  # of every row, where no column says it
    ignored: frozenset[str] = frozenset()

    @cached_property
    def flat(self) -> bool:
        """Whether no column lies within another."""
        return not any("." in column for column in self.at.values())

    @cached_property
    def summed(self) -> bool:
        """Whether a digest is made of the whole row."""
        return self.at.get("digest") == BUT_TIMES

    @property
    def items(self) -> bool:
        """Whether rows are what a page yielded, several a fetch, and not fetches."""
        return self.summed and "status" not in self.at

    def shown(self) -> dict[str, str]:
        """What the user is told."""
        return {**self.at, "time": FILE_NAME} if self.time is not None else dict(self.at)

    def row(self, cells: Mapping[str, Any]) -> Row | None:
        """A table's row; None for a method other than GET. Raises RowError."""
        got = cells.get if self.flat else partial(at, cells)
        get = {field: got(column) for field, column in self.at.items()}.get
        method, url, time = get("method"), get("url"), self.time
        if method is not None and str(method).strip().upper() not in ("GET", ""):
            return None
        if url is None or url == "":
            raise RowError("no url")
        if time is None:
            cell = get("time")
            if cell is None or cell == "":
                raise RowError("no time")
            time = read_time(cell)
        kind = get("page_type")
        return Row(
            url=read_url(_plain(url), str(get("host") or self.host)),
            time=time,
            status=read_count(get("status"), "status"),
            bytes=read_count(get("bytes"), "bytes"),
            digest=digest_of(cells, self.ignored) if self.summed else read_digest(get("digest")),
            changed=read_changed(get("changed")),
            page_type=None if kind in (None, "") else str(_plain(kind)),
        )


def at(cells: Mapping[str, Any], column: str) -> Any:
    """What stands in a column; a dotted name also goes into objects: `request.url`."""
    cell = cells.get(column)
    if cell is not None or "." not in column or column in cells:
        return cell
    return at_path(dict(cells), tuple(column.split(".")))


def guess(
    columns: Sequence[str],
    told: Mapping[str, str],
    name: str,
    sample: Sequence[Mapping[str, Any]] = (),
    host: str = "",
    time: float | None = None,
) -> Columns:
    """What is known by which column, by its name and by the values of some first rows.

    `told` overrides; an empty column there means that there is none. `time` is what the file's
    own name says. Raises LogError without URL or time.

    >>> guess(["Link", "ts"], {}, "log.csv").at
    {'url': 'Link', 'time': 'ts'}
    """
    found = _found(columns, told, name, sample, dated=time is not None)
    ignored = frozenset(told.get("ignore", "").split(",")) | {
        column for field, column in found.items() if field != "digest"
    }
    if found.get("digest") == ALL or (
        not _is_fetch(found, told) and says_something(sample, ignored)
    ):
        found = {f: c for f, c in found.items() if f in told or c.lower() not in VAGUE}
        found["digest"] = BUT_TIMES
    if time is not None and not _dated(found, told):
        found.pop("time", None)
    else:
        time = None
    _complete(found, columns, name, time)
    return Columns({f: found[f] for f in NAMES if f in found}, host, time, ignored)


def _found(
    columns: Sequence[str],
    told: Mapping[str, str],
    name: str,
    sample: Sequence[Mapping[str, Any]],
    dated: bool,
) -> dict[str, str]:
    """Columns by what was told, by name, and where neither says a URL or time, by value."""
    found = {}
    for field in NAMES:
        if field in told:
            column: str | None = _told(field, columns, told, name)
        else:
            column = _by_name(field, columns, sample)
        if column:
            found[field] = column
    for field in ("url",) if dated else ("url", "time"):
        rest = [c for c in columns if c not in found.values()]
        if field not in found and field not in told and (column := _by_value(field, rest, sample)):
            found[field] = column
    return found


def _is_fetch(found: Mapping[str, str], told: Mapping[str, str]) -> bool:
    """Whether rows tell of an answer or its content's hash: a shoe's `size` does not."""
    facts = {"digest", "changed", "status", "bytes"} & (found.keys() | told.keys())
    vague = {f for f in facts if f not in told and found[f].lower() in VAGUE}
    return bool(facts - vague) or len(vague) > 1


def _dated(found: Mapping[str, str], told: Mapping[str, str]) -> bool:
    """Whether a column says when the fetch was: an item's `date` is mostly the article's."""
    vague = found.get("digest") == BUT_TIMES and found.get("time", "").lower() == "date"
    return "time" in found and ("time" in told or not vague)


def _complete(
    found: Mapping[str, str], columns: Sequence[str], name: str, time: float | None
) -> None:
    for field in ("url", "time"):
        if field in found or (field == "time" and time is not None):
            continue
        also = ", or name the file by its time, as in feed_2024-05-17T10-00-00.jsonl"
        raise LogError(
            f"{name}: which column is the {field}? Write --column {field}=NAME"
            f"{also if field == 'time' else ''}; there are {', '.join(columns)[:300]}"
        )


def _told(field: str, columns: Sequence[str], told: Mapping[str, str], name: str) -> str:
    column = told[field]
    if field == "ignore" or not column or (field == "digest" and column == ALL):
        return "" if field == "ignore" else column
    if column not in columns and column.partition(".")[0] not in columns:
        raise LogError(f"{name}: no column {column!r}; there are {', '.join(columns)[:300]}")
    return column


def _by_name(
    field: str, columns: Sequence[str], sample: Sequence[Mapping[str, Any]]
) -> str | None:
    by_name = {c.strip().lower().replace("-", "_"): c for c in reversed(columns)}
    here = [by_name[n] for n in NAMES[field] if n in by_name]
    for least in (1, 0):  # a column with values before one that is empty so far
        for column in here:
            cells = _values(column, sample)
            if len(cells) >= least and 2 * _fitting(field, cells, "any") >= len(cells):
                return column
    # url and time keep a column that does not fit: its rows then say why
    return here[0] if here and field in ("url", "time") else None


def _by_value(
    field: str, columns: Sequence[str], sample: Sequence[Mapping[str, Any]]
) -> str | None:
    """The only column whose values are all URLs, or times."""
    fit = [
        column
        for column in columns
        if (cells := _values(column, sample)) and _fitting(field, cells, "") == len(cells)
    ]
    return fit[0] if len(fit) == 1 else None


def _values(column: str, sample: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [cell for cells in sample if (cell := cells.get(column)) not in (None, "")]


def _fitting(field: str, cells: Sequence[Any], host: str) -> int:
    """How many values are what the field holds."""
    n = 0
    for cell in cells:
        try:
            _READ[field](_plain(cell), host)
        except RowError:
            continue
        n += 1
    return n


def _status(cell: object) -> None:
    if not 100 <= (read_count(cell, "status") or 200) <= 999:
        raise RowError("no status")


def _word(cell: object, longest: int) -> None:
    if isinstance(cell, (dict, list)) or len(str(cell)) > longest:
        raise RowError("no word")


def _plain(cell: Any) -> Any:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell


_READ: dict[str, Callable[[Any, str], object]] = {
    "url": read_url,
    "time": lambda cell, _: read_time(cell),
    "status": lambda cell, _: _status(cell),
    "bytes": lambda cell, _: read_count(cell, "bytes"),
    "digest": lambda cell, _: _word(cell, 1000),
    "changed": lambda cell, _: read_changed(cell),
    "page_type": lambda cell, _: _word(cell, LONGEST_TYPE),
    "method": lambda cell, _: _word(cell, 10),
    "host": lambda cell, _: _word(cell, 300),
}
