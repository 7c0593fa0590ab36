"""Every registered policy keeps the promises of the protocol; each has its own character."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.plan.appraise import MAX_VALUE
from recrawl.plan.gain import A_MAX, A_MIN, B_MAX, B_MIN
from recrawl.plan.policies import get_policy, policy_names
from recrawl.plan.policies.classes import Classes
from recrawl.plan.view import UNBOUNDED, View
from recrawl.units import DAY

ALL = [get_policy(name) for name in policy_names()]
BY_NAME = pytest.mark.parametrize("policy", ALL, ids=policy_names())


def view(rates, tau, value=1.0, shape=50.0, dtype=np.float64):
    """Well-known rates (per day) read `tau` days ago."""
    rates, tau, value = np.broadcast_arrays(np.asarray(rates, float), tau, value)
    a = np.full(rates.shape, shape)
    columns = (a, a / (rates / DAY), tau * DAY, value, 0.0 * value)
    return View(*(np.array(c, dtype) for c in columns))


def columns(v):
    return v.a, v.b, v.tau, v.value, v.interval


@BY_NAME
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gains_are_finite_rise_with_age_and_stay_below_their_ceiling(policy, dtype):
    last = None
    for days in np.geomspace(1e-3, 1e4, 30):
        v = view(np.geomspace(1e-4, 1e3, 40), days, dtype=dtype)
        gain = policy.gain(v)
        assert np.isfinite(gain).all()
        assert (gain >= 0).all()
        assert (gain <= policy.ceiling(v) * (1 + 1e-4)).all()
        assert np.isfinite(policy.ceiling(v)).all()
        if last is not None:
            assert (gain >= last * (1 - 1e-4)).all()
        last = gain


@st.composite
def beliefs(draw):
    """A dtype, and pages as the planner hands them over: any belief within its bounds, any value
    and interval, at two ages of up to a century.
    """
    n, dtype = 8, draw(st.sampled_from([np.float32, np.float64]))

    def column(low, high):
        logs = st.floats(np.log10(low), np.log10(high))
        return 10.0 ** np.array(draw(st.lists(logs, min_size=n, max_size=n)))

    a, b, value = column(A_MIN, A_MAX), column(B_MIN, B_MAX), column(1e-9, MAX_VALUE)
    interval = column(1e-3, 1e12) * draw(st.sampled_from([0.0, 1.0]))
    early, late = draw(st.tuples(st.floats(0, 4e9), st.floats(0, 4e9)).map(sorted))
    views = (
        View(*(np.asarray(c, dtype) for c in (a, b, np.full(n, tau), value, interval)))
        for tau in (early, late)
    )
    return (dtype, *views)


@BY_NAME
@given(drawn=beliefs())
def test_gains_hold_their_promises_for_any_belief_age_and_value(policy, drawn):
    dtype, early, late = drawn
    eps = np.finfo(dtype).eps
    digits = 1 + 20 * np.sqrt(eps)
    lost = policy.name in ("freshness", "harmonic")  # differences of two numbers of tau's size
    slack = late.value * late.tau * (16 * eps * lost)
    before, after, most = policy.gain(early), policy.gain(late), policy.ceiling(late)
    for gain in (before, after, most, policy.first(late, 30 * DAY)):
        assert gain.shape == late.tau.shape
        assert np.isfinite(gain).all()
        assert (gain >= 0).all()
    assert (before <= after * digits + slack).all()
    assert (after <= most * digits + slack).all()


@BY_NAME
@given(drawn=beliefs())
def test_bounds_hold_for_any_belief_age_and_value(policy, drawn):
    dtype, *views = drawn
    for view in views:
        exact = policy.gain(View(*(np.asarray(c, np.float64) for c in columns(view))))
        bound, eps, tiny = policy.bound(view), np.finfo(dtype).eps, np.finfo(dtype).tiny
        assert bound.shape == view.tau.shape
        assert np.isfinite(bound).all()
        underflow = tiny * (1.0 + view.value) * (1.0 + view.tau.astype(np.float64)) ** 2
        assert (exact <= bound * (1 + 20 * eps) + underflow).all()


@pytest.mark.parametrize(("name", "loose"), [("freshness", 2.6), ("harmonic", 2.7), ("events", 5)])
def test_bounds_are_near_for_any_age_that_pages_have(name, loose):
    """They exist to spare most pages a closer look."""
    policy = get_policy(name)
    for shape in (1.0, 1.5, 2.0, 5.0, 50.0):
        v = view(1.0, np.geomspace(1e-2, 1e2, 50), shape=shape)
        gain = policy.gain(v)
        assert (np.minimum(policy.bound(v), policy.ceiling(v)) <= loose * gain).all()


@BY_NAME
@given(rate=st.floats(1e-5, 1e4), horizon=st.floats(1, 1e4))
def test_a_first_reading_is_worth_more_the_longer_it_serves(policy, rate, horizon):
    v = view([rate], 0.0, value=2.0)
    near, far = (float(policy.first(v, h * DAY)[0]) for h in (horizon, horizon * 2))
    assert 0 < near <= far


@BY_NAME
def test_each_says_what_it_is_for(policy):
    assert policy.name
    assert len(policy.goal) > 10
    assert get_policy(policy.name) is policy


@pytest.mark.parametrize("name", ["freshness", "harmonic", "events"])
def test_value_scales_a_gain(name):
    policy = get_policy(name)
    one, four = (policy.gain(view([0.1, 1, 10], 1.0, value=w)) for w in (1.0, 4.0))
    np.testing.assert_allclose(four, 4 * one)


def test_freshness_prefers_pages_that_change_about_as_often_as_they_are_read():
    gains = get_policy("freshness").gain(view([96, 24, 4, 1, 1 / 7, 1 / 30, 1 / 365], 1.0))
    assert int(gains.argmax()) in (2, 3)
    assert gains[0] < gains[3]
    assert gains[-1] < gains[3]


def test_freshness_gives_up_on_pages_that_are_too_fast_and_harmonic_never_does():
    fast = view([96.0], [1000.0])
    fresh, harmonic = get_policy("freshness"), get_policy("harmonic")
    assert float(fresh.ceiling(fast)[0]) < DAY / 90
    assert float(harmonic.ceiling(fast)[0]) == UNBOUNDED
    assert float(harmonic.gain(fast)[0]) > 999 * DAY


def test_events_prefer_the_fastest_and_saturate_at_one_change_a_visit():
    gains = get_policy("events").gain(view([96, 24, 4, 1, 1 / 7], 1.0))
    assert (np.diff(gains) < 0).all()
    assert gains[0] == pytest.approx(1.0)


def test_a_page_of_unknown_rate_keeps_a_chance_that_certainty_denies():
    policy = get_policy("freshness")
    known, unknown = (policy.gain(view([20.0], 3.0, shape=s))[0] for s in (1000.0, 1.0))
    assert unknown > 1.5 * known
    assert policy.ceiling(view([20.0], 3.0, shape=1.0))[0] > 1e15 * DAY


def test_uniform_reads_nothing_but_age():
    uniform = get_policy("uniform")
    assert not uniform.per_price
    gains = uniform.gain(view([1e-4, 1.0, 1e4], 3.0, value=[1, 5, 9]))
    np.testing.assert_allclose(gains, 3 * DAY)
    assert uniform.first(view([1.0], 0.0), 30 * DAY)[0] == 30 * DAY


def test_the_articles_formula_is_the_articles():
    gains = get_policy("article").gain(view([96, 24, 4, 1, 1 / 7, 1 / 30, 1 / 365], 1.0)) / DAY
    assert [round(float(g), 3) for g in gains] == [0.010, 0.042, 0.241, 0.400, 0.124, 0.032, 0.003]


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_the_articles_formula_is_guarded(bad):
    for name in ("article", "article-age"):
        assert float(get_policy(name).gain(view([1.0], bad))[0]) == 0.0


def test_proportional_visits_in_proportion_to_rates():
    policy = get_policy("proportional")
    rates = np.array([0.1, 1.0, 10.0])
    due = 1.0 / rates  # days at which each has gained the same
    np.testing.assert_allclose(policy.gain(view(rates, due)), 1.0)


def test_classes_have_four_intervals():
    policy = get_policy("classes")
    gaps = np.array([1 / 24, 1.0, 7.0, 30.0, 3000.0])  # mean days between changes
    gains = policy.gain(view(1 / gaps, 30.0))
    np.testing.assert_allclose(gains, [30 * 24, 30, 30 / 7, 1, 1])


def test_classes_may_be_others():
    policy = Classes(intervals=(DAY,))
    np.testing.assert_allclose(policy.gain(view([24.0, 1e-3], 3.0)), 3.0)
    two = Classes(intervals=(DAY, 100 * DAY))
    np.testing.assert_allclose(two.gain(view([1 / 9, 1 / 11], 50.0)), [50.0, 0.5])


def test_back_off_keeps_to_its_bounds_whatever_another_policy_left():
    policy = get_policy("backoff")
    left = replace(view([1.0] * 3, 2.0), interval=np.array([60.0, 0.0, 1e9]))
    np.testing.assert_allclose(policy.gain(left), [2.0, 2 / 7, 2 / 365])


@given(
    st.lists(st.booleans(), max_size=60),
    st.sampled_from(["backoff", "backoff-nutch"]),
    st.floats(0, 1e12),
)
def test_intervals_stay_within_their_bounds_after_any_visits(visits, name, interval):
    policy = get_policy(name)
    for changed in visits:
        before = min(max(interval or policy.start, policy.floor), policy.ceiling_seconds)
        interval = float(policy.after(np.array([interval]), np.array([changed]))[0])
        assert policy.floor <= interval <= policy.ceiling_seconds
        assert interval <= before if changed else interval >= before


@pytest.mark.parametrize(("name", "chance"), [("backoff", 0.231), ("backoff-nutch", 0.601)])
def test_back_off_rests_at_one_chance_of_change_for_every_page(name, chance):
    policy = get_policy(name)
    steps = np.log(policy.after(np.full(2, 30 * DAY), np.array([True, False])) / (30 * DAY))
    assert steps[1] / (steps[1] - steps[0]) == pytest.approx(chance, abs=5e-4)


def test_value_and_age_need_no_rates():
    policy = get_policy("value-age")
    np.testing.assert_allclose(policy.gain(view([1e-3, 10.0], 2.0, value=4.0)), 8 * DAY)
    assert policy.per_price
