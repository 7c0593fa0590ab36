"""Harmonic: pay for stale time so far, so that no page starves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.gain import exprel, harmonic_index
from recrawl.plan.policies.base import Unbounded
from recrawl.plan.view import View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class Harmonic(Unbounded):
    """Expected `tau - (1 - e^-x)/rate` (Kolobov et al., NeurIPS 2019) under the page's belief."""

    name: str = "harmonic"
    goal: str = "stale time, where every page is visited sooner or later"
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Expected stale seconds so far, times value."""
        return view.value * harmonic_index(view.a, view.b, view.tau)

    def bound(self, view: View) -> Floats:
        """S falls by at most a/b a second."""
        return view.value * (view.tau * np.minimum(0.5 * view.a * (view.tau / view.b), 1.0))

    def first(self, view: View, horizon: float) -> Floats:
        """Fresh seconds that a first reading gives within the horizon, times value."""
        return view.value * (horizon * exprel(-horizon * (view.a / view.b)))
