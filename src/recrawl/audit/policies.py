"""A sample of a log's pages -> what policies would have spent for its freshness, and kept fresh.

The log's own visits are scored in the same worlds as the policies', and paid by the same prices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.audit.histories import History
from recrawl.audit.policies_world import Reads
from recrawl.plan.policies import get_policy
from recrawl.replay import Lane, Outcome, Settings, World, replay
from recrawl.replay.run import LOOK
from recrawl.replay.score import judge
from recrawl.units import HOUR

DEFAULT = "freshness"
BESIDE = ("uniform", "value-age", "backoff", "classes", "article-age")
SHARES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
"""Of the log's own spend: what the default policy is tried with."""

FEW_SHARES = (0.5, 1.0, 1.4)  # the others
DRAWS, FEW_DRAWS = 5, 3  # of the times of changes
T95 = {DRAWS: 2.776, FEW_DRAWS: 4.303, 1: 0.0}  # Student's t of one degree of freedom less, 97.5 %
STEPS, MOST_STEPS = 2000, 20_000  # cycles of a replay
FINER = 4  # cycles in the log's own mean gap, at least
_LOOKS = 8  # cycles between two looks at all pages


@dataclass(frozen=True, slots=True)
class Range:
    """A number over the draws: its mean, and where the log's true one lies by 95 %.

    The interval is one for a further draw (`mean +- t s sqrt(1 + 1/n)`), since what really
    happened is one of the ways that changes may have fallen between the reads.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float], most: float = 1.0) -> Range:
        """Of DRAWS or FEW_DRAWS numbers between 0 and `most`, or of one: no interval."""
        x = np.asarray(numbers, np.float64)
        spread = float(x.std(ddof=1)) * float(np.sqrt(1 + 1 / x.size)) if x.size > 1 else 0.0
        half = T95[x.size] * spread
        mean = float(x.mean())
        return cls(mean, max(mean - half, 0.0), min(mean + half, most))


@dataclass(frozen=True, slots=True)
class Line:
    """One policy beside the log. Shares are of the log's own spend."""

    policy: str
    points: list[tuple[float, Range]]  # share, freshness
    same_freshness: Range  # the share at which it is as fresh as the log
    bound: str  # "" | "at most" | "more than": the share lies outside of what was tried


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the log's own visits came to, and policies in their place."""

    pages: int
    unit: str
    span: float  # seconds that the longest page was watched
    cycle: float
    spend: float  # the log's own on these pages, in `unit`
    visits: int
    gap: float  # seconds between two reads of a page, on average
    saturated: int  # pages that change faster than they were read
    freshness: Range
    lines: list[Line]


def compare(
    sample: Sequence[History],
    names: Sequence[str],
    unit: str,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> Comparison | None:
    """The log beside the policies of those names. Costs are counted in `unit`.

    None where no page of the sample was visited between its first read and its last. `progress`
    is told the share done. Raises ValueError for a name that is no policy.
    """
    if not sample:
        return None
    reads = Reads.of(sample, unit)
    worlds = [reads.world(rng) for _ in range(DRAWS)]
    return compare_in(worlds, reads, names, unit, progress)


def compare_in(
    worlds: Sequence[World],
    reads: Reads,
    names: Sequence[str],
    unit: str,
    progress: Callable[[float], None] | None = None,
) -> Comparison | None:
    """The same in worlds that are given: DRAWS, FEW_DRAWS or a single one."""
    visits, span = reads.visits(), float(reads.lived.max())
    if not visits.page.size:
        return None
    own = [judge(world, visits, 0.0, span) for world in worlds]
    gap = float(reads.lived.sum()) / (visits.page.size + reads.lived.size)
    how = _settings(span, gap)
    return Comparison(
        pages=reads.lived.size,
        unit=unit,
        span=span,
        cycle=how.cycle,
        spend=own[0].spend,
        visits=own[0].visits,
        gap=gap,
        saturated=reads.saturated,
        freshness=Range.of([o.freshness for o in own]),
        lines=_lines(worlds, own, _rate(reads, own[0].spend), names, how, progress),
    )


def _lines(
    worlds: Sequence[World],
    own: Sequence[Outcome],
    rate: float,
    names: Sequence[str],
    how: Settings,
    progress: Callable[[float], None] | None,
) -> list[Line]:
    """`rate`: what the log itself spent per second."""
    lines = []
    for i, name in enumerate(names):

        def tell(done: float, i: int = i) -> None:
            if progress is not None:
                progress((i + done) / len(names))

        shares, draws = (SHARES, DRAWS) if name == DEFAULT else (FEW_SHARES, FEW_DRAWS)
        lanes = [Lane(world, share * rate) for world in worlds[:draws] for share in shares]
        found = replay(lanes, get_policy(name), how, progress=tell)
        lines.append(_line(name, shares, found, own[:draws]))
    return lines


def _settings(span: float, gap: float) -> Settings:
    """Cycles fine enough for the log's own cadence; where a log is finer still, that is said."""
    cycle = max(min(max(HOUR / 2, span / STEPS), gap / FINER), span / MOST_STEPS)
    return Settings(span=span, since=0.0, cycle=cycle, look=max(LOOK, _LOOKS * cycle))


def _rate(reads: Reads, spend: float) -> float:
    """The budget per second that comes to `spend` while pages leave one after the other."""
    return spend / float((reads.full * reads.lived).sum() / reads.full.sum())


def _line(
    name: str, shares: Sequence[float], found: Sequence[Outcome], own: Sequence[Outcome]
) -> Line:
    k = len(shares)
    draws = [found[i : i + k] for i in range(0, len(found), k)]
    points = [(s, Range.of([d[i].freshness for d in draws])) for i, s in enumerate(shares)]
    reached = [_reached(d, o) for d, o in zip(draws, own, strict=True)]
    bounds = [bound for _, bound in reached]
    bound = max(("at most", "more than"), key=bounds.count) if any(bounds) else ""
    return Line(name, points, Range.of([x for x, _ in reached], most=np.inf), bound)


def _reached(lanes: Sequence[Outcome], own: Outcome) -> tuple[float, str]:
    """The share of the own spend at which a policy is as fresh: between two lanes, freshness
    rises about as the logarithm of what is spent.
    """
    spent = np.maximum([o.spend / own.spend for o in lanes], 1e-6)
    fresh = np.maximum.accumulate([o.freshness for o in lanes])
    if own.freshness > fresh[-1]:
        return float(spent[-1]), "more than"
    if own.freshness <= fresh[0]:
        return float(spent[0]), "at most"
    return float(np.exp(np.interp(own.freshness, fresh, np.log(spent)))), ""
