"""Even visits replayed on the true changes: every page as often as every other, same budget.

The comparison is kind to them: they know all pages from the start, are never throttled, pay
neither for redirects, dead links and robots.txt nor for a page that is dead, and their interval
is chosen with hindsight so that it spends the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.sim.truth import Prices, Readings, changes_found, freshness
from recrawl.sim.web import MadeUpWeb

_SHORTEST = 300.0  # seconds
_STEPS = 40  # of the bisection: the interval to 1e-12 of the span


@dataclass(frozen=True, slots=True)
class EvenVisits:
    """What even visits would have done with the same bytes."""

    interval: float  # seconds between two visits of a page
    visits: int
    bytes: int
    changes: int  # found over the whole span
    freshness: float  # over [since, t1]
    readings: Readings


def even_readings(web: MadeUpWeb, interval: float, t0: float, t1: float) -> Readings:
    """Page i of n at t0 + (i/n + k) interval, k = 0, 1, ..., before t1 and before its death."""
    phase = np.arange(len(web)) / len(web)
    rounds = np.arange(int(np.ceil((t1 - t0) / interval)) + 1)
    times = t0 + (phase[:, None] + rounds[None, :]) * interval
    pages = np.broadcast_to(np.arange(len(web))[:, None], times.shape)
    kept = (times < t1) & (times < web.died[:, None])
    return Readings(pages[kept].astype(np.int64), times[kept])


def even_visits(
    web: MadeUpWeb, prices: Prices, budget: float, t0: float, t1: float, since: float
) -> EvenVisits:
    """The even visits of [t0, t1] that cost `budget` bytes or just less, first readings included.

    Raises ValueError where the budget does not pay for one reading of every page, or pays for
    so many that there is nothing to compare.
    """

    def spend(interval: float) -> float:
        return float(prices.of_readings(web, even_readings(web, interval, t0, t1)).sum())

    slow, fast = t1 - t0, 0.0  # slow: within the budget; fast: beyond it
    if spend(slow) > budget:
        raise ValueError(
            f"a budget of {budget:.0f} bytes does not pay for one reading of every page: "
            f"that takes {spend(slow):.0f}"
        )
    # Start near the answer: a tiny interval would draw millions of visits.
    step = slow
    while fast == 0.0:
        step /= 2
        if step < _SHORTEST:
            raise ValueError(
                f"a budget of {budget:.0f} bytes pays for every page each {_SHORTEST:.0f} s: "
                f"nothing is left to choose"
            )
        slow, fast = (step, 0.0) if spend(step) <= budget else (slow, step)
    for _ in range(_STEPS):
        middle = (slow + fast) / 2
        slow, fast = (middle, fast) if spend(middle) <= budget else (slow, middle)
    readings = even_readings(web, slow, t0, t1)
    return EvenVisits(
        interval=slow,
        visits=len(readings.pages),
        bytes=round(spend(slow)),
        changes=changes_found(web, readings),
        freshness=freshness(web, readings, since, t1),
        readings=readings,
    )
