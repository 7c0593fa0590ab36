"""The best possible on a made-up web: all rates known, the same bytes, evenly spaced visits."""

from __future__ import annotations

import numpy as np

from recrawl.plan.allocate import Allocation, Pages, optimal
from recrawl.sim.truth import Prices
from recrawl.sim.web import MadeUpWeb


def best_possible(
    web: MadeUpWeb, prices: Prices, budget: float, t0: float, t1: float
) -> Allocation:
    """What `budget` bytes buy in [t0, t1] to one who knows every rate, the validators' included.

    Nothing is charged for discovery, redirects, dead links or robots.txt, and a page that dies
    weighs and costs by the share of the span that it lives. One element a page, visits a second.
    """
    alive = np.clip((np.minimum(web.died, t1) - t0) / (t1 - t0), 0.0, 1.0)
    pages = Pages.of(
        web.rate,
        web.value * alive,
        prices.full * alive,
        prices.unchanged * alive,
        web.validator_rate,
    )
    return optimal(pages, budget / (t1 - t0))
