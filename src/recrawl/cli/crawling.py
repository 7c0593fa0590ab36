"""The commands that spend: `run`, and `plan`, which says first what a run would do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.errors import DONE, INTERRUPTED, NOTHING_DUE, UsageError
from recrawl.cli.options import DEFAULT_CONFIG, Config, Json
from recrawl.cli.output import emit, emit_json, say, show_table

if TYPE_CHECKING:
    from recrawl.progress import Progress


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(run)
    app.command()(plan)


def run(
    config: Config = DEFAULT_CONFIG,
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Go on for that long, as in '2 h'.")
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Window after window, until interrupted.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
) -> int:
    """Visit what is due, within the budget.

    One window of the budget; without a budget, one pass. Ctrl-C finishes what is in flight and
    exits 130; every start resumes where the last ended. Exits 3 where nothing is due.
    """
    from recrawl.cli.progress import LiveLine
    from recrawl.cli.session import open_store, run_worker
    from recrawl.config import load

    seconds = _seconds(duration)
    settings = load(config)
    store = open_store(settings)
    live = LiveLine(quiet=quiet)
    try:
        done = run_worker(settings, store, seconds=seconds, keep_on=watch, on_progress=live)
    finally:
        live.finish()
        store.close()
    _show(done, as_json)
    return exit_code(done)


def _seconds(duration: str) -> float | None:
    from recrawl.units import UnitError, parse_duration

    if not duration:
        return None
    try:
        return parse_duration(duration)
    except UnitError as error:
        raise UsageError(f"--for: {error}") from None


def exit_code(done: Progress) -> int:
    """What a run's end means to a script."""
    from recrawl.progress import Ended

    return {
        Ended.INTERRUPTED: INTERRUPTED,
        Ended.NOTHING_DUE: NOTHING_DUE,
    }.get(done.ended, DONE)


def _show(done: Progress, as_json: bool) -> None:
    from recrawl.cli.progress import line
    from recrawl.units import iso

    if as_json:
        emit_json(as_dict(done))
        return
    say(line(done))
    words = done.ended.value + (f": {done.reason}" if done.reason else "")
    if math.isfinite(done.next_due):
        words += f"; next due {iso(done.next_due)}"
    say(words)


def as_dict(done: Progress) -> dict[str, Any]:
    """A run for --json."""
    from recrawl.units import iso

    return {
        "ended": done.ended.value,
        "reason": done.reason,
        "visits": done.visits,
        "new": done.new,
        "changed": done.changed,
        "unchanged": done.unchanged,
        "gone": done.gone,
        "moved": done.moved,
        "failed": done.failed,
        "robots": done.robots,
        "discovered": done.discovered,
        "windows": done.windows,
        "spend": done.spend.as_dict(),
        "next_due": iso(done.next_due) if math.isfinite(done.next_due) else None,
    }


def plan(
    config: Config = DEFAULT_CONFIG,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Show N visits.")] = 20,
    sample: Annotated[
        bool,
        typer.Option(help="Read up to 20 pages first where fewer are known (priced, and booked)."),
    ] = True,
    as_json: Json = False,
) -> int:
    """Show what a run would visit, why, and at what cost.

    Then what a pass costs, which limit binds, and what the budget can keep fresh.
    """
    from recrawl.cli.planning import look, show_forecast, take_sample
    from recrawl.config import load

    settings = load(config)
    if sample:
        take_sample(settings)
    seen, forecast = look(settings, limit)
    if as_json:
        for row in seen.rows:
            emit_json(row)
        emit_json({**seen.summary, "forecast": forecast.as_dict()})
        return DONE if seen.summary["visits"] else NOTHING_DUE
    show_table(seen.columns, seen.cells, right=("#", "score", "stale", "cost"))
    for text in (*seen.words, *show_forecast(forecast)):
        emit(text)
    return DONE if seen.summary["visits"] else NOTHING_DUE
