"""Even visits against a crawl of them step by step; and the best possible above both."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.sim.best import best_possible
from recrawl.sim.even import even_readings, even_visits
from recrawl.sim.growth import make_web
from recrawl.sim.truth import Prices, Readings, changes_found, freshness
from recrawl.sim.web import MadeUpWeb, WebSpec
from recrawl.units import DAY

SMALL = make_web(WebSpec(seed=6, hosts=5, pages=200, days=6))
START, END = SMALL.spec.start, SMALL.spec.end
PRICES = Prices.of_web(SMALL)


def stepwise(web: MadeUpWeb, prices: Prices, interval: float) -> tuple[int, float, int]:
    """Go round the pages one visit at a time: visits, bytes, changes found."""
    seen: dict[int, tuple[int, int]] = {}
    visits, spent, found = 0, 0.0, 0
    n, step = len(web), interval / len(web)
    k = 0
    while (t := START + (k // n) * interval + (k % n) / n * interval) < END:
        page = k % n
        k += 1
        if t >= web.died[page]:
            continue
        own = web.changes[web.bounds[page] : web.bounds[page + 1]]
        moved = web.moves[web.move_bounds[page] : web.move_bounds[page + 1]]
        now = (int((own <= t).sum()), int((moved <= t).sum()))
        before = seen.get(page)
        stands = before is not None and before[1] == now[1]
        spent += prices.unchanged[page] if stands else prices.full[page]
        found += before is not None and before[0] != now[0]
        visits += 1
        seen[page] = now
    assert step > 0
    return visits, spent, found


@pytest.mark.parametrize("interval", [0.4 * DAY, 1.7 * DAY, 6 * DAY])
def test_replayed_at_once_or_step_by_step_is_the_same(interval: float) -> None:
    readings = even_readings(SMALL, interval, START, END)
    visits, spent, found = stepwise(SMALL, PRICES, interval)
    assert len(readings.pages) == visits
    assert PRICES.of_readings(SMALL, readings).sum() == pytest.approx(spent)
    assert changes_found(SMALL, readings) == found


def test_every_page_is_visited_equally_often_while_it_lives() -> None:
    readings = even_readings(SMALL, DAY, START, END)
    counts = np.bincount(readings.pages, minlength=len(SMALL))
    lives = np.isinf(SMALL.died)
    assert counts[lives].min() == counts[lives].max() == 6
    assert np.all(counts[~lives] <= 6)
    assert np.all(readings.times < SMALL.died[readings.pages])
    gaps = np.diff(readings.times)[readings.again()[1:]]
    assert gaps == pytest.approx(DAY)


@pytest.mark.parametrize("passes", [1.2, 3.0, 12.0])
def test_the_budget_is_spent_and_never_exceeded(passes: float) -> None:
    budget = passes * float(PRICES.full.sum())
    even = even_visits(SMALL, PRICES, budget, START, END, START + 3 * DAY)
    assert budget - 2 * PRICES.full.max() - 0.01 * budget < even.bytes <= budget
    visits, spent, found = stepwise(SMALL, PRICES, even.interval)
    assert (even.visits, even.changes) == (visits, found)
    assert even.bytes == pytest.approx(spent, abs=1)
    assert even.freshness == freshness(SMALL, even.readings, START + 3 * DAY, END)


def test_more_money_buys_more_freshness() -> None:
    total = float(PRICES.full.sum())
    fresh = [
        even_visits(SMALL, PRICES, k * total, START, END, START + 3 * DAY).freshness
        for k in (2, 5, 15)
    ]
    assert fresh == sorted(fresh)
    assert fresh[-1] - fresh[0] > 0.1


def test_budgets_that_allow_no_comparison_are_refused() -> None:
    with pytest.raises(ValueError, match="does not pay for one reading"):
        even_visits(SMALL, PRICES, 1000.0, START, END, START)
    with pytest.raises(ValueError, match="nothing is left to choose"):
        even_visits(SMALL, PRICES, 1e13, START, END, START)


def scheduled(web: MadeUpWeb, frequency: np.ndarray, rng: np.random.Generator) -> Readings:
    """Evenly spaced visits at those frequencies, after one reading of every page."""
    pages, times = [np.arange(len(web))], [np.full(len(web), web.spec.start)]
    for page in np.flatnonzero(frequency):
        gap = 1.0 / frequency[page]
        own = np.arange(web.spec.start + rng.uniform(0, gap), web.spec.end, gap)
        own = own[own < web.died[page]]
        pages.append(np.full(len(own), page))
        times.append(own)
    return Readings.of(np.concatenate(pages), np.concatenate(times))


def test_the_best_possible_can_be_had_and_beats_even_visits(
    web: MadeUpWeb, prices: Prices
) -> None:
    """Its visits replayed on the true changes cost and yield what the convex program says."""
    budget = 60e6
    start, end = web.spec.start, web.spec.end
    best = best_possible(web, prices, budget, start, end)
    readings = scheduled(web, best.frequency, np.random.Generator(np.random.PCG64(1)))
    since = start + 10 * DAY
    assert freshness(web, readings, since, end) == pytest.approx(best.freshness, abs=0.015)
    first_pass = float(prices.full.sum())
    spent = float(prices.of_readings(web, readings).sum()) - first_pass
    assert spent == pytest.approx(budget, rel=0.06)
    even = even_visits(web, prices, budget, start, end, since)
    assert best.freshness > even.freshness + 0.05


def test_the_best_possible_grows_with_the_budget(web: MadeUpWeb, prices: Prices) -> None:
    fresh = [
        best_possible(web, prices, b, web.spec.start, web.spec.end).freshness
        for b in (1e6, 1e7, 1e8, 1e9)
    ]
    assert fresh == sorted(fresh)
    assert 0.3 < fresh[0] < 0.85
    assert fresh[-1] > 0.97
