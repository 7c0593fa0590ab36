"""Policies that keep an interval for each page: the engine moves it, the store keeps it."""

from __future__ import annotations

import pytest

from engine.harness import Play, ok, pages, project
from recrawl.plan.policies import get_policy
from recrawl.plan.policies.backoff import Backoff
from recrawl.units import DAY


def passes(play: Play, count: int, *, changing: bool) -> None:
    """Read the one page a day apart, `count` times."""
    for i in range(count):
        play.crawl_once(pages({"/": ok(f"version {i} of it" if changing else "always this")}))
        play.close_pass()
        play.now += DAY


def test_ten_visits_in_vain_double_the_interval_and_three_changes_halve_it() -> None:
    play = Play(project(policy=get_policy("backoff")))
    policy = get_policy("backoff")
    assert isinstance(policy, Backoff)
    passes(play, 11, changing=False)  # the first reading says nothing of change
    assert play.page("/").interval == pytest.approx(2 * policy.start)
    passes(play, 3, changing=True)
    assert play.page("/").interval == pytest.approx(policy.start)


def test_an_interval_survives_a_restart() -> None:
    play = Play(project(policy=get_policy("backoff-nutch")))
    passes(play, 4, changing=False)
    before = play.page("/").interval
    play.start()
    assert play.crawl.mirror.rows["interval"][0] == pytest.approx(before)
    passes(play, 1, changing=False)
    assert play.page("/").interval == pytest.approx(before * 1.4)


def test_an_interval_stays_between_floor_and_ceiling() -> None:
    play = Play(project(policy=get_policy("backoff")))
    passes(play, 40, changing=True)
    assert play.page("/").interval == DAY
    passes(play, 120, changing=False)
    assert play.page("/").interval == 365 * DAY


def test_other_policies_leave_it_alone() -> None:
    play = Play(project())
    passes(play, 4, changing=False)
    assert play.page("/").interval == 0.0
