"""Buying by score: the bar that a budget sets, found by a histogram, and the visits above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.poisson import Floats

Ints = NDArray[np.integer[Any]]

BINS = 4096  # sixteen to each doubling of the score, over all of float32
_SHIFT = 19
_SWEEPS = 12


def score_bins(score: NDArray[np.float32]) -> Ints:
    """The bin of each score (not negative): the top bits of a float32 are its logarithm."""
    return np.ascontiguousarray(score).view(np.int32) >> _SHIFT


def bin_edge(index: int) -> float:
    """The lowest score of a bin."""
    return float(np.array([index << _SHIFT], np.int32).view(np.float32)[0])


def histogram(score: NDArray[np.float32], cost: Floats) -> Floats:
    """Expected cost by bin of score: histograms of several shards add up."""
    return np.bincount(score_bins(score), weights=cost, minlength=BINS).astype(np.float64)


def edge_of(spend: Floats, budget: float) -> float:
    """The lowest edge from which up everything costs at least `budget` (0 = all is affordable)."""
    above = np.cumsum(spend[::-1])[::-1]
    enough = np.flatnonzero(above >= budget)
    return bin_edge(int(enough[-1])) if enough.size else 0.0


class TooHigh(Exception):  # noqa: N818 - says what of the market was wrong
    """Pages below the market's floor may be worth buying."""


def buy(
    score: NDArray[np.float32],
    costs: Sequence[Floats],
    budgets: Sequence[float],
    host: Ints,
    capacity: Ints,
    floor: float = 0.0,
    below: Callable[[], NDArray[np.bool_]] | None = None,
) -> tuple[Ints, float]:
    """Indices of the visits to buy, best first, and the bar: the score of the best not bought.

    `costs` and `budgets`: one a cap, all are kept. `capacity[host]` visits a host at most; what
    a full host leaves goes to the next best elsewhere. Looks at little more than what is bought:
    the marginal bin of the histogram is where the exact order begins to matter. The bar is 0
    where everything was affordable.

    Visits of scores below `floor` are not among those given, but at the hosts that `below`
    tells. Raises TooHigh where the answer depends on them.
    """
    if min(budgets) <= 0:
        if floor > 0 and not score.size:
            raise TooHigh
        return np.zeros(0, np.int64), float(score.max(initial=0.0))
    spends = [
        (histogram(score, c), b) for c, b in zip(costs, budgets, strict=True) if np.isfinite(b)
    ]
    reach = 1.0
    while True:
        edge = max((edge_of(spend, b * reach) for spend, b in spends), default=0.0)
        edge = edge if edge >= floor else 0.0
        pool = np.flatnonzero(score >= edge) if edge > 0 else np.arange(score.size)
        pool = pool[np.argsort(-score[pool], kind="stable")]
        pool = pool[within_capacity(host[pool], capacity)]
        chosen, stopped = fill(pool, costs, budgets)
        if edge > 0 and stopped is None:
            reach *= 4.0
            continue
        if edge < floor and (stopped is not None or _open(host[chosen], capacity, below)):
            raise TooHigh
        return chosen, 0.0 if stopped is None else float(score[stopped])


def _open(host: Ints, capacity: Ints, below: Callable[[], NDArray[np.bool_]] | None) -> bool:
    """Whether hosts of pages that were left out can take more than these visits."""
    room = capacity > np.bincount(host, minlength=capacity.size)
    return bool((room & below()).any()) if below else bool(room.any())


def within_capacity(host: Ints, capacity: Ints) -> NDArray[np.bool_]:
    """Which of the visits, best first, their hosts can take."""
    if not host.size or not (np.bincount(host, minlength=capacity.size) > capacity).any():
        return np.ones(host.size, np.bool_)
    order = np.argsort(host, kind="stable")
    grouped = host[order]
    new = np.r_[True, grouped[1:] != grouped[:-1]]
    first = np.maximum.accumulate(np.where(new, np.arange(host.size), 0))
    keep = np.empty(host.size, np.bool_)
    keep[order] = np.arange(host.size) - first < capacity[grouped]
    return keep


def fill(
    order: Ints, costs: Sequence[Floats], budgets: Sequence[float], passes: int = 8
) -> tuple[Ints, int | None]:
    """The longest affordable prefix of `order`, then what still fits of the rest.

    Returns the chosen, in order, and the first that did not fit (None = all did).
    """
    left, chosen, stopped = list(budgets), [], None
    for _ in range(passes):
        ok = np.ones(order.size, np.bool_)
        for k, c in enumerate(costs):
            ok &= np.cumsum(c[order], dtype=np.float64) <= left[k]
        n = order.size if ok.all() else int(np.argmin(ok))
        chosen.append(order[:n])
        if n == order.size:
            break
        stopped = int(order[n]) if stopped is None else stopped
        rest = order[n + 1 :]
        for k, c in enumerate(costs):
            left[k] -= float(c[order[:n]].sum(dtype=np.float64))
        for k, c in enumerate(costs):
            rest = rest[c[rest] <= left[k]]
        order = rest
    return np.concatenate(chosen), stopped


def shadow_prices(
    gain: Floats, prices: Sequence[Floats], costs: Sequence[Floats], budgets: Sequence[float]
) -> list[float]:
    """One lambda a cap: buy where `gain >= sum lambda_k price_k`; 0 for a cap that does not bind.

    If one cap alone, at its own bar, leaves all others unbroken, it is the only one with a
    price (a prepaid plan is ranked by its own shadow price). Else each lambda in turn is set to
    what its cap needs, the others held (coordinate descent on the dual of the linear program).
    """
    alone = [_lambda(gain, p, c, b) for p, c, b in zip(prices, costs, budgets, strict=True)]
    for k, price in enumerate(alone):
        if _leaves_unbroken(gain, price * prices[k], costs, budgets):
            return [price if j == k else 0.0 for j in range(len(alone))]
    return _descend(gain, prices, costs, budgets, [x / len(alone) for x in alone])


def refine(
    gain: Floats,
    prices: Sequence[Floats],
    costs: Sequence[Floats],
    budgets: Sequence[float],
    start: Sequence[float],
    level: float,
) -> list[float]:
    """The shadow prices of all pages, given those of a sample of them (`start`).

    Pages with `gain < level sum start_k price_k` are not among those given. Raises TooHigh where
    they matter.
    """
    binding = [k for k, x in enumerate(start) if x > 0]
    if len(binding) == 1:
        k = binding[0]
        price = _lambda(gain, prices[k], costs[k], budgets[k], level * start[k])
        if _leaves_unbroken(gain, price * prices[k], costs, budgets):
            return [price if j == k else 0.0 for j in range(len(start))]
    return _descend(gain, prices, costs, budgets, list(start), [level * x for x in start])


def _leaves_unbroken(
    gain: Floats, needed: Floats, costs: Sequence[Floats], budgets: Sequence[float]
) -> bool:
    bought = gain >= needed
    return all(float(c[bought].sum()) <= b * 1.05 for c, b in zip(costs, budgets, strict=True))


def _descend(
    gain: Floats,
    prices: Sequence[Floats],
    costs: Sequence[Floats],
    budgets: Sequence[float],
    start: list[float],
    least: Sequence[float] | None = None,
) -> list[float]:
    out, least = list(start), least or [0.0] * len(start)
    for _ in range(_SWEEPS):
        for k in range(len(out)):
            others = sum((out[j] * prices[j] for j in range(len(out)) if j != k), 0.0 * gain)
            out[k] = _lambda(gain - others, prices[k], costs[k], budgets[k], least[k])
    return out


def _lambda(gain: Floats, price: Floats, cost: Floats, budget: float, least: float = 0.0) -> float:
    """The bar of one cap, interpolated inside its marginal bin. Raises TooHigh below `least`."""
    if not np.isfinite(budget):
        return 0.0
    score = np.maximum(gain / price, 0.0).astype(np.float32)
    spend = histogram(score, np.where(score > 0, cost, 0.0))
    above = np.cumsum(spend[::-1])[::-1]
    enough = np.flatnonzero(above >= budget)
    k = int(enough[-1]) if enough.size else 0
    if bin_edge(k) < least:
        raise TooHigh
    if not enough.size:
        return 0.0
    part = min((float(above[k]) - budget) / max(float(spend[k]), 1e-300), 1.0)
    return bin_edge(k) + part * (bin_edge(k + 1) - bin_edge(k))
