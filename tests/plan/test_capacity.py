"""The best allocation where hosts take only so many visits, against a general-purpose solver."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator
from scipy.optimize import LinearConstraint, minimize

from recrawl.plan.allocate import Pages, curve, even, optimal
from recrawl.plan.capacity import Capacity
from recrawl.poisson import g


def some(seed, cheap, n=18, hosts=4):
    rng = Generator(PCG64(seed))
    cost = rng.lognormal(0, 1, n)
    pages = Pages.of(
        rng.lognormal(0, 1.5, n), rng.choice([1, 2, 4, 8], n), cost, 0.02 * cost if cheap else None
    )
    host = np.arange(n) % hosts
    free = np.bincount(host, optimal(pages, 8.0).frequency)
    limits = free * rng.choice([0.1, 0.4, 0.8, 3.0], hosts)
    limits[-1] = np.inf
    return pages, Capacity.of(host, limits)


@pytest.mark.parametrize("cheap", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_the_convex_optimum_with_full_hosts_to_1e_6(seed, cheap):
    pages, hosts = some(seed, cheap)
    budget = 8.0
    ours = optimal(pages, budget, hosts)
    assert ours.spend == pytest.approx(budget, rel=1e-6)
    assert (hosts.used(ours.frequency) <= hosts.visits * (1 + 1e-9)).all()
    assert (ours.host_price > 0).any(), "no host is full: the test says nothing"
    finite = np.flatnonzero(np.isfinite(hosts.visits))
    mine = (hosts.host[None, :] == finite[:, None]).astype(float)
    found = minimize(
        lambda f: -pages.fresh(np.maximum(f, 1e-12)),
        ours.frequency * 0.5 + 1e-3,
        bounds=[(1e-9, None)] * pages.rate.size,
        constraints=[
            {"type": "ineq", "fun": lambda f: budget - pages.spend(f).sum()},
            LinearConstraint(mine, -np.inf, hosts.visits[finite]),
        ],
        method="SLSQP",
        options={"maxiter": 5000, "ftol": 1e-14},
    )
    assert ours.freshness == pytest.approx(-found.fun, abs=1e-6)
    assert ours.freshness >= -found.fun - 1e-8


def test_every_visit_costs_the_budgets_price_and_its_hosts():
    pages, hosts = some(7, cheap=True)
    best = optimal(pages, 8.0, hosts)
    on = best.frequency > 0
    share = g(pages.rate[on] / best.frequency[on])
    worth = pages.value[on] * share / pages.rate[on]
    budget = best.price * (pages.unchanged[on] + (pages.full[on] - pages.unchanged[on]) * share)
    np.testing.assert_allclose(worth, budget + best.host_price[hosts.host[on]], rtol=1e-6)
    full = best.host_price > 0
    np.testing.assert_allclose(hosts.used(best.frequency)[full], hosts.visits[full], rtol=1e-9)


def test_a_hosts_price_is_what_one_more_visit_buys():
    pages, hosts = some(1, cheap=False)
    best = optimal(pages, 8.0, hosts)
    full = int(np.argmax(best.host_price))
    step = 1e-4 * hosts.visits[full]
    more = hosts.visits.copy()
    more[full] += step
    gained = optimal(pages, 8.0, Capacity.of(hosts.host, more)).freshness - best.freshness
    # the budget's price is of worth in seconds per cost, the host's per visit: the visit's own
    # cost is paid by the others, and is in neither
    assert gained * pages.value.sum() / step == pytest.approx(best.host_price[full], rel=1e-3)


def test_hosts_with_room_change_nothing():
    pages, hosts = some(2, cheap=True)
    roomy = Capacity.of(hosts.host, np.full(4, 1e6))
    free, with_room = optimal(pages, 8.0), optimal(pages, 8.0, roomy)
    np.testing.assert_allclose(free.frequency, with_room.frequency, rtol=1e-9)
    assert not with_room.host_price.any()
    assert even(pages, 8.0, roomy).freshness == pytest.approx(even(pages, 8.0).freshness)


def test_a_budget_that_hosts_can_not_take_has_no_price():
    pages, _ = some(3, cheap=False)
    hosts = Capacity.of(np.arange(18) % 4, [0.5, 0.1, 2.0, 0.0])
    best = optimal(pages, 1e6, hosts)
    assert best.price == 0
    np.testing.assert_allclose(hosts.used(best.frequency), hosts.visits, rtol=1e-9)
    assert best.spend < 1e3
    assert best.freshness == pytest.approx(optimal(pages, 1e9, hosts).freshness)


@given(st.integers(0, 10**6), st.booleans(), st.floats(0.01, 100.0))
@example(833734, True, 15.0)  # a page at the margin of its host: what is left must not lie idle
@settings(max_examples=8, deadline=None)
def test_limits_hold_and_never_help(seed, cheap, budget):
    pages, hosts = some(seed, cheap)
    (best, flat), (more, _) = curve(pages, [budget, 2 * budget], hosts)
    for one in (best, flat):
        assert (hosts.used(one.frequency) <= hosts.visits * (1 + 1e-9)).all()
        assert one.spend <= budget * (1 + 1e-9)
    assert flat.freshness - 1e-6 <= best.freshness <= more.freshness + 1e-9
    assert best.freshness <= optimal(pages, budget).freshness + 1e-9


def test_pages_whose_validator_has_its_own_rate():
    rng = Generator(PCG64(6))
    rate = rng.lognormal(-13, 2, 400)
    pages = Pages.of(rate, 1.0, 3e4, 600.0, rate * 20)
    budget = 400 * 3e4 / (7 * 86400) * 0.3
    free = optimal(pages, budget)
    host = np.arange(400) % 3
    hosts = Capacity.of(host, np.bincount(host, free.frequency) * [0.3, 1.5, 1.5])
    best = optimal(pages, budget, hosts)
    assert (hosts.used(best.frequency) <= hosts.visits * (1 + 1e-6)).all()
    assert 0.9 * free.freshness < best.freshness < free.freshness


def test_negative_limits_are_refused():
    with pytest.raises(ValueError, match="0 or more"):
        Capacity.of([0, 1], [1.0, -1.0])
    with pytest.raises(ValueError, match="0 or more"):
        Capacity.of([0, 1], [1.0, np.nan])
