"""The model's part of the report for people: reserves, calibration, Poisson fit."""

from __future__ import annotations

from typing import Any

from recrawl.cli.output import emit, percent, plural, show_table
from recrawl.report import Calibration, Dispersion, Judged, Reserve
from recrawl.units import Unit, format_amount, format_bytes


def show_model(facts: dict[str, Any]) -> None:
    """Print the sections."""
    _reserves(facts["reserves"])
    _calibration(facts["calibration"])
    _poisson(facts["poisson_fit"])


def _reserves(reserves: list[Reserve]) -> None:
    units = [u for u in Unit if u is not Unit.BYTES and any(r.spend.get(u) for r in reserves)]
    units = [u for u in units if u not in (Unit.FETCHES, Unit.SECONDS)]
    names = ["share", "spent", "visits", "bytes", *(_word(u) for u in units)]
    found = ["new pages", "first read", "changes", "returns"]
    show_table(
        ["reserve", *names, *found],
        (
            [
                r.purpose.word,
                percent(r.share),
                percent(r.spent_share),
                f"{r.tally.visits:,}",
                format_bytes(r.spend.get(Unit.BYTES)),
                *(format_amount(u, r.spend.get(u)) for u in units),
                *(f"{n:,}" for n in (r.new_pages, r.tally.first, r.tally.changes, r.returns)),
            ]
            for r in reserves
        ),
        title="\nWhat did the reserves cost and find?",
        right=[*names, *found],
    )


def _word(unit: Unit) -> str:
    return {Unit.USD: "money", Unit.CREDITS: "credits"}[unit]


def _calibration(c: Calibration) -> None:
    emit("\nWas the model right? (visits drawn at random)")
    emit(c.sentence)
    if not c.whole.readings:
        return
    if c.unanswered:
        emit(f"{plural(c.unanswered, 'draw')} ended without a reading")
    show_table(
        ["predicted", "readings", "mean", "changed", "95 %", ""],
        (
            [
                f"{b.low:.1%} to {b.high:.1%}", f"{b.readings:,}", percent(b.predicted),
                percent(b.observed), f"{b.observed_low:.1%} to {b.observed_high:.1%}",
                "off" if b.off else "",
            ]
            for b in c.bins
        ),
        right=["predicted", "readings", "mean", "changed", "95 %"],
    )  # fmt: skip
    names = ["readings", "predicted", "changed", "ratio", "95 %", "log score", "prior alone"]
    show_table(
        ["pages", *names],
        (_judged(j) for j in (*c.by_type, c.whole, c.best_buys) if j.readings),
        right=names,
    )
    if c.best_buys.readings:
        emit("best buys are chosen because a change is expected: they don't judge the model")


def _judged(j: Judged) -> list[str]:
    if j.ratio is None or j.ratio_low is None or j.ratio_high is None:
        ratio = ["-", "-"]
    else:
        ratio = [f"{j.ratio:.2f}", f"{j.ratio_low:.2f} to {j.ratio_high:.2f}"]
    scores = ["-" if x is None else f"{x:.4f}" for x in (j.log_score, j.log_score_prior)]
    return [j.name, f"{j.readings:,}", f"{j.predicted:,.1f}", f"{j.observed:,}", *ratio, *scores]


def _poisson(lines: list[Dispersion]) -> None:
    told = [d for d in lines if d.index is not None]
    if not told:
        return
    names = ["pages", "changes", "dispersion", "gaps"]
    show_table(
        ["type", *names, ""],
        (
            [
                d.name, f"{d.pages:,}", f"{d.changes:,}", f"{d.index:.2f} +- {d.error:.2f}",
                "-" if d.gaps is None else f"{d.gaps:.2f}", d.sentence,
            ]
            for d in told
        ),
        title="\nDo changes come one by one? (1 = as the model says, more = in bursts)",
        right=names,
    )  # fmt: skip
