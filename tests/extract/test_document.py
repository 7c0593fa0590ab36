"""One body, read at most once: kind, title, base, tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.document import Document, join
from recrawl.extract.links import canonical, links, refresh, robots_meta
from recrawl.extract.text import tiers

DATA = Path(__file__).parents[1] / "data" / "extract"
URL = "https://e.com/dir/page.html?x=1"


def html(body: str, url: str = URL) -> Document:
    return Document(body.encode(), "text/html; charset=utf-8", url)


BASES = [json.loads(line) for line in (DATA / "html_base.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", BASES, ids=[case["name"] for case in BASES])
def test_the_base_is_that_of_the_html_standard(case: dict[str, str]) -> None:
    assert html(case["html"], case["page"]).base == case["base"]


def test_the_vectors_here_are_all_the_vectors() -> None:
    shared = Path(__file__).parents[2].parent / "shared" / "vectors" / "html_base.jsonl"
    if not shared.exists():
        pytest.skip("no shared vectors beside this checkout")
    assert [json.loads(line) for line in shared.read_text().splitlines()] == BASES


@pytest.mark.parametrize(
    ("content_type", "body", "is_html", "is_json"),
    [
        ("text/html", b"<p>x", True, False),
        ("TEXT/HTML ; charset=utf-8", b"plain", True, False),
        ("application/xhtml+xml", b"<html/>", True, False),
        (None, b"  \n<!doctype html><p>x", True, False),
        ("application/octet-stream", b"<html>", True, False),
        (None, b"plain words", False, False),
        (None, b"<?xml version='1.0'?><urlset/>", False, False),
        (None, b"<?xml version='1.0'?><html xmlns='x'/>", True, False),
        ("text/plain", b"<p>not markup</p>", False, False),
        ("application/xml", b"<a/>", False, False),
        ("application/json", b'{"a":1}', False, True),
        ("application/vnd.api+json", b"[1]", False, True),
        ("application/json", b'"word"', False, True),
        ("text/html", b' {"a": 1}', False, True),  # an API that never set its type
        ("text/plain", b"[1,2]", False, True),
        ("application/json", b"{broken", False, False),
        ("text/html", b"{ not json } <p>x", True, False),
        ("application/json", b"<html>an error page</html>", False, False),
        (None, b"", False, False),
        ("image/png", b"\x89PNG", False, False),
    ],
)
def test_kind(content_type: str | None, body: bytes, is_html: bool, is_json: bool) -> None:
    doc = Document(body, content_type, URL)
    assert (doc.is_html, doc.is_json) == (is_html, is_json)


@pytest.mark.parametrize(
    ("content_type", "body", "binary"),
    [
        ("image/png", b"x", True),
        ("image/svg+xml", b"<svg/>", False),
        ("application/pdf", b"%PDF\0\0x", True),
        ("application/pdf", b"%PDF", False),
        ("text/html", b"<p>\0x</p>", False),
        (None, b"\xff\xfea\0b\0", False),  # UTF-16
    ],
)
def test_binary(content_type: str | None, body: bytes, binary: bool) -> None:
    assert Document(body, content_type, URL).is_binary is binary


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>A &amp; B</title>", "A & B"),
        ("<title>\n two   lines\n</title>", "two lines"),
        ("<svg><title>drawing</title></svg><p>x", ""),
        ("<head><noscript><img></noscript><title>late</title></head>", "late"),
        ("<title>one</title><title>two</title>", "one"),
        ("<!-- <title>no</title> --><script>'<title>no</title>'</script>", ""),
        ("<title></title>", ""),
    ],
)
def test_title(page: str, title: str) -> None:
    assert html(page).title == title


def test_the_tree_given_away_is_not_the_one_that_is_kept() -> None:
    doc = html("<nav><a href=/n>n</a></nav><script type=application/ld+json>{}</script><p>t")
    before = links(doc)
    assert before.hrefs == ("/n",)
    first = tiers(doc)  # takes the tree apart
    assert links(doc) == before
    assert len(doc.tree.tags("script")) == 1
    assert tiers(doc) == first


def test_one_parse_serves_all_who_only_look() -> None:
    doc = html("<title>t</title><a href=/x>x</a>")
    tree = doc.tree
    assert (doc.title, doc.base, links(doc).hrefs, doc.jsonld) == ("t", URL, ("/x",), [])
    assert doc.tree is tree


@pytest.mark.parametrize(
    ("base", "href", "expected"),
    [
        (URL, "b", "https://e.com/dir/b"),
        (URL, "", URL),
        (URL, " /a\n#frag ", "https://e.com/a"),
        (URL, "//cdn.e.org/x", "https://cdn.e.org/x"),
        (URL, "HTTP://Other.ORG", "http://other.org/"),
        (URL, "http://e.com:99999/", None),
        (URL, "http://[::1", None),
        (URL, "javascript:void(0)", None),
        (URL, "ftp://e.com/", None),
        (URL, "mailto:a@b.c", None),
        (URL, "\ud800", None),
        (URL, "/caf\u00e9", "https://e.com/caf%C3%A9"),
    ],
)
def test_join(base: str, href: str, expected: str | None) -> None:
    assert join(base, href) == expected


@given(
    st.binary(max_size=400),
    st.sampled_from([None, "text/html", "application/json", "text/plain", "text/html; charset=x"]),
)
def test_no_bytes_make_any_part_raise(body: bytes, content_type: str | None) -> None:
    doc = Document(body, content_type, URL)
    links(doc)
    canonical(doc, (("link", body.decode("latin-1")),))
    refresh(doc)
    robots_meta(doc, (("x-robots-tag", body.decode("latin-1")),), "recrawl/1")
    assert isinstance(doc.title, str)
    assert isinstance(doc.jsonld, list)
    for tier in tiers(doc):
        assert isinstance(tier, bytes)


MARKUP = st.lists(
    st.sampled_from(
        [
            *("<div>", "</div>", "<p>", "<p hidden>", "<a href=x>", "</a>", "<b>", "<table>"),
            *("<template>", "</template>", "<script>", "</script>", "<svg>", "<nav>", "<main>"),
            *("<form>", "<title>", "<base href=/q/>", "<!--", "-->", "<textarea>", "<select>"),
            *("text", "<meta http-equiv=refresh content=0;x>", "<frameset>", "</body>", "<td>"),
            *("12", "<time>"),
        ]
    ),
    max_size=60,
)


@given(MARKUP)
def test_no_markup_makes_any_part_raise_and_reading_is_repeatable(parts: list[str]) -> None:
    page = " ".join(parts)
    one, two = html(page), html(page)
    assert tiers(one) == tiers(two)
    assert links(one) == links(two)
    assert refresh(one) == refresh(two)


def test_elements_are_those_of_the_whole_tree_and_of_html_only() -> None:
    page = b"<nav><a href=1>x</a><a HREF=2>y</a></nav><svg><title>no</title></svg><time>z</time>"
    doc = Document(page, "text/html", URL)
    for name in ("a", "nav", "time", "title", "meta"):
        assert [n.html for n in doc.elements(name)] == [n.html for n in doc.tree.tags(name)]
    tiers(doc)  # takes the tree apart
    assert [n.attrs.get("href") for n in doc.elements("a")] == ["1", "2"]
    assert Document(page, "text/plain", URL).elements("a") == []
