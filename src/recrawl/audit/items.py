"""What a page yielded, item by item -> one fetch with a digest of all that it yielded.

A Scrapy feed holds items, not fetches: several a page, and no hash. Times and names of runs are
left out of the digest, and so is the order of a page's items.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from recrawl.audit.account import DamageError
from recrawl.audit.rows import Row, RowError, read_time

ALL = "*"  # --column digest=*
BUT_TIMES = "(the whole row but its times)"
TOGETHER = 60.0  # seconds between the first and the last item of one fetch
OPEN = 50_000  # fetches whose items may still be coming; a feed mixes a few hundred
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_TIMES = {"time", "timestamp", "ts", "t", "date", "datetime", "at", "epoch"}
_RUN = {"job", "run", "session", "crawl", "request", "batch", "trace", "spider"}
_ALWAYS = {"latency", "elapsed", "ttfb", "rtt", "proxy", "retry", "retries", "attempt", "attempts"}
_MASK = 2**64 - 1


@lru_cache(maxsize=4096)
def _kind(name: str) -> str:
    """'always' left out, left out with a 'time' in it, or '' for content.

    >>> [_kind(n) for n in ("scrapedAt", "date_downloaded", "job_id", "latency_ms", "cat")]
    ['time', 'time', 'always', 'always', '']
    """
    words = [w.lower() for w in _WORD.findall(name[:200])] or [""]
    if _ALWAYS & set(words) or (words[-1] in ("id", "key", "uuid") and _RUN & set(words[:-1])):
        return "always"
    return "time" if words[-1] in _TIMES or words[0] in ("date", "timestamp") else ""


def _left_out(name: str, value: Any) -> bool:
    kind = _kind(name)
    if kind != "time":
        return bool(kind)
    try:
        read_time(value)
    except RowError:
        return False
    return True


def _content(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _content(v) for k, v in value.items() if not _left_out(str(k), v)}
    return [_content(v) for v in value] if isinstance(value, list) else value


def digest_of(cells: Mapping[str, Any], ignored: frozenset[str]) -> str:
    """A digest of a row without `ignored` columns and what only tells when. Raises RowError.

    >>> a, b = ({"price": 3, "scraped_at": f"2024-05-1{n}"} for n in (1, 2))
    >>> digest_of(a, frozenset()) == digest_of(b, frozenset())
    True
    """
    try:
        kept = _content({k: v for k, v in cells.items() if k not in ignored})
        text = json.dumps(kept, sort_keys=True, default=str)
    except (RecursionError, ValueError):
        raise RowError("nested too deeply") from None
    return blake2b(text.encode(), digest_size=8).hexdigest()


def says_something(sample: Sequence[Mapping[str, Any]], ignored: frozenset[str]) -> bool:
    """Whether rows hold anything that a digest could be made of."""
    return any(
        cell not in (None, "") and column not in ignored and not _left_out(column, cell)
        for cells in sample
        for column, cell in cells.items()
    )


@dataclass(slots=True)
class _Fetch:
    number: int
    row: Row
    sum: int  # of the items' digests: their order doesn't matter


def fetches(items: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """Items of one URL that came within a minute are one fetch, at the first one's time.

    Items are given on when the next fetch of their page begins, and at the end, also where
    the items end in an error.
    """
    pending: dict[str, _Fetch] = {}
    try:
        for number, row in items:
            digest, held = int(row.digest or "0", 16), pending.get(row.url)
            if held is not None and abs(row.time - held.row.time) <= TOGETHER:
                held.sum += digest
                continue
            if held is not None or len(pending) >= OPEN:
                yield _closed(pending.pop(row.url if held is not None else next(iter(pending))))
            pending[row.url] = _Fetch(number, row, digest)
    except (DamageError, OSError) as error:
        yield from map(_closed, pending.values())
        raise error from None
    yield from map(_closed, pending.values())


def _closed(fetch: _Fetch) -> tuple[int, Row]:
    return fetch.number, replace(fetch.row, digest=f"{fetch.sum & _MASK:016x}")
