"""Pages whose worst case is above a cap: counted, named, and never served."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.harness import ORIGIN, Play, no_robots, ok, pages, project
from recrawl.engine.explain import explain
from recrawl.engine.unaffordable import beyond_caps, need_of, unaffordable
from recrawl.model import Visit
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.tariff import Tariff
from recrawl.units import HOUR, MICRO, Spend, Unit
from recrawl.urls.match import SiteMatcher, SiteRule


def read(size: int, cap: Cap | None = None, **more: object) -> Play:
    """A home page of 2 kB and one of `size` bytes, read without a cap; then the cap is set."""
    site = pages({"/": ok("home", "/big"), "/big": ok("x" * size, cost=size + 1_000)})
    play = Play(project(**more))
    play.crawl_once(site)
    play.close_pass()
    if cap is not None:
        play.rules = project(budget=Budget((cap,), HOUR), **more)
    play.now += 2 * HOUR
    play.start()
    return play


def need(play: Play, path: str) -> str:
    page = play.page(path)
    return str(need_of(play.crawl, play.crawl.hosts[page.host_id], page) or "")


def test_a_page_above_the_cap_is_counted_and_named_with_what_it_needs() -> None:
    play = read(2_000_000, Cap(Unit.BYTES, 1_000_000, "day"))
    found = unaffordable(play.crawl, play.store.load_pages)
    ((url, what),) = found.named
    assert (found.pages, url) == (1, f"{ORIGIN}/big")
    worst = what.worst.get(Unit.BYTES)
    assert worst > 1.25 * 1.125 * 1_000_000  # half of the way to its size is believed
    assert str(what) == f"needs {worst / 1e6:.3g} MB a visit; the cap is 1 MB per day"
    (told,) = found.as_dict()["named"]
    assert (told["unit"], told["needs"], told["cap"]) == ("bytes", worst, 1_000_000)
    page = play.page("/big")
    why = explain(play.crawl, f"{ORIGIN}/big", page, [], {}, play.now)
    assert why.answer == f"not visited: it {what}"
    home = explain(play.crawl, f"{ORIGIN}/", play.page("/"), [], {}, play.now)
    assert home.unaffordable == "" and "needs" not in home.answer


@pytest.mark.parametrize("cap", [None, Cap(Unit.BYTES, 20_000_000, "day")])
def test_where_a_cap_can_cover_it_nothing_is_said(cap: Cap | None) -> None:
    play = read(2_000_000, cap)
    assert unaffordable(play.crawl, play.store.load_pages).pages == 0
    assert need(play, "/big") == ""


def test_a_charge_above_the_cap_bars_every_page() -> None:
    api = Tariff("api", Unit.CREDITS, charge_header="x", charge_max=25.0)
    play = read(1_000, Cap(Unit.CREDITS, 20 * MICRO, "day"), tariffs={"direct": api})
    assert beyond_caps(play.crawl).size == 2
    assert need(play, "/") == "needs 25 credits a visit; the cap is 20 credits per day"


def test_a_cap_below_robots_txt_bars_every_page_of_its_host() -> None:
    """It is read before anything else, with room for 64 KiB at least."""
    cap = Cap(Unit.BYTES, 80_000, "day")
    assert beyond_caps(read(1_000, cap).crawl).size == 2
    assert beyond_caps(read(1_000, cap, obey_robots=False).crawl).size == 0


@settings(max_examples=40, deadline=None)
@given(size=st.integers(1_000, 400_000), cap=st.integers(1_000, 600_000))
def test_what_is_said_to_be_beyond_is_never_served_and_all_else_is(size: int, cap: int) -> None:
    """Said of a page if and only if a full period's cap doesn't let it start."""
    play = read(size, Cap(Unit.BYTES, cap, "day"), obey_robots=False)
    play.now += 86_400 - play.now % 86_400 + 86_400 - HOUR  # the last window of a day
    said = {p for p in ("/", "/big") if need(play, p)}
    counted = beyond_caps(play.crawl)
    rows = play.crawl.mirror.rows[counted]
    assert set(rows["key"].tolist()) <= {play.page(p).key for p in said}
    served = set()
    play.plan()
    while isinstance(visit := play.next(), Visit):
        served.add(visit.request.url.removeprefix(ORIGIN))
        play.record(visit, no_robots())  # 404s, which cost next to nothing
        play.crawl.window.account.spent = Spend()
    assert served == {"/", "/big"} - said


def test_the_mode_of_a_page_decides_what_it_needs() -> None:
    """By browser a visit takes 5 credits, on another host's tariff there is no such mode."""
    api = Tariff("api", Unit.CREDITS, 0.0, {"plain": 1.0, "browser": 5.0})
    rules = [
        SiteRule("a.example/big", mode="browser"),
        SiteRule("b.example", route="plain"),
    ]
    play = read(
        1_000,
        Cap(Unit.CREDITS, 4 * MICRO, "day"),
        sites=SiteMatcher(rules),
        specs=({}, {}),
        tariffs={"direct": api, "plain": Tariff("plain", Unit.CREDITS)},
        site_routes={"b.example": {None: "plain"}},
    )
    play.admit("https://b.example/")
    (row,) = beyond_caps(play.crawl)
    assert play.crawl.mirror.rows["key"][row] == play.page("/big").key
    assert need(play, "/big") == "needs 5 credits a visit; the cap is 4 credits per day"
