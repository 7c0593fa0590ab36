"""No page that may be fetched waits longer than its due time and one window.

The engine crawls a made-up web of Poisson pages. After each plan every page's due time is worked
out as `why` does; a page that the plan left out must not have been due.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import PCG64, Generator

from engine.harness import ORIGIN, Play, answer, no_robots, ok, project
from recrawl.engine.explain import bars_of, explain
from recrawl.engine.project import Timing
from recrawl.model import Kind, Outcome, State, Visit
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.policies import get_policy
from recrawl.plan.reserves import Shares
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, Unit

PAGES, WINDOW = 12, 6 * HOUR
SLACK = 60.0  # seconds: visits of one window follow each other


class Web:
    """Pages that change as Poisson processes, every second one with a validator."""

    def __init__(self, seed: int, start: float, days: float, hectic: int) -> None:
        """The first `hectic` pages change each half hour."""
        rng = Generator(PCG64(seed))
        rates = rng.lognormal(np.log(1 / (2 * DAY)), 1.5, PAGES)
        rates[:hectic] = 2 / HOUR
        self.changes = [
            start + np.sort(rng.uniform(0, days * DAY, rng.poisson(r * days * DAY))) for r in rates
        ]
        self.down: set[int] = set()
        self.now: Callable[[], float] = lambda: start

    def __call__(self, url: str, visit: Visit) -> Outcome:
        path = url.split("/", 3)[3]
        if not path:
            return ok("home", *(f"/{i}" for i in range(PAGES)), cost=900)
        if not path.isdecimal():
            return no_robots()
        i = int(path)
        if i in self.down:
            return answer(Kind.SERVER_ERROR, 500)
        version = int(np.searchsorted(self.changes[i], self.now()))
        tag = f'"{version}"'
        if i % 2 and ("If-None-Match", tag) in visit.request.headers:
            return answer(Kind.NOT_MODIFIED, 304)
        return ok(f"version {version}", etag=tag if i % 2 else "", cost=8_000 + 500 * i)


class Watch:
    """Due times of the pages that a plan left out, and the gaps between visits."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.due: dict[tuple[int, int], float] = {}
        self.last: dict[tuple[int, int], float] = {}
        self.gaps: list[float] = []
        self.checked = 0

    def after_plan(self, keys: set[tuple[int, int]]) -> None:
        """What was left out was not due."""
        play = self.play
        mirror = play.crawl.mirror
        closed = {(int(r["host_id"]), int(r["key"])) for r in mirror.rows[mirror.bought].array()}
        bars = bars_of(play.store.meta())
        for page in list(play.store.iter_pages()):
            key = page.host_id, page.key
            self.due.pop(key, None)
            if page.state is not State.LIVE or page.retry_at > play.now or key in closed | keys:
                continue
            told = explain(play.crawl, ORIGIN + page.path, page, [], bars, play.now)
            assert told.due is not None
            assert told.due >= play.now - SLACK, (page.path, told.answer)
            self.due[key] = told.due
            self.checked += 1

    def after_visits(self) -> None:
        """No gap is longer than to the due time and a window."""
        for page in list(self.play.store.iter_pages()):
            key = page.host_id, page.key
            before = self.last.get(key, 0.0)
            if before and page.last > before:
                self.gaps.append(page.last - before)
                assert page.last <= self.waits_until(key, page.last) + SLACK, page.path
            self.last[key] = page.last

    def waits_until(self, key: tuple[int, int], otherwise: float) -> float:
        return self.due[key] + WINDOW if key in self.due else otherwise


def crawl(
    seed: int, windows: int, rules: object, down: set[int] | None = None, hectic: int = 0
) -> list[float]:
    """Crawl, and hold the property after each plan. Returns all gaps between visits, seconds."""
    play = Play(rules, checked=False)
    web, watch = Web(seed, play.now, windows * WINDOW / DAY + 1, hectic), Watch(play)
    web.now, web.down = lambda: play.now, down or set()
    binding = 0
    for _ in range(windows):
        begun, first = play.now, True
        while True:
            planned = play.plan()
            if first:  # later plans of a window spend what the first left over
                watch.after_plan(set(planned.keys))
                binding += planned.bar > 0
            first = False
            if not (planned.keys or planned.queued) or not play.serve(web):
                break
        watch.after_visits()
        play.now = begun + WINDOW
    assert binding > windows / 2, "the budget must bind, or this says nothing"
    assert watch.checked > 3 * windows
    return watch.gaps


def rules(policy: str, daily: int, *caps: Cap, **changes: object) -> object:
    """A budget in fetches, whose worst case is what is expected: every visit planned is made."""
    return project(
        policy=get_policy(policy),
        budget=Budget((Cap(Unit.FETCHES, daily, "day"), *caps), WINDOW),
        **{"shares": Shares(0.1, 0.3, 0.05), **changes},
    )


@pytest.mark.parametrize("policy", ["freshness", "harmonic", "events", "value-age"])
def test_no_page_waits_longer_than_its_due_time_and_a_window(policy: str) -> None:
    gaps = crawl(1, 30, rules(policy, 16))
    assert len(gaps) > 60


def test_with_several_caps() -> None:
    bill = Cap(Unit.CREDITS, 15_000_000, "day")
    crawl(2, 30, rules("freshness", 18, bill, tariffs={"direct": Tariff("api", Unit.CREDITS)}))


def test_pages_that_fail_wait_for_their_retry_and_not_longer() -> None:
    crawl(3, 30, rules("freshness", 16), down={3, 4})


@pytest.mark.parametrize("seed", [5, 6])
def test_the_floor_is_kept_where_the_reserve_can_pay_for_it(seed: int) -> None:
    """Pages too fast for their price: max_gap, and a window, is the longest that they wait."""
    floor, shares = 1.5 * DAY, Shares(0.1, 0.6, 0.0)
    changes = {"timing": Timing(max_gap=floor), "shares": shares}
    gaps = crawl(seed, 60, rules("freshness", 28, **changes), hectic=3)
    assert max(gaps) <= floor + WINDOW + SLACK
    assert max(gaps) > floor - WINDOW, "no page waited for the floor: the test says nothing"
