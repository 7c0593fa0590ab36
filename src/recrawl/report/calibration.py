"""Was the model right? Predicted against observed change over the verification sample.

Verification visits are drawn at random over all live pages, their prediction frozen at the draw:
only they say without bias how well the beliefs predict. Best buys are visited *because* they are
expected to have changed; they are shown beside, and judge nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Entry, Verdict
from recrawl.report.freshness import chance_fresh
from recrawl.report.outcomes import type_name

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Prior = Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[Floats, Floats]]
"""(host_id, page_type) -> the group's Gamma (a, b), b in seconds."""

CONFIDENCE = 0.95
ALARM = 0.01  # chance at which a model that is right is called wrong, over all page types
MATERIAL = 1.2  # a smaller error of the mean costs no freshness that could be measured
BINS, FEWEST = 10, 10  # deciles, and the readings that one needs
OFF_BINS = 3  # of ten 95 % intervals, so many miss with a chance of 1 % if all is right
LEAST, MOST = 1e-6, 1.0 - 1e-6  # chances, where one surprise must not outweigh everything


@dataclass(frozen=True, slots=True)
class Sample:
    """Readings of pages: aligned arrays, one entry a reading."""

    predicted: Floats  # chance of a change, frozen when the visit was chosen
    prior: Floats  # the same by the group's prior alone
    changed: Bools
    page_type: NDArray[np.int64]
    unanswered: int = 0  # visits that ended without a reading: they say nothing of the model

    def __len__(self) -> int:
        return int(self.predicted.size)

    def of_type(self, page_type: int) -> Sample:
        """The readings of one page type."""
        at = self.page_type == page_type
        return Sample(self.predicted[at], self.prior[at], self.changed[at], self.page_type[at])


@dataclass(frozen=True, slots=True)
class Bin:
    """Readings whose predictions are alike."""

    readings: int
    low: float  # smallest and largest prediction
    high: float
    predicted: float  # mean
    observed: float  # share that had changed
    observed_low: float  # its 95 % interval
    observed_high: float

    @property
    def off(self) -> bool:
        """True where the interval leaves the prediction out."""
        return not self.observed_low <= self.predicted <= self.observed_high


@dataclass(frozen=True, slots=True)
class Judged:
    """A set of readings against its predictions."""

    name: str
    readings: int
    predicted: float  # changes
    observed: int
    ratio: float | None  # observed / predicted; None = none predicted
    ratio_low: float | None  # 95 %
    ratio_high: float | None
    surprise: float  # standard deviations between observed and predicted
    log_score: float | None  # mean log likelihood, nats a reading; higher is better
    log_score_prior: float | None  # of the group's prior alone
    gained: float | None  # the difference: what learning page by page is worth
    gained_error: float | None  # its standard error


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything said of the model."""

    whole: Judged
    bins: list[Bin]
    by_type: list[Judged]
    best_buys: Judged
    unanswered: int
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        out = asdict(self)
        for plain, made in zip(out["bins"], self.bins, strict=True):
            plain["off"] = made.off
        return out


def sample_of(entries: Iterable[Entry], prior: Prior) -> Sample:
    """The readings among ledger lines that had a prediction. `prior`: as learned by now."""
    rows, unanswered = [], 0
    for e in entries:
        if not e.tau > 0:
            continue
        if e.verdict in (Verdict.CHANGED, Verdict.SAME, Verdict.NOT_MODIFIED):
            hit = e.verdict is Verdict.CHANGED
            rows.append((e.predicted, e.tau, hit, e.host_id, e.page_type))
        else:
            unanswered += 1
    table = np.array(rows, np.float64).reshape(-1, 5)
    host, kind = table[:, 3].astype(np.int64), table[:, 4].astype(np.int64)
    a, b = prior(host, kind) if rows else (table[:, 0], table[:, 0])
    alone = 1.0 - chance_fresh(a, b, table[:, 1])
    return Sample(table[:, 0], alone, table[:, 2] > 0, kind, unanswered)


def calibrate(sample: Sample, best_buys: Sample, types: Sequence[str]) -> Calibration:
    """Judge the verification sample, whole, by decile and by page type."""
    kinds = np.unique(sample.page_type).tolist()
    by_type = [judge(type_name(kind, types), sample.of_type(kind)) for kind in kinds]
    whole, bins = judge("all", sample), deciles(sample)
    return Calibration(
        whole=whole,
        bins=bins,
        by_type=by_type,
        best_buys=judge("best buys", best_buys),
        unanswered=sample.unanswered,
        sentence=_sentence(whole, bins, by_type),
    )


def judge(name: str, sample: Sample) -> Judged:
    """Counts, ratio and log scores of some readings.

    Under the model the number of changes has the mean `sum p` and variance `sum p (1-p)`; the
    ratio's interval is that of the observed share (Wilson), over the mean prediction.
    """
    n, hits = len(sample), int(sample.changed.sum())
    p = np.clip(sample.predicted, LEAST, MOST)
    expected = float(p.sum())
    ratios: tuple[float, float] | None = None
    if n:
        low, high = wilson(hits, n)
        ratios = low * n / expected, high * n / expected
    ours, priors = _log_scores(p, sample.changed), _log_scores(sample.prior, sample.changed)
    gain = ours - priors
    return Judged(
        name=name,
        readings=n,
        predicted=expected,
        observed=hits,
        ratio=hits / expected if n else None,
        ratio_low=ratios[0] if ratios else None,
        ratio_high=ratios[1] if ratios else None,
        surprise=(hits - expected) / float(np.sqrt((p * (1.0 - p)).sum())) if n else 0.0,
        log_score=float(ours.mean()) if n else None,
        log_score_prior=float(priors.mean()) if n else None,
        gained=float(gain.mean()) if n else None,
        gained_error=float(gain.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
    )


def deciles(sample: Sample) -> list[Bin]:
    """The readings in ten equal parts by prediction, fewer where there are less than 100."""
    n = len(sample)
    order = np.argsort(sample.predicted, kind="stable")
    parts = np.array_split(order, max(1, min(BINS, n // FEWEST))) if n else []
    bins = []
    for part in parts:
        p, hits = sample.predicted[part], int(sample.changed[part].sum())
        low, high = wilson(hits, part.size)
        bins.append(
            Bin(
                readings=int(part.size),
                low=float(p.min()),
                high=float(p.max()),
                predicted=float(p.mean()),
                observed=hits / part.size,
                observed_low=low,
                observed_high=high,
            )
        )
    return bins


def wilson(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Score interval of a share (Wilson 1927): right also for few readings and near 0 and 1.

    >>> [round(x, 4) for x in wilson(3, 10)]
    [0.1078, 0.6032]
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, zz = hits / n, z * z / n
    half = z * float(np.sqrt(share * (1.0 - share) / n + zz / (4.0 * n)))
    low, high = (share + zz / 2.0 - half) / (1.0 + zz), (share + zz / 2.0 + half) / (1.0 + zz)
    return (0.0 if hits == 0 else low), (1.0 if hits == n else high)


def _log_scores(chance: Floats, changed: Bools) -> Floats:
    p = np.clip(chance, LEAST, MOST)
    out: Floats = np.where(changed, np.log(p), np.log1p(-p))
    return out


def wrong(judged: Judged, tests: int) -> bool:
    """True where chance and `MATERIAL` don't explain how far the mean is off, in so many tests."""
    if judged.ratio is None or judged.readings < FEWEST:
        return False
    bar = NormalDist().inv_cdf(1.0 - ALARM / (2.0 * max(tests, 1)))
    far = not 1.0 / MATERIAL < judged.ratio < MATERIAL
    return abs(judged.surprise) > bar and far


def _sentence(whole: Judged, bins: list[Bin], by_type: list[Judged]) -> str:
    """What a person needs to know, in one sentence."""
    if whole.readings < FEWEST:
        return (
            f"Too early to tell: {whole.readings} verification readings with a prediction, "
            f"{FEWEST} are needed."
        )
    off = [j for j in by_type if wrong(j, len(by_type))]
    if off:
        worst = sorted(off, key=lambda j: -abs(j.surprise))
        return "The model is wrong: " + "; ".join(map(_of_type, worst)) + "."
    if wrong(whole, 1):
        return f"The model is wrong: {_of_type(whole)}."
    missed = [b for b in bins if b.off]
    if len(missed) >= OFF_BINS:
        return (
            f"The model is right on average but not page by page: in {len(missed)} of "
            f"{len(bins)} deciles the share that changed lies outside of chance."
        )
    return f"The model holds: {whole.observed:,} changes, {whole.predicted:,.1f} predicted."


def _of_type(j: Judged) -> str:
    pages = "pages" if j.name == "all" else f"pages of type {j.name}"
    told = f"({j.observed:,} of {j.readings:,} readings, {j.predicted:,.1f} predicted)"
    if not j.observed:
        return f"{pages} never changed {told}"
    return f"{pages} changed {j.ratio:.2g} times as often as predicted {told}"
