"""Tariffs: what a route bills for one exchange, and the price of a visit in any unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np

from recrawl.model import Verdict, WireCost
from recrawl.poisson import Floats
from recrawl.units import MICRO, Spend, Unit

T = TypeVar("T", float, Floats)

SUCCESSES = frozenset(
    {
        Verdict.NEW,
        Verdict.CHANGED,
        Verdict.SAME,
        Verdict.NOT_MODIFIED,
        Verdict.ROBOTS,
        Verdict.UNKNOWN,  # lost in a crash: assume that it was billed
    }
)
"""What a credit tariff charges unless the project says otherwise (vendors differ on 404s)."""

SLOT = 0.1
"""The price of a host's slot as a share of a full visit's price: what a failure costs at least,
so that falling health counts on tariffs that bill no failures."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """How one route bills. Every exchange counts as one fetch, and its bytes and milliseconds
    are recorded, whatever the tariff; the tariff decides credits and money.

    `price_micro_usd_per_unit` is per byte, credit, fetch or second; `credits` is the charge of
    one visit by mode. Only verdicts in `charged` are billed, in credits or money; unless given,
    credits for `SUCCESSES` only, and bytes, fetches and seconds for all, failures too. Where
    `charge_header` tells the true charge, `charge_max` is the most credits that it can tell for
    one visit (0 = not known). Raises ValueError for what is no tariff.
    """

    name: str
    unit: Unit = Unit.BYTES
    price_micro_usd_per_unit: float = 0.0
    credits: Mapping[str, float] = field(default_factory=lambda: {"plain": 1.0})
    charged: frozenset[Verdict] = frozenset()  # empty = what such a unit is usually billed for
    charge_header: str = ""  # lower-case name of the answer's header that tells the true charge
    charge_max: float = 0.0

    def __post_init__(self) -> None:
        usual = SUCCESSES if self.unit is Unit.CREDITS else frozenset(Verdict)
        # What was lost in a crash, or is only promised yet, is taken to be billed.
        object.__setattr__(self, "charged", (self.charged or usual) | {Verdict.UNKNOWN})
        if self.unit is Unit.USD:
            raise ValueError(
                f"tariff {self.name!r}: a tariff bills bytes, credits, fetches or seconds; "
                "its price turns them into USD"
            )
        numbers = [self.price_micro_usd_per_unit, self.charge_max, *self.credits.values()]
        if not all(math.isfinite(x) and x >= 0 for x in numbers):
            raise ValueError(f"tariff {self.name!r}: prices and credits must be 0 or more")
        if self.unit is Unit.CREDITS and not self.credits:
            raise ValueError(f"tariff {self.name!r}: say how many credits a visit costs")

    def told(self, cost: WireCost, header: str | None) -> WireCost:
        """The cost with the charge that the vendor tells in `charge_header`, where it tells one.

        >>> api = Tariff("api", Unit.CREDITS, charge_header="x-credits")
        >>> api.told(WireCost(), "2.5").microcredits, api.told(WireCost(), "n/a").microcredits
        (2500000, None)
        """
        try:
            charge = float(header or "")
        except ValueError:
            return cost
        if not 0 <= charge < 1e9 or cost.microcredits is not None:
            return cost
        return replace(cost, microcredits=round(charge * MICRO), source="vendor")

    def credits_of(self, cost: WireCost, verdict: Verdict, mode: str = "plain") -> int:
        """Microcredits of one exchange: what the vendor told, else the list charge."""
        if self.unit is not Unit.CREDITS:
            return 0
        if cost.microcredits is not None:
            return cost.microcredits
        return self._list_charge(mode) if verdict in self.charged else 0

    def _list_charge(self, mode: str) -> int:
        if mode not in self.credits:
            known = ", ".join(sorted(self.credits))
            raise ValueError(
                f"tariff {self.name!r} has no charge for mode {mode!r} (has: {known})"
            )
        return round(self.credits[mode] * MICRO)

    def micro_usd(self, nbytes: T, microcredits: T, fetches: T, millis: T) -> T:
        """Money of that much use, in micro-USD, unrounded."""
        amount: T = {
            Unit.BYTES: nbytes,
            Unit.CREDITS: microcredits / MICRO,
            Unit.FETCHES: fetches,
            Unit.SECONDS: millis / 1000.0,
        }[self.unit]
        return amount * self.price_micro_usd_per_unit

    def spend(self, cost: WireCost, verdict: Verdict, mode: str = "plain") -> Spend:
        """What one exchange costs, in every unit; money is rounded up to whole micro-USD.

        Right for a promise to pay. For a sum of many small visits use `Meter`, which carries
        the fractions.
        """
        return self._spend(cost, self.credits_of(cost, verdict, mode), 0.0, verdict)

    def worst(self, cost: WireCost, mode: str = "plain", most_told: int = 0) -> Spend:
        """The most that an exchange of at most that cost can be billed: what is reserved.

        `most_told`: the largest charge told so far, microcredits. It counts where `charge_max`
        isn't set, which settles the question else.
        """
        if self.unit is not Unit.CREDITS:
            return self._spend(cost, 0, 0.0, Verdict.UNKNOWN)
        most = round(self.charge_max * MICRO) or most_told
        return self._spend(cost, max(self._list_charge(mode), most), 0.0, Verdict.UNKNOWN)

    def listed(self, mode: str = "plain") -> tuple[float, float, float]:
        """Listed microcredits of a full answer, a 304 and a failure; 0 on tariffs without."""
        charge = float(self._list_charge(mode)) if self.unit is Unit.CREDITS else 0.0
        what = (Verdict.CHANGED, Verdict.NOT_MODIFIED, Verdict.FAILED)
        full, unchanged, failed = (charge * (verdict in self.charged) for verdict in what)
        return full, unchanged, failed

    def billed(self, cost: WireCost, microcredits: int, verdict: Verdict) -> float:
        """Micro-USD of one exchange, unrounded. What the vendor said in credits is believed."""
        if verdict not in self.charged and not microcredits:
            return 0.0
        millis = round(cost.seconds * 1000)
        return self.micro_usd(float(cost.bytes), float(microcredits), 1.0, float(millis))

    def _spend(self, cost: WireCost, microcredits: int, carry: float, verdict: Verdict) -> Spend:
        millis = round(cost.seconds * 1000)
        money = self.billed(cost, microcredits, verdict) - carry
        return Spend(
            bytes=cost.bytes,
            micro_usd=max(0, math.ceil(money - 1e-9)),
            microcredits=microcredits,
            fetches=1,
            millis=millis,
        )


@dataclass(slots=True)
class Meter:
    """A tariff that carries fractions of a micro-USD from visit to visit.

    A 304 of 300 bytes at 4 USD/GB costs 1.2 micro-USD: rounded each time, the ledger's money
    would drift from its bytes. Here the sum stays within one micro-USD of the true one, above.

    >>> meter = Meter(Tariff("proxy", Unit.BYTES, 0.004))
    >>> sum(meter.spend(WireCost(down=300), Verdict.SAME).micro_usd for _ in range(1000))
    1200
    """

    tariff: Tariff
    ahead: float = 0.0  # micro-USD booked beyond what was used, in [0, 1)

    def spend(self, cost: WireCost, verdict: Verdict, mode: str = "plain") -> Spend:
        """What one exchange costs, in every unit, and remember the rounding."""
        microcredits = self.tariff.credits_of(cost, verdict, mode)
        out = self.tariff._spend(cost, microcredits, self.ahead, verdict)
        self.ahead += out.micro_usd - self.tariff.billed(cost, microcredits, verdict)
        return out


class Quote(NamedTuple):
    """Expected amounts in the smallest part of one unit, aligned with the pages asked about."""

    full: Floats  # a full answer
    unchanged: Floats  # a 304
    failed: Floats  # a failure, as billed


def quote(
    tariff: Tariff,
    unit: Unit,
    sizes: Quote,
    millis: Floats,
    mode: str = "plain",
    told: Quote | None = None,
) -> Quote:
    """Expected bytes (`sizes`) and milliseconds a visit -> expected amounts of `unit`.

    Bytes and money follow the size of the answer on byte tariffs only: on credits a 304 costs
    as much as a page where NOT_MODIFIED is charged. `told`: expected microcredits where the
    vendor tells its charges; else they are those of the list.
    """
    if unit is Unit.BYTES:
        return sizes
    one, none = np.ones_like(millis), np.zeros_like(millis)
    if unit is Unit.FETCHES:
        return Quote(one, one, one)
    if unit is Unit.SECONDS:
        return Quote(millis, millis, millis)
    microcredits = told or Quote(*(one * charge for charge in tariff.listed(mode)))
    if unit is Unit.CREDITS:
        return microcredits
    billed = [
        verdict in tariff.charged or tariff.unit is Unit.CREDITS  # a charge of 0 is no money
        for verdict in (Verdict.CHANGED, Verdict.NOT_MODIFIED, Verdict.FAILED)
    ]
    uses = zip(sizes, microcredits, billed, strict=True)
    return Quote(*(tariff.micro_usd(n, c, one, millis) if paid else none for n, c, paid in uses))
