"""Age: how long copies have been wrong, for goals where an old error is worse than a new one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.gain import age_index
from recrawl.plan.policies.base import Unbounded
from recrawl.plan.view import View
from recrawl.poisson import Floats


@dataclass(frozen=True, slots=True)
class Age(Unbounded):
    """`tau^2/2 - tau J + int J` (Cho & Garcia-Molina 2003, age) under the page's belief."""

    name: str = "age"
    goal: str = "the time for which stale copies have been stale, weighted by value"
    per_price: bool = True

    def gain(self, view: View) -> Floats:
        """Seconds squared of age that a visit now takes away, times value."""
        gain: Floats = view.value * age_index(view.a, view.b, view.tau).astype(view.tau.dtype)
        return gain

    def bound(self, view: View) -> Floats:
        """S falls by at most a/b a second."""
        share = np.minimum(view.a * (view.tau / view.b) * (2.0 / 3.0), 1.0)
        return view.value * (0.5 * view.tau * view.tau * share)

    def first(self, view: View, horizon: float) -> Floats:
        """A never-read page counts as one that has been wrong for `horizon` seconds."""
        return view.value * np.float32(0.5 * horizon * horizon)
