"""Alerts: only when something is wrong, one sentence and the next step."""

from __future__ import annotations

import pytest

from recrawl.model import Host, Refused, Verdict
from recrawl.report import (
    Alert,
    Pace,
    blocked_alerts,
    budget_alerts,
    cap_alerts,
    contact_alerts,
    host_alerts,
    limit_alerts,
    recent,
)
from recrawl.units import DAY, Unit

NOW = 20_000 * DAY


def pace(spent: int, elapsed_days: float, cap: int = 4_000_000) -> Pace:
    start = NOW - elapsed_days * DAY
    return Pace("budget.per_month", Unit.USD, cap, spent, start, NOW, start + 30 * DAY)


def test_a_budget_that_will_not_last_names_the_date():
    (alert,) = budget_alerts([pace(2_000_000, 10)])
    assert alert.kind == "budget"
    assert str(alert) == (
        "budget.per_month: $2.00 of $4.00 is spent; at this pace it is used up at "
        "2024-10-14T00:00:00Z, 10 d too early. Raise budget.per_month, or crawl fewer pages."
    )


def test_a_budget_that_lasts_raises_nothing():
    assert list(budget_alerts([pace(1_300_000, 10), pace(0, 10), pace(4_000_000 // 3, 10)])) == []


def test_the_first_hundredth_of_a_period_says_nothing():
    assert list(budget_alerts([pace(1_000_000, 0.2)])) == []
    assert len(list(budget_alerts([pace(1_000_000, 0.4)]))) == 1


@pytest.mark.parametrize("elapsed", [0.0, 0.1, 15.0])
def test_a_spent_budget_says_when_it_begins_anew(elapsed):
    (alert,) = budget_alerts([pace(4_000_001, elapsed)])
    assert "all of $4.00 is spent; nothing more is bought before 20" in alert.sentence


def test_an_unreachable_host():
    down = Host(1, "http://a.example:8080", fails=3, next_ok=NOW + 60)
    (alert,) = host_alerts([down, Host(2, "http://ok.example", fails=2)], NOW)
    assert (alert.kind, alert.subject) == ("unreachable", "http://a.example:8080")
    assert "failed 3 times in a row; next try at 2024-10-04T00:01:00Z" in alert.sentence
    assert alert.next_step == "See why: recrawl ledger --site a.example:8080"


def test_an_unreachable_robots_txt_closes_the_host():
    host = Host(1, "http://a.example", robots_status="unreachable", robots_until=NOW + 60)
    (alert,) = host_alerts([host], NOW)
    assert alert.kind == "robots"
    assert "nothing is fetched there until 2024-10-04T00:01:00Z" in alert.sentence
    assert alert.next_step.startswith("Open http://a.example/robots.txt")


def test_a_throttling_host_only_while_it_lasts():
    host = Host(1, "http://a.example", throttled_until=NOW + 60)
    assert [a.kind for a in host_alerts([host], NOW)] == ["throttled"]
    assert list(host_alerts([host], NOW + 61)) == []


def test_healthy_hosts_raise_nothing():
    hosts = [Host(1, "http://a.example", robots_status="rules"), Host(2, "http://b.example")]
    assert list(host_alerts(hosts, NOW)) == []


def test_limits():
    refused = [
        ("http://a.example", str(Refused.HOST_FULL), 1234),
        ("", str(Refused.PROJECT_FULL), 1),
        ("http://a.example", str(Refused.KNOWN), 99),
    ]
    pages, host = limit_alerts(refused)
    assert (pages.subject, host.subject) == ("limits.pages", "http://a.example")
    assert "limits.per_host is reached: 1,234 addresses" in host.sentence


def test_blocked_hosts_by_share(line):
    rows = [
        line(Verdict.BLOCKED, host=1, n=10),
        line(Verdict.SAME, host=1, n=40),
        line(Verdict.SOFT_ERROR, host=2, n=10),
        line(Verdict.SAME, host=2, n=41),
        line(Verdict.BLOCKED, host=3, n=9),
    ]
    (alert,) = blocked_alerts(rows, {1: "http://a.example"})
    assert alert.subject == "http://a.example"
    assert alert.sentence.startswith("20% of its visits")


def test_old_trouble_is_no_alert(line):
    rows = [line(day=20_000), line(day=19_994), line(day=19_993)]
    assert recent(rows, NOW) == rows[:2]


@pytest.mark.parametrize(
    ("origin", "wrong"),
    [
        ("https://a.example", True),
        ("http://127.evil.example", True),
        ("http://localhost.evil.example:80", True),
        ("http://10.0.0.1", True),
        ("http://127.0.0.1:8000", False),
        ("http://[::1]:8000", False),
        ("http://localhost", False),
        ("http://a.localhost:1", False),
    ],
)
def test_contact_is_missed_beyond_this_machine_only(origin, wrong):
    found = list(contact_alerts("", [Host(1, origin)]))
    assert bool(found) is wrong
    assert list(contact_alerts("me@a.example", [Host(1, origin)])) == []


def test_as_dict():
    alert = Alert("limit", "x", "is full.", "Raise it.")
    assert alert.as_dict() == {
        "kind": "limit", "subject": "x", "sentence": "is full.", "next_step": "Raise it.",
    }  # fmt: skip


def test_pages_beyond_every_cap_are_named():
    assert list(cap_alerts(0, [])) == []
    need = ("https://a.example/x", "needs 3.2 MB a visit; the cap is 1 MB per day")
    (alert,) = cap_alerts(1_200, [need])
    assert str(alert).startswith(
        "1,200 pages: can't be visited within the budget: https://a.example/x needs 3.2 MB a "
        "visit; the cap is 1 MB per day. Raise the cap"
    )
