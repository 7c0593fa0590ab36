"""The whole product against a made-up web whose truth is known: fresh near the best possible."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from recrawl.model import Purpose, Verdict
from recrawl.sim.demo import DemoPlan, DemoResult
from recrawl.sim.play import play
from recrawl.stores import SqliteStore

SMALL = DemoPlan(seed=3, hosts=5, pages=200, days=3.0, budget=3_000_000, judged=1.0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[DemoResult, Path]:
    """Three days of a small web, and the folder of its store."""
    folder = tmp_path_factory.mktemp("small")
    told: list[float] = []
    result = asyncio.run(play(SMALL, folder, on_progress=lambda _, day: told.append(day)))
    assert told == sorted(told) and told[-1] == pytest.approx(SMALL.days, abs=0.2)
    return result, folder


def test_a_short_play_ends_with_figures_that_can_be(small: tuple[DemoResult, Path]) -> None:
    result, _ = small
    assert 0 < result.even < result.best <= 1
    assert 0 < result.now <= result.best + 0.02
    assert result.visits > 200 and result.changes > 0
    assert result.ours_usd_per_change > 0 and result.even_usd_per_change > 0


def test_the_budget_is_kept_to_the_byte(small: tuple[DemoResult, Path]) -> None:
    result, folder = small
    store = SqliteStore.open(folder / "demo.db", create=False, read_only=True)
    entries = list(store.entries())
    store.close()
    assert len(entries) == result.visits
    spent = sum(e.spend.bytes for e in entries)
    assert spent == sum(e.up + e.down for e in entries)
    assert 0.5 * SMALL.budget < spent <= SMALL.bytes_a_day * 31


def test_every_page_and_every_part_of_the_plan_has_its_turn(
    small: tuple[DemoResult, Path],
) -> None:
    _, folder = small
    store = SqliteStore.open(folder / "demo.db", create=False, read_only=True)
    entries = list(store.entries())
    store.close()
    purposes = Counter(e.purpose for e in entries)
    assert {Purpose.ROBOTS, Purpose.DISCOVERY, Purpose.BEST_BUY} <= set(purposes)
    verdicts = Counter(e.verdict for e in entries)
    assert {Verdict.NEW, Verdict.CHANGED, Verdict.SAME, Verdict.NOT_MODIFIED} <= set(verdicts)
    assert Verdict.UNKNOWN not in verdicts


def test_nothing_is_left_running_or_lying_about(small: tuple[DemoResult, Path]) -> None:
    _, folder = small
    assert not (folder / "clock").exists()
    assert (folder / "demo.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_fresh_now_is_near_the_best_possible_and_above_even_visits(
    seed: int, tmp_path: Path
) -> None:
    result = asyncio.run(play(DemoPlan(seed=seed), tmp_path))
    assert result.now >= 0.93 * result.best
    assert result.now > result.even
    assert result.ours_usd_per_change > 0
