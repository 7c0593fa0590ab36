"""Freshness: keep as many copies right as the budget allows, and let the hopeless pages go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.gain import freshness_bound, freshness_index
from recrawl.plan.view import UNBOUNDED, View
from recrawl.poisson import Floats, fresh_time


@dataclass(frozen=True, slots=True)
class Freshness:
    """Expected `g(x)/rate` (Cho & Garcia-Molina 2003) under the page's belief."""

    name: str = "freshness"
    goal: str = "the share of pages whose copy matches, weighted by value"
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Seconds of freshness that a visit now buys, times value."""
        return view.value * freshness_index(view.a, view.b, view.tau)

    def bound(self, view: View) -> Floats:
        """Of the index."""
        return view.value * freshness_bound(view.a, view.b, view.tau)

    def first(self, view: View, horizon: float) -> Floats:
        """Fresh seconds that a first reading gives within the horizon, times value."""
        return view.value * fresh_time(view.a / view.b, horizon)

    def ceiling(self, view: View) -> Floats:
        """The page's expected time between changes, times value: no visit can buy more."""
        mean_gap = view.b / np.fmax(view.a - 1.0, 1e-20)
        ceiling: Floats = view.value * np.fmin(mean_gap, UNBOUNDED)
        return ceiling
