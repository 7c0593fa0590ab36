"""An outcome taken in: every kind in every state, and what it may and may not move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.harness import (
    GOOD,
    ORIGIN,
    T0,
    Play,
    answer,
    faults,
    moved,
    no_robots,
    ok,
    pages,
    project,
    wire,
    with_headers,
)
from recrawl.engine.crawl import Planned
from recrawl.engine.project import Timing
from recrawl.frontier.queues import PLANNED
from recrawl.model import (
    RETURNED,
    Blame,
    Host,
    Kind,
    Outcome,
    Page,
    Purpose,
    State,
    Verdict,
    Visit,
    Wait,
    Writes,
)
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, MICRO, MINUTE, WEEK, Unit

TIMING = Timing()
BASE = ok("what it said", etag='"1"')


def one_page(state: State, **changes: Any) -> tuple[Play, Visit]:
    """A page in that state, and a visit of it under way. All but NEW pages were read a day ago."""
    play = Play()
    play.plan()
    play.record(play.visit(), no_robots())
    play.record(play.visit(), BASE)
    page = play.page("/")
    if state is State.NEW:
        page = Page(page.host_id, page.key, "/", first_seen=T0)
    page = replace(page, state=state, **changes)
    if state in (State.GONE, State.ALIAS, State.REFUSED):
        page = replace(page, retry_at=T0 + HOUR)
    play.store.commit(Writes(pages={(page.host_id, page.key): page}))
    play.now += 20 * HOUR
    play.start()
    play.plan()
    play.crawl.queues.clear()
    item = Planned(play.page("/"), Purpose.BEST_BUY)
    play.crawl.queues.push(page.host_id, item, lane=PLANNED)
    play.crawl.window.promised = 0.0
    return play, play.visit()


def base_of(page: Page) -> tuple[Any, ...]:
    """What only a reading may move."""
    return (page.last, page.changed_at, page.a, page.b, page.va, page.vb, page.body, page.etag,
            page.last_modified, page.digest1, page.digest2, page.n_changes, page.n_not_modified,
            page.canonical)  # fmt: skip


def outcome_of(kind: Kind) -> Outcome:
    status = {
        Kind.OK: 200, Kind.NOT_MODIFIED: 304, Kind.REDIRECT: 301, Kind.GONE: 404,
        Kind.THROTTLED: 429, Kind.DENIED: 403, Kind.SERVER_ERROR: 500, Kind.CLIENT_ERROR: 418,
    }.get(kind, 0)  # fmt: skip
    if kind is Kind.OK:
        return ok("now it says something else", etag='"2"')
    if kind is Kind.REDIRECT:
        return moved("/elsewhere")
    return answer(kind, status)


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_in_every_state(kind: Kind, state: State) -> None:
    play, visit = one_page(state)
    before = play.page("/")
    host_fails = play.store.load_hosts()[0].fails
    seen = play.record(visit, outcome_of(kind))
    after = play.page("/")
    (entry,) = list(play.store.entries(since=T0 + HOUR))
    assert (entry.kind, entry.verdict, entry.purpose) == (kind.value, seen.verdict, visit.purpose)
    assert entry.spend.fetches == 1 and entry.spend.bytes == outcome_of(kind).cost.bytes
    assert after.last_attempt == play.now
    assert after.n_visits == before.n_visits + 1
    if kind is Kind.OK or (kind is Kind.NOT_MODIFIED and state is not State.NEW):
        _is_read(kind, before, after, play.now)
    else:
        assert base_of(after) == base_of(before)
        _is_not_read(kind, before, after, play.now)
    if kind not in (Kind.DNS_ERROR, Kind.CONNECT_ERROR, Kind.TLS_ERROR, Kind.TIMEOUT):
        assert play.store.load_hosts()[0].fails == 0
    else:
        assert play.store.load_hosts()[0].fails == host_fails + 1


def _is_read(kind: Kind, before: Page, after: Page, now: float) -> None:
    assert after.state is State.LIVE
    assert after.last == now
    assert (after.fails, after.missing, after.retry_at, after.target) == (0, 0, 0.0, None)
    if kind is Kind.NOT_MODIFIED:
        assert (after.digest1, after.digest2) == (before.digest1, before.digest2)
        assert after.etag == '"1"' and after.n_not_modified == before.n_not_modified + 1
    else:
        assert after.etag == '"2"' and after.digest1 not in (None, before.digest1)
        assert after.n_changes == (0 if before.state is State.NEW else 1)
    assert (after.b > 0) == (before.state is not State.NEW), "the first reading tells no rate"


def _is_not_read(kind: Kind, before: Page, after: Page, now: float) -> None:
    wait = after.retry_at - now
    if kind is Kind.GONE:
        gone = before.state in (State.NEW, State.GONE)  # never read: one answer is enough
        assert after.state is (State.GONE if gone else before.state)
        assert wait == pytest.approx(TIMING.recheck if gone else TIMING.confirm)
        assert (after.missing, after.fails) == (before.missing + 1, before.fails)
    elif kind is Kind.REDIRECT:
        assert (after.state, after.target) == (State.ALIAS, f"{ORIGIN}/elsewhere")
        assert wait == pytest.approx(4 * TIMING.recheck)
        assert after.fails == 0
    elif kind is Kind.POLICY:
        assert after.state is State.REFUSED
        assert wait == pytest.approx(TIMING.recheck)
    elif kind is Kind.THROTTLED:
        assert after.state is before.state
        assert after.fails == before.fails, "the host's doing"
        assert 0 < wait <= HOUR
    else:
        assert after.state is before.state
        assert after.fails == before.fails + 1
        assert wait == pytest.approx(TIMING.retry_base)


@pytest.mark.parametrize("kind", faults())
@pytest.mark.parametrize("blame", [Blame.ROUTE, Blame.LOCAL])
def test_what_is_not_the_targets_fault_is_not_held_against_it(kind: Kind, blame: Blame) -> None:
    play, visit = one_page(State.LIVE)
    before, host = play.page("/"), play.store.load_hosts()[0]
    play.record(visit, answer(kind, blame=blame))
    after = play.page("/")
    assert after.fails == before.fails
    assert base_of(after) == base_of(before)
    assert play.store.load_hosts()[0].fails == host.fails


def test_failures_wait_twice_as_long_each_time_up_to_a_week() -> None:
    waits = []
    for fails in (0, 1, 2, 5, 6, 40, 255, 1000):
        play, visit = one_page(State.LIVE, fails=fails)
        play.record(visit, answer(Kind.SERVER_ERROR, 500))
        waits.append((play.page("/").retry_at - play.now) / HOUR)
    assert waits == pytest.approx([4, 8, 16, 128, 168, 168, 168, 168])


def test_only_a_success_ends_a_row_of_failures() -> None:
    play, visit = one_page(State.LIVE, fails=3)
    play.record(visit, BASE)
    assert play.page("/").fails == 0


# gone


def test_a_404_is_asked_again_before_it_is_believed_a_410_is_not() -> None:
    play, visit = one_page(State.LIVE)
    play.record(visit, answer(Kind.GONE, 404))
    assert play.page("/").state is State.LIVE
    assert not [c for c in play.store.changes() if c.verdict is Verdict.GONE]
    play.now += HOUR
    play.close_pass()
    play.crawl_once(pages({"/": answer(Kind.GONE, 404)}))
    assert play.page("/").state is State.GONE
    play, visit = one_page(State.LIVE)
    play.record(visit, answer(Kind.GONE, 410))
    assert play.page("/").state is State.GONE


def test_a_page_that_goes_is_a_change_and_so_is_its_return() -> None:
    play, visit = one_page(State.LIVE)
    play.record(visit, answer(Kind.GONE, 410))
    play.now += 8 * DAY
    play.close_pass()
    play.crawl_once(pages({"/": BASE}))
    verdicts = [c.verdict for c in play.store.changes()]
    assert verdicts == [Verdict.NEW, Verdict.GONE, Verdict.SAME]
    assert play.page("/").state is State.LIVE


def test_one_good_answer_between_two_404s_starts_the_count_anew() -> None:
    play, visit = one_page(State.LIVE, missing=1)
    play.record(visit, BASE)
    assert play.page("/").missing == 0


def test_a_host_that_disappears_at_once_is_not_believed() -> None:
    play = Play()
    site = {"/": ok("home", *(f"/{i}" for i in range(30)))}
    site |= {f"/{i}": ok(f"page {i}") for i in range(30)}
    play.crawl_once(pages(site))
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": site["/"]}))
    play.now += 2 * HOUR
    play.close_pass()
    play.crawl_once(pages({"/": site["/"]}))
    states = [p.state for p in play.store.iter_pages()]
    # What came before the answers that show it may be believed; the rest is asked again.
    assert states.count(State.GONE) <= 10
    assert "404 at once" in play.store.load_hosts()[0].note


def test_a_few_pages_that_disappear_are_believed() -> None:
    play = Play()
    site = {"/": ok("home", *(f"/{i}" for i in range(30)))}
    site |= {f"/{i}": ok(f"page {i}") for i in range(30)}
    play.crawl_once(pages(site))
    for _ in range(2):
        play.close_pass()
        play.now += DAY
        play.crawl_once(pages({k: v for k, v in site.items() if k not in ("/3", "/4", "/5")}))
    assert [p.path for p in play.store.iter_pages(state=State.GONE)] and all(
        play.page(p).state is State.GONE for p in ("/3", "/4", "/5")
    )


# redirects


@pytest.mark.parametrize("target", ["/", f"{ORIGIN}/", "/#top", "https://A.example:443/"])
def test_a_redirect_to_itself_is_a_failure(target: str) -> None:
    play, visit = one_page(State.LIVE)
    assert play.record(visit, moved(target)).verdict is Verdict.FAILED
    page = play.page("/")
    assert (page.state, page.fails) == (State.LIVE, 1)


def test_a_temporary_redirect_is_looked_at_sooner_than_a_permanent_one() -> None:
    waits = {}
    for status in (301, 302, 303, 307, 308):
        play, visit = one_page(State.LIVE)
        play.record(visit, moved("/x", status))
        waits[status] = (play.page("/").retry_at - play.now) / WEEK
    assert waits == pytest.approx({301: 4, 302: 1, 303: 1, 307: 1, 308: 4})


def attempts(site: dict[str, Outcome], budget: Budget, days: int = 30) -> dict[str, int]:
    """Visits of each path, robots.txt left out, an hour's window after the other."""
    play = Play(project(budget=budget, timing=Timing(min_gap=MINUTE)), checked=False)
    counts: dict[str, int] = {}

    def ask(url: str, visit: Visit) -> Outcome:
        path = "/" + url.split("/", 3)[3]
        counts[path] = counts.get(path, 0) + 1
        return site.get(path, no_robots())

    while play.now < T0 + days * DAY:
        play.crawl_once(ask)
        play.close_pass()
        play.now = (
            max(play.now + HOUR, T0) if play.crawl.window is None else play.crawl.window.ends
        )
    counts.pop("/robots.txt")
    play.verify()
    return counts


@pytest.mark.parametrize(
    "budget",
    [Budget(), Budget((Cap(Unit.BYTES, 60_000_000, "day"),), HOUR)],
    ids=["passes", "windows"],
)
def test_what_always_fails_is_asked_at_most_ten_times_in_thirty_days(budget: Budget) -> None:
    site = {
        "/": ok("home", "/500", "/slow", "/self", "/ping", "/cut"),
        "/500": answer(Kind.SERVER_ERROR, 500),
        "/slow": answer(Kind.TIMEOUT, 200),  # its first byte came: the page's fault
        "/self": moved("/self"),
        "/ping": moved("/pong"),
        "/pong": moved("/ping"),
        "/cut": answer(Kind.INCOMPLETE, 200),
    }
    counts = attempts(site, budget)
    assert counts.pop("/") > 5
    assert set(counts) == {"/500", "/slow", "/self", "/ping", "/pong", "/cut"}
    assert all(1 <= n <= 10 for n in counts.values()), counts


# throttling


def test_a_page_put_off_is_asked_again_in_its_window_three_times_in_all(play: Play) -> None:
    play.plan()
    play.record(play.visit(), no_robots())
    times = []
    for _ in range(6):
        found = play.next()
        if isinstance(found, Wait):
            play.now = play.engine.again_at
            if not finite_time(play.now):
                break
            play.engine.again()
            play.plan()
            continue
        times.append(play.now)
        play.record(found, answer(Kind.THROTTLED, 429, retry_after=100.0))
    assert [round(t - T0) for t in times] == [0, 100, 200]


def finite_time(t: float) -> bool:
    return t < 1e12


# ledger, changes, records


def test_what_a_visit_was_bought_for_stands_in_its_entry() -> None:
    play = Play(project(budget=Budget((Cap(Unit.BYTES, 50_000_000, "day"),), HOUR)))
    site = pages({"/": ok("home", "/a"), "/a": ok("a")})
    play.crawl_once(site)
    play.now = play.engine.window_ends + HOUR
    play.plan()
    visit = play.visit()
    play.record(visit, ok("changed", "/a", "/b", "/b"))
    entry = play.entries()[-1]
    assert (entry.tau, entry.predicted, entry.gain, entry.price, entry.score, entry.bar) == (
        visit.tau, visit.predicted, visit.gain, visit.price, visit.score, visit.bar,
    )  # fmt: skip
    assert entry.tau == pytest.approx(play.now - T0, abs=1)
    assert 0 < entry.predicted < 1 and entry.score == pytest.approx(entry.gain / entry.price)
    assert (entry.discovered, entry.sighted) == (1, 2)


def test_money_adds_up_whatever_the_rounding(play: Play) -> None:
    site = {f"/{i}": replace(ok(f"{i}"), cost=wire(301 + i)) for i in range(40)}
    site["/"] = ok("home", *site)
    play.crawl_once(pages(site))
    spent = play.spent()
    assert spent.bytes == sum(e.up + e.down for e in play.entries())
    assert abs(spent.micro_usd - spent.bytes * 0.008) < 1


def test_changes_say_when_and_after_which_reading(play: Play) -> None:
    play.crawl_once(pages({"/": ok("one")}))
    first = play.page("/").last
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": ok("two")}))
    new, changed = list(play.store.changes())
    assert (new.verdict, new.t_before, new.t) == (Verdict.NEW, 0.0, first)
    assert (changed.verdict, changed.t_before) == (Verdict.CHANGED, first)
    assert changed.t == play.page("/").changed_at == play.page("/").last


def test_an_equal_page_keeps_its_record_but_takes_its_new_validators(play: Play) -> None:
    play.crawl_once(pages({"/": ok("one", etag='"1"')}))
    record = play.store.get_record(1, play.page("/").key)
    play.close_pass()
    play.now += DAY
    again = with_headers(ok("one", etag='"2"'), ("last-modified", "Mon, 21 Sep 2026 14:00:00 GMT"))
    play.crawl_once(pages({"/": again}))
    page = play.page("/")
    assert (page.etag, page.last_modified) == ('"2"', "Mon, 21 Sep 2026 14:00:00 GMT")
    assert play.store.get_record(1, page.key) == record
    assert play.entries()[-1].verdict is Verdict.SAME and play.entries()[-1].conditional


def test_a_304_to_an_unconditional_request_says_nothing() -> None:
    play, visit = one_page(State.LIVE, etag=None)
    assert not visit.request.conditional
    before = play.page("/")
    assert play.record(visit, answer(Kind.NOT_MODIFIED, 304)).verdict is Verdict.FAILED
    assert base_of(play.page("/")) == base_of(before)


def test_an_unknown_lease_is_refused(play: Play) -> None:
    play.plan()
    visit = play.visit()
    play.record(visit, no_robots())
    with pytest.raises(KeyError):
        play.engine.record(visit.lease, no_robots(), play.now)


def test_a_fault_of_the_host_rests_all_its_pages(play: Play) -> None:
    play.admit(*(f"{ORIGIN}/{i}" for i in range(5)))
    play.plan()
    play.record(play.visit(), no_robots())
    play.record(play.visit(), answer(Kind.CONNECT_ERROR))
    waiting = play.next()
    assert isinstance(waiting, Wait)
    assert waiting.until == pytest.approx(play.now + MINUTE)
    assert isinstance(play.store.load_hosts()[0], Host)
    assert Kind.CONNECT_ERROR not in GOOD


def test_a_visit_says_that_a_page_is_back(play: Play) -> None:
    play.crawl_once(pages({"/": ok("home", "/a"), "/a": ok("one")}))
    play.close_pass()
    play.now += DAY
    play.crawl_once(pages({"/": ok("home", "/a"), "/a": answer(Kind.GONE, 410)}))
    assert play.page("/a").state is State.GONE
    play.close_pass()
    play.now += 60 * DAY
    play.crawl_once(pages({"/": ok("home", "/a"), "/a": ok("one")}))
    assert play.page("/a").state is State.LIVE
    back = [e for e in play.entries() if RETURNED in e.evidence]
    assert [(e.key, e.purpose) for e in back] == [(play.page("/a").key, Purpose.REESTIMATION)]
    assert back[0].evidence.endswith("it was gone")


@pytest.mark.parametrize(
    ("told", "booked"), [("7.5", 7_500_000), ("0", 0), ("n/a", 1_000_000), ("-3", 1_000_000)]
)
def test_what_the_vendor_tells_is_what_is_booked(told: str, booked: int) -> None:
    """A header with the true charge replaces the list charge; one that tells nothing doesn't."""
    api = Tariff("api", Unit.CREDITS, 500.0, charge_header="x-credits")
    play = Play(project(tariffs={"direct": api}))
    page = ok("hello")
    play.crawl_once(pages({"/": replace(page, headers=(*page.headers, ("x-credits", told)))}))
    entry = next(e for e in play.entries() if e.verdict is Verdict.NEW)
    assert entry.spend.microcredits == booked
    assert entry.spend.micro_usd == booked // MICRO * 500 + (booked % MICRO) * 500 // MICRO
