"""The commands of `recrawl` in their groups, and the way in: arguments -> exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from recrawl.cli import (
    addresses,
    auditing,
    configure,
    crawling,
    explaining,
    exporting,
    history,
    inspecting,
    reconciling,
    reporting,
    simulating,
    sourcing,
    starting,
)
from recrawl.cli.errors import explain
from recrawl.cli.output import flush, tolerant

app = typer.Typer(
    name="recrawl",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from recrawl import __version__

        typer.echo(f"recrawl {__version__}")
        raise typer.Exit


@app.callback()
def recrawl(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Crawl the same pages again and again, spending where change is.

    Data goes to stdout, words to stderr. Exit codes: 0 done, 1 failure, 2 usage or
    configuration, 3 nothing due, 4 alerts, 130 interrupted.
    """


for group in (
    starting,
    crawling,
    explaining,
    reporting,
    reconciling,
    simulating,
    inspecting,
    history,
    exporting,
    configure,
    addresses,
    auditing,
    sourcing,
):
    group.add_to(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command; errors become a line on stderr and an exit code, never a traceback."""
    tolerant()
    try:
        code = app(list(arguments), prog_name="recrawl", standalone_mode=False)
        flush()
    except BaseException as error:  # noqa: BLE001 - the last line of defence
        return explain(error)
    return code if isinstance(code, int) else 0
