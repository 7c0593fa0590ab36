"""`pages`, `hosts`, `frontier`: tables for people, JSON lines for programs."""

from __future__ import annotations

import pytest

from recrawl.model import Writes
from recrawl.stores import SqliteStore
from recrawl.units import iso


def test_pages_table(shop):
    result = shop("pages")
    assert result.code == 0
    due = "2026-09-21T14:14:59Z"
    assert [line.split() for line in result.out.splitlines()] == [
        ["url", "state", "type", "visits", "changes", "last", "due"],
        ["https://shop.example/p/1", "live", "product", "1", "0", "2026-09-21T14:13:21Z", due],
        ["https://shop.example/p/2", "live", "product", "2", "1", "2026-09-21T14:13:22Z", due],
        ["https://shop.example/p/3", "gone", "product", "3", "2", "2026-09-21T14:13:23Z", due],
        ["http://down.example:8080/", "new", "page", "0", "0", "never", "-"],
    ]


def test_pages_as_json(shop):
    rows = shop("pages", "--json").rows
    assert len(rows) == 4
    assert rows[0] == {
        "url": "https://shop.example/p/1", "key": "0000000000000001", "state": "live",
        "type": "product", "value": 1.0, "depth": 0, "first_seen": "2026-09-21T14:13:20Z",
        "last": "2026-09-21T14:13:21Z", "changed_at": None, "due": "2026-09-21T14:14:59Z",
        "retry_at": None, "visits": 1, "changes": 0, "not_modified": 0, "fails": 0,
        "etag": '"x"', "last_modified": None, "target": None, "canonical": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "urls"),
    [
        (["--state", "gone"], ["https://shop.example/p/3"]),
        (["--type", "page"], ["http://down.example:8080/"]),
        (["--host", "down.example"], ["http://down.example:8080/"]),
        (["--host", "down.example:8080"], ["http://down.example:8080/"]),
        (["--host", "http://down.example:8080/"], ["http://down.example:8080/"]),
        (["--host", "shop.example", "--limit", "1"], ["https://shop.example/p/1"]),
        (["--host", "shop.example", "--state", "new"], []),
    ],
)
def test_pages_filters(shop, arguments, urls):
    assert [row["url"] for row in shop("pages", "--json", *arguments).rows] == urls


def test_pages_says_when_there_are_more(shop):
    result = shop("pages", "--limit", "2")
    assert len(result.out.splitlines()) == 3
    assert result.err == "the first 2 pages; --limit 0 shows all\n"
    assert shop("pages", "--limit", "4").err == ""
    assert len(shop("pages", "--limit", "0").out.splitlines()) == 5


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["--state", "dead"], "new, live, gone"),
        (["--type", "shop"], "page, product"),
        (["--host", "other.example"], "known: down.example:8080, shop.example"),
        (["--limit", "-1"], "--limit"),
        (["--limit", "x"], "--limit"),
        (["--nonsense"], "No such option"),
    ],
)
def test_pages_usage(shop, arguments, fix):
    result = shop("pages", *arguments)
    assert (result.code, result.out) == (2, "")
    assert fix in result.err


def test_hosts(shop):
    out = shop("hosts").out.splitlines()
    assert out[0].split() == [
        "host", "pages", "delay", "next", "robots", "304", "faults", "latency", "note",
    ]  # fmt: skip
    assert out[1].split()[:4] == ["https://shop.example", "3", "1.5", "s"]
    assert "4/10" in out[1]
    assert "not read" in out[2]
    shop_row, down = shop("hosts", "--json").rows
    assert set(shop_row) == {
        "origin", "pages", "delay", "next_ok", "crawl_delay", "throttled_until", "robots",
        "robots_until", "fails", "latency", "handshake_bytes", "conditional", "not_modified",
        "note",
    }  # fmt: skip
    assert (shop_row["conditional"], shop_row["not_modified"]) == (10, 4)
    assert (down["origin"], down["fails"]) == ("http://down.example:8080", 5)


def rest(folder, first: float, second: float) -> None:
    """Let the two hosts rest until then."""
    store = SqliteStore.open(folder / "recrawl.db", create=False)
    hosts = store.load_hosts()
    hosts[0].throttled_until, hosts[0].next_ok = first, 1e9
    hosts[1].throttled_until, hosts[1].next_ok = second, 4e9
    store.commit(Writes(hosts={host.host_id: host for host in hosts}))
    store.close()


def test_hosts_says_how_long_a_host_rests_and_why(shop, tmp_path):
    shop("hosts")
    rest(tmp_path, 4.1e9, 3.9e9)
    _, throttled, faulty = shop("hosts").out.splitlines()
    assert f" {iso(4.1e9)} (throttled) " in throttled
    assert f" {iso(4e9)} (faults) " in faulty
    assert shop("hosts", "--json").rows[0]["throttled_until"] == iso(4.1e9)


def test_a_pause_that_is_over_is_not_shown(shop, tmp_path):
    shop("hosts")
    rest(tmp_path, 1e9, 1e9)
    _, ready, later = shop("hosts").out.splitlines()
    assert " now " in ready
    assert f" {iso(4e9)} " in later and "(" not in later


def test_frontier(shop):
    assert shop("frontier").out.splitlines() == [
        "host                      new  live  gone",
        "https://shop.example        0     2     1",
        "http://down.example:8080    1     0     0",
        "refused because  addresses",
        "already known           70",
        "host is full             7",
    ]
    assert shop("frontier", "--json").rows == [
        {"host": "https://shop.example", "states": {"live": 2, "gone": 1}},
        {"host": "http://down.example:8080", "states": {"new": 1}},
        {"host": None, "refused": {"already known": 70, "host is full": 7}},
    ]
