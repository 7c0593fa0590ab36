"""What hosts can take: a limit on each host's visits, and the price that keeps to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.poisson import Floats

Ints = NDArray[np.integer[Any]]
Frequency = Callable[[Ints, Floats], Floats]
"""(rows of pages, what a visit to each costs beside the budget) -> visits per second."""

NATS = 40.0  # range of a host's price: from its dearest page's worth down to e^-40 of it
STEPS = 100
CLOSE = 1e-13  # relative, of a price or of what a limit leaves unused


@dataclass(frozen=True, slots=True)
class Capacity:
    """Each page's host (0 to n-1), and each host's visits per second at most (inf = any)."""

    host: Ints
    visits: Floats

    @classmethod
    def of(cls, host: ArrayLike, visits: ArrayLike) -> Capacity:
        """Raises ValueError for limits that are negative or no numbers."""
        limits = np.atleast_1d(np.asarray(visits, np.float64))
        if not (limits >= 0).all():
            raise ValueError("a host's visits per second must be 0 or more")
        return cls(np.asarray(host, np.int64), limits)

    def used(self, frequency: Floats) -> Floats:
        """Visits per second, by host."""
        used: Floats = np.bincount(self.host, frequency, self.visits.size).astype(np.float64)
        return used

    def room(self, frequency: Floats) -> Floats:
        """Visits per second that each page's host takes beside those."""
        left: Floats = np.maximum(self.visits - self.used(frequency), 0.0)[self.host]
        return left

    def shared_evenly(self) -> Floats:
        """The most that each page may get if all pages of a host get the same."""
        counts = np.bincount(self.host, minlength=self.visits.size)
        share: Floats = (self.visits / np.maximum(counts, 1))[self.host]
        return share

    def prices(self, frequency: Frequency, worth: Floats) -> Floats:
        """What a visit costs at each host for its limit to be kept: 0 where it doesn't bind.

        KKT of the allocation with host limits: the price of a page's visit is that of the
        budget plus its host's own multiplier (Kolobov et al., SIGIR 2019). Given the budget's
        price, hosts are independent: bisection for all at once. `worth`: the most that a visit
        to each page can bring.
        """
        every = np.arange(self.host.size)
        out = np.zeros(self.visits.size)
        over = self.used(frequency(every, np.zeros(every.size))) > self.visits
        rows = np.flatnonzero(over[self.host])
        if not rows.size:
            return out
        full = np.flatnonzero(over)
        host = np.searchsorted(full, self.host[rows])  # among the full ones
        limit, top = self.visits[full], np.zeros(full.size)
        np.maximum.at(top, host, worth[rows])
        high = np.log(top) + 1e-9

        def excess(log_price: Floats) -> Floats:
            visits = frequency(rows, np.exp(log_price)[host])
            used = np.bincount(host, visits, full.size)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.log(used / limit)
            bounded: Floats = np.clip(np.nan_to_num(share, nan=-1.0), -50.0, 50.0)
            return bounded

        out[full] = np.exp(_falls_to_zero(excess, high - NATS, high))
        return out

    def filled(self, frequency: Floats, prices: Floats, enters: Floats) -> Floats:
        """What full hosts have left, given to the page of theirs that is just at the margin.

        A page enters so steeply that no float64 price may lie between "never" and far more visits
        than its host has left; there its worth is linear. `enters`: the price of its host at
        which each page enters, NaN for those that are visited already or never.
        """
        out = frequency.copy()
        left = np.maximum(self.visits - self.used(frequency), 0.0)
        for host in np.flatnonzero((prices > 0) & (left > 0)):
            mine = np.flatnonzero((self.host == host) & ~np.isnan(enters))
            off = np.abs(enters[mine] - prices[host])
            if mine.size and off.min() < 1e-9 * prices[host]:
                out[mine[off.argmin()]] = left[host]
        return out


def _falls_to_zero(f: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Where falling functions, one an element, come down to 0; just after it where they jump.

    Regula falsi (Illinois), every third step a bisection.
    """
    at_low, at_high, side = f(low), f(high), np.zeros(low.size)
    for step in range(STEPS):
        x = 0.5 * (low + high)
        if step % 3:
            with np.errstate(divide="ignore", invalid="ignore"):
                chord = (low * at_high - high * at_low) / (at_high - at_low)
            inside = (at_low > 0) & (at_high <= 0) & (chord > low) & (chord < high)
            x = np.where(inside, chord, x)
        at = f(x)
        right = at > 0  # the zero is further on
        at_high = np.where(right & (side > 0), at_high / 2, np.where(right, at_high, at))
        at_low = np.where(~right & (side < 0), at_low / 2, np.where(right, at, at_low))
        low, high = np.where(right, x, low), np.where(right, high, x)
        side = np.where(right, 1, -1)
        if (np.minimum(high - low, np.where(at <= 0, -at, np.inf)) < CLOSE).all():
            break
    return high
