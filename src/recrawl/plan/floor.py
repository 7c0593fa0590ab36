"""Where a window's market may begin: guessed from a sample of the pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Table
from recrawl.plan.appraise import Scheme
from recrawl.plan.candidates import Floor, Market, priced
from recrawl.plan.groups import Ints
from recrawl.plan.select import bin_edge, score_bins, shadow_prices, within_capacity
from recrawl.plan.standing import Mask, Standing, Standings
from recrawl.plan.window import Window

SAMPLED = 1 << 15  # rows at least; fewer pages than twice that are all taken
MARGIN = 2.0  # of the budget: what the market costs, if the sample is right
FEWEST = 16  # sampled visits that a guess is made from


@dataclass(frozen=True, slots=True)
class Sample:
    """Every `stride`-th row that may be visited, with its numbers."""

    market: Market
    stride: int

    @classmethod
    def of(cls, hot: Table, now: float, scheme: Scheme, standings: Standings) -> Sample:
        """Rows come sorted by host: each has its part in the sample."""
        stride = max(1, len(hot) // SAMPLED)
        rows = np.arange(stride // 2, len(hot), stride)
        standing = standings.of(rows)
        rows = rows[(standing >= Standing.NEW) & (standing <= Standing.OVERDUE)]
        return cls(priced(hot, rows, now, scheme, standings), stride)

    def mean_costs(self, new: bool = False) -> list[float]:
        """Expected cost of a visit by unit, of all candidates or those never read."""
        m = self.market
        some = m.where(m.new) if new else m
        return [float(c.mean()) if c.size else 0.0 for c in some.expected]

    def floor(self, w: Window, discovery: float) -> Floor:
        """What is left of the budget, and discovery's share of it, should be spent well above."""
        m, per_price = self.market, w.scheme.policy.per_price
        free = m.free(w.rows())
        lambdas = self._lambdas(w, free)
        if self.stride == 1:
            return Floor(lambdas, settled=True)
        score = m.score(lambdas, per_price)
        level = self._level(free, score, w, w.left)
        if sum(x > 0 for x in lambdas) > 1:
            level = min(level, 0.5)  # of the bar, which is 1 at shadow prices
        new = self._level(free & m.new, score, w, w.share(discovery)) if discovery else level
        return Floor(lambdas, level, min(level, new))

    def _lambdas(self, w: Window, free: Mask) -> tuple[float, ...]:
        """Weights of the caps' prices in the score: the shadow prices where several may bind."""
        m, units = self.market, len(w.scheme.units)
        first = (1.0,) + (0.0,) * (units - 1)
        spent = min(w.left) <= 0  # of some cap: nothing can be bought at any price
        if units == 1 or spent or not w.scheme.policy.per_price or not m.gain.size:
            return first
        gain = np.where(free, m.gain, np.float32(0.0))
        budgets = [b / self.stride for b in w.left]
        if self.stride > 1:  # a few visits' prices would be those of the sample's few best pages
            visits = min(b / max(c, 1e-9) for b, c in zip(budgets, self.mean_costs(), strict=True))
            budgets = [b * max(1.0, FEWEST / visits) for b in budgets]
        found = shadow_prices(gain, m.prices, m.expected, budgets)
        return tuple(found) if any(found) else first

    def _level(self, free: Mask, score: np.ndarray, w: Window, budgets: list[float]) -> float:
        """The bin of scores that the budgets, or so, reach down to; 0 = to the last."""
        m, pool = self.market, np.flatnonzero(free)
        order = pool[np.argsort(-score[pool], kind="stable")]
        order = order[within_capacity(m.host[order], self._share_of(w.capacity))]
        stops = [
            np.searchsorted(np.cumsum(c[order], dtype=np.float64), MARGIN * b / self.stride)
            for c, b in zip(m.expected, budgets, strict=True)
        ]
        at = max(int(min(stops)), FEWEST)
        return bin_edge(int(score_bins(score[order[at : at + 1]])[0])) if at < order.size else 0.0

    def _share_of(self, capacity: Ints) -> Ints:
        """Hosts' capacities as far as the sample goes, their sum kept."""
        return np.diff(np.cumsum(np.minimum(capacity, 1 << 31)) // self.stride, prepend=0)
