"""Feeds as they are found: links, dates, digests, and what is no feed."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.extract.document import Document
from recrawl.sources.feed import feeds_of, read
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import Limits

DATA = Path(__file__).parents[1] / "data" / "sources"
BASE = "http://e.com/blog/feed.xml"
NOW = 1_800_000_000.0  # 2027-01-15


def feed(body, base=BASE, step=None, limits=None):
    body = body.encode() if isinstance(body, str) else body
    chunks = [body] if step is None else [body[i : i + step] for i in range(0, len(body), step)]
    reading = Reading()
    hints = list(read(chunks, base, NOW, reading, limits))
    assert reading.hints == len(hints)
    return hints, reading


def rss(*items, version="2.0"):
    return (
        f"<?xml version='1.0'?><rss version='{version}'><channel>{''.join(items)}</channel></rss>"
    )


def item(link, title="T", date="", more=""):
    date = f"<pubDate>{date}</pubDate>" if date else ""
    return f"<item><title>{title}</title><link>{link}</link>{date}{more}</item>"


def test_pubdate_variants():
    hints, reading = feed((DATA / "feed_pubdate_variants.rss").read_bytes())
    assert [h.url for h in hints] == [f"http://www.example.com/article_{n}" for n in range(1, 8)]
    assert [h.modified_at for h in hints] == [
        *(1483619691.0 + n for n in range(4)), 1483623295.0, None, None,
    ]  # fmt: skip
    assert (reading.complete, reading.kind, reading.warnings) == (True, "feed", {})


def test_corrupted_ampersands():
    hints, reading = feed((DATA / "feed_links_corrupted_ampersands.rss").read_bytes())
    assert [h.url for h in hints] == ["http://link/get?a=1&b=2"]
    assert not reading.complete  # its end is missing
    assert [h.url for h in feed(rss(item("http://link/get?a=1&b=2&copy=3")))[0]] == [
        "http://link/get?a=1&b=2&copy=3"
    ]


@pytest.mark.parametrize(
    "body",
    [
        rss(item("/a", date="Thu, 05 Jan 2017 12:00:00 GMT"), version="0.91"),
        (
            "<!DOCTYPE rss PUBLIC '-//Netscape Communications//DTD RSS 0.91//EN' 'http://x/y.dtd'>"
            "<rss version='0.91'><channel><item><link>/a</link>"
            "<pubDate>2017-01-05T12:00:00Z</pubDate></item></channel></rss>"
        ),
        (
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
            "xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
            "<item rdf:about='/a'><link>/a</link><dc:date>2017-01-05T12:00:00Z</dc:date></item>"
            "</rdf:RDF>"
        ),
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link rel='self' href='/no'/>"
            "<link rel='alternate' href='/a'/><published>2016-01-01T00:00:00Z</published>"
            "<updated>2017-01-05T13:00:00+01:00</updated></entry></feed>"
        ),
        (
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://e.com/x/'><entry "
            "xml:base='..'><link href='a'/><updated>2017-01-05T12:00:00Z</updated></entry></feed>"
        ),
        (
            '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "/a",'
            '"date_published": "2016-01-01", "date_modified": "2017-01-05T12:00:00Z"}]}'
        ),
    ],
    ids=["rss", "rss-0.91-doctype", "rdf", "atom", "xml-base", "json"],
)
def test_forms(body):
    hints, reading = feed(body)
    assert [(h.url, h.modified_at) for h in hints] == [("http://e.com/a", 1483617600.0)]
    assert reading.complete, reading


def test_guid_stands_in_where_it_is_an_address():
    hints, reading = feed(
        rss(
            "<item><guid>http://e.com/by-guid</guid></item>",
            "<item><guid isPermaLink='false'>17</guid></item>",
            "<item><guid>tag:e.com,2017:1</guid></item>",
            "<item><title>nothing</title></item>",
        )
    )
    assert [h.url for h in hints] == ["http://e.com/by-guid"]
    assert reading.warnings == {Warned.NO_URL: 3}


def test_dates_that_cannot_be_are_dropped_and_counted():
    hints, reading = feed(
        rss(
            item("/a", date="Fri, 01 Jan 2100 00:00:00 GMT"),
            item("/b", date="Thu, 01 Jan 1970 00:00:00 GMT"),
            item("/c", date="yesterday"),
        )
    )
    assert [h.modified_at for h in hints] == [None] * 3
    assert reading.warnings == {
        Warned.FUTURE_DATE: 1, Warned.ABSURD_DATE: 1, Warned.BAD_DATE: 1,
    }  # fmt: skip


def test_dates_that_move_every_day_leave_the_digest_alone():
    days = [f"{day:02} Jan 2017 06:00:00 GMT" for day in (5, 6)]
    (first,), (second,) = (feed(rss(item("/a", date=day)))[0] for day in days)
    assert (first.url, first.digest) == (second.url, second.digest)
    assert second.modified_at - first.modified_at == 86_400
    (other,) = feed(rss(item("/a", title="U", date=days[0])))[0]
    assert other.digest not in (None, first.digest)
    assert feed("<rss><channel><item><link>/a</link></item></channel></rss>")[0][0].digest is None


def test_items_of_one_page_are_one_hint():
    hints, _ = feed(
        rss(
            item("/a#c1", title="one", date="05 Jan 2017 00:00:00 GMT"),
            item("/a#c2", title="two", date="07 Jan 2017 00:00:00 GMT"),
            item("/b"),
        )
    )
    assert [h.url for h in hints] == ["http://e.com/a", "http://e.com/b"]
    assert hints[0].modified_at == 1483747200.0
    assert hints[0].digest != feed(rss(item("/a", title="one")))[0][0].digest


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><html><body>Not found",
        b'{"items": []}',
        b'{"version": "https://jsonfeed.org/version/1", "items"',
        b"<urlset><url><loc>http://e.com/</loc></url></urlset>",
        b"<!DOCTYPE rss [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><rss>&b;</rss>",
        b"<!DOCTYPE rss PUBLIC 'a>b' 'c' [<!ENTITY a '<rss>'>]><rss><channel>&a;</channel></rss>",
        (
            b"<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss><channel><item><link>"
            b"http://e.com/&x;</link></item></channel></rss>"
        ),
    ],
)
def test_no_feed_is_failed_and_never_an_empty_one(body):
    hints, reading = feed(body)
    assert (hints, reading.complete) == ([], False)
    assert reading.failed


def test_a_feed_of_nothing_is_complete_and_told():
    hints, reading = feed(rss())
    assert (hints, reading.failed, reading.complete) == ([], "", True)
    assert reading.warnings == {Warned.NOTHING_LISTED: 1}


def test_truncated_feed_gives_what_came():
    body = rss(*(item(f"/{n}") for n in range(5)))
    hints, reading = feed(body[: body.index("/3")])
    assert [h.url for h in hints][:3] == [f"http://e.com/{n}" for n in range(3)]
    assert not reading.complete
    assert Warned.TRUNCATED in reading.warnings


def test_limits():
    hints, reading = feed(rss(*(item(f"/{n}") for n in range(9))), limits=Limits(urls=4))
    assert (len(hints), reading.complete, reading.warnings[Warned.OVER_LIMIT]) == (4, False, 1)
    bomb = (DATA / "body_gzip_bomb.bin").read_bytes()
    assert feed(bomb, limits=Limits(bytes=100_000))[1].failed


@pytest.mark.parametrize("unit", ["<", "<a>", "<item>", "&", "<![CDATA[", "<!--", "<a b='", "]]>"])
def test_hostile_markup_comes_to_an_end(unit):
    assert feed("<rss><channel><item>" + unit * 100_000)[0] == []  # quadratic readers: minutes


FRAGMENTS = st.sampled_from([
    b"<rss>", b"<channel>", b"<item>", b"<link>/a</link>", b"</item>", b"<feed>", b"<entry>", b"&",
    b"<link href='/x'/>", b"<pubDate>5 Jan 2017</pubDate>", b"\xff", b"<![CDATA[", b"]]>", b"\0",
    b"<content type='xhtml'><div>", b"<guid>http://[</guid>", b"<media:content url=''/>", b"<rdf>",
    b'{"version":"jsonfeed.org","items":[', b'{"url":1}', b"]}", b"<updated>", b"<author>@(",
    b"<georss:point>x y</georss:point>", b"<itunes:duration>1:2:x", b"<where>",
    b"<enclosure length='x'/>",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.lists(FRAGMENTS, max_size=15).map(b"".join)),
       st.integers(1, 40))  # fmt: skip
def test_any_bytes_in_any_chunks(body, step):
    assert feed(body) == feed(body, step=step)


def test_feeds_of_a_page():
    page = b"""<base href="/sub/"><link rel="alternate" type="application/rss+xml" href="rss">
    <link rel="ALTERNATE home" type="application/atom+xml; charset=utf-8" href="http://f.com/a">
    <link rel="alternate" type="application/json" href="/wp-json/wp/v2/pages/1">
    <link rel="alternate" type="application/feed+json" href="feed.json">
    <link rel="alternate" hreflang="de" href="/de"><link rel="alternate" type="text/xml">
    <link rel="stylesheet" type="text/xml" href="x"><link rel=feed href=/h><link rel="alternate"
    type="application/rss+xml" href="rss">"""
    assert [url for url, _ in feeds_of(Document(page, "text/html", "http://e.com/p"))] == [
        "http://e.com/sub/rss", "http://f.com/a", "http://e.com/sub/feed.json",
        "http://e.com/sub/", "http://e.com/h",
    ]  # fmt: skip
    assert feeds_of(Document(json.dumps({}).encode(), None, "http://e.com/p")) == []
