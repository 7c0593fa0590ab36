"""Credits that the vendor tells: reserved, booked, learned, never beyond a cap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.harness import ORIGIN, Play, answer, no_robots, ok, pages, project, wire
from recrawl.engine.boot import TOLD
from recrawl.model import Kind, Outcome, Purpose, Verdict, Visit
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.charges import told_of
from recrawl.plan.tariff import Tariff
from recrawl.report import charge_alerts
from recrawl.units import MICRO, Unit
from recrawl.urls.match import SiteMatcher, SiteRule

API = Tariff("api", Unit.CREDITS, 500.0, charge_header="x-credits")


def told(outcome: Outcome, charge: object) -> Outcome:
    return replace(outcome, headers=(*outcome.headers, ("x-credits", str(charge))))


@settings(max_examples=60, deadline=None)
@given(
    most=st.integers(1, 30),
    caps=st.tuples(st.integers(1, 200), st.integers(500, 40_000), st.integers(1, 40)),
    charges=st.lists(st.floats(0.0, 1.0), min_size=50, max_size=50),
    order=st.lists(st.integers(0, 99), min_size=50, max_size=50),
)
def test_no_cap_is_exceeded_by_told_charges_up_to_charge_max(
    most: int, caps: tuple[int, int, int], charges: list[float], order: list[int]
) -> None:
    """Credits, money and fetches bind together; answers and failures come in any order."""
    amount, micro_usd, fetches = caps
    limits = (
        Cap(Unit.CREDITS, amount * MICRO, "day"),
        Cap(Unit.USD, micro_usd, "day"),
        Cap(Unit.FETCHES, fetches),
    )
    api = replace(API, charge_max=float(most))
    play = Play(project(budget=Budget(limits[:1]), totals=limits[1:], tariffs={"direct": api}))
    play.admit(*(f"{ORIGIN}/{i}" for i in range(30)), *(f"https://b.example/{i}" for i in "ab"))
    play.now += 20 * 3600  # most of the day's credits may be spent
    play.plan()
    out: list[Visit] = []
    for share, pick in zip(charges, order, strict=True):
        play.now += 0.01
        found = play.next()
        if isinstance(found, Visit):
            out.append(found)
        if not out or (isinstance(found, Visit) and pick % 3):
            continue
        visit = out.pop(pick % len(out))
        what = no_robots() if visit.purpose is Purpose.ROBOTS else ok("x")
        if not pick % 5:
            what = answer(Kind.CAPPED, 200, cost=wire(500))
        play.record(visit, told(what, 1.0 if share > 0.9 else share * most))
    for cap in limits:
        promised = sum(v.reserved.get(cap.unit) for v in out)
        assert play.spent().get(cap.unit) + promised <= cap.amount


def crawled(*charges: object, **more: Any) -> Play:
    """A site whose pages /0, /1, ... were visited once, at these charges."""
    site = {f"/{i}": told(ok("x"), c) for i, c in enumerate(charges)}
    play = Play(project(seeds=(f"{ORIGIN}/0",), tariffs={"direct": replace(API, **more)}))
    play.admit(*(f"{ORIGIN}{path}" for path in site))
    play.crawl_once(pages(site))
    return play


def test_the_largest_charge_told_is_promised_next_and_survives_a_kill() -> None:
    play = crawled(3, 25, 7)
    play.close_pass()
    play.now += 3_600
    play.start()  # as after a kill: nothing was saved on the way out
    play.plan()
    assert play.visit().reserved.microcredits == 25 * MICRO


def test_with_charge_max_that_is_promised() -> None:
    play = crawled(3, charge_max=10.0)
    play.close_pass()
    play.now += 3_600
    play.plan()
    assert play.visit().reserved.microcredits == 10 * MICRO
    assert not list(charge_alerts(_told(play), {"api": API}))


def test_a_charge_above_its_promise_is_booked_and_raises_an_alert() -> None:
    play = crawled(25, charge_max=10.0)
    (line,) = (e for e in play.entries() if e.verdict is Verdict.NEW)
    assert (line.spend.microcredits, line.source) == (25 * MICRO, "vendor")
    assert "the vendor took 25 credits, more than the 10 credits promised" in line.evidence
    (alert,) = charge_alerts(_told(play), {"api": replace(API, charge_max=10.0)})
    assert (alert.kind, alert.subject) == ("charge", "tariff.api")
    assert "took 25 credits for a visit promised at 10 credits (1 such visit" in alert.sentence
    assert "charge_max = 25" in alert.next_step
    assert not list(charge_alerts(_told(play), {"api": replace(API, charge_max=25.0)}))


def _told(play: Play) -> Any:
    return told_of(play.store.meta().get(TOLD))


@pytest.mark.parametrize("restart", [False, True])
def test_told_charges_become_the_price_of_pages_like_it(restart: bool) -> None:
    budget = Budget((Cap(Unit.CREDITS, 10_000 * MICRO, "day"),))
    dear = {f"/{i}": told(ok("x"), 20) for i in range(4)}
    play = Play(project(seeds=(f"{ORIGIN}/0",), budget=budget, tariffs={"direct": API}))
    play.admit(*(f"{ORIGIN}{path}" for path in dear))
    play.crawl_once(pages(dear))
    if restart:
        play.commit(play.engine.stop(play.now))
        play.start()
    play.now += 43_200  # robots.txt still holds
    play.plan()
    price = play.visit().price
    mean = (3 * (3 * 1 + 4 * 20) / 7 + 4 * 20) / 7
    assert price == pytest.approx(mean * MICRO, rel=0.02)


BROWSER = "https://a.example/app/"


def by_browser(**more: Any) -> Play:
    """A host whose /app/ pages are rendered by the vendor at 5 credits, all others at 1."""
    api = Tariff("api", Unit.CREDITS, 500.0, {"plain": 1.0, "browser": 5.0})
    return Play(
        project(
            seeds=(f"{ORIGIN}/", f"{BROWSER}1"),
            sites=SiteMatcher([SiteRule("a.example/app/*", mode="browser")]),
            specs=({}, {}),
            tariffs={"direct": api, "api": api},
            default_route="api",
            mode_headers={("api", "browser"): ("X-Render", "true")},
            **more,
        )
    )


def test_a_visit_by_browser_is_reserved_handed_on_and_booked_as_one() -> None:
    play = by_browser()
    play.plan()
    seen: dict[str, Visit] = {}
    while isinstance(visit := play.next(), Visit):
        seen[visit.request.url] = visit
        play.record(visit, no_robots() if visit.purpose is Purpose.ROBOTS else ok("x"))
        play.now += 1
    assert seen[f"{BROWSER}1"].request.headers == (("X-Render", "true"),)
    assert seen[f"{BROWSER}1"].reserved.microcredits == 5 * MICRO
    assert seen[f"{ORIGIN}/"].request.headers == seen[f"{ORIGIN}/robots.txt"].request.headers == ()
    assert seen[f"{ORIGIN}/"].reserved.microcredits == MICRO
    assert [e.spend.microcredits for e in play.entries() if e.key and e.page_type] == [5 * MICRO]
    assert play.spent().microcredits == 7 * MICRO  # robots.txt too


def test_a_page_by_browser_is_planned_at_its_price() -> None:
    play = by_browser(budget=Budget((Cap(Unit.CREDITS, 10_000 * MICRO, "day"),)))
    site = pages({"/": ok("x"), "/app/1": ok("x")})
    play.crawl_once(site)
    play.now += 43_200
    play.plan()
    prices = {v.request.url: v.price for v in (play.visit(), play.visit())}
    assert prices[f"{BROWSER}1"] / prices[f"{ORIGIN}/"] == pytest.approx(5.0)
