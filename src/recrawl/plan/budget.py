"""Budgets: caps by period, the share of them that a window may spend, and when they run out."""

from __future__ import annotations

import math
from calendar import monthrange, timegm
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from recrawl.units import DAY, HOUR, WEEK, Spend, Unit, format_amount

Period = Literal["run", "hour", "day", "week", "month"]
_LENGTH = {"hour": HOUR, "day": DAY, "week": WEEK}
_MONDAY = 4 * DAY  # 1970-01-05, the first Monday of the epoch


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `amount` (smallest part of `unit`) in each period. Raises ValueError.

    Periods are aligned to UTC: weeks begin on Monday, months on `reset_day` (in a month that
    is too short, on its last day, as vendors renew their plans); a `run` begins when the
    program starts.
    """

    unit: Unit
    amount: int
    period: Period = "run"
    reset_day: int = 1

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise ValueError(f"a cap can't be negative: {format_amount(self.unit, self.amount)}")
        if self.period not in get_args(Period):
            raise ValueError(
                f"{self.period!r} is no period of a budget; use {', '.join(get_args(Period))}"
            )

        if not 1 <= self.reset_day <= 31:
            raise ValueError(f"no month begins on day {self.reset_day}; use 1 to 31")

    def __str__(self) -> str:
        return f"{format_amount(self.unit, self.amount)} per {self.period}"

    def start(self, now: float, run_start: float) -> float:
        """When the period that `now` is in began, epoch seconds."""
        if self.period == "run":
            return run_start
        if self.period == "month":
            t = datetime.fromtimestamp(now, UTC)
            begun = _reset(t.year, t.month, self.reset_day)
            return begun if begun <= now else _reset(t.year, t.month - 1, self.reset_day)
        length, origin = _LENGTH[self.period], _MONDAY if self.period == "week" else 0.0
        return math.floor((now - origin) / length) * length + origin

    def end(self, now: float) -> float:
        """When the period that `now` is in ends; a run has no end (inf)."""
        if self.period == "run":
            return math.inf
        if self.period == "month":
            t = datetime.fromtimestamp(now, UTC)
            comes = _reset(t.year, t.month, self.reset_day)
            return comes if comes > now else _reset(t.year, t.month + 1, self.reset_day)
        return self.start(now, 0.0) + _LENGTH[self.period]


def _reset(year: int, month: int, day: int) -> float:
    """Epoch seconds at which a plan renews in a month (0 = the last one's December, 13 = next)."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return float(timegm((year, month, min(day, monthrange(year, month)[1]), 0, 0, 0)))


@dataclass(frozen=True, slots=True)
class Budget:
    """All caps of a project, spent in windows of `window_seconds`. No caps = no limit."""

    caps: tuple[Cap, ...] = ()
    window_seconds: float = HOUR

    def __post_init__(self) -> None:
        if not self.window_seconds > 0:
            raise ValueError(f"a window must last longer than 0 s, not {self.window_seconds!r}")

    def window(self, now: float) -> tuple[float, float]:
        """Start and end of the window that `now` is in; no window reaches over a period's end."""
        start = math.floor(now / self.window_seconds) * self.window_seconds
        end = min([start + self.window_seconds, *(cap.end(now) for cap in self.caps)])
        begun = [cap.start(now, start) for cap in self.caps]
        return max([start, *begun]), end

    def left(self, spent: Sequence[int]) -> list[int]:
        """What each cap still has in its period, never below 0."""
        return [max(cap.amount - s, 0) for cap, s in zip(self.caps, spent, strict=True)]

    def allowance(self, now: float, since: float, spent: Sequence[int]) -> list[int]:
        """What each cap lets the present window spend.

        `spent` holds each cap's sum in its current period, promises included; `since` is when
        the project began to spend. By the end of a window a cap may be spent as far as its
        period has passed: what was not spent rolls over, what was spent too fast is made up
        by later windows, and a cap of ten fetches a month buys one every third day.
        A cap for the run is not paced.
        """
        end = self.window(now)[1]
        allowed: list[int] = []
        for cap, used in zip(self.caps, spent, strict=True):
            if cap.period == "run":
                allowed.append(max(cap.amount - used, 0))
                continue
            begin = max(cap.start(now, since), min(since, now))
            share = (end - begin) / (cap.end(now) - begin)
            allowed.append(max(math.floor(cap.amount * min(share, 1.0) + 1e-6) - used, 0))
        return allowed

    def by_unit(self, amounts: Sequence[int]) -> dict[Unit, int]:
        """The tightest of `amounts` (one a cap) in each unit."""
        out: dict[Unit, int] = {}
        for cap, amount in zip(self.caps, amounts, strict=True):
            out[cap.unit] = min(amount, out.get(cap.unit, amount))
        return out


def exhaustion(now: float, since: float, spent: int, amount: int) -> float:
    """When `amount` is used up if spending goes on at the pace of [since, now].

    Epoch seconds; inf where nothing was spent yet, `now` where nothing is left.

    >>> exhaustion(now=100.0, since=0.0, spent=20, amount=100)
    500.0
    """
    if spent >= amount:
        return now
    if spent <= 0 or now <= since:
        return math.inf
    return now + (amount - spent) * (now - since) / spent


class Overdrawn(ValueError):  # noqa: N818 - the field's word
    """A promise that the account can't cover; ask `can_reserve` first."""


class Account:
    """What is spent, promised and left of each cap while a window runs; integers throughout.

    A visit is promised at its worst case before it starts and settled with what it cost. As
    long as no visit costs more than was promised, no cap is ever exceeded, in whatever order
    visits start and end. Nothing is started once the window's allowance is spent: visits then
    in flight may overrun it, which `Budget.allowance` makes up in later windows.
    """

    def __init__(self, caps: Sequence[Cap], left: Sequence[int], allowance: Sequence[int]) -> None:
        self.caps = tuple(caps)
        self.left = list(left)  # of the period, at the window's start
        self.allowance = list(allowance)
        self.spent = Spend()
        self.reserved = Spend()

    def blocked_by(self, worst: Spend) -> Cap | None:
        """The first cap that can't cover a visit of at most that cost, or None."""
        for cap, left, allowed in zip(self.caps, self.left, self.allowance, strict=True):
            amount, spent = worst.get(cap.unit), self.spent.get(cap.unit)
            if not amount:
                continue
            if spent >= allowed or spent + self.reserved.get(cap.unit) + amount > left:
                return cap
        return None

    def can_reserve(self, worst: Spend) -> bool:
        """Whether a visit of at most that cost may start."""
        return self.blocked_by(worst) is None

    def reserve(self, worst: Spend) -> None:
        """Promise that much. Raises Overdrawn where a cap can't cover it."""
        cap = self.blocked_by(worst)
        if cap is not None:
            raise Overdrawn(f"the cap of {cap} can't cover {worst}")
        self.reserved += worst

    def settle(self, reserved: Spend, actual: Spend) -> None:
        """End a visit: free its promise, book what it cost (`Spend()` = it was never sent)."""
        self.reserved -= reserved
        self.spent += actual

    def headroom(self, unit: Unit) -> int | None:
        """How much of `unit` may still be promised; None = no cap counts it."""
        used = self.spent.get(unit) + self.reserved.get(unit)
        rooms = [
            max(left - used, 0) if self.spent.get(unit) < allowed else 0
            for cap, left, allowed in zip(self.caps, self.left, self.allowance, strict=True)
            if cap.unit is unit
        ]
        return min(rooms) if rooms else None

    def spent_by_cap(self) -> Mapping[Cap, int]:
        """What each cap was used in this window so far, promises left out."""
        return {cap: self.spent.get(cap.unit) for cap in self.caps}
