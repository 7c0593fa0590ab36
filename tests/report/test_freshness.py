"""Expected freshness from beliefs, weighted by value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.plan.gain import chance_changed
from recrawl.report import chance_fresh, expected_freshness

DAY = 86400.0


def test_survival_of_the_lomax_distribution():
    assert chance_fresh([1.0], [DAY], [DAY])[0] == pytest.approx(0.5)
    assert chance_fresh([3.0], [DAY], [DAY])[0] == pytest.approx(0.125)
    assert chance_fresh([2.0], [DAY], [0.0])[0] == 1.0


def test_a_sure_belief_is_the_poisson_model():
    """With a and b large at a/b = rate, (b/(b+t))^a is e^(-rate t)."""
    a = 1e7
    assert chance_fresh([a], [a * DAY], [DAY])[0] == pytest.approx(math.exp(-1), rel=1e-6)


def test_it_is_what_the_planner_believes():
    rng = np.random.Generator(np.random.PCG64(1))
    a, b = rng.uniform(0.1, 50, 1000), 10 ** rng.uniform(2, 8, 1000)
    tau = 10 ** rng.uniform(0, 8, 1000)
    assert np.allclose(chance_fresh(a, b, tau), 1 - chance_changed(a, b, tau), atol=1e-12)


def test_it_matches_simulated_rates():
    rng = np.random.Generator(np.random.PCG64(7))
    rates = rng.gamma(2.0, 1 / (5 * DAY), 200_000)
    unchanged = np.mean(rng.exponential(1 / rates) > 3 * DAY)
    assert chance_fresh([2.0], [5 * DAY], [3 * DAY])[0] == pytest.approx(unchanged, abs=0.005)


def test_value_weighs_and_unread_pages_are_not_fresh():
    now = 1_000_000.0
    f = expected_freshness(
        a=[1, 1, 1], b=[DAY, DAY, DAY], value=[1, 3, 4], last=[now, now - DAY, 0], now=now
    )
    assert f.now == pytest.approx((1 * 1 + 3 * 0.5) / 8)
    assert f.of_read == pytest.approx((1 + 1.5) / 4)
    assert (f.pages, f.unread, f.oldest) == (3, 1, DAY)


def test_a_page_without_a_belief_is_left_out():
    now = 1_000_000.0
    f = expected_freshness([0, 1], [0, DAY], [9, 1], [now - 5, now - DAY], now)
    assert f.now == pytest.approx(0.5)
    assert f.pages == 2


def test_no_pages_and_only_unread_ones():
    empty = expected_freshness([], [], [], [], 5.0)
    assert (empty.now, empty.of_read, empty.pages, empty.oldest) == (None, None, 0, None)
    unread = expected_freshness([0], [0], [1], [0], 5.0)
    assert (unread.now, unread.of_read, unread.unread) == (0.0, None, 1)
    assert unread.as_dict() == {
        "now": 0.0, "of_read": None, "pages": 1, "unread": 1, "oldest": None,
    }  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.floats(1e-3, 1e6), st.floats(1e-3, 1e12), st.floats(0, 1e6), st.floats(0, 2e9)
        ),
        max_size=30,
    )
)
def test_a_share_is_a_share(pages):
    a, b, value, last = (list(x) for x in zip(*pages, strict=True)) if pages else ([], [], [], [])
    f = expected_freshness(a, b, value, last, 1e9)
    for share in (f.now, f.of_read):
        assert share is None or 0 <= share <= 1 + 1e-12
