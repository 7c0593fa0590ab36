"""Visits held against what really happened: freshness, changes found, age, and money in vain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.poisson import Floats
from recrawl.replay.world import Events, Ints, World


@dataclass(frozen=True, slots=True)
class Visits:
    """Aligned arrays, sorted by page, then time: every reading after the one at time 0."""

    page: Ints
    time: Floats
    changed: NDArray[np.bool_]
    cost: Floats


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a replay came to between `since` and its end."""

    freshness: float  # value-weighted share of time in which copies were right
    captured: float  # changed visits as a share of all changes
    age_days: float  # value-weighted mean age of copies' errors (0 while right)
    visits: int
    changes_found: int
    spend: float
    spend_in_vain: float  # on visits that found nothing new
    stale: Floats  # seconds by page
    alive: Floats  # seconds by page
    readings: Visits

    @property
    def staleness(self) -> float:
        """1 - freshness."""
        return 1.0 - self.freshness


def judge(world: World, visits: Visits, since: float, until: float) -> Outcome:
    """Score the visits over [since, until]; a page counts while it lives."""
    n = len(world)
    ends = np.minimum(world.died, until)
    page, time, following = _copies(world, visits, until)
    wrong_from = world.changes.following(page, world.changes.position(page, time))
    begin = np.maximum(wrong_from, since)
    stale = np.maximum(following - begin, 0.0)
    # the error is as old as the first change that the copy lacks
    start = np.where(stale > 0, wrong_from, 0.0)
    old, young = following - start, np.where(stale > 0, begin, 0.0) - start
    area = np.where(stale > 0, 0.5 * (old * old - young * young), 0.0)
    alive = np.maximum(ends - since, 0.0)
    weight = float((world.value * alive).sum())
    inside = visits.time >= since
    found = int((visits.changed & inside).sum())
    stale_by_page = np.bincount(page, stale, n).astype(np.float64)
    return Outcome(
        freshness=1.0 - float((world.value * stale_by_page).sum()) / max(weight, 1e-300),
        captured=found / max(_events(world.changes, ends, since), 1),
        age_days=float((world.value[page] * area).sum()) / max(weight, 1e-300) / 86_400.0,
        visits=int(inside.sum()),
        changes_found=found,
        spend=float(visits.cost[inside].sum()),
        spend_in_vain=float(visits.cost[inside & ~visits.changed].sum()),
        stale=stale_by_page,
        alive=alive,
        readings=visits,
    )


def expected_freshness(
    world: World, rate: Floats, visits: Visits, since: float, until: float
) -> float:
    """Freshness over [since, until] that those visits were to give, were nothing known but rates.

    Changes being Poisson, the time at which a page is visited says nothing of those that follow:
    `(e^(-d (s-v)) - e^(-d (e-v)))/d` fresh seconds between s and e after a visit at v. The same
    mean as the freshness that was seen, with far less noise.
    """
    page, time, following = _copies(world, visits, until)
    d = np.maximum(rate[page], 1e-15)
    begin = np.minimum(np.maximum(time, since), following) - time
    fresh = np.exp(-d * begin) * -np.expm1(-d * (following - time - begin)) / d
    alive = np.maximum(np.minimum(world.died, until) - since, 0.0)
    return float((world.value[page] * fresh).sum() / (world.value * alive).sum())


def _copies(world: World, visits: Visits, until: float) -> tuple[Ints, Floats, Floats]:
    """Every copy that was held: its page, when it was read, when it was replaced (or its end)."""
    n = len(world)
    ends = np.minimum(world.died, until)
    page = np.concatenate([np.arange(n), visits.page])
    time = np.concatenate([np.zeros(n), visits.time])
    order = np.lexsort((time, page))
    page, time = page[order], time[order]
    following = np.full(page.size, np.inf)
    same = page[1:] == page[:-1]
    following[:-1] = np.where(same, time[1:], np.inf)
    return page, time, np.minimum(following, ends[page])


def _events(changes: Events, ends: Floats, since: float) -> int:
    return int(((changes.times >= since) & (changes.times < ends[changes.pages])).sum())


def clairvoyant(world: World, budget: float, since: float, until: float) -> float:
    """A bound on freshness: who knows every change in advance reads those copies that last.

    Each stretch between two changes is bought whole or not at all, the longest per cost first,
    `budget` being the cost per second of the span.
    """
    n = len(world)
    ends = np.minimum(world.died, until)
    changes, page = world.changes, world.changes.pages
    inside = changes.times < ends[page]
    nxt = np.append(changes.times[1:], np.inf)
    nxt[changes.start[1:][np.diff(changes.start) > 0] - 1] = np.inf
    span = np.minimum(nxt, ends[page]) - np.maximum(changes.times, since)
    worth = np.where(inside, world.value[page] * np.maximum(span, 0.0), 0.0)
    order = np.argsort(-worth / world.full[page])
    paid = np.cumsum(world.full[page][order]) <= budget * (until - since)
    first = changes.following(np.arange(n), changes.start[:-1])
    free = np.maximum(np.minimum(first, ends) - since, 0.0)
    total = float((world.value * np.maximum(ends - since, 0.0)).sum())
    return (float(worth[order][paid].sum()) + float((world.value * free).sum())) / total
