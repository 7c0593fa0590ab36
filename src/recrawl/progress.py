"""What a run has done so far and why it ended, counted from the ledger's lines as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from recrawl.model import Verdict, Writes
from recrawl.units import Spend

COUNTED = {
    Verdict.NEW: "new",
    Verdict.CHANGED: "changed",
    Verdict.SAME: "unchanged",
    Verdict.NOT_MODIFIED: "unchanged",
    Verdict.GONE: "gone",
    Verdict.MOVED: "moved",
    Verdict.ROBOTS: "robots",
}


class Ended(StrEnum):
    """Why a run ended."""

    DONE = "done"
    NOTHING_DUE = "nothing due"
    BUDGET = "budget spent"
    LIMIT = "limit reached"
    TIME = "time is up"
    INTERRUPTED = "interrupted"


@dataclass(slots=True)
class Progress:
    """What a run has done so far; shown while it runs, returned when it ends."""

    visits: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    gone: int = 0
    moved: int = 0
    robots: int = 0
    windows: int = 0
    discovered: int = 0
    spend: Spend = field(default_factory=Spend)
    ended: Ended = Ended.DONE
    reason: str = ""
    next_due: float = math.inf

    def count(self, writes: Writes) -> None:
        """Add the ledger lines of one outcome."""
        for entry in writes.entries:
            self.visits += 1
            self.spend += entry.spend
            self.discovered += entry.discovered
            name = COUNTED.get(entry.verdict, "failed")
            setattr(self, name, getattr(self, name) + 1)
