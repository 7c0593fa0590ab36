"""Which column of a table says what: guessed from the names, overridden by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recrawl.audit.rows import (
    Row,
    RowError,
    read_changed,
    read_count,
    read_time,
    read_url,
)

NAMES: dict[str, tuple[str, ...]] = {
    "url": ("url", "link", "uri", "page", "request_url", "loc"),
    "time": (
        "time", "timestamp", "ts", "t", "date", "datetime", "fetched_at", "crawled_at",
        "scraped_at", "visited_at", "fetch_time", "crawl_time",
    ),
    "status": ("status", "status_code", "http_status", "code", "statuscode"),
    "bytes": ("bytes", "size", "length", "content_length", "body_bytes", "response_size"),
    "digest": ("digest", "hash", "content_hash", "checksum", "sha1", "sha256", "md5", "etag"),
    "changed": ("changed", "is_changed", "modified", "change"),
    "page_type": ("page_type", "type", "template", "kind", "category"),
}  # fmt: skip


class LogError(ValueError):
    """A log that can't be read at all; the message says what to do."""


def guess(columns: Sequence[str], told: Mapping[str, str], name: str) -> dict[str, str]:
    """What is known by which column. `told` overrides. Raises LogError without URL or time.

    >>> guess(["Link", "ts"], {}, "log.csv")
    {'url': 'Link', 'time': 'ts'}
    """
    by_name = {c.strip().lower(): c for c in reversed(columns)}
    found = {}
    for field, names in NAMES.items():
        if field in told and told[field] not in columns:
            raise LogError(f"{name}: no column {told[field]!r}; there are {', '.join(columns)}")
        here = [by_name[n] for n in names if n in by_name]
        if field in told or here:
            found[field] = told.get(field) or here[0]
    for field in ("url", "time"):
        if field not in found:
            raise LogError(
                f"{name}: which column is the {field}? Write --column {field}=NAME; "
                f"there are {', '.join(columns)[:300]}"
            )
    return found


def to_row(cells: Mapping[str, Any], columns: Mapping[str, str]) -> Row:
    """A table's row by its columns. Raises RowError."""
    for field in ("url", "time"):
        if cells.get(columns[field]) in (None, ""):
            raise RowError(f"no {field}")

    def cell(field: str) -> Any:
        return cells.get(columns[field]) if field in columns else None

    digest, kind = cell("digest"), cell("page_type")
    return Row(
        url=read_url(cell("url")),
        time=read_time(cell("time")),
        status=read_count(cell("status"), "status"),
        bytes=read_count(cell("bytes"), "bytes"),
        digest=None if digest in (None, "") else str(digest),
        changed=read_changed(cell("changed")),
        page_type=None if kind in (None, "") else str(kind),
    )
