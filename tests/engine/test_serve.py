"""next(now): robots.txt first, politeness always, and never more promised than there is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    robots,
    wire,
)
from recrawl.frontier.politeness import PaceRules
from recrawl.frontier.queues import Order
from recrawl.model import Kind, Limits, Purpose, Refused, State, Visit, Wait
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, MINUTE, Unit

# robots.txt


def test_robots_txt_comes_before_anything_else_of_a_host(play: Play) -> None:
    play.admit("https://b.example/x")
    play.plan()
    first, second = play.visit(), play.visit()
    assert {first.request.url, second.request.url} == {
        f"{ORIGIN}/robots.txt", "https://b.example/robots.txt",
    }  # fmt: skip
    assert first.purpose is second.purpose is Purpose.ROBOTS
    assert isinstance(play.next(), Wait), "their pages wait for the answers"
    play.record(first, no_robots())
    assert play.visit().host_id == first.host_id


def test_robots_txt_is_read_once_a_day(play: Play) -> None:
    site = pages({"/robots.txt": robots("User-agent: *\nDisallow: /x\n"), "/": ok("home")})
    for hours in range(0, 72, 6):
        play.now = T0 + hours * HOUR
        play.crawl_once(site)
        play.close_pass()
    asked = [e.t for e in play.entries() if e.purpose is Purpose.ROBOTS]
    assert [round((t - T0) / HOUR) for t in asked] == [0, 24, 48]


@pytest.mark.parametrize("hours", [1, 24, 48])
def test_robots_txt_is_read_once_in_a_window_however_long(hours: int) -> None:
    budget = Budget((Cap(Unit.BYTES, 2_000_000, "run"),), hours * HOUR)
    play = Play(project(budget=budget))
    play.now = (T0 // (hours * HOUR) + 1) * hours * HOUR
    site = pages({"/robots.txt": no_robots(), "/": ok("home", "/a", "/b")})
    play.crawl_once(site)
    play.now += 600
    play.crawl_once(site)
    assert sum(e.purpose is Purpose.ROBOTS for e in play.entries()) == 1


def test_rules_about_to_expire_are_read_while_the_window_has_money_for_them() -> None:
    """A spent budget can't bear the worst of a robots.txt, and no page is read without it."""
    play = Play(project(budget=Budget((Cap(Unit.BYTES, 180_000, "run"),), HOUR)))
    play.admit(f"{ORIGIN}/a", f"{ORIGIN}/b")
    opened = (T0 // HOUR + 1) * HOUR
    play.now = opened + HOUR / 2
    play.crawl_once(pages({"/robots.txt": no_robots(), "/a": ok("a"), "/b": ok("b")}))
    play.now = opened + DAY + 60  # a cron job: the rules expire half an hour after it began
    play.plan()
    assert play.visit().purpose is Purpose.ROBOTS


def test_what_robots_txt_forbids_is_put_aside_and_counted(play: Play) -> None:
    site = {"/robots.txt": robots("User-agent: recrawl\nDisallow: /no\n"),
            "/": ok("home", "/no/1", "/no/2", "/yes")}  # fmt: skip
    seen = play.crawl_once(pages({**site, "/yes": ok("yes")}))
    assert seen == [f"{ORIGIN}/robots.txt", f"{ORIGIN}/", f"{ORIGIN}/yes"]
    page = play.page("/no/1")
    assert page.state is State.REFUSED and not page.last_attempt
    assert page.retry_at > play.now
    assert play.refused() == {Refused.ROBOTS.value: 2}


def test_a_page_refused_by_robots_txt_comes_back_when_it_is_allowed(play: Play) -> None:
    site = {"/robots.txt": robots("User-agent: *\nDisallow: /no\n"), "/": ok("home", "/no")}
    play.crawl_once(pages(site))
    play.close_pass()
    play.now += 8 * DAY
    seen = play.crawl_once(pages({"/": ok("home"), "/no": ok("allowed now")}))
    assert f"{ORIGIN}/no" in seen
    assert play.page("/no").state is State.LIVE


def test_disobedience_is_the_users_own_choice() -> None:
    play = Play(project(obey_robots=False))
    assert play.crawl_once(pages({"/": ok("home")})) == [f"{ORIGIN}/"]


@pytest.mark.parametrize("kind", [Kind.SERVER_ERROR, Kind.TIMEOUT, Kind.DNS_ERROR, Kind.TLS_ERROR])
def test_a_host_whose_robots_txt_cannot_be_read_is_left_alone(play: Play, kind: Kind) -> None:
    site = pages({"/": ok("home")})
    status = 500 if kind is Kind.SERVER_ERROR else 0
    play.plan()
    play.record(play.visit(), answer(kind, status))
    assert isinstance(play.next(), Wait)
    assert play.store.load_hosts()[0].note
    play.now += 2 * MINUTE
    assert play.crawl_once(site, patience=HOUR)[:2] == [f"{ORIGIN}/robots.txt", f"{ORIGIN}/"]
    assert not play.store.load_hosts()[0].note


def test_hops_of_robots_txt_are_visits_of_their_own_and_end(play: Play) -> None:
    play.plan()
    for i in range(6):
        visit = play.visit()
        assert visit.purpose is Purpose.ROBOTS
        play.now += 1
        play.record(visit, moved(f"https://a.example/r{i}"))
    assert play.visit().request.url == f"{ORIGIN}/", "after five redirects there are no rules"
    assert len(play.entries()) == 6


def test_crawl_delay_of_robots_txt_is_kept() -> None:
    play = Play(project(pace=PaceRules(delay=1.0, jitter=0.0)))
    site = pages({"/robots.txt": robots("User-agent: *\nCrawl-delay: 30\n"),
                  "/": ok("home", "/a", "/b"), "/a": ok("a"), "/b": ok("b")})  # fmt: skip
    play.crawl_once(site, patience=HOUR)
    times = [e.t for e in play.entries()]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert len(gaps) == 3 and all(gap >= 29.9 for gap in gaps[1:])


# politeness


def test_one_hostname_has_one_pace_whatever_scheme_and_port() -> None:
    play = Play(project(pace=PaceRules(delay=10.0, concurrency=1, jitter=0.0)))
    play.admit("http://a.example/", "https://a.example:8443/")
    play.plan()
    visits: list[tuple[float, str]] = []

    def site(url: str, visit: Visit) -> Any:
        visits.append((play.now, url))
        return no_robots() if url.endswith("robots.txt") else ok(url)

    play.serve(site, patience=MINUTE)
    assert len(visits) == 6
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(visits)]
    assert min(gaps) >= 9.99


def test_never_more_at_once_than_allowed() -> None:
    play = Play(project(pace=PaceRules(delay=0.0, concurrency=2, jitter=0.0)))
    play.admit(*(f"{ORIGIN}/{i}" for i in range(9)))
    play.plan()
    play.record(play.visit(), no_robots())
    out = [play.visit(), play.visit()]
    waiting = play.next()
    assert isinstance(waiting, Wait) and waiting.until == math.inf
    play.record(out[0], ok("x"))
    assert isinstance(play.next(), Visit)


@pytest.mark.parametrize("order", list(Order))
def test_new_pages_come_in_the_order_asked_for(order: Order) -> None:
    play = Play(project(order=order, pace=PaceRules(delay=0.0, concurrency=1)))
    site = {"/": ok("", "/a", "/b"), "/a": ok("", "/a/1"), "/b": ok(""), "/a/1": ok("")}
    seen = play.crawl_once(pages(site))[1:]
    expected = {
        Order.FIFO: ["/", "/a", "/b", "/a/1"],
        Order.LIFO: ["/", "/b", "/a", "/a/1"],
        Order.PRIORITY: ["/", "/a", "/b", "/a/1"],
    }[order]
    assert [url.removeprefix(ORIGIN) for url in seen] == expected


def test_hosts_take_turns(play: Play) -> None:
    play.admit(*(f"{ORIGIN}/{i}" for i in range(20)), "https://b.example/")
    play.plan()
    seen = play.serve(pages({"/": ok("")}))
    assert seen.index("https://b.example/") < 4


# money


def test_a_visit_is_promised_at_its_worst(play: Play) -> None:
    play.rules = project(limits=Limits(body=100_000, head=5_000, total=7.0))
    play.start()
    play.plan()
    play.record(play.visit(), no_robots())
    visit = play.visit()
    assert visit.request.limits.body == 100_000
    assert visit.reserved.bytes >= 100_000 * 9 // 8 + 5_000 + len(visit.request.url)
    assert visit.reserved.fetches == 1
    assert visit.reserved.millis == 7_000
    assert visit.reserved.micro_usd == math.ceil(visit.reserved.bytes * 0.008)
    (promise,) = play.store.open_reservations()
    assert promise.reserved == visit.reserved and promise.lease == visit.lease


def test_caps_are_tightened_until_the_promise_fits() -> None:
    play = Play(project(totals=(Cap(Unit.BYTES, 400_000),)))
    play.plan()
    visit = play.visit()
    assert visit.request.limits.body < 512_000, "robots.txt too"
    play.record(visit, no_robots())
    page = play.visit()
    assert 65_536 <= page.request.limits.body < 8_000_000
    assert page.reserved.bytes <= 400_000 - play.spent().bytes


def test_what_is_promised_to_others_comes_back() -> None:
    play = Play(project(totals=(Cap(Unit.BYTES, 300_000),)))
    play.admit(*(f"{ORIGIN}/{i}" for i in range(3)))
    play.plan()
    play.record(play.visit(), no_robots())
    out = play.visit()
    found = play.next()
    while isinstance(found, Visit):
        last, found = found, play.next()
        play.record(last, ok("small"))
    assert found.until == math.inf and "promised" in found.reason
    assert play.crawl.flights
    play.record(out, ok("small"))
    assert isinstance(play.next(), Visit), "what it didn't use"


def test_what_can_never_be_afforded_is_dropped_not_asked_for_ever() -> None:
    play = Play(project(totals=(Cap(Unit.BYTES, 110_000),)))
    seen = play.crawl_once(pages({"/": ok("", *(f"/{i}" for i in range(30)))}))
    assert len(seen) < 30
    assert play.crawl.window.unaffordable > 0
    assert play.plan().keys == []
    assert play.spent().bytes <= 160_000


def test_a_page_found_while_a_window_is_spent_waits_for_the_next() -> None:
    """What the plan leaves over is for it; else the next plan weighs it against all others."""
    play = Play(project(budget=Budget((Cap(Unit.FETCHES, 48, "day"),), HOUR)))
    play.now = (T0 // DAY + 1) * DAY
    play.crawl_once(pages({"/": ok("", *(f"/{i}" for i in range(9)))}))
    assert play.spent().fetches == 2
    play.now = play.engine.window_ends
    assert len(play.crawl_once(pages({}))) == 2


def test_no_window_no_visit(play: Play) -> None:
    assert play.next() == Wait(math.inf, "the window is over")
    play = Play(project(budget=Budget((Cap(Unit.BYTES, 10**9, "day"),), HOUR)))
    play.plan()
    play.now = play.engine.window_ends
    assert play.next() == Wait(math.inf, "the window is over")


UNITS = {
    Unit.BYTES: 3_000_000,
    Unit.USD: 30_000,
    Unit.FETCHES: 9,
    Unit.CREDITS: 12_000_000,
    Unit.SECONDS: 600_000,
}


@settings(max_examples=40, deadline=None)
@given(
    unit=st.sampled_from(list(UNITS)),
    amount=st.floats(0.001, 1.0),
    shares=st.lists(st.floats(0.0, 1.0), min_size=40, max_size=40),
    order=st.lists(st.integers(0, 99), min_size=40, max_size=40),
)
def test_no_cap_is_exceeded_in_any_order_of_answers(
    unit: Unit, amount: float, shares: list[float], order: list[int]
) -> None:
    """Each answer costs a share of what was promised, up to all of it; answers come shuffled."""
    cap = Cap(unit, round(UNITS[unit] * amount))
    tariff = (
        Tariff("api", Unit.CREDITS, 200.0)
        if unit is Unit.CREDITS
        else Tariff("direct", Unit.BYTES, 0.008)
    )
    play = Play(project(totals=(cap,), tariffs={"direct": tariff}))
    play.admit(*(f"{ORIGIN}/{i}" for i in range(30)), *(f"https://b.example/{i}" for i in "ab"))
    play.plan()
    out: list[Visit] = []
    for share, pick in zip(shares, order, strict=True):
        play.now += 0.01
        found = play.next()
        if isinstance(found, Visit):
            out.append(found)
        if not out or (isinstance(found, Visit) and pick % 3):
            continue
        visit = out.pop(pick % len(out))
        cost = wire(max(1, int(visit.reserved.bytes * share)))
        what = no_robots() if visit.purpose is Purpose.ROBOTS else ok("x")
        kind = what if pick % 5 else answer(Kind.CAPPED, 200)
        play.record(visit, _costing(kind, cost, visit.request.limits.total * share))
    promised = sum(v.reserved.get(unit) for v in out)
    assert play.spent().get(unit) + promised <= cap.amount


def _costing(outcome: Any, cost: Any, seconds: float) -> Any:
    from dataclasses import replace

    return replace(outcome, cost=replace(cost, seconds=seconds))


def test_the_next_lease_is_new_after_a_restart(play: Play) -> None:
    play.plan()
    first = play.visit().lease
    play.now += 0.5
    play.start()
    play.plan()
    assert play.visit().lease > first
