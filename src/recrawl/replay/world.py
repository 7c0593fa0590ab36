"""A world to replay: pages with values, costs, and the times at which they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.poisson import Floats

Ints = NDArray[np.int64]


_APART = 1e10  # seconds between two pages' times on one axis: 300 years


@dataclass(frozen=True, slots=True)
class Events:
    """Times (seconds from the world's start) of each of n pages, in one flat array.

    Page i owns `times[start[i]:start[i + 1]]`, rising.
    """

    start: Ints  # n + 1
    times: Floats
    _keys: Floats  # page and time in one number, to look many up at once

    @classmethod
    def _keyed(cls, start: Ints, times: Floats) -> Events:
        pages = np.repeat(np.arange(start.size - 1), np.diff(start))
        return cls(start, times, pages * _APART + times)

    @classmethod
    def of(cls, n: int, pages: ArrayLike, times: ArrayLike) -> Events:
        """From one (page, time) pair an event, in any order; pages are 0 to n-1."""
        page, t = np.asarray(pages, np.int64), np.asarray(times, np.float64)
        order = np.lexsort((t, page))
        counts = np.bincount(page, minlength=n) if page.size else np.zeros(n, np.int64)
        return cls._keyed(np.concatenate([[0], np.cumsum(counts)]), t[order])

    @classmethod
    def poisson(cls, rate: Floats, span: float, rng: np.random.Generator) -> Events:
        """Changes of pages at those rates (per second), over `span` seconds."""
        page = np.repeat(np.arange(rate.size), rng.poisson(rate * span))
        return cls.of(rate.size, page, rng.uniform(0.0, span, page.size))

    @property
    def pages(self) -> Ints:
        """The page of each event."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    def position(self, pages: Ints, at: Floats) -> Ints:
        """Index into `times` of the first event of each page later than `at`."""
        found = np.searchsorted(self._keys, pages * _APART + at, side="right")
        return np.clip(found, self.start[pages], self.start[pages + 1])

    def following(self, pages: Ints, position: Ints) -> Floats:
        """The time of the event at each position, inf where the page has no more."""
        held = position < self.start[pages + 1]
        if not self.times.size:
            return np.full(pages.size, np.inf)
        return np.where(held, self.times[np.minimum(position, self.times.size - 1)], np.inf)

    @classmethod
    def join(cls, parts: Sequence[Events]) -> Events:
        """The pages of all parts, one after the other."""
        offsets = np.cumsum([0, *(p.times.size for p in parts)])
        starts = [p.start[:-1] + o for p, o in zip(parts, offsets[:-1], strict=True)]
        times = np.concatenate([p.times for p in parts])
        return cls._keyed(np.concatenate([*starts, offsets[-1:]]), times)


@dataclass(frozen=True, slots=True)
class World:
    """n pages, aligned arrays. Time 0 is when every page was last read before the replay.

    A page leaves the world at `died` (inf = never), unseen and uncharged. `shown` are the times
    at which the page's validator changes beside those of the record; pages where `conditional`
    is False send no validator.
    """

    group: Ints  # host and page type in one: what a prior is shared by
    value: Floats
    full: Floats  # cost of a full answer, in any one unit
    unchanged: Floats  # cost of a 304
    conditional: NDArray[np.bool_]
    died: Floats
    changes: Events
    shown: Events

    def __len__(self) -> int:
        return self.group.size

    @classmethod
    def of(
        cls,
        changes: Events,
        *,
        group: ArrayLike = 0,
        value: ArrayLike = 1.0,
        full: ArrayLike = 1.0,
        unchanged: ArrayLike | None = None,
        died: ArrayLike = np.inf,
        shown: Events | None = None,
    ) -> World:
        """Scalars are spread over all pages; without `unchanged` no page sends a validator, a
        page whose `unchanged` is no less than its `full` doesn't either.
        """
        n = changes.start.size - 1

        def spread(x: ArrayLike) -> Floats:
            return np.broadcast_to(np.asarray(x, np.float64), n).copy()

        price = spread(full)
        low = price.copy() if unchanged is None else spread(unchanged)
        return cls(
            group=np.broadcast_to(np.asarray(group, np.int64), n).copy(),
            value=spread(value),
            full=price,
            unchanged=low,
            conditional=low < price,
            died=spread(died),
            changes=changes,
            shown=shown or Events.of(n, [], []),
        )
