"""Shares of the budget for what the scheduler can't see: new pages, old beliefs, own errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.poisson import Floats

Rows = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of each window's budget, 0 to 1 together. What a reserve does not use flows back
    to the best buys, and new pages may outbid best buys beyond their share. Raises ValueError.
    """

    discovery: float = 0.10  # pages never read
    reestimation: float = 0.05  # pages past `max_gap`; a tenth for gone, inactive, alias, refused
    verification: float = 0.03  # uniform random over live pages
    unconditional: float = 0.25  # of the verification draws: servers answer 304 to changed pages

    def __post_init__(self) -> None:
        parts = (self.discovery, self.reestimation, self.verification, self.unconditional)
        if not all(0.0 <= x <= 1.0 for x in parts):
            raise ValueError(f"shares of the budget lie between 0 and 1, not {parts}")
        if sum(parts[:3]) > 1.0:
            raise ValueError(
                f"the reserves take {sum(parts[:3]):.0%} of the budget; at most 100 %"
            )


RETURNS = 0.1  # of re-estimation, for pages that were given up


def draw_verification(
    live: int, mean_cost: float, budget: float, rng: np.random.Generator
) -> Rows:
    """Which of `live` pages (0 to live - 1) to verify, uniformly at random, none twice.

    As many as `budget` buys at the mean cost, a fraction being rounded up or down by chance:
    the number does not depend on which pages are drawn, so that the sample stays unbiased,
    and a window too small for one draw makes one now and then.
    """
    if not live or budget <= 0:
        return np.zeros(0, np.intp)
    wanted = budget / max(mean_cost, 1e-9)
    if wanted >= live:
        return rng.permutation(live)
    whole = math.floor(wanted)
    count = whole + int(rng.random() < wanted - whole)
    return rng.choice(live, size=count, replace=False)


def longest_first(rows: Rows, since: Floats, at_most: int) -> Rows:
    """The `at_most` rows that have waited longest (`since` = when they were last seen)."""
    if rows.size > at_most:
        rows_at = np.argpartition(since, at_most - 1)[:at_most] if at_most > 0 else rows[:0]
        rows, since = rows[rows_at], since[rows_at]
    return rows[np.argsort(since, kind="stable")]
