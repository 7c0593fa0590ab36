"""`benchmarks/policies.py` in its small form, on a folder of made-up histories."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.random import PCG64, Generator

from recrawl.plan.policies import policy_names

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
T0 = 1_622_505_600  # 2021-06-01
YEAR = 365 * 86_400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return histories(tmp_path_factory.mktemp("traces"), T0)


def histories(path, begin, n=40):
    """Pages of two sources; one ends after half a year, one was there for too short a time."""
    from pyarrow import parquet, table

    rng = Generator(PCG64(1))
    rate = rng.lognormal(np.log(1 / (10 * 86_400)), 1.5, n)
    end = np.full(n, begin + 2 * YEAR)
    end[3], end[4] = begin + YEAR // 2, begin + 10 * 86_400
    page = np.repeat(np.arange(n), rng.poisson(rate * 2 * YEAR))
    parquet.write_table(
        table({
            "page_id": np.arange(n) * 7, "source": ["a" if i % 2 else "b" for i in range(n)],
            "cls": ["docs" if i % 2 else "price" for i in range(n)], "group_id": np.arange(n) % 4,
            "birth": np.full(n, begin - YEAR), "end": end,
        }),
        path / "pages.parquet",
    )  # fmt: skip
    times = begin + rng.integers(0, 2 * YEAR, page.size)
    parquet.write_table(table({"page_id": page * 7, "t": times}), path / "events.parquet")
    return path


def run(*args):
    return subprocess.run(
        [sys.executable, "policies.py", "--small", *args],
        cwd=BENCHMARKS, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def figures(folder):
    done = run("--json", "--traces", str(folder))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_policy_stands_beside_the_others(figures):
    assert set(figures["synthetic"]) == {"0.05", "0.2", "1.0"}
    for row in figures["synthetic"].values():
        assert set(policy_names()) <= set(row)
        assert all(0 < x < 1.2 for x in row.values())
    assert set(figures["traces"]) == {"unit", "mixed", "not_modified", "restless"}
    for variant in ("unit", "mixed", "not_modified"):
        rows = figures["traces"][variant]
        assert set(policy_names()) <= set(rows)
        for name in policy_names():
            row = rows[name]
            assert {"relative_staleness", "freshness", "events_captured", "age_days"} <= set(row)
            assert 0 < row["freshness"] < 1
            assert set(row["staleness_by_class"]) == {"docs", "price"}
        assert rows["uniform"]["relative_staleness"] == 1.0
        assert rows["freshness"]["of_clairvoyant"] <= 1.05


def test_theory_is_what_the_papers_print(figures):
    assert figures["theory"]["article_difference"] < 5e-4
    assert figures["theory"]["cho_difference"] < 2e-3
    assert figures["theory"]["freshness"]["optimal"] == pytest.approx(0.3739, abs=1e-4)


def test_the_same_seeds_give_the_same_figures(figures, folder):
    again = run("--json", "--traces", str(folder), "--only", "freshness,uniform")
    kept = json.loads(again.stdout)
    for variant, rows in kept["traces"].items():
        for name, row in rows.items():
            assert row == {k: figures["traces"][variant][name][k] for k in row}


def test_a_folder_without_histories_is_a_clear_error(tmp_path):
    done = run("--traces", str(tmp_path))
    assert done.returncode == 2
    assert "pages.parquet" in done.stderr and "Traceback" not in done.stderr


def test_histories_of_other_years_have_their_own_windows(tmp_path):
    done = run("--json", "--parts", "unit", "--traces", str(histories(tmp_path, T0 - 15 * YEAR)))
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads(done.stdout)["traces"]["unit"]["freshness"]["relative_staleness"] < 1.5


def test_too_few_histories_are_a_clear_error(tmp_path):
    done = run("--traces", str(histories(tmp_path, T0, n=10)))
    assert done.returncode == 2
    assert "in no year do 20 of 10 pages" in done.stderr and "Traceback" not in done.stderr
