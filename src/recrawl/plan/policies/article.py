"""The article's `freshness_gain`: chance that the page is stale, times how long it stays fresh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.view import View
from recrawl.poisson import Floats, freshness_gain
from recrawl.units import DAY


@dataclass(frozen=True, slots=True)
class Article:
    """`(1 - e^-x) (1 - e^(-rate I))/rate`, at the mean of the belief.

    `interval`: I, the seconds for which a visit is credited. With I of one day, as the article
    prints it, slow pages are worth too little: 0.76 to 0.99 of the best possible with known
    rates. None takes I = the age of the copy, which is near exact (0.994 to 0.999).
    """

    name: str
    goal: str
    interval: float | None
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Expected fresh seconds bought by visiting now, times value."""
        interval = view.tau if self.interval is None else np.float32(self.interval)
        gain: Floats = view.value * freshness_gain(view.a / view.b, view.tau, interval)
        return gain

    def bound(self, view: View) -> Floats:
        """The gain itself, which is cheap."""
        return self.gain(view)

    def first(self, view: View, horizon: float) -> Floats:
        """What is certainly stale is worth its fresh seconds within the interval."""
        interval = horizon if self.interval is None else self.interval
        gain: Floats = view.value * freshness_gain(view.a / view.b, horizon, interval)
        return gain

    def ceiling(self, view: View) -> Floats:
        """All of the interval fresh, which no wait can exceed."""
        mean_gap = view.b / view.a
        ceiling: Floats = view.value * (
            mean_gap if self.interval is None else np.fmin(mean_gap, np.float32(self.interval))
        )
        return ceiling


ARTICLE = Article("article", "fresh days by the article's formula, for one day ahead", DAY)
ARTICLE_AGE = Article("article-age", "the article's formula, for as long as the copy is old", None)
