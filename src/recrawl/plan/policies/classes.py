"""Volatility classes: hourly, daily, weekly, monthly pages, each class at its own interval."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.plan.view import UNBOUNDED, View
from recrawl.poisson import Floats
from recrawl.units import DAY, HOUR

INTERVALS = np.array([HOUR, DAY, 7 * DAY, 30 * DAY])
"""Seconds between visits of a class."""

BOUNDS = np.sqrt(INTERVALS[1:] * INTERVALS[:-1])
"""Mean seconds between changes at which the next class begins: halfway, in log time."""


@dataclass(frozen=True, slots=True)
class Classes:
    """Age as a share of the class's interval: the most overdue first.

    A page's class follows the mean of its belief. Rates are not weighed against the budget:
    hourly pages are visited hourly, whether or not that keeps them fresh.
    """

    name: str = "classes"
    goal: str = "hourly, daily, weekly and monthly pages, each at its class's interval"
    per_price: bool = False

    def gain(self, view: View) -> Floats:
        """Age over interval."""
        interval = INTERVALS[np.searchsorted(BOUNDS, view.b / view.a)]
        gain: Floats = (view.tau / interval).astype(view.tau.dtype)
        return gain

    def first(self, view: View, horizon: float) -> Floats:
        """A never-read page counts as one last read `horizon` seconds ago."""
        return self.gain(replace(view, tau=np.full_like(view.tau, horizon)))

    def ceiling(self, view: View) -> Floats:
        """No bound."""
        return np.full_like(view.tau, UNBOUNDED)
