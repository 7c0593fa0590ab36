"""Due times: the closed form against SciPy's Lambert W, and bisection against the closed form."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.random import PCG64, Generator
from scipy.special import lambertw

from recrawl import poisson
from recrawl.plan import due, gain


def test_inverse_g_is_the_lambert_form():
    y = np.r_[np.linspace(1e-3, 0.999, 500), 1 - np.geomspace(1e-12, 1e-3, 50)]
    x = -1 - lambertw(-(1 - y) / np.e, -1).real
    np.testing.assert_allclose(due.inverse_g(y), x, rtol=1e-9)


def test_inverse_g_inverts_at_both_ends():
    y = np.geomspace(1e-30, 0.1, 300)
    np.testing.assert_allclose(poisson.g(due.inverse_g(y)), y, rtol=1e-13)
    rest = np.geomspace(1e-15, 0.9, 300)  # 1 - y
    x = due.inverse_g(1 - rest)
    np.testing.assert_allclose((1 + x) * np.exp(-x), 1 - (1 - rest), rtol=1e-13)
    assert due.inverse_g([0.0, 1.0, 2.0, -1.0]).tolist() == [0.0, np.inf, np.inf, 0.0]


def test_the_score_at_the_due_time_is_the_bar():
    rng = Generator(PCG64(0))
    rate, value = rng.lognormal(-12, 2, 3000), rng.choice([1.0, 2.0, 4.0, 8.0], 3000)
    full = rng.lognormal(10, 1, 3000)
    for unchanged in (None, 0.02 * full):
        bar = float(np.median(value / rate / full)) * 0.2
        tau = due.due_known(rate, value, full, bar, unchanged)
        ok = np.isfinite(tau)
        assert 0.3 < ok.mean() < 1.0
        low = full if unchanged is None else unchanged
        price = low + (full - low) * poisson.g(rate * np.where(ok, tau, 1.0))
        score = value * gain.freshness_known(rate, np.where(ok, tau, 1.0)) / price
        np.testing.assert_allclose(score[ok], bar, rtol=1e-8)
        never = value / rate / full  # what a visit can buy at most, per price
        assert (never[~ok] <= bar * (1 + 1e-12)).all()


def test_closed_form_due_time_to_1e_8():
    """Against a bisection of the defining equation in long double."""
    rate, bar = np.geomspace(1e-8, 1e-3, 60), 300.0
    tau = due.due_known(rate, 1.0, 1.0, bar)
    lo, hi = np.full(60, -5, np.longdouble), np.full(60, 30, np.longdouble)
    for _ in range(120):
        mid = (lo + hi) / 2
        x = rate * np.exp(mid)
        small = x < 1e-2
        g = np.where(small, x**2 / 2 - x**3 / 3 + x**4 / 8 - x**5 / 30 + x**6 / 144 - x**7 / 840,
                     1 - (1 + x) * np.exp(-x))  # fmt: skip
        lo, hi = np.where(g / rate < bar, mid, lo), np.where(g / rate < bar, hi, mid)
    finite = np.isfinite(tau)
    assert finite.sum() > 30
    np.testing.assert_allclose(tau[finite], np.exp(hi[finite]).astype(float), rtol=1e-8)


def test_pages_that_never_change_or_never_pay_are_never_due():
    assert due.due_known(0.0, 1.0, 1.0, 1.0) == np.inf
    assert due.due_known(10.0, 1.0, 1.0, 1.0) == np.inf  # 1/rate below the bar
    assert due.due_known(1e-3, 0.0, 1.0, 1.0) == np.inf


@pytest.mark.parametrize("index", [gain.freshness_index, gain.harmonic_index, gain.events_index])
def test_bisection_finds_where_an_index_reaches_the_bar(index):
    rng = Generator(PCG64(2))
    a, b = rng.gamma(2, 1, 500) + 0.2, rng.lognormal(13, 2, 500)
    bar = float(np.median(index(a, b, 1e6)))
    tau = due.due_time(lambda t: index(a, b, t), 500, bar)
    ok = np.isfinite(tau) & (tau > 1)
    assert ok.sum() > 200
    np.testing.assert_allclose(index(a, b, tau)[ok], bar, rtol=1e-7)
    assert (index(a, b, np.full(500, 1e10))[np.isinf(tau)] < bar).all()


def test_bisection_agrees_with_the_closed_form_for_known_rates():
    rate = np.geomspace(1e-7, 1e-3, 200)
    tau = due.due_time(lambda t: gain.freshness_known(rate, t), 200, 900.0)
    exact = due.due_known(rate, 1.0, 1.0, 900.0)
    np.testing.assert_array_equal(np.isinf(tau), np.isinf(exact))
    np.testing.assert_allclose(tau[np.isfinite(tau)], exact[np.isfinite(exact)], rtol=1e-8)


def test_a_higher_bar_is_never_due_sooner():
    rate = np.geomspace(1e-8, 1e-4, 100)
    taus = [due.due_known(rate, 1.0, 2.0, bar) for bar in np.geomspace(1, 1e6, 20)]
    assert all((lo <= hi).all() for lo, hi in pairwise(taus))
