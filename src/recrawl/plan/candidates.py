"""The pages that a window may buy: a glance at all of them, a closer look at the promising."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Table
from recrawl.plan.appraise import Scheme, appraise
from recrawl.plan.glance import glance
from recrawl.plan.groups import Ints
from recrawl.plan.standing import Mask, Standing, Standings, chunks
from recrawl.poisson import Floats

Float32s = NDArray[np.float32]
ROUNDING = 1e-5  # of float32, relative, with room to spare


@dataclass(frozen=True, slots=True)
class Floor:
    """The scores that a market begins at: what is below them stays unpriced.

    `level` of the score whose weights of prices (by unit) are `lambdas`; `new`, not above it, of
    pages never read, which a reserve buys at lower scores too. 0 = all are in the market.
    """

    lambdas: tuple[float, ...]
    level: float = 0.0
    new: float = 0.0
    settled: bool = False  # the lambdas are those of all pages, not of a sample

    def lower(self) -> Floor:
        """The next to try, where this one was too high."""
        return replace(self, level=self.level / 8.0 if self.new else 0.0, new=0.0)

    def under(self, lambdas: Sequence[float]) -> tuple[float, float]:
        """Level and new in scores of other weights: from there up no candidate is missing."""
        pairs = [(old, new) for old, new in zip(self.lambdas, lambdas, strict=True) if old > 0]
        if not self.level:
            return 0.0, 0.0
        if any(new <= 0 for _, new in pairs):
            return np.inf, np.inf
        up = max(old / new for old, new in pairs)
        return self.level * up, self.new * up


@dataclass(frozen=True, slots=True)
class Market:
    """Candidates of a window, aligned and by row; float32, because only their order matters."""

    rows: NDArray[np.intp]
    new: Mask  # never read
    host: Ints
    gain: Float32s
    prices: list[Float32s]  # by unit of the scheme
    expected: list[Float32s]

    def where(self, keep: Mask) -> Market:
        """Some of them."""
        return Market(
            self.rows[keep], self.new[keep], self.host[keep], self.gain[keep],
            [c[keep] for c in self.prices], [c[keep] for c in self.expected],
        )  # fmt: skip

    def score(self, lambdas: Sequence[float], per_price: bool) -> Float32s:
        """Gain per price, the units' prices weighed by `lambdas`; or the gain."""
        if not per_price:
            return self.gain
        with np.errstate(over="ignore"):
            price = np.maximum(_weighed(self.prices, lambdas), np.float32(1e-30))
            return np.divide(self.gain, price, dtype=np.float32)

    def free(self, taken: Ints) -> Mask:
        """Which of them are not among the rows `taken`."""
        free = np.ones(self.rows.size, np.bool_)
        at = np.searchsorted(self.rows, taken)
        inside = at < self.rows.size
        at = at[inside]
        free[at[self.rows[at] == taken[inside]]] = False
        return free


def priced(
    hot: Table, rows: NDArray[np.intp], now: float, scheme: Scheme, standings: Standings
) -> Market:
    """The exact numbers of these rows."""
    n, units = rows.size, range(len(scheme.units))
    gain, host = np.empty(n, np.float32), np.empty(n, np.int32)
    prices = [np.empty(n, np.float32) for _ in units]
    expected = [np.empty(n, np.float32) for _ in units]
    for to in chunks(n):
        part = hot[rows[to]]
        seen = appraise(part, now, scheme, np.float32)
        gain[to], host[to] = seen.gain, part["host_id"]
        for k in units:
            prices[k][to], expected[k][to] = seen.costs[k]
    new = standings.of(rows) == Standing.NEW
    return Market(rows, new, host, gain, prices, expected)


def survey(
    hot: Table, now: float, scheme: Scheme, standings: Standings, floor: Floor
) -> tuple[Market, list[Float32s]]:
    """All candidates whose scores reach the floor; and the best score that each row can ever have,
    by unit, inf of those that are no candidates or never read.

    Whether a candidate does is told exactly, but found out only for those whose bounds
    (`glance`) leave it open. O(n), and 4 bytes a row and unit.
    """
    reach = [np.empty(len(hot), np.float32) for _ in scheme.units]
    found = [np.zeros(0, np.intp)]
    for to in chunks(len(hot)):
        standing = standings.of(to)
        new = standing == Standing.NEW
        may = (standing >= Standing.NEW) & (standing <= Standing.OVERDUE)
        reaches = partial(_may_reach, may, new, floor, scheme)
        rows, best = glance(hot[to], now, scheme, reaches)
        others = np.flatnonzero(new | ~may)
        for whole, part in zip(reach, best, strict=True):
            part[others] = np.inf
            whole[to] = part
        found.append(rows + to.start)
    market = priced(hot, np.concatenate(found), now, scheme, standings)
    exact = market.gain >= _needed(market.prices, market.new, floor, scheme)
    return (market if exact.all() else market.where(exact)), reach


def _may_reach(
    may: Mask,
    new: Mask,
    floor: Floor,
    scheme: Scheme,
    gain: Floats,
    prices: Sequence[Floats],
    rows: Ints | slice,
) -> Mask:
    """Which of the rows may be visited, and reach the floor by these bounds."""
    needed = _needed(prices, new[rows], floor, scheme)
    needed *= 1.0 - ROUNDING
    reaches: Mask = may[rows] & (gain >= needed)
    return reaches


def _needed(prices: Sequence[Floats], new: Mask, floor: Floor, scheme: Scheme) -> Floats:
    """The gain that each page needs to reach the floor, or a little less."""
    if not scheme.policy.per_price:
        needed = np.full(new.size, floor.level, np.float32)
    else:
        with np.errstate(over="ignore"):
            needed = np.float32(floor.level * (1.0 - ROUNDING)) * _weighed(prices, floor.lambdas)
    if floor.new < floor.level and new.any():
        needed[new] *= np.float32(floor.new / floor.level)
    return needed


def _weighed(prices: Sequence[Floats], lambdas: Sequence[float]) -> Floats:
    """One price for several caps."""
    used = [(x, p) for x, p in zip(lambdas, prices, strict=True) if x]
    if len(used) == 1 and used[0][0] == 1.0:
        return used[0][1]
    return sum((np.float32(x) * p for x, p in used), np.zeros_like(prices[0]))
