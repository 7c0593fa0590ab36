"""The demo's figures: what is crawled on what budget, and the result as a table and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recrawl.units import DAY, format_usd

USD_PER_GB = 8.0  # a residential proxy's price


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Thirty days on twelve or so visits a page; `judged` of them, at the end, are compared."""

    seed: int = 1
    hosts: int = 5
    pages: int = 2000
    days: float = 30.0
    budget: int = 50_000_000  # bytes in all
    judged: float = 10.0  # days: the first pass and the learning are over by then

    @property
    def micro_usd(self) -> int:
        """The budget in money."""
        return round(self.budget * USD_PER_GB / 1000)

    @property
    def bytes_a_day(self) -> float:
        """The budget as a rate."""
        return self.budget / self.days

    @property
    def judged_after(self) -> float:
        """Seconds from the start after which freshness is judged."""
        return (self.days - self.judged) * DAY


@dataclass(frozen=True, slots=True)
class Waste:
    """Money spent on visits to one site and page type, and on those that found no change."""

    site: str
    page_type: str
    visits: int
    micro_usd: int
    nothing_micro_usd: int


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What thirty days came to, ours beside the best possible and even visits."""

    now: float
    best: float
    even: float
    ours_usd_per_change: float
    even_usd_per_change: float
    visits: int
    changes: int
    seconds: float  # of real time
    waste: tuple[Waste, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The shape that `recrawl demo --json` prints."""
        return {
            "freshness": {"now": self.now, "best": self.best, "even": self.even},
            "usd_per_change": {
                "ours": self.ours_usd_per_change,
                "even": self.even_usd_per_change,
            },
            "visits": self.visits,
            "changes": self.changes,
            "seconds": self.seconds,
            "waste": [
                {
                    "site": w.site,
                    "page_type": w.page_type,
                    "visits": w.visits,
                    "usd": w.micro_usd / 1e6,
                    "usd_finding_nothing": w.nothing_micro_usd / 1e6,
                }
                for w in self.waste
            ],
        }


def table(result: DemoResult) -> list[tuple[str, str, str]]:
    """(what, figure, what it is to be compared with): the demo's last words."""
    ours, even = result.ours_usd_per_change, result.even_usd_per_change
    return [
        ("fresh now", f"{result.now:.1%}", f"{result.now / result.best:.1%} of the best possible"),
        ("best possible", f"{result.best:.1%}", "every rate known, same budget"),
        ("even visits", f"{result.even:.1%}", "every page equally often, same budget"),
        ("cost per change", format_usd(ours * 1e6), f"even visits: {format_usd(even * 1e6)}"),
        ("visits", f"{result.visits:,}", f"{result.changes:,} changes found"),
        ("real time", f"{result.seconds:.0f} s", ""),
    ]


def waste_table(result: DemoResult) -> list[tuple[str, str, str, str, str]]:
    """(site, page type, visits, spent, of it finding nothing), the most wasteful first."""
    rows = sorted(result.waste, key=lambda w: -w.nothing_micro_usd)
    return [
        (w.site, w.page_type, f"{w.visits:,}", format_usd(w.micro_usd),
         format_usd(w.nothing_micro_usd))
        for w in rows
    ]  # fmt: skip
