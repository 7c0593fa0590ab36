"""Hints and links: one page an address, within the limits, every refusal counted."""

from __future__ import annotations

import pytest

from engine.harness import ORIGIN, Play, answer, moved, ok, pages, project
from recrawl.engine.admit import admit_links
from recrawl.engine.request import private_ok
from recrawl.frontier.admit import AdmitLimits, Scope
from recrawl.model import Hint, Kind, Links, Refused, State
from recrawl.urls.patterns import PatternSet


def test_the_seed_is_a_page_and_stays_one_over_restarts(play: Play) -> None:
    assert play.page("/").state is State.NEW
    play.start()
    assert play.crawl.mirror.n == 1
    assert play.refused() == {}


def test_unknown_addresses_become_pages_known_ones_are_counted(play: Play) -> None:
    first = play.admit(f"{ORIGIN}/a", f"{ORIGIN}/b", f"{ORIGIN}/a#top", f"{ORIGIN}/")
    assert (first.new, first.known, first.refused, first.sighted) == (2, 2, 0, 4)
    again = play.admit(f"{ORIGIN}/a", f"{ORIGIN}/b")
    assert (again.new, again.known) == (0, 2)
    assert play.page("/a").depth == 1
    assert play.page("/a").first_seen == play.now


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mailto:a@b.example", Refused.SCHEME),
        ("https://user:pw@a.example/", Refused.USERINFO),
        ("https://c.example/", Refused.OUT_OF_SCOPE),
        (f"{ORIGIN}/{'x' * 3000}", Refused.TOO_LONG),
        (f"{ORIGIN}/a/b/a/b/a/b/", Refused.PATH_REPEATS),
        (f"{ORIGIN}/private/x", Refused.EXCLUDED),
    ],
)
def test_each_refusal_is_counted_by_its_reason(url: str, reason: Refused) -> None:
    play = Play(project(patterns=PatternSet(exclude=["/private/"])))
    found = play.admit(url, url)
    assert (found.new, found.refused) == (0, 2)
    assert play.refused() == {reason.value: 2}
    assert play.crawl.mirror.n == 1


def test_caps_of_pages_hold_and_are_counted() -> None:
    play = Play(project(admit=AdmitLimits(per_host=3, total=4)))
    found = play.admit(*(f"{ORIGIN}/{i}" for i in range(5)))
    assert (found.new, found.refused) == (2, 3)
    other = play.admit(*(f"https://b.example/{i}" for i in range(5)))
    assert (other.new, other.refused) == (1, 4)
    assert play.refused() == {Refused.HOST_FULL.value: 3, Refused.PROJECT_FULL.value: 4}


def test_caps_count_what_an_earlier_run_admitted() -> None:
    play = Play(project(admit=AdmitLimits(per_host=2)))
    play.admit(f"{ORIGIN}/a")
    play.start()
    assert play.admit(f"{ORIGIN}/b").refused == 1


def test_depth_is_counted_in_links_from_a_seed() -> None:
    play = Play(project(admit=AdmitLimits(depth=2)))
    site = pages({f"/{i}" if i else "/": ok(str(i), f"/{i + 1}") for i in range(5)})
    assert play.crawl_once(site)[1:] == [f"{ORIGIN}/", f"{ORIGIN}/1", f"{ORIGIN}/2"]
    assert play.refused() == {Refused.TOO_DEEP.value: 1}
    assert [play.page(p).depth for p in ("/", "/1", "/2")] == [0, 1, 2]


def test_a_seed_passes_scope_depth_and_privacy_a_link_does_not() -> None:
    seed = "http://127.0.0.1:8080/"
    play = Play(project(seeds=(seed,), scope=Scope(["a.example", "127.0.0.1"])))
    assert play.crawl.mirror.n == 1
    loopback = [Hint("http://127.0.0.2/", "link", depth=1)]
    assert Play(project(scope=Scope(["*"]))).admit(*loopback).refused == 1
    out_of_scope = Play(project(seeds=("https://else.example/",)))
    assert out_of_scope.crawl.mirror.n == 1
    assert out_of_scope.admit("https://else.example/x").refused == 1


def test_only_a_seeds_host_may_be_private_on_the_wire(play: Play) -> None:
    play.admit("https://b.example/")
    play.plan()
    seen = {v.request.url: v.request.private_ok for v in (play.visit(), play.visit())}
    assert seen == {f"{ORIGIN}/robots.txt": True, "https://b.example/robots.txt": False}


@pytest.mark.parametrize(
    ("link", "ok"),
    [
        ("https://intra.example/x", True),  # 80 and 443 are one site
        ("http://intra.example:9200/_search", False),
        ("https://intra.example:8443/", False),
    ],
)
def test_a_seeds_other_ports_are_a_strangers(link: str, ok: bool) -> None:
    """A name may resolve to a private address; only the port that the seed names is trusted."""
    play = Play(project(seeds=("http://intra.example/",), scope=Scope(["intra.example"])))
    assert private_ok(play.crawl, link) is ok


@pytest.mark.parametrize("to", ["http://169.254.169.254/", "http://10.0.0.1/robots.txt"])
def test_a_seeds_robots_txt_leads_to_no_private_host(play: Play, to: str) -> None:
    """The leave that a seed's own host has doesn't pass on to where it redirects."""
    play.plan()
    play.record(play.visit(), moved(to, 302))
    assert play.visit().request.url == f"{ORIGIN}/"


def test_a_seeds_robots_txt_elsewhere_is_asked_as_a_strangers(play: Play) -> None:
    play.plan()
    play.record(play.visit(), moved("https://cdn.example/robots.txt", 302))
    hop = play.visit()
    assert hop.request.url == "https://cdn.example/robots.txt"
    assert not hop.request.private_ok, "its name may resolve to anything"


def test_links_in_bulk_equal_links_one_by_one() -> None:
    hrefs = ("/a", "b?x=1&y=2", "?page=2", "#frag", "//b.example/c", "https://a.example/a", "",
             "javascript:void(0)", "https://elsewhere.example/")  # fmt: skip
    base = f"{ORIGIN}/dir/page"
    bulk, single = Play(), Play()
    found, writes = admit_links(bulk.crawl, Links(base, hrefs, depth=1), bulk.now)
    bulk.commit(writes)
    one = single.admit(*(Hint(h, "link", base, depth=1) for h in hrefs))
    assert (found.new, found.refused) == (one.new, one.refused)
    assert bulk.store.scan_hot().array().tolist() == single.store.scan_hot().array().tolist()
    assert sum(bulk.refused().values()) == sum(single.refused().values())


def test_links_seen_before_cost_nothing_and_count_as_sighted(play: Play) -> None:
    from recrawl.engine.admit import admit_links

    links = Links(f"{ORIGIN}/d/x", ("/a", "b", "c"), depth=1)
    first, writes = admit_links(play.crawl, links, play.now)
    play.commit(writes)
    again, writes = admit_links(play.crawl, links, play.now)
    assert (first.new, again.known, again.new) == (3, 3, 0)
    assert not writes
    other, writes = admit_links(play.crawl, Links(f"{ORIGIN}/e/x", ("b",), 1), play.now)
    play.commit(writes)
    assert other.new == 1, "a relative link means another page in another folder"


def test_refusals_of_links_are_counted_each_time(play: Play) -> None:
    links = Links(f"{ORIGIN}/", ("https://c.example/", "/a"), depth=1, nofollow=4)
    from recrawl.engine.admit import admit_links

    for _ in range(2):
        _, writes = admit_links(play.crawl, links, play.now)
        play.commit(writes)
    assert play.refused() == {Refused.OUT_OF_SCOPE.value: 2, Refused.NOFOLLOW.value: 8}


def test_a_redirects_target_is_admitted_with_its_hops_counted() -> None:
    play = Play(project(admit=AdmitLimits(hops=2)))
    site = pages({"/": moved("/1"), **{f"/{i}": moved(f"/{i + 1}") for i in range(1, 9)}})
    assert play.crawl_once(site)[1:] == [f"{ORIGIN}/", f"{ORIGIN}/1", f"{ORIGIN}/2"]
    assert play.refused() == {Refused.TOO_MANY_HOPS.value: 1}
    assert [play.page(p).hops for p in ("/", "/1", "/2")] == [0, 1, 2]
    assert play.page("/1").depth == 0, "a redirect is no link: its target is as near as it was"
    assert play.page("/").target == f"{ORIGIN}/1"


def test_a_redirect_out_of_scope_is_refused(play: Play) -> None:
    play.crawl_once(pages({"/": moved("https://ads.example/")}))
    assert play.page("/").state is State.ALIAS
    assert play.refused() == {Refused.OUT_OF_SCOPE.value: 1}


def test_a_page_found_in_a_window_is_queued_in_it(play: Play) -> None:
    play.plan()
    play.serve(pages({"/": ok("home", "/a")}))
    assert play.page("/a").last_attempt, "it was asked for without another plan"


def test_hosts_are_told_apart_by_scheme_and_port(play: Play) -> None:
    play.admit("http://a.example/", "https://a.example:8443/", "https://a.example:443/")
    assert [h.origin for h in play.store.load_hosts()] == [
        "https://a.example", "http://a.example", "https://a.example:8443",
    ]  # fmt: skip
    assert [h.n_pages for h in play.store.load_hosts()] == [1, 1, 1]


def test_values_and_types_come_from_the_projects_rules() -> None:
    from recrawl.urls.match import SiteMatcher, SiteRule

    sites = SiteMatcher([SiteRule("a.example/p/*", "product", 4.0)])
    play = Play(project(sites=sites, specs=tuple({} for _ in sites.types)))
    play.admit(f"{ORIGIN}/p/1", Hint(f"{ORIGIN}/p/2", "link", value=0.5, depth=1))
    one, two, home = play.page("/p/1"), play.page("/p/2"), play.page("/")
    assert sites.types[one.page_type].name == "product"
    assert (one.value, two.value, home.value) == (4.0, 0.5, 1.0)
    assert one.score > play.page("/").score - 10


def test_a_failing_page_is_no_reason_to_forget_its_links(play: Play) -> None:
    play.admit(f"{ORIGIN}/a")
    play.crawl_once(pages({"/": answer(Kind.SERVER_ERROR, 500), "/a": ok("a", "/b")}))
    assert play.page("/b").depth == 2
