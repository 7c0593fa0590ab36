"""The best possible at a budget when every rate is known: the bound that policies are held to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.plan.capacity import Capacity, Ints
from recrawl.plan.due import due_known
from recrawl.poisson import Floats, chance_stale, freshness, not_negative


@dataclass(frozen=True, slots=True)
class Allocation:
    """Visits by page, and what they buy."""

    frequency: Floats  # visits per second, by page
    freshness: float  # share of value that is fresh, averaged over time
    price: float  # of the last unit of budget: weighted fresh seconds per unit of cost
    spend: float  # cost per second
    host_price: Floats = field(default_factory=lambda: np.zeros(0))
    """Weighted fresh seconds that one more visit to each host would buy, 0 where it has room."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages whose rates are known: aligned arrays.

    `full` and `unchanged` are the costs of a full answer and of a 304 in one unit;
    `validator_rate` is how often the validator changes (per second).
    """

    rate: Floats
    value: Floats
    full: Floats
    unchanged: Floats
    validator_rate: Floats

    @classmethod
    def of(
        cls,
        rate: ArrayLike,
        value: ArrayLike = 1.0,
        full: ArrayLike = 1.0,
        unchanged: ArrayLike | None = None,
        validator_rate: ArrayLike | None = None,
    ) -> Pages:
        """Scalars are spread over all pages; without `unchanged` no page answers 304, without
        `validator_rate` a validator changes exactly when its page does.
        """
        low = full if unchanged is None else unchanged
        shift = rate if validator_rate is None else validator_rate
        columns = np.broadcast_arrays(*map(not_negative, (rate, value, full, low, shift)))
        return cls(*(np.atleast_1d(c).astype(np.float64) for c in columns))

    def spend(self, frequency: Floats) -> Floats:
        """Cost per second of evenly spaced visits: `f (c0 + (c1 - c0)(1 - e^(-d_v/f)))`."""
        gap = 1.0 / np.maximum(frequency, 1e-300)
        changed = chance_stale(self.validator_rate, gap)
        out: Floats = frequency * (self.unchanged + (self.full - self.unchanged) * changed)
        return out

    def fresh(self, frequency: Floats) -> float:
        """Share of value that is fresh at those frequencies."""
        total = float(self.value.sum())
        return (
            float((self.value * freshness(self.rate, frequency)).sum() / total) if total else 0.0
        )


def optimal(pages: Pages, budget: float, capacity: Capacity | None = None) -> Allocation:
    """The frequencies that keep most value fresh at `budget` cost per second.

    Cho & Garcia-Molina's convex program with values, costs and 304 prices, solved by its
    price: each page is visited when `w g(d tau)/d` reaches `price (c0 + (c1 - c0) g(d_v tau))`
    plus the multiplier of its host, where `capacity` binds. A budget that hosts can't take has
    price 0.
    """
    if not budget > 0 or not _buyable(pages).any():
        none = np.zeros_like(pages.rate)
        return Allocation(none, pages.fresh(none), np.inf, 0.0)
    grid = _grid(pages)

    def at(price: float) -> tuple[Floats, Floats]:
        return _frequency(pages, price, grid, capacity)

    def spend_at(log_price: float) -> float:
        return float(pages.spend(at(float(np.exp(log_price)))[0]).sum())

    price = 0.0
    if capacity is None or not _unlimited_spend(pages, capacity) <= budget:
        log_price = _root(spend_at, budget, *_price_range(pages, spend_at, budget))
        price = float(np.exp(log_price))
    frequency, host_price = at(price)
    _spend_rest(pages, frequency, price, budget, capacity)
    spend = float(pages.spend(frequency).sum())
    return Allocation(frequency, pages.fresh(frequency), price, spend, host_price)


def _unlimited_spend(pages: Pages, capacity: Capacity) -> float:
    """What would be spent if money were free: inf where a host without limit has pages."""
    if np.isinf(capacity.visits[capacity.host[_buyable(pages)]]).any():
        return np.inf
    return float(pages.spend(_frequency(pages, 0.0, _grid(pages), capacity)[0]).sum())


def _spend_rest(
    pages: Pages, frequency: Floats, price: float, budget: float, capacity: Capacity | None
) -> None:
    """Give what is left to the page just at the margin, in place.

    A page enters at `w/(d c1)` so steeply (f ~ d/|log(1-y)|) that no float64 price may lie
    between "never" and a thirtieth of its rate; there its worth is linear in f.
    """
    rest = budget - float(pages.spend(frequency).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        enters = np.where(_buyable(pages), pages.value / pages.rate / pages.full, np.inf)
    page = int(np.argmin(np.abs(enters - price)))
    if rest > 0 and frequency[page] == 0 and abs(enters[page] - price) < 1e-9 * price:
        room = np.inf if capacity is None else capacity.room(frequency)[page]
        frequency[page] = min(rest / float(pages.full[page]), room)


def even(pages: Pages, budget: float, capacity: Capacity | None = None) -> Allocation:
    """All pages equally often, at the same spend; fewer where a host can't take its share."""
    if not budget > 0:
        none = np.zeros_like(pages.rate)
        return Allocation(none, pages.fresh(none), np.inf, 0.0)
    most = np.full_like(pages.rate, np.inf) if capacity is None else capacity.shared_evenly()

    def spend_at(minus_log_frequency: float) -> float:
        f = np.minimum(np.exp(-minus_log_frequency), most)
        return float(pages.spend(f).sum())

    low = -np.log(budget / max(float(pages.unchanged.sum()), 1e-300))
    high = -np.log(budget / max(float(pages.full.sum()), 1e-300))
    while spend_at(low - 1e-9) < budget and low > -60.0:
        low -= 1.0  # what full hosts leave goes to the others
    frequency = np.minimum(np.exp(-_root(spend_at, budget, low - 1e-9, high + 1e-9)), most)
    return Allocation(
        frequency, pages.fresh(frequency), np.nan, float(pages.spend(frequency).sum())
    )


def curve(
    pages: Pages, budgets: Sequence[float], capacity: Capacity | None = None
) -> list[tuple[Allocation, Allocation]]:
    """(best possible, even visits) at each budget: what more or less money would buy."""
    return [(optimal(pages, b, capacity), even(pages, b, capacity)) for b in budgets]


def _buyable(pages: Pages) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = (pages.rate > 0) & (pages.value > 0) & (pages.full > 0)
    return out


def _frequency(
    pages: Pages, price: float, grid: _Grid | None, capacity: Capacity | None = None
) -> tuple[Floats, Floats]:
    """Visits per second of each page at a price of budget, and the hosts' multipliers."""
    every = np.arange(pages.rate.size)
    buyable = _buyable(pages)

    def at(rows: Ints, extra: Floats) -> Floats:
        """Visits to those pages if each costs `extra` beside the budget's price."""
        gap = due_known(
            pages.rate[rows],
            pages.value[rows],
            price * pages.full[rows] + extra,
            1.0,
            price * pages.unchanged[rows] + extra,
        )
        with np.errstate(divide="ignore"):
            f = np.where(buyable[rows] & ((gap > 0) | (price == 0)), 1.0 / gap, 0.0)
        if grid is not None:
            f = grid.put(f, rows, price, extra)
        return f

    if capacity is None:
        return at(every, np.zeros(every.size)), np.zeros(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(buyable, pages.value / pages.rate, 0.0)
    prices = capacity.prices(at, worth)
    frequency = at(every, prices[capacity.host])
    with np.errstate(invalid="ignore"):
        enters = np.where(buyable & (frequency == 0), worth - price * pages.full, np.nan)
    return capacity.filled(frequency, prices, enters), prices


class _Grid:
    """Pages whose validator changes at another rate than their record: no closed form, and
    spending is not convex in the frequency, so the best of many gaps is taken.
    """

    gaps = np.concatenate([np.geomspace(60.0, 3e8, 128), [np.inf]])

    def __init__(self, pages: Pages, rows: np.ndarray) -> None:
        self.rows = rows
        at = (rows, None)
        part = Pages(
            rate=pages.rate[at],
            value=pages.value[at],
            full=pages.full[at],
            unchanged=pages.unchanged[at],
            validator_rate=pages.validator_rate[at],
        )
        f = np.broadcast_to(1.0 / self.gaps, (rows.size, self.gaps.size))
        self._worth = (part.value * freshness(part.rate, f)).astype(np.float32)
        self._spend = part.spend(f).astype(np.float32)

    def put(self, frequency: Floats, rows: Ints, price: float, extra: Floats) -> Floats:
        """Put the best frequencies of those of `rows` that are here into a copy."""
        out = frequency.copy()
        here = np.flatnonzero(np.isin(rows, self.rows, assume_unique=True))
        mine = np.searchsorted(self.rows, rows[here])
        net = self._worth[mine] - np.float32(price) * self._spend[mine]
        net -= (extra[here, None] / self.gaps).astype(np.float32)
        out[here] = 1.0 / self.gaps[net.argmax(axis=1)]
        return out


def _grid(pages: Pages) -> _Grid | None:
    odd = (pages.validator_rate != pages.rate) & (pages.unchanged < pages.full)
    rows = np.flatnonzero(odd & _buyable(pages))
    return _Grid(pages, rows) if rows.size else None


def _price_range(
    pages: Pages, spend_at: Callable[[float], float], budget: float
) -> tuple[float, float]:
    """Log prices between which the spend crosses the budget."""
    ok = _buyable(pages)
    high = float(np.log((pages.value[ok] / pages.rate[ok] / pages.full[ok]).max())) + 1e-9
    ratio = pages.full[ok] / np.maximum(pages.unchanged[ok], 1e-300)
    high += float(np.log(ratio.max()))  # a page may be worth more by its 304 price
    low = high - 1.0
    while spend_at(low) < budget and low > high - 700.0:
        low -= high - low
    return low, high


def _root(f: Callable[[float], float], target: float, low: float, high: float) -> float:
    """The x in [low, high] at which the falling function f comes down to target.

    Regula falsi in log f (Illinois), with bisection where that stalls; where f jumps over the
    target, the x just after the jump, so that no budget is exceeded.
    """
    goal = float(np.log(target))

    def h(x: float) -> float:
        return float(np.log(max(f(x), 1e-300))) - goal

    at_low, at_high, side = h(low), h(high), 0
    for step in range(120):
        x = 0.5 * (low + high)
        if step % 4 and at_low > 0 > at_high:
            x = (low * at_high - high * at_low) / (at_high - at_low)
        at = h(x)
        if abs(at) < 1e-11:
            return x
        if at > 0:
            low, at_low = x, at
            at_high, side = (at_high / 2 if side == 1 else at_high), 1
        else:
            high, at_high = x, at
            at_low, side = (at_low / 2 if side == -1 else at_low), -1
        if high - low < 1e-14 * max(1.0, abs(high)):
            break
    return high
