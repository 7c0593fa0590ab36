"""What a policy sees of pages, and what a policy is: two small shapes that `plan` shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from recrawl.poisson import Floats

UNBOUNDED = 1e28  # stands for infinity: still finite in float32, times any value


@dataclass(frozen=True, slots=True)
class View:
    """Aligned columns of the pages that may be visited now; times and scales in seconds.

    Beliefs are within the bounds that `gain` names.
    """

    a: Floats  # belief of the record's change rate: Gamma shape
    b: Floats  # and its inverse scale
    tau: Floats  # since the last reading
    value: Floats  # how much the page matters, 1.0 = ordinary
    interval: Floats  # what a policy that keeps one gave the page, 0 = none yet


class Policy(Protocol):
    """A goal, as the worth of visiting each page now. Pure; one file a policy.

    Gains are finite, not negative, and never fall as tau grows. The planner buys the best
    gain per price (or, where `per_price` is False, the best gain) until the budget is spent.
    """

    @property
    def name(self) -> str:
        """The word in the project file."""

    @property
    def goal(self) -> str:
        """One sentence for people: what it optimizes."""

    @property
    def per_price(self) -> bool:
        """Whether gains are divided by the price of the visit."""

    def gain(self, view: View) -> Floats:
        """What a visit now is worth, value included."""

    def bound(self, view: View) -> Floats:
        """No less than `gain`, by a few multiplications: most pages need no closer look."""

    def first(self, view: View, horizon: float) -> Floats:
        """What the first reading of a never-read page is worth, over `horizon` seconds."""

    def ceiling(self, view: View) -> Floats:
        """The most that `gain` can reach however long one waits (UNBOUNDED = no limit)."""


@runtime_checkable
class KeepsInterval(Protocol):
    """A policy that keeps an interval of its own for each page."""

    def after(self, interval: Floats, changed: NDArray[np.bool_]) -> Floats:
        """The intervals (seconds, 0 = none yet) after one visit each."""
