"""Value times age: no rates at all, the strong baseline that a learned policy must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.view import UNBOUNDED, View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class ValueAge:
    """Seconds since the last reading, times value, per price: each dear page more rarely."""

    name: str = "value-age"
    goal: str = "dear and cheap pages first, in turn; no rates are learned"
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Age times value."""
        return view.value * view.tau

    def first(self, view: View, horizon: float) -> Floats:
        """A never-read page counts as one last read `horizon` seconds ago."""
        return view.value * np.float32(horizon)

    def ceiling(self, view: View) -> Floats:
        """No bound."""
        return np.full_like(view.tau, UNBOUNDED)
