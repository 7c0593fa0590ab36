"""`reconcile`: the ledger beside the vendor's figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli.errors import ALERTS, UsageError
from recrawl.cli.options import DEFAULT_CONFIG, Config, Json
from recrawl.cli.output import clean, emit, emit_json, say
from recrawl.cli.project import moment, opened, when

if TYPE_CHECKING:
    from recrawl.config import Settings
    from recrawl.report import Alert
    from recrawl.report.reconcile import Reconciliation
    from recrawl.units import Unit


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(reconcile)


Tariff = Annotated[str, typer.Option(metavar="NAME", help="Which tariff's vendor.")]
Figure = Annotated[
    str,
    typer.Option(metavar="AMOUNT", help="What it says: '151200 credits', '12.4 GB', '49 USD'."),
]
Begin = Annotated[
    str, typer.Option(metavar="WHEN", help="Its first moment: '30 d' ago, 2026-11-01.")
]
End = Annotated[str, typer.Option(metavar="WHEN", help="Its end, not included; now unless given.")]
Tolerance = Annotated[
    str, typer.Option(metavar="SHARE", help="A difference up to that is no drift.")
]


def reconcile(
    tariff: Tariff,
    vendor: Figure,
    since: Begin,
    until: End = "",
    tolerance: Tolerance = "2 %",
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Compare the ledger with the vendor's figure.

    Sums up what was booked at the tariff in that time, promises of visits lost in a crash
    included. Exits 4 where that is further from the vendor's figure than the tolerance.
    """
    from recrawl.report import reconcile as ledger
    from recrawl.units import parse_amount

    limit, (unit, amount) = _share(tolerance), parse_amount(vendor)
    begin, end = moment(since), moment(until) or math.inf
    if begin >= end:
        raise UsageError("--until must be later than --since")
    with opened(config) as project:
        routes = _routes(project.settings, tariff, unit)
        result = ledger.reconcile(project.store.entries(begin, end), routes, tariff, unit, amount)
    alert = ledger.drift_alert(result, limit)
    if as_json:
        span = {"since": when(begin), "until": when(end), "tolerance": limit}
        emit_json({**result.as_dict(), **span, "alert": alert.as_dict() if alert else None})
    else:
        _show(result, alert)
    if alert is not None:
        raise typer.Exit(ALERTS)


def _share(text: str) -> float:
    from recrawl.config.fields import share

    try:
        return share(text)
    except ValueError as error:
        raise UsageError(f"--tolerance: {error}") from None


def _routes(settings: Settings, name: str, unit: Unit) -> list[str]:
    """The routes billed by that tariff. Raises UsageError where it can't be of that unit."""
    from recrawl.config.build import tariffs_of
    from recrawl.units import Unit

    tariffs = tariffs_of(settings)
    found = [route for route, tariff in tariffs.items() if tariff.name == name]
    if not found:
        known = ", ".join(sorted({t.name for t in tariffs.values()}))
        raise UsageError(f"--tariff {name!r}: nothing is billed by it; known: {known}")
    tariff = tariffs[found[0]]
    if unit is Unit.CREDITS and tariff.unit is not Unit.CREDITS:
        raise UsageError(
            f"--vendor: the tariff {name!r} bills {tariff.unit.name.lower()}, not credits"
        )
    if unit is Unit.USD and not tariff.price_micro_usd_per_unit:
        raise UsageError(
            f"--vendor: the tariff {name!r} has no price; write it in [tariff.{name}]"
        )
    return found


def _show(r: Reconciliation, alert: Alert | None) -> None:
    from recrawl.units import format_amount

    share = "" if r.share is None else f" ({r.share:+.2%})"
    sign = "+" if r.difference > 0 else "-" if r.difference < 0 else ""
    emit(f"vendor      {format_amount(r.unit, r.vendor)}")
    emit(f"ledger      {format_amount(r.unit, r.ledger)}, {r.requests:,} requests")
    emit(f"difference  {sign}{format_amount(r.unit, abs(r.difference))}{share}")
    for source, amount in sorted(r.by_source.items()):
        emit(f"  {source:<10}{format_amount(r.unit, amount)}")
    if alert is not None:
        say(f"! {clean(str(alert))}")
