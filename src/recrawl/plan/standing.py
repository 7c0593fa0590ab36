"""Who may be visited in this window, and who not and why, before prices are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from recrawl.model import State, Table
from recrawl.plan.groups import Ints
from recrawl.plan.reserves import Shares, longest_first
from recrawl.poisson import Floats
from recrawl.units import DAY, MINUTE

Mask = NDArray[np.bool_]

CHUNK = 1 << 15  # rows whose numbers stay in the processor's cache while they are looked at


def chunks(n: int) -> Iterator[slice]:
    """Rows 0 to n in turn."""
    return (slice(start, start + CHUNK) for start in range(0, n, CHUNK))


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


LIVE_BIT = 1 << 4
"""Set on live pages whatever their standing: verification draws from all of them."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a window may do. `pass_start`: this is one pass, every page once since that time.

    A gap is one number for all pages (seconds), or one a page type.
    """

    shares: Shares = field(default_factory=Shares)
    min_gap: float | Floats = 10 * MINUTE
    max_gap: float | Floats = 90 * DAY
    pass_start: float | None = None


_STANDING_OF = np.full(256, Standing.NOT_LIVE, np.uint8)
_STANDING_OF[[State.GONE, State.INACTIVE, State.ALIAS, State.REFUSED]] = Standing.RETURNING
_STANDING_OF[State.NEW], _STANDING_OF[State.LIVE] = Standing.NEW, Standing.LIVE

REASONS = {
    Standing.NOT_LIVE: LeftOut.NOT_LIVE,
    Standing.RETURNING: LeftOut.NOT_LIVE,
    Standing.VISITED: LeftOut.VISITED,
    Standing.TOO_SOON: LeftOut.TOO_SOON,
    Standing.RETRY_LATER: LeftOut.RETRY_LATER,
    Standing.HOST_RESTING: LeftOut.HOST_RESTING,
}


class Standings:
    """The standing of every row of a table: one byte a row."""

    def __init__(self, hot: Table, now: float, capacity: Ints, rules: Rules) -> None:
        self._bits = np.empty(len(hot), np.uint8)
        self.counts = np.zeros(len(Standing), np.int64)
        live = []
        asleep = capacity <= 0 if (capacity <= 0).any() else None
        for to in chunks(len(hot)):
            bits = _judge(hot[to], now, asleep, rules)
            self._bits[to] = bits
            live.append(np.count_nonzero(bits >= LIVE_BIT))
            bits &= LIVE_BIT - 1
            for standing in range(bits.min(), bits.max() + 1):
                self.counts[standing] += np.count_nonzero(bits == standing)
        self._live = np.cumsum(live)  # rows, to the end of each chunk

    @property
    def live_count(self) -> int:
        """How many rows are live, candidates or not."""
        return int(self._live[-1]) if self._live.size else 0

    def live(self, ranks: Ints) -> Ints:
        """Of all live rows, those at these places (0 to live_count - 1)."""
        out = np.empty(ranks.size, np.intp)
        chunk = np.searchsorted(self._live, ranks, "right")
        for i in np.unique(chunk).tolist():
            here, first = chunk == i, self._live[i - 1] if i else 0
            rows = np.flatnonzero(self._bits[i * CHUNK : (i + 1) * CHUNK] >= LIVE_BIT)
            out[here] = i * CHUNK + rows[ranks[here] - first]
        return out

    def longest(self, standing: Standing, hot: Table, taken: Ints, at_most: int) -> Ints:
        """The `at_most` rows that stand so and weren't seen for longest, longest first; none of
        those that are taken.
        """
        wanted, latest = at_most + taken.size, np.inf
        rows, since = np.zeros(0, np.intp), np.zeros(0)
        for to in chunks(len(hot)):
            here = np.flatnonzero(self.of(to) == standing)
            if not here.size:
                continue
            seen = np.maximum(hot["last"][to][here], hot["retry_at"][to][here])
            early = seen < latest
            rows, since = np.append(rows, here[early] + to.start), np.append(since, seen[early])
            if rows.size > 2 * wanted + CHUNK:
                kept = np.sort(np.argpartition(since, wanted)[:wanted])
                rows, since = rows[kept], since[kept]
                latest = since.max()
        free = ~np.isin(rows, taken)
        return longest_first(rows[free], since[free], at_most)

    def of(self, rows: Ints | slice) -> NDArray[np.uint8]:
        """How these rows stand."""
        return np.bitwise_and(self._bits[rows], np.uint8(LIVE_BIT - 1))


def _judge(part: Table, now: float, asleep: Mask | None, rules: Rules) -> NDArray[np.uint8]:
    """The standing of each row; the first reason that applies is the one counted."""
    state, last = np.ascontiguousarray(part["state"]), np.ascontiguousarray(part["last"])
    live = state == State.LIVE
    all_live = bool(live.all())
    out: NDArray[np.uint8] = (
        np.full(state.size, Standing.LIVE, np.uint8) if all_live else _STANDING_OF[state]
    )
    if rules.pass_start is not None:
        np.putmask(out, live & (last >= rules.pass_start), Standing.VISITED)
    else:
        overdue = last < now - _gap(rules.max_gap, part)
        overdue &= live
        out += overdue
        soon = last > now - _gap(rules.min_gap, part)
        if soon.any():
            np.putmask(out, live & soon, Standing.TOO_SOON)
    _hold_back(out, part, now, asleep)
    out |= live.view(np.uint8) << 4
    return out


def _hold_back(out: NDArray[np.uint8], part: Table, now: float, asleep: Mask | None) -> None:
    """Mark what waits for its retry time or its host; what was given up is then just not asked."""
    retry_at = np.ascontiguousarray(part["retry_at"])
    waiting = retry_at > now if retry_at.max() > now else None
    resting = None if asleep is None else asleep[np.ascontiguousarray(part["host_id"])]
    if waiting is None and resting is None:
        return
    given_up = out == Standing.RETURNING
    asked = (out >= Standing.NEW) & (out <= Standing.OVERDUE)
    for held, standing in ((resting, Standing.HOST_RESTING), (waiting, Standing.RETRY_LATER)):
        if held is not None and held.any():
            np.putmask(out, given_up & held, Standing.NOT_LIVE)
            np.putmask(out, asked & held, standing)


def _gap(gap: float | Floats, part: Table) -> float | Floats:
    return gap if isinstance(gap, float | int) else gap[np.ascontiguousarray(part["page_type"])]
