"""The ledger beside the vendor's figures: a span's sum, and told charges beside the list's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recrawl.model import Entry
from recrawl.plan.tariff import Tariff
from recrawl.report.alerts import Alert
from recrawl.units import MICRO, Unit, format_amount

TOLERANCE = 0.02  # of the vendor's figure
LEAST_TOLD = 10  # charges told, before their mean means anything


@dataclass(slots=True)
class Reconciliation:
    """A tariff's sum in the ledger beside what its vendor says, smallest parts of `unit`.

    `by_source` splits the ledger's sum by where each line's cost comes from ('reserved': lost in
    a crash and booked at its promise).
    """

    tariff: str
    unit: Unit
    vendor: int
    requests: int = 0
    ledger: int = 0
    by_source: dict[str, int] = field(default_factory=dict)

    @property
    def difference(self) -> int:
        """How much more the ledger holds than the vendor says; negative = less."""
        return self.ledger - self.vendor

    @property
    def share(self) -> float | None:
        """The difference as a share of the vendor's figure; None where that is 0."""
        return self.difference / self.vendor if self.vendor else None

    def drifts(self, tolerance: float = TOLERANCE) -> bool:
        """True where the two differ by more than that share of the vendor's figure."""
        return abs(self.difference) > tolerance * self.vendor

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {
            "tariff": self.tariff,
            "unit": self.unit.value,
            "vendor": self.vendor,
            "ledger": self.ledger,
            "difference": self.difference,
            "share": self.share,
            "requests": self.requests,
            "by_source": self.by_source,
        }


def reconcile(
    entries: Iterable[Entry], routes: Iterable[str], tariff: str, unit: Unit, vendor: int
) -> Reconciliation:
    """Sum up the entries of those routes, in one pass."""
    out, wanted = Reconciliation(tariff, unit, vendor), frozenset(routes)
    for e in entries:
        if e.route in wanted:
            amount = e.spend.get(unit)
            out.requests += 1
            out.ledger += amount
            out.by_source[e.source] = out.by_source.get(e.source, 0) + amount
    return out


def drift_alert(r: Reconciliation, tolerance: float = TOLERANCE) -> Alert | None:
    """What to look at where ledger and vendor drift apart."""
    if not r.drifts(tolerance):
        return None
    lost = r.by_source.get("reserved", 0)
    more = r.difference > 0
    if more and lost:
        step = (
            f"{format_amount(r.unit, lost)} of it are visits lost in a crash, booked at their "
            "promise: what the vendor billed for them is likely less."
        )
    elif more:
        step = "Compare each and charged_on of the tariff with what the vendor bills."
    else:
        step = (
            "Compare each and charged_on of the tariff with what the vendor bills, and see "
            "whether anything else uses this account."
        )
    by = "" if r.share is None else f", {abs(r.share):.1%}"
    return Alert(
        "drift",
        f"tariff.{r.tariff}",
        f"the ledger holds {format_amount(r.unit, abs(r.difference))} "
        f"{'more' if more else 'less'} than the vendor says{by}.",
        step,
    )


@dataclass(slots=True)
class ToldCharges:
    """What a vendor told for `visits` visits, and what the list asks for them; microcredits."""

    visits: int = 0
    told: int = 0
    listed: int = 0

    @property
    def share(self) -> float | None:
        """How far the told sum is above the list's, as a share of the list's."""
        return (self.told - self.listed) / self.listed if self.listed else None

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {
            "visits": self.visits,
            "told_microcredits": self.told,
            "listed_microcredits": self.listed,
            "share": self.share,
        }


def told_charges(
    entries: Iterable[Entry], by_route: Mapping[str, Tariff], mode_of: Callable[[int], str]
) -> dict[str, ToldCharges]:
    """Tariff name -> its told charges beside the list; only lines that were told.

    `mode_of` maps a page type to how it is fetched.
    """
    out: dict[str, ToldCharges] = {}
    for e in entries:
        tariff = by_route.get(e.route)
        if tariff is None or e.source != "vendor":
            continue
        one = out.setdefault(tariff.name, ToldCharges())
        one.visits += 1
        one.told += e.spend.microcredits
        if e.verdict in tariff.charged:
            plain = tariff.credits["plain"]
            one.listed += round(tariff.credits.get(mode_of(e.page_type), plain) * MICRO)
    return out


def told_alerts(told: Mapping[str, ToldCharges], tolerance: float = TOLERANCE) -> Iterator[Alert]:
    """Tariffs whose list charge is not what their vendor takes."""
    for name, t in told.items():
        if t.visits < LEAST_TOLD or abs(t.told - t.listed) <= tolerance * t.listed:
            continue
        by = "" if t.share is None else f" ({t.share:+.1%})"
        yield Alert(
            "drift",
            f"tariff.{name}",
            f"the vendor took {format_amount(Unit.CREDITS, t.told)} for {t.visits:,} visits; the "
            f"list charge says {format_amount(Unit.CREDITS, t.listed)}{by}.",
            "What was told is booked and planned by; correct each and charged_on of the tariff, "
            "by which new kinds of pages are priced at first.",
        )
