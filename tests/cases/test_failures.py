"""Pages and hosts that fail for weeks: how often they are asked, and what is believed of them."""

import pytest

from cases.conftest import DAY, script
from servers.lab import page

SHORT = 'connect_time = "0.3 s"\nfirst_byte_time = "0.3 s"\ntotal_time = "1 s"\nbody = "64 KB"'
WINDOWS = 'per_day = "5 MB"\nwindow = "6 h"\nmin_gap = "1 h"'
GONE = {"s": 404, "b": "no"}

ALWAYS = {
    "500": {"s": 500, "b": "error"},
    "502": {"s": 502, "b": "error"},
    "silence": {"hang": True},
    "403": {"s": 403, "b": "denied"},
    "401": {"s": 401, "b": "denied"},
    "400": {"s": 400, "b": "bad"},
    "418": {"s": 418, "b": "tea"},
    "404": GONE,
    "410": {"s": 410, "b": "gone"},
    "to itself": {"s": 302, "h": {"Location": "/bad"}},
    "to nowhere": {"s": 302},
    "to a loop": {"s": 301, "h": {"Location": "/bad?again={{n}}"}},
    "to no scheme": {"s": 302, "h": {"Location": "mailto:x@shop.test"}},
    "cut": {"b": "x" * 900, "abort": 200},
    "too big": {"fill": 200_000},
    "204": {"s": 204},
    "304 unasked": {"s": 304},
}  # fmt: skip


EACH_WAY = [(name, "") for name in ALWAYS]
EACH_WAY += [(name, WINDOWS) for name in ("500", "silence", "404", "to itself")]


@pytest.mark.parametrize(("behaviour", "budget"), EACH_WAY)
def test_a_page_that_always_fails_is_asked_ten_times_a_month(crawl, behaviour, budget):  # FRO-15
    step = ALWAYS[behaviour]
    crawl.serve({"shop.test": {"/": page("/bad", "/good"), "/good": {"b": "ok"}, "/bad": step}})
    crawl.project("http://shop.test/", budget=budget, limits=SHORT)
    if budget:
        crawl.days(30)
    else:
        crawl.passes(30)
    assert 1 <= len(crawl.lab.of("/bad")) <= 10
    assert len(crawl.lab.of("/good")) >= (1 if budget else 30)  # the others don't suffer


def test_once_read_then_failing(crawl):  # FRO-15
    """What was read stays, and the failing visits are as few."""
    for status in (500, 403):
        crawl.serve({"shop.test": {"/p": {"steps": [{"b": "text"}, {"s": status, "b": "no"}]}}})
        crawl.project("http://shop.test/p")
        crawl.passes(30)
        assert len(crawl.lab.of("/p")) <= 11
        assert crawl.page("/p").state.word == "live"
        assert crawl.changes() == []
        (crawl.folder / "recrawl.db").unlink()


def test_two_pages_that_lead_to_each_other(crawl):
    there, back = ({"s": 302, "h": {"Location": to}} for to in ("/b", "/a"))
    crawl.serve({"shop.test": {"/a": there, "/b": back}})
    crawl.project("http://shop.test/a")
    crawl.passes(30)
    assert len(crawl.lab.of("/a")) <= 10 and len(crawl.lab.of("/b")) <= 10


def test_redirects_without_end(crawl):
    crawl.serve({"shop.test": {"/c": {"gen": "chain", "hops": 100}}})
    crawl.project("http://shop.test/c")
    crawl.passes(10, gap=DAY)
    assert len({a.path for a in crawl.lab.pages()}) <= 6
    assert crawl.refused()["too many redirects"] >= 1


@pytest.mark.parametrize("status", [429, 503])
def test_throttled_for_weeks(crawl, status):
    said = {"s": status, "h": {"Retry-After": "86400"}, "b": "slow down"}
    crawl.serve({"shop.test": {"/robots.txt": GONE, "*": said}})
    crawl.project("http://shop.test/", budget=WINDOWS)
    crawl.days(30)
    assert 10 <= len(crawl.lab.pages()) <= 31  # once a day, as it asked


def test_a_gone_page_is_asked_rarely(crawl):  # SCH-16
    crawl.serve(script("SCH-16"))
    crawl.project("http://any.test/gone")
    crawl.passes(30)
    assert len(crawl.lab.of("/gone")) <= 4
    assert crawl.page("/gone").state.word == "gone"
    assert crawl.changes() == []  # it was never there


@pytest.mark.parametrize(("status", "first"), [(404, 2), (410, 1)])
def test_a_page_that_goes_is_told_once(crawl, status, first):  # SCH-16
    crawl.serve({"any.test": {"/p": {"steps": [{"b": "text"}, {"s": status, "b": "no"}]}}})
    crawl.project("http://any.test/p")
    crawl.passes(30)
    said = crawl.verdicts("/p")
    assert said[0] == "new" and set(said[1:]) == {"gone"} and len(said) <= 5
    assert [c.verdict.word for c in crawl.changes()] == ["gone"]
    with crawl.store() as store:
        told = next(c for c in store.changes() if c.verdict.word == "gone")
        visits = [e.t for e in store.entries() if e.status == status and e.key]
    assert told.t == pytest.approx(visits[first - 1], abs=0.01)


def test_a_page_that_comes_back(crawl):
    steps = [{"b": "text"}, GONE, GONE, {"b": "text"}]
    crawl.serve({"any.test": {"/p": {"steps": steps}}})
    crawl.project("http://any.test/p")
    crawl.passes(30)
    assert crawl.page("/p").state.word == "live"
    assert next(c.verdict.word for c in crawl.changes()) == "gone"
    assert len(crawl.changes()) == 2


def test_a_single_404_is_no_news(crawl):  # SCH-22
    crawl.serve({"any.test": {"/p": {"steps": [{"b": "text"}, GONE, {"b": "text"}]}}})
    crawl.project("http://any.test/p")
    crawl.passes(5)
    assert crawl.changes() == []


@pytest.mark.parametrize("pages", [4, 30])
@pytest.mark.parametrize("share", [0.8, 1.0])
@pytest.mark.parametrize("cycles", [1, 2, 4])
def test_a_whole_site_that_answers_404_for_a_while(crawl, pages, share, cycles):  # SCH-22
    """A deployment goes wrong: nothing is told as deleted, and it is asked less, not more."""
    down = []

    def step(asked):
        lost = int(asked.path.rpartition("/")[2]) < share * pages
        return GONE if down and lost else {"b": f"page {asked.path}"}

    listing = page(*(f"/p/{i}" for i in range(pages)))
    crawl.serve({"shop.test": {"/": listing, "/robots.txt": GONE, "*": step}})
    crawl.project("http://shop.test/")
    crawl.passes()
    crawl.lab.clear()
    down.append(True)
    crawl.passes(cycles, gap=2 * 3600.0)
    assert len(crawl.lab.pages()) <= cycles * (pages + 1)
    with crawl.store() as store:
        assert "404" in store.load_hosts()[0].note
    down.clear()
    crawl.passes(3)
    assert crawl.changes() == []
    assert {crawl.page(f"/p/{i}").state.word for i in range(pages)} == {"live"}
    with crawl.store() as store:
        assert store.load_hosts()[0].note == ""


@pytest.mark.parametrize("pages", [4, 30])
def test_a_whole_site_that_is_gone_for_good(crawl, pages):  # SCH-22
    """It is believed in the end, and costs little until then."""
    down = []
    listing = page(*(f"/p/{i}" for i in range(pages)))
    crawl.serve({"shop.test": {"/": listing, "*": lambda _: GONE if down else {"b": "text"}}})
    crawl.project("http://shop.test/")
    crawl.passes()
    down.append(True)
    crawl.passes(30)
    assert [c.verdict.word for c in crawl.changes()] == ["gone"] * pages
    assert all(len(crawl.lab.of(f"/p/{i}")) <= 11 for i in range(pages))
    with crawl.store() as store:
        assert store.load_hosts()[0].note == ""


def test_links_that_were_never_good_are_no_disappearance(crawl):
    """Many broken links, and one page that really goes."""
    broken = [f"/broken/{i}" for i in range(40)]
    gone = {"steps": [{"b": "text"}, {"s": 404, "b": "no"}]}
    pages = {"/": page("/p", "/q", *broken), "/p": gone, "/q": {"b": "other"}}
    crawl.serve({"shop.test": {**pages, "*": GONE}})
    crawl.project("http://shop.test/")
    crawl.passes(4)
    assert [c.verdict.word for c in crawl.changes()] == ["gone"]


def test_a_host_that_does_not_exist_holds_nobody_up(crawl):  # FRO-13
    crawl.serve({"*": {"/": page("/a"), "*": {"b": "text"}}})
    good = f"http://127.0.0.1:{crawl.lab.port}/"
    crawl.project(good, "http://no-such-host.invalid/", routed=False)
    said = crawl.run()
    assert said["new"] == 2
    shown = {row["origin"]: row for row in crawl.cli("hosts", "--json").rows}
    assert len(shown) == 2
    bad = next(row for name, row in shown.items() if "invalid" in name)
    assert "robots.txt can't be read" in str(bad)
    with crawl.store() as store:
        asked = [e for e in store.entries() if e.kind == "dns-error"]
        host = next(h for h in store.load_hosts() if "invalid" in h.origin)
    assert len(asked) == 1 and max(host.robots_until, host.throttled_until) > asked[0].t


@pytest.mark.parametrize("cause", ["dns", "refused", "silent"])
def test_a_dead_host_is_asked_ever_more_rarely(crawl, cause):  # FRO-15
    crawl.serve({"*": {"*": {"hang": True}}})
    seeds = {
        "dns": "http://no-such-host.invalid/",
        "refused": "http://127.0.0.1:9/",
        "silent": f"http://127.0.0.1:{crawl.lab.port}/",
    }
    # A resolver of a busy machine needs longer than 0.1 s to say that there is no such name.
    limits = SHORT if cause == "dns" else SHORT.replace("0.3", "0.1")
    crawl.project(seeds[cause], routed=False, budget=WINDOWS, limits=limits)
    crawl.days(30)
    with crawl.store() as store:
        entries = list(store.entries())
    first = [e for e in entries if e.t < entries[0].t + DAY]
    assert 1 <= len(first) <= 11 and len(entries) <= 45
    assert all(e.purpose.word == "robots" for e in entries[:5])


def test_a_page_never_seen_to_change_is_still_visited(crawl):  # SCH-28
    """It begins to change on day 200: seen within the promised longest gap."""
    begin = crawl.clock.t + 200 * DAY
    step = lambda a: {"b": "still the same" if a.t < begin else "now it moves"}  # noqa: E731
    crawl.serve({"shop.test": {"/": page("/p"), "/p": step}}, now=crawl.clock.now)
    budget = 'per_day = "1 MB"\nwindow = "4 d"\nmin_gap = "1 h"\nmax_gap = "30 d"'
    crawl.project("http://shop.test/", budget=budget)
    crawl.days(240)
    changes = crawl.changes()
    assert len(changes) == 1
    assert begin <= changes[0].t <= begin + 35 * DAY
