"""Setting up: `init` looks at a site and writes the project file; `demo` shows the whole thing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli.errors import DONE, FAILURE, UsageError
from recrawl.cli.options import DEFAULT_CONFIG, Json
from recrawl.cli.output import emit, emit_json, say, show_table

if TYPE_CHECKING:
    from recrawl.cli.first_look import FirstLook
    from recrawl.config import Settings
    from recrawl.sim.demo import DemoPlan, DemoResult

Contact = Annotated[
    str, typer.Option(metavar="WHO", help="How the site can reach you: a mail address or a URL.")
]
Budget = Annotated[
    list[str] | None,
    typer.Option(metavar="AMOUNT", help="At most this a day: '500 MB', '4 USD'. Repeatable."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(demo)
    app.command()(init)


def init(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the site begins.")],
    config: Annotated[
        Path, typer.Option("--config", "-c", metavar="PATH", help="The file to write.")
    ] = DEFAULT_CONFIG,
    contact: Contact = "",
    budget: Budget = None,
    price: Annotated[
        str, typer.Option(metavar="PRICE", help="What you pay, as in '8 USD/GB'.")
    ] = "",
    delay: Annotated[
        str, typer.Option(metavar="TIME", help="Between two requests to a host: '1.5 s'.")
    ] = "",
    sample: Annotated[
        bool, typer.Option(help="Read up to 20 pages, to say what a crawl will cost.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> int:
    """Look at a site, and write a commented recrawl.toml for it.

    Reads robots.txt, looks for a sitemap, then reads up to 20 pages (booked in the ledger) and
    says, before more is spent, what a pass costs, which limit binds, and what it can keep fresh.
    """
    import asyncio

    from recrawl.cli.first_look import look_at, start_of
    from recrawl.config import example_toml

    address = start_of(url, contact)
    if config.exists() and not force:
        raise UsageError(f"{config} exists already: choose another --config, or --force")
    found = asyncio.run(look_at(address, contact))
    terms = {"price": price, "delay": delay, "name": address.hostname.strip("[]")}
    text = example_toml([address.url], contact, budget=budget or (), notes=found.notes, **terms)
    for note in found.notes:
        say(note)
    return _forecast(_write(config, text), found, sample, as_json)


def _write(config: Path, text: str) -> Settings:
    """Write the file and read it back; raises ConfigError, with nothing left behind."""
    from recrawl.config import ConfigError, load

    config.write_text(text, encoding="utf-8")
    try:
        settings = load(config)
    except ConfigError:
        config.unlink()  # what was asked for can't be a project: its mistakes are shown
        raise
    say(f"wrote {config}")
    return settings


def _forecast(settings: Settings, found: FirstLook, sample: bool, as_json: bool) -> int:
    from recrawl.cli.planning import look, show_forecast, take_sample

    row = {"config": str(settings.path), **vars(found)}
    if not sample:
        if as_json:
            emit_json(row)
        return DONE
    take_sample(settings)
    _, forecast = look(settings, 0)
    if as_json:
        emit_json({**row, "forecast": forecast.as_dict()})
    else:
        for line in show_forecast(forecast):
            emit(line)
        say("next: recrawl plan, then recrawl run")
    return DONE if forecast.read else FAILURE


def demo(
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Which made-up web.")] = 1,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the store in this folder.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
) -> int:
    """Crawl a made-up web on this machine: 30 days in a minute.

    The real engine, fetcher and store; nothing leaves the machine. The truth is known there, so
    the table at the end compares with the best possible and with even visits.
    """
    import asyncio
    import tempfile

    from recrawl.sim.demo import DemoPlan

    plan = DemoPlan(seed=seed)
    if not quiet:
        say(
            f"a made-up web of {plan.hosts} sites and {plan.pages:,} pages, {plan.days:g} days, "
            f"{plan.budget / 1e6:.0f} MB in all at 8 USD/GB ..."
        )
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "demo.db").exists():
            raise UsageError(f"{folder / 'demo.db'} exists: name an empty folder")
        result = asyncio.run(_play(plan, folder, quiet))
    if as_json:
        emit_json(result.as_json())
    else:
        _show_demo(result)
    return DONE


async def _play(plan: DemoPlan, folder: Path, quiet: bool) -> DemoResult:
    from recrawl.cli.progress import Days
    from recrawl.sim.play import play

    days = Days(plan.days, quiet=quiet)
    try:
        return await play(plan, folder, on_progress=days.at)
    finally:
        days.finish()


def _show_demo(result: DemoResult) -> None:
    from recrawl.sim.demo import table, waste_table

    show_table(("what", "figure", "beside"), table(result), right=("figure",))
    emit("")
    show_table(
        ("site", "page type", "visits", "spent", "finding nothing"),
        waste_table(result),
        title="Money by site and page type",
        right=("visits", "spent", "finding nothing"),
    )
