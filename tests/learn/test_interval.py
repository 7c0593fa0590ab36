"""Quantiles of the Gamma distribution, against another implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.learn.interval import gamma_interval, gamma_quantile


@given(st.floats(0.02, 1e6), st.floats(1e-3, 1 - 1e-3))
def test_quantiles(a, p):
    assert gamma_quantile(a, p) == pytest.approx(stats.gamma(a).ppf(p), rel=1e-7)


@pytest.mark.parametrize("a", [1e-6, 1e-3, 0.9, 1.1e6, 1e9])
def test_the_ends_of_the_range(a):
    low, high = gamma_interval(a, 10.0)
    assert 0 <= low <= high
    assert high == pytest.approx(stats.gamma(a, scale=0.1).ppf(0.95), rel=1e-6)


def test_no_belief():
    assert gamma_interval(0.0, 0.0) == (0.0, 0.0)
