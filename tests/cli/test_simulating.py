"""`simulate`: other settings tried on the project's own pages."""

from __future__ import annotations

import re

import pytest

QUICK = ("--days", "8", "--seeds", "2")


def test_policies_and_budgets_in_a_table(shop):
    done = shop("simulate", *QUICK)
    assert done.code == 0
    assert done.out.startswith("3 pages, 8 days, 2 worlds drawn from what is believed of them")
    for times in ("$2.00", "$4.00", "$8.00"):
        for policy in ("freshness", "harmonic", "events", "value-age", "uniform"):
            assert re.search(rf"^.? +{policy} +\{times} per month +\d", done.out, re.MULTILINE)
    (marked,) = [line for line in done.out.splitlines() if line.startswith("*")]
    assert marked.split()[:4] == ["*", "freshness", "$4.00", "per"]
    assert re.search(
        r"^\$4\.00 per month: .* one more dollar buys \S+ fresh days", done.out, re.MULTILINE
    )


def test_as_json(shop):
    (row,) = shop("simulate", *QUICK, "--json").rows
    assert (row["pages"], row["simulated"], row["unit"], row["seeds"]) == (3, 3, "micro_usd", 2)
    assert len(row["policies"]) == 15
    assert [b["per_day"] for b in row["budgets"]] == pytest.approx(
        [2e6 / 30, 4e6 / 30, 8e6 / 30], rel=1e-6
    )
    assert [x["current"] for x in row["budgets"]] == [False, True, False]
    for x in row["policies"]:
        assert 0 <= x["freshness"] <= 1
    for b in row["budgets"]:
        assert b["even_visits"] <= b["best_possible"] + 1e-6
        assert b["buys_fresh_page_days"] >= 0


def test_the_same_twice(shop):
    assert shop("simulate", *QUICK).out == shop("simulate", *QUICK).out


def test_what_is_asked_for_beside_the_present(shop):
    (row,) = shop(
        "simulate", *QUICK, "--goal", "age", "--policy", "uniform", "--budget", "1 USD per week",
        "--budget", "0.1 USD", "--json",
    ).rows  # fmt: skip
    assert list(dict.fromkeys(x["policy"] for x in row["policies"])) == [
        "freshness", "age", "uniform",
    ]  # fmt: skip
    assert [b["budget"] for b in row["budgets"]] == [
        "$4.00 per month", "$1.00 per week", "$0.10 per day",
    ]  # fmt: skip


def test_a_tariff_and_another_unit(shop):
    (row,) = shop(
        "simulate", *QUICK, "--tariff", "default", "--budget", "1 MB/day", "--policy", "uniform",
        "--json",
    ).rows  # fmt: skip
    assert row["unit"] == "bytes"
    assert [b["one_more"] for b in row["budgets"]] == ["megabyte"]
    assert not any(x["current"] for x in row["policies"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--policy", "best"], "--policy 'best': write freshness, harmonic"),
        (["--goal", "uniform"], "--goal 'uniform': write freshness, harmonic, age, events"),
        (["--budget", "5 apples"], "'apples' is no unit of a budget"),
        (["--budget", "5 MB/year"], "'year' is no period of a budget"),
        (["--budget", "5 MB/run"], "write hour, day, week or month"),
        (["--budget", "0 MB"], "write more than nothing"),
        (["--budget", "1 MB", "--budget", "1 USD"], "all in one unit"),
        (["--tariff", "none"], "--tariff 'none': the file has default"),
    ],
)
def test_mistakes_say_what_to_write(shop, arguments, said):
    done = shop("simulate", *QUICK, *arguments)
    assert done.code == 2
    assert said in done.err


def test_without_a_crawl_pages_or_a_budget(shop, tmp_path):
    from recrawl.stores import SqliteStore

    config = tmp_path / "recrawl.toml"
    whole = config.read_text() if config.exists() else None
    shop("report")
    whole = config.read_text()
    config.write_text(whole.replace('per_month = "4 USD"', ""))
    done = shop("simulate", *QUICK)
    assert done.code == 2 and "no budget per hour, day, week or month" in done.err
    assert shop("simulate", *QUICK, "--budget", "1 MB/day", "--policy", "uniform").code == 0
    for path in tmp_path.glob("recrawl.db*"):
        path.unlink()
    config.write_text(whole)
    done = shop("simulate", *QUICK)
    assert done.code == 1 and "start with `recrawl run`" in done.err
    SqliteStore.open(tmp_path / "recrawl.db", create=True).close()
    done = shop("simulate", *QUICK)
    assert done.code == 2 and "no page is known yet" in done.err
