"""What a window buys of its market: discovery's share first, then whatever is worth most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from recrawl.model import Purpose, Table
from recrawl.plan.candidates import Float32s, Floor, Market
from recrawl.plan.select import buy, refine
from recrawl.plan.standing import Mask, Standing, Standings, chunks
from recrawl.plan.window import Rows, Window


@dataclass(frozen=True, slots=True)
class Sale:
    """The market when the budget is spent."""

    market: Market
    lambdas: list[float]  # weights of the caps' prices in the score
    score: Float32s
    bar: float  # the best score that was not bought; 0 = everything was affordable
    window: Window


def hold(
    m: Market,
    w: Window,
    floor: Floor,
    below: Callable[[bool], Mask],
    *,
    discovery: list[float] | None,
    one_pass: bool,
) -> Sale:
    """Buy what `w` can pay for, by score: of the pages never read for `discovery`, then of all.

    Raises TooHigh where pages below the floor may be worth it. `below`: the hosts which have such
    pages (True: such that were never read).
    """
    scheme, free = w.scheme, m.free(w.rows())
    lambdas = list(floor.lambdas)
    several = len(lambdas) > 1 and scheme.policy.per_price and min(w.left) > 0
    if several and not floor.settled:
        gain = np.where(free, m.gain, np.float32(0.0))
        found = refine(gain, m.prices, m.expected, w.left, lambdas, floor.level)
        lambdas = found if any(found) else lambdas
    score = m.score(lambdas, scheme.policy.per_price)
    if not one_pass:
        free &= score > 0
    level, level_new = floor.under(lambdas)
    if discovery is not None:
        new = np.flatnonzero(free & m.new)
        _buy_from(new, m, w, score, discovery, free, level_new, partial(below, True))
    every = np.flatnonzero(free)
    bar = _buy_from(every, m, w, score, w.left, free, level, partial(below, False))
    return Sale(m, lambdas, score, bar, w)


def _buy_from(
    pool: Rows,
    m: Market,
    w: Window,
    score: Float32s,
    budgets: list[float],
    free: Mask,
    floor: float,
    below: Callable[[], Mask],
) -> float:
    costs = [c[pool] for c in m.expected]
    chosen, bar = buy(score[pool], costs, budgets, m.host[pool], w.capacity, floor, below)
    picked = pool[chosen]
    free[picked] = False
    for purpose, mine in ((Purpose.DISCOVERY, m.new[picked]), (Purpose.BEST_BUY, ~m.new[picked])):
        at = picked[mine]
        w.take(m.rows[at], purpose, m.host[at], [c[at] for c in m.expected])
    return bar


def hosts_below(hot: Table, standings: Standings, m: Market, hosts: int, new: bool) -> Mask:
    """The hosts which have candidates that are not in the market; `new`: such never read."""
    left = -np.bincount(m.host[m.new] if new else m.host, minlength=hosts)
    for to in chunks(len(hot)):
        standing = standings.of(to)
        last = Standing.NEW if new else Standing.OVERDUE
        some = (standing >= Standing.NEW) & (standing <= last)
        left += np.bincount(np.ascontiguousarray(hot["host_id"][to])[some], minlength=hosts)
    return left > 0
