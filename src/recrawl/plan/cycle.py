"""One window's plan: hot rows + beliefs + prices + budget -> the visits worth buying, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Purpose
from recrawl.plan.appraise import Scheme, appraise
from recrawl.plan.candidates import LeftOut, Market, Rules, Standing, survey
from recrawl.plan.reserves import RETURNS, draw_verification, longest_first
from recrawl.plan.select import buy, shadow_prices
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
    hot: np.ndarray,
    now: float,
    *,
    scheme: Scheme,
    budget: Mapping[Unit, float],
    rules: Rules,
    rng: np.random.Generator,
) -> PlanResult:
    """Choose the visits of the window that begins at `now`.

    `hot`: model.HOT, sorted by host; `budget`: what this window may spend by unit (units of
    `scheme.units`; a unit without an entry is not limited). Without a budget, and in one pass
    (`rules.pass_start`), there are no reserves: every page that may be visited is, as far as
    caps and hosts allow. O(n) and about 35 bytes a page of memory.
    """
    market = survey(hot, now, scheme, rules)
    window = Window(scheme, budget)
    missing = 0
    if rules.pass_start is None and budget:
        missing = _verification(hot, now, market, window, rules, rng)
        _reestimation(hot, now, market, window, rules, rng)
    free = _free(market, window)
    lambdas = _lambdas(market, window, scheme, free)
    score = _score(market, lambdas, scheme)
    bar = _best_buys(market, window, rules, score, free, rng)
    _count_left_out(market, lambdas, score, bar, window)
    return _result(hot, now, window, market, lambdas, bar, missing, rules, rng)


def _verification(
    hot: np.ndarray,
    now: float,
    m: Market,
    w: Window,
    rules: Rules,
    rng: np.random.Generator,
) -> int:
    """Draw the random sample over all live pages, before anything else can bias it.

    Returns how many draws can't be visited now (failing, just visited, or hosts that are full).
    """
    live, share = m.live(), w.share(rules.shares.verification)
    means = _draw_costs(hot[live[:: max(1, live.size // DRAWN_TO_PRICE)]], now, w.scheme, rules)
    wanted = [b / max(mean, 1e-9) for b, mean in zip(share, means, strict=True)]
    drawn = draw_verification(live, 1.0, min(wanted), rng)
    standing = m.standing[drawn] % 16
    able = drawn[(standing == Standing.LIVE) | (standing == Standing.OVERDUE)]
    rows, host, costs = w.afford(hot, now, able, w.left)
    w.take(rows, Purpose.VERIFICATION, host, costs)
    return drawn.size - rows.size


def _draw_costs(some: np.ndarray, now: float, scheme: Scheme, rules: Rules) -> list[float]:
    """Mean expected cost of a verification draw by unit: some are sent without validators."""
    if not some.size:
        return [1.0] * len(scheme.units)
    seen = appraise(some, now, scheme, np.float64)
    bare = rules.shares.unconditional
    return [
        float(((1.0 - bare) * cost.expected + bare * np.maximum(full, cost.expected)).mean())
        for cost, full in zip(seen.costs, seen.fullest, strict=True)
    ]


def _reestimation(
    hot: np.ndarray, now: float, m: Market, w: Window, rules: Rules, rng: np.random.Generator
) -> None:
    """Live pages past max_gap, longest first, and a tenth for those that were given up."""
    part = rules.shares.reestimation
    for standing, share in ((Standing.RETURNING, RETURNS), (Standing.OVERDUE, 1.0 - RETURNS)):
        rows = np.setdiff1d(m.standing_as(standing), w.rows(), assume_unique=True)
        budgets = w.share(part * share)
        if not rows.size or min(budgets) <= 0:
            continue
        budgets = _rounded(budgets, m.expected, w, rng)
        seen = np.maximum(hot["last"][rows], hot["retry_at"][rows])
        cheapest = [float(c.min()) if c.size else 1.0 for c in m.expected]
        count = min(b / max(c, 1e-9) for b, c in zip(budgets, cheapest, strict=True))
        rows = longest_first(rows, seen, int(min(count + 1, rows.size)))
        rows, host, costs = w.afford(hot, now, rows, budgets)
        w.take(rows, Purpose.REESTIMATION, host, costs)


def _free(m: Market, w: Window) -> NDArray[np.bool_]:
    """Which candidates no reserve has taken yet."""
    free = np.ones(m.rows.size, np.bool_)
    taken = w.rows()
    at = np.searchsorted(m.rows, taken)
    inside = at < m.rows.size
    at = at[inside]
    free[at[m.rows[at] == taken[inside]]] = False
    return free


def _lambdas(m: Market, w: Window, scheme: Scheme, free: NDArray[np.bool_]) -> list[float]:
    """Weights of the caps' prices in the score: the shadow prices where several caps may bind."""
    count = len(scheme.units)
    spent = min(w.left) <= 0  # of some cap: nothing can be bought at any price
    if count == 1 or spent or not scheme.policy.per_price or not m.gain.size:
        return [1.0] + [0.0] * (count - 1)
    gain = np.where(free, m.gain, np.float32(0.0))
    found = shadow_prices(gain, m.prices, m.expected, w.left)
    return found if any(found) else [1.0] + [0.0] * (count - 1)


def _score(m: Market, lambdas: list[float], scheme: Scheme) -> NDArray[np.float32]:
    if not scheme.policy.per_price:
        return m.gain
    price = np.zeros_like(m.gain)
    for weight, each in zip(lambdas, m.prices, strict=True):
        price += np.float32(weight) * each
    with np.errstate(over="ignore"):
        return np.divide(m.gain, np.maximum(price, 1e-30), dtype=np.float32)


def _rounded(
    budgets: list[float], costs: list[NDArray[np.float32]], w: Window, rng: np.random.Generator
) -> list[float]:
    """A share with a random part of one visit on top, never more than is left.

    A share that is smaller than one visit would never buy any; so it buys one now and then, and
    the mean number of visits is what the share pays for.
    """
    u = float(rng.random())
    means = [float(c.mean()) if c.size else 0.0 for c in costs]
    return [min(b + u * c, left) for b, c, left in zip(budgets, means, w.left, strict=True)]


def _best_buys(
    m: Market,
    w: Window,
    rules: Rules,
    score: NDArray[np.float32],
    free: NDArray[np.bool_],
    rng: np.random.Generator,
) -> float:
    """Discovery's share by score among new pages, then everything by score. Returns the bar."""
    if rules.pass_start is None:
        free &= score > 0
    if np.isfinite(min(w.left)):
        new = np.flatnonzero(free & m.new)
        budgets = w.share(rules.shares.discovery)
        if new.size and min(budgets) > 0:
            budgets = _rounded(budgets, [c[new] for c in m.expected], w, rng)
        _buy_from(new, m, w, score, budgets, free)
    return _buy_from(np.flatnonzero(free), m, w, score, w.left, free)


def _buy_from(
    pool: Rows,
    m: Market,
    w: Window,
    score: NDArray[np.float32],
    budgets: list[float],
    free: NDArray[np.bool_],
) -> float:
    whole = pool.size == m.rows.size
    costs = m.expected if whole else [c[pool] for c in m.expected]
    host = m.host if whole else m.host[pool]
    chosen, bar = buy(score if whole else score[pool], costs, budgets, host, w.capacity)
    picked = chosen if whole else pool[chosen]
    free[picked] = False
    for purpose, mine in ((Purpose.DISCOVERY, m.new[picked]), (Purpose.BEST_BUY, ~m.new[picked])):
        at = picked[mine]
        w.take(m.rows[at], purpose, m.host[at], [c[at] for c in m.expected])
    return bar


def _count_left_out(
    m: Market, lambdas: list[float], score: NDArray[np.float32], bar: float, w: Window
) -> None:
    """Say of each candidate not bought why: hosts full, too fast, too fresh, or over budget."""
    rest = _free(m, w)
    full = rest & (w.capacity[m.host] <= 0) & (score >= bar)
    new = rest & ~full & m.new
    over = rest & ~full & ~m.new & (score >= bar) & (score > 0)
    low = rest & ~full & ~m.new & ~over
    k = max(range(len(lambdas)), key=lambdas.__getitem__)
    level = bar * lambdas[k]
    fast = int(np.count_nonzero(low & (m.reach[k] < level)))
    counts = {
        LeftOut.HOST_FULL: int(np.count_nonzero(full)),
        LeftOut.OVER_BUDGET: int(np.count_nonzero(new) + np.count_nonzero(over)),
        LeftOut.TOO_FAST: fast,
        LeftOut.TOO_FRESH: int(np.count_nonzero(low)) - fast,
    }
    m.left_out.update({reason: n for reason, n in counts.items() if n})


def _serving_order(purposes: NDArray[np.uint8], scores: Floats) -> Rows:
    """Reserves first, as they were drawn; then the best scores."""
    reserved = np.isin(purposes, (Purpose.VERIFICATION, Purpose.REESTIMATION))
    return np.lexsort((np.where(reserved, 0.0, -scores), ~reserved))


def _result(
    hot: np.ndarray,
    now: float,
    w: Window,
    m: Market,
    lambdas: list[float],
    bar: float,
    missing: int,
    rules: Rules,
    rng: np.random.Generator,
) -> PlanResult:
    """Put the visits in serving order and state their numbers in full precision."""
    scheme = w.scheme
    rows = w.rows()
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
        left_out=m.left_out,
        missing_draws=missing,
    )
