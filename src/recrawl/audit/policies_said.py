"""A comparison of policies with a log -> plain values for --json, and what it says in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recrawl.audit.histories import SAMPLE, Histories
from recrawl.audit.policies import DEFAULT, FINER, Comparison, Line, Range
from recrawl.audit.prices import FETCHES, Price
from recrawl.units import DAY, format_bytes, format_duration, format_usd

NOTHING = (
    "No page was read three times with a result that says whether it had changed: nothing can be "
    "told of other policies. Audit a longer log, or one with a content hash or a changed column."
)


def as_facts(found: Comparison | None, kept: Histories, price: Price) -> dict[str, Any]:
    """For --json. Without a comparison there is only the reason."""
    counted = {"pages_read_enough": kept.enough, "pages_read_too_seldom": kept.too_few}
    if found is None:
        return {**counted, "policies": [], "says": [NOTHING]}
    return {
        "pages": found.pages,
        **counted,
        "days": found.span / DAY,
        "cycle_seconds": found.cycle,
        "unit": found.unit,
        "spend": found.spend,
        "usd": _usd(found, price, found.spend),
        "visits": found.visits,
        "own_freshness": _range(found.freshness),
        "policies": [_line(line, found, price) for line in found.lines],
        "says": list(_says(found, kept, price)),
    }


def _usd(found: Comparison, price: Price, spend: float) -> float | None:
    """None where the price is of another unit than what was counted."""
    return spend * price.usd if price.unit == found.unit else None


def _range(x: Range) -> dict[str, float]:
    return {"mean": x.mean, "low": x.low, "high": x.high}


def _line(line: Line, found: Comparison, price: Price) -> dict[str, Any]:
    spend = line.same_freshness.mean * found.spend
    return {
        "policy": line.policy,
        "same_spend_freshness": _range(dict(line.points)[1.0]),
        "same_freshness_share": {**_range(line.same_freshness), "bound": line.bound},
        "same_freshness_spend": spend,
        "same_freshness_usd": _usd(found, price, spend),
        "by_share": [{"share": share, "freshness": _range(x)} for share, x in line.points],
    }


def _amount(found: Comparison, price: Price, spend: float) -> str:
    text = f"{spend:,.0f} fetches" if found.unit == FETCHES else format_bytes(spend)
    usd = _usd(found, price, spend)
    return f"{text} ({format_usd(usd * 1e6)})" if usd else text


def _percents(x: Range) -> str:
    return f"{x.mean:.1%} ({x.low:.1%} to {x.high:.1%})"


def _says(found: Comparison, kept: Histories, price: Price) -> Iterator[str]:
    yield (
        f"Other policies, tried on {found.pages:,} of {kept.enough:,} pages that were read three "
        f"times or more; {kept.too_few:,} were read too seldom to say anything."
    )
    yield (
        f"Between the first read and the last of each the log spent "
        f"{_amount(found, price, found.spend)} in {found.visits:,} visits and kept "
        f"{found.freshness.mean:.1%} fresh."
    )
    for line in found.lines:
        if line.policy == DEFAULT:
            yield _default(line, found, price)
    yield (
        "What happened between two reads is not in the log. Where a read found a change, changes "
        "are put at random times since the read before, as a Poisson process of the page's own "
        "rate puts them. Pages that change in bursts or by the clock would gain less, or more."
    )
    if found.saturated:
        yield (
            f"On {found.saturated:,} pages nearly every read found a change: how often they "
            "change is a guess, and so is what more visits to them would bring."
        )
    yield (
        "The policies learn from nothing, as a new crawl would. Failed fetches count on neither "
        "side, and a page is not missed after its last read. Intervals are 95 % and hold the "
        "times of changes"
        + (f", not which {found.pages:,} pages were taken." if kept.enough > SAMPLE else ".")
    )
    if found.gap < FINER * found.cycle * 0.99:
        yield (
            f"The log reads a page every {format_duration(found.gap)}, the policies decide every "
            f"{format_duration(found.cycle)}: too seldom to do them justice."
        )


def _default(line: Line, found: Comparison, price: Price) -> str:
    share, spend = line.same_freshness, line.same_freshness.mean * found.spend
    same = f"{_percents(dict(line.points)[1.0])} for the same spend"
    if line.bound == "more than":
        return f"`{DEFAULT}` is not as fresh for {share.mean:.1%} of it: {same}."
    need = f"at most {share.high:.1%}" if line.bound else _percents(share)
    return (
        f"`{DEFAULT}` would have kept as much fresh for {need} of it, "
        f"{_amount(found, price, spend)}; {same}."
    )
