"""Multiplicative back-off: wait longer after each visit in vain, come sooner after each change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.plan.policies.base import Ageing
from recrawl.plan.view import View
from recrawl.poisson import Floats
from recrawl.units import DAY


@dataclass(frozen=True, slots=True)
class Backoff(Ageing):
    """Age as a share of the page's own interval: the most overdue first.

    A page's interval (seconds) begins at `start`, is multiplied by `longer` after an unchanged
    visit and by `shorter` after a changed one, within [`floor`, `ceiling_seconds`]. By default
    "ten checks without a change: less often; the last three changed: more often", spread evenly
    over those ten and three visits: ten in vain double the interval, three changes halve it.

    It rests where `P log shorter + (1-P) log longer = 0`, P the chance that a visit finds a
    change: every page is seen changed on the same share of its visits (0.23 by default, 0.60 for
    1.4 and 0.8), so that frequencies end in proportion to rates. Loses to even visits where the
    budget is tight, for it chases what changes faster than it can be followed.
    """

    name: str = "backoff"
    goal: str = "each page at an interval of its own that grows in vain and shrinks with changes"
    per_price: bool = False
    start: float = 7 * DAY
    longer: float = 2.0 ** (1 / 10)
    shorter: float = 2.0 ** (-1 / 3)
    floor: float = DAY
    ceiling_seconds: float = 365 * DAY

    def gain(self, view: View) -> Floats:
        """Age over interval."""
        gain: Floats = view.tau / self._interval(view)
        return gain

    def after(self, interval: Floats, changed: np.ndarray) -> Floats:
        """The intervals after a visit each (0 = the page had none yet)."""
        begun = np.where(interval > 0, interval, self.start)
        moved = begun * np.where(changed, self.shorter, self.longer)
        kept: Floats = np.clip(moved, self.floor, self.ceiling_seconds)
        return kept

    def _interval(self, view: View) -> Floats:
        """Within the bounds too where another policy, or other options, left it."""
        kind = view.tau.dtype.type
        begun = np.where(view.interval > 0, view.interval, kind(self.start))
        kept: Floats = np.clip(begun, kind(self.floor), kind(self.ceiling_seconds))
        return kept


NUTCH = Backoff(
    "backoff-nutch",
    "the intervals that a well-known crawler ships: 30 days, x 1.4 in vain, x 0.8 on a change",
    start=30 * DAY,
    longer=1.4,
    shorter=0.8,
    floor=60.0,
)
