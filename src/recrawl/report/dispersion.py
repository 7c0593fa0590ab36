"""Do changes come as a Poisson process says: independent of each other, at a constant rate?

Visits see only whether a page changed since the last one. So counts are compared with what a
Poisson process of the page's own rate would show *to these visits*: 1 is Poisson, above 1 changes
come in bursts, below 1 by the clock. (The index of dispersion of the changes themselves, Fano's
factor, where visits are frequent.)
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Change, Entry, Verdict
from recrawl.report.outcomes import type_name

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FEWEST_CHANGES = 6  # of a page that can tell
PAGES = 200  # of one type that are asked
VISITS = 1000  # of one page
BLOCK = 3  # changes expected in a block of visits
MOST_BLOCKS = 12
SATURATED = 0.8  # share of visits that found a change: faster pages hide their pattern
BURSTS, CLOCKWORK = 1.5, 0.6
SURE = 3.0  # standard errors


@dataclass(slots=True)
class Dispersion:
    """One page type."""

    name: str
    pages: int = 0
    changes: int = 0
    blocks: int = 0  # degrees of freedom
    index: float | None = None  # of counts; 1 = Poisson
    error: float | None = None  # its standard error if it is Poisson
    gaps: float | None = None  # coefficient of variation of the gaps, censoring taken out
    sentence: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


@dataclass(slots=True)
class _Sums:
    pages: int = 0
    changes: int = 0
    squares: float = 0.0
    freedom: int = 0
    gap_squares: list[tuple[float, int]] = field(default_factory=list)


def pages_to_ask(changes: Iterable[Change]) -> list[tuple[int, int, int]]:
    """(page_type, host_id, key) of pages with enough changes, at most `PAGES` a type.

    Keys are hashes: the smallest ones are a random choice.
    """
    count: Counter[tuple[int, int, int]] = Counter()
    for c in changes:
        if c.verdict is Verdict.CHANGED:
            count[c.page_type, c.host_id, c.key] += 1
    by_type: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (kind, host_id, key), n in count.items():
        if n >= FEWEST_CHANGES:
            by_type[kind].append((key, host_id))
    return [
        (kind, host_id, key)
        for kind in sorted(by_type)
        for key, host_id in sorted(by_type[kind])[:PAGES]
    ]


def dispersion(
    histories: Iterable[tuple[int, Sequence[Entry]]], types: Sequence[str]
) -> list[Dispersion]:
    """(page_type, the visits of one page in any order) -> one line a page type."""
    sums: dict[int, _Sums] = defaultdict(_Sums)
    for kind, visits in histories:
        read = sorted(
            (e.t, e.tau, e.verdict is Verdict.CHANGED)
            for e in visits
            if e.tau > 0 and e.verdict in (Verdict.CHANGED, Verdict.SAME, Verdict.NOT_MODIFIED)
        )
        if read:
            t, tau, hit = (np.array(column) for column in zip(*read, strict=True))
            _add(sums[kind], t, tau, hit.astype(np.bool_))
    return [_line(type_name(kind, types), sums[kind]) for kind in sorted(sums)]


def _add(sums: _Sums, t: Floats, tau: Floats, hit: Bools) -> None:
    n = int(hit.sum())
    if n < FEWEST_CHANGES or hit.mean() > SATURATED:
        return
    p = -np.expm1(-rate(tau, hit) * tau)
    blocks = min(MOST_BLOCKS, n // BLOCK)
    ends = np.searchsorted(np.cumsum(p), np.linspace(0, p.sum(), blocks + 1)[1:-1])
    parts = np.split(np.arange(p.size), ends)
    parts = [part for part in parts if part.size]
    squares = sum(
        float((hit[part].sum() - p[part].sum()) ** 2 / (p[part] * (1.0 - p[part])).sum())
        for part in parts
    )
    sums.pages += 1
    sums.changes += n
    sums.squares += squares
    sums.freedom += len(parts) - 1
    gaps = np.diff(t[hit])
    mean = float(gaps.mean())
    if mean > 0:  # for n exponential gaps s^2/mean^2 is n/(n+1) on average
        k = gaps.size
        spread = float(gaps.var(ddof=1)) / mean**2 * (k + 1) / k
        sums.gap_squares.append((spread / (1.0 - float(hit.mean())), k - 1))


def rate(tau: Floats, hit: Bools) -> float:
    """Most likely rate (per second) of intervals that did or didn't show a change.

    Root of `sum over hits of tau/(e^(r tau) - 1) = sum over misses of tau` (Cho & Garcia-Molina,
    TOIT 2003, irregular visits); there must be both.

    >>> round(rate(np.full(4, 2.0), np.array([True, True, False, False])), 6)  # ln 2 / 2
    0.346574
    """
    missed, at = float(tau[~hit].sum()), tau[hit]
    low, high = math.log(1e-12 / float(tau.max())), math.log(700.0 / float(at.min()))
    for _ in range(80):
        middle = 0.5 * (low + high)
        x = np.minimum(np.exp(middle) * at, 700.0)
        more = float((at / np.expm1(x)).sum()) > missed
        low, high = (middle, high) if more else (low, middle)
    return math.exp(0.5 * (low + high))


def _line(name: str, s: _Sums) -> Dispersion:
    out = Dispersion(name, s.pages, s.changes, s.freedom)
    if not s.freedom:
        out.sentence = f"No page of type {name} has enough changes to tell."
        return out
    out.index, out.error = s.squares / s.freedom, math.sqrt(2.0 / s.freedom)
    weight = sum(n for _, n in s.gap_squares)
    if weight:
        out.gaps = math.sqrt(sum(x * n for x, n in s.gap_squares) / weight)
    off = (out.index - 1.0) / out.error
    if out.index > BURSTS and off > SURE:
        out.sentence = f"Pages of type {name} change in bursts: their rates say less than shown."
    elif out.index < CLOCKWORK and off < -SURE:
        out.sentence = f"Pages of type {name} change by the clock: a fixed time would serve them."
    else:
        out.sentence = f"Pages of type {name} change about as a Poisson process does."
    return out
