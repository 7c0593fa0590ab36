"""What a visit is expected to cost: the marginal price that ranks it, and the budget it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.plan.charges import Charges
from recrawl.plan.groups import Groups
from recrawl.plan.sizes import SizeModel
from recrawl.plan.tariff import SLOT, Quote, Tariff, quote
from recrawl.poisson import Floats
from recrawl.units import Unit

Ints = NDArray[np.integer[Any]]


def chance_of_success(host: ArrayLike, fails: ArrayLike) -> Floats:
    """Chance that the next visit is answered, after `fails` failures in a row.

    Beta belief with the host's own share of successes as mean, worth two visits.

    >>> [round(float(chance_of_success(0.9, k)), 3) for k in (0, 1, 2, 8)]
    [0.9, 0.6, 0.45, 0.18]
    """
    strength = 2.0
    share = np.clip(np.asarray(host), 0.01, 1.0)
    out: Floats = share * strength / (strength + np.asarray(fails))
    return out


class Cost(NamedTuple):
    """Aligned arrays in the smallest part of one unit."""

    price: Floats  # what the gain of an attempt is divided by, failures included
    expected: Floats  # what the budget is debited


def attempt(quoted: Quote, marginal: Floats, changed: Floats, p: Floats) -> Cost:
    """Price and expected cost of one attempt that succeeds with chance `p`.

    `marginal` = `E[g(d_v tau)]` and `changed` = `P(validator changed)`, d_v being the rate of
    the *validator*; both 1 where the visit carries none. The marginal price
    `m = c304 + (c200 - c304) E[g]` is the derivative of spending by frequency (KKT of the
    budget); the expected cost is what a visit takes, but ranks worse.
    `price = p m + (1-p) c_fail`, so that with the gain `p U` the score is
    `p U / (p m + (1-p) c_fail)`; c_fail is what a failure is billed plus the host's slot.
    """
    full, unchanged, failed = quoted
    spread = full - unchanged
    lost = (1.0 - p) * failed
    return Cost(
        p * (unchanged + spread * marginal) + lost + (1.0 - p) * SLOT * full,
        p * (unchanged + spread * changed) + lost,
    )


@dataclass(slots=True)
class PriceBook:
    """Sizes and tariffs of all hosts: quotes for whole columns of pages.

    `tariff_of` maps a host to an index into `tariffs`; hosts not in it use the first. `modes`:
    how pages of each type are fetched (empty = all plain). `charges` are what vendors told, by the
    tariff's name.
    """

    sizes: SizeModel
    tariffs: Sequence[Tariff] = (Tariff("direct"),)
    tariff_of: dict[int, int] = field(default_factory=dict)
    modes: Sequence[str] = ()
    charges: Mapping[str, Charges] = field(default_factory=dict)

    def quote(self, unit: Unit, host_id: Ints, page_type: Ints, body: Floats) -> Quote:
        """Expected amounts of `unit` for a visit to each page; `body` 0 = not yet known."""
        return self.of_groups(unit, Groups(host_id, page_type), np.asarray(body, np.float64))

    def of_groups(self, unit: Unit, pages: Groups, body: Floats) -> Quote:
        """The same of pages whose groups are known, in the precision of `body`."""
        if unit is Unit.BYTES:
            return self.sizes.of_groups(pages, body)
        bill = pages.by_group(lambda host, kind: self._bill(unit, host, kind), body.dtype)
        if len(bill) == 3:
            return Quote(*bill)
        sizes = self.sizes.of_groups(pages, body)
        return Quote(*(bill[i] + bill[i + 3] * size for i, size in enumerate(sizes)))

    def _bill(self, unit: Unit, host_id: Ints, page_type: Ints) -> tuple[Floats, ...]:
        """What is billed by group: flat amounts of a full answer, a 304 and a failure, then, where
        there are any, those of each byte. (No tariff's bill is more than linear in bytes.)
        """
        none = np.zeros(host_id.size)
        flat, with_a_byte = (
            self._billed(unit, host_id, page_type, Quote(*(none + n,) * 3)) for n in (0.0, 1.0)
        )
        a_byte = [b - a for a, b in zip(flat, with_a_byte, strict=True)]
        return (*flat, *a_byte) if any(x.any() for x in a_byte) else tuple(flat)

    def _billed(self, unit: Unit, host_id: Ints, page_type: Ints, sizes: Quote) -> Quote:
        """What visits of that many bytes are billed, each by the tariff of its host."""
        asked = (unit, host_id, page_type, sizes, self.sizes.millis(host_id))
        out = self._by_mode(self.tariffs[0], *asked)
        for index, tariff in enumerate(self.tariffs[1:], start=1):
            hosts = [h for h, i in self.tariff_of.items() if i == index]
            here = np.isin(host_id, hosts)
            if here.any():
                out = _where(here, self._by_mode(tariff, *asked), out)
        return out

    def _by_mode(
        self,
        tariff: Tariff,
        unit: Unit,
        host_id: Ints,
        page_type: Ints,
        sizes: Quote,
        millis: Floats,
    ) -> Quote:
        """What one tariff bills for each page, by the mode of its type."""

        def of(mode: str) -> Quote:
            charges = self.charges.get(tariff.name) if tariff.charge_header else None
            told = charges.expected(tariff, mode, host_id, page_type) if charges else None
            return quote(tariff, unit, sizes, millis, mode, told)

        out = of("plain")
        if tariff.unit is not Unit.CREDITS:
            return out
        for mode in sorted(set(self.modes) & set(tariff.credits) - {"plain"}):
            here = np.isin(page_type, [i for i, m in enumerate(self.modes) if m == mode])
            out = _where(here, of(mode), out)
        return out


def _where(here: NDArray[np.bool_], there: Quote, other: Quote) -> Quote:
    return Quote(*(np.where(here, a, b) for a, b in zip(there, other, strict=True)))
