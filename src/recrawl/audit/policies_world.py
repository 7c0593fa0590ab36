"""The reads of a sample of pages -> worlds in which they would have seen what they saw.

Each page lives from its first read to its last, and the time is its own. Between two judged reads
that found nothing it did not change. Before one that found a change it changed at least once: at
times of a Poisson process of the page's rate, given that. (One change at a random time would do
where changes are rare. Elsewhere it flatters whoever reads at other times than the log did.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.audit.histories import CHANGED, NO_SIZE, SAME, UNKNOWN, History
from recrawl.audit.prices import BYTES, FETCHES
from recrawl.poisson import Floats
from recrawl.replay import Events, World
from recrawl.replay.score import Visits
from recrawl.replay.world import Ints
from recrawl.report.dispersion import SATURATED, rate

Bools = NDArray[np.bool_]
MOST_CHANGES = 200  # drawn between two reads
SLOWEST = 1e-12  # changes a second, of pages all of whose changes took no time


@dataclass(frozen=True, slots=True)
class Reads:
    """All reads of a sample: aligned arrays sorted by page, then time (from the page's first)."""

    page: Ints
    time: Floats
    found: NDArray[np.int8]
    unmodified: Bools
    group: Ints  # by page, as the three below
    lived: Floats
    full: Floats  # cost of an answer with a body
    unchanged: Floats  # of a 304; equal to `full` where the page never gave one
    before: Floats  # by read: the time of the judged read before it
    rate: Floats  # by page: changes a second, as the reads show them
    saturated: int  # pages of which nearly every read found a change

    @classmethod
    def of(cls, sample: Sequence[History], unit: str) -> Reads:
        """`unit` is what costs are counted in. Where a log has no bytes: FETCHES."""
        names = {name: i for i, name in enumerate(sorted({h.name for h in sample}))}
        full, unchanged = _prices(sample) if unit == BYTES else (np.ones(len(sample)),) * 2
        befores, rates = zip(*(_intervals(h) for h in sample), strict=True)
        return cls(
            page=np.repeat(np.arange(len(sample)), [h.time.size for h in sample]),
            time=np.concatenate([h.time for h in sample]),
            found=np.concatenate([h.found for h in sample]),
            unmodified=np.concatenate([h.unmodified for h in sample]),
            group=np.array([names[h.name] for h in sample]),
            lived=np.array([h.lived for h in sample]),
            full=full,
            unchanged=unchanged,
            before=np.concatenate(befores),
            rate=np.array(rates),
            saturated=sum(h.hits > SATURATED for h in sample),
        )

    def world(self, rng: np.random.Generator) -> World:
        """One of the worlds in which these reads would have seen what they saw."""
        sends = self.unchanged < self.full  # a body that says the same: its validator had moved
        moved = sends[self.page] & ~self.unmodified & (self.found == SAME)
        since = np.append(0.0, self.time[:-1])[moved]
        shown = since + (self.time[moved] - since) * rng.random(since.size)
        return World.of(
            self._changes(rng),
            group=self.group,
            full=self.full,
            unchanged=self.unchanged,
            died=self.lived,
            shown=Events.of(self.lived.size, self.page[moved], shown),
        )

    def _changes(self, rng: np.random.Generator) -> Events:
        """The first change of an interval of length g that has one is later than s with chance
        `(e^(-r s) - e^(-r g))/(1 - e^(-r g))`; after it the process runs on.
        """
        hit = self.found == CHANGED
        page, since, until = self.page[hit], self.before[hit], self.time[hit]
        pace, u = np.maximum(self.rate[page], SLOWEST), rng.random(page.size)
        first = -np.log1p(u * np.expm1(-pace * (until - since))) / pace
        first = np.minimum(since + first, until)
        more = np.minimum(rng.poisson(pace * (until - first)), MOST_CHANGES)
        start = np.repeat(first, more)
        times = start + (np.repeat(until, more) - start) * rng.random(start.size)
        pages = np.concatenate([page, np.repeat(page, more)])
        return Events.of(self.lived.size, pages, np.concatenate([first, times]))

    def visits(self) -> Visits:
        """The log's own, between each page's first read (a gift) and its last (of no use)."""
        cost = np.where(self.unmodified, self.unchanged[self.page], self.full[self.page])
        inside = (self.time > 0) & (self.time < self.lived[self.page])
        return Visits(
            self.page[inside], self.time[inside], self.found[inside] == CHANGED, cost[inside]
        )


def _intervals(history: History) -> tuple[Floats, float]:
    """(the time of the judged read before each one, the rate of changes that the reads show).

    The rate is the most likely one with half an interval more that shows no change, so that it
    is finite where all do. For n equal intervals of length g, x of them with a change, it is
    `ln((n + 0.5)/(n - x + 0.5))/g` (Cho & Garcia-Molina, TOIT 2003).
    """
    judged = history.found != UNKNOWN
    rows = np.arange(judged.size)
    last = np.maximum.accumulate(np.where(judged, rows, 0))
    before = history.time[np.append(0, last[:-1])]
    tau, hit = (history.time - before)[judged], (history.found == CHANGED)[judged]
    hit, tau = hit[tau > 0], tau[tau > 0]
    if not hit.any():
        return before, 0.0
    return before, rate(np.append(tau, 0.5 * tau.mean()), np.append(hit, False))


def unit_of(sample: Sequence[History], asked: str) -> str:
    """Bytes, where they are not asked for in fetches and the log has them."""
    sized = any(((h.size > 0) & ~h.unmodified).any() for h in sample)
    return BYTES if sized and asked == BYTES else FETCHES


def _prices(sample: Sequence[History]) -> tuple[Floats, Floats]:
    """Mean bytes of each page's full answers and of its 304s."""
    full = np.array([_mean(h.size[~h.unmodified & (h.size != NO_SIZE)]) for h in sample])
    full = np.maximum(np.where(np.isnan(full), np.nanmean(full), full), 1.0)
    low = [_mean(np.maximum(h.size[h.unmodified], 0)) for h in sample]
    return full, np.where(np.isnan(low), full, np.clip(low, 1.0, full))


def _mean(sizes: NDArray[np.int64]) -> float:
    return float(sizes.mean()) if sizes.size else np.nan
