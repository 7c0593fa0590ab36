"""Freshness: keep as many copies right as the budget allows, and let the hopeless pages go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.gain import exprel, freshness_bound, freshness_index
from recrawl.plan.view import View
from recrawl.poisson import Floats


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
        return view.value * (horizon * exprel(-horizon * (view.a / view.b)))

    def ceiling(self, view: View) -> Floats:
        """The page's expected time between changes, times value: no visit can buy more."""
        near_none = 1e-20 if view.a.dtype == np.float64 else 1e-12  # no overflow in float32
        ceiling: Floats = view.value * (view.b / np.fmax(view.a - 1.0, near_none))
        return ceiling
