"""A project's own pages under other settings: worlds drawn from its beliefs, then replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from recrawl.plan.allocate import Pages, even, optimal
from recrawl.plan.view import Policy
from recrawl.poisson import Floats
from recrawl.replay.run import Lane, Settings, replay
from recrawl.replay.world import Events, Ints, World
from recrawl.units import DAY

FASTEST = 1 / 300.0  # changes a second that are drawn: no cycle sees more


@dataclass(frozen=True, slots=True)
class Believed:
    """Pages as a project knows them: aligned arrays, times and scales in seconds.

    `full` and `unchanged` are costs in one unit; equal where a visit carries no validator.
    """

    group: Ints
    value: Floats
    full: Floats
    unchanged: Floats
    a: Floats  # Gamma of the record's rate
    b: Floats
    va: Floats  # of the validator's
    vb: Floats

    def __len__(self) -> int:
        return self.group.size

    def part(self, rows: Ints) -> Believed:
        """Only those pages."""
        return Believed(*(getattr(self, f.name)[rows] for f in fields(self)))

    def draw(self, span: float, rng: np.random.Generator) -> Drawn:
        """A world of `span` seconds that the beliefs hold possible: each page's rate is drawn
        from its Gamma, its changes from a Poisson process of that rate. A validator changes with
        its record, and beside it as often as its own belief says more.
        """
        n = len(self)
        rate = np.minimum(rng.gamma(self.a, 1.0 / self.b), FASTEST)
        beside = np.minimum(rng.gamma(self.va, 1.0 / self.vb), FASTEST) - rate
        beside = np.where(self.unchanged < self.full, np.maximum(beside, 0.0), 0.0)
        world = World.of(
            Events.poisson(rate, span, rng),
            group=self.group,
            value=self.value,
            full=self.full,
            unchanged=self.unchanged,
            shown=Events.poisson(beside, span, rng) if beside.any() else Events.of(n, [], []),
        )
        pages = Pages.of(rate, self.value, self.full, self.unchanged, rate + beside)
        return Drawn(world, pages)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A world, and what is true of it."""

    world: World
    pages: Pages


@dataclass(frozen=True, slots=True)
class Mean:
    """Over the drawn worlds, with the standard error of the mean."""

    value: float
    error: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Mean:
        """Of one number the error is 0: nothing is known of it."""
        x = np.asarray(numbers, np.float64)
        error = float(x.std(ddof=1) / np.sqrt(x.size)) if x.size > 1 else 0.0
        return cls(float(x.mean()), error)


@dataclass(frozen=True, slots=True)
class Line:
    """One policy at one budget."""

    policy: str
    budget: float  # cost a second
    freshness: Mean  # value-weighted share of time
    spend_per_day: float
    visits_per_day: float
    changes_per_day: float  # found
    per_change: float | None  # cost; None = none found
    in_vain: float  # share of the spend that found nothing


@dataclass(frozen=True, slots=True)
class Bound:
    """What a budget can come to at most, all rates being known."""

    budget: float
    best: float
    even: float
    one_more: float  # fresh page-seconds (weighted by value) that one more unit of cost buys


def compare(
    drawn: Sequence[Drawn],
    believed: Believed,
    policies: Sequence[Policy],
    budgets: Sequence[float],
    settings: Settings,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> list[Line]:
    """Every policy at every budget (cost a second), in the same worlds."""
    beliefs = believed.a, believed.b, believed.va, believed.vb
    lanes = [Lane(d.world, b, beliefs=beliefs) for b in budgets for d in drawn]
    days = (settings.span - settings.since) / DAY
    out = []
    for i, policy in enumerate(policies):

        def share(done: float, i: int = i) -> None:
            if progress is not None:
                progress((i + done) / len(policies))

        found = replay(lanes, policy, settings, rng=rng, progress=share)
        for k, budget in enumerate(budgets):
            mine = found[k * len(drawn) : (k + 1) * len(drawn)]
            spend = sum(o.spend for o in mine)
            changes = sum(o.changes_found for o in mine)
            out.append(
                Line(
                    policy=policy.name,
                    budget=budget,
                    freshness=Mean.of([o.freshness for o in mine]),
                    spend_per_day=spend / len(mine) / days,
                    visits_per_day=sum(o.visits for o in mine) / len(mine) / days,
                    changes_per_day=changes / len(mine) / days,
                    per_change=spend / changes if changes else None,
                    in_vain=sum(o.spend_in_vain for o in mine) / spend if spend else 0.0,
                )
            )
    return out


def bounds(drawn: Sequence[Drawn], budgets: Sequence[float]) -> list[Bound]:
    """The best possible and even visits at each budget, and the slope of the best."""
    out = []
    for budget in budgets:
        best = [optimal(d.pages, budget) for d in drawn]
        flat = [even(d.pages, budget) for d in drawn]
        out.append(
            Bound(
                budget=budget,
                best=float(np.mean([x.freshness for x in best])),
                even=float(np.mean([x.freshness for x in flat])),
                one_more=float(np.mean([x.price for x in best])),
            )
        )
    return out
