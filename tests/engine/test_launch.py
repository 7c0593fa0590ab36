"""A host's delay counts from the moment a request goes out, however many go out together."""

from __future__ import annotations

import pytest

from engine.harness import ORIGIN, Play, no_robots, project
from recrawl.engine.serve import launched
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Wait


def several(delay: float, n: int) -> Play:
    """A play whose robots.txt is read, with `n` pages of one host waiting."""
    play = Play(project(pace=PaceRules(delay=delay, concurrency=32, jitter=0.0)))
    play.admit(*(f"{ORIGIN}/{i}" for i in range(n)))
    play.plan()
    play.record(play.visit(), no_robots())
    play.now += delay
    return play


@pytest.mark.parametrize("late", [0.0, 0.01, 5.0])
def test_all_that_go_out_together_hold_their_host_as_long_as_one(late: float) -> None:
    play = several(0.0, 20)
    host = next(iter(play.crawl.hosts.values()))
    visits = [play.visit() for _ in range(20)]
    sold = play.now
    for visit in visits:
        launched(play.crawl, visit.lease, sold + late)
    assert host.next_ok == pytest.approx(sold + late)


@pytest.mark.parametrize("late", [0.0, 0.01, 5.0])
def test_a_late_request_moves_the_next_one_by_as_much(late: float) -> None:
    play = several(2.0, 3)
    visit = play.visit()
    play.checked = False  # the store learns of it with the host's next row
    launched(play.crawl, visit.lease, play.now + late)
    play.now += 1.9 + late
    assert isinstance(play.next(), Wait)
    play.now += 0.2
    play.visit()


def test_a_slow_host_is_asked_as_often_at_once_as_allowed() -> None:
    """Its answering time, in which our own waits are, is no reason to ask one by one."""
    play = several(0.0, 20)
    next(iter(play.crawl.hosts.values())).latency = 10.0
    for _ in range(20):
        play.visit()
