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

    def first(self, view: View, horizon: float) -> Floats:
        """Chance that the page changes within the horizon of its first reading, times value."""
        return view.value * -np.expm1(-(view.a / view.b) * horizon)

    def ceiling(self, view: View) -> Floats:
        """One change a visit, times value."""
        return view.value
