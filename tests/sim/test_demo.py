"""The demo's figures keep the shape that the command promises."""

from __future__ import annotations

import json

import pytest

from recrawl.sim.demo import USD_PER_GB, DemoPlan, DemoResult, Waste, table, waste_table
from recrawl.sim.even import even_visits
from recrawl.sim.truth import Prices
from recrawl.sim.web import MadeUpWeb
from recrawl.units import DAY

RESULT = DemoResult(
    now=0.84, best=0.87, even=0.78,
    ours_usd_per_change=0.0000812, even_usd_per_change=0.000127,
    visits=21_034, changes=7_512, seconds=41.2,
    waste=(
        Waste("http://127.0.0.1:8000", "product", 100, 5_000, 1_000),
        Waste("http://127.0.0.4:8000", "thread", 300, 9_000, 8_000),
    ),
)  # fmt: skip


def test_json_has_the_promised_shape() -> None:
    told = json.loads(json.dumps(RESULT.as_json()))
    assert set(told["freshness"]) == {"now", "best", "even"}
    assert set(told["usd_per_change"]) == {"ours", "even"}
    assert (told["visits"], told["changes"], told["seconds"]) == (21_034, 7_512, 41.2)
    assert told["waste"][1] == {
        "site": "http://127.0.0.4:8000",
        "page_type": "thread",
        "visits": 300,
        "usd": 0.009,
        "usd_finding_nothing": 0.008,
    }


def test_the_table_sets_every_figure_beside_its_comparison() -> None:
    rows = {what: (figure, beside) for what, figure, beside in table(RESULT)}
    assert rows["fresh now"] == ("84.0%", "96.6% of the best possible")
    assert rows["cost per change"] == ("$0.0000812", "even visits: $0.00013")
    assert rows["visits"] == ("21,034", "7,512 changes found")


def test_the_most_wasteful_stands_first() -> None:
    rows = waste_table(RESULT)
    assert [row[1] for row in rows] == ["thread", "product"]
    assert rows[0][2:] == ("300", "$0.009", "$0.008")


def test_the_plan_is_tight_but_not_hopeless(web: MadeUpWeb, prices: Prices) -> None:
    """Even visits on its budget come to a handful of visits a page: room to be better."""
    plan = DemoPlan()
    assert plan.micro_usd == pytest.approx(plan.budget * USD_PER_GB / 1e9 * 1e6)
    assert plan.bytes_a_day * plan.days == plan.budget
    assert plan.judged_after == (plan.days - plan.judged) * DAY
    start, end = web.spec.start, web.spec.end
    even = even_visits(web, prices, plan.budget, start, end, start + plan.judged_after)
    assert 5 < even.visits / len(web) < 20
    assert 0.6 < even.freshness < 0.85
