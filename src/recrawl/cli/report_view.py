"""The report as tables for people."""

from __future__ import annotations

from typing import Any

from recrawl.cli.model_view import show_model
from recrawl.cli.output import clean, emit, percent, show_table
from recrawl.report import Discovery, Freshness, Heap, Tally, unit_of_account
from recrawl.report.reconcile import ToldCharges
from recrawl.units import Spend, Unit, format_amount, format_bytes, format_duration, iso

SPEND_COLUMNS = {
    "on changes": (Heap.CHANGE,),
    "first read": (Heap.FIRST,),
    "unchanged": (Heap.UNCHANGED,),
    "304": (Heap.NOT_MODIFIED,),
    "failed": (Heap.FAILED,),
    "verification": (Heap.VERIFICATION,),
    "other": (Heap.GONE, Heap.MOVED, Heap.OVERHEAD),
}
SITES = 30


def show(facts: dict[str, Any]) -> None:
    """Print the whole report."""
    total: Tally = facts["total"]
    unit = unit_of_account(total.spend)
    began = f"since {iso(facts['since'])}" if facts["since"] else "from the beginning"
    emit(f"{facts['project']}, {began}, at {iso(facts['now'])}")
    _headline(total, unit, facts["freshness"])
    _spending(facts, unit)
    _purposes(facts, unit)
    if facts["charges"]:
        _charges(facts["charges"])
    show_model(facts)
    _frontier(facts)
    if facts["alerts"]:
        emit("\nWhat needs attention?")
        for alert in facts["alerts"]:
            emit(f"! {clean(str(alert))}")


def _headline(total: Tally, unit: Unit, fresh: Freshness) -> None:
    per_change = total.per_change(unit)
    useful = total.bytes_per_useful_page
    emit(
        f"fresh now         {percent(fresh.now)} of the value expected "
        f"({fresh.pages:,} pages, {fresh.unread:,} not read yet)"
    )
    if fresh.oldest is not None:
        emit(f"longest wait      {format_duration(fresh.oldest)}")
    emit(f"spent             {_amount(total.spend, unit)}, {total.visits:,} visits")
    emit(f"changes found     {total.changes:,}, each for {_maybe(unit, per_change)}")
    emit(f"found nothing     {percent(total.nothing_share)} of the visits")
    emit(f"bytes             {'-' if useful is None else format_bytes(useful)} a useful page")


def _spending(facts: dict[str, Any], unit: Unit) -> None:
    tallies: dict[tuple[str, str], Tally] = facts["by_site_and_type"]
    rows = [
        [site, kind, *_tally_cells(tally, unit)]
        for (site, kind), tally in list(tallies.items())[:SITES]
    ]
    if len(tallies) > SITES:
        rows.append([f"... {len(tallies) - SITES} more (--json has all)", *[""] * 12])
    rows.append(["all", "", *_tally_cells(facts["total"], unit)])
    names = ["visits", "nothing", "changes", "spent", *SPEND_COLUMNS, "a change"]
    show_table(
        ["site", "type", *names],
        rows,
        title="\nWhere did it go?",
        right=names,
    )


def _tally_cells(tally: Tally, unit: Unit) -> list[str]:
    heaps = (
        sum(tally.heaps[heap].get(unit) for heap in group if heap in tally.heaps)
        for group in SPEND_COLUMNS.values()
    )
    return [
        f"{tally.visits:,}",
        percent(tally.nothing_share),
        f"{tally.changes:,}",
        _amount(tally.spend, unit),
        *(format_amount(unit, n) if n else "-" for n in heaps),
        _maybe(unit, tally.per_change(unit)),
    ]


def _purposes(facts: dict[str, Any], unit: Unit) -> None:
    names = ["requests", "changes", "spent", "a change"]
    show_table(
        ["bought for", *names],
        (
            [
                purpose.word,
                f"{tally.requests:,}",
                f"{tally.changes:,}",
                _amount(tally.spend, unit),
                _maybe(unit, tally.per_change(unit)),
            ]
            for purpose, tally in facts["by_purpose"].items()
        ),
        title="\nWhat was it bought for?",
        right=names,
    )


def _charges(told: dict[str, ToldCharges]) -> None:
    names = ["visits", "told", "list", "difference"]
    show_table(
        ["tariff", *names],
        (
            [
                name,
                f"{t.visits:,}",
                format_amount(Unit.CREDITS, t.told),
                format_amount(Unit.CREDITS, t.listed),
                "-" if t.share is None else f"{t.share:+.1%}",
            ]
            for name, t in told.items()
        ),
        title="\nWhat did vendors tell, and what does their list say?",
        right=names,
    )


def _frontier(facts: dict[str, Any]) -> None:
    found: Discovery = facts["discovery"]
    emit("\nHow far did it come?")
    emit("pages             " + (_counts(facts["states"]) or "none"))
    ratio = "-" if found.ratio is None else f"{found.ratio:.2f}"
    emit(f"discovery         {ratio} new pages a visit")
    emit(f"duplicates        {percent(found.duplicates)} of the links seen")
    if facts["refused"]:
        emit(
            "refused           " + ", ".join(f"{n:,} {why}" for why, n in facts["refused"].items())
        )
    for site, statuses in facts["status_by_host"].items():
        answers = ", ".join(f"{n:,} x {status or 'none'}" for status, n in statuses.items())
        emit(f"answers           {site}: {answers}")


def _counts(states: dict[Any, int]) -> str:
    return ", ".join(f"{n:,} {state.word}" for state, n in states.items())


def _amount(spend: Spend, unit: Unit) -> str:
    return format_amount(unit, spend.get(unit))


def _maybe(unit: Unit, amount: float | None) -> str:
    return "-" if amount is None else format_amount(unit, amount)
