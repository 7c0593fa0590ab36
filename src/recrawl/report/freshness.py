"""How much of what we hold is probably still true, from the beliefs about each page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Freshness:
    """Expected freshness of a set of pages at one moment."""

    now: float | None  # share of the value that is fresh, in expectation; None = no pages
    of_read: float | None  # the same among pages read at least once
    pages: int
    unread: int
    oldest: float | None  # seconds since the last reading of the page that waits longest

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


def chance_fresh(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """The chance that nothing changed in `tau` seconds: `(b / (b + tau))^a`.

    The change rate is Gamma(a, b) distributed (b in seconds), so the time to the next change is
    Lomax distributed; this is its survival function. A belief that is none (a or b not above 0)
    says nothing: NaN.

    >>> chance_fresh([1.0, 2.0], [100.0, 100.0], [0.0, 100.0]).tolist()
    [1.0, 0.25]
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    tau = np.maximum(np.asarray(tau, float), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        chance: Floats = np.exp(-a * np.log1p(tau / b))
    return np.where((a > 0) & (b > 0), chance, np.nan)


def expected_freshness(
    a: ArrayLike, b: ArrayLike, value: ArrayLike, last: ArrayLike, now: float
) -> Freshness:
    """Value-weighted expected freshness of pages; all arrays one entry a page.

    `last` is when each was last read, 0 = never: such a page is not fresh. Resolve beliefs of
    (0, 0) to their group's prior before; one that stays unknown is left out of the sums.
    """
    value, last = np.asarray(value, float), np.asarray(last, float)
    read = last > 0
    tau = np.where(read, now - last, 0.0)
    fresh = np.where(read, chance_fresh(a, b, tau), 0.0)
    known = ~np.isnan(fresh)
    weight, fresh = np.where(known, value, 0.0), np.where(known, fresh, 0.0)
    return Freshness(
        now=_share(weight, fresh),
        of_read=_share(weight * read, fresh),
        pages=int(last.size),
        unread=int((~read).sum()),
        oldest=float(tau.max()) if read.any() else None,
    )


def _share(weight: Floats, fresh: Floats) -> float | None:
    whole = float(weight.sum())
    return float((weight * fresh).sum()) / whole if whole > 0 else None
