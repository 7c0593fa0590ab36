"""The reserves' own account: what discovery, re-estimation and verification cost and found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recrawl.model import RETURNED, Entry, Purpose
from recrawl.ports import Rollup
from recrawl.report.spend import Tally, unit_of_account
from recrawl.units import Spend, Unit

RESERVES = (Purpose.DISCOVERY, Purpose.REESTIMATION, Purpose.VERIFICATION)


@dataclass(frozen=True, slots=True)
class Reserve:
    """One reserve. What it leaves unspent goes to the best buys of the same window, and new pages
    may outbid best buys beyond discovery's share.
    """

    purpose: Purpose
    share: float  # of the budget, as configured
    spent_share: float | None  # of all that was spent, in the unit of account; None = nothing was
    unit: Unit  # of account
    tally: Tally
    new_pages: int  # admitted from links of its visits
    returns: int  # pages that had been given up and were read again

    @property
    def spend(self) -> Spend:
        """What it cost, in every unit."""
        return self.tally.spend

    def as_dict(self) -> dict[str, Any]:
        """For --json; amounts in their smallest parts."""
        return {
            "purpose": self.purpose.word,
            "share": self.share,
            "spent_share": self.spent_share,
            "unit": self.unit.value,
            "visits": self.tally.visits,
            "spend": self.spend.as_dict(),
            "first": self.tally.first,
            "new_pages": self.new_pages,
            "changes": self.tally.changes,
            "returns": self.returns,
        }


def reserves(
    rows: Iterable[Rollup], shares: Mapping[Purpose, float], returns: Mapping[Purpose, int]
) -> list[Reserve]:
    """The account of each reserve. `returns`: as `count_returns` counts them."""
    tallies = {purpose: Tally() for purpose in Purpose}
    new_pages = dict.fromkeys(Purpose, 0)
    whole = Spend()
    for row in rows:
        tallies[row.purpose].add(row)
        new_pages[row.purpose] += row.discovered
        whole += row.spend
    unit = unit_of_account(whole)
    spent = whole.get(unit)
    return [
        Reserve(
            purpose=purpose,
            share=shares[purpose],
            spent_share=tallies[purpose].spend.get(unit) / spent if spent else None,
            unit=unit,
            tally=tallies[purpose],
            new_pages=new_pages[purpose],
            returns=returns.get(purpose, 0),
        )
        for purpose in RESERVES
    ]


def count_returns(entries: Iterable[Entry]) -> int:
    """Visits that read a page which had been given up."""
    return sum(RETURNED in e.evidence for e in entries)
