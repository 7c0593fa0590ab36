"""The reserves' draws: unbiased in number and in choice."""

import numpy as np
import pytest
from numpy.random import PCG64, Generator

from recrawl.plan.reserves import Shares, draw_verification, longest_first


def test_a_budget_too_small_for_one_draw_makes_one_now_and_then():
    rng = Generator(PCG64(0))
    drawn = [draw_verification(100, 10.0, 2.5, rng).size for _ in range(2000)]
    assert set(drawn) == {0, 1}
    assert np.mean(drawn) == pytest.approx(0.25, abs=0.04)


def test_the_number_of_draws_follows_the_budget_exactly_on_average():
    rng = Generator(PCG64(1))
    drawn = [draw_verification(500, 7.0, 100.0, rng).size for _ in range(800)]
    assert set(drawn) == {14, 15}
    assert np.mean(drawn) == pytest.approx(100 / 7, abs=0.07)


def test_every_live_page_is_equally_likely_and_none_drawn_twice():
    rng, counts = Generator(PCG64(2)), np.zeros(50)
    for _ in range(2000):
        rows = draw_verification(50, 1.0, 5.0, rng)
        assert len(set(rows.tolist())) == rows.size
        counts[rows] += 1
    assert counts.mean() == 200
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200)


def test_more_money_than_pages_draws_each_once():
    rows = draw_verification(3, 1.0, 99.0, Generator(PCG64(3)))
    assert sorted(rows.tolist()) == [0, 1, 2]
    assert draw_verification(0, 1.0, 9.0, Generator(PCG64(3))).size == 0
    assert draw_verification(1, 1.0, 0.0, Generator(PCG64(3))).size == 0


@pytest.mark.parametrize("count", [0, 1, 7, 100, 1000])
def test_longest_first(count):
    rng = Generator(PCG64(4))
    since = rng.random(100)
    rows = longest_first(np.arange(100), since, count)
    assert rows.tolist() == np.argsort(since)[:count].tolist()


def test_default_shares_leave_most_to_the_best_buys():
    s = Shares()
    assert (s.discovery, s.reestimation, s.verification) == (0.10, 0.05, 0.03)
