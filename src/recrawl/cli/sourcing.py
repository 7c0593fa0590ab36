"""`sources`: pages that tell of many pages; `test` reads one and shows what it would admit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.options import Json, Limit, rows_wanted
from recrawl.cli.output import clean, emit_json, plural, say, show_table

if TYPE_CHECKING:
    from recrawl.cli.source_look import SourceLook


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.callback()(sources)
    group.command("test")(test)
    app.add_typer(group, name="sources")


def sources() -> None:
    """Try what tells of many pages: sitemap, feed, list."""


def test(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="A URL, or a file with --base.")],
    base: Annotated[
        str, typer.Option(metavar="URL", help="Where the file comes from: links resolve there.")
    ] = "",
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="sitemap, feed, archive, list, search, robots; else by its bytes.",
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Also fetch the sitemaps it lists, up to 50.")
    ] = False,
    contact: Annotated[
        str, typer.Option(metavar="WHO", help="How the site can reach you, for a URL.")
    ] = "",
    limit: Limit = None,
    as_json: Json = False,
) -> int:
    """Read a source once, and show which pages it would admit. Nothing is kept.

    With --json one object a page (`url`, `modified_at`, ...), then one with `warnings`.
    """
    import asyncio

    from recrawl.cli.errors import DONE, FAILURE, UsageError
    from recrawl.cli.source_look import look_into
    from recrawl.sources.detect import KINDS

    if kind and kind not in KINDS:
        raise UsageError(f"--kind {kind!r}: write {', '.join(KINDS)}")
    if "://" in what:
        say(f"reading {clean(what)} ...")
    look = asyncio.run(look_into(what, base, kind, time.time(), contact=contact, follow=follow))
    show = _print_json if as_json else _print_table
    show(look, rows_wanted(limit, as_json))
    return FAILURE if look.reading.failed else DONE


def _print_json(look: SourceLook, wanted: int | None) -> None:
    for row in list(look.rows.values())[:wanted]:
        emit_json({**row, "modified_at": _iso(row["modified_at"])})
    emit_json(summary(look))


def summary(look: SourceLook) -> dict[str, Any]:
    """What a reading told besides its pages."""
    reading = look.reading
    return {
        "warnings": {**{str(k): n for k, n in reading.warnings.items()}, **look.refused},
        "kind": reading.kind,
        "hints": len(look.rows),
        "repeated": look.repeated,
        "complete": reading.complete,
        "failed": reading.failed or None,
        "maps": reading.maps,
        "followed": look.followed,
        "feeds": look.feeds,
        "resume": reading.resume or None,
        "examples": reading.examples,
        "bytes": look.bytes,
    }


def _iso(t: float | None) -> str | None:
    from recrawl.units import iso

    return None if t is None else iso(t)


def _print_table(look: SourceLook, wanted: int | None) -> None:
    reading = look.reading
    rows = list(look.rows.values())[:wanted]
    if rows:
        show_table(
            ("url", "modified"), ((row["url"], _iso(row["modified_at"]) or "-") for row in rows)
        )
    if len(rows) < len(look.rows):
        say(f"the first {plural(len(rows), 'page')}; --limit 0 shows all")
    for name in reading.maps[:wanted] if reading.kind != "robots" else ():
        say(f"sitemap: {clean(name)}")
    for name in look.feeds:
        say(f"feed that the page names: {clean(name)}")
    for reason, n in summary(look)["warnings"].items():
        say(f"{n:,} x {clean(reason)}")
    for example in reading.examples:
        say(f"  {clean(example)}")
    if reading.failed:
        say(f"Error: no source that can be read: {clean(reading.failed)}")
        return
    dated = sum(row["modified_at"] is not None for row in look.rows.values())
    end = "" if reading.complete else "; not the whole of it"
    again = f", {look.repeated:,} named again" if look.repeated else ""
    say(f"{reading.kind}: {plural(len(look.rows), 'page')}, {dated:,} dated{again}{end}")
