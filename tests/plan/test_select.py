"""The histogram, the exact fill, hosts' capacities and shadow prices, against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator
from scipy.optimize import linprog

from recrawl.plan import select


def candidates(n=3000, hosts=5, seed=0):
    rng = Generator(PCG64(seed))
    score = rng.lognormal(0, 3, n).astype(np.float32)
    cost = rng.lognormal(9, 1, n).astype(np.float32)
    return score, cost, rng.integers(0, hosts, n)


def greedy(score, costs, budgets, host, capacity):
    """By the book: best first; a visit is skipped where it or its host does not fit."""
    left, room, out = list(map(float, budgets)), capacity.copy(), []
    for i in np.argsort(-score, kind="stable"):
        if room[host[i]] <= 0:
            continue
        if all(c[i] <= x for c, x in zip(costs, left, strict=True)):
            room[host[i]] -= 1
            left = [x - float(c[i]) for c, x in zip(costs, left, strict=True)]
            out.append(int(i))
    return out


def test_bins_are_ordered_as_scores_are():
    score = np.sort(np.geomspace(1e-30, 1e30, 5000).astype(np.float32))
    bins = select.score_bins(score)
    assert (np.diff(bins) >= 0).all()
    assert bins.min() >= 0
    assert bins.max() < select.BINS
    edges = np.array([select.bin_edge(int(b)) for b in bins])
    assert (edges <= score).all()
    assert (score <= edges * 1.07).all()
    assert select.score_bins(np.array([0.0, np.inf], np.float32)).tolist() == [0, 4080]


def test_histograms_of_shards_add_up():
    score, cost, _ = candidates()
    whole = select.histogram(score, cost)
    parts = sum(select.histogram(score[i::3], cost[i::3]) for i in range(3))
    np.testing.assert_allclose(parts, whole)
    assert whole.sum() == pytest.approx(cost.sum(dtype=float))
    for budget in (1e3, 1e5, 1e7):
        edge = select.edge_of(whole, budget)
        assert cost[score >= edge].sum() >= budget
        assert cost[score >= edge * 1.07].sum() < budget  # the bin above is affordable
    assert select.edge_of(whole, 1e12) == 0.0


@pytest.mark.parametrize("budget", [1.0, 2e4, 1e6, 1e7, 1e9])
@pytest.mark.parametrize("room", [1, 20, 10**6])
def test_buys_as_the_plain_greedy_does(budget, room):
    score, cost, host = candidates()
    capacity = np.full(5, room)
    chosen, bar = select.buy(score, [cost], [budget], host, capacity)
    book = greedy(score, [cost], [budget], host, capacity)
    assert (np.diff(score[chosen]) <= 0).all()
    assert cost[chosen].sum(dtype=float) <= budget * (1 + 1e-6)
    assert np.bincount(host[chosen], minlength=5).max(initial=0) <= room
    sure = [i for i in book if score[i] > bar]
    assert set(sure) <= set(chosen.tolist())
    if bar == 0.0:
        assert sorted(chosen.tolist()) == sorted(book)


@given(
    seed=st.integers(0, 10**6),
    budgets=st.tuples(st.floats(0, 1e8), st.floats(0, 500)),
    room=st.integers(0, 400),
)
@settings(max_examples=50, deadline=None)
def test_no_cap_and_no_host_is_ever_exceeded(seed, budgets, room):
    score, cost, host = candidates(600, seed=seed)
    capacity = np.full(5, room)
    costs = [cost, np.ones(600, np.float32)]
    chosen, bar = select.buy(score, costs, list(budgets), host, capacity)
    assert len(set(chosen.tolist())) == chosen.size
    assert all(c[chosen].sum(dtype=float) <= b for c, b in zip(costs, budgets, strict=True))
    assert np.bincount(host[chosen], minlength=5).max(initial=0) <= room
    assert bar >= 0.0


def test_a_host_that_is_full_makes_room_far_below_the_first_bar():
    """All good pages on one host: the search has to reach down for the others."""
    score = np.r_[np.full(5000, 100.0), np.geomspace(1e-3, 1e-9, 5000)].astype(np.float32)
    host = np.r_[np.zeros(5000, int), np.ones(5000, int)]
    one = np.ones(10_000, np.float32)
    chosen, bar = select.buy(score, [one], [50.0], host, np.array([10, 10**6]))
    assert np.bincount(host[chosen]).tolist() == [10, 40]
    assert bar == pytest.approx(score[5040])


def test_infinite_scores_and_zero_costs_are_bought_first():
    score = np.array([1.0, np.inf, 2.0], np.float32)
    cost = np.array([5.0, 0.0, 5.0], np.float32)
    chosen, bar = select.buy(score, [cost], [6.0], np.zeros(3, int), np.array([9]))
    assert chosen.tolist() == [1, 2]
    assert bar == 1.0


def test_nothing_to_buy_with_or_from():
    score, cost, host = candidates(10)
    empty, bar = select.buy(score, [cost], [0.0], host, np.full(5, 9))
    assert empty.size == 0
    assert bar == score.max()
    none, bar = select.buy(score[:0], [cost[:0]], [1.0], host[:0], np.full(5, 9))
    assert none.size == 0
    assert bar == 0.0


def test_capacity_keeps_each_hosts_first():
    host = np.array([2, 0, 2, 2, 1, 0, 2])
    keep = select.within_capacity(host, np.array([1, 0, 2]))
    assert keep.tolist() == [True, True, True, False, False, False, False]


def test_fill_skips_what_does_not_fit_and_names_the_first():
    cost = np.array([4.0, 5.0, 1.0, 3.0, 2.0])
    chosen, stopped = select.fill(np.arange(5), [cost], [7.0])
    assert (chosen.tolist(), stopped) == ([0, 2, 4], 1)
    chosen, stopped = select.fill(np.arange(5), [cost], [15.0])
    assert (chosen.tolist(), stopped) == ([0, 1, 2, 3, 4], None)


@pytest.mark.parametrize("shares", [(0.2, 0.2), (0.05, 0.5), (0.3, 0.06), (0.9, 0.9)])
def test_shadow_prices_are_those_of_the_linear_program(shares):
    rng = Generator(PCG64(4))
    n = 1500
    gain = rng.lognormal(0, 1, n)
    prices = [rng.lognormal(0, 1, n), np.ones(n)]
    budgets = [float(p.sum() * s) for p, s in zip(prices, shares, strict=True)]
    ours = select.shadow_prices(gain, prices, prices, budgets)
    best = linprog(-gain, A_ub=np.array(prices), b_ub=budgets, bounds=[(0, 1)] * n)
    exact = -best.ineqlin.marginals
    # what the dual says at our prices is an upper bound on the optimum, tight at the right ones
    dual = sum(x * b for x, b in zip(ours, budgets, strict=True))
    dual += np.maximum(gain - sum(x * p for x, p in zip(ours, prices, strict=True)), 0).sum()
    assert -best.fun <= dual * (1 + 1e-9)
    assert dual <= -best.fun * 1.005
    for x, y in zip(ours, exact, strict=True):
        assert (x == 0) == (y < 1e-9) or abs(x - y) < 0.05


def test_a_cap_that_does_not_bind_has_no_price():
    rng = Generator(PCG64(5))
    gain, price = rng.lognormal(0, 1, 500), rng.lognormal(0, 1, 500)
    prices = [price, np.ones(500)]
    assert select.shadow_prices(gain, prices, prices, [50.0, np.inf])[1] == 0.0
    assert select.shadow_prices(gain, prices, prices, [np.inf, np.inf]) == [0.0, 0.0]
