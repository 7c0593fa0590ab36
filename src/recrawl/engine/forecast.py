"""Before money is spent: what one pass costs, which limit binds, what a budget can keep fresh."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from recrawl.engine.crawl import Crawl, hostname
from recrawl.engine.scheme import price_book, units_of
from recrawl.frontier.politeness import effective_delay
from recrawl.model import HAS_VALIDATOR, State, Table
from recrawl.plan.allocate import Pages, curve
from recrawl.plan.budget import Cap
from recrawl.units import DAY, HOUR, WEEK, Unit

_SECONDS = {"hour": HOUR, "day": DAY, "week": WEEK, "month": 30 * DAY}
_TURNING = (State.NEW, State.LIVE)


@dataclass(frozen=True, slots=True)
class AtBudget:
    """What a budget keeps fresh: shares of value, as the present beliefs have it."""

    times: float  # of the configured budget
    best: float
    even: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is known before a crawl. Amounts in the smallest part of `unit`."""

    pages: int
    read: int
    bytes_a_page: float
    pass_bytes: float
    pass_micro_usd: float
    pass_seconds: float  # by politeness alone
    slowest_host: str
    unit: str  # of the cap that takes longest to pay for a pass
    budget_per_day: float | None  # None = no budget
    binds: str  # one sentence: what limits the crawl
    fresh: tuple[AtBudget, ...] = field(default_factory=tuple)

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


def forecast(crawl: Crawl) -> Forecast:
    """From the pages known so far and what their hosts' answers weighed."""
    rows = crawl.mirror.rows
    rows = rows[np.isin(rows["state"], _TURNING)]
    book = price_book(crawl)
    columns = rows["host_id"], rows["page_type"], rows["body"].astype(np.float64)
    size = book.quote(Unit.BYTES, *columns)
    money = book.quote(Unit.USD, *columns)
    seconds, slowest = _politeness(crawl, rows)
    amounts = {unit: book.quote(unit, *columns) for unit in units_of(crawl)}
    cap = tightest(crawl, {unit: float(q.full.sum()) for unit, q in amounts.items()})
    a_day = per_day(cap) if cap is not None else None
    unit = cap.unit if cap is not None else Unit.BYTES
    full = amounts.get(unit, size)
    whole = float(full.full.sum())
    return Forecast(
        pages=len(rows),
        read=int((rows["last"] > 0).sum()),
        bytes_a_page=float(size.full.mean()) if len(rows) else 0.0,
        pass_bytes=float(size.full.sum()),
        pass_micro_usd=float(money.full.sum()),
        pass_seconds=seconds,
        slowest_host=slowest,
        unit=unit.value,
        budget_per_day=a_day,
        binds=_binding(whole, a_day, seconds, slowest, cap),
        fresh=_fresh(crawl, rows, full, a_day) if a_day and len(rows) else (),
    )


def per_day(cap: Cap) -> float:
    """Smallest parts a day of a cap that comes again."""
    return cap.amount / _SECONDS[cap.period] * DAY


def tightest(crawl: Crawl, whole: dict[Unit, float]) -> Cap | None:
    """Of the budget's caps that come again, the one that takes longest to pay for one pass."""
    steady = [c for c in crawl.project.budget.caps if c.period != "run"]
    return max(steady, key=lambda c: whole[c.unit] / max(per_day(c), 1e-9), default=None)


def _politeness(crawl: Crawl, rows: Table) -> tuple[float, str]:
    """How long the hostname that takes longest is busy with one pass, and its largest origin.

    The origins of one hostname share its pace.
    """
    counts = np.bincount(rows["host_id"], minlength=max(crawl.hosts, default=0) + 1)
    took: dict[str, float] = {}
    largest: dict[str, tuple[int, str]] = {}
    for host in crawl.hosts.values():
        name, pages = hostname(host.origin), int(counts[host.host_id])
        took[name] = took.get(name, 0.0) + pages * effective_delay(host, crawl.project.pace)
        largest[name] = max(largest.get(name, (0, "")), (pages, host.origin))
    slowest = max(took, key=took.__getitem__, default="")
    return (took[slowest], largest[slowest][1]) if took.get(slowest) else (0.0, "")


def _binding(
    whole: float, a_day: float | None, seconds: float, slowest: str, cap: Cap | None
) -> str:
    if a_day is None or cap is None:
        if not seconds:
            return "nothing: there is no budget, and no host asks for a delay"
        return f"politeness: {slowest} takes longest"
    if not a_day:
        return f"money: the cap of {cap} pays for nothing"
    paid_days = whole / a_day
    if paid_days * DAY >= seconds:
        return f"money: the cap of {cap} pays one pass in {paid_days:.1f} days"
    return f"politeness: {slowest} can't be asked faster; the cap of {cap} leaves room"


def _fresh(crawl: Crawl, rows: Table, full: Any, a_day: float) -> tuple[AtBudget, ...]:
    """Best possible and even visits at half, once and twice the budget."""
    group = rows["host_id"], rows["page_type"]
    a, b = crawl.prior.complete(rows["a"], rows["b"], *group)
    va, vb = crawl.validators.complete(rows["va"], rows["vb"], *group)
    conditional = (rows["flags"] & HAS_VALIDATOR).astype(bool)
    pages = Pages.of(
        a / b,
        rows["value"].astype(np.float64),
        full.full,
        np.where(conditional, full.unchanged, full.full),
        va / vb,
    )
    scales = (0.5, 1.0, 2.0)
    found = curve(pages, [a_day / DAY * x for x in scales])
    return tuple(
        AtBudget(x, best.freshness, even.freshness)
        for x, (best, even) in zip(scales, found, strict=True)
    )
