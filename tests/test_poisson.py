"""The change model against the published tables, and against itself at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from recrawl import poisson

# The seed article's table: a crawler that can revisit about once a day.
ARTICLE = [
    ("every 15 minutes", 96, 0.010),
    ("hourly", 24, 0.042),
    ("every 6 hours", 4, 0.241),
    ("daily", 1, 0.400),
    ("weekly", 1 / 7, 0.124),
    ("monthly", 1 / 30, 0.032),
    ("yearly", 1 / 365, 0.003),
]
ANY = st.floats(allow_nan=True, allow_infinity=True)
POSITIVE = st.floats(1e-9, 1e9)


@pytest.mark.parametrize(("name", "per_day", "bought"), ARTICLE)
def test_the_articles_table(name, per_day, bought):
    assert round(float(poisson.freshness_gain(per_day, 1, 1)), 3) == bought, name
    day = 86400.0
    in_seconds = poisson.freshness_gain(per_day / day, day, day) / day
    assert round(float(in_seconds), 3) == bought


def test_a_fixed_interval_misranks_where_interval_equal_to_age_does_not():
    rng = Generator(PCG64(1))
    rate, age = rng.lognormal(-2, 2, 2000), rng.exponential(7, 2000)

    def rank(x):
        return np.argsort(np.argsort(x))

    best = rank(poisson.g(rate * age) / rate)
    own = np.corrcoef(best, rank(poisson.freshness_gain(rate, age, age)))[0, 1]
    fixed = np.corrcoef(best, rank(poisson.freshness_gain(rate, age, 1.0)))[0, 1]
    assert own > 0.98 > 0.9 > fixed


def test_uniform_beats_proportional_as_cho_and_garcia_molina_print():
    rates = np.arange(1.0, 6.0)
    assert poisson.freshness(rates, 1.0).mean() == pytest.approx(0.3651, abs=5e-5)
    assert poisson.freshness(rates, rates / 3.0).mean() == pytest.approx(0.3167, abs=5e-5)


def test_limits_of_freshness():
    assert poisson.freshness(0.0, 0.0) == 1.0  # never changes
    assert poisson.freshness(1.0, 0.0) == 0.0  # never visited
    assert poisson.freshness(1.0, 1e12) == pytest.approx(1.0)


@given(POSITIVE, POSITIVE)
def test_g_is_the_derivative_of_freshness_by_frequency(rate, frequency):
    x = rate / frequency
    if not 1e-3 < x < 30:
        return
    h = frequency * 1e-5
    up, down = poisson.freshness(rate, frequency + h), poisson.freshness(rate, frequency - h)
    assert (up - down) / (2 * h) == pytest.approx(float(poisson.g(x) / rate), rel=1e-4)


def test_g_keeps_its_digits_where_the_plain_formula_has_none():
    x = np.array([1e-9, 1e-6, 1e-3, 0.0499999, 0.0500001])
    series = sum((-1) ** k * (k - 1) / math.factorial(k) * x**k for k in range(2, 14))
    np.testing.assert_allclose(poisson.g(x), series, rtol=1e-13)


def test_stale_time_and_fresh_time_make_up_the_age():
    rate, age = np.geomspace(1e-9, 1e3, 40)[:, None], np.geomspace(1, 1e8, 40)
    total = poisson.stale_time(rate, age) + poisson.fresh_time(rate, age)
    np.testing.assert_allclose(total, np.broadcast_to(age, total.shape), rtol=1e-12)


@pytest.mark.parametrize(
    "formula",
    [
        poisson.chance_stale,
        poisson.freshness,
        poisson.fresh_time,
        poisson.stale_time,
        lambda rate, age: poisson.freshness_gain(rate, age, age),
        lambda rate, age: poisson.g(rate),
    ],
)
@given(rate=ANY, age=ANY)
def test_no_number_breaks_a_formula(formula, rate, age):
    out = float(formula(rate, age))
    assert np.isfinite(out)
    assert out >= 0


@given(rate=POSITIVE, ages=st.tuples(POSITIVE, POSITIVE))
def test_waiting_never_lowers_a_gain(rate, ages):
    young, old = sorted(ages)
    for f in (poisson.chance_stale, poisson.stale_time, poisson.fresh_time):
        assert float(f(rate, young)) <= float(f(rate, old)) * (1 + 1e-12)
    assert poisson.g(rate * young) <= poisson.g(rate * old) * (1 + 1e-12)


def test_the_articles_faults_are_guarded():
    assert poisson.freshness_gain(0.0, 5.0, 1.0) == 0.0
    assert poisson.freshness_gain(1.0, -5.0, 1.0) == 0.0  # the article's goes negative
    assert poisson.freshness_gain(float("nan"), 1.0, 1.0) == 0.0  # the article's passes NaN on
