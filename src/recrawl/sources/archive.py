"""A web archive's index (CDX) -> one hint a page, dated by the last change of its digest.

Read line by line, in whatever form a server answers: the Internet Archive's JSON (a header row,
then arrays), plain CDX of 7, 9 or 11 columns, CDXJ, JSON lines (Common Crawl, pywb).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import ada_url

from recrawl.model import Hint
from recrawl.sources.archive_rows import STAMP, STATUS, Rows, lines
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import Limits, plain
from recrawl.units import DAY

MAX_URL = 2_048  # characters; none longer is admitted
MAX_BYTES = 2_000_000_000
OK = frozenset({"200"})
_REVISIT = "warc/revisit"  # the same body again: told as status "-"


class Capture(NamedTuple):
    """One capture: `key` sorts as the index does, `at` is epoch seconds, texts '' if unknown."""

    key: str
    at: float
    url: str
    mime: str
    status: str
    digest: str


def read(
    chunks: Iterable[bytes],
    base: str,
    now: float,
    reading: Reading,
    *,
    statuses: frozenset[str] = OK,
    mimes: frozenset[str] | None = None,
    limits: Limits | None = None,
) -> Iterator[Hint]:
    """One hint a page, as the latest of its captures writes it; None of `mimes` = any type.

    `modified_at` is when the latest content was first seen: not later than that it changed.
    `reading.resume` is where the next answer begins, '' where this one is the last.

    >>> reading = Reading()
    >>> line = b"com,e)/ 20200418003811 https://e.com/ text/html 200 B2RK 129"
    >>> [(h.url, h.modified_at) for h in read([line], "", 1.8e9, reading)]
    [('https://e.com/', 1587170291.0)]
    """
    held: Capture | None = None
    run: Capture | None = None  # where the latest content begins
    for capture in captures(chunks, now, reading, limits):
        revisit = capture.status in ("", "-") and capture.mime in ("", _REVISIT)
        if not (capture.status in statuses or revisit) or (
            mimes is not None and capture.mime not in mimes and not revisit
        ):
            reading.warn(Warned.LEFT_OUT, capture.url, f"{capture.status} {capture.mime}")
            continue
        if held is not None and held.key != capture.key:
            yield _hint(held, run or held, base, reading)
            run = None
        if run is None or capture.digest != run.digest:
            run = capture
        held = capture
    if held is not None:
        yield _hint(held, run or held, base, reading)


def _hint(last: Capture, run: Capture, base: str, reading: Reading) -> Hint:
    reading.hints += 1
    return Hint(last.url, f"archive:{base}", modified_at=run.at)


def captures(
    chunks: Iterable[bytes], now: float, reading: Reading, limits: Limits | None = None
) -> Iterator[Capture]:
    """The captures that are sound, in the order they come; the others are counted."""
    reading.kind = "archive"
    rows = Rows(reading)
    good = bad = 0
    limits = limits or Limits(bytes=MAX_BYTES, urls=100_000_000)
    for n, line in enumerate(lines(plain(chunks, limits, reading), reading), 1):
        row = rows.row(line, n)
        if row is None:
            continue
        capture = _capture(row, now, f"line {n}", reading)
        if capture is None:
            bad += 1
            continue
        good += 1
        _in_order(capture, reading)
        yield capture
        if good >= limits.urls:
            reading.cut(Warned.OVER_LIMIT, "", f"more than {limits.urls} captures")
            break
    if not good:
        if bad or rows.odd or not rows.seen:
            reading.fail("no line of it is a capture" if rows.odd or bad else "it is empty")
        else:
            reading.warn(Warned.NOTHING_LISTED)
    reading.finish()
    reading.complete = reading.complete and not reading.resume


def _capture(row: dict[str, str], now: float, where: str, reading: Reading) -> Capture | None:
    url = row.get("original", "")
    if not _is_address(url):
        reading.warn(Warned.BAD_URL, where, f"no address of a page: {url[:80]}")
        return None
    at = _moment(row.get("timestamp", ""))
    if at is None or at > now + DAY:
        reading.warn(Warned.BAD_DATE, where, f"no time of a capture: {row.get('timestamp')!r}")
        return None
    if not STATUS.fullmatch(status := row.get("statuscode", "200")):
        reading.warn(Warned.BAD_ROW, where, f"no status: {status[:40]}")
        return None
    key = row.get("urlkey") or url
    return Capture(key, at, url, row.get("mimetype", ""), status, row.get("digest", ""))


def _is_address(url: str) -> bool:
    """http or https, with a host, no credentials (`http://mailto:x@y/` was a mail link)."""
    if len(url) > MAX_URL:
        return False
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return False
    return parsed.protocol in ("http:", "https:") and not parsed.username + parsed.password


def _moment(stamp: str) -> float | None:
    """`yyyyMMddhhmmss`, or its beginning -> epoch seconds."""
    if not STAMP.fullmatch(stamp) or len(stamp) % 2:
        return None
    try:
        full = stamp + "00000101000000"[len(stamp) :]
        return datetime.strptime(full, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _in_order(capture: Capture, reading: Reading) -> None:
    """Keys ascend: where they don't, a part of the index was skipped or is shown twice."""
    first, last = reading.span
    if capture.key < last:
        reading.warn(Warned.OUT_OF_ORDER, capture.url, f"{capture.key} behind {last}")
    reading.span = (first or capture.key, capture.key)


@dataclass(slots=True)
class Changes:
    """What an archive saw of one page: how often, how often other than before, how long."""

    reads: int = 0
    changed: int = 0  # pairs of captures, one after the other, whose digests differ
    span: float = 0.0  # seconds from the first capture to the last


def changes(found: Iterable[Capture]) -> dict[str, Changes]:
    """key -> what its captures say of its change: a start for beliefs. Captures in time order.

    A change that was undone between two captures isn't seen, as with visits of our own.
    """
    seen: dict[str, Changes] = {}
    last: dict[str, Capture] = {}
    for capture in found:
        if not capture.digest or capture.digest == "-":
            continue
        one = seen.setdefault(capture.key, Changes())
        before = last.get(capture.key)
        one.reads += 1
        if before is not None:
            one.changed += capture.digest != before.digest
            one.span += capture.at - before.at
        last[capture.key] = capture
    return seen
