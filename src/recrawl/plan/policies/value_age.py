"""Value times age: no rates at all, the strong baseline that a learned policy must beat."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.plan.policies.base import Ageing
from recrawl.plan.view import View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class ValueAge(Ageing):
    """Seconds since the last reading, times value, per price: each dear page more rarely."""

    name: str = "value-age"
    goal: str = "dear and cheap pages first, in turn; no rates are learned"
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Age times value."""
        return view.value * view.tau
