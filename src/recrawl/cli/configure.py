"""`config`: is the project file right, and what may stand in it."""

from __future__ import annotations

import typer

from recrawl.cli.options import DEFAULT_CONFIG, Config, Json
from recrawl.cli.output import clean, emit, emit_json, plural, say


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    group = typer.Typer(
        name="config", help="Check the project file, or print its schema.", no_args_is_help=True
    )
    group.command()(check)
    group.command()(schema)
    app.add_typer(group)


def check(config: Config = DEFAULT_CONFIG, as_json: Json = False) -> None:
    """Report every mistake of the project file; exit code 2 if there is one."""
    from recrawl.config import ConfigError, advice, load

    try:
        settings = load(config)
    except ConfigError as error:
        if not as_json:
            raise
        emit_json({"file": str(config), "ok": False, "mistakes": error.messages, "advice": []})
        raise typer.Exit(2) from None
    notes = advice(settings)
    if as_json:
        emit_json({"file": str(config), "ok": True, "mistakes": [], "advice": notes})
        return
    for note in notes:
        say(f"note: {clean(note)}")
    seeds = plural(len(settings.project.seeds), "seed")
    sites = plural(len(settings.sites), "site entry", "site entries")
    emit(f"{config}: no mistakes ({seeds}, {sites}, goal {settings.project.goal})")


def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of recrawl.toml, for editors; with --json on one line."""
    import json

    from recrawl.config import json_schema

    if as_json:
        emit_json(json_schema())
        return
    emit(json.dumps(json_schema(), indent=2))
