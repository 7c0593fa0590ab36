"""robots.txt that is down, slow, elsewhere or none at all, and rules as people write them."""

import time
from itertools import pairwise

import pytest

from cases.conftest import DAY, script
from servers.lab import page

RULES = "User-agent: *\nDisallow: /private/\n"
SHORT = 'connect_time = "0.3 s"\nfirst_byte_time = "0.3 s"\ntotal_time = "1 s"'
HOURS = 'per_day = "30 MB"\nwindow = "1 h"\nmin_gap = "1 h"'
SITE = page("/private/a", "/public")
DOWN = {
    "503": {"s": 503, "h": {"Content-Type": "text/html"}, "b": "<html>down</html>"},
    "500": {"s": 500, "b": "<html>error</html>"},
    "silence": {"hang": True},
    "cut": {"b": RULES, "abort": 5},
    "429": {"s": 429, "b": "slow"},
    "false gzip": {"h": {"Content-Encoding": "br"}, "b": RULES},
}


@pytest.mark.parametrize("how", [d for d in DOWN if d != "false gzip"])
def test_unreachable_forbids_all_for_now(crawl, how):  # ROB-01, ROB-03
    robots = {"steps": [DOWN[how]] * 5 + [{"b": RULES}]}
    crawl.serve({"shop.test": {"/robots.txt": robots, "/": SITE, "*": {"b": "x"}}})
    crawl.project("http://shop.test/", limits=SHORT, budget=HOURS)
    crawl.days(0.001)
    assert crawl.lab.pages() == [] and crawl.lab.asked
    assert "robots.txt can't be read" in crawl.cli("hosts", "--json").out
    crawl.days(2)
    tries = crawl.lab.of("/robots.txt")
    assert 6 <= len(tries) <= 12
    assert {a.path for a in crawl.lab.pages()} == {"/", "/public"}


@pytest.mark.parametrize("how", ["503", "silence"])
def test_the_last_copy_rules_for_a_day(crawl, how):  # ROB-01
    robots = {"steps": [{"b": RULES}, DOWN[how]]}
    crawl.serve(
        {"shop.test": {"/robots.txt": robots, "/": SITE, "*": {"b": "x {{n}}"}}},
        now=crawl.clock.now,
    )
    crawl.project("http://shop.test/", limits=SHORT, budget=HOURS)
    start = crawl.clock.t
    crawl.days(5)
    times = [a.t - start for a in crawl.lab.pages()]
    assert not crawl.lab.of("/private/a")
    assert max(times) > DAY and max(times) < 2.2 * DAY


@pytest.mark.parametrize("seconds", [30, 600])
def test_too_many_requests_cools_the_host(crawl, seconds):  # ROB-03
    site = script("ROB-03")
    site["*"]["/robots.txt"]["steps"][0]["h"]["Retry-After"] = str(seconds)
    crawl.serve(site, now=crawl.clock.now)
    crawl.project("http://any.test/", budget=HOURS)
    start = crawl.clock.t
    crawl.days(1)
    assert min(a.t for a in crawl.lab.asked[1:]) >= start + seconds
    assert crawl.lab.pages()


@pytest.mark.parametrize("status", [400, 404, 410, 451])
def test_none_means_no_rules(crawl, status):
    crawl.serve({"shop.test": {"/robots.txt": {"s": status}, "/": SITE, "*": {"b": "x"}}})
    crawl.project("http://shop.test/")
    crawl.passes()
    assert {a.path for a in crawl.lab.pages()} == {"/", "/private/a", "/public"}


@pytest.mark.parametrize(
    ("target", "followed"),
    [
        ("http://other.test/robots.txt", True),
        ("/other/robots.txt", True),
        ("http://127.0.0.1:2375/", False),
        ("http://169.254.169.254/latest", False),
        ("http://localhost/robots.txt", False),
        ("ftp://other.test/robots.txt", False),
    ],
)
def test_redirected_rules_speak_for_the_asking_host(crawl, target, followed):  # ROB-05
    rules = {"b": "User-agent: *\nDisallow: /x\n"}
    own = {"/": page("/x", "/y"), "/other/robots.txt": rules, "*": {"b": "p"}}
    own["/robots.txt"] = {"s": 302, "h": {"Location": target}}
    crawl.serve({"a.test": own, "other.test": {"/robots.txt": rules, "*": page("/x")}})
    crawl.project("http://a.test/", "http://other.test/")
    crawl.passes()
    assert bool(crawl.lab.of("/x", "a.test")) != followed
    assert crawl.lab.of("/y", "a.test")
    assert {a.host for a in crawl.lab.asked} <= {"a.test", "other.test"}
    elsewhere = followed and "other.test" in target
    assert len(crawl.lab.of("/robots.txt", "other.test")) == 1 + elsewhere  # and for itself


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", "<!doctype html><html><pre>\nUser-agent: *\nDisallow: /\n</pre></html>"),
        ("text/plain", "<html><script>\nUser-agent: *\nDisallow: /\n</script>"),
        ("text/html; charset=utf-8", "\n\n  <!-- x -->\n<HTML>\nUser-agent: *\nDisallow: /\n"),
        ("text/plain", "\ufeff<!DOCTYPE html>\nUser-agent: *\nDisallow: /\n"),
    ],
)
def test_a_page_instead_of_rules(crawl, kind, body):  # ROB-17
    robots = {"h": {"Content-Type": kind}, "b": body}
    crawl.serve({"any.test": {"/robots.txt": robots, "*": {"b": "page"}}})
    crawl.project("http://any.test/")
    crawl.passes()
    assert len(crawl.lab.of("/")) == 1
    assert "html" in crawl.cli("hosts", "--json").out


@pytest.mark.parametrize("delay", [5, 120, 3600])
def test_a_long_crawl_delay_is_the_pace(crawl, delay):  # ROB-15
    site = script("ROB-15")
    site["slow.test"]["/robots.txt"]["b"] = f"User-agent: *\nCrawl-delay: {delay}\n"
    crawl.serve(site, now=crawl.clock.now)
    crawl.project("http://slow.test/", politeness='delay = "2 s"\njitter = 0')
    crawl.passes(1)
    times = [a.t for a in crawl.lab.asked]
    assert len(times) == 7
    assert min(b - a for a, b in pairwise(times[1:])) >= delay


BOM = "\ufeffUser-agent: *\r\nDisallow: /\r\n"
GROUPS = """\
User-agent: *
Disallow: /*/print$
Sitemap: http://h.test/s.xml
User-agent: AhrefsBot
Crawl-delay: 10
User-agent: deepcrawl
Disallow: /
"""
STARS = "User-agent: *\nDisallow: /" + "*" * 2000 + "/\nDisallow: /a" + "*a" * 600 + "$\n"


@pytest.mark.parametrize(
    ("rules", "agent", "path", "allowed"),
    [
        (BOM, "any", "/x", False),  # ROB-07
        ("\ufeff" + BOM, "any", "/x", True),  # one BOM is stripped, two are no rule
        (GROUPS, "any", "/x/print", False),  # ROB-09
        (GROUPS, "any", "/x/print/y", True),
        (GROUPS, "deepcrawl", "/x", False),
        (GROUPS, "AhrefsBot", "/x", False),  # one group, whatever stands between its names
        ("Crawl-delay: 1\nUser-agent: *\nDisallow: /*%\n", "any", "/a", True),  # ROB-13
        ("Crawl-delay: 1\nUser-agent: *\nDisallow: /*%\n", "any", "/a%20b", False),
        ("Disallow: /\nUser-agent: *\nAllow: /\n", "any", "/a", True),
        (STARS, "any", "/" + "x" * 100, True),  # ROB-11
        (STARS, "any", "/" + "a" * 1500 + "b", True),
        (STARS, "any", "/a/", False),
    ],
)
def test_rules_as_people_write_them(crawl, rules, agent, path, allowed):
    file = crawl.folder / "robots.txt"
    file.write_text(rules, newline="")
    began = time.process_time()
    result = crawl.cli("robots", file, "--agent", agent, f"http://h.test{path}", "--json")
    assert time.process_time() - began < 1.0
    assert result.rows[0]["allowed"] is allowed, result.out


def test_a_delay_for_another_bot_is_not_ours(crawl):  # ROB-09
    crawl.serve({"h.test": {"/robots.txt": {"b": GROUPS}, "/": page("/a", "/b"), "*": {"b": "x"}}})
    crawl.project("http://h.test/")
    start = crawl.clock.t
    crawl.passes(1, gap=0.0)
    assert crawl.clock.t - start < 5.0 and len(crawl.lab.pages()) == 3
