"""What a vendor tells of its charges, by tariff: the largest bounds promises, the means price."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recrawl.plan.sizes import Ints, Means, group_key
from recrawl.plan.tariff import Quote, Tariff

FULL, NOT_MODIFIED, FAILED = 0, 1, 2  # what a charge was for


@dataclass(slots=True)
class Told:
    """What must survive a crash, in microcredits: kept in the store at once when it changes.

    `promised`, `charged` and `at` (epoch seconds) are of the worst charge above its promise;
    `over` counts them all.
    """

    most: int = 0
    over: int = 0
    promised: int = 0
    charged: int = 0
    at: float = 0.0

    def take(self, charge: int, promised: int, now: float) -> bool:
        """One more charge was told for a visit promised at `promised`; True where this is news."""
        news = charge > self.most or charge > promised
        self.most = max(self.most, charge)
        if charge > promised:
            self.over, self.at = self.over + 1, now
            if charge - promised > self.charged - self.promised:
                self.promised, self.charged = promised, charge
        return news


class Charges:
    """Charges that one tariff's vendor told, as expectations for the next ones.

    A full answer's by (host, page type), else page type, else the list charge; a 304's and a
    failure's by host, else the list charge. Shrunk means, as of sizes.
    """

    _PARTS = ("types", "groups", "unchanged", "failed")

    def __init__(self) -> None:
        self.told = Told()
        self.types = Means()
        self.groups = Means()
        self.unchanged = Means()
        self.failed = Means()

    def observe(self, what: int, host_id: int, page_type: int, microcredits: int) -> None:
        """One charge told for a page's visit, what = FULL, NOT_MODIFIED or FAILED."""
        charge = float(microcredits)
        if what == FULL:
            self.types.add(page_type, charge)
            self.groups.add(group_key(host_id, page_type), charge)
        else:
            (self.unchanged if what == NOT_MODIFIED else self.failed).add(host_id, charge)

    def expected(self, tariff: Tariff, mode: str, host_id: Ints, page_type: Ints) -> Quote:
        """Expected microcredits of a full answer, a 304 and a failure, aligned with the pages."""
        listed = tariff.listed(mode)
        above = self.types.many(page_type, listed[FULL])
        return Quote(
            self.groups.many(group_key(host_id.astype(np.int64), page_type), above),
            self.unchanged.many(host_id, listed[NOT_MODIFIED]),
            self.failed.many(host_id, listed[FAILED]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The means, as JSON can hold them."""
        return {
            name: [[k, *v] for k, v in getattr(self, name).sums.items()] for name in self._PARTS
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Charges:
        """The inverse of `to_dict`; parts that are missing start empty."""
        out = cls()
        for name in cls._PARTS:
            getattr(out, name).sums = {int(k): (n, t) for k, n, t in data.get(name, [])}
        return out


def told_text(charges: Mapping[str, Charges]) -> str:
    """What each tariff's vendor told at most, as the store's meta holds it."""
    return json.dumps({name: asdict(c.told) for name, c in charges.items()})


def told_of(text: str | None) -> dict[str, Told]:
    """The inverse of `told_text`; empty where nothing was told yet."""
    return {name: Told(**told) for name, told in json.loads(text or "{}").items()}
