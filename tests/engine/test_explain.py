"""why(url): a reader with pen and paper comes to the same numbers from what is printed."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from scipy import stats

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
    with_headers,
)
from recrawl.engine.explain import bars_of, explain, find_page
from recrawl.engine.project import Timing
from recrawl.engine.why import Why
from recrawl.model import Kind, Outcome, Visit
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.policies import get_policy
from recrawl.plan.tariff import SLOT, Tariff
from recrawl.units import DAY, HOUR, WEEK, Unit

ONE_CAP = Budget((Cap(Unit.BYTES, 400_000, "day"),), HOUR)
LEAVES = tuple(f"/{i}" for i in range(30))


def busy_site() -> object:
    """Thirty pages, half of them other at each visit, all with validators."""
    n = iter(range(10**6))

    def ask(url: str, visit: Visit) -> Outcome:
        path = "/" + url.split("/", 3)[3]
        if path == "/":
            return ok("home", *LEAVES)
        if path not in LEAVES:
            return no_robots()
        changes = int(path[1:]) % 2
        if visit.request.conditional and not changes:
            return answer(Kind.NOT_MODIFIED, 304)
        return ok(f"text {next(n) if changes else path}", etag=f'"{n}"', cost=12_000)

    return ask


def crawled(**changes: object) -> Play:
    """Ten days of windows."""
    play = Play(project(**{"budget": ONE_CAP, **changes}), checked=False)
    site = busy_site()
    for _ in range(40):
        play.crawl_once(site)
        play.now += 6 * HOUR
    play.plan()
    play.verify()
    return play


def why(play: Play, url: str) -> Why:
    key = find_page(play.crawl, url)
    page = play.store.get_page(*key) if key else None
    history = play.store.history(*key, limit=5) if key and page else []
    return explain(play.crawl, url, page, history, bars_of(play.store.meta()), play.now)


def gain_by_hand(w: Why) -> float:
    """J(tau) - tau S(tau), times value and chance of success; Lomax with the printed belief."""
    a, b, tau = w.shape, w.scale, w.tau
    s = (b / (b + tau)) ** a
    j = b * math.log1p(tau / b) if abs(a - 1) < 1e-9 else b / (a - 1) * (1 - s * (b + tau) / b)
    return w.chance_success * w.value * (j - tau * s)


def price_by_hand(w: Why) -> float:
    """p (c0 + (c1 - c0) E[g]) + (1 - p)(failed + a slot), with the printed validator's belief."""
    p, c0, c1 = w.chance_success, w.not_modified_cost, w.full_cost
    share = 1.0
    if w.validator_shape:
        a, b = w.validator_shape, w.validator_scale
        s = (b / (b + w.tau)) ** a
        share = 1 - s - a * (w.tau / (b + w.tau)) * s
    return p * (c0 + (c1 - c0) * share) + (1 - p) * (w.failed_cost + SLOT * c1)


@pytest.fixture(scope="module")
def busy() -> Play:
    return crawled()


@pytest.mark.parametrize("path", ["/", "/1", "/2", "/29"])
def test_the_printed_numbers_follow_from_each_other(busy: Play, path: str) -> None:
    w = why(busy, ORIGIN + path)
    page = busy.page(path)
    assert w.known and w.tau == pytest.approx(busy.now - page.last)
    assert w.chance_stale == pytest.approx(1 - (w.scale / (w.scale + w.tau)) ** w.shape, rel=1e-5)
    assert w.gain == pytest.approx(gain_by_hand(w), rel=1e-3)
    assert w.price == pytest.approx(price_by_hand(w), rel=1e-5)
    assert w.score == pytest.approx(w.gain / w.price, rel=1e-9)
    assert w.rate_per_day == pytest.approx(w.shape / w.scale * DAY)
    assert w.unit == "bytes" and w.weights == {"bytes": 1.0}
    assert (w.visits, w.changes) == (page.n_visits, page.n_changes)


def test_at_its_due_time_a_pages_score_is_the_bar(busy: Play) -> None:
    """Looked at again at `due`, nothing else having happened, it is just worth its price."""
    assert busy.crawl.window.bar > 0, "the budget binds, or this test says nothing"
    found = 0
    for path in LEAVES:
        w = why(busy, ORIGIN + path)
        inside = w.last_read + 600.0 < w.due < w.last_read + 90 * DAY
        if w.too_fast or not inside or w.retry_at:
            continue
        found += 1
        now, busy.now = busy.now, w.due
        assert why(busy, ORIGIN + path).score == pytest.approx(w.bar, rel=1e-6)
        assert "worth its price" in why(busy, ORIGIN + path).answer
        busy.now = w.due - 0.02 * (w.due - w.last_read)
        assert "not worth its price yet" in why(busy, ORIGIN + path).answer
        busy.now = now
    assert found >= 5


def test_what_was_planned_was_worth_it_by_the_same_numbers(busy: Play) -> None:
    """The score that a visit was bought at is the one that `why` gives at that moment."""
    play = crawled()
    play.now += 3 * DAY
    staged, _ = play.engine.plan(play.now, play.rng)
    assert staged.keys
    for key, item in play.crawl.staged.items():
        page = play.store.get_page(*key)
        w = explain(play.crawl, ORIGIN + page.path, page, [], play.crawl.window.bars, play.now)
        assert (w.score, w.gain, w.price) == pytest.approx((item.score, item.gain, item.price))


def test_the_interval_holds_nine_tenths_of_the_belief(busy: Play) -> None:
    w = why(busy, f"{ORIGIN}/1")
    belief = stats.gamma(w.shape, scale=1 / w.scale)
    assert belief.cdf(w.rate_low / DAY) == pytest.approx(0.05, abs=0.01)
    assert belief.cdf(w.rate_high / DAY) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize(
    ("caps", "unit"),
    [
        ((Cap(Unit.BYTES, 10**10, "day"), Cap(Unit.FETCHES, 24, "day")), "fetches"),
        ((Cap(Unit.FETCHES, 10**6, "day"), Cap(Unit.BYTES, 400_000, "day")), "bytes"),
    ],
)
def test_with_several_caps_the_one_that_binds_is_priced(caps: tuple[Cap, ...], unit: str) -> None:
    play = Play(project(budget=Budget(caps, 6 * HOUR)), checked=False)
    site = busy_site()
    for _ in range(30):
        play.crawl_once(site)
        play.now += 6 * HOUR
    planned, writes = play.engine.plan(play.now, play.rng)
    play.store.commit(writes)
    if not any(planned.bars.values()):
        pytest.fail("no cap binds: the test says nothing")
    key, item = max(play.crawl.staged.items(), key=lambda x: x[1].score)
    page = play.store.get_page(*key)
    w = explain(play.crawl, ORIGIN + page.path, page, [], bars_of(play.store.meta()), play.now)
    assert w.unit == unit and w.weights[unit] == 1.0
    assert w.bar == max(planned.bars.values())
    assert w.score / w.bar == pytest.approx(item.score / planned.bar, rel=1e-6)


def test_a_goal_that_does_not_look_at_prices_is_scored_without_them() -> None:
    play = crawled(policy=get_policy("uniform"))
    w = why(play, f"{ORIGIN}/1")
    assert w.score == w.gain


# answers


def test_unknown_addresses_are_told_why(busy: Play) -> None:
    assert "no page can have this address" in why(busy, "ftp://a.example/").answer
    assert "outside the project's sites" in why(busy, "https://else.example/").answer
    told = why(busy, f"{ORIGIN}/never-linked")
    assert not told.known and "no page that was read links to it" in told.answer
    assert told.canonical == f"{ORIGIN}/never-linked"


def test_every_spelling_of_an_address_is_the_same_page(busy: Play) -> None:
    assert why(busy, "HTTPS://A.example:443/1#part").canonical == f"{ORIGIN}/1"
    assert why(busy, "HTTPS://A.example:443/1#part").known


def test_the_answer_of_each_state(play: Play) -> None:
    site = {
        "/robots.txt": robots("User-agent: *\nDisallow: /no\n"),
        "/": ok("home", "/no", "/gone", "/old", "/bad"),
        "/gone": answer(Kind.GONE, 410),
        "/old": moved("/", 302),
        "/bad": answer(Kind.SERVER_ERROR, 500),
    }
    assert why(play, f"{ORIGIN}/").answer == "waiting for its first visit"
    assert why(play, f"{ORIGIN}/").robots == "to be read first"
    play.crawl_once(pages(site))
    assert why(play, f"{ORIGIN}/no").answer == "not visited: robots.txt forbids it"
    assert why(play, f"{ORIGIN}/gone").answer == "resting: it is gone"
    assert why(play, f"{ORIGIN}/old").answer == f"resting: it redirects to {ORIGIN}/"
    assert why(play, f"{ORIGIN}/old").target == f"{ORIGIN}/"
    assert why(play, f"{ORIGIN}/bad").answer == (
        "resting: 1 failure in a row, the last one failed (500)"
    )
    assert why(play, f"{ORIGIN}/").answer == "due in the next pass"
    assert why(play, f"{ORIGIN}/").robots == "allowed"
    play.now += 5 * WEEK
    assert "looked at again now and then" in why(play, f"{ORIGIN}/gone").answer


def test_a_page_that_its_host_or_robots_txt_holds_back_says_so(play: Play) -> None:
    play.crawl_once(pages({"/": ok("home", "/a")}))
    play.close_pass()
    play.now += 2 * DAY
    play.admit(f"{ORIGIN}/new")
    closed = {"/robots.txt": answer(Kind.SERVER_ERROR, 503)}
    play.crawl_once(pages(closed))
    for path in ("/", "/new"):
        assert "its robots.txt can't be read" in why(play, ORIGIN + path).answer


def test_a_throttled_host_and_one_with_faults(play: Play) -> None:
    asked = {"/": ok("home", "/a"), "/a": answer(Kind.THROTTLED, 429, retry_after=3600.0)}
    play.crawl_once(pages(asked))
    assert play.crawl.by_origin[ORIGIN].throttled_until > play.now
    play.admit(f"{ORIGIN}/new")
    for path in ("/", "/a", "/new"):
        assert why(play, ORIGIN + path).answer == "its host rests: it asked to be left alone"
    host = play.crawl.by_origin[ORIGIN]
    host.fails = 4
    assert why(play, f"{ORIGIN}/new").answer == "its host rests: 4 faults in a row"
    play.now = host.throttled_until
    assert why(play, f"{ORIGIN}/new").answer == "waiting for its first visit"


def test_a_failing_page_is_resting_and_its_chance_is_lower(play: Play) -> None:
    play.crawl_once(pages({"/": ok("home")}))
    fine = why(play, f"{ORIGIN}/").chance_success
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": answer(Kind.SERVER_ERROR, 500)}))
    w = why(play, f"{ORIGIN}/")
    assert w.answer == "resting: 1 failure in a row, the last one failed (500)"
    assert w.retry_at == pytest.approx(play.now + 4 * HOUR, abs=1)
    assert w.chance_success == pytest.approx(fine * 2 / 3)


def test_where_the_budget_reaches_for_all_a_page_is_due_after_min_gap() -> None:
    plenty = Budget((Cap(Unit.BYTES, 10**10, "day"),), HOUR)
    play = Play(project(budget=plenty, timing=Timing(min_gap=2 * HOUR)))
    play.crawl_once(pages({"/": ok("home")}))
    w = why(play, f"{ORIGIN}/")
    assert w.bar == 0 and w.due == w.last_read + 2 * HOUR
    assert w.answer == "fresh enough: not worth its price yet"
    play.now = w.due
    assert "worth its price" in why(play, f"{ORIGIN}/").answer


def test_a_page_too_fast_for_the_budget_is_left_to_the_floor(busy: Play) -> None:
    page = replace(busy.page("/1"), a=50.0, b=50.0)  # each second
    page.last = busy.now - HOUR
    bars = dict.fromkeys(busy.crawl.window.bars, busy.crawl.window.bar)
    w = explain(busy.crawl, f"{ORIGIN}/1", page, [], bars, busy.now)
    assert w.too_fast and "changes too fast" in w.answer
    assert w.due == page.last + busy.rules.timing.max_gap


def test_history_is_newest_first_and_json_has_no_infinity(busy: Play) -> None:
    told = why(busy, f"{ORIGIN}/1").as_dict()
    times = [visit["t"] for visit in told["history"]]
    assert times == sorted(times, reverse=True) and len(times) == 5
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_money_tariffs_are_priced_in_money() -> None:
    budget = Budget((Cap(Unit.USD, 4_000, "day"),), HOUR)
    play = crawled(budget=budget, tariffs={"direct": Tariff("proxy", Unit.BYTES, 0.008)})
    w = why(play, f"{ORIGIN}/1")
    assert w.unit == "micro_usd"
    assert w.full_cost == pytest.approx(12_000 * 0.008, rel=0.3)
    assert w.price == pytest.approx(price_by_hand(w), rel=1e-5)


def test_explaining_changes_nothing(busy: Play) -> None:
    before = busy.store.scan_hot().array().tolist(), len(busy.crawl.queues), busy.crawl.next_lease
    why(busy, f"{ORIGIN}/1")
    busy.verify()
    assert (
        busy.store.scan_hot().array().tolist(),
        len(busy.crawl.queues),
        busy.crawl.next_lease,
    ) == before
    assert busy.now > T0
    assert with_headers(no_robots(), ("a", "b")).header("a") == "b"
