"""Worlds drawn from beliefs, and policies compared in them."""

import numpy as np
import pytest
from numpy.random import PCG64, Generator
from scipy import stats

from recrawl.plan.allocate import optimal
from recrawl.plan.policies import get_policy
from recrawl.replay.run import Settings
from recrawl.replay.what_if import Believed, Mean, bounds, compare
from recrawl.units import DAY, HOUR


def believed(n=300, seed=1, sure=1.0, validators=True):
    """`sure` times as sure of rates that are spread around one change in five days."""
    rng = Generator(PCG64(seed))
    rate = rng.lognormal(np.log(1 / (5 * DAY)), 1.2, n)
    a = np.full(n, 2.0 * sure)
    full = rng.lognormal(10, 0.7, n)
    has = validators & (np.arange(n) % 2 == 0)
    return Believed(
        group=np.arange(n) % 5,
        value=rng.choice([1.0, 2.0, 4.0], n),
        full=full,
        unchanged=np.where(has, 0.03 * full, full),
        a=a,
        b=a / rate,
        va=a,
        vb=a / (3 * rate),
    )


def test_rates_are_drawn_from_the_beliefs_and_changes_from_the_rates():
    one = believed(1)
    many = Believed(*(np.repeat(x, 4000) for x in (
        one.group, one.value, one.full, one.unchanged, one.a, one.b, one.va, one.vb
    )))  # fmt: skip
    drawn = many.draw(200 * DAY, Generator(PCG64(2)))
    belief = stats.gamma(one.a[0], scale=1 / one.b[0])
    assert stats.kstest(drawn.pages.rate, belief.cdf).pvalue > 1e-3
    counts = np.diff(drawn.world.changes.start)
    expected = drawn.pages.rate * 200 * DAY
    assert ((counts - expected) ** 2 / expected).mean() == pytest.approx(1.0, abs=0.1)
    assert (drawn.world.changes.times <= 200 * DAY).all()


def test_validators_change_with_the_record_and_beside_it():
    drawn = believed(2000, sure=1e6).draw(100 * DAY, Generator(PCG64(3)))
    has = drawn.world.conditional
    rate, shown = drawn.pages.rate, drawn.pages.validator_rate
    np.testing.assert_allclose(shown[has], 3 * rate[has], rtol=0.02)
    np.testing.assert_allclose(shown[~has], rate[~has])
    beside = np.diff(drawn.world.shown.start)
    assert beside[~has].sum() == 0
    assert beside[has].sum() == pytest.approx((2 * rate[has] * 100 * DAY).sum(), rel=0.02)


def compared(policies, budgets, known, span=160 * DAY, worlds=2, seed=4):
    rng = Generator(PCG64(seed))
    drawn = [known.draw(span, rng) for _ in range(worlds)]
    how = Settings(span=span, since=span / 2, cycle=3 * HOUR)
    lines = compare(drawn, known, [get_policy(p) for p in policies], budgets, how, rng)
    return lines, bounds(drawn, budgets)


def test_each_line_adds_up_and_the_policies_stand_in_their_order():
    known = believed()
    budget = 0.1 * known.full.sum() / DAY
    lines, (low, high) = compared(["freshness", "uniform"], [budget, 2 * budget], known)
    assert [(x.policy, x.budget) for x in lines] == [
        ("freshness", budget), ("freshness", 2 * budget),
        ("uniform", budget), ("uniform", 2 * budget),
    ]  # fmt: skip
    for x in lines:
        assert x.spend_per_day == pytest.approx(x.budget * DAY, rel=0.03)
        assert x.per_change == pytest.approx(x.spend_per_day / x.changes_per_day)
        assert 0 < x.in_vain < 1
    fresh = [x.freshness.value for x in lines]
    assert fresh[0] > fresh[2] + 0.03 and fresh[1] > fresh[3] + 0.02
    assert fresh[1] > fresh[0] and fresh[3] > fresh[2]
    assert low.best < high.best and low.even < low.best and high.one_more < low.one_more


def test_where_rates_are_certain_the_replay_comes_to_the_bound():
    known = believed(sure=1e6, validators=False)
    budget = 0.1 * known.full.sum() / DAY
    (line,), (bound,) = compared(["freshness"], [budget], known)
    assert line.freshness.value == pytest.approx(bound.best, abs=0.01)


def test_one_more_is_the_slope_of_the_best_possible():
    known = believed(validators=False)
    drawn = [known.draw(DAY, Generator(PCG64(5)))]
    budget = 0.1 * known.full.sum() / DAY
    (bound,) = bounds(drawn, [budget])
    step = 1e-4 * budget
    more, less = (optimal(drawn[0].pages, budget + s).freshness for s in (step, -step))
    slope = (more - less) / (2 * step) * known.value.sum()
    assert bound.one_more == pytest.approx(slope, rel=1e-3)


def test_beliefs_at_the_start_are_worth_having():
    """What is known already isn't learned again: better than beginning with nothing."""
    from recrawl.replay.run import Lane, replay

    known = believed(sure=20.0)
    world = known.draw(60 * DAY, Generator(PCG64(6))).world
    budget = 0.05 * known.full.sum() / DAY
    beliefs = known.a, known.b, known.va, known.vb
    how = Settings(span=60 * DAY, since=15 * DAY, cycle=3 * HOUR)
    policy = get_policy("freshness")
    warm, cold = (
        replay([Lane(world, budget, beliefs=x)], policy, how)[0].freshness for x in (beliefs, None)
    )
    assert warm > cold + 0.01


def test_mean_and_error():
    assert Mean.of([1.0, 3.0]) == Mean(2.0, 1.0)
    assert Mean.of([2.0]) == Mean(2.0, 0.0)
