"""What kind of source a file is."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.sources.detect import KINDS, detect, read_as
from recrawl.sources.reading import Reading

DATA = Path(__file__).parents[1] / "data" / "sources"
FILES = {
    "sitemap_gzip_file.xml.gz": "sitemap",
    "sitemap_wrong_namespace.xml": "sitemap",
    "sitemap_hreflang.xml": "sitemap",
    "feed_pubdate_variants.rss": "feed",
    "feed_links_corrupted_ampersands.rss": "feed",
    "cdx_malformed_lines.txt": "archive",
    "cdx_ia.json": "archive",
}
CDXJ = b'com,e)/ 20240501000000 {"url": "http://e.com/"}'


@pytest.mark.parametrize("name", FILES)
def test_files(name):
    body = (DATA / name).read_bytes()
    assert detect(body) == FILES[name]
    assert detect(gzip.compress(body), "text/html") == FILES[name]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("sitemap", b"<sitemapindex>"),
        ("sitemap", b"http://e.com/a\nhttp://e.com/b,c\n"),
        ("feed", b'{"version": "https://jsonfeed.org/version/1", "items": []}'),
        ("feed", "\ufeff<?xml version='1.0'?><feed>".encode()),
        ("archive", b" CDX N b a m s k r M S V g\ncom,e)/ 2024"),
        ("archive", CDXJ),
        ("archive", b'{"urlkey": "com,e)/", "timestamp": "20240501000000", "url": "x"}'),
        ("list", b"url,lastmod\n/a,2024"),
        ("list", b"http://e.com/a\t2024-05-01\n"),
        ("list", b'[{"url": "/a"}]'),
        ("list", b'{"url": "/a"}\n{"url": "/b"}'),
        ("robots", b"# ours\n\nUSER-AGENT: *\nDisallow: /x\n"),
        ("robots", b"Sitemap: http://e.com/s.xml"),
        ("html", b"<!DOCTYPE html><title>x"),
        ("html", b"\n\n<html><body>"),
        ("", b""),
        ("", b"Not found"),
        ("", b"<svg/>"),
    ],
)
def test_bytes(kind, body):
    assert detect(body) == kind


def test_type_and_name_decide_what_the_bytes_leave_open():
    assert detect(b"a;b\n1;2", "text/csv; charset=utf-8") == "list"
    assert detect(b"a;b\n1;2", "", "http://e.com/list.CSV?x=1") == "list"
    assert detect(b"nothing here", "", "http://e.com/robots.txt") == "robots"
    assert detect(b"<rss>", "text/csv", "http://e.com/robots.txt") == "feed"


@given(st.binary(max_size=200), st.sampled_from([*KINDS, "html", ""]))
def test_any_bytes_as_any_kind(body, kind):
    assert detect(body) in (*KINDS, "html", "")
    reading = Reading()
    hints = list(read_as(kind, [body], "http://e.com/x", 1.8e9, reading))
    assert len(hints) == reading.hints
    assert not (reading.complete and reading.failed)
