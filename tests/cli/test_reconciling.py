"""`reconcile`, and what `report` says of told charges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.model import Writes
from recrawl.stores import SqliteStore
from recrawl.units import MICRO, Spend


def test_it_agrees(shop):
    """Six lines of 1200 B each."""
    result = shop(
        "reconcile", "--tariff", "default", "--vendor", "7.3 kB", "--since", "2026-09-01"
    )
    assert (result.code, result.err) == (0, "")
    assert [line.split() for line in result.out.splitlines()] == [
        ["vendor", "7.3", "kB"],
        ["ledger", "7.2", "kB,", "6", "requests"],
        ["difference", "-100", "B", "(-1.37%)"],
        ["kernel", "7.2", "kB"],
    ]


def test_a_drift_is_an_alert_and_exit_code_4(shop):
    """Five of the six lines, at 9600 micro-USD each."""
    asked = ("reconcile", "--tariff", "default", "--since", "2026-09-21", "--until", "2026-09-22")
    result = shop(*asked, "--vendor", "0.03 USD", "--json")
    (row,) = result.rows
    assert result.code == 4
    figures = [row[name] for name in ("unit", "vendor", "ledger", "requests", "difference")]
    assert figures == ["micro_usd", 30_000, 48_000, 5, 18_000]
    assert row["share"] == pytest.approx(0.6)
    assert row["alert"]["kind"] == "drift"
    loose = shop(*asked, "--vendor", "0.03 USD", "--tolerance", "60 %")
    assert (loose.code, loose.err) == (0, "")
    assert shop(*asked, "--vendor", "0.03 USD").err.startswith(
        "! tariff.default: the ledger holds"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"--tariff": "x"}, "known: default"),
        ({"--vendor": "1 credit"}, "not credits"),
        ({"--vendor": "much"}, "not a quantity"),
        ({"--since": "soon"}, "is no time"),
        ({"--until": "2026-09-01"}, "must be later"),
        ({"--tolerance": "x"}, "--tolerance"),
    ],
)
def test_what_it_can_not_do_is_said(shop, change, said):
    asked = {"--tariff": "default", "--vendor": "1 GB", "--since": "2026-09-02", **change}
    result = shop("reconcile", *(word for pair in asked.items() for word in pair))
    assert result.code == 2
    assert said in result.err


def test_the_report_names_charges_that_were_told(shop, tmp_path: Path):
    path = tmp_path / "recrawl.toml"
    bytes_, credits_ = (
        'unit = "bytes"\nprice = "8 USD/GB"',
        ('unit = "credits"\nprice = "49 USD / 1000 credits"\ncharge_header = "X-Credits"'),
    )
    path.write_text(path.read_text().replace(bytes_, credits_))
    store = SqliteStore.open(tmp_path / "recrawl.db", create=False)
    some = next(e for e in store.entries() if e.verdict.word == "same")
    spend = Spend(bytes=1, microcredits=3 * MICRO, fetches=1)
    told = [replace(some, t=some.t + i, spend=spend, source="vendor") for i in range(10, 22)]
    store.commit(Writes(entries=told))
    store.close()
    assert "+200.0%" in shop("report").out
    (row,) = shop("report", "--json").rows
    assert row["charges"]["default"]["told_microcredits"] == 36 * MICRO
    assert "drift" in [alert["kind"] for alert in row["alerts"]]
