"""What is found, what may not be taken in, redirects and canonicals, several hosts, restarts."""

import itertools
import signal
import time

import pytest

from cases.conftest import script
from servers.lab import page

HOURLY = 'per_day = "10 MB"\nwindow = "1 h"\nmin_gap = "2 h"\nreserves = {verification = 0}'


def test_redirects_are_edges(crawl):  # SCH-29
    """Nothing is due: neither the pages nor the addresses that lead to them are asked."""
    crawl.serve(script("SCH-29"))
    crawl.project("http://any.test/", budget=HOURLY)
    crawl.days(1 / 24)
    assert len(crawl.lab.pages()) == 11
    crawl.lab.clear()
    crawl.days(0.5 / 24)
    assert crawl.lab.pages() == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_and_its_target_both_linked(crawl, status):  # FRO-19
    site = script("FRO-19")["*"]
    site["/a"] = {"s": status, "h": {"Location": "/b"}}
    crawl.serve({"*": site})
    crawl.project("http://any.test/")
    crawl.passes(20)
    assert len(crawl.lab.of("/b")) == 20
    permanent = status in (301, 308)
    assert len(crawl.lab.of("/a")) <= (1 if permanent else 3)
    assert crawl.page("/a").state.word == "alias"


@pytest.mark.parametrize(
    ("target", "visited"),
    [
        ("http://bigsocial.test/some-site", False),
        ("//bigsocial.test/some-site", False),
        ("http://some-site.test.bigsocial.test/", False),
        ("http://sub.some-site.test/", False),
        ("http://www.some-site.test/", True),
        ("http://some-site.test/home", True),
    ],
)
@pytest.mark.parametrize("status", [301, 302])
def test_what_a_seed_redirects_to(crawl, target, visited, status):  # FRO-17
    """Only a leading www. or another scheme comes into scope, and its pages stay there."""
    there = {"/": page("/x"), "/home": page("/x"), "/some-site": page("/x"), "/x": {"b": "x"}}
    start = {"s": status, "h": {"Location": target}}
    own = {"/": start, "/home": page("/x"), "/x": {"b": "x"}}
    crawl.serve({"some-site.test": own, "*": there})
    sites = '[[site]]\nmatch = "some-site.test"\nroute = "lab"'
    crawl.project("http://some-site.test/", sites=sites, more='[tariff.x]\nunit = "bytes"')
    route_all(crawl)
    crawl.passes(3)
    led = [a for a in crawl.lab.pages() if (a.host, a.path) != ("some-site.test", "/")]
    assert bool(led) == visited
    if not visited:
        assert crawl.refused()["outside the project's sites"] >= 1
    elif "www" in target:
        assert {a.path for a in crawl.lab.pages("www.some-site.test")} == {"/", "/x"}
        assert len(crawl.lab.of("/x")) == 3  # also after a restart


def route_all(crawl):
    """Lead every host of the test through the lab: names in .test have no address."""
    from recrawl.cli import session

    crawl.monkeypatch.setattr(session, "routes_of", routed(session.routes_of))


def routed(routes_of):
    def inner(settings):
        routes = routes_of(settings)
        return {**routes, "direct": routes["lab"]}

    return inner


@pytest.mark.parametrize(
    "canonical",
    ["{path}", "/p/1/", "//shop.test{path}", "http://SHOP.test{path}", "http://shop.test:80{path}",
     "https://shop.test{path}", "?", "", "http://[bad", "http://partner.test{path}",
     "//partner.test/", "/p/0", "/missing", "javascript:alert(1)"],
)  # fmt: skip
def test_canonicals_reject_and_pull_in_nothing(crawl, canonical):  # FRO-21, FRO-23
    def one(asked):
        href = canonical.format(path=asked.path)
        body = f"<html><head><link rel=canonical href='{href}'></head><body>text {asked.path}"
        return {"h": {"Content-Type": "text/html"}, "b": body}

    listing = page(*(f"/p/{i}" for i in range(5)))
    crawl.serve({"shop.test": {"/": listing, "/missing": {"s": 404}, "*": one}})
    crawl.project("http://shop.test/")
    crawl.passes(2)
    assert crawl.lab.pages("partner.test") == []
    for i in range(5):
        assert crawl.page(f"/p/{i}").state.word == "live"
        assert len(crawl.lab.of(f"/p/{i}")) == 2


@pytest.mark.parametrize("link", ["infra/www/", "sub/", "a/b/c/", "./sub/", "sub/../sub/more/"])
def test_a_path_that_grows(crawl, link):  # FRO-25
    site = script("FRO-25")["*"]
    site["*"]["link"] = link
    crawl.serve({"*": site})
    crawl.project("http://any.test/", limits="depth = 50")
    crawl.passes(2)
    assert len({a.path for a in crawl.lab.pages() if "/real/" not in a.path}) <= 4
    assert crawl.lab.of("/real/1") and crawl.lab.of("/real/2")
    assert crawl.refused()["path repeats itself"] >= 1
    shown = crawl.cli("frontier")
    assert "path repeats itself" in shown.out


def test_dots_are_resolved(crawl):  # FRO-27
    links = ("./", "././x", "%2e/", "x", "./x", "y/../x", "%2E%2e/x", "/./x", "../z/.", ".")
    crawl.serve({"any.test": {"/": page(*links), "*": {"b": "x"}}})
    crawl.project("http://any.test/")
    crawl.passes()
    assert sorted(a.path for a in crawl.lab.pages()) == ["/", "/x", "/z/"]


@pytest.mark.parametrize("status", [301, 302, 307])
def test_out_of_scope_after_its_redirect(crawl, status):  # FRO-31
    site = script("FRO-31")
    site["in.test"]["/x"]["s"] = status
    crawl.serve(site)
    crawl.project("http://in.test/")
    crawl.passes(7)
    assert len(crawl.lab.of("/x")) == 1
    assert crawl.lab.pages("out.test") == []
    assert len(crawl.lab.of("/page/7")) == 7


def test_hosts_do_not_wait_for_a_slow_one(crawl):  # FRO-09
    hosts = [f"fast{i}.test" for i in range(9)]
    slow = {"/robots.txt": {"b": "User-agent: *\nCrawl-delay: 8\n"}, "*": {"b": "s"}}
    listing = page(*(f"/page/{i}" for i in range(20)))
    fast = {"/robots.txt": {"s": 404}, "/": listing, "*": {"b": "f"}}
    crawl.serve({"slow.test": {**slow, "/": listing}, "*": fast}, now=crawl.clock.now)
    seeds = [f"http://{h}/" for h in (*hosts, "slow.test")]
    crawl.project(*seeds, politeness='delay = "1 s"\njitter = 0')
    crawl.passes()
    for host in hosts:
        times = [a.t for a in crawl.lab.asked if a.host == host]
        assert len(times) == 22
        assert min(b - a for a, b in itertools.pairwise(times)) >= 1.0
        assert times[-1] - times[0] < 40.0
    times = [a.t for a in crawl.lab.asked if a.host == "slow.test"]
    gaps = [b - a for a, b in itertools.pairwise(times[1:])]
    assert len(times) == 22 and 8.0 <= min(gaps) <= max(gaps) < 9.5


def test_many_links_of_one_host_keep_its_gap(crawl):  # FRO-07
    """On the wall clock: three hosts at once, each asked no sooner than its delay allows."""
    listing = page(*(f"/page/{i}" for i in range(8)))
    crawl.serve({"*": {"/robots.txt": {"s": 404}, "/": listing, "*": {"b": "x"}}})
    crawl.project(*(f"http://{c}.test/" for c in "abc"), politeness='delay = "0.2 s"\njitter = 0')
    began = time.monotonic()
    crawl.run()
    assert time.monotonic() - began < 6.0
    for host in ("a.test", "b.test", "c.test"):
        times = [a.t for a in crawl.lab.asked if a.host == host]
        assert len(times) == 10
        assert min(b - a for a, b in itertools.pairwise(times)) >= 0.19


def test_a_second_process_on_one_store_is_told_so(crawl):  # FRO-07, STO-01
    crawl.serve({"*": {"/": page("/a"), "*": {"b": "x", "delay": 1.0}}})
    crawl.project("http://a.test/")
    first = crawl.start("run", "-q")
    wait_for(lambda: crawl.lab.asked or crawl.lab._counts)
    second = crawl.cli("run", "--json", "-q")
    assert second.code == 1
    assert "recrawl.db" in second.err and not second.out.strip()
    _, err = first.communicate(timeout=30)
    assert first.returncode == 0, err
    assert sorted(a.path for a in crawl.lab.pages()) == ["/", "/a"]


def wait_for(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_goes_on_where_it_stopped(crawl, how):  # FRO-01
    n = 60
    slow = {"b": "<a href='/'>h</a>", "delay": 0.02}
    crawl.serve({"any.test": {"/": page(*(f"/page/{i}" for i in range(n))), "*": slow}})
    crawl.project("http://any.test/")
    process = crawl.start("run", "-q")
    wait_for(lambda: len(crawl.lab.pages()) >= 15)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode == 130
    first = len(crawl.lab.pages())
    assert 15 <= first < n
    said = crawl.run()
    asked = [a.path for a in crawl.lab.pages()]
    assert len(asked) == len(set(asked)) == n + 1
    assert said["new"] == n + 1 - first


def test_killed_again_and_again(crawl):  # FRO-03
    n, kills = 100, 4
    slow = {"b": "<a href='/'>h</a>", "delay": 0.02}
    crawl.serve({"any.test": {"/": page(*(f"/page/{i}" for i in range(n))), "*": slow}})
    crawl.project("http://any.test/", politeness='delay = "0 s"\nconcurrency = 4')
    for k in range(1, kills + 1):
        process = crawl.start("run", "-q")
        wait_for(lambda k=k: len(crawl.lab.pages()) >= 18 * k)
        process.kill()
        process.communicate()
    crawl.run()
    asked = [a.path for a in crawl.lab.pages()]
    assert len(set(asked)) == n + 1
    assert len(asked) - len(set(asked)) <= 4 * kills
    with crawl.store() as store:
        words = [e.verdict.word for e in store.entries() if e.key]
        assert store.open_reservations() == []
    assert words.count("new") == n + 1
    assert words.count("unknown") <= 4 * kills


@pytest.mark.parametrize("moment", ["robots", "page"])
def test_killed_before_the_first_page_was_read(crawl, moment):  # FRO-05
    running = []

    def kill(asked):
        if running and (moment == "robots" or asked.path != "/robots.txt"):
            running.pop().kill()

    crawl.serve({"any.test": {"/": page("/a"), "*": {"b": "x", "delay": 0.2}}}, on_request=kill)
    crawl.project("http://any.test/")
    process = crawl.start("run", "-q")
    running.append(process)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert crawl.run()["new"] == 2


@pytest.mark.parametrize("step", [-120.0, 120.0, -3600.0])
def test_the_wall_clock_steps_while_it_runs(crawl, monkeypatch, step):  # SCH-14
    """Pace is kept on a clock that nobody sets: the gaps stay what they were."""
    real, stepped = time.time, []
    monkeypatch.setattr(time, "time", lambda: real() + (step if stepped else 0.0))

    def count(asked):
        if asked.path == "/page/2":
            stepped.append(True)

    listing = page(*(f"/page/{i}" for i in range(6)))
    crawl.serve({"*": {"/": listing, "*": {"b": "x"}}}, now=time.monotonic, on_request=count)
    crawl.project("http://a.test/", politeness='delay = "0.3 s"\njitter = 0')
    crawl.run()
    assert len(crawl.lab.pages()) == 7 and stepped
    times = [a.t for a in crawl.lab.asked]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert 0.28 <= min(gaps) <= max(gaps) < 2.0


def test_nothing_due_deletes_nothing(crawl):  # SCH-18
    crawl.serve({"any.test": {"/": page("/a", "/b"), "*": {"b": "x"}}})
    crawl.project("http://any.test/", budget=HOURLY)
    crawl.days(1 / 24)
    for _ in range(3):
        crawl.days(0.2 / 24)
    assert {crawl.page(p).state.word for p in ("/", "/a", "/b")} == {"live"}
    assert crawl.changes() == []


def test_a_listing_that_drops_its_links_deletes_nothing(crawl):  # SCH-18
    listing = {"steps": [page("/a", "/b"), page()]}
    crawl.serve({"any.test": {"/": listing, "*": {"b": "x"}}})
    crawl.project("http://any.test/")
    crawl.passes(3)
    assert {crawl.page(p).state.word for p in ("/a", "/b")} == {"live"}
    assert len(crawl.lab.of("/a")) == 3


@pytest.mark.parametrize("gap", ["2 d", "7 d", "30 d"])
def test_a_policy_that_changed_rules_at_once(crawl, gap):  # SCH-10
    budget = 'per_day = "10 MB"\nwindow = "1 h"\nreserves = {verification = 0}\nmin_gap = '
    step = {"b": "text {{n}}"}
    crawl.serve({"any.test": {"/": page(*(f"/p/{i}" for i in range(9))), "*": step}})
    crawl.project("http://any.test/", budget=budget + '"1 h"')
    crawl.days(1)
    crawl.project("http://any.test/", budget=budget + f'"{gap}"')
    last = {a.path: a.t for a in crawl.lab.pages()}
    crawl.lab.clear()
    crawl.days(1.9)
    assert crawl.lab.pages() == [] and len(last) == 10
    crawl.project("http://any.test/", budget=budget + '"1 h"')
    crawl.days(0.2)
    assert len(crawl.lab.pages()) > 5
