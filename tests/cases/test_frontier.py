"""What is found, what may not be taken in, redirects and canonicals, what is due when."""

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
