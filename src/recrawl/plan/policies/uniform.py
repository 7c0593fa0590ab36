"""Uniform: even visits, the oldest copy first; the baseline that any policy must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.view import UNBOUNDED, View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class Uniform:
    """Age alone: reads no rates, no values and no prices."""

    name: str = "uniform"
    goal: str = "every page equally often"
    per_price: bool = False

    def gain(self, view: View) -> Floats:
        """Seconds since the last reading."""
        return view.tau

    def first(self, view: View, horizon: float) -> Floats:
        """A never-read page counts as one last read `horizon` seconds ago."""
        return np.full_like(view.tau, horizon)

    def ceiling(self, view: View) -> Floats:
        """No bound."""
        return np.full_like(view.tau, UNBOUNDED)
