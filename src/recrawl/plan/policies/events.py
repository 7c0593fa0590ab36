"""Events: every detected change counts, fast pages most; at odds with keeping copies fresh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.gain import events_index
from recrawl.plan.view import View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class Events:
    """Expected `g(x)` under the page's belief: about proportional to the rate of change."""

    name: str = "events"
    goal: str = "the number of changes detected; copies end up staler than under even visits"
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Marginal changes that a visit now detects, times value."""
        return view.value * events_index(view.a, view.b, view.tau)

    def bound(self, view: View) -> Floats:
        """The expectation of `min(x^2/2, 0.3 x, 1)`, none of which is below g(x)."""
        mean = view.a * (view.tau / view.b)
        pairs = 0.5 * (mean + view.tau / view.b)
        return view.value * np.minimum(mean * np.minimum(pairs, 0.3), 1.0)

    def first(self, view: View, horizon: float) -> Floats:
        """Chance that the page changes within the horizon of its first reading, times value."""
        return view.value * -np.expm1(-(view.a / view.b) * horizon)

    def ceiling(self, view: View) -> Floats:
        """One change a visit, times value."""
        return view.value
