"""`url` and `robots`."""

from __future__ import annotations

from pathlib import Path

import pytest

ARTICLE = [
    "https://www.example.com/products",
    "https://www.example.com/products/",
    "https://www.example.com/products?utm_source=x",
    "HTTPS://WWW.EXAMPLE.COM:443/products#reviews",
    "https://www.example.com/./products",
]
SHAPE = {"input", "url", "fetch", "key", "refused", "detail"}


def test_url_prints_the_canonical_form_and_the_key(recrawl):
    result = recrawl("url", *ARTICLE)
    assert result.code == 0
    lines = [line.split("\t") for line in result.out.splitlines()]
    assert [url for url, _ in lines] == [
        "https://www.example.com/products",
        "https://www.example.com/products/",
        *["https://www.example.com/products"] * 3,
    ]
    assert len({key for _, key in lines}) == 2
    assert all(len(key) == 32 for _, key in lines)


def test_url_as_json(recrawl):
    result = recrawl("url", "--json", ARTICLE[3], "mailto:x@y.example")
    good, bad = result.rows
    assert set(good) == set(bad) == SHAPE
    assert good["input"] == ARTICLE[3]
    assert good["url"] == good["fetch"] == "https://www.example.com/products"
    assert (good["refused"], bad["url"], bad["key"]) == (None, None, None)
    assert bad["refused"] == "not http or https"
    assert result.code == 0


def test_keys_differ_between_hosts_and_schemes(recrawl):
    rows = recrawl("url", "--json", "http://a.example/x", "https://a.example/x",
                   "http://b.example/x").rows  # fmt: skip
    assert len({row["key"] for row in rows}) == 3
    assert len({row["key"][16:] for row in rows}) == 1


def test_url_reads_stdin_and_resolves_against_a_base(recrawl):
    stdin = "../a?b=1\r\n\n  \n//c.example/\nhttps://d.example/é\n".encode()
    rows = recrawl("url", "--json", "--base", "https://x.example/p/q", stdin=stdin).rows
    assert [row["url"] for row in rows] == [
        "https://x.example/a?b=1", "https://c.example/", "https://d.example/%C3%A9",
    ]  # fmt: skip


def test_url_survives_junk_of_any_kind(recrawl):
    junk = b"http://a.example/\xff\xfe\nhttp://\x00\n\x1b[31m\nhttp://[::1\n" + b"a" * 100_000
    result = recrawl("url", "--json", stdin=junk)
    assert result.code == 0
    assert len(result.rows) == 5
    assert result.rows[0]["url"] == "http://a.example/%FF%FE"
    assert "\x1b" not in recrawl("url", stdin=junk).out


def test_url_profiles(recrawl):
    tracked = "http://a.example/?b=1&a=2&utm_source=x"
    safe, default = (
        recrawl("url", "--json", "--profile", p, tracked).rows[0]["url"]
        for p in ("safe", "default")
    )
    assert (safe, default) == (tracked, "http://a.example/?a=2&b=1")
    result = recrawl("url", "--profile", "bold", tracked)
    assert (result.code, result.out) == (2, "")
    assert "safe, default, aggressive" in result.err


def test_url_applies_a_projects_rules_when_asked(shop):
    rows = shop("url", "--json", "-c", "recrawl.toml", "http://a.example/x?ref=1",
                "http://a.example/calendar/1").rows  # fmt: skip
    assert rows[0]["url"] == "http://a.example/x"
    assert (rows[1]["refused"], rows[1]["detail"]) == ("excluded by pattern", "/calendar/")
    assert shop("url", "--json", "http://a.example/x?ref=1").rows[0]["url"].endswith("?ref=1")


ROBOTS = b"""\
User-agent: other
Disallow: /

User-agent: recrawl
Disallow: /private/
Allow: /private/open
Crawl-delay: 2
Sitemap: https://a.example/map.xml
"""


@pytest.fixture
def robots_file(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_bytes(ROBOTS)
    return path


def test_robots_says_allowed_or_disallowed_for_each(recrawl, robots_file):
    result = recrawl("robots", robots_file, "--agent", "recrawl", "/", "https://a.example/private/x",
                     "/private/open")  # fmt: skip
    assert result.out.splitlines() == [
        "allowed\t/", "disallowed\thttps://a.example/private/x", "allowed\t/private/open",
    ]  # fmt: skip
    assert "crawl-delay: 2 s" in result.err
    assert result.code == 0
    assert recrawl("robots", robots_file, "--agent", "Other/2.0", "/").out == "disallowed\t/\n"


def test_robots_as_json_and_from_stdin(recrawl):
    (row,) = recrawl("robots", "-", "/private/x", "--json", stdin=ROBOTS).rows
    assert row == {
        "url": "/private/x", "allowed": False, "agent": "recrawl", "crawl_delay": 2.0,
        "sitemaps": ["https://a.example/map.xml"], "flags": [],
    }  # fmt: skip


def test_robots_of_html_is_told(recrawl, tmp_path):
    (tmp_path / "r").write_bytes(b"<!doctype html><html>Disallow: /")
    result = recrawl("robots", "r", "/x")
    assert result.out == "allowed\t/x\n"
    assert "html" in result.err


def test_robots_file_that_is_not_there(recrawl, tmp_path):
    result = recrawl("robots", "nowhere.txt", "/")
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: nowhere.txt: No such file or directory\n"
    assert recrawl("robots", tmp_path, "/").code == 1
