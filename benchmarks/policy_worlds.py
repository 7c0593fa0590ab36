"""The worlds that policies are compared in: made-up webs, and histories of real pages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.plan.allocate import Pages, optimal
from recrawl.replay import Events, Lane, World
from recrawl.units import DAY

Floats = NDArray[np.float64]

BUDGETS = {"traces": (0.03, 0.1, 0.4), "synthetic": (0.05, 0.2, 1.0)}
"""Visits per page and day, times the mean cost."""

WINDOWS = ("2021-06-01", "2022-06-01", "2023-06-01", "2024-03-01")
SPAN = 365 * DAY
PER_SOURCE = 300
FEWEST, MOST_YEARS = 20, 40
VALUES, CHANCES = (1.0, 2.0, 4.0, 8.0), (0.5, 0.25, 0.15, 0.1)


@dataclass(frozen=True)
class Web:
    """A made-up web, its true rates (per second), and the best possible at each budget."""

    world: World
    rate: Floats

    def lanes(self, known: bool = False) -> list[Lane]:
        """One for each budget."""
        cost = float(self.world.full.sum()) / DAY
        told = self.rate if known else None
        return [Lane(self.world, b * cost, told) for b in BUDGETS["synthetic"]]

    def best(self) -> list[float]:
        """The convex optimum's freshness at each budget."""
        pages = Pages.of(self.rate, self.world.value, self.world.full)
        return [optimal(pages, lane.budget).freshness for lane in self.lanes()]


def web(seed: int, *, pages: int = 2000, fast: bool = False) -> Web:
    """20 groups, lognormal rates (standard deviation 2, mean gap 7 days), values 1 to 8,
    lognormal costs. `fast`: half of the pages change four times an hour to twice a day.
    """
    rng = np.random.default_rng(seed)  # noqa: TID251 - the benchmark draws its worlds
    group = rng.integers(20, size=pages)
    spread = math.sqrt(2.0)
    log_rate = rng.normal(0.0, spread, 20)[group] + rng.normal(0.0, spread, pages)
    rate = np.exp(log_rate) / (7 * DAY)
    if fast:
        half = rng.random(pages) < 0.5
        rate = np.where(half, np.exp(rng.uniform(np.log(2.0), np.log(96.0), pages)) / DAY, rate)
    rate = np.minimum(rate, 2000 / DAY)
    world = World.of(
        Events.poisson(rate, SPAN, rng),
        group=group,
        value=rng.choice(VALUES, pages, p=CHANCES),
        full=np.exp(rng.normal(0.0, 1.0, pages)),
    )
    return Web(world, rate)


class Traces:
    """A folder with `pages.parquet` and `events.parquet`: when real pages changed."""

    def __init__(self, folder: Path) -> None:
        from pyarrow.parquet import read_table  # only this part needs it

        columns = ["page_id", "source", "cls", "group_id", "birth", "end"]
        self.pages = read_table(folder / "pages.parquet", columns=columns).to_pydict()
        self.birth, self.end = (np.array(self.pages[k], np.float64) for k in ("birth", "end"))
        self.source, self.kind = (np.array(self.pages[k]) for k in ("source", "cls"))
        self.group = np.array(self.pages["group_id"], np.int64)
        ids = np.array(self.pages["page_id"], np.int64)
        events = read_table(folder / "events.parquet", columns=["page_id", "t"])
        page, t = (events[k].to_numpy() for k in ("page_id", "t"))
        order = np.lexsort((t, page))
        self._page, self._t = page[order], t[order].astype(np.float64)
        self._ids = ids

    def windows(self) -> list[str]:
        """Up to four windows in which at least 20 pages can be followed: those of `WINDOWS`, else
        a year each from the first page on. Raises ValueError where there is none.
        """
        first = datetime.fromtimestamp(float(self.birth.min()), UTC).date()
        years = (f"{first + timedelta(days=1 + 365 * i)}" for i in range(MOST_YEARS))
        for some in (WINDOWS, years):
            found = [w for w in some if self._alive(w).size >= FEWEST]
            if found:
                return found[:4]
        raise ValueError(f"in no year do {FEWEST} of {self.birth.size} pages live for 30 days")

    def _alive(self, window: str) -> NDArray[np.int64]:
        t0 = start_of(window)
        return np.flatnonzero((self.birth <= t0) & (self.end >= t0 + 30 * DAY))

    def drawn(self, window: str, seed: int, most: int = PER_SOURCE) -> NDArray[np.int64]:
        """Up to `most` pages a source, alive at the start and for 30 days at least."""
        place = WINDOWS.index(window) if window in WINDOWS else int(start_of(window) / DAY)
        rng = np.random.default_rng([seed, place])  # noqa: TID251
        alive = self._alive(window)
        kept = []
        for source in sorted(set(self.source[alive].tolist())):
            mine = alive[self.source[alive] == source]
            kept.append(rng.permutation(mine)[:most])
        return np.sort(np.concatenate(kept))

    def world(
        self, window: str, seed: int, variant: str, most: int = PER_SOURCE
    ) -> tuple[World, NDArray[np.str_]]:
        """The pages drawn for a window, and each one's class."""
        rows, t0 = self.drawn(window, seed, most), start_of(window)
        low = np.searchsorted(self._page, self._ids[rows], "left")
        high = np.searchsorted(self._page, self._ids[rows], "right")
        at, times = [], []
        for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            t = self._t[a:b] - t0
            t = t[(t > 0) & (t < SPAN)]
            at.append(np.full(t.size, i))
            times.append(t)
        changes = Events.of(rows.size, np.concatenate(at), np.concatenate(times))
        rng = np.random.default_rng([seed, 7])  # noqa: TID251
        terms = _terms(variant, self.group[rows], changes, rng)
        died = np.where(self.end[rows] - t0 < SPAN, self.end[rows] - t0, np.inf)
        world = World.of(changes, group=self.group[rows], died=died, **terms)
        return world, self.kind[rows]


def start_of(window: str) -> float:
    """Epoch seconds of a date."""
    return datetime.fromisoformat(f"{window}T00:00:00+00:00").timestamp()


def _terms(
    variant: str, group: NDArray[np.int64], changes: Events, rng: np.random.Generator
) -> dict[str, Any]:
    """Values, costs and validators that a variant gives to the pages."""
    n = group.size
    groups, at = np.unique(group, return_inverse=True)
    if variant == "mixed":
        by_group = np.exp(rng.normal(0.0, 0.8, groups.size))
        return {
            "value": rng.choice(VALUES, n, p=CHANCES),
            "full": by_group[at] * np.exp(rng.normal(0.0, 0.5, n)),
        }
    if variant == "unit":
        return {}
    honours = (rng.permutation(groups.size) < groups.size / 2)[at]
    terms: dict[str, Any] = {"unchanged": np.where(honours, 0.02, 1.0)}
    if variant == "restless":  # validators that move 20 times as often as the records
        counts = 19 * np.maximum(np.diff(changes.start), 1)
        page = np.repeat(np.arange(n), counts)
        terms["shown"] = Events.of(n, page, rng.uniform(0.0, SPAN, page.size))
    return terms


def trace_lanes(world: World, known: bool = False) -> list[Lane]:
    """One lane for each budget; `known`: rates as the window shows them in hindsight."""
    cost = float(world.full.sum()) / DAY
    lived = np.minimum(world.died, SPAN)
    told = np.diff(world.changes.start) / lived if known else None
    return [Lane(world, b * cost, told) for b in BUDGETS["traces"]]
