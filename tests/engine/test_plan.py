"""Windows and passes: what is chosen, what is left out and why, what a budget lets be spent."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from engine.harness import (
    ORIGIN,
    T0,
    Play,
    answer,
    moved,
    no_robots,
    ok,
    pages,
    project,
    wire,
)
from recrawl.engine.project import Timing
from recrawl.engine.purse import Purse
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Kind, Outcome, Purpose, State, Visit, Wait
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.reserves import Shares
from recrawl.units import DAY, HOUR, MINUTE, WEEK, Spend, Unit
from recrawl.urls.match import SiteMatcher, SiteRule

SITE = pages({"/": ok("home", *(f"/{i}" for i in range(8))),
              **{f"/{i}": ok(f"page {i}", "/", f"/{i}/x") for i in range(8)},
              **{f"/{i}/x": ok(f"leaf {i}") for i in range(8)}})  # fmt: skip
URLS = {f"{ORIGIN}/", *(f"{ORIGIN}/{i}" for i in range(8)), *(f"{ORIGIN}/{i}/x" for i in range(8))}


def daily(n: int, unit: Unit = Unit.BYTES, window: float = HOUR) -> Budget:
    return Budget((Cap(unit, n, "day"),), window)


# one pass


def test_one_pass_visits_each_page_once(play: Play) -> None:
    seen = Counter(play.crawl_once(SITE))
    assert seen == dict.fromkeys([*URLS, f"{ORIGIN}/robots.txt"], 1)
    assert play.plan().keys == []
    assert play.plan().reason == "all are fresh enough"


def test_the_next_pass_visits_all_again(play: Play) -> None:
    play.crawl_once(SITE)
    play.close_pass()
    play.now += HOUR
    assert Counter(play.crawl_once(SITE)) == dict.fromkeys(URLS, 1)


@pytest.mark.parametrize("after", [1, 3, 7, 16])
def test_an_interrupted_pass_goes_on_where_it_was(play: Play, after: int) -> None:
    play.plan()
    first = play.serve(SITE, most=after)
    play.now += 5 * HOUR
    play.start()
    second = play.crawl_once(SITE)
    assert Counter(first + second) == dict.fromkeys([*URLS, f"{ORIGIN}/robots.txt"], 1)
    play.close_pass()
    assert Counter(play.crawl_once(SITE)) == dict.fromkeys(URLS, 1)


def test_a_pass_looks_at_given_up_pages_only_when_their_time_has_come(play: Play) -> None:
    site = {"/": ok("home", "/gone", "/old"), "/gone": answer(Kind.GONE, 410), "/old": moved("/")}
    play.crawl_once(pages(site))
    visits: Counter[str] = Counter()
    for _ in range(60):
        play.close_pass()
        play.now += DAY
        visits.update(play.crawl_once(pages(site)))
    assert play.page("/gone").state is State.GONE
    assert play.page("/old").state is State.ALIAS
    assert visits[f"{ORIGIN}/"] == 60
    gone = play.page("/gone").key
    days = [round((e.t - T0) / DAY) for e in play.entries() if e.key == gone]
    assert days == [0, 7, 14, 28, 56], "a week, then twice as long each time"
    assert visits[f"{ORIGIN}/old"] == 2, "a permanent redirect: each four weeks"
    assert {e.purpose for e in play.entries() if e.key == gone and e.t > T0 + DAY} == {
        Purpose.REESTIMATION
    }


# windows


def test_a_window_never_spends_more_than_its_share_and_one_visit(play: Play) -> None:
    play = Play(project(budget=daily(480_000)), checked=False)
    for _ in range(30):
        before = play.spent().bytes
        play.crawl_once(SITE)
        ends = play.engine.window_ends
        assert play.spent().bytes - before <= 40_000
        play.now = ends
    since = play.store.spent(Cap(Unit.BYTES, 1, "day").start(play.now, T0)).bytes
    assert since <= 480_000


def test_what_a_day_allows_is_spent_and_not_more() -> None:
    """Hosts that answer in 2 kB, a page that changes all the time: the cap is used, not broken."""
    play = Play(project(budget=daily(400_000), timing=Timing(min_gap=MINUTE)), checked=False)
    n = iter(range(10**6))
    leaves = tuple(f"/{i}" for i in range(12))
    site = {"/": leaves, **dict.fromkeys(leaves, ())}

    def ask(url: str, visit: Visit) -> Outcome:
        path = "/" + url.split("/", 3)[3]
        return ok(f"text {next(n)}", *site[path]) if path in site else no_robots()

    day = (T0 // DAY + 1) * DAY
    while play.now < day + 2 * DAY:
        play.crawl_once(ask)
        play.now = play.engine.window_ends
    for start in (day, day + DAY):
        spent = play.store.spent(start, start + DAY).bytes
        assert 0.5 * 400_000 < spent <= 400_000


def test_planning_again_in_a_window_adds_and_never_repeats() -> None:
    play = Play(project(budget=daily(50_000_000)))
    first = Counter(play.crawl_once(SITE))
    window = play.crawl.window
    again = play.plan()
    assert play.crawl.window is window
    assert again.keys == [] and max(first.values()) == 1
    play.now += 11 * MINUTE
    assert play.plan().keys == [], "bought in this window, however long ago"
    play.admit(f"{ORIGIN}/late")
    assert play.crawl_once(SITE) == [f"{ORIGIN}/late"]


def test_a_new_window_may_buy_everything_again_after_min_gap() -> None:
    play = Play(project(budget=daily(50_000_000), timing=Timing(min_gap=10 * MINUTE)))
    play.now = (T0 // HOUR + 1) * HOUR - 60
    play.crawl_once(SITE)
    play.now = play.engine.window_ends + 1
    assert play.plan().left_out["visited less than min_gap ago"] == len(URLS)
    play.now += 10 * MINUTE
    assert set(play.crawl_once(SITE)) == URLS


def test_nothing_due_says_when_to_come_back() -> None:
    play = Play(project(budget=daily(50_000_000)))
    play.crawl_once(pages({"/": ok("home")}))
    nothing = play.plan()
    assert not nothing.keys
    assert nothing.reason == "all are fresh enough"
    assert nothing.next_due == play.engine.window_ends
    empty = Play(project(seeds=()))
    assert empty.plan().reason == "no page is known: add `seeds` to the project file"
    assert empty.plan().next_due == math.inf


def test_an_empty_budget_buys_nothing_and_says_so() -> None:
    play = Play(project(budget=daily(0)))
    said = play.plan()
    assert said.keys == []
    assert said.reason == "the budget of this window is spent"
    assert isinstance(play.next(), Wait)


def test_every_cap_is_kept_not_only_the_first() -> None:
    caps = (Cap(Unit.BYTES, 10**9, "day"), Cap(Unit.FETCHES, 240, "day"), Cap(Unit.USD, 10**9))
    play = Play(project(budget=Budget(caps, HOUR)))
    for _ in range(4):
        before = play.spent().fetches
        play.crawl_once(SITE)
        assert play.spent().fetches - before <= 24
        play.now = play.engine.window_ends
    assert play.spent().fetches > 0


def test_totals_end_the_crawl_for_good_and_the_reason_names_them() -> None:
    play = Play(project(totals=(Cap(Unit.FETCHES, 5),)))
    assert len(play.crawl_once(SITE)) == 5
    said = play.plan()
    assert said.limit_reached
    assert said.reason == "the project's limit of 5 fetches per run is reached"
    play.now += WEEK
    play.start()
    assert play.plan().limit_reached, "over all runs"
    assert isinstance(play.next(), Wait)


# reserves


def test_reserves_are_drawn_once_a_window() -> None:
    shares = Shares(discovery=0.1, reestimation=0.0, verification=0.5, unconditional=0.0)
    play = Play(project(budget=daily(2_000_000), shares=shares))
    play.crawl_once(SITE)
    play.now = play.engine.window_ends + HOUR
    play.crawl_once(SITE)
    opened = play.crawl.window.opened
    drawn = [e.t for e in play.entries() if e.purpose is Purpose.VERIFICATION and e.t >= opened]
    assert drawn, "half of the window's budget is for them"
    before = len(drawn)
    play.now += 20 * MINUTE
    play.crawl_once(SITE)
    after = [e for e in play.entries() if e.purpose is Purpose.VERIFICATION and e.t >= opened]
    assert len(after) == before


def test_pages_past_max_gap_are_bought_from_the_reestimation_reserve() -> None:
    timing = Timing(max_gap=30 * DAY)
    shares = Shares(discovery=0.0, reestimation=0.9, verification=0.0)
    play = Play(project(budget=daily(10_000_000), timing=timing, shares=shares))
    play.crawl_once(pages({"/": ok("home")}))
    play.now += 31 * DAY
    answer = play.plan()
    assert answer.purposes == {Purpose.REESTIMATION: 1}


def test_unconditional_draws_send_no_validators() -> None:
    shares = Shares(discovery=0.1, reestimation=0.0, verification=0.9, unconditional=1.0)
    play = Play(project(budget=daily(10_000_000), shares=shares))
    site = pages({"/": ok("home", etag='"1"')})
    play.crawl_once(site)
    play.now = play.engine.window_ends + HOUR
    play.plan()
    visit = play.visit()
    assert visit.purpose is Purpose.VERIFICATION
    assert not visit.request.conditional


# what is staged and what is promised


def test_pages_that_cannot_be_loaded_are_dropped_with_their_promise() -> None:
    play = Play(project(budget=daily(50_000_000)))
    play.crawl_once(SITE)
    play.now = play.engine.window_ends + HOUR
    planned, writes = play.engine.plan(play.now, play.rng)
    play.store.commit(writes)
    assert len(planned.keys) == len(URLS)
    play.engine.stock(play.store.load_pages(planned.keys[:3]))
    play.verify()
    assert len(play.crawl.queues) == 3


def test_a_window_that_opens_while_visits_are_under_way_carries_their_promises() -> None:
    play = Play(project(budget=daily(50_000_000)))
    play.crawl_once(SITE)
    play.now = play.engine.window_ends + HOUR
    play.plan()
    out = [play.visit(), play.visit()]
    play.now = play.engine.window_ends + HOUR
    answer = play.plan()
    assert not {(v.host_id, v.key) for v in out} & set(answer.keys), "they are being visited"
    for visit in out:
        play.record(visit, ok("late"))
    assert play.crawl.window.account.reserved == Spend()
    assert play.crawl.window.account.spent.bytes == 4_000


def test_expected_spend_and_left_out_are_counted_for_people() -> None:
    play = Play(project(budget=daily(50_000_000), timing=Timing(min_gap=10 * DAY)))
    play.crawl_once(SITE)
    play.admit(*(f"{ORIGIN}/new/{i}" for i in range(3)))
    play.now = play.engine.window_ends + HOUR
    said = play.plan()
    assert said.purposes == {Purpose.DISCOVERY: 3}
    assert said.left_out == {"visited less than min_gap ago": len(URLS)}
    assert said.expected[Unit.BYTES] > 3 * 1000
    assert said.budget[Unit.BYTES] > said.expected[Unit.BYTES]


def test_a_resting_host_is_not_planned() -> None:
    play = Play(project(budget=daily(50_000_000)))
    play.plan()
    play.record(play.visit(), answer(Kind.THROTTLED, 429, retry_after=DAY))
    play.now = play.engine.window_ends + 1
    said = play.plan()
    assert said.keys == [] and said.left_out == {"its host takes no visits now": 1}


def test_the_plan_is_the_same_for_the_same_seed() -> None:
    plans = []
    for _ in range(2):
        play = Play(project(budget=daily(3_000_000)))
        play.crawl_once(SITE)
        play.now = play.engine.window_ends + 9 * HOUR
        play.rng = np.random.Generator(np.random.PCG64(11))
        plans.append(play.plan().keys)
    assert plans[0] == plans[1] and plans[0]


def test_capacity_follows_politeness() -> None:
    play = Play(project(budget=daily(10**9), pace=PaceRules(delay=600.0, jitter=0.0)))
    play.admit(*(f"{ORIGIN}/new/{i}" for i in range(50)))
    play.now = (T0 // HOUR + 1) * HOUR
    said = play.plan()
    assert len(said.keys) == 7  # one at once, then one each ten minutes
    assert said.left_out["its host takes no more visits in this window"] == 44


# the purse


def test_the_purse_counts_each_cap_by_its_own_period() -> None:
    caps = (Cap(Unit.BYTES, 100, "day"), Cap(Unit.BYTES, 1000, "month"), Cap(Unit.FETCHES, 9))
    purse = Purse(Budget(caps, HOUR), (Cap(Unit.BYTES, 5000),), T0)
    starts = purse.started_at(T0)
    assert starts == [T0 // DAY * DAY, caps[1].start(T0, T0), T0, 0.0]
    purse.told([Spend(50, fetches=1), Spend(200, fetches=4), Spend(), Spend(4000)], 0.0)
    purse.add(Spend(25, fetches=1), T0)
    assert purse.spent() == [75, 225, 1, 4025]
    purse.turn(T0 + DAY)
    assert purse.spent() == [0, 225, 1, 4025]
    assert purse.reached() is None
    purse.add(Spend(40, fetches=1), T0 - 2 * DAY)  # lost by an earlier run: no day's but its own
    assert purse.spent() == [0, 265, 1, 4065]
    purse.add(Spend(1000), T0 + DAY)
    assert str(purse.reached()) == "5 kB per run"


def test_what_was_spent_in_an_earlier_run_counts() -> None:
    play = Play(project(budget=daily(1_500_000)))
    play.crawl_once(SITE)
    spent = play.spent().bytes
    assert spent
    play.start()
    play.plan()
    account = play.crawl.window.account
    assert account.left == [1_500_000 - spent]
    assert wire(10).bytes == 10


def test_a_cap_with_nothing_left_beside_one_with_plenty_buys_nothing() -> None:
    """Shadow prices of several caps are looked for only where something can be bought."""
    caps = (Cap(Unit.BYTES, 10**9, "day"), Cap(Unit.FETCHES, 0, "day"))
    said = Play(project(budget=Budget(caps, HOUR))).plan()
    assert said.keys == []
    assert said.reason == "the budget of this window is spent"


def test_a_turned_period_counts_from_nothing_only_what_belongs_to_it() -> None:
    play = Play(project(budget=daily(5_000_000)))
    play.plan()
    lost = play.visit()
    play.now += 3 * DAY
    play.start()
    assert play.engine.purse.spent() == [0]
    assert play.spent() == lost.reserved


def test_an_answer_that_comes_after_midnight_counts_for_the_new_day() -> None:
    play = Play(project(budget=daily(5_000_000)))
    play.now = (T0 // DAY + 1) * DAY - 1
    play.plan()
    visit = play.visit()
    play.now += 5
    play.record(visit, no_robots())
    assert play.engine.purse.spent() == [400]
    play.plan()
    assert play.crawl.window.account.left == [5_000_000 - 400]


def test_a_site_may_have_gaps_of_its_own() -> None:
    """`between` of a [[site]]: no page of it sooner than the one, none later than the other."""
    rules = [
        SiteRule("a.example/slow/*", min_gap=3 * DAY),
        SiteRule("a.example/kept/*", max_gap=DAY / 2),
    ]
    seeds = tuple(f"{ORIGIN}/{kind}/1" for kind in ("slow", "kept", "other"))
    timing = Timing(min_gap=HOUR, max_gap=90 * DAY)
    sites = SiteMatcher(rules)
    play = Play(
        project(
            seeds=seeds, sites=sites, timing=timing, budget=daily(10**9),
            specs=tuple({} for _ in sites.types), shares=Shares(0.0, 1.0, 0.0),
        )
    )  # fmt: skip
    read: dict[str, list[float]] = {seed: [] for seed in seeds}
    for _ in range(4 * 24):
        for url in play.crawl_once(lambda url, visit: ok("always this")):
            if url in read:
                read[url].append(play.now)
        play.now += HOUR
    slow, kept, other = (np.diff(read[seed]) for seed in seeds)
    assert slow.size and slow.min() >= 3 * DAY
    assert kept.max() <= DAY / 2 + 2 * HOUR
    assert other.min() < DAY
