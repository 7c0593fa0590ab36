"""One window's plan: hot rows + beliefs + prices + budget -> the visits worth buying, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Purpose, Table
from recrawl.plan.appraise import Scheme, appraise
from recrawl.plan.candidates import survey
from recrawl.plan.floor import Sample
from recrawl.plan.left_out import count_left_out
from recrawl.plan.reserves import RETURNS, draw_verification
from recrawl.plan.sale import Sale, hold, hosts_below
from recrawl.plan.select import TooHigh
from recrawl.plan.standing import LeftOut, Rules, Standing, Standings
from recrawl.plan.window import Rows, Window
from recrawl.poisson import Floats
from recrawl.units import Unit

DRAWN_TO_PRICE = 1000  # live pages that the cost of a verification draw is reckoned from


@dataclass(frozen=True, slots=True)
class PlanResult:
    """The visits of a window in serving order; arrays are aligned, `rows` index the hot array.

    Verification stands first (drawn before anything else was chosen), then re-estimation, then
    best buys and discovery by falling score.
    """

    rows: Rows
    purposes: NDArray[np.uint8]  # model.Purpose
    scores: Floats  # gain per price (sum of lambda x price where several caps bind)
    gains: Floats  # worth of the attempt, in the policy's currency
    prices: Floats  # marginal price, in the smallest part of the first unit that binds
    predicted: Floats  # chance that the record changed, frozen here
    due: NDArray[np.bool_]  # would have been bought anyway (a verification draw counts for both)
    unconditional: NDArray[np.bool_]  # to be sent without validators
    bars: dict[Unit, float]  # lambda by cap: what the last unit of budget bought (0: not binding)
    bar: float  # the score that a visit had to reach
    expected: dict[Unit, float]  # expected spend of the whole plan
    left_out: Counter[LeftOut]
    missing_draws: int  # verification draws that could not be visited now


def plan_cycle(
    hot: Table,
    now: float,
    *,
    scheme: Scheme,
    budget: Mapping[Unit, float],
    rules: Rules,
    rng: np.random.Generator,
) -> PlanResult:
    """Choose the visits of the window that begins at `now`.

    `hot`: rows of model.HOT, sorted by host; `budget`: what this window may spend by unit (units
    of `scheme.units`; a unit without an entry is not limited). Without a budget, and in one pass
    (`rules.pass_start`), there are no reserves: every page that may be visited is, as far as
    caps and hosts allow. O(n); 5 bytes a page of memory beside those of what may be bought.
    """
    standings = Standings(hot, now, scheme.hosts.capacity, rules)
    sample = Sample.of(hot, now, scheme, standings)
    window = Window(scheme, budget)
    missing, one_pass = 0, rules.pass_start is not None
    if not one_pass and budget:
        missing = _verification(hot, now, standings, window, rules, rng)
        _reestimation(hot, now, standings, sample, window, rules, rng)
    discovery = _discovery(standings, sample, window, rules, rng)
    floor = sample.floor(window, rules.shares.discovery)
    while True:
        market, reach = survey(hot, now, scheme, standings, floor)
        below = partial(hosts_below, hot, standings, market, window.capacity.size)
        try:
            sale = hold(
                market, window.copy(), floor, below, discovery=discovery, one_pass=one_pass
            )
        except TooHigh:
            floor = floor.lower()
        else:
            left_out = count_left_out(sale, standings, reach)
            return _result(hot, now, sale, left_out, missing, rules, rng)


def _verification(
    hot: Table,
    now: float,
    standings: Standings,
    w: Window,
    rules: Rules,
    rng: np.random.Generator,
) -> int:
    """Draw the random sample over all live pages, before anything else can bias it.

    Returns how many draws can't be visited now (failing, just visited, or hosts that are full).
    """
    live, share = standings.live_count, w.share(rules.shares.verification)
    some = standings.live(np.arange(0, live, max(1, live // DRAWN_TO_PRICE)))
    means = _draw_costs(hot[some], now, w.scheme, rules)
    wanted = [b / max(mean, 1e-9) for b, mean in zip(share, means, strict=True)]
    drawn = standings.live(draw_verification(live, 1.0, min(wanted), rng))
    standing = standings.of(drawn)
    able = drawn[(standing == Standing.LIVE) | (standing == Standing.OVERDUE)]
    rows, host, costs, _ = w.afford(hot, now, able, w.left)
    w.take(rows, Purpose.VERIFICATION, host, costs)
    return drawn.size - rows.size


def _draw_costs(some: Table, now: float, scheme: Scheme, rules: Rules) -> list[float]:
    """Mean expected cost of a verification draw by unit: some are sent without validators."""
    if not len(some):
        return [1.0] * len(scheme.units)
    seen = appraise(some, now, scheme, np.float64)
    bare = rules.shares.unconditional
    return [
        float(((1.0 - bare) * cost.expected + bare * np.maximum(full, cost.expected)).mean())
        for cost, full in zip(seen.costs, seen.fullest, strict=True)
    ]


def _reestimation(
    hot: Table,
    now: float,
    standings: Standings,
    sample: Sample,
    w: Window,
    rules: Rules,
    rng: np.random.Generator,
) -> None:
    """Live pages past max_gap, longest first, and a tenth for those that were given up."""
    part = rules.shares.reestimation
    for standing, share in ((Standing.RETURNING, RETURNS), (Standing.OVERDUE, 1.0 - RETURNS)):
        budgets = w.share(part * share)
        if not standings.counts[standing] or min(budgets) <= 0:
            continue
        means = sample.mean_costs()
        budgets = _rounded(budgets, means, w, rng)
        visits = min(b / max(mean, 1e-9) for b, mean in zip(budgets, means, strict=True))
        at_most = 2 + int(min(2.0 * visits, standings.counts[standing]))
        while True:
            rows = standings.longest(standing, hot, w.rows(), at_most)
            able, host, costs, more = w.afford(hot, now, rows, budgets)
            if not more or rows.size < at_most:
                break
            at_most *= 4  # they are cheaper than most, or their hosts are full
        w.take(able, Purpose.REESTIMATION, host, costs)


def _rounded(
    budgets: list[float], means: list[float], w: Window, rng: np.random.Generator
) -> list[float]:
    """A share with a random part of one visit on top, never more than is left.

    A share that is smaller than one visit would never buy any; so it buys one now and then, and
    the mean number of visits is what the share pays for. `means`: of a visit's cost.
    """
    u = float(rng.random())
    return [min(b + u * c, left) for b, c, left in zip(budgets, means, w.left, strict=True)]


def _discovery(
    standings: Standings, sample: Sample, w: Window, rules: Rules, rng: np.random.Generator
) -> list[float] | None:
    """What pages never read may take before all others; None where nothing is limited."""
    if not np.isfinite(min(w.left)):
        return None
    budgets = w.share(rules.shares.discovery)
    if standings.counts[Standing.NEW] and min(budgets) > 0:
        budgets = _rounded(budgets, sample.mean_costs(new=True), w, rng)
    return budgets


def _serving_order(purposes: NDArray[np.uint8], scores: Floats) -> Rows:
    """Reserves first, as they were drawn; then the best scores."""
    reserved = np.isin(purposes, (Purpose.VERIFICATION, Purpose.REESTIMATION))
    return np.lexsort((np.where(reserved, 0.0, -scores), ~reserved))


def _result(
    hot: Table,
    now: float,
    sale: Sale,
    left_out: Counter[LeftOut],
    missing: int,
    rules: Rules,
    rng: np.random.Generator,
) -> PlanResult:
    """Put the visits in serving order and state their numbers in full precision."""
    w, lambdas, bar = sale.window, sale.lambdas, sale.bar
    scheme, rows = w.scheme, w.rows()
    purposes = w.purposes()
    seen = appraise(hot[rows], now, scheme, np.float64)
    binding = max(range(len(lambdas)), key=lambdas.__getitem__)
    price = sum(x * c.price for x, c in zip(lambdas, seen.costs, strict=True))
    scores = seen.gain / price if scheme.policy.per_price else seen.gain
    order = _serving_order(purposes, scores)
    drawn = purposes == Purpose.VERIFICATION
    bare = drawn & (rng.random(rows.size) < rules.shares.unconditional)
    return PlanResult(
        rows=rows[order],
        purposes=purposes[order],
        scores=scores[order],
        gains=seen.gain[order],
        prices=seen.costs[binding].price[order],
        predicted=seen.chance_changed()[order],
        due=((scores >= bar) & (seen.gain > 0))[order],
        unconditional=bare[order],
        bars={u: bar * x for u, x in zip(scheme.units, lambdas, strict=True)},
        bar=bar,
        expected={
            u: float(c.expected.sum()) for u, c in zip(scheme.units, seen.costs, strict=True)
        },
        left_out=left_out,
        missing_draws=missing,
    )
