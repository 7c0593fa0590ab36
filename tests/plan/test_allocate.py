"""The best possible at a budget, against the published table and a general-purpose solver."""

import numpy as np
import pytest
from numpy.random import PCG64, Generator
from scipy.optimize import minimize

from recrawl.plan.allocate import Pages, curve, even, optimal
from recrawl.plan.due import due_time
from recrawl.poisson import freshness, g


def test_cho_and_garcia_molinas_table():
    pages = Pages.of([1, 2, 3, 4, 5])
    best = optimal(pages, 5.0)
    np.testing.assert_allclose(best.frequency, [1.150, 1.358, 1.354, 1.138, 0.000], atol=5e-4)
    assert best.freshness == pytest.approx(0.3739, abs=5e-5)
    assert even(pages, 5.0).freshness == pytest.approx(0.3651, abs=5e-5)
    assert best.price == pytest.approx(0.2164, abs=5e-5)


def some_pages(seed, n=15, cheap=False):
    rng = Generator(PCG64(seed))
    cost = rng.lognormal(0, 1, n)
    return Pages.of(
        rng.lognormal(0, 1.5, n), rng.choice([1, 2, 4, 8], n), cost, 0.02 * cost if cheap else None
    )


@pytest.mark.parametrize("cheap", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_convex_optimum_to_1e_6(seed, cheap):
    pages, budget = some_pages(seed, cheap=cheap), 6.0
    ours = optimal(pages, budget)
    assert ours.spend == pytest.approx(budget, rel=1e-6)
    found = minimize(
        lambda f: -pages.fresh(np.maximum(f, 1e-12)),
        ours.frequency * 0.5 + 0.1,
        bounds=[(1e-9, None)] * pages.rate.size,
        constraints={"type": "ineq", "fun": lambda f: budget - pages.spend(f).sum()},
        method="SLSQP",
        options={"maxiter": 3000, "ftol": 1e-13},
    )
    assert ours.freshness == pytest.approx(-found.fun, abs=1e-6)
    assert ours.freshness >= -found.fun - 1e-9


def test_values_rates_and_spending_are_at_their_marginal_price():
    pages = some_pages(3)
    best = optimal(pages, 4.0)
    on = best.frequency > 0
    x = pages.rate[on] / best.frequency[on]
    worth = pages.value[on] * g(x) / pages.rate[on] / pages.full[on]
    np.testing.assert_allclose(worth, best.price, rtol=1e-9)
    assert (pages.value / pages.rate / pages.full)[~on].max() <= best.price


def test_more_budget_is_never_worse_and_never_below_even_visits():
    for pages in (some_pages(4), some_pages(5, cheap=True)):
        points = curve(pages, np.geomspace(0.1, 1000, 12))
        best = [b.freshness for b, _ in points]
        assert best == sorted(best)
        assert all(b.freshness >= e.freshness - 1e-9 for b, e in points)
        assert all(e.spend == pytest.approx(b.spend, rel=1e-3) for b, e in points)
        prices = [b.price for b, _ in points]
        assert prices == sorted(prices, reverse=True)


def test_validators_that_change_at_their_own_rate():
    """Not convex: the bound keeps the budget and is not below what even visits reach."""
    rng = Generator(PCG64(6))
    rate = rng.lognormal(-13, 2, 500)
    for shift in (rate * 3, rng.lognormal(-12, 2, 500), np.zeros(500)):
        pages = Pages.of(rate, 1.0, 3e4, 600.0, shift)
        budget = 500 * 3e4 / (7 * 86400) * 0.3
        best, flat = optimal(pages, budget), even(pages, budget)
        assert best.spend <= budget * (1 + 1e-9)
        assert best.spend > 0.95 * budget
        assert best.freshness > flat.freshness
    equal = optimal(Pages.of(rate, 1.0, 3e4, 600.0, rate * (1 + 1e-9)), budget)
    closed = optimal(Pages.of(rate, 1.0, 3e4, 600.0), budget)
    assert equal.freshness == pytest.approx(closed.freshness, abs=2e-3)  # the grid's loss


def test_nothing_to_spend_and_nothing_to_buy():
    pages = Pages.of([0.0, 1.0])
    assert optimal(pages, 0.0).freshness == pytest.approx(0.5)
    assert even(pages, 0.0).freshness == pytest.approx(0.5)
    assert optimal(Pages.of([0.0, 0.0]), 3.0).freshness == 1.0


def test_a_304_is_priced_by_the_marginal_rule():
    """At equal spend the marginal price beats both dividing by the expected cost and ignoring
    that a 304 is cheap, and is the optimum (which of the two others is worse depends on the web).
    """
    rng = Generator(PCG64(7))
    n = 400
    rate, value = rng.lognormal(0, 1.5, n), rng.choice([1.0, 2.0, 4.0, 8.0], n)
    full = rng.lognormal(0, 1, n)
    pages = Pages.of(rate, value, full, 0.02 * full)

    def reached(price_of, budget):
        low, high = np.log(1e-9), np.log(1e9)
        for _ in range(60):
            middle = (low + high) / 2
            tau = due_time(
                lambda t: value * g(rate * t * 1e-6) / rate / price_of(rate * t * 1e-6),
                n,
                np.exp(middle),
            )
            f = np.where(np.isfinite(tau), 1e6 / tau, 0.0)
            low, high = (middle, high) if pages.spend(f).sum() > budget else (low, middle)
        return float((value * freshness(rate, f)).sum() / value.sum())

    for part in (0.02, 0.1):
        budget = part * n
        marginal = reached(lambda x: 0.02 * full + 0.98 * full * g(x), budget)
        expected = reached(lambda x: 0.02 * full + 0.98 * full * -np.expm1(-x), budget)
        ignored = reached(lambda x: full, budget)
        assert marginal > 1.01 * max(expected, ignored)
        assert marginal == pytest.approx(optimal(pages, budget).freshness, abs=1e-4)
