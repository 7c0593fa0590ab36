"""Uniform: even visits, the oldest copy first; the baseline that any policy must beat."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.plan.policies.base import Ageing
from recrawl.plan.view import View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class Uniform(Ageing):
    """Age alone: reads no rates, no values and no prices."""

    name: str = "uniform"
    goal: str = "every page equally often"
    per_price: bool = False

    def gain(self, view: View) -> Floats:
        """Seconds since the last reading."""
        return view.tau
