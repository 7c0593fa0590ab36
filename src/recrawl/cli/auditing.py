"""`audit`: what a user's own crawl log spent on fetches that found nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.options import Json
from recrawl.cli.output import emit_json, say

if TYPE_CHECKING:
    from recrawl.audit.files import Reading
    from recrawl.audit.histories import Histories
    from recrawl.audit.prices import Price


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(audit)


def audit(
    log: Annotated[
        list[Path],
        typer.Argument(metavar="LOG...", help="Crawl logs, folders or patterns; - is stdin."),
    ],
    host: Annotated[str, typer.Option(metavar="HOST", help="Whose paths a log holds.")] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLUMN", help="url=link: what a column is; url= for none."),
    ] = None,
    price: Annotated[
        str,
        typer.Option(metavar="USD", help="8/GB: USD a GB; 1.5/1000: USD a thousand fetches."),
    ] = "",
    policies: Annotated[
        str, typer.Option(metavar="NAMES", help="Policies to try in place of yours, as in a,b.")
    ] = "",
    no_policies: Annotated[
        bool, typer.Option("--no-policies", help="Try no policies: it takes up to a minute.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what your own crawl log spent on finding nothing.

    And what other policies would have spent for the same freshness. Reads CSV, TSV, JSON,
    Parquet, access logs, WARC, CDX, Scrapy's feeds and HTTP cache and the 14-week crawl data
    set, also packed. Needs no project; fetches nothing.
    """
    from recrawl.cli.audit_view import show

    names = [] if no_policies else _names(policies)
    facts = _audited(log, host, _told(column or []), _price(price), names)
    if as_json:
        emit_json(facts)
    else:
        show(facts)


def _audited(
    logs: list[Path], host: str, told: dict[str, str], price: Price, names: list[str]
) -> dict[str, Any]:
    from tempfile import TemporaryDirectory

    from recrawl.audit.files import Reading
    from recrawl.audit.histories import Histories
    from recrawl.audit.waste import Fetches
    from recrawl.cli.audit_view import facts_of

    reading, histories = Reading(host, told), Histories()
    with TemporaryDirectory(prefix="recrawl-audit-") as folder:
        fetches = Fetches(Path(folder) / "fetches.db")
        try:
            _read(reading, fetches, logs)
            waste = fetches.waste(histories)
        finally:
            fetches.close()
    facts = facts_of(reading, waste, price, histories)
    return {**facts, "policies": _compared(histories, names, price)} if names else facts


def _price(text: str) -> Price:
    from recrawl.audit.prices import parse_price
    from recrawl.cli.errors import UsageError

    try:
        return parse_price(text)
    except ValueError as error:
        raise UsageError(f"--price {error}") from None


def _names(text: str) -> list[str]:
    """The policies to try, the default first."""
    from recrawl.audit.policies import BESIDE, DEFAULT
    from recrawl.cli.errors import UsageError
    from recrawl.plan.policies import policy_names

    given = [name.strip() for name in text.split(",") if name.strip()] or list(BESIDE)
    for name in given:
        if name not in policy_names():
            raise UsageError(f"--policies {name!r}: write {', '.join(policy_names())}")
    return list(dict.fromkeys([DEFAULT, *given]))


def _compared(histories: Histories, names: list[str], price: Price) -> dict[str, Any]:
    import numpy as np

    from recrawl.audit.policies import compare
    from recrawl.audit.policies_said import as_facts
    from recrawl.audit.policies_world import unit_of
    from recrawl.cli.progress import share

    rng = np.random.Generator(np.random.PCG64(0))
    unit = unit_of(histories.sample, price.unit)
    found = compare(histories.sample, names, unit, rng, share("policies tried"))
    return as_facts(found, histories, price)


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
    from recrawl.audit.account import LogError
    from recrawl.cli.errors import UsageError

    told = 0
    try:
        for _ in fetches.add(reading.read_all(logs)):
            if reading.rows >= told + 1_000_000:
                told = reading.rows
                say(f"{told:,} rows")
    except LogError as error:
        raise UsageError(str(error)) from None
