"""Before money is spent: what one pass costs, what binds, and what a budget can keep fresh."""

from __future__ import annotations

import json

import pytest

from engine.harness import ORIGIN, Play, answer, ok, pages, project
from recrawl.engine.forecast import forecast
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Kind
from recrawl.plan.allocate import Pages, even, optimal
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, Unit

PATHS = [f"/{i}" for i in range(9)]
SITE = pages({"/": ok("home", *PATHS, cost=12_000), **{p: ok(p, cost=12_000) for p in PATHS}})


def budget(n: int, unit: Unit = Unit.BYTES, period: str = "day") -> Budget:
    return Budget((Cap(unit, n, period),), HOUR)  # type: ignore[arg-type]


def read(times: int = 12, **changes: object) -> Play:
    """A site of ten pages, read until sizes and rates are known."""
    play = Play(project(**changes), checked=False)
    play.rules = project()
    play.start()
    for _ in range(times):
        play.crawl_once(SITE)
        play.close_pass()
        play.now += DAY
    play.commit(play.engine.stop(play.now))
    play.rules = project(**changes)
    play.start()
    return play


def test_nothing_known_is_no_forecast_and_no_crash() -> None:
    f = forecast(Play(project(seeds=(), budget=budget(10**6))).crawl)
    assert (f.pages, f.read, f.bytes_a_page, f.pass_bytes, f.fresh) == (0, 0, 0.0, 0.0, ())


def test_a_pass_costs_what_its_pages_weigh() -> None:
    f = forecast(read().crawl)
    assert (f.pages, f.read) == (10, 10)
    assert f.bytes_a_page == pytest.approx(12_000, rel=0.05)
    assert f.pass_bytes == pytest.approx(10 * f.bytes_a_page)
    assert f.pass_micro_usd == pytest.approx(f.pass_bytes * 0.008)
    assert f.budget_per_day is None and f.fresh == ()


def test_pages_not_read_yet_are_taken_for_like_those_that_were() -> None:
    play = read()
    before = forecast(play.crawl)
    play.admit(*(f"{ORIGIN}/new/{i}" for i in range(90)))
    after = forecast(play.crawl)
    assert (after.pages, after.read) == (100, 10)
    assert after.pass_bytes == pytest.approx(10 * before.pass_bytes, rel=0.2)


def test_pages_given_up_are_no_part_of_a_pass() -> None:
    play = read()
    gone = {path: answer(Kind.GONE, 410) for path in PATHS[:2]}
    play.crawl_once(lambda url, v: gone.get("/" + url.split("/", 3)[3]) or SITE(url, v))
    assert forecast(play.crawl).pages == 8


def test_politeness_binds_where_there_is_no_budget() -> None:
    play = read(pace=PaceRules(delay=60.0, jitter=0.0))
    play.admit("https://b.example/")
    f = forecast(play.crawl)
    assert f.pass_seconds == 600.0
    assert f.slowest_host == ORIGIN
    assert f.binds == f"politeness: {ORIGIN} takes longest"


def test_nothing_binds_where_nothing_does() -> None:
    assert forecast(read().crawl).binds.startswith("nothing:")


def test_origins_of_one_hostname_share_its_pace() -> None:
    play = Play(project(pace=PaceRules(delay=10.0, jitter=0.0)))
    play.admit(*(f"http://a.example/{i}" for i in range(9)), "https://b.example/")
    assert forecast(play.crawl).pass_seconds == 100.0


def test_concurrency_is_no_way_around_a_delay() -> None:
    play = read(pace=PaceRules(delay=60.0, concurrency=8, jitter=0.0))
    assert forecast(play.crawl).pass_seconds == 600.0


@pytest.mark.parametrize(
    ("amount", "delay", "binds"),
    [(12_000, 1.0, "money: the cap of 12 kB per day pays one pass in 10.0 days"),
     (10**9, 3600.0, f"politeness: {ORIGIN} can't be asked faster")],
)  # fmt: skip
def test_what_binds_is_what_takes_longer(amount: int, delay: float, binds: str) -> None:
    f = forecast(read(budget=budget(amount), pace=PaceRules(delay=delay, jitter=0.0)).crawl)
    assert f.binds.startswith(binds.split(" in ", maxsplit=1)[0])
    if "pays" in binds:
        assert float(f.binds.split(" in ")[1].split()[0]) == pytest.approx(10.0, rel=0.06)


def test_the_tightest_of_several_caps_is_the_one_that_is_named() -> None:
    caps = (Cap(Unit.BYTES, 10**9, "day"), Cap(Unit.FETCHES, 5, "day"))
    f = forecast(read(budget=Budget(caps, HOUR)).crawl)
    assert f.unit == "fetches" and f.budget_per_day == 5
    assert f.binds == "money: the cap of 5 fetches per day pays one pass in 2.0 days"


def test_a_cap_for_the_run_is_no_steady_budget() -> None:
    f = forecast(read(budget=budget(10**6, period="run")).crawl)
    assert f.budget_per_day is None


@pytest.mark.parametrize(
    ("period", "days"), [("hour", 1 / 24), ("day", 1), ("week", 7), ("month", 30)]
)
def test_periods_are_put_on_a_day(period: str, days: float) -> None:
    f = forecast(read(1, budget=budget(840_000, period=period)).crawl)
    assert f.budget_per_day == pytest.approx(840_000 / days)


def test_freshness_is_that_of_the_allocation_at_half_once_and_twice() -> None:
    play = read(budget=budget(24_000))
    f = forecast(play.crawl)
    assert [at.times for at in f.fresh] == [0.5, 1.0, 2.0]
    rows = play.crawl.mirror.rows
    a, b = play.crawl.prior.complete(*(rows[k] for k in ("a", "b", "host_id", "page_type")))
    rate = a / b
    each = Pages.of(rate, 1.0, f.bytes_a_page)
    for at in f.fresh:
        a_second = 24_000 * at.times / DAY
        assert at.best == pytest.approx(optimal(each, a_second).freshness, rel=1e-3)
        assert at.even == pytest.approx(even(each, a_second).freshness, rel=1e-3)
    assert f.fresh[0].best < f.fresh[1].best < f.fresh[2].best <= 1.0
    assert all(at.even <= at.best + 1e-9 for at in f.fresh)


def test_money_is_counted_in_the_caps_unit() -> None:
    f = forecast(
        read(
            budget=budget(96, Unit.USD),
            tariffs={"direct": Tariff("proxy", Unit.BYTES, 0.008)},
        ).crawl
    )
    assert f.unit == "micro_usd"
    assert float(f.binds.split(" in ")[1].split()[0]) == pytest.approx(10.0, rel=0.06)


def test_a_cap_of_nothing_is_said_not_divided_by() -> None:
    f = forecast(read(1, budget=budget(0)).crawl)
    assert f.fresh == ()
    assert "0 B per day" in f.binds and "nothing" in f.binds


def test_it_goes_into_json() -> None:
    for b in (Budget(), budget(24_000), budget(0)):
        told = forecast(read(1, budget=b).crawl).as_dict()
        assert json.loads(json.dumps(told, allow_nan=False))["pages"] == 10
