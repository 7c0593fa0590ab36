"""Links in bulk, canonical address, refresh, robots directives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.document import Document, join
from recrawl.extract.links import canonical, links, refresh, robots_meta
from recrawl.model import Links

DATA = Path(__file__).parents[1] / "data" / "extract"
URL = "https://e.com/dir/page.html"


def html(body: str, url: str = URL, charset: str = "utf-8") -> Document:
    return Document(body.encode(charset), f"text/html; charset={charset}", url)


@pytest.mark.parametrize(
    ("page", "hrefs"),
    [
        ("<a href=/x>x</a>", ["/x"]),
        ("<a href='  /x\n'>x</a>", ["/x"]),
        ("<a href=/x>1</a><a href=/x>2</a><a href=/y>3</a>", ["/x", "/y"]),
        ("<a href=/x#a>1</a><a href=/x#b>2</a>", ["/x"]),
        ("<a href=#top>1</a><a href=''>2</a><a href='  '>3</a><a>4</a>", []),
        ("<a href=JavaScript:f()>1</a><a href=mailto:a@b>2</a><a href=tel:1>3</a>", []),
        ("<a href=data:text/html,x>1</a><a href=about:blank>2</a>", []),
        ("<a href=ftp://e.com/>1</a>", ["ftp://e.com/"]),  # the gate refuses and counts it
        ("<a href='/talk:about'>1</a><a href='data:'>2</a>", ["/talk:about"]),
        ("<map><area href=/m></map>", ["/m"]),
        ("<iframe src=/f></iframe>", ["/f"]),
        ("<frameset><frame src=/g></frameset>", ["/g"]),
        (
            "<link rel=next href=/2><link rel=prev href=/0><link rel=stylesheet href=/s>",
            ["/2", "/0"],
        ),
        ("<link rel='Next something' href=/2>", ["/2"]),
        ("<link rel=canonical href=/c><link rel=nextish href=/n>", []),
        ("<!-- <a href=/no> --><script>'<a href=/no>'</script><textarea><a href=/no>", []),
        ("<template><a href=/no>x</a></template><a href=/y>y</a>", ["/y"]),
        ("<noscript><a href=/ns>x</a></noscript>", ["/ns"]),
        ("<A HREF=/up>x</A>", ["/up"]),
        ("<a href=/?a=1&amp;b=2>x</a>", ["/?a=1&b=2"]),
        ("<a href='/?&amp;amp;p=2'>x</a>", ["/?&amp;p=2"]),  # URL-18: entities decoded once
        ("<svg><a href=/svg>x</a></svg>", ["/svg"]),
        ("<a href='/caf\u00e9'>x</a>", ["/caf\u00e9"]),
        ("<a href='/a\tb'>x</a>", ["/a\tb"]),  # the address's own repair
        ("plain", []),
    ],
)
def test_links(page: str, hrefs: list[str]) -> None:
    assert links(html(page)).hrefs == tuple(hrefs)


def test_links_know_base_depth_and_legacy_charset() -> None:
    page = "<base href=/b/><a href=x>é</a>"
    assert links(html(page), depth=3) == Links("https://e.com/b/", ("x",), 3)
    assert links(html(page, charset="windows-1252")).charset == "windows-1252"
    assert links(html(page, charset="utf-16-le")).charset is None  # queries go out in UTF-8


@pytest.mark.parametrize(
    ("rel", "kept"),
    [
        ("nofollow", False),
        ("NoFollow", False),
        ("ugc nofollow noopener", False),
        ("noopener", True),
        ("follow", True),
        ("", True),
    ],
)
def test_nofollow(rel: str, kept: bool) -> None:
    page = html(f"<a href=/x rel='{rel}'>x</a><a href=/y>y</a>")
    found = links(page)
    assert ("/x" in found.hrefs, found.nofollow) == (kept, 0 if kept else 1)
    assert links(page, honour_nofollow=False).hrefs == ("/x", "/y")


def test_an_address_followed_somewhere_is_followed() -> None:
    assert links(html("<a href=/x rel=nofollow>1</a><a href=/x>2</a>")).hrefs == ("/x",)


def test_what_is_not_html_has_no_links() -> None:
    doc = Document(b"<a href=/x>", "text/plain", URL)
    assert links(doc, depth=2) == Links(URL, (), 2)


def test_links_of_a_page_with_a_relative_base() -> None:
    url = "http://www.example.com/test/absolute/Page.html"
    doc = Document((DATA / "html_relative_base_href.html").read_bytes(), "text/html", url)
    found = links(doc)
    assert found.base == "http://www.example.com/test/absolute/blah.html"
    assert [join(found.base, href) for href in found.hrefs] == [
        "http://www.example.com/test/absolute/blah.html?param=value",
        "http://www.example.com/d/e/f.html",
        "http://www.example.com/test/absolute/path%5Eblah.html",
        "http://www.anotherhost.com/k/l/m.html",
    ]


@given(st.lists(st.sampled_from(["/a", "/b#x", "/b", "#c", "mailto:x", " /a ", "d:e", ""])))
def test_each_address_comes_once_trimmed_and_without_fragment(hrefs: list[str]) -> None:
    found = links(html("".join(f"<a href='{h}'>t</a>" for h in hrefs))).hrefs
    assert len(set(found)) == len(found)
    assert set(found) == {h.strip().partition("#")[0] for h in hrefs} - {"", "mailto:x"}


@pytest.mark.parametrize(
    ("page", "headers", "expected"),
    [
        ("<link rel=canonical href=/c>", (), "https://e.com/c"),
        ("<link rel=canonical href=page.html>", (), URL),  # FRO-21: its own, relative
        ("<link rel=canonical href=//E.com/dir/page.html>", (), URL),
        ("<base href=/b/><link rel='x canonical' href=c#f>", (), "https://e.com/b/c"),
        ("<link rel=canonical href=http://partner.test/p>", (), "http://partner.test/p"),
        ("<link rel=canonical href=/c><link rel=canonical href=/d>", (), None),
        ("<link rel=canonical href=/c><link rel=canonical href=/c>", (), "https://e.com/c"),
        ("<link rel=canonical href=''><link rel=canonical>", (), None),
        ("<link rel=canonical href=mailto:x>", (), None),
        ("<link rel=canonicalish href=/c>", (), None),
        ("", (("link", '<https://e.com/h>; rel="canonical"'),), "https://e.com/h"),
        ("<base href=/b/>", (("link", "<h>; rel=canonical"),), "https://e.com/dir/h"),
        (
            "",
            (("link", '</a>; rel=preload, </h>; title="x, y"; rel="canonical"'),),
            "https://e.com/h",
        ),
        ("", (("link", "</a>; rel=next"), ("link", "</h>; rel=Canonical")), "https://e.com/h"),
        ("<link rel=canonical href=/c>", (("link", "</h>; rel=canonical"),), None),
        ("", (("x-link", "</h>; rel=canonical"), ("link", "canonical"), ("link", "<")), None),
    ],
)
def test_canonical(page: str, headers: tuple[tuple[str, str], ...], expected: str | None) -> None:
    assert canonical(html(page), headers) == expected


def test_a_header_names_the_canonical_of_what_is_not_html() -> None:
    doc = Document(b"%PDF", "application/pdf", URL)
    assert canonical(doc, (("link", "</doc>; rel=canonical"),)) == "https://e.com/doc"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=/n", (0.0, "https://e.com/n")),
        ("0;/n", (0.0, "https://e.com/n")),
        ("5, URL='/n'", (5.0, "https://e.com/n")),
        (" 10 ; Url = /n ", (10.0, "https://e.com/n")),
        ("3.7;url=n#f", (3.0, "https://e.com/dir/n")),
        (";url=/n", (0.0, "https://e.com/n")),
        ("0 url=/n", (0.0, "https://e.com/n")),
        ("30", None),  # reloads
        ("0;url=", None),
        ("0;url=page.html#x", None),
        ("0;url=javascript:f()", None),
        ("x;url=/n", None),
        ("", None),
    ],
)
def test_refresh(content: str, expected: tuple[float, str] | None) -> None:
    assert refresh(html(f'<meta http-equiv="Refresh" content="{content}">')) == expected


def test_refresh_resolves_against_the_base() -> None:
    """URL-16."""
    page = (
        "<base href='http://e.test/base/path/'>"
        "<meta http-equiv=refresh content='5; url=relative/target.html'>"
    )
    found = refresh(html(page, "http://c.test/some/page.html"))
    assert found == (5.0, "http://e.test/base/path/relative/target.html")


@pytest.mark.parametrize(
    "page",
    [
        "<noscript><meta http-equiv=refresh content='0;/nojs'></noscript>",
        "<!-- <meta http-equiv=refresh content='0;/n'> -->",
        "<meta http-equiv=content-type content='0;/n'>",
        "<meta name=refresh content='0;/n'>",
    ],
)
def test_what_is_no_refresh(page: str) -> None:
    assert refresh(html(page)) is None


@pytest.mark.parametrize(
    ("page", "tags", "expected"),
    [
        ("<meta name=robots content='noindex, nofollow'>", [], {"noindex", "nofollow"}),
        ("<META NAME=ROBOTS CONTENT=NOFOLLOW>", [], {"nofollow"}),
        ("<meta name=robots content=none>", [], {"none", "noindex", "nofollow"}),
        ("<meta name=recrawl content=nofollow>", [], {"nofollow"}),
        ("<meta name=otherbot content=nofollow>", [], set()),
        ("<meta name=robots content='index,follow,max-snippet:-1,noarchive'>", [], set()),
        ("<meta name=robots content='noindex nofollow'>", [], {"noindex", "nofollow"}),
        ("", ["noindex"], {"noindex"}),
        ("", ["NoIndex, NoFollow"], {"noindex", "nofollow"}),
        ("", ["otherbot: noindex"], set()),
        ("", ["recrawl: noindex, nofollow"], {"noindex", "nofollow"}),
        ("", ["otherbot: noindex, recrawl: nofollow"], {"nofollow"}),
        ("", ["noindex, otherbot: nofollow"], {"noindex"}),
        ("", ["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"], {"nofollow"}),
        ("", ["max-snippet: 20, noindex"], {"noindex"}),
        ("", ["otherbot: none", "nofollow"], {"nofollow"}),
        ("<meta name=robots content=noindex>", ["nofollow"], {"noindex", "nofollow"}),
        ("", [], set()),
    ],
)
def test_robots_directives(page: str, tags: list[str], expected: set[str]) -> None:
    headers = [("x-robots-tag", tag) for tag in tags] + [("content-type", "noindex")]
    assert robots_meta(html(page), headers, "Recrawl/1.0 (+mailto:a@b.c)") == expected
