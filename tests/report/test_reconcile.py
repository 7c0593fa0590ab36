"""The ledger beside what vendors say."""

from __future__ import annotations

import pytest

from recrawl.model import Entry, Purpose, Verdict
from recrawl.plan.tariff import Tariff
from recrawl.report.reconcile import (
    Reconciliation,
    drift_alert,
    reconcile,
    told_alerts,
    told_charges,
)
from recrawl.units import MICRO, Spend, Unit

API = Tariff("api", Unit.CREDITS, 0.0, {"plain": 1.0, "browser": 5.0}, charge_header="x")


def line(
    amount: int,
    source: str = "kernel",
    route: str = "api",
    verdict: Verdict = Verdict.SAME,
    page_type: int = 0,
) -> Entry:
    return Entry(
        t=1.0, host_id=1, key=1, purpose=Purpose.BEST_BUY, verdict=verdict, page_type=page_type,
        status=200, kind="ok", conditional=False, up=0, down=0,
        spend=Spend(microcredits=amount * MICRO, fetches=1), source=source, route=route,
    )  # fmt: skip


def test_the_routes_of_the_tariff_are_summed_by_source():
    entries = [line(5), line(7, "reserved"), line(50, route="direct"), line(1, "vendor")]
    r = reconcile(entries, ["api", "api/2"], "api", Unit.CREDITS, 10 * MICRO)
    assert (r.requests, r.ledger, r.difference) == (3, 13 * MICRO, 3 * MICRO)
    assert r.by_source == {"kernel": 5 * MICRO, "reserved": 7 * MICRO, "vendor": MICRO}
    assert r.share == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("ledger", "vendor", "drifts"),
    [(102, 100, False), (98, 100, False), (103, 100, True), (97, 100, True), (0, 0, False),
     (1, 0, True)],
)  # fmt: skip
def test_a_difference_beyond_the_tolerance_is_drift(ledger, vendor, drifts):
    r = Reconciliation("api", Unit.BYTES, vendor, ledger=ledger)
    assert r.drifts() is drifts
    assert (drift_alert(r) is not None) is drifts


def test_the_alert_says_by_how_much_and_where_to_look():
    more = drift_alert(Reconciliation("api", Unit.BYTES, 100, 9, 120, {"kernel": 120}))
    assert str(more) == (
        "tariff.api: the ledger holds 20 B more than the vendor says, 20.0%. "
        "Compare each and charged_on of the tariff with what the vendor bills."
    )
    lost = drift_alert(Reconciliation("api", Unit.BYTES, 100, 9, 120, {"reserved": 30}))
    assert "30 B of it are visits lost in a crash" in lost.next_step
    less = drift_alert(Reconciliation("api", Unit.BYTES, 100, 9, 80, {"reserved": 30}))
    assert "20 B less" in less.sentence and "anything else uses this account" in less.next_step


def test_told_charges_beside_the_list():
    """By mode, and by what the list bills; lines that were not told say nothing."""
    entries = [
        line(3, "vendor"),
        line(9, "vendor", page_type=1),
        line(2, "vendor", verdict=Verdict.FAILED),
        line(1),
        line(1, "vendor", route="other"),
    ]
    told = told_charges(entries, {"api": API}, lambda kind: "browser" if kind else "plain")
    assert (told["api"].visits, told["api"].told) == (3, 14 * MICRO)
    assert told["api"].listed == (1 + 5) * MICRO
    assert told["api"].share == pytest.approx(8 / 6)


def test_a_list_that_is_wrong_is_an_alert_once_there_are_enough_charges():
    def alerts(n: int, charge: int):
        lines = [line(charge, "vendor") for _ in range(n)]
        return list(told_alerts(told_charges(lines, {"api": API}, lambda kind: "plain")))

    assert alerts(9, 3) == alerts(10, 1) == []
    (alert,) = alerts(10, 3)
    assert alert.sentence == (
        "the vendor took 30 credits for 10 visits; the list charge says 10 credits (+200.0%)."
    )
