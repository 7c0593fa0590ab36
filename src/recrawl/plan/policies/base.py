"""Answers that several policies share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from recrawl.plan.view import UNBOUNDED, View
from recrawl.poisson import Floats


class Unbounded:
    """A policy whose gain grows without bound: every page is bought in the end."""

    __slots__ = ()

    def ceiling(self, view: View) -> Floats:
        """No bound."""
        return np.full_like(view.tau, UNBOUNDED)


class Ageing(Unbounded, ABC):
    """A policy that ranks by age in some measure; a never-read page is a page of great age."""

    __slots__ = ()

    @abstractmethod
    def gain(self, view: View) -> Floats:
        """Age, as the policy measures it."""

    def bound(self, view: View) -> Floats:
        """The gain itself, which is cheap."""
        return self.gain(view)

    def first(self, view: View, horizon: float) -> Floats:
        """A never-read page counts as one last read `horizon` seconds ago."""
        return self.gain(replace(view, tau=np.full_like(view.tau, horizon)))
