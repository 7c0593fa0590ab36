"""The two rows that a visit moves: the page and its host. Times are epoch seconds, 0.0 = never."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model.words import State


@dataclass(slots=True)
class Page:
    """One page's whole row: identity, belief, validators, and what was last read."""

    host_id: int
    key: int
    path: str
    state: State = State.NEW
    page_type: int = 0  # index into the project's page types
    value: float = 1.0
    depth: int = 0
    hops: int = 0
    score: int = 0  # priority at enqueue, higher first
    first_seen: float = 0.0
    last: float = 0.0  # when its content was last known (new, changed, same, not modified)
    last_attempt: float = 0.0
    changed_at: float = 0.0  # last visit that found a change
    due: float = 0.0  # when a visit is next worth its price; 0 = not computed
    a: float = 0.0  # Gamma shape of the record's change rate; 0 = no change seen yet
    b: float = 0.0  # Gamma scale^-1, seconds; with a = 0 the seconds seen unchanged, to be added
    # to what the group is believed to do
    va: float = 0.0  # the same for the validator's change rate
    vb: float = 0.0
    body: float = 0.0  # expected bytes of a full answer (both directions), 0 = the group's mean
    etag: str | None = None
    last_modified: str | None = None
    variant: str = ""  # what of the request the validators and digests are bound to
    digest1: bytes | None = None  # tier 1: visible text (8 bytes)
    digest2: bytes | None = None  # tier 2: main text with dates and tokens masked (8 bytes)
    fails: int = 0  # consecutive failures; only a success resets it
    missing: int = 0  # consecutive 404 answers, until confirmed
    retry_at: float = 0.0  # not before
    interval: float = 0.0  # seconds that a policy with intervals gave it, 0 = none yet
    n_visits: int = 0
    n_changes: int = 0
    n_not_modified: int = 0
    target: str | None = None  # where an ALIAS leads
    canonical: str | None = None  # what the page calls itself, only recorded


@dataclass(slots=True)
class Host:
    """One origin: politeness, robots and health, all persisted."""

    host_id: int
    origin: str
    n_pages: int = 0
    delay: float = 0.0  # seconds between two requests now in force (max of all that asks)
    next_ok: float = 0.0  # not before
    crawl_delay: float | None = None
    penalty: float = 0.0  # extra delay that throttling and failures ask for, seconds
    throttled_until: float = 0.0  # Retry-After or circuit break
    fails: int = 0  # consecutive faults of the host itself
    latency: float = 0.0  # EWMA, seconds
    robots_status: str = ""  # '', 'rules', 'none', 'unreachable', 'html'
    robots_at: float = 0.0
    robots_until: float = 0.0
    robots_body: bytes = b""
    handshake: float = 0.0  # mean bytes that a new connection costs beyond the exchange
    n_validator: int = 0  # conditional visits answered
    n_304: int = 0
    note: str = ""


HOT = np.dtype(
    [
        ("key", "i8"),
        ("last", "f8"),
        ("host_id", "i4"),
        ("retry_at", "u4"),
        ("value", "f4"),
        ("a", "f4"),
        ("b", "f4"),
        ("va", "f4"),
        ("vb", "f4"),
        ("body", "f4"),
        ("page_type", "i2"),
        ("score", "i2"),
        ("state", "u1"),
        ("depth", "u1"),
        ("fails", "u1"),
        ("flags", "u1"),
        ("interval", "f4"),
    ],
    align=True,
)
"""The columns of a page that the planner reads; one structured row a page (64 bytes, aligned).

`retry_at` is in whole seconds, rounded down (a host's own clock holds politeness to the
millisecond), NEVER being no time at all. `flags` bit 0: the page has a validator (ETag or
Last-Modified).
"""

HAS_VALIDATOR = 1
NEVER = 0xFFFF_FFFF


def hot_row(p: Page) -> tuple[object, ...]:
    """A page as a row of HOT."""
    return (
        p.key, p.last, p.host_id, int(min(p.retry_at, NEVER)), p.value,
        p.a, p.b, p.va, p.vb, p.body, p.page_type, max(-32768, min(p.score, 32767)),
        p.state, min(p.depth, 255), min(p.fails, 255),
        HAS_VALIDATOR if p.etag or p.last_modified else 0, p.interval,
    )  # fmt: skip
