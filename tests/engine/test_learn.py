"""What a visit teaches: rates from second readings, validators from conditional answers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.harness import Play, answer, no_robots, ok, pages, project, read_twice
from recrawl.engine.learn import handshake_bytes
from recrawl.engine.scheme import price_book
from recrawl.learn.rate import update
from recrawl.model import Kind, Outcome, Visit, WireCost
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, Unit


def twice(first: Outcome, second: Outcome, play: Play, after: float = DAY) -> None:
    read_twice(play, pages({"/": first}), after=after)
    play.close_pass()
    play.now += after
    play.crawl_once(pages({"/": second}))


def test_a_first_reading_teaches_no_rate(play: Play) -> None:
    play.crawl_once(pages({"/": ok("one", etag='"1"')}))
    page = play.page("/")
    assert (page.a, page.b, page.va, page.vb) == (0.0, 0.0, 0.0, 0.0)
    assert play.crawl.prior.to_dict()["groups"] == []


@pytest.mark.parametrize("changed", [True, False])
def test_the_second_reading_moves_the_prior_by_the_update(play: Play, changed: bool) -> None:
    play.crawl_once(pages({"/": ok("one")}))
    prior = play.crawl.prior.belief(1, 0)
    first = play.page("/").last
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": ok("two" if changed else "one")}))
    page = play.page("/")
    tau = page.last - first
    stored = update(*prior, tau, True) if changed else (0.0, tau)  # seen unchanged so long
    assert (page.a, page.b) == pytest.approx(stored)
    assert (play.crawl.prior.belief(1, 0)[1] < prior[1]) is changed, "its group learns too"


def test_only_conditional_answers_speak_of_the_validator(play: Play) -> None:
    twice(ok("one"), ok("two"), play)
    page = play.page("/")
    assert (page.va, page.vb) == (0.0, 0.0)
    assert play.crawl.validators.to_dict()["groups"] == []
    assert play.store.load_hosts()[0].n_validator == 0


@pytest.mark.parametrize(
    ("again", "kept"),
    [
        (answer(Kind.NOT_MODIFIED, 304), True),
        (ok("one", etag='"2"'), False),  # the page says the same, its validator does not
        (ok("two", etag='"2"'), False),
    ],
    ids=["304", "same", "changed"],
)
def test_the_validator_is_judged_by_what_it_answers(
    play: Play, again: Outcome, kept: bool
) -> None:
    play.crawl_once(pages({"/": ok("one", etag='"1"')}))
    first = play.page("/").last
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": again}))
    page, host = play.page("/"), play.store.load_hosts()[0]
    prior = play.crawl.validators.belief(1, 0)  # its group's, this very answer taken in
    tau = page.last - first
    stored = (0.0, tau) if kept else update(*prior, tau, True)
    assert (page.va, page.vb) == pytest.approx(stored)
    assert (host.n_validator, host.n_304) == (1, int(kept))


def test_a_304_and_an_equal_page_teach_the_same_rate() -> None:
    beliefs = []
    for again in (answer(Kind.NOT_MODIFIED, 304), ok("one", etag='"1"')):
        play = Play()
        play.crawl_once(pages({"/": ok("one", etag='"1"')}))
        play.close_pass()
        play.now += DAY
        play.crawl_once(pages({"/": again}))
        beliefs.append((play.page("/").a, play.page("/").b))
    assert beliefs[0] == beliefs[1]


@pytest.mark.parametrize(
    "bad",
    [answer(Kind.SERVER_ERROR, 500), answer(Kind.DENIED, 403), answer(Kind.GONE, 404)],
    ids=["500", "403", "404"],
)
def test_what_is_no_reading_teaches_nothing(play: Play, bad: Outcome) -> None:
    play.crawl_once(pages({"/": ok("one", etag='"1"')}))
    sizes, prior = play.crawl.sizes.to_dict(), play.crawl.prior.to_dict()
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": bad}))
    assert play.crawl.sizes.to_dict() == sizes
    assert play.crawl.prior.to_dict() == prior


def test_sizes_move_with_full_answers_and_304s_apart(play: Play) -> None:
    site = pages({"/": ok("one", etag='"1"', cost=90_000)})
    play.crawl_once(site)
    body = play.page("/").body
    assert 30_000 < body <= 90_000
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": answer(Kind.NOT_MODIFIED, 304)}))
    assert play.page("/").body == body
    assert play.crawl.sizes.unchanged.sums[1] == (1.0, 400.0)


def test_a_handshake_is_not_taken_for_the_pages_size(play: Play) -> None:
    play.plan()
    play.record(play.visit(), no_robots())
    visit = play.visit()
    body = ok("x" * 10_000)
    head = sum(len(k) + len(v) + 4 for k, v in body.headers)
    plain = len(body.wire_body) + head + len(visit.request.url) + 250
    cold = replace(body, cost=WireCost(up=500, down=plain + 4_500, connects=1))
    assert handshake_bytes(visit, cold) == 5_000
    assert handshake_bytes(visit, replace(cold, cost=replace(cold.cost, connects=0))) == 0
    play.record(visit, cold)
    assert play.crawl.sizes.handshakes.sums[1] == (1.0, 5_000.0)
    (host,) = play.store.load_hosts()
    assert host.handshake == (3 * 4_000 + 5_000) / 4
    assert play.crawl.sizes.groups.sums[65536][1] == plain


def test_a_plain_connection_has_no_handshake(play: Play) -> None:
    play.plan()
    visit = play.visit()
    plain = replace(visit, request=replace(visit.request, url="http://a.example/"))
    outcome = replace(ok("x"), cost=WireCost(up=500, down=50_000, connects=1))
    assert handshake_bytes(plain, outcome) == 0
    routed = replace(plain, request=replace(plain.request, route="proxy"))
    assert handshake_bytes(routed, outcome) > 0
    assert isinstance(visit, Visit)


@pytest.mark.parametrize(
    ("url", "route", "bare"),
    [
        ("http://a.example", "direct", True),
        ("http://a.example", "direct/dear", True),
        ("http://a.example", "proxy", False),
        ("https://a.example", "direct", False),
    ],
)
def test_a_host_without_tls_and_proxy_is_priced_without_a_handshake(url, route, bare) -> None:
    tariff = Tariff("direct", Unit.BYTES, 0.008)
    play = Play(
        project(seeds=(f"{url}/",), default_route=route, tariffs={route: tariff, "direct": tariff})
    )
    (host,) = play.crawl.hosts
    connect = price_book(play.crawl).sizes.connect_bytes(np.array([host]))
    assert bool(connect[0] == 0) is bare
