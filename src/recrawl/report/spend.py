"""Where the budget went: by site, page type and purpose, on changes and on nothing.

The unit of account is the cost of a detected change, not of a fetched page (M5, M7, M8, M9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recrawl.model import Purpose, Verdict
from recrawl.ports import Rollup
from recrawl.report.outcomes import Heap, found_nothing, heap_of, site_name, type_name
from recrawl.units import Spend, Unit


@dataclass(slots=True)
class Tally:
    """Visits and what they cost and found. Sums of rollup lines."""

    visits: int = 0  # of pages; robots.txt is in `requests` only
    requests: int = 0
    changes: int = 0  # changed records detected, whatever the visit was bought for
    first: int = 0  # pages read for the first time
    nothing: int = 0  # visits that found no change
    up: int = 0
    down: int = 0
    spend: Spend = field(default_factory=Spend)
    heaps: dict[Heap, Spend] = field(default_factory=dict)
    in_heap: dict[Heap, int] = field(default_factory=dict)

    def add(self, row: Rollup) -> None:
        """Add one line of the rollup."""
        heap = heap_of(row.purpose, row.verdict)
        self.requests += row.n
        self.visits += row.n if heap is not Heap.OVERHEAD else 0
        self.changes += row.n if row.verdict is Verdict.CHANGED else 0
        self.first += row.n if row.verdict is Verdict.NEW else 0
        self.nothing += row.n if found_nothing(row) else 0
        self.up += row.up
        self.down += row.down
        self.spend += row.spend
        self.heaps[heap] = self.heaps.get(heap, Spend()) + row.spend
        self.in_heap[heap] = self.in_heap.get(heap, 0) + row.n

    @property
    def nothing_share(self) -> float | None:
        """Share of page visits that found no change, None without visits (M8)."""
        return self.nothing / self.visits if self.visits else None

    def per_change(self, unit: Unit) -> float | None:
        """Smallest parts of `unit` spent for each detected change, None without changes (M7)."""
        return self.spend.get(unit) / self.changes if self.changes else None

    @property
    def bytes_per_useful_page(self) -> float | None:
        """Bytes moved, all of them, for each reading that was new or changed (M5)."""
        useful = self.changes + self.first
        return (self.up + self.down) / useful if useful else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values; amounts in bytes, micro-USD, microcredits and milliseconds."""
        return {
            "visits": self.visits,
            "requests": self.requests,
            "changes": self.changes,
            "first": self.first,
            "nothing": self.nothing,
            "nothing_share": self.nothing_share,
            "bytes_up": self.up,
            "bytes_down": self.down,
            "bytes_per_useful_page": self.bytes_per_useful_page,
            "bytes_per_change": self.per_change(Unit.BYTES),
            "micro_usd_per_change": self.per_change(Unit.USD),
            "spend": self.spend.as_dict(),
            "spent_on": {
                heap.value: {"requests": self.in_heap[heap], **self.heaps[heap].as_dict()}
                for heap in Heap
                if heap in self.heaps
            },
        }


def total(rows: Iterable[Rollup]) -> Tally:
    """All lines in one tally."""
    tally = Tally()
    for row in rows:
        tally.add(row)
    return tally


def by_site_and_type(
    rows: Iterable[Rollup], origins: Mapping[int, str], types: Sequence[str]
) -> dict[tuple[str, str], Tally]:
    """(site, page type) -> tally, the dearest first.

    `origins` are the hosts' by host_id, `types` the names of page types by their index. What is
    spent on robots.txt stands under the type 'robots.txt'.
    """
    found: dict[tuple[str, str], Tally] = {}
    for row in rows:
        kind = "robots.txt" if row.purpose is Purpose.ROBOTS else type_name(row.page_type, types)
        found.setdefault((site_name(row.host_id, origins), kind), Tally()).add(row)
    return dict(sorted(found.items(), key=lambda item: (*_dearness(item[1]), item[0])))


def by_purpose(rows: Iterable[Rollup]) -> dict[Purpose, Tally]:
    """Purpose -> tally, in the order of the purposes."""
    found: dict[Purpose, Tally] = {}
    for row in rows:
        found.setdefault(row.purpose, Tally()).add(row)
    return dict(sorted(found.items()))


def _dearness(tally: Tally) -> tuple[int, int, int]:
    """Sorts the dearest first: by money, then credits, then bytes moved."""
    return -tally.spend.micro_usd, -tally.spend.microcredits, -(tally.up + tally.down)


def unit_of_account(spend: Spend) -> Unit:
    """What to count in: money where any was spent, else credits, else bytes."""
    return next((u for u in (Unit.USD, Unit.CREDITS) if spend.get(u)), Unit.BYTES)
