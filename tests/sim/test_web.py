"""The made-up web is what it says: reachable, seeded, and true to its own dates."""

from __future__ import annotations

import random
import re
from html import unescape

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sim.growth import make_web
from recrawl.sim.html import Pages
from recrawl.sim.kinds import KINDS, NOISY_FACTOR, Validator
from recrawl.sim.web import MadeUpWeb, WebSpec
from recrawl.units import DAY, MINUTE

HREF = re.compile(rb'href="([^"]+)"')


def links(pages: Pages, page: int) -> set[str]:
    body = pages.body(page, 0, 0.0, random.Random(1))
    return {unescape(x.decode()) for x in HREF.findall(body)}


@pytest.mark.parametrize(("hosts", "pages"), [(1, 40), (3, 130), (5, 2000), (12, 900)])
def test_every_page_is_reachable_by_links_from_its_home(hosts: int, pages: int) -> None:
    web = make_web(WebSpec(seed=9, hosts=hosts, pages=pages))
    drawn = Pages(web)
    for number, host in enumerate(web.hosts):
        seen, todo = {host.home}, [host.home]
        while todo:
            for path in links(drawn, todo.pop()):
                page = web.page_at(number, path)
                if page is not None and page not in seen:
                    seen.add(page)
                    todo.append(page)
        assert seen == set(host.pages)


def test_listing_pages_are_linked_only_from_the_page_before(web: MadeUpWeb) -> None:
    """Deep listings can't be reached in one step: depth is part of what a crawler must bear."""
    forum = next(h for h in web.hosts if h.kind.name == "forum")
    listings = {p for p in forum.pages if web.types[p].name == "listing"} - {forum.home}
    assert len(listings) > len(forum.nav) >= 5
    assert not (listings - set(forum.nav)) & set(web.links[forum.home])


def test_the_demo_web_is_as_the_issue_wants_it(web: MadeUpWeb) -> None:
    assert len(web.hosts) == 5
    assert len(web) == 2000
    assert {h.validator for h in web.hosts} == set(Validator)
    assert sum(h.throttled for h in web.hosts) == 1
    assert 1 / web.rate.max() == pytest.approx(15 * MINUTE, rel=0.01)
    assert 0.2 < np.mean(web.rate == 0) < 0.5
    assert 11_000 < web.size.mean() < 13_000
    assert web.size.min() >= 4000
    assert web.size.max() <= 60_000
    for host in web.hosts:
        assert {status for status, _ in host.redirects.values()} == {301, 302, 308}
        assert host.missing
    dead = np.isfinite(web.died)
    assert 20 < dead.sum() < 100
    assert set(web.gone_status[dead]) == {404, 410}
    assert np.all(web.died[dead] > web.spec.start)
    assert np.all(web.died[dead] < web.spec.end)


def test_no_listing_ever_dies(web: MadeUpWeb) -> None:
    dead = np.flatnonzero(np.isfinite(web.died))
    assert all(web.types[p].name != "listing" for p in dead)


def test_the_same_spec_gives_the_same_web_and_another_seed_another() -> None:
    a, b = make_web(WebSpec(seed=4, pages=300)), make_web(WebSpec(seed=4, pages=300))
    c = make_web(WebSpec(seed=5, pages=300))
    assert a.paths == b.paths
    assert a.links == b.links
    assert np.array_equal(a.changes, b.changes)
    assert np.array_equal(a.died, b.died)
    assert len(a.changes) != len(c.changes)


def test_changes_come_as_often_as_the_rate_says() -> None:
    """Poisson counts: within 4 standard deviations for each kind of host, and for the whole."""
    web = make_web(WebSpec(seed=11, pages=3000))
    span = web.spec.days * DAY
    counts = np.diff(web.bounds)
    for host in web.hosts:
        pages = slice(host.pages.start, host.pages.stop)
        expected = web.rate[pages].sum() * span
        assert abs(counts[pages].sum() - expected) < 4 * np.sqrt(expected) + 0.005 * expected
    z = (counts - web.rate * span)[web.rate > 0] / np.sqrt((web.rate * span)[web.rate > 0])
    assert 0.85 < z.std() < 1.15


def test_gaps_between_changes_are_exponential() -> None:
    web = make_web(WebSpec(seed=2, pages=3000))
    page = int(np.argmax(np.diff(web.bounds)))
    gaps = np.diff(web.changes[web.bounds[page] : web.bounds[page + 1]])
    assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=0.1)
    assert gaps.min() >= 2.0


def test_the_noisy_validator_moves_twenty_times_as_often(web: MadeUpWeb) -> None:
    for number, host in enumerate(web.hosts):
        pages = (web.host == number) & (web.rate > 0)
        ratio = np.diff(web.move_bounds)[pages].sum() / np.diff(web.bounds)[pages].sum()
        if host.validator is Validator.NOISY_ETAG:
            assert ratio == pytest.approx(NOISY_FACTOR, rel=0.1)
        else:
            assert ratio == 1.0


def test_every_change_of_the_record_moves_the_validator(web: MadeUpWeb) -> None:
    """Noise is added to honest validators, so that a 304 is never a lie."""
    for page in range(0, len(web), 37):
        changes = web.changes[web.bounds[page] : web.bounds[page + 1]]
        moves = web.moves[web.move_bounds[page] : web.move_bounds[page + 1]]
        assert np.isin(changes, moves).all()
        assert np.all(np.diff(moves) >= 0)


@settings(max_examples=60, deadline=None)
@given(page=st.integers(0, 1999), at=st.floats(-5, 35), later=st.floats(0, 35))
def test_versions_follow_the_change_times(
    web: MadeUpWeb, page: int, at: float, later: float
) -> None:
    t0 = web.spec.start + at * DAY
    t1 = t0 + later * DAY
    times = web.changes[web.bounds[page] : web.bounds[page + 1]].tolist()
    url = web.url(page, 80)
    assert web.page_version(url, t0) == sum(t <= t0 for t in times)
    one = np.array([page])
    assert web.versions(one, np.array([t0]))[0] == web.page_version(url, t0)
    after = [t for t in times if t > t0]
    assert web.next_change(one, np.array([t0]))[0] == (after[0] if after else np.inf)
    assert web.changed_between(url, t0, t1) == any(t0 < t <= t1 for t in times)
    died = t0 < web.died[page] <= t1
    assert web.fresh(url, t0, t1) == (not web.changed_between(url, t0, t1) and not died)


def test_urls_lead_to_pages_tracking_parameters_or_not(web: MadeUpWeb) -> None:
    for page in (0, 5, 399, 1300, 1999):
        url = web.url(page, 8000)
        join = "&" if "?" in url else "?"
        assert web.find(url) == page
        assert web.find(f"{url}{join}utm_source=x&utm_medium=y") == page
        assert web.find(f"{url}{join}sort=asc") is None
    assert web.find("http://example.org/") is None
    assert web.find(f"http://{web.hosts[0].ip}:80/go/1") is None
    with pytest.raises(KeyError, match="no page"):
        web.page_version("http://example.org/", 0.0)


def test_a_new_version_shows_new_words_and_noise_leaves_them_alone(web: MadeUpWeb) -> None:
    pages, noise = Pages(web), random.Random(0)
    cut = re.compile(rb'<p class="lead">.*?</p><p>Price .*?</p>')
    for page in (0, 17, 450, 1250, 1700):
        first, second = (pages.body(page, 3, 1e9 + k, noise) for k in range(2))
        assert first != second
        assert cut.findall(first) == cut.findall(second)
        assert len(cut.findall(first)) == 1
        newer = pages.body(page, 4, 1e9, noise)
        words = [set(re.findall(rb"[a-z]{4,}", cut.findall(x)[0])) for x in (first, newer)]
        assert len(words[0] ^ words[1]) > 5  # words, not only figures
        assert cut.sub(b"", first)[:200] != b""


def test_page_types_tell_every_page(web: MadeUpWeb) -> None:
    """The first pattern that fits a path is the page's own type."""
    by_kind = {k.item.name for k in KINDS} | {"listing"}
    assert {t.name for t in web.page_types()} == by_kind
    types = web.page_types()
    for page, path in enumerate(web.paths):
        fit = next(t for t in types if path.startswith(t.pattern))
        assert fit == web.types[page]
        assert web.value[page] == fit.value


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"hosts": 0}, "1 to 250"), ({"pages": 10}, "at least 40"), ({"days": 0.0}, "positive")],
)
def test_a_spec_that_can_be_no_web_is_refused(wrong: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        WebSpec(**wrong)  # type: ignore[arg-type]
