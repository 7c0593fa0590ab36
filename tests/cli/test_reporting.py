"""`report`: the answers on one page."""

from __future__ import annotations

import re


def test_report_for_people(shop):
    result = shop("report")
    assert result.code == 0
    out = result.out
    assert out.startswith("shops, from the beginning, at 20")
    assert re.search(r"^spent +\$0\.058, 5 visits$", out, re.MULTILINE)
    assert re.search(r"^changes found +1, each for \$0\.058$", out, re.MULTILINE)
    assert re.search(r"^found nothing +40\.0% of the visits$", out, re.MULTILINE)
    assert re.search(r"^https://shop\.example +product +4 +50\.0% +1 ", out, re.MULTILINE)
    assert re.search(r"^https://shop\.example +robots\.txt +0 +- +0 ", out, re.MULTILINE)
    assert re.search(r"^verification +1 +0 ", out, re.MULTILINE)
    assert "pages             1 new, 2 live, 1 gone" in out
    assert "answers           http://down.example:8080: 1 x none" in out
    assert "! http://down.example:8080: has failed 5 times in a row" in out
    assert "! https://shop.example: limits.per_host is reached: 7 addresses" in out


def test_report_as_json(shop):
    (report,) = shop("report", "--json").rows
    assert set(report) == {
        "project", "since", "now", "total", "by_site_and_type", "by_purpose", "freshness",
        "states", "discovery", "discovery_by_day", "status_by_host", "refused",
        "limits_reached", "charges", "unaffordable", "alerts", "reserves", "calibration",
        "poisson_fit",
    }  # fmt: skip
    total = report["total"]
    assert (total["visits"], total["requests"], total["changes"], total["nothing"]) == (5, 6, 1, 2)
    assert total["spend"]["bytes"] == 6 * 1200
    assert total["micro_usd_per_change"] == 6 * 9600
    assert sum(s["spend"]["bytes"] for s in report["by_site_and_type"]) == 6 * 1200
    assert {(s["site"], s["type"]) for s in report["by_site_and_type"]} == {
        ("https://shop.example", "product"),
        ("https://shop.example", "robots.txt"),
        ("http://down.example:8080", "page"),
    }
    assert report["freshness"]["pages"] == 3
    assert report["freshness"]["unread"] == 1
    assert 0 < report["freshness"]["now"] < report["freshness"]["of_read"] < 1
    assert report["status_by_host"]["https://shop.example"] == {"200": 4, "304": 1}
    assert [a["kind"] for a in report["alerts"]] == ["unreachable", "limit"]
    assert [d["day"] for d in report["discovery_by_day"]] == [20717, 20718]


def test_report_since(shop):
    (report,) = shop("report", "--json", "--since", "2026-09-22").rows
    assert report["since"] == "2026-09-22T00:00:00Z"
    assert report["total"]["requests"] == 1


def test_report_of_an_empty_crawl(shop, tmp_path):
    from recrawl.stores import SqliteStore

    for path in tmp_path.glob("recrawl.db*"):
        path.unlink()
    SqliteStore.open(tmp_path / "recrawl.db", create=True).close()
    result = shop("report")
    assert result.code == 0
    assert "fresh now         - of the value expected (0 pages, 0 not read yet)" in result.out
    (report,) = shop("report", "--json").rows
    assert report["freshness"]["now"] is None
    assert report["by_site_and_type"] == []
