"""A model that is right is called right; of one that is wrong, the pages are named."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator
from scipy import stats

from recrawl.model import Entry, Purpose, Verdict
from recrawl.report import calibrate, sample_of
from recrawl.report.calibration import LEAST, wilson
from recrawl.report.freshness import chance_fresh
from recrawl.units import DAY, Spend

TYPES = ["page", "product", "news"]


def prior(host, kind):
    return np.ones(host.size), np.full(host.size, 5.0 * DAY)


def entry(predicted, verdict=Verdict.SAME, kind=0, tau=DAY, key=1, t=1e9):
    return Entry(
        t, 1, key, Purpose.VERIFICATION, verdict, kind, 200, "ok", False, 1, 1, Spend(),
        tau=tau, predicted=predicted,
    )  # fmt: skip


def drawn(seed, n=400, kind=0, faster=1.0, shape=2.0):
    """Readings of pages whose rates come from the belief, `faster` times as fast as believed."""
    rng = Generator(PCG64(seed))
    b = rng.lognormal(math.log(5 * DAY), 1, n)
    tau = rng.lognormal(math.log(2 * DAY), 1, n)
    changed = rng.random(n) < -np.expm1(-faster * rng.gamma(shape, 1 / b) * tau)
    p = 1 - chance_fresh(np.full(n, shape), b, tau)
    verdicts = np.where(changed, Verdict.CHANGED, Verdict.SAME)
    return [
        entry(float(x), Verdict(int(v)), kind, float(t), key=i)
        for i, (x, v, t) in enumerate(zip(p, verdicts, tau, strict=True))
    ]


def judged(entries, best=()):
    return calibrate(sample_of(entries, prior), sample_of(best, prior), TYPES)


def test_a_model_that_is_right_is_called_right():
    told = [judged(drawn(s) + drawn(s + 1000, kind=1)).sentence for s in range(200)]
    assert sum(t.startswith("The model is wrong") for t in told) <= 6  # 1 % expected
    assert sum(t.startswith("The model holds") for t in told) >= 185


def test_the_bins_hold_the_truth_as_often_as_they_say():
    off = [b.off for s in range(200) for b in judged(drawn(s, n=1000)).bins]
    assert len(off) == 2000
    assert np.mean(off) == pytest.approx(0.05, abs=0.02)


def test_the_pages_on_which_it_is_wrong_are_named():
    c = judged([*drawn(1, kind=0), *drawn(2, kind=1, faster=4.0), *drawn(3, kind=2, faster=0.2)])
    (product,) = (part for part in c.sentence.split(";") if "product" in part)
    (news,) = (part for part in c.sentence.split(";") if "news" in part)
    assert c.sentence.startswith("The model is wrong: ")
    assert "pages of type product changed " in product and "type page" not in c.sentence
    assert "pages of type news changed 0." in news
    by = {j.name: j for j in c.by_type}
    assert f"changed {by['product'].ratio:.2g} times as often as predicted" in product
    assert by["product"].ratio > 1.5 > 1 / 0.6 * by["news"].ratio
    assert by["product"].ratio_low < by["product"].ratio < by["product"].ratio_high


def test_three_times_as_often():
    rows = [entry(0.1, Verdict.CHANGED if i < 60 else Verdict.NOT_MODIFIED) for i in range(200)]
    assert judged(rows).sentence == (
        "The model is wrong: pages of type page changed 3 times as often as predicted "
        "(60 of 200 readings, 20.0 predicted)."
    )
    never = judged([entry(0.5) for _ in range(30)])
    assert "never changed (0 of 30 readings, 15.0 predicted)" in never.sentence


def test_right_on_average_is_not_enough():
    """Predictions too far apart: the mean fits, the deciles don't."""
    rng = Generator(PCG64(4))
    rows = [
        entry(p, Verdict.CHANGED if rng.random() < 0.35 else Verdict.SAME)
        for p in (0.05, 0.65)
        for _ in range(300)
    ]
    assert judged(rows).sentence.startswith("The model is right on average but not page by page")


def test_few_readings_say_nothing_and_none_break_nothing():
    assert judged([]).sentence.startswith("Too early to tell: 0")
    c = judged([entry(0.9)] * 9)
    assert c.sentence.startswith("Too early to tell: 9")
    assert len(c.bins) == 1
    assert judged([]).as_dict()["whole"]["ratio"] is None


def test_best_buys_are_shown_and_judge_nothing():
    lucky = [entry(0.1, Verdict.CHANGED)] * 500
    c = judged(drawn(5), lucky)
    assert c.best_buys.ratio == pytest.approx(10)
    assert c.sentence == judged(drawn(5)).sentence


def test_what_says_nothing_of_the_content_is_left_out():
    rows = [*drawn(6), entry(0.5, Verdict.FAILED), entry(0.5, Verdict.GONE), entry(1.0, tau=0.0)]
    c = judged(rows)
    assert c.whole.readings == 400
    assert c.unanswered == 2


def test_log_scores_by_hand():
    c = judged([entry(0.2, tau=DAY), entry(0.7, Verdict.CHANGED, tau=10 * DAY)])
    alone = math.log(5 / 6), math.log(1 - 5 / 15)
    assert c.whole.log_score == pytest.approx((math.log(0.8) + math.log(0.7)) / 2)
    assert c.whole.log_score_prior == pytest.approx(sum(alone) / 2)
    assert c.whole.gained == pytest.approx(c.whole.log_score - c.whole.log_score_prior)


def test_learning_gains_over_the_prior():
    gains = [judged(drawn(s)).whole.gained for s in range(20)]
    assert np.mean(gains) > 0.02
    c = judged(drawn(7))
    assert c.whole.gained_error == pytest.approx(np.std(gains), rel=0.6)


@given(st.integers(1, 500), st.data())
def test_wilsons_interval(n, data):
    hits = data.draw(st.integers(0, n))
    theirs = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


PREDICTION = st.floats(0, 1)
VERDICT = st.sampled_from(Verdict)


@given(st.lists(st.builds(entry, PREDICTION, VERDICT, st.integers(0, 3), st.floats(0, 1e9))))
def test_whatever_the_ledger_holds_the_numbers_are_finite_and_add_up(rows):
    c = judged(rows)
    assert c.whole.readings + c.unanswered == sum(e.tau > 0 for e in rows)
    assert sum(b.readings for b in c.bins) == c.whole.readings
    assert sum(j.readings for j in c.by_type) == c.whole.readings
    assert sum(j.observed for j in c.by_type) == c.whole.observed
    numbers = [x for j in c.by_type for x in (j.ratio, j.log_score, j.surprise) if x is not None]
    assert all(map(math.isfinite, numbers))
    assert all(j.log_score >= math.log(LEAST) * 1.001 for j in c.by_type)
    for b in c.bins:
        assert b.low <= b.predicted * (1 + 1e-9) and b.predicted <= b.high * (1 + 1e-9)
        assert 0 <= b.observed_low <= b.observed <= b.observed_high <= 1
