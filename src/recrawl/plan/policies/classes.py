"""Volatility classes: hourly, daily, weekly, monthly pages, each class at its own interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.policies.base import Ageing
from recrawl.plan.view import View
from recrawl.poisson import Floats
from recrawl.units import DAY, HOUR


@dataclass(frozen=True, slots=True)
class Classes(Ageing):
    """Age as a share of the class's interval: the most overdue first.

    `intervals`: seconds between the visits of a class, rising. A page is of the class whose
    interval is nearest, in log time, to its mean time between changes as believed. Rates are not
    weighed against the budget: hourly pages are visited hourly, whether or not that keeps them
    fresh. About `proportional` in steps, and loses where that does.
    """

    name: str = "classes"
    goal: str = "hourly, daily, weekly and monthly pages, each at its class's interval"
    per_price: bool = False
    intervals: tuple[float, ...] = (HOUR, DAY, 7 * DAY, 30 * DAY)

    def gain(self, view: View) -> Floats:
        """Age over interval."""
        intervals = np.array(self.intervals)
        bounds = np.sqrt(intervals[1:] * intervals[:-1])
        interval = intervals[np.searchsorted(bounds, view.b / view.a)]
        gain: Floats = (view.tau / interval).astype(view.tau.dtype)
        return gain
