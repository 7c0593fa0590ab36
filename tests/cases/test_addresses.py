"""Addresses as sites write them: what is asked for, once, and what the url command says."""

import io
import json
import re
import sys

import pytest

from cases.conftest import script
from servers.lab import page


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://h.test/a%20b%3a%20%2376%2c%20c#top", "http://h.test/a%20b%3A%20%2376%2C%20c"),
        ("http://h.test/caf%e9?q=%c4%e5%f8", "http://h.test/caf%E9?q=%C4%E5%F8"),
        ("http://h.test/?2=A&1=b&C=D&2=0", "http://h.test/?1=b&2=A&2=0&C=D"),
        ("http://h.test:443/a", "http://h.test:443/a"),
        ("https://h.test:80/a", "https://h.test:80/a"),
        ("https://h.test:443/a", "https://h.test/a"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ("http://h.test/a/../b", "http://h.test/b"),
        ("http://h.test/a/%2e%2E/b", "http://h.test/b"),
        ("http://h.test/%7euser", "http://h.test/~user"),
        ("http://H.TEST", "http://h.test/"),
        ("http://ex\u0430mple.test/", "http://xn--exmple-4nf.test/"),
        ("http://h.test/a%2fb", "http://h.test/a%2Fb"),
        ("http://h.test/a%252fb", "http://h.test/a%252fb"),
    ],
)  # URL-01, 03, 05, 10, 12
def test_one_form(crawl, given, url):
    (said,) = crawl.cli("url", "--json", given).rows
    assert fetched_or_key(said) == url
    (again,) = crawl.cli("url", "--json", url).rows
    assert fetched_or_key(again) == url


def fetched_or_key(said):
    assert not said["refused"], said
    return said["key"] if "?1=b" in (said.get("key") or "") else said["url"]


@pytest.mark.parametrize(
    "given",
    ["mailto:x@y.test", "javascript:void(0)", "ftp://h.test/", "http://[IP-Address",
     "http://[http//w.h.test/r.htm?e=1", "http://h.test:port/", "http://h.test:99999/", "data:,x",
     "http://", "tel:+1", "file:///etc/passwd"],
)  # fmt: skip
def test_no_address(crawl, given):  # URL-07, URL-10
    (said,) = crawl.cli("url", "--json", given).rows
    assert said["refused"]


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("http://example.test@evil.test/", "evil.test"),
        ("http://example.test%2F@evil.test/", "evil.test"),
        ("http://user:hunter2@h.test/", "h.test"),
    ],
)
def test_what_stands_before_the_at_sign(crawl, given, host):  # URL-12
    crawl.serve({"*": {"/": page(given), "*": {"b": "x"}}})
    crawl.project("http://shop.test/")
    crawl.run()
    outputs = [crawl.cli(*c) for c in (["pages"], ["hosts"], ["ledger"], ["frontier"], ["report"])]
    assert not any("hunter2" in r.out + r.err for r in outputs)
    assert b"hunter2" not in (crawl.folder / "recrawl.db").read_bytes()
    assert {a.host for a in crawl.lab.asked} == {"shop.test"}
    (said,) = crawl.cli("url", "--json", given).rows
    assert said["fetch"] == f"http://{host}/"


@pytest.mark.parametrize(
    ("href", "path"),
    [
        ("/caf%e9?q=%c4%e5%f8", "/caf%E9?q=%C4%E5%F8"),
        ("/a%20b%3a%20%2376%2c%20c#top", "/a%20b%3A%20%2376%2C%20c"),
        ("/a b", "/a%20b"),
        ("/caf\xe9", "/caf%C3%A9"),
        ("/x?a=1&amp;b=2", "/x?a=1&b=2"),
        ("/%2523", "/%2523"),
        ("/a?x=%2B+%26", "/a?x=%2B+%26"),
    ],
)
def test_what_the_server_is_asked(crawl, href, path):  # URL-01, URL-03
    crawl.serve({"h.test": {"/": page(href), "*": {"b": "x"}}})
    crawl.project("http://h.test/")
    crawl.passes()
    first, second = crawl.lab.pages()
    assert first.path == "/" and upper_hex(second.path) == path


def upper_hex(path):
    """Addresses are fetched as written; the case of an escape's digits is no part of it."""
    return re.sub("%[0-9a-f]{2}", lambda m: m[0].upper(), path, flags=re.IGNORECASE)


def test_bad_links_cost_only_themselves(crawl):  # URL-07
    crawl.serve(script("URL-07"))
    crawl.project("http://any.test/")
    crawl.passes()
    assert len(crawl.lab.of("/good")) == 1
    reasons = crawl.refused()
    assert sum(reasons.values()) == 4, reasons


def test_a_folder_that_redirects_to_its_index(crawl):  # URL-09
    crawl.serve(script("URL-09"))
    crawl.project("http://any.test/")
    crawl.passes(3)
    assert len(crawl.lab.of("/dir/index.html")) == 3
    assert crawl.page("/dir/index.html").state.word == "live"
    assert crawl.page("/dir/").state.word == "alias"


@pytest.mark.parametrize(
    ("base", "content", "host", "path"),
    [
        ("http://e.test/base/path/", "0; url=relative/target.html", "e.test",
         "/base/path/relative/target.html"),
        ("", "0; url=relative/target.html", "c.test", "/some/relative/target.html"),
        ("/up/", "0;URL='t.html'", "c.test", "/up/t.html"),
        ("http://e.test/b/", "0;url=/t.html", "e.test", "/t.html"),
        ("//e.test/b/", "3 ; url = t.html", "e.test", "/b/t.html"),
    ],
)  # fmt: skip
def test_a_refresh_is_resolved_like_a_link(crawl, base, content, host, path):  # URL-16
    head = f"<base href='{base}'>" if base else ""
    body = f'<html><head>{head}<meta http-equiv=refresh content="{content}"></head></html>'
    there = {"h": {"Content-Type": "text/html"}, "b": body}
    crawl.serve({"c.test": {"/some/page.html": there, "*": {"b": "x"}}, "*": {"*": {"b": "x"}}})
    crawl.project("http://c.test/some/page.html", "http://e.test/")
    crawl.passes()
    assert len(crawl.lab.of(path, host)) == 1


def test_ampersands_escaped_twice_do_not_grow(crawl):  # URL-18
    """Each page escapes the query it was asked with once more."""

    def shop(asked):
        query = asked.path.partition("?")[2] or "sort=1"
        amp = query.replace("%3B", "%253B")
        escaped = "&amp;amp;p=2", f"&amp;amp;{amp}&amp;amp;p=3"
        return page(*(f"/s?x=1{e}" for e in escaped))

    crawl.serve({"shop.test": {"*": shop}})
    crawl.project("http://shop.test/s?x=1")
    crawl.passes(2)
    assert len({a.path for a in crawl.lab.pages()}) <= 8


def test_many_on_stdin(crawl, monkeypatch):  # URL-10
    lines = b"http://h.test/a/../b\n\nmailto:x@y.test\nhttp://h.test:port/\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    result = crawl.cli("url", "--json")
    said = [json.loads(line) for line in result.out.splitlines()]
    assert [bool(s["refused"]) for s in said] == [False, True, True]
