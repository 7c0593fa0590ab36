"""A hostile page is cut or flattened before it costs seconds; an ordinary one never is."""

from __future__ import annotations

import time

import pytest

from recrawl.extract.bounds import MAX_BYTES, MAX_DEPTH, bounded
from recrawl.extract.document import Document
from recrawl.extract.links import canonical, links, refresh, robots_meta
from recrawl.extract.text import tiers

FORMATTING = b"b big code em font i nobr s small strike strong tt u".split()

HOSTILE = {
    "nested div": b"<div>" * 100_000 + b"x",
    "nested and closed": b"<div>" * 100_000 + b"x" + b"</div>" * 100_000,
    "closers in templates": b"<div><template></div></template>" * 50_000,
    "closers in comments": b"<div><!--</div>-->" * 50_000,
    "closers in attributes": b'<div a="</div>">' * 50_000,
    "closers in scripts": b"<div><script></div></script>" * 50_000,
    "closers out of scope": b"<div><table></div></table>" * 50_000,
    "closed by themselves": b"<div/>" * 100_000,
    "a drawing that was left": b"<svg><p><script></p></svg></script><div>" * 30_000,
    "a drawing in a drawing": b"<svg><svg></svg><script>" + b"<div>" * 100_000,
    "upper case": b"<DIV>" * 100_000,
    "nested lists": b"<ul><li>" * 50_000,
    "nested tables": b"<table><tr><td>" * 30_000,
    "nested svg": b"<svg>" * 100_000,
    "fonts": b"".join(b"<font id=%d><p>" % i for i in range(5_000)),
    "fonts, then paragraphs": b"<p>"
    + b"".join(b"<font id=%d>" % i for i in range(20_000))
    + b"</p>"
    + b"<p>x</p>" * 20_000,
    "bare formatting": b"".join(b"<%b>" % t * 3 for t in FORMATTING) + b"<p>x" * 30_000,
    "formatting kept by a table": b"<b id=1><table></b></table>" * 20_000 + b"<p>x" * 20_000,
    "one tag, many attributes": b"<a " + b"".join(b"a%d=1 " % i for i in range(200_000)) + b">",
    "many attributes after a quote": b'<a x=">" '
    + b"".join(b"a%d " % i for i in range(200_000))
    + b">",
    "a closing tag's attributes": b"</a " + b"".join(b"a%d=1 " % i for i in range(200_000)) + b">",
    "only <": b"<" * 2_000_000,
    "open quotes": b'<a "' * 1_000_000,
    "open values": b"<a ='" + b'<a ="' * 500_000,
    "open comments": b"<!--" * 1_000_000,
    "one line": b"x" * 10_000_000,
    "one line of digits": b"1" * 2_000_000,
    "one line of tokens": b"a1" * 1_000_000,
    "numbers": b"1 " * 50_000,
    "dates": b"Mon, 30 Nov 2026 18:04:05 " * 20_000,
    "NULs": b"\0" * 1_000_000 + b"<a href=x\0y>\0</a>",
    "raw text": b"<title>" * 200_000,
    "links": b"<a href=q><p>" * 50_000,
    "spaces": b"<p>" + b" " * 5_000_000,
    "metas": b"<meta http-equiv=refresh content='" + b" " * 200_000 + b"'>",
    "link header-like": b"<link rel=canonical href='" + b"a" * 1_000_000 + b"'>",
    "deep JSON": b"[" * 1_000_000,
    "deep JSON-LD": b"<script type=application/ld+json>" + b"[" * 1_000_000 + b"</script>",
    "broad JSON-LD": b"<script type=application/ld+json>[" + b"[{}]," * 200_000 + b"{}]</script>",
    "long number": b'{"a":' + b"9" * 1_000_000 + b"}",
    "agos": b"a few a few " * 100_000 + b" ago",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_in_bounded_time(name: str) -> None:
    began = time.process_time()
    doc = Document(HOSTILE[name], "text/html", "https://e.com/")
    links(doc)
    canonical(doc)
    refresh(doc)
    robots_meta(doc, (), "recrawl")
    tiers(doc)
    assert time.process_time() - began < 6.0


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("nested div", "too-deep"),
        ("closers in templates", "too-deep"),
        ("closed by themselves", "too-deep"),
        ("a drawing that was left", "too-deep"),
        ("a drawing in a drawing", "too-deep"),
        ("closers in comments", "too-deep"),
        ("closers in attributes", "too-deep"),
        ("fonts", "too-deep"),
        ("bare formatting", "flattened"),
        ("formatting kept by a table", "too-deep"),
        ("one tag, many attributes", "crowded"),
        ("only <", "cut"),
    ],
)
def test_what_was_done_is_said(name: str, flag: str) -> None:
    assert flag in bounded(HOSTILE[name])[1]


def test_flattening_keeps_the_text_and_cutting_keeps_the_beginning() -> None:
    flat = bounded(HOSTILE["bare formatting"])[0]
    assert flat == b"<p>x" * 30_000
    cut = bounded(b"<p>kept</p>" + b"<div>" * 100_000)[0]
    assert cut.startswith(b"<p>kept</p>")
    assert cut.count(b"<div>") == MAX_DEPTH
    assert len(bounded(b"x" * (MAX_BYTES + 5))[0]) == MAX_BYTES


@pytest.mark.parametrize(
    "page",
    [
        b"<html><body>" + b"<p>x <b class=k>y</b>" * 30_000,  # paragraphs closed by the next
        b"<ul>" + b"<li><a href=/a>x</a>" * 30_000 + b"</ul>",
        b"<table>" + b"<tr><td>1<td>2" * 20_000 + b"</table>",
        b"<dl>" + b"<dt><code class=a>x</code><dd><em>y</em>" * 10_000 + b"</dl>",
        b"".join(b"<div><p><b id=%d>x</b></p><br><img src=a></div>" % i for i in range(10_000)),
        b"<svg>" + b"<g><path d='M0'/></g>" * 5_000 + b"</svg>" + b"<p>" * 2_000,
        b"<script>var a='<div><div>';" + b"if(a<b){}" * 30_000 + b"</script><p>x</p>",
        b"<p>" + b"word " * 200_000 + b"</p>" + b"<p>x</p>" * 3_000,
        b'<div data-x="' + b"a b c " * 20_000 + b'">x</div>',
        b"<DIV><P>x</DIV>" * 10_000,
        b"<svg><path d='M0'/></svg><script>" + b"if(a<b){c='<div>'}" * 3_000 + b"</script>x",
        b"<ul>" + b"<li><svg><g><rect/></g></svg><b id=1>x</b></li>" * 10_000 + b"</ul>",
    ],
)
def test_an_ordinary_page_is_left_alone_however_large(page: bytes) -> None:
    assert bounded(page) == (page, frozenset())
