"""`audit`: what a user's own crawl log spent on fetches that found nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.options import Json
from recrawl.cli.output import clean, emit, emit_json, percent, plural, say, show_table

if TYPE_CHECKING:
    from recrawl.audit.files import Reading
    from recrawl.audit.waste import Group, Waste

TOP = 20


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(audit)


def audit(
    log: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Crawl logs.")],
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Whose paths an access log holds.")
    ] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLUMN", help="url=link: what a table's column is."),
    ] = None,
    price: Annotated[
        float, typer.Option(min=0, metavar="USD", help="Price of a GB, in USD.")
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Say what your own crawl log spent on finding nothing.

    Reads CSV, TSV, JSON lines, access logs, CDX, CDXJ and the 14-week crawl data set, also
    gzipped. Needs no project; fetches nothing.
    """
    from tempfile import TemporaryDirectory

    from recrawl.audit.files import Reading
    from recrawl.audit.waste import Fetches

    reading = Reading(host, _told(column or []))
    with TemporaryDirectory(prefix="recrawl-audit-") as folder:
        fetches = Fetches(Path(folder) / "fetches.db")
        try:
            _read(reading, fetches, log)
            waste = fetches.waste()
        finally:
            fetches.close()
    facts = _facts(reading, waste, price)
    if as_json:
        emit_json(facts)
    else:
        _show(facts)


def _told(columns: list[str]) -> dict[str, str]:
    from recrawl.audit.columns import NAMES
    from recrawl.cli.errors import UsageError

    told = {}
    for text in columns:
        name, sign, column = text.partition("=")
        if not sign or name not in NAMES:
            raise UsageError(f"--column {text!r}: write NAME=COLUMN, NAME of {', '.join(NAMES)}")
        told[name] = column
    return told


def _read(reading: Reading, fetches: Any, logs: list[Path]) -> None:
    from recrawl.audit.columns import LogError
    from recrawl.cli.errors import UsageError

    told = 0
    for path in logs:
        try:
            for _ in fetches.add(reading.read(path)):
                if reading.rows >= told + 1_000_000:
                    told = reading.rows
                    say(f"{told:,} rows")
        except LogError as error:
            raise UsageError(str(error)) from None


def _facts(reading: Reading, waste: Waste, price: float) -> dict[str, Any]:
    from recrawl.units import iso

    def line(name: tuple[str, str], g: Group) -> dict[str, Any]:
        return {
            "site": name[0], "page_type": name[1], "pages": g.pages, "fetches": g.fetches,
            "failed": g.failed, "judged": g.judged, "found_nothing": g.nothing,
            "bytes": g.bytes, "bytes_found_nothing": g.bytes_nothing,
            "usd_found_nothing": g.bytes_nothing * price / 1e9,
        }  # fmt: skip

    groups = sorted((line(n, g) for n, g in waste.groups.items()), key=_order)
    keys = [k for k in groups[0] if k not in ("site", "page_type")] if groups else []
    return {
        "files": reading.kinds, "columns": reading.columns, "rows": reading.rows,
        "bad_rows": reading.bad, "first_bad_rows": reading.first_bad,
        "from": iso(waste.first), "to": iso(waste.last), "pages_read_once": waste.once,
        "judged_by": dict(sorted(waste.evidence.items())),
        "total": {k: sum(x[k] for x in groups) for k in keys}, "groups": groups,
    }  # fmt: skip


def _order(line: dict[str, Any]) -> tuple[Any, ...]:
    return -line["bytes_found_nothing"], -line["found_nothing"], line["site"], line["page_type"]


def _show(facts: dict[str, Any]) -> None:
    from recrawl.units import format_bytes, format_usd

    for path, kind in facts["files"].items():
        used = ", ".join(f"{k}={v}" for k, v in facts["columns"].get(path, {}).items())
        say(clean(f"{path}: {kind}{': ' + used if used else ''}"))
    if facts["bad_rows"]:
        say(f"{plural(facts['bad_rows'], 'bad row')} left out, the first:")
        for text in facts["first_bad_rows"]:
            say("  " + clean(text))
    total = facts["total"]
    if not total:
        emit("The log holds no fetches.")
        return
    money = f" ({format_usd(total['usd_found_nothing'] * 1e6)})"
    emit(
        f"{plural(total['fetches'], 'fetch', 'fetches')} of {plural(total['pages'], 'page')}, "
        f"{facts['from']} to {facts['to']}; {total['judged']:,} can be judged: "
        f"{total['found_nothing']:,} found nothing, "
        f"{format_bytes(total['bytes_found_nothing'])}{money}"
    )
    names = ["pages", "fetches", "failed", "judged", "found nothing", "bytes"]
    show_table(
        ["site", "page type", *names],
        (
            [
                x["site"], x["page_type"], f"{x['pages']:,}", f"{x['fetches']:,}",
                f"{x['failed']:,}", f"{x['judged']:,}",
                percent(x["found_nothing"] / x["judged"] if x["judged"] else None),
                format_bytes(x["bytes_found_nothing"]),
            ]
            for x in facts["groups"][:TOP]
        ),
        right=names,
    )  # fmt: skip
    by = ", ".join(f"{k} {n:,}" for k, n in facts["judged_by"].items()) or "nothing"
    emit(f"judged by: {by}; {plural(facts['pages_read_once'], 'page')} read once say nothing")
    if "14-week crawl data" in facts["files"].values():
        emit("The 14-week set leaves out pages that never changed: true waste is higher.")
