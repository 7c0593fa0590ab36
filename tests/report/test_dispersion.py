"""Poisson pages are called Poisson however they are visited; bursts and clockwork are seen."""

import numpy as np
import pytest
from numpy.random import PCG64, Generator
from scipy.optimize import minimize_scalar

from recrawl.model import Change, Entry, Purpose, Verdict
from recrawl.report import dispersion, pages_to_ask
from recrawl.report.dispersion import FEWEST_CHANGES, PAGES, rate
from recrawl.units import DAY, Spend


def visit(t, tau, changed, key=1):
    verdict = Verdict.CHANGED if changed else Verdict.SAME
    return Entry(
        float(t), 1, key, Purpose.BEST_BUY, verdict, 0, 200, "ok", False, 1, 1, Spend(),
        tau=float(tau),
    )  # fmt: skip


def poisson(rng, until):
    return np.sort(rng.uniform(0, until, rng.poisson(until / DAY)))


def bursts(rng, until):
    centres = rng.uniform(0, until, rng.poisson(until / DAY / 5))
    return np.sort((centres[:, None] + rng.exponential(2 * DAY, (centres.size, 5))).ravel())


def clockwork(rng, until):
    return np.cumsum(rng.gamma(16, DAY / 16, int(2 * until / DAY)))


def seen(process, every, seed=0, pages=60, visits=500):
    """What visits at random times, `every` seconds apart on average, see of that process."""
    rng = Generator(PCG64(seed))
    histories = []
    for key in range(pages):
        tau = rng.exponential(every, visits) + 600
        t = np.cumsum(tau)
        changes = process(rng, t[-1])
        changed = np.searchsorted(changes, t) > np.searchsorted(changes, t - tau)
        rows = [visit(*row, key) for row in zip(t, tau, changed, strict=True)]
        histories.append((0, rows[::-1]))
    return dispersion(histories, ["page"])[0]


@pytest.mark.parametrize("every", [0.05 * DAY, 0.3 * DAY, DAY])
def test_poisson_pages_have_index_1_however_often_they_are_visited(every):
    told = seen(poisson, every)
    assert told.index == pytest.approx(1.0, abs=0.2)
    assert told.error < 0.1
    assert told.gaps == pytest.approx(1.0, abs=0.12)
    assert "as a Poisson process" in told.sentence


@pytest.mark.parametrize("every", [0.05 * DAY, 0.3 * DAY, DAY])
def test_bursts_and_clockwork(every):
    assert seen(bursts, every).index > 2
    assert "in bursts" in seen(bursts, every).sentence
    assert seen(clockwork, every).index < 0.6
    assert "by the clock" in seen(clockwork, every).sentence


def test_the_most_likely_rate():
    rng = Generator(PCG64(1))
    tau = rng.lognormal(np.log(DAY), 1, 200)
    hit = rng.random(200) < -np.expm1(-tau / DAY)

    def minus_log(x):
        p = -np.expm1(-np.exp(x) * tau)
        return -(np.log(p[hit]).sum() - np.exp(x) * tau[~hit].sum())

    best = minimize_scalar(minus_log, bracket=(np.log(0.1 / DAY), np.log(10 / DAY)))
    assert rate(tau, hit) == pytest.approx(np.exp(best.x), rel=1e-6)


def test_pages_that_can_not_tell_are_not_asked():
    always = [visit(i * DAY, DAY, True) for i in range(1, 50)]
    rarely = [visit(i * DAY, DAY, i % 30 == 0) for i in range(1, 50)]
    failed = [Entry(1.0, 1, 1, Purpose.BEST_BUY, Verdict.FAILED, 0, 0, "", False, 0, 0, Spend())]
    (told,) = dispersion([(0, always), (0, rarely), (0, failed)], ["page"])
    assert told.index is None
    assert told.sentence == "No page of type page has enough changes to tell."
    assert told.as_dict()["pages"] == 0
    assert dispersion([(0, failed)], ["page"]) == []


def test_which_pages_are_asked():
    def change(key, kind=0, verdict=Verdict.CHANGED):
        return Change(1.0, 0.0, 1, key, kind, verdict, None, None)

    many = [change(key) for key in range(PAGES + 50) for _ in range(FEWEST_CHANGES)]
    few = [change(9999, 1)] * (FEWEST_CHANGES - 1)
    first = [change(7, 2, Verdict.NEW)] * 20
    asked = pages_to_ask([*many, *few, *first])
    assert asked == [(0, 1, key) for key in range(PAGES)]


def test_a_few_poisson_pages_raise_no_alarm():
    """Where there are few changes the index scatters widely, and says nothing."""
    told = [seen(poisson, 0.3 * DAY, seed, pages=3, visits=60) for seed in range(60)]
    assert min(d.index for d in told if d.index is not None) < 0.6
    assert sum("Poisson" not in d.sentence and d.index is not None for d in told) <= 2
