"""Every start: what was in flight is booked, hosts wait out their delay, a clock may step back."""

from __future__ import annotations

import json

import pytest

from engine.harness import ORIGIN, T0, Play, answer, no_robots, ok, pages, project, read_twice
from recrawl.engine.boot import LEARNED, learned_meta
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Kind, Purpose, State, Verdict, Visit, Wait
from recrawl.plan.budget import Budget, Cap
from recrawl.units import DAY, HOUR, WEEK, Spend, Unit


def test_what_was_in_flight_is_booked_as_unknown_at_the_reserved_price(play: Play) -> None:
    play.plan()
    play.record(play.visit(), no_robots())
    play.now += 1
    lost = play.visit()
    before = play.page("/")
    play.now += 5
    play.start()
    entry = play.entries()[-1]
    assert (entry.verdict, entry.spend, entry.purpose) == (
        Verdict.UNKNOWN, lost.reserved, Purpose.DISCOVERY,
    )  # fmt: skip
    assert (entry.host_id, entry.key, entry.kind) == (lost.host_id, lost.key, "unknown")
    assert entry.t == play.now - 5
    assert entry.up + entry.down == lost.reserved.bytes
    assert play.page("/") == before, "nothing is known of the page"
    assert play.store.open_reservations() == []


def test_it_is_booked_once_however_often_one_starts(play: Play) -> None:
    play.plan()
    lost = play.visit()
    for _ in range(3):
        play.now += 1
        play.start()
    assert play.spent() == lost.reserved
    assert [e.verdict for e in play.entries()] == [Verdict.UNKNOWN]


def test_what_was_lost_counts_against_the_budget() -> None:
    play = Play(project(totals=(Cap(Unit.FETCHES, 2),)))
    play.plan()
    play.visit()
    play.now += 1
    play.start()
    assert len(play.crawl_once(pages({"/": ok("home")}))) == 1
    assert play.plan().limit_reached


def test_a_lost_page_is_visited_by_the_next_run(play: Play) -> None:
    play.plan()
    play.record(play.visit(), no_robots())
    play.visit()
    play.now += 60
    play.start()
    assert play.crawl_once(pages({"/": ok("home")})) == [f"{ORIGIN}/"]


def test_the_delay_holds_across_a_restart() -> None:
    play = Play(project(pace=PaceRules(delay=30.0, jitter=0.0)))
    play.plan()
    play.visit()
    sent = play.now
    play.now += 1
    play.start()
    play.plan()
    waiting = play.next()
    assert waiting == Wait(sent + 30.0, "no host is ready")
    play.now = waiting.until
    assert isinstance(play.next(), Visit)


@pytest.mark.parametrize("order", [("https", "http"), ("http", "https")])
def test_the_delay_of_a_hostname_holds_for_all_its_origins(order: tuple[str, str]) -> None:
    """The one that was asked last counts, wherever it stands in the store."""
    seeds = tuple(f"{scheme}://a.example/" for scheme in order)
    play = Play(project(seeds=seeds, pace=PaceRules(delay=30.0, jitter=0.0)))
    play.plan()
    play.visit()
    sent = play.now
    play.start()
    play.plan()
    found = play.next()
    assert isinstance(found, Wait) and found.until == sent + 30.0


def test_a_pause_that_a_host_asked_for_holds_across_a_restart(play: Play) -> None:
    play.plan()
    play.record(play.visit(), no_robots())
    play.record(play.visit(), answer(Kind.THROTTLED, 429, retry_after=3600.0))
    play.now += 10
    play.start()
    play.admit(f"{ORIGIN}/a")
    play.plan()
    found = play.next()
    assert isinstance(found, Wait) and found.until == pytest.approx(T0 + 3600, abs=1)


def test_a_clock_that_stepped_back_holds_nobody_for_long() -> None:
    play = Play(project(pace=PaceRules(delay=2.0, jitter=0.0)))
    play.crawl_once(pages({"/": ok("home", "/a"), "/a": ok("a")}), patience=HOUR)
    play.now -= 365 * DAY
    play.start()
    host = next(iter(play.crawl.hosts.values()))
    assert host.next_ok <= play.now + 2.0
    play.admit(f"{ORIGIN}/b")
    assert f"{ORIGIN}/b" in play.crawl_once(pages({"/b": ok("b")}), patience=HOUR)


def test_a_clock_that_stepped_back_forgets_no_page_for_ever() -> None:
    play = Play()
    site = {"/": ok("home", "/gone"), "/gone": answer(Kind.GONE, 410)}
    play.crawl_once(pages(site))
    play.now -= 365 * DAY
    play.start()
    play.close_pass()
    assert set(play.crawl_once(pages(site))) >= {f"{ORIGIN}/"}
    play.now += 61 * DAY
    play.close_pass()
    assert f"{ORIGIN}/gone" in play.crawl_once(pages(site))


def test_what_groups_taught_comes_back_to_the_last_digit(play: Play) -> None:
    n = iter(range(100))
    read_twice(play, lambda url, v: no_robots() if "robots" in url else ok(f"{next(n)}", "/a"))
    play.commit(play.engine.stop(play.now))
    told = json.loads(play.store.meta()[LEARNED])
    assert told["prior"]["groups"]
    play.start()
    assert json.loads(learned_meta(play.crawl)) == told


def test_when_the_project_began_to_spend_is_kept() -> None:
    play = Play(project(budget=Budget((Cap(Unit.BYTES, 10**9, "month"),), HOUR)))
    assert float(play.store.meta()["since"]) == T0
    play.now += WEEK
    play.start()
    assert float(play.store.meta()["since"]) == T0
    assert play.engine.purse.since == T0


def test_nothing_of_the_store_is_needed_for_a_first_start() -> None:
    play = Play(project(seeds=()))
    assert (play.crawl.mirror.n, play.spent()) == (0, Spend())
    assert State.NEW not in [p.state for p in play.store.iter_pages()]
