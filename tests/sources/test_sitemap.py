"""Sitemaps as they are found: what is read, what is warned of, what is no sitemap."""

import base64
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap import Limits, read

DATA = Path(__file__).parents[1] / "data" / "sources"
BASE = "http://e.com/sitemap.xml"
NOW = datetime(2026, 11, 30, tzinfo=UTC).timestamp()
NAMESPACE = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"


def reading_of(body, base=BASE, limits=None, step=None):
    chunks = [body] if step is None else [body[i : i + step] for i in range(0, len(body), step)]
    reading = Reading()
    hints = list(read(chunks, base, NOW, reading, limits or Limits()))
    assert reading.hints == len(hints)
    return hints, reading


def urls_of(body, **more):
    hints, _ = reading_of(body, **more)
    return [hint.url for hint in hints]


def urlset(*locs, extra=""):
    entries = "".join(f"<url><loc>{loc}</loc>{extra}</url>" for loc in locs)
    return f"<?xml version='1.0'?><urlset {NAMESPACE}>{entries}</urlset>".encode()


def index(*locs):
    entries = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return f"<?xml version='1.0'?><sitemapindex {NAMESPACE}>{entries}</sitemapindex>".encode()


VECTORS = [json.loads(line) for line in (DATA / "sitemap_edge.jsonl").read_text().splitlines()]
RESOLVED = {
    "UTF-16": ["http://e.com/%C3%A9"],
    "control char": ["http://e.com/a", "http://e.com/b", "http://e.com/c"],
    "relative loc": ["http://e.com/a"],
    "proto-rel loc": ["http://e.com/a"],
    "billion laughs": [],
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_vectors(vector):
    hints, reading = reading_of(base64.b64decode(vector["content_b64"]))
    got = [hint.url for hint in hints] or reading.maps
    assert got == RESOLVED.get(vector["name"], vector["locs"])
    assert bool(reading.failed) == (not got)


def test_a_packed_file():
    hints, reading = reading_of(
        (DATA / "sitemap_gzip_file.xml.gz").read_bytes(), base="http://www.example.com/s.xml"
    )
    assert len(hints) == 5
    assert hints[1].url == "http://www.example.com/catalog?item=12&desc=vacation_hawaii"
    assert [hint.modified_at for hint in hints] == [
        1104537600.0, None, 1103760000.0, 1103824815.0, 1101168000.0
    ]  # fmt: skip
    assert (reading.kind, reading.complete, reading.warnings) == ("sitemap", True, {})
    assert {hint.source for hint in hints} == {"sitemap:http://www.example.com/s.xml"}


def test_a_wrong_namespace():
    hints, reading = reading_of(
        (DATA / "sitemap_wrong_namespace.xml").read_bytes(), base="http://www.example.com/s.xml"
    )
    assert [h.url for h in hints] == ["http://www.example.com/1", "http://www.example.com/2"]
    assert reading.warnings == {Warned.NAMESPACE: 1}
    assert reading.complete


def test_hreflang_alternates_are_known_but_nothing_is_said_of_their_age():
    body = (DATA / "sitemap_hreflang.xml").read_bytes()
    hints, reading = reading_of(body, base="http://www.example.com/s.xml")
    assert len({hint.url for hint in hints}) == 3
    assert reading.maps == ["http://www.example.com/sitemap2.xml.gz"]
    links = "<xhtml:link rel='alternate' hreflang='de' href='http://e.com/de'/>"
    links += "<xhtml:link rel='stylesheet' href='/x.css'/>"
    hints, _ = reading_of(urlset("http://e.com/en", extra=f"<lastmod>2024</lastmod>{links}"))
    assert [(h.url, h.modified_at) for h in hints] == [
        ("http://e.com/en", 1704067200.0), ("http://e.com/de", None)
    ]  # fmt: skip


def test_a_bomb_stops_at_the_cap():
    body = (DATA / "body_gzip_bomb.bin").read_bytes()
    hints, reading = reading_of(body, limits=Limits(bytes=1_000_000))
    assert (hints, reading.complete) == ([], False)
    assert reading.failed == "neither a sitemap nor a list of URLs"
    packed = gzip.compress(urlset("http://e.com/a") + b" " * 3_000_000)
    hints, reading = reading_of(packed, limits=Limits(bytes=1_000_000))
    assert [hint.url for hint in hints] == ["http://e.com/a"]
    assert reading.warnings[Warned.OVER_LIMIT] == 1
    assert not reading.complete


PLAIN = urlset("http://e.com/a", "http://e.com/b")


@pytest.mark.parametrize(
    "body",
    [PLAIN, gzip.compress(PLAIN), gzip.compress(gzip.compress(PLAIN)),
     gzip.compress(PLAIN[:50]) + gzip.compress(PLAIN[50:]), gzip.compress(PLAIN) + b"\0" * 9_000],
    ids=["unpacked", "packed", "twice", "two members", "padded"],
)  # fmt: skip
def test_the_bytes_say_whether_it_is_packed(body):
    """MAP-05, MAP-07: names and types play no part."""
    hints, reading = reading_of(body, base="http://e.com/sitemap.xml.gz")
    assert [hint.url for hint in hints] == ["http://e.com/a", "http://e.com/b"]
    assert reading.complete


def test_what_came_of_a_cut_file_is_kept():
    body = urlset(*(f"http://e.com/{i}" for i in range(2_000)))
    whole = [f"http://e.com/{i}" for i in range(2_000)]
    for cut in (body[:-300], gzip.compress(body)[:-500]):
        hints, reading = reading_of(cut)
        got = [hint.url for hint in hints]
        assert 100 < len(got) < 2_000
        assert got == whole[: len(got)]
        assert (reading.complete, reading.failed) == (False, "")
        assert reading.warnings[Warned.TRUNCATED] == 1


def test_a_damaged_packed_file_gives_what_came_before():
    body = bytearray(gzip.compress(urlset(*(f"http://e.com/{i * 7919}" for i in range(9_000)))))
    body[len(body) // 2 :] = b"\xff" * (len(body) // 2)
    hints, reading = reading_of(bytes(body))
    assert len(hints) > 100
    assert not reading.complete
    assert reading_of(b"\x1f\x8bnonsense")[1].failed == "it is empty"


@pytest.mark.parametrize(
    "before",
    ["\n\n  ", "<br />\n<b>Warning</b>: session_start(): it failed in <b>/x.php</b><br />\n",
     "\ufeff\n", "Notice: undefined index\n"],
)  # fmt: skip
def test_what_stands_before_the_document_is_skipped(before):
    """MAP-09."""
    hints, reading = reading_of(before.encode() + PLAIN)
    assert len(hints) == 2
    assert reading.complete
    assert reading.warnings == {Warned.JUNK_BEFORE: 1}
    assert len(urls_of(b"<!-- <urlset> -->" + PLAIN)) == 2


def test_white_space_in_a_loc():
    assert urls_of(urlset("\n  http://e.com/p \n")) == ["http://e.com/p"]


def test_pages_of_other_hosts_are_flagged():
    """MAP-11: whether they are admitted is for the rules of the project."""
    _, reading = reading_of(urlset(*(f"http://victim.test/{i}" for i in range(50)), "/ok"))
    assert reading.warnings == {Warned.OTHER_HOST: 50}
    assert reading.examples[0] == "http://victim.test/0: URL of another host"
    assert len(reading.examples) == 5


def test_dates():
    """MAP-13 and MAP-15: each on its own, none spoils the file."""
    dates = ["2015-10-08T07:18:53.846344Z 2015-06-15T15:33:55.288302Z", "2023-03-30", "",
             "0000-00-00", "2030-01-01", "1970-01-01T00:00:00Z"]  # fmt: skip
    entries = "".join(
        f"<url><loc>/{i}</loc><lastmod>{d}</lastmod></url>" for i, d in enumerate(dates)
    )
    hints, reading = reading_of(f"<urlset {NAMESPACE}>{entries}</urlset>".encode())
    assert [h.modified_at for h in hints] == [1444288733.846344, 1680134400.0, *[None] * 4]
    assert reading.warnings == {
        Warned.BAD_DATE: 1, Warned.FUTURE_DATE: 1, Warned.ABSURD_DATE: 1
    }  # fmt: skip
    assert reading.complete


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "an HTML page"),
        (b"<html>please log in</html>", "an HTML page"),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML'><html>", "an HTML page"),
        (b"<HTML><HEAD><meta name=x><urlset>", "an HTML page"),
        (b"<?xml version='1.0'?><Error><Code>Denied</Code></Error>",
         "its first element is <error>: no sitemap"),
        (b"", "it is empty"),
        (b" \n\xef\xbb\xbf ", "neither a sitemap nor a list of URLs"),
        (b"\xef\xbb\xbf", "it is empty"),
        (b'{"error": "http://e.com/"}', "JSON, no sitemap"),
        (b"User-agent: *\nSitemap: http://e.com/robots.txt\n", "a robots.txt, no sitemap"),
        (b"404 page not found\n", "neither a sitemap nor a list of URLs"),
        (b"<!-- " + b"x" * 70_000 + b" --><urlset/>", "no root element in its first bytes"),
    ],
)  # fmt: skip
def test_what_is_no_sitemap_is_never_an_empty_one(body, why):
    """MAP-03, MAP-17."""
    hints, reading = reading_of(body)
    assert (hints, reading.failed, reading.complete) == ([], why, False)


def test_an_empty_sitemap_is_complete_and_says_so():
    _, reading = reading_of(urlset())
    assert (reading.complete, reading.failed) == (True, "")
    assert reading.warnings == {Warned.NOTHING_LISTED: 1}


def test_over_the_protocols_limit_is_read_with_a_warning():
    """MAP-19."""
    body = urlset(*(f"http://e.com/p/{i}" for i in range(60_001)))
    hints, reading = reading_of(body)
    assert len(hints) == 60_001
    assert reading.warnings == {Warned.OVER_PROTOCOL: 10_001}
    assert reading.complete
    hints, reading = reading_of(body, limits=Limits(urls=55_000))
    assert len(hints) == 55_000
    assert (reading.complete, reading.warnings[Warned.OVER_LIMIT]) == (False, 1)


def test_a_file_over_50_mb_is_read_with_a_warning():
    """MAP-19, the large one: here it is white space that makes it large."""
    head, tail = urlset("/a")[:-9], urlset("/b").partition(b"<url>")[2]
    spaces = (b" " * 1_000_000 for _ in range(53))
    reading = Reading()
    hints = list(read([head, *spaces, b"<url>" + tail], BASE, NOW, reading))
    assert [hint.url for hint in hints] == ["http://e.com/a", "http://e.com/b"]
    assert (reading.complete, reading.warnings) == (True, {Warned.OVER_PROTOCOL: 1})


def test_an_index_names_its_maps_once():
    body = index("http://e.com/a.xml", "/b.xml.gz", "http://e.com/a.xml", "ftp://e.com/c")
    hints, reading = reading_of(body)
    assert (hints, reading.kind) == ([], "sitemap-index")
    assert reading.maps == ["http://e.com/a.xml", "http://e.com/b.xml.gz"]
    assert reading.warnings == {Warned.BAD_URL: 1}
    assert reading.complete
    _, reading = reading_of(body, limits=Limits(maps=1))
    assert (reading.maps, reading.complete) == (["http://e.com/a.xml"], False)


def test_an_index_dates_its_maps():
    entries = "<sitemap><loc>/a.xml</loc><lastmod>2024-01-01</lastmod></sitemap>"
    entries += "<sitemap><loc>/b.xml</loc></sitemap>"
    _, reading = reading_of(f"<sitemapindex {NAMESPACE}>{entries}</sitemapindex>".encode())
    assert reading.map_dates == {"http://e.com/a.xml": 1704067200.0}


def test_images_and_videos_are_no_pages_and_news_have_a_date():
    extra = (
        "<image:image xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>"
        "<image:loc>http://e.com/i.jpg</image:loc></image:image>"
        "<v:video xmlns:v='http://www.google.com/schemas/sitemap-video/1.1'>"
        "<v:publication_date>2001-01-01</v:publication_date></v:video>"
        "<n:news xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>"
        "<n:publication_date>2024-01-01</n:publication_date></n:news>"
    )
    hints, _ = reading_of(urlset("http://e.com/a", extra=extra))
    assert [(h.url, h.modified_at) for h in hints] == [("http://e.com/a", 1704067200.0)]
    bare = "<image><loc>http://e.com/i.jpg</loc></image>"
    assert urls_of(urlset("http://e.com/a", extra=bare)) == ["http://e.com/a"]
    flat = "<i:loc xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'>/i.jpg</i:loc>"
    assert urls_of(urlset("http://e.com/a", extra=flat)) == ["http://e.com/a"]


def test_a_lastmod_stays_with_its_own_url():
    body = b"<urlset><url><lastmod>2020-01-01</lastmod></url><url><loc>/b</loc></url></urlset>"
    hints, reading = reading_of(body)
    assert [(h.url, h.modified_at) for h in hints] == [("http://e.com/b", None)]
    assert reading.warnings[Warned.NO_URL] == 1


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b"<urlset><url><loc>/caf\xe9</loc></url></urlset>", ["http://e.com/caf%E9"]),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>/é</loc></url></urlset>"
         .encode("latin-1"), ["http://e.com/%C3%A9"]),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>/é</loc></url></urlset>"
         .encode(), ["http://e.com/%C3%A9"]),
        ("<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>/é</loc></url></urlset>"
         .encode("utf-16"), ["http://e.com/%C3%A9"]),
        ("<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>/é</loc></url></urlset>"
         .encode("utf-16-be"), ["http://e.com/%C3%A9"]),
        ("<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>/é</loc></url></urlset>"
         .encode(), ["http://e.com/%C3%A9"]),
        ("<?xml version='1.0' encoding='klingon'?><urlset><url><loc>/é</loc></url></urlset>"
         .encode(), ["http://e.com/%C3%A9"]),
        (b"<urlset><url><loc>/?a=1&b=2&eacute;&copy=1&#38;c</loc></url></urlset>",
         ["http://e.com/?a=1&b=2%C3%A9&copy=1&c"]),
        (b"<urlset><url><loc><![CDATA[http://e.com/?a&b&amp;c]]></loc></url></urlset>",
         ["http://e.com/?a&b&amp;c"]),
        (b"<urlset><url><loc>www.e.com/x</loc></url><url><loc>e.com/y</loc></url></urlset>",
         ["http://www.e.com/x", "http://e.com/y"]),
        (b"<urlset><loc>/a</loc><loc>/b</loc></urlset>", ["http://e.com/a", "http://e.com/b"]),
        (b"<urlset><url><loc>/a</loc><url><loc>/b</loc></url></urlset>",
         ["http://e.com/a", "http://e.com/b"]),
        (b"<urlset><url><loc>not a url</loc></url><url><loc>mailto:a@b</loc></url></urlset>", []),
        (b"<urlset><url><loc>/a<lastmod>2024</lastmod></url><url><loc>/b</loc></url></urlset>",
         ["http://e.com/a", "http://e.com/b"]),
        (b"<urlset><url><loc>/a<b>x</b>y</loc></url><url><loc>/b</loc></url></urlset>",
         ["http://e.com/b"]),
        (b"<urlset><url><loc><a>/a</a></loc><lastmod><x>2024</x></lastmod></url></urlset>",
         ["http://e.com/a"]),
        (b"<urlset><url><loc>/a<url><loc>/b</loc></url></urlset>", ["http://e.com/b"]),
        (b"<urlset><url><loc></loc></url><url><loc>http://[</loc></url></urlset>", []),
        (b"<urlset><url><loc>/" + b"a" * 9_000 + b"</loc></url></urlset>", []),
    ],
)  # fmt: skip
def test_odd_markup_charsets_and_urls(body, wanted):
    assert urls_of(body) == wanted


@pytest.mark.parametrize(
    "doctype",
    ["<!DOCTYPE urlset [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
     "<!doctype urlset PUBLIC 'a' 'b' [ <!ENTITY % p SYSTEM 'http://e.com/x'> %p;]>"],
)  # fmt: skip
def test_entities_are_refused(doctype):
    _, reading = reading_of(f"{doctype}<urlset><url><loc>/&x;</loc></url></urlset>".encode())
    assert reading.failed == "it declares entities (DOCTYPE with a subset): refused"


def test_a_doctype_without_entities_is_skipped_and_never_fetched():
    body = (
        b"<!DOCTYPE urlset SYSTEM 'http://e.com/x.dtd'><urlset><url><loc>/&x;</loc></url></urlset>"
    )
    assert urls_of(body) == ["http://e.com/&x;"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_feed_given_as_a_sitemap_goes_to_the_feed_reader(packed):
    body = (DATA / "feed_pubdate_variants.rss").read_bytes()
    hints, reading = reading_of(gzip.compress(body) if packed else body)
    assert len(hints) == 7
    assert (reading.kind, reading.failed) == ("feed", "")


def test_text():
    body = b"\xef\xbb\xbfhttp://e.com/a\r\n\r\n# note\nhttps://e.com/b\t2024-01-01\n/c\nHTTP://e.com/d"
    hints, reading = reading_of(body, base="http://e.com/urllist.txt")
    assert [h.url for h in hints] == ["http://e.com/a", "https://e.com/b", "http://e.com/d"]
    assert (reading.kind, reading.complete) == ("text", True)
    assert reading.warnings == {Warned.BAD_URL: 1}
    assert urls_of("http://e.com/a\nhttp://e.com/b".encode("utf-16")) == [
        "http://e.com/a", "http://e.com/b"
    ]  # fmt: skip


def test_several_urls_on_one_line_of_text_are_several():
    assert urls_of(b"http://e.com/a  https://e.com/b\nhttp://e.com/c d\n") == [
        "http://e.com/a", "https://e.com/b", "http://e.com/c%20d"
    ]  # fmt: skip


def test_a_long_line_is_no_url_and_a_cut_one_is_dropped():
    body = b"http://e.com/a\nhttp://e.com/" + b"x" * 300_000 + b"\nhttp://e.com/b\n"
    hints, reading = reading_of(body)
    assert [h.url for h in hints] == ["http://e.com/a", "http://e.com/b"]
    assert reading.warnings == {Warned.BAD_URL: 1}
    lines = "".join(f"http://e.com/{i * 7919}\n" for i in range(9_000)).encode()
    hints, reading = reading_of(gzip.compress(lines)[:-4_000])
    assert len(hints) > 1_000
    assert {h.url for h in hints} <= set(lines.decode().split())
    assert not reading.complete


def test_a_reader_that_is_left_alone_is_not_complete():
    reading = Reading()
    next(read([urlset(*(f"/{i}" for i in range(9_000)))], BASE, NOW, reading))
    assert not reading.complete


def test_what_never_ends_is_stopped():
    """Depth and URLs of one entry are bounded; so is every text."""
    deep = b"<urlset><url><loc>/a</loc></url>" + b"<x>" * 300_000
    hints, reading = reading_of(deep)
    assert [hint.url for hint in hints] == ["http://e.com/a"]
    assert reading.examples[-1] == "elements nested 200000 deep"
    body = b"<urlset><url>" + b"<loc>/a</loc>" * 2_000 + b"</url></urlset>"
    hints, reading = reading_of(body)
    assert (len(hints), reading.complete) == (1_000, False)
    assert reading.warnings[Warned.OVER_LIMIT] == 1_000
    links = "<link rel='alternate' href='/b'/>" * 1_002
    assert reading_of(urlset("/a", extra=links))[1].warnings == {Warned.OVER_LIMIT: 2}
    assert urls_of(urlset("/a", extra=f"<c>{'x' * 11_000_000}</c>")) == ["http://e.com/a"]


def test_tags_that_are_opened_and_never_closed_are_given_up():
    """libxml2 looks for the end of each through all that follows: minutes a megabyte."""
    for wild in (
        b"<u" * 500_000 + b">",
        b"<url" + b" x='<' " * 60_000 + b"/>",
        b"<u<b\n" * 90_000,
    ):
        hints, reading = reading_of(b"<urlset><url><loc>/a</loc></url>" + b" " * 70_000 + wild)
        assert [hint.url for hint in hints] == ["http://e.com/a"]
        assert reading.examples[-1] == "a hundred tags are opened and none is closed"
        assert not reading.complete


@pytest.mark.parametrize(
    "made_up", ["<n{}/>", "<n a{}=''/>", "<n xmlns:x='u{}'/>", "<n xmlns:x{}='u'/>"]
)
def test_made_up_names_are_bounded(made_up):
    """lxml never forgets a name: endless new ones would fill the memory of a long run."""
    body = urlset("/a", extra="".join(made_up.format(i) for i in range(20_000)))
    hints, reading = reading_of(body)
    assert reading.warnings == {Warned.OVER_LIMIT: 1}
    assert (len(hints), reading.complete) == (0, False)
    names = "".join(made_up.format(i) for i in range(900))
    assert urls_of(urlset("/a", extra=names)) == ["http://e.com/a"]


DOCUMENTS = [
    PLAIN, index("/a.xml", "/b.xml"), b"http://e.com/a\nhttp://e.com/b\n",
    b"<br>x<urlset><url><loc>/?a&b</loc><lastmod>2030</lastmod></url><url><loc>/b</url>",
    (DATA / "sitemap_hreflang.xml").read_bytes(), (DATA / "sitemap_gzip_file.xml.gz").read_bytes(),
    "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>/é</loc></url>".encode("utf-16"),
]  # fmt: skip


@st.composite
def mangled(draw):
    """A document with some of its bytes replaced, left out or doubled."""
    body = bytearray(draw(st.sampled_from(DOCUMENTS)) * draw(st.sampled_from([1, 1, 300])))
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, len(body)))
        end = min(at + draw(st.integers(0, 40)), len(body))
        body[at:end] = draw(
            st.binary(max_size=6)
            | st.sampled_from(
                [b"<", b"&", b"]]>", b"<![CDATA[", b"</url>", b"<!--", b"\0", b"<loc>"]
            )
        )
    return bytes(body)


@settings(deadline=None)
@given(st.binary() | mangled(), st.lists(st.integers(1, 70_000), max_size=5))
def test_any_bytes_are_read_and_how_they_are_cut_never_matters(body, sizes):
    whole = reading_of(body)
    chunks, at = [], 0
    for size in sizes:
        chunks.append(body[at : at + size])
        at += size
    reading = Reading()
    hints = list(read([*chunks, b"", body[at:]], BASE, NOW, reading))
    assert (hints, reading) == whole
    assert not (reading.complete and reading.failed)
    assert all(hint.url.startswith(("http://", "https://")) for hint in hints)
    assert reading.complete or reading.failed or reading.shortened


@settings(deadline=None)
@given(mangled())
def test_byte_by_byte(body):
    assert reading_of(body, step=1 if len(body) < 5_000 else 997) == reading_of(body)
