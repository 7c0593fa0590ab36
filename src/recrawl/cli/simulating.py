"""`simulate`: the project's own pages under other settings, before they are applied."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from recrawl.cli.options import DEFAULT_CONFIG, Config, Json
from recrawl.cli.output import emit, emit_json, percent, plural, show_table

Many = list[str] | None


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(simulate)


def simulate(
    policy: Annotated[
        Many, typer.Option(metavar="NAME", help="A policy to look at (again for more).")
    ] = None,
    goal: Annotated[
        Many, typer.Option(metavar="NAME", help="A goal to look at (again for more).")
    ] = None,
    budget: Annotated[
        Many, typer.Option(metavar="CAP", help="'50 MB/day', '4 USD/month' (again for more).")
    ] = None,
    tariff: Annotated[
        str, typer.Option(metavar="NAME", help="Bill all visits by that tariff of the file.")
    ] = "",
    days: Annotated[
        float, typer.Option(min=1, metavar="N", help="Half of them are scored.")
    ] = 180.0,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Worlds to draw.")] = 3,
    pages: Annotated[
        int, typer.Option(min=1, metavar="N", help="Pages at most; of more, a random part.")
    ] = 2000,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Try policies and budgets on your own pages, offline.

    Worlds are drawn from what is believed of each page and replayed. Nothing is fetched or
    written. What the beliefs don't hold (new pages, failures, full hosts) is not in it.
    """
    from recrawl.cli.what_if import Asked, run

    asked = Asked(policy or [], goal or [], budget or [], tariff, days, seeds, pages)
    facts = run(config, asked)
    if as_json:
        emit_json(facts)
    else:
        _show(facts)


def _show(facts: dict[str, Any]) -> None:
    from recrawl.units import Unit, format_amount

    unit = Unit(facts["unit"])
    part = "" if facts["simulated"] == facts["pages"] else f" of {facts['pages']:,}"
    emit(
        f"{facts['simulated']:,}{part} pages, {facts['days']:g} days, "
        f"{plural(facts['seeds'], 'world')} drawn from what is believed of them (* = now)"
    )
    names = ["fresh", "spent a day", "visits a day", "changes a day", "a change", "in vain"]
    show_table(
        ["", "policy", "budget", *names],
        (
            [
                "*" if x["current"] else "", x["policy"], x["budget"],
                f"{x['freshness']:.1%} +- {x['freshness_error']:.1%}",
                format_amount(unit, x["spend_per_day"]), f"{x['visits_per_day']:,.1f}",
                f"{x['changes_per_day']:,.1f}",
                "-" if x["cost_per_change"] is None else format_amount(unit, x["cost_per_change"]),
                percent(x["spent_in_vain"]),
            ]
            for x in facts["policies"]
        ),
        right=names,
    )  # fmt: skip
    for x in facts["budgets"]:
        emit(
            f"{x['budget']}: in the long run {x['best_possible']:.1%} fresh at best, "
            f"{x['even_visits']:.1%} by even visits; one more {x['one_more']} buys "
            f"{x['buys_fresh_page_days']:.3g} fresh days of a page of mean value"
        )
