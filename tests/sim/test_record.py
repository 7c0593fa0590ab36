"""The product's own eyes on the made-up pages: noise is no change, a new version is one."""

from __future__ import annotations

import random
from urllib.parse import urljoin

import pytest

from recrawl.extract.document import Document
from recrawl.extract.links import links
from recrawl.extract.text import Tiers, tiers
from recrawl.sim.html import Pages
from recrawl.sim.web import MadeUpWeb

KIND = "text/html; charset=utf-8"
PAGES = tuple(range(0, 2000, 67))


@pytest.fixture(scope="module")
def drawn(web: MadeUpWeb) -> Pages:
    return Pages(web)


def seen(web: MadeUpWeb, drawn: Pages, page: int, version: int, seed: int) -> Tiers:
    body = drawn.body(page, version, 1.7e9 + 5000 * seed, random.Random(seed))
    return tiers(Document(body, KIND, web.url(page, 80)))


@pytest.mark.parametrize("page", PAGES)
def test_noise_moves_the_visible_text_and_never_the_main_text(
    web: MadeUpWeb, drawn: Pages, page: int
) -> None:
    views = [seen(web, drawn, page, 4, seed) for seed in range(8)]
    assert len({v.visible for v in views}) == 8
    assert len({v.main for v in views}) == 1


@pytest.mark.parametrize("page", PAGES)
def test_every_version_is_another_record(web: MadeUpWeb, drawn: Pages, page: int) -> None:
    views = {seen(web, drawn, page, version, 1).main for version in range(20)}
    assert len(views) == 20


def test_pages_are_not_taken_for_each_other(web: MadeUpWeb, drawn: Pages) -> None:
    assert len({seen(web, drawn, page, 0, 1).main for page in PAGES}) == len(PAGES)


def test_its_links_lead_a_crawler_to_every_page(web: MadeUpWeb, drawn: Pages) -> None:
    host = web.hosts[3]  # the forum: its addresses differ in their queries alone
    found, todo = {host.home}, [host.home]
    while todo:
        page = todo.pop()
        url = web.url(page, 80)
        doc = Document(drawn.body(page, 0, 1.7e9, random.Random(1)), KIND, url)
        for href in links(doc).hrefs:
            target = web.find(urljoin(url, href))
            if target is not None and target not in found:
                found.add(target)
                todo.append(target)
    assert found == set(host.pages)
