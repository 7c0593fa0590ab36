"""Rows of the SQLite store: how each value of the model is written compactly and read back.

Kept exactly: all integers, texts, money, hosts, reservations. Kept to the millisecond: the times
of pages, visits and changes. Kept as float32: a page's belief (as the planner's `HOT` has it).
Kept to 0.1 %: the marks that explain a visit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from struct import Struct
from typing import Any

from recrawl.model import Change, Host, Page, Purpose, Record, Reservation, State, Verdict
from recrawl.units import Spend

Row = tuple[Any, ...]

FOREVER = (1 << 47) - 1  # the largest time in milliseconds that SQLite keeps in 6 bytes
_LAST_TIME = FOREVER / 1000
DAY_MS = 86_400_000

_BELIEF = Struct("<5f")
_BELIEF_AND_INTERVAL = Struct("<6f")
_STATES = {s.value: s for s in State}
_VERDICTS = {v.value: v for v in Verdict}
_PURPOSES = {p.value: p for p in Purpose}


def to_ms(t: float) -> int:
    """Epoch seconds (inf = for ever) -> whole milliseconds."""
    return FOREVER if t >= _LAST_TIME else round(t * 1000)


def from_ms(ms: int) -> float:
    """Whole milliseconds -> epoch seconds."""
    return float("inf") if ms >= FOREVER else ms / 1000


def text(s: str | None) -> str | None:
    """Text as SQLite can hold it: what is no Unicode (a lone surrogate) is kept as an escape."""
    if s is None or s.isascii():
        return s
    return s.encode("utf-8", "backslashreplace").decode()


def to_json(fields: dict[str, Any] | None) -> str | None:
    """Fields as JSON text. Raises TypeError or ValueError for what JSON can't say."""
    if fields is None:
        return None
    out = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    try:
        out.encode()
    except UnicodeEncodeError:  # a lone surrogate: the escaped form keeps it exactly
        return json.dumps(fields, separators=(",", ":"))
    return out


def from_json(stored: str | None) -> dict[str, Any] | None:
    """The inverse of `to_json`."""
    return None if stored is None else json.loads(stored)


# pages

PAGE_COLUMNS = (
    "host_id", "key", "path", "state", "page_type", "value", "depth", "hops", "score",
    "first_seen", "last", "last_attempt", "changed_at", "due", "belief", "etag", "last_modified",
    "variant", "digest1", "digest2", "fails", "missing", "retry_at", "n_visits", "n_changes",
    "n_not_modified", "target", "canonical",
)  # fmt: skip


def page_row(p: Page) -> Row:
    """A page in the order of PAGE_COLUMNS."""
    last, attempt, changed = to_ms(p.last), to_ms(p.last_attempt), to_ms(p.changed_at)
    return (
        p.host_id, p.key, text(p.path), int(p.state), p.page_type, p.value, p.depth, p.hops,
        p.score, to_ms(p.first_seen), last, None if attempt == last else attempt,
        None if changed == last else changed, to_ms(p.due),
        _belief(p),
        text(p.etag), text(p.last_modified), text(p.variant) or None, p.digest1, p.digest2,
        p.fails, p.missing, to_ms(p.retry_at), p.n_visits, p.n_changes, p.n_not_modified,
        text(p.target), text(p.canonical),
    )  # fmt: skip


def _belief(p: Page) -> bytes:
    """Nothing, the five numbers that most pages have, or six."""
    if p.interval:
        return _BELIEF_AND_INTERVAL.pack(p.a, p.b, p.va, p.vb, p.body, p.interval)
    known = p.a or p.b or p.va or p.vb or p.body
    return _BELIEF.pack(p.a, p.b, p.va, p.vb, p.body) if known else b""


def page_of(row: Sequence[Any]) -> Page:
    """The inverse of `page_row`."""
    (
        host_id, key, path, state, page_type, value, depth, hops, score, first_seen, last, attempt,
        changed, due, belief, etag, last_modified, variant, digest1, digest2, fails, missing,
        retry_at, n_visits, n_changes, n_not_modified, target, canonical,
    ) = row  # fmt: skip
    a, b, va, vb, body, interval = _BELIEF_AND_INTERVAL.unpack(belief.ljust(24, b"\0"))
    read = from_ms(last)
    return Page(
        host_id, key, path, _STATES[state], page_type, value, depth, hops, score,
        from_ms(first_seen), read, read if attempt is None else from_ms(attempt),
        read if changed is None else from_ms(changed), from_ms(due), a, b, va, vb, body,
        etag, last_modified, variant or "", digest1, digest2, fails, missing, from_ms(retry_at),
        interval, n_visits, n_changes, n_not_modified, target, canonical,
    )  # fmt: skip


# hosts

HOST_COLUMNS = (
    "host_id", "origin", "n_pages", "delay", "next_ok", "crawl_delay", "penalty",
    "throttled_until", "fails", "latency", "robots_status", "robots_at", "robots_until",
    "handshake", "n_validator", "n_304", "note",
)  # fmt: skip


def host_row(h: Host) -> Row:
    """A host in the order of HOST_COLUMNS; its robots.txt has a table of its own."""
    return (
        h.host_id, h.origin, h.n_pages, h.delay, h.next_ok, h.crawl_delay, h.penalty,
        h.throttled_until, h.fails, h.latency, h.robots_status, h.robots_at, h.robots_until,
        h.handshake, h.n_validator, h.n_304, text(h.note),
    )  # fmt: skip


def host_of(row: Sequence[Any]) -> Host:
    """The inverse of `host_row`, the robots.txt (or None) as the last column."""
    *columns, body = row
    return Host(**dict(zip(HOST_COLUMNS, columns, strict=True)), robots_body=body or b"")


# changes, records, reservations


def change_row(c: Change) -> Row:
    """A change as its row."""
    return (
        to_ms(c.t), to_ms(c.t_before), c.host_id, c.key, c.page_type, int(c.verdict),
        to_json(c.before), to_json(c.after),
    )  # fmt: skip


def change_of(row: Sequence[Any]) -> Change:
    """The inverse of `change_row`."""
    t, t_before, host_id, key, page_type, verdict, before, after = row
    return Change(
        from_ms(t), from_ms(t_before), host_id, key, page_type, _VERDICTS[verdict],
        from_json(before), from_json(after),
    )  # fmt: skip


def record_row(host_id: int, key: int, r: Record) -> Row:
    """A record as its row."""
    return host_id, key, to_json(r.fields), r.digest1, r.digest2


def record_of(row: Sequence[Any]) -> Record:
    """The inverse of `record_row`, without the keys."""
    fields, digest1, digest2 = row
    return Record(from_json(fields) or {}, digest1, digest2)


def spend_row(s: Spend) -> tuple[int, int, int, int, int]:
    """A spend as the five columns that all tables give it."""
    return s.bytes, s.micro_usd, s.microcredits, s.fetches, s.millis


def reservation_row(r: Reservation) -> Row:
    """A reservation as its row."""
    return (
        r.lease, r.host_id, r.key, r.t, int(r.purpose), *spend_row(r.reserved), r.page_type,
        r.route,
    )  # fmt: skip


def reservation_of(row: Sequence[Any]) -> Reservation:
    """The inverse of `reservation_row`."""
    lease, host_id, key, t, purpose, *spend, page_type, route = row
    return Reservation(lease, host_id, key, t, _PURPOSES[purpose], Spend(*spend), page_type, route)
