"""Bounds of what pages are worth and cost: which of them need a close look at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Table
from recrawl.plan.appraise import Scheme, look, validator_beliefs, with_first
from recrawl.plan.gain import least_answer_share
from recrawl.plan.groups import Ints
from recrawl.plan.tariff import SLOT, Quote
from recrawl.poisson import Floats

Reaches = Callable[[Floats, Sequence[Floats], Ints | slice], NDArray[np.bool_]]
"""(gains, prices by unit, the pages that they are of) -> whether each is worth a visit."""


def glance(
    pages: Table, now: float, scheme: Scheme, reaches: Reaches
) -> tuple[Ints, list[Floats]]:
    """The pages that may be worth a visit, found without a logarithm, in float32; and by unit the
    best score that each page can ever have (of one never read it says nothing).

    None is missed: `reaches` is asked about no less than the gain and no more than the price that
    `appraise` finds, both divided by the chance of success.
    """
    seen = look(pages, now, scheme, np.float32)
    ceiling = scheme.policy.ceiling(seen.view)
    failures = (1.0 - seen.success) / seen.success  # for each success
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        reach: list[Floats] = [
            ceiling / (full + failures * (failed + SLOT * full)) for full, _, failed in seen.quotes
        ]
    gain = with_first(np.minimum(scheme.policy.bound(seen.view), ceiling), seen, scheme)
    spared = seen.carries.astype(np.float32)  # at first, as if a 304 answered each validator
    rows = np.flatnonzero(reaches(gain, _prices(seen.quotes, spared), slice(None)))
    if rows.size and seen.carries.any():
        belief = validator_beliefs(pages, seen, scheme, rows)
        answered = least_answer_share(*belief, seen.view.tau[rows])
        some = (Quote(*(x[rows] for x in quoted)) for quoted in seen.quotes)
        prices = _prices(some, spared[rows] * (1.0 - answered))
        rows = rows[reaches(gain[rows], prices, rows)]
    return rows, reach


def _prices(quotes: Iterable[Quote], spared: Floats) -> list[Floats]:
    """Of visits of which 304s spare no more than that share a full answer."""
    return [np.minimum(full - (full - small) * spared, full) for full, small, _ in quotes]
