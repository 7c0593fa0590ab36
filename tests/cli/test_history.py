"""`ledger`, `changes` and `export`."""

from __future__ import annotations

import csv
import io
import json

import pytest


def test_ledger_table(shop):
    result = shop("ledger")
    assert [line.split() for line in result.out.splitlines()[:3]] == [
        ["time", "url", "purpose", "verdict", "status", "bytes", "price"],
        ["2026-09-21T14:13:20Z", "https://shop.example/robots.txt", "robots", "robots", "200",
         "1.2", "kB", "$0.0096"],
        ["2026-09-21T14:13:21Z", "https://shop.example/p/1", "discovery", "new", "200",
         "1.2", "kB", "$0.0096"],
    ]  # fmt: skip
    assert (result.code, result.err) == (0, "")


def test_ledger_as_json(shop):
    rows = shop("ledger", "--json").rows
    assert len(rows) == 6
    assert set(rows[0]) == {
        "t", "url", "purpose", "verdict", "type", "status", "kind", "conditional", "up", "down",
        "spend", "tau", "predicted", "gain", "price", "score", "bar", "source", "route",
        "discovered", "sighted", "evidence",
    }  # fmt: skip
    assert rows[2]["predicted"] == pytest.approx(0.4, rel=1e-3)  # kept in half precision
    assert rows[2]["spend"] == {
        "bytes": 1200, "micro_usd": 9600, "microcredits": 0, "fetches": 1, "millis": 100,
    }  # fmt: skip
    assert rows[4]["conditional"] is True
    assert rows[5]["url"] == "http://down.example:8080/"


@pytest.mark.parametrize(
    ("arguments", "verdicts"),
    [
        (["--since", "2026-09-22"], ["failed"]),
        (["--since", "2026-09-21T14:13:23Z", "--site", "shop.example"], ["same", "not_modified"]),
        (["--purpose", "best_buy"], ["changed", "same"]),
        (["--site", "down.example"], ["failed"]),
        (["--limit", "1"], ["robots"]),
    ],
)
def test_ledger_filters(shop, arguments, verdicts):
    assert [row["verdict"] for row in shop("ledger", "--json", *arguments).rows] == verdicts


def test_ledger_table_shows_the_last_and_says_so(shop):
    result = shop("ledger", "--limit", "1")
    assert "failed" in result.out.splitlines()[1]
    assert result.err == "the last 1 of 6 visits; --limit 0 shows all\n"


def test_changes_table_is_safe_for_a_terminal(shop):
    out = shop("changes").out.splitlines()
    assert out[1].endswith("new      first reading")
    assert out[2].endswith(r"changed  price: 1 -> \x1b[31m2")


def test_changes_as_json(shop):
    first, second = shop("changes", "--json").rows
    assert first == {
        "t": "2026-09-21T14:13:21Z", "t_before": None, "url": "https://shop.example/p/1",
        "type": "product", "verdict": "new", "before": None, "after": {"price": "1"},
    }  # fmt: skip
    assert second["after"] == {"price": "\x1b[31m2", "x": 1}
    assert shop("changes", "--json", "--type", "page").rows == []
    assert len(shop("changes", "--json", "--since", "2026-09-21T14:13:22Z").rows) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["ledger", "--since", "yesterday"],
        ["ledger", "--since", "99999999999999 y"],
        ["ledger", "--purpose", "best"],
        ["ledger", "--site", "x.example"],
        ["changes", "--type", "none"],
        ["changes", "--since", "2026-13-01"],
        ["export", "pages"],
        ["export", "changes", "--format", "xml"],
        ["export"],
    ],
)
def test_usage(shop, arguments):
    result = shop(*arguments)
    if arguments[2:] == ["99999999999999 y"]:
        assert result.code == 0  # so long ago is since the beginning
    else:
        assert (result.code, result.out) == (2, "")
        assert "Error: " in result.err


def test_export_changes_csv_has_one_row_a_changed_field(shop):
    rows = list(csv.reader(io.StringIO(shop("export", "changes", "--format", "csv").out)))
    assert rows == [
        ["t", "t_before", "url", "type", "verdict", "field", "before", "after"],
        ["2026-09-21T14:13:21Z", "", "https://shop.example/p/1", "product",
         "new", "price", "", "1"],
        ["2026-09-21T14:13:22Z", "2026-09-21T14:13:21Z", "https://shop.example/p/1", "product",
         "changed", "price", "1", "\x1b[31m2"],
    ]  # fmt: skip


def test_export_records_csv_has_a_column_a_field(shop):
    rows = list(csv.reader(io.StringIO(shop("export", "records", "--format", "csv").out)))
    assert rows[0][5:] == ["field.name", "field.price", "field.tags"]
    assert rows[1][0] == "https://shop.example/p/1"
    assert rows[1][5:] == ["", "=1+1", '["a", "b"]']
    assert rows[2][5:] == ['caf\xe9, "best"', "", ""]


def test_export_jsonl_reads_back(shop):
    rows = shop("export", "records").rows
    assert rows[0]["fields"] == {"price": "=1+1", "tags": ["a", "b"]}
    assert shop("export", "changes").rows == shop("changes", "--json").rows


def test_export_to_a_file_appears_when_complete(shop, tmp_path):
    result = shop("export", "records", "--out", "r.jsonl")
    assert (result.code, result.out, result.err) == (0, "", "r.jsonl: 2 rows\n")
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 2
    (told,) = shop("export", "changes", "--out", "c.csv", "--format", "csv", "--json").rows
    assert told == {"what": "changes", "format": "csv", "file": "c.csv", "rows": 2}
    assert not list(tmp_path.glob("*.part"))


def test_export_to_a_place_that_is_not_there(shop):
    result = shop("export", "records", "--out", "no/such/r.jsonl")
    assert result.code == 1
    assert result.err == "Error: no/such/r.jsonl.part: No such file or directory\n"


def test_every_json_line_is_json_without_nan(shop):
    for command in (["pages"], ["hosts"], ["frontier"], ["ledger"], ["changes"], ["report"]):
        for line in shop(*command, "--json").out.splitlines():
            json.loads(line, parse_constant=pytest.fail)
