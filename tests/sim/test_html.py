"""The pages' HTML: the same packed or not, moving where it should, and read right by others."""

from __future__ import annotations

import gzip
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from recrawl.sim.html import Pages
from recrawl.sim.web import MadeUpWeb


@pytest.fixture(scope="module")
def drawn(web: MadeUpWeb) -> Pages:
    return Pages(web)


@settings(max_examples=60, deadline=None)
@given(
    page=st.integers(0, 1999),
    version=st.integers(0, 3000),
    t=st.floats(1e9, 2e9),
    seed=st.integers(0, 2**32),
)
def test_packed_and_plain_are_the_same_bytes(
    drawn: Pages, page: int, version: int, t: float, seed: int
) -> None:
    packed = drawn.gzipped(page, version, t, random.Random(seed))
    assert gzip.decompress(packed) == drawn.body(page, version, t, random.Random(seed))


def test_two_processes_draw_the_same_page(web: MadeUpWeb, drawn: Pages) -> None:
    """Nothing of a page depends on what was drawn before it."""
    other = Pages(web)
    for page in (1999, 0, 777):
        mine = drawn.body(page, 5, 1e9, random.Random(1))
        assert other.body(page, 5, 1e9, random.Random(1)) == mine


def test_the_size_is_about_what_the_web_says(web: MadeUpWeb, drawn: Pages) -> None:
    sizes = [len(drawn.body(p, 0, 1e9, random.Random(1))) for p in range(0, 2000, 40)]
    told = web.size[::40]
    assert sum(sizes) == pytest.approx(told.sum(), rel=0.2)
    big = told > 8000
    for size, expected in zip(
        [s for s, b in zip(sizes, big, strict=True) if b], told[big], strict=True
    ):
        assert size == pytest.approx(expected, rel=0.25)


def test_a_browser_s_parser_finds_the_parts(web: MadeUpWeb, drawn: Pages) -> None:
    for page in (0, 3, 420, 810, 1210, 1999):
        tree = LexborHTMLParser(drawn.body(page, 1, 1e9, random.Random(1)))
        assert tree.css_first("h1").text() == tree.css_first("title").text() == drawn.title(page)
        assert float(tree.css_first(".price").text().split()[0]) > 0
        assert len(tree.css_first('meta[name="csrf-token"]').attributes["content"] or "") == 32
        assert len(tree.css("aside a")) == len(web.related[page])
        hrefs = {a.attributes["href"] for a in tree.css("main a")}
        assert {web.paths[p] for p in web.links[page]} <= hrefs
        assert tree.css_first(".ad").text().startswith("Advertisement")


def test_only_the_home_page_links_the_addresses_that_are_no_pages(
    web: MadeUpWeb, drawn: Pages
) -> None:
    for host in web.hosts:
        home = drawn.body(host.home, 0, 1e9, random.Random(1)).decode()
        for extra in host.extra:
            assert f'href="{extra}"' in home
        assert "utm_source=front" in home
        other = drawn.body(host.home + 1, 0, 1e9, random.Random(1)).decode()
        assert "/go/1" not in other
        assert "utm_source" not in other


def test_each_kind_of_noise_moves_by_itself(drawn: Pages) -> None:
    """Token, advertisement, order of the related pages, clock: each is seen to change."""
    bodies = [drawn.body(7, 2, 1e9 + k, random.Random(k)).decode() for k in range(12)]
    for pattern in (
        r'csrf-token" content="(\w+)"',
        r'class="ad">([^<]+)<',
        r"<aside>.*?<ul>(.*?)</ul>",
        r"Served at ([^<]+) UTC",
    ):
        assert len({re.findall(pattern, body, re.DOTALL)[0] for body in bodies}) > 5
    quiet = re.compile(r"<main>.*</main>", re.DOTALL)
    assert len({quiet.findall(body)[0] for body in bodies}) == 1


def test_versions_differ_from_all_others(drawn: Pages) -> None:
    lead = re.compile(rb'<p class="lead">([^<]+)<')
    seen = {lead.findall(drawn.body(9, v, 1e9, random.Random(1)))[0] for v in range(500)}
    assert len(seen) == 500
