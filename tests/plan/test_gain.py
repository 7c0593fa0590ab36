"""The Lomax closed forms against quadrature, the known-rate limit, and every awkward number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betainc

from recrawl import poisson
from recrawl.plan import gain

INDICES = {
    "freshness": gain.freshness_index,
    "harmonic": gain.harmonic_index,
    "events": gain.events_index,
    "age": gain.age_index,
}
SHAPES = [0.01, 0.3, 0.999999, 1.0, 1.000001, 1.5, 1.999999, 2.0, 2.000001, 7.0, 1e3, 1e6]
X = [1e-6, 1e-3, 0.019, 0.021, 0.3, 1.0, 5.0, 40.0]  # mean rate x tau; the series ends near 0.02
NASTY = [0, -1, 1e-300, 1e-9, 1e-3, 1, 1e9, 1e15, 1e300, np.inf, -np.inf, np.nan]


def lost(a, u):
    """1 - S(u) for b = a, all digits kept."""
    return -np.expm1(-a * np.log1p(u / a))


def by_quadrature(name, a, tau):
    def integral(f):
        return quad(f, 0.0, tau, epsabs=0.0, epsrel=1e-11, limit=500)[0]

    if name == "freshness":  # int S(u) - S(tau): what a visit adds
        return integral(lambda u: lost(a, tau) - lost(a, u))
    if name == "harmonic":
        return integral(lambda u: lost(a, u))
    if name == "age":
        return integral(lambda u: u * lost(a, u))
    # events: E[g(d tau)] = int over u of -u dS'(u), S' the density
    return integral(lambda u: u * (a + 1) / a * np.exp(-(a + 2) * np.log1p(u / a)))


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("a", SHAPES)
def test_closed_forms_equal_quadrature(name, a):
    for tau in X:
        got = float(INDICES[name](a, a, tau))  # b = a: mean rate 1
        assert got == pytest.approx(by_quadrature(name, a, tau), rel=2e-7), (a, tau)


@pytest.mark.parametrize("name", INDICES)
def test_shapes_near_one_and_two_join_smoothly(name):
    for center in (1.0, 2.0):
        near = center + np.array([-1e-3, -1e-5, -1e-7, -1e-9, 0, 1e-9, 1e-7, 1e-5, 1e-3])
        for tau in (0.5, 5.0, 50.0):
            values = INDICES[name](near, near, tau)
            np.testing.assert_allclose(values, values[4], rtol=2e-3)
            np.testing.assert_allclose(values[2:7], values[4], rtol=1e-6)


def test_a_certain_belief_is_a_known_rate():
    rate, tau = np.geomspace(1e-8, 1e-2, 30)[:, None], np.geomspace(10, 1e8, 30)
    a = np.full_like(rate, 1e6)
    np.testing.assert_allclose(
        gain.freshness_index(a, a / rate, tau), gain.freshness_known(rate, tau), rtol=1e-4
    )
    np.testing.assert_allclose(
        gain.harmonic_index(a, a / rate, tau), poisson.stale_time(rate, tau), rtol=1e-4
    )
    np.testing.assert_allclose(
        gain.events_index(a, a / rate, tau), poisson.g(rate * tau), rtol=1e-4, atol=1e-290
    )


def test_uncertainty_keeps_gaining_where_certainty_has_given_up():
    """Exploration for free: same mean rate, but the unknown page may be slow after all."""
    known, unknown = gain.freshness_known(1.0, 50.0), gain.freshness_index(1.0, 1.0, 50.0)
    assert unknown > 2 * known


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "form", [*INDICES.values(), gain.chance_changed, gain.expected_fresh_time]
)
def test_finite_and_not_negative_for_any_numbers(form, dtype):
    grid = np.meshgrid(NASTY, NASTY, NASTY)
    with np.errstate(over="ignore"):
        a, b, tau = (x.astype(dtype) for x in grid)
    out = form(a, b, tau)
    assert np.isfinite(out).all()
    assert (out >= 0).all()
    zero = form(np.ones(3, dtype), np.ones(3, dtype), np.array([0, -5, np.nan], dtype))
    assert (zero == 0).all()


@pytest.mark.parametrize("name", INDICES)
@given(a=st.floats(1e-3, 1e6), b=st.floats(1.0, 1e10), tau=st.floats(1.0, 1e9))
def test_waiting_never_lowers_an_index(name, a, b, tau):
    ages = tau * np.array([1.0, 1.0001, 1.1, 2.0, 10.0, 1000.0])
    values = INDICES[name](a, b, ages)
    assert (np.diff(values) >= -1e-7 * values[1:]).all()


@given(a=st.floats(0.1, 1e4), x=st.floats(1e-4, 1e3))
def test_float32_ranks_as_float64_does(a, x):
    b = a * 1e5
    args = np.array([a, b, x * 1e5])
    for name in ("freshness", "harmonic", "events"):
        single = INDICES[name](*args.astype(np.float32))
        assert single.dtype == np.float32
        assert float(single) == pytest.approx(float(INDICES[name](*args)), rel=3e-3)


def test_integers_and_lists_are_taken_as_floats():
    assert gain.freshness_index(1, 100, [100, 0]).tolist() == pytest.approx([19.3147, 0], abs=1e-4)


def test_answer_shares_agree_with_their_parts():
    a, b, tau = np.array([0.5, 1.0, 30.0]), 1e5, np.array([1e3, 1e5, 1e4])
    marginal, expected = gain.answer_shares(a, b, tau)
    np.testing.assert_allclose(marginal, gain.events_index(a, b, tau), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(expected, gain.chance_changed(a, b, tau), rtol=1e-9)
    assert (marginal < expected).all()


@given(
    a=st.floats(-6, 9).map(lambda x: 10.0**x),
    z=st.floats(-8, 12).map(lambda x: 10.0**x),
)
def test_the_least_share_of_full_answers_is_never_above_it_and_the_same_at_shape_one(a, z):
    exact = betainc(2.0, a, z / (1.0 + z))
    least = float(gain.least_answer_share(np.array(a), np.array(1e5), np.array(z * 1e5)))
    assert least <= exact * (1 + 1e-9)
    assert float(gain.least_answer_share(np.array(1.0), np.array(1.0), np.array(z))) == (
        pytest.approx((z / (1.0 + z)) ** 2)
    )
    if 0.3 <= a <= 20:
        assert least >= 0.2 * exact
