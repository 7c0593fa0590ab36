"""Who may be visited in this window, and who not and why: the one pass over all pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from recrawl.model import State
from recrawl.plan.appraise import Ints, Scheme, appraise
from recrawl.plan.reserves import Shares
from recrawl.poisson import Floats
from recrawl.units import DAY, MINUTE

CHUNK = 1 << 14  # rows that stay in the processor's cache while they are looked at


class LeftOut(StrEnum):
    """Why a page is not in the plan; every one is counted."""

    NOT_LIVE = "gone, inactive, alias, trapped or refused"
    VISITED = "already visited in this pass"
    TOO_SOON = "visited less than min_gap ago"
    RETRY_LATER = "failed, waits for its retry time"
    HOST_RESTING = "its host takes no visits now"
    HOST_FULL = "its host takes no more visits in this window"
    TOO_FRESH = "not yet worth its price"
    TOO_FAST = "changes too fast to be worth its price at any time"
    OVER_BUDGET = "worth it, but the budget is spent"


class Standing(IntEnum):
    """Where a row stands before prices are looked at."""

    NOT_LIVE = 0
    RETURNING = 1  # given up, and may be looked at again
    NEW = 2
    LIVE = 3
    OVERDUE = 4  # live and past max_gap
    VISITED = 5
    TOO_SOON = 6
    RETRY_LATER = 7
    HOST_RESTING = 8


_LIVE_BIT = (
    1 << 4
)  # set on live pages whatever their standing: verification draws from all of them


@dataclass(frozen=True, slots=True)
class Rules:
    """What a window may do. `pass_start`: this is one pass, every page once since that time.

    A gap is one number for all pages (seconds), or one a page type.
    """

    shares: Shares = field(default_factory=Shares)
    min_gap: float | Floats = 10 * MINUTE
    max_gap: float | Floats = 90 * DAY
    pass_start: float | None = None


@dataclass(slots=True)
class Market:
    """All candidates of a window, aligned; float32, because only their order matters."""

    rows: NDArray[np.int32]
    new: NDArray[np.bool_]
    host: NDArray[np.int32]
    gain: NDArray[np.float32]
    prices: list[NDArray[np.float32]]  # by unit of the scheme
    expected: list[NDArray[np.float32]]
    reach: list[NDArray[np.float32]]  # the best score the page can ever have, by unit
    standing: NDArray[np.uint8]  # of every row, see `Standing`
    left_out: Counter[LeftOut]

    def live(self) -> NDArray[np.int64]:
        """All live rows, candidates or not."""
        return np.flatnonzero(self.standing & _LIVE_BIT)

    def standing_as(self, standing: Standing) -> NDArray[np.int64]:
        """The rows that stand so."""
        return np.flatnonzero((self.standing & (_LIVE_BIT - 1)) == standing)


def survey(hot: np.ndarray, now: float, scheme: Scheme, rules: Rules) -> Market:
    """Look at every row of `hot` (model.HOT) once, in chunks; O(n), 30 bytes a page beside it."""
    n, k = len(hot), len(scheme.units)
    m = Market(
        rows=np.empty(n, np.int32),
        new=np.empty(n, np.bool_),
        host=np.empty(n, np.int32),
        gain=np.empty(n, np.float32),
        prices=[np.empty(n, np.float32) for _ in range(k)],
        expected=[np.empty(n, np.float32) for _ in range(k)],
        reach=[np.empty(n, np.float32) for _ in range(k)],
        standing=np.empty(n, np.uint8),
        left_out=Counter(),
    )
    end = 0
    for start in range(0, n, CHUNK):
        end = _chunk(hot[start : start + CHUNK], start, end, now, scheme, rules, m)
    _trim(m, end)
    counts = np.bincount(m.standing & (_LIVE_BIT - 1), minlength=len(Standing))
    for standing, reason in _REASONS.items():
        if counts[standing]:
            m.left_out[reason] += int(counts[standing])
    return m


_STANDING_OF = np.full(256, Standing.NOT_LIVE, np.uint8)
_STANDING_OF[[State.GONE, State.INACTIVE, State.ALIAS, State.REFUSED]] = Standing.RETURNING
_STANDING_OF[State.NEW], _STANDING_OF[State.LIVE] = Standing.NEW, Standing.LIVE

_REASONS = {
    Standing.NOT_LIVE: LeftOut.NOT_LIVE,
    Standing.RETURNING: LeftOut.NOT_LIVE,
    Standing.VISITED: LeftOut.VISITED,
    Standing.TOO_SOON: LeftOut.TOO_SOON,
    Standing.RETRY_LATER: LeftOut.RETRY_LATER,
    Standing.HOST_RESTING: LeftOut.HOST_RESTING,
}


def _chunk(
    part: np.ndarray, start: int, end: int, now: float, scheme: Scheme, rules: Rules, m: Market
) -> int:
    """Judge and appraise one chunk; returns the new number of candidates."""
    standing = _judge(part, now, scheme.hosts.capacity, rules)
    m.standing[start : start + len(part)] = standing
    plain = standing & (_LIVE_BIT - 1)
    ok = np.flatnonzero((plain >= Standing.NEW) & (plain <= Standing.OVERDUE))
    if not ok.size:
        return end
    to = slice(end, end + ok.size)
    np.add(ok, start, out=m.rows[to], casting="same_kind")
    seen = appraise(part, now, scheme, np.float32)
    np.take(plain == Standing.NEW, ok, out=m.new[to], mode="clip")
    np.take(part["host_id"], ok, out=m.host[to], mode="clip")
    np.take(seen.gain, ok, out=m.gain[to], mode="clip")
    for k, cost in enumerate(seen.costs):
        np.take(cost.price, ok, out=m.prices[k][to], mode="clip")
        np.take(cost.expected, ok, out=m.expected[k][to], mode="clip")
        with np.errstate(over="ignore"):
            np.take(seen.ceiling / seen.fullest[k], ok, out=m.reach[k][to], mode="clip")
    return end + len(m.rows[to])


def _judge(part: np.ndarray, now: float, capacity: Ints, rules: Rules) -> NDArray[np.uint8]:
    """The standing of each row; the first reason that applies is the one counted."""
    state, last = np.ascontiguousarray(part["state"]), np.ascontiguousarray(part["last"])
    out: NDArray[np.uint8] = _STANDING_OF[state]
    live, given_up = out == Standing.LIVE, out == Standing.RETURNING
    age = now - last
    if rules.pass_start is not None:
        np.putmask(out, live & (last >= rules.pass_start), Standing.VISITED)
    else:
        low, high = _gap(rules.min_gap, part), _gap(rules.max_gap, part)
        np.putmask(out, live & (age > high), Standing.OVERDUE)
        np.putmask(out, live & (age < low), Standing.TOO_SOON)
    resting = capacity[np.ascontiguousarray(part["host_id"])] <= 0
    waiting = np.ascontiguousarray(part["retry_at"]) > now
    if resting.any() or waiting.any():
        asked = out <= Standing.OVERDUE
        np.putmask(out, given_up & (resting | waiting), Standing.NOT_LIVE)
        asked &= out != Standing.NOT_LIVE
        np.putmask(out, asked & resting, Standing.HOST_RESTING)
        np.putmask(out, asked & waiting, Standing.RETRY_LATER)
    np.bitwise_or(out, live.view(np.uint8) << 4, out=out)
    return out


def _gap(gap: float | Floats, part: np.ndarray) -> float | Floats:
    return gap if isinstance(gap, float | int) else gap[np.ascontiguousarray(part["page_type"])]


def _trim(m: Market, end: int) -> None:
    m.rows, m.new, m.host, m.gain = m.rows[:end], m.new[:end], m.host[:end], m.gain[:end]
    for columns in (m.prices, m.expected, m.reach):
        columns[:] = [c[:end] for c in columns]
