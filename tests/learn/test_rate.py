"""The Gamma filter against the exact posterior on a grid, and against simple facts."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator
from scipy.special import gammaln

from recrawl.learn.rate import mean_rate, update

POSITIVE = st.floats(1e-3, 1e9)


class Grid:
    """The exact posterior of a rate under a Gamma(a, b) prior, on a grid of log rates."""

    def __init__(self, a, b):
        self.u = np.linspace(np.log(a / b) - 14, np.log(a / b) + 9, 6000)
        self.rate = np.exp(self.u)
        self.log = a * self.u - b * self.rate

    def update(self, tau, changed):
        self.log += np.log(-np.expm1(-self.rate * tau)) if changed else -self.rate * tau

    def weights(self):
        w = np.exp(self.log - self.log.max())
        return w / w.sum()

    def kl_from(self, a, b):
        """KL(exact || Gamma(a, b)), nats."""
        w = self.weights()
        density = a * math.log(b) - gammaln(a) + a * self.u - b * self.rate
        step = self.u[1] - self.u[0]
        ok = w > 0
        return float((w[ok] * (np.log(w[ok] / step) - density[ok])).sum())


@pytest.mark.parametrize("visits", [3, 10, 50])
def test_stays_near_the_exact_posterior(visits):
    rng = Generator(PCG64(visits))
    divergence, ratio = [], []
    for _ in range(60):
        rate = rng.exponential(1.0)
        a = b = 1.0
        grid = Grid(a, b)
        for tau in rng.lognormal(0, 1.2, visits):
            changed = bool(rng.random() < -math.expm1(-rate * tau))
            a, b = update(a, b, float(tau), changed)
            grid.update(tau, changed)
        divergence.append(grid.kl_from(a, b))
        ratio.append((a / b) / float((grid.weights() * grid.rate).sum()))
    assert np.median(divergence) < 0.01
    assert np.mean(divergence) < 0.02
    assert 0.98 < np.median(ratio) < 1.02


def test_one_update_matches_the_exact_mean_and_variance():
    for a, b, tau in [(1.0, 1.0, 0.1), (0.3, 10.0, 500.0), (20.0, 3.0, 0.01), (2.0, 1.0, 30.0)]:
        grid = Grid(a, b)
        grid.update(tau, True)
        w = grid.weights()
        mean = (w * grid.rate).sum()
        variance = (w * grid.rate**2).sum() - mean**2
        new_a, new_b = update(a, b, tau, True)
        assert new_a / new_b == pytest.approx(mean, rel=1e-3)
        assert new_a / new_b**2 == pytest.approx(variance, rel=1e-3)


def test_corrects_for_changes_that_no_visit_saw():
    """At rate x interval = 2 changes per time says a third of the truth; this does not."""
    rng = Generator(PCG64(3))
    estimates, naive = [], []
    for _ in range(40):
        a, b, seen, time = 1.0, 1.0, 0, 0.0
        for tau in rng.lognormal(math.log(2) - 0.72, 1.2, 100):
            changed = bool(rng.random() < -math.expm1(-tau))
            a, b = update(a, b, float(tau), changed)
            seen, time = seen + changed, time + tau
        estimates.append(a / b)
        naive.append(seen / time)
    assert np.mean(naive) < 0.5
    assert 0.9 < np.mean(estimates) < 1.15


def test_exact_cases():
    assert update(2.0, 10.0, 5.0, False) == (2.0, 15.0)
    assert update(2.0, 10.0, 5.0, True, since_change=3.0) == (3.0, 13.0)
    assert update(2.0, 10.0, 5.0, True, since_change=99.0) == (3.0, 15.0)  # a clock that lies
    assert update(2.0, 10.0, 5.0, True, since_change=-9.0) == (3.0, 10.0)
    assert update(2.0, 10.0, 5.0, False, since_change=3.0) == (2.0, 15.0)


@pytest.mark.parametrize("tau", [0.0, -5.0, float("nan")])
@pytest.mark.parametrize("changed", [True, False])
def test_no_time_says_nothing(tau, changed):
    assert update(2.0, 10.0, tau, changed) == (2.0, 10.0)
    assert update(2.0, 10.0, tau, changed, since_change=1.0) == (2.0, 10.0)


def test_limits_of_a_change():
    a, b = update(2.0, 10.0, 1e-9, True)  # at once: like seeing the event itself
    assert (a, b) == (pytest.approx(3.0, rel=1e-6), pytest.approx(10.0, rel=1e-6))
    a, b = update(2.0, 10.0, 1e15, True)  # after ages: of course it changed
    assert (a, b) == (pytest.approx(2.0, rel=1e-3), pytest.approx(10.0, rel=1e-3))


def test_arrays_do_what_floats_do():
    rng = Generator(PCG64(5))
    a, b, tau = rng.gamma(2, 1, 200) + 0.1, rng.lognormal(12, 2, 200), rng.lognormal(11, 2, 200)
    tau[::20] = -1.0
    changed = rng.random(200) < 0.5
    many = update(a, b, tau, changed)
    for i in range(200):
        one = update(float(a[i]), float(b[i]), float(tau[i]), bool(changed[i]))
        assert one == (pytest.approx(many[0][i]), pytest.approx(many[1][i]))
    np.testing.assert_allclose(mean_rate(a, b), a / b)


@given(a=st.floats(0.01, 1e5), b=POSITIVE, tau=POSITIVE)
def test_a_change_raises_the_rate_and_none_lowers_it(a, b, tau):
    up, down = update(a, b, tau, True), update(a, b, tau, False)
    assert all(math.isfinite(x) and x > 0 for x in (*up, *down))
    assert up[0] / up[1] >= a / b * (1 - 1e-6)
    assert down[0] / down[1] <= a / b
    assert up[0] <= a + 1.01


@given(
    a=st.floats(0.05, 500.0),
    b=st.floats(1.0, 1e9),
    tau=st.floats(-10.0, 1e9),
    changed=st.booleans(),
)
@example(a=1.0, b=2.0, tau=5e-324, changed=True)  # tau/b is nothing at all
def test_one_page_and_many_are_updated_alike(
    a: float, b: float, tau: float, changed: bool
) -> None:
    one = update(a, b, tau, changed)
    many = update(np.array([a]), np.array([b]), np.array([tau]), np.array([changed]))
    assert one == pytest.approx((many[0][0], many[1][0]), rel=1e-9)
