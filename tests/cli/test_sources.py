"""`sources test`: what a source would admit, from a file and over the wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from servers.site import Site

DATA = Path(__file__).parents[1] / "data" / "sources"
BASE = "http://www.example.com/x"
EXPECTED = {
    "sitemap_gzip_file.xml.gz": ("sitemap", 5, 0),
    "sitemap_wrong_namespace.xml": ("sitemap", 2, 0),
    "sitemap_hreflang.xml": ("sitemap", 3, 0),
    "feed_pubdate_variants.rss": ("feed", 7, 0),
    "feed_links_corrupted_ampersands.rss": ("feed", 1, 0),
    "cdx_malformed_lines.txt": ("archive", 1, 3),
    "cdx_ia.json": ("archive", 1, 0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_files(recrawl, name):
    result = recrawl("sources", "test", DATA / name, "--base", BASE, "--json")
    *rows, last = result.rows
    kind, pages, rejected = EXPECTED[name]
    assert (result.code, last["kind"], last["failed"]) == (0, kind, None)
    assert len(rows) == last["hints"] == pages
    assert last["warnings"].get("unusable URL", 0) == rejected
    assert all({"url", "modified_at"} <= set(row) for row in rows)


def test_rows_and_the_last_object(recrawl):
    *rows, _ = recrawl("sources", "test", DATA / "feed_pubdate_variants.rss", "--base", BASE,
                       "--json").rows  # fmt: skip
    assert [row["url"][-1] for row in rows] == list("1234567")
    assert [row["modified_at"] for row in rows] == [
        *(f"2017-01-05T12:34:5{n}Z" for n in range(1, 5)), "2017-01-05T13:34:55Z", None, None,
    ]  # fmt: skip
    (row, last) = recrawl("sources", "test", DATA / "feed_links_corrupted_ampersands.rss",
                          "--base", BASE, "--json").rows  # fmt: skip
    assert row["url"] == "http://link/get?a=1&b=2"
    assert set(last) == {
        "warnings", "kind", "hints", "repeated", "complete", "failed", "maps", "followed",
        "feeds", "resume", "examples", "bytes",
    }  # fmt: skip


def test_a_table_for_people(recrawl):
    result = recrawl("sources", "test", DATA / "feed_pubdate_variants.rss", "--base", BASE)
    assert "http://www.example.com/article_1" in result.out
    assert "2017-01-05T12:34:51Z" in result.out
    assert "feed: 7 pages, 5 dated" in result.err
    cut = recrawl("sources", "test", DATA / "feed_pubdate_variants.rss", "--base", BASE,
                  "--limit", 2)  # fmt: skip
    assert len(cut.out.splitlines()) == 3
    assert "--limit 0" in cut.err


def write(tmp_path, text):
    path = tmp_path / "source"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_addresses_are_those_that_would_be_admitted(recrawl, tmp_path):
    body = "\n".join([
        "url,lastmod", "/a?utm_source=x,2024-05-01", "/a,2024-05-02", "http://127.0.0.1/x,",
        "http://u:p@www.example.com/,", "ftp://www.example.com/,", "https://db.internal/,",
    ])  # fmt: skip
    row, last = recrawl("sources", "test", write(tmp_path, body), "--base", BASE, "--json").rows
    assert row["url"] == "http://www.example.com/a?utm_source=x"  # as found; one page with /a
    assert row["modified_at"] == "2024-05-02T00:00:00Z"
    assert last["warnings"] == {
        "unusable URL": 1, "private address": 2, "user name or password in the address": 1,
    }  # fmt: skip
    assert last["repeated"] == 1


def test_what_can_not_be_read_is_a_failure(recrawl, tmp_path):
    page = "<!doctype html><link rel=alternate type=application/rss+xml href=/feed>"
    result = recrawl("sources", "test", write(tmp_path, page), "--base", BASE, "--json")
    (last,) = result.rows
    assert (result.code, last["failed"], last["complete"]) == (1, "an HTML page", False)
    assert last["feeds"] == ["http://www.example.com/feed"]
    shown = recrawl("sources", "test", write(tmp_path, page), "--base", BASE)
    assert (shown.code, shown.out) == (1, "")
    assert "an HTML page" in shown.err
    assert recrawl("sources", "test", write(tmp_path, b""), "--base", BASE).code == 1


def test_mistakes_of_use(recrawl, tmp_path):
    path = write(tmp_path, "http://e.com/")
    for arguments, word in (
        ((path,), "--base"),
        ((path, "--base", "ftp://x"), "--base"),
        ((path, "--base", BASE, "--kind", "map"), "sitemap, feed"),
        (("https://e.com/feed",), "--contact"),
    ):
        result = recrawl("sources", "test", *arguments)
        assert (result.code, result.out) == (2, "")
        assert word in result.err
    gone = recrawl("sources", "test", "nowhere.xml", "--base", BASE)
    assert (gone.code, gone.err) == (1, "Error: nowhere.xml: No such file or directory\n")


def test_kind_overrides_the_bytes(recrawl, tmp_path):
    path = write(tmp_path, "User-agent: *\nSitemap: /map.xml\n")
    row, last = recrawl("sources", "test", path, "--base", BASE, "--json").rows
    assert (row["url"], row["modified_at"]) == ("http://www.example.com/map.xml", None)
    assert (last["kind"], last["maps"]) == ("robots", ["http://www.example.com/map.xml"])
    found = write(tmp_path, '[{"url": "/a"}]')
    last = recrawl("sources", "test", found, "--base", BASE, "--kind", "search", "--json").rows[-1]
    assert (last["kind"], last["hints"]) == ("search", 1)


INDEX = (
    "<sitemapindex><sitemap><loc>/s1.xml</loc></sitemap>"
    "<sitemap><loc>/lost.xml</loc></sitemap></sitemapindex>"
)


@pytest.fixture
def site():
    pages = {
        "/robots.txt": "User-agent: *\nSitemap: /index.xml\n",
        "/index.xml": INDEX,
        "/s1.xml": "<urlset><url><loc>/a</loc><lastmod>2024-05-01</lastmod></url></urlset>",
        "/feed": "<rss><channel><item><link>/b</link></item></channel></rss>",
    }
    with Site(pages) as running:
        yield running


def test_over_the_wire(recrawl, site):
    result = recrawl("sources", "test", f"{site.origin}/feed", "--json")
    row, last = result.rows
    assert (result.code, row["url"]) == (0, f"{site.origin}/b")
    assert last["bytes"] > 100
    assert site.asked == ["/feed"]
    gone = recrawl("sources", "test", f"{site.origin}/nothing", "--json")
    assert (gone.code, gone.rows[-1]["failed"].startswith("answered 404")) == (1, True)


def test_an_index_is_listed_and_followed_only_when_asked(recrawl, site):
    *rows, last = recrawl("sources", "test", f"{site.origin}/index.xml", "--json").rows
    assert (rows, last["maps"]) == ([], [f"{site.origin}/s1.xml", f"{site.origin}/lost.xml"])
    assert site.asked == ["/index.xml"]
    *rows, last = recrawl(
        "sources", "test", f"{site.origin}/robots.txt", "--follow", "--json"
    ).rows
    assert [row["url"] for row in rows] == [f"{site.origin}/index.xml", f"{site.origin}/a"]
    assert rows[1]["modified_at"] == "2024-05-01T00:00:00Z"
    assert last["followed"] == 3
    assert last["warnings"]["sub-sitemap that could not be read"] == 1
    assert not last["complete"]


def test_other_peoples_private_hosts_are_not_asked(recrawl, site, tmp_path):
    index = INDEX.replace("/s1.xml", "http://127.0.0.2:1/s").replace("/lost", "http://10.0.0.1/x")
    arguments = (write(tmp_path, index), "--base", f"{site.origin}/i.xml", "--follow", "--json")
    (last,) = recrawl("sources", "test", *arguments).rows
    assert (last["followed"], last["bytes"]) == (0, 0)
    assert last["warnings"]["on another host, and not named in robots.txt"] == 2
    site.pages["/robots.txt"] = "Sitemap: http://127.0.0.2:1/s.xml"
    *_, last = recrawl("sources", "test", f"{site.origin}/robots.txt", "--follow", "--json").rows
    assert last["warnings"] == {"private address": 1, "sub-sitemap that could not be read": 1}
