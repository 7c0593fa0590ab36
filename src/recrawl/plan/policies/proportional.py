"""Proportional: visits in proportion to the rate of change, what most people try first."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.plan.policies.base import Ageing
from recrawl.plan.view import View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class Proportional(Ageing):
    """Changes expected since the last reading, under the mean of the page's belief.

    A page comes due at the same expected number of changes, so that its frequency is in
    proportion to its rate. Never better than even visits (Cho & Garcia-Molina 2003, theorem
    5.2): fast pages take the budget and are stale all the same.
    """

    name: str = "proportional"
    goal: str = "visits in proportion to the rate of change; loses to even visits"
    per_price: bool = False

    def gain(self, view: View) -> Floats:
        """Expected changes since the last reading."""
        return view.a / view.b * view.tau
