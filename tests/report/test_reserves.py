"""Each reserve's account: shares as configured and as spent, and what they found."""

import pytest

from recrawl.model import RETURNED, Purpose, Verdict
from recrawl.report import count_returns, reserves

SHARES = {Purpose.DISCOVERY: 0.1, Purpose.REESTIMATION: 0.05, Purpose.VERIFICATION: 0.03}


def test_what_they_cost_and_found(line):
    rows = [
        line(Verdict.NEW, Purpose.DISCOVERY, n=3, micro_usd=30, discovered=12),
        line(Verdict.FAILED, Purpose.DISCOVERY, micro_usd=10),
        line(Verdict.CHANGED, Purpose.REESTIMATION, n=2, micro_usd=20, discovered=1),
        line(Verdict.CHANGED, Purpose.VERIFICATION, micro_usd=5),
        line(Verdict.SAME, Purpose.VERIFICATION, n=4, micro_usd=20),
        line(Verdict.CHANGED, Purpose.BEST_BUY, n=9, micro_usd=100, discovered=99),
        line(Verdict.ROBOTS, Purpose.ROBOTS, micro_usd=15),
    ]
    found = reserves(rows, SHARES, {Purpose.REESTIMATION: 2})
    by = {r.purpose: r for r in found}
    assert list(by) == [Purpose.DISCOVERY, Purpose.REESTIMATION, Purpose.VERIFICATION]
    d, e, v = found
    assert (d.new_pages, d.tally.first, d.tally.visits, d.spend.micro_usd) == (12, 3, 4, 40)
    assert (e.new_pages, e.tally.changes, e.returns) == (1, 2, 2)
    assert (v.tally.changes, v.returns, v.share) == (1, 0, 0.03)
    assert [r.spent_share for r in found] == pytest.approx([40 / 200, 20 / 200, 25 / 200])
    assert sum(r.as_dict()["spend"]["micro_usd"] for r in found) == 85
    assert found[0].as_dict()["unit"] == "micro_usd"


def test_nothing_spent():
    assert [r.spent_share for r in reserves([], SHARES, {})] == [None, None, None]


def test_returns_are_counted_by_what_the_visit_said(line):
    from dataclasses import replace

    from report.test_calibration import entry

    back = replace(entry(0.5), evidence=f"visible text; {RETURNED}: it was gone")
    assert count_returns([back, entry(0.5), back]) == 2
