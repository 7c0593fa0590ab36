"""`ledger` and `changes`: every visit with its price, and every record that changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from recrawl.cli.errors import UsageError
from recrawl.cli.options import DEFAULT_CONFIG, Config, Json, Limit, Since, rows_wanted
from recrawl.cli.output import emit_json, plural, say, show_table
from recrawl.cli.project import CHUNK, Project, moment, opened, when

if TYPE_CHECKING:
    from recrawl.model import Change, Entry

T = TypeVar("T")
Row = dict[str, Any]


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(ledger)
    app.command()(changes)


def ledger(
    since: Since = "",
    site: Annotated[str, typer.Option(metavar="HOST", help="Only that host or origin.")] = "",
    purpose: Annotated[
        str,
        typer.Option(
            metavar="PURPOSE", help="Only visits bought for it: best_buy, discovery, ..."
        ),
    ] = "",
    limit: Limit = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """List visits: what each was bought for, found, and cost."""
    from recrawl.units import format_bytes, format_usd

    with opened(config) as project:
        entries = _entries(project, moment(since), site, purpose)
        rows = _entry_rows(project, entries)
        if as_json:
            for row in islice(rows, rows_wanted(limit, as_json)):
                emit_json(row)
            return
        last, total = _last(rows, rows_wanted(limit, as_json))
    show_table(
        ["time", "url", "purpose", "verdict", "status", "bytes", "price"],
        (
            [
                row["t"], row["url"], row["purpose"], row["verdict"], str(row["status"] or "-"),
                format_bytes(row["up"] + row["down"]), format_usd(row["spend"]["micro_usd"]),
            ]
            for row in last
        ),
        right=["status", "bytes", "price"],
    )  # fmt: skip
    _say_rest(len(last), total, "visit")


def _entries(project: Project, since: float, site: str, purpose: str) -> Iterator[Entry]:
    from recrawl.model import Purpose

    words = [p.word for p in Purpose]
    if purpose and purpose not in words:
        raise UsageError(f"--purpose {purpose!r}: write {', '.join(words)}")
    hosts = project.host_ids(site) if site else None
    for entry in project.store.entries(since):
        if (hosts is None or entry.host_id in hosts) and purpose in ("", entry.purpose.word):
            yield entry


def _entry_rows(project: Project, entries: Iterable[Entry]) -> Iterator[Row]:
    for chunk in _chunks(entries):
        urls = project.urls_of((e.host_id, e.key) for e in chunk)
        for e in chunk:
            yield {
                "t": when(e.t),
                "url": urls.get((e.host_id, e.key)),
                "purpose": e.purpose.word,
                "verdict": e.verdict.word,
                "type": project.type_of(e.page_type),
                "status": e.status,
                "kind": e.kind,
                "conditional": e.conditional,
                "up": e.up,
                "down": e.down,
                "spend": e.spend.as_dict(),
                "tau": e.tau,
                "predicted": e.predicted,
                "gain": e.gain,
                "price": e.price,
                "score": e.score,
                "bar": e.bar,
                "source": e.source,
                "route": e.route,
                "discovered": e.discovered,
                "sighted": e.sighted,
                "evidence": e.evidence,
            }


def changes(
    since: Since = "",
    page_type: Annotated[
        str, typer.Option("--type", metavar="NAME", help="Only that page type.")
    ] = "",
    limit: Limit = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """List records that changed: before and after."""
    with opened(config) as project:
        rows = change_rows(project, moment(since), page_type)
        if as_json:
            for row in islice(rows, rows_wanted(limit, as_json)):
                emit_json(row)
            return
        last, total = _last(rows, rows_wanted(limit, as_json))
    show_table(
        ["seen", "url", "type", "verdict", "what"],
        ([row["t"], row["url"], row["type"], row["verdict"], _what(row)] for row in last),
    )
    _say_rest(len(last), total, "change")


def change_rows(project: Project, since: float = 0.0, page_type: str = "") -> Iterator[Row]:
    """Changes as rows, oldest first. Raises UsageError for an unknown page type."""
    types = project.settings.page_types
    if page_type and page_type not in types:
        raise UsageError(f"--type {page_type!r}: write {', '.join(dict.fromkeys(types))}")
    for chunk in _chunks(project.store.changes(since)):
        urls = project.urls_of((c.host_id, c.key) for c in chunk)
        for change in chunk:
            row = _change(project, change, urls.get((change.host_id, change.key)))
            if page_type in ("", row["type"]):
                yield row


def _change(project: Project, change: Change, url: str | None) -> Row:
    return {
        "t": when(change.t),
        "t_before": when(change.t_before),
        "url": url,
        "type": project.type_of(change.page_type),
        "verdict": change.verdict.word,
        "before": change.before,
        "after": change.after,
    }


def fields_changed(row: Row) -> list[tuple[str, Any, Any]]:
    """(field, before, after) of each field that differs."""
    before, after = row["before"] or {}, row["after"] or {}
    names = dict.fromkeys([*before, *after])
    return [(n, before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)]


def _what(row: Row) -> str:
    if row["before"] is None:
        return "first reading" if row["verdict"] == "new" else ""
    named = (f"{n}: {_short(old)} -> {_short(new)}" for n, old, new in fields_changed(row))
    return ", ".join(named) or "text"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _last(rows: Iterator[Row], wanted: int | None) -> tuple[list[Row], int]:
    """The last rows, and how many there were."""
    kept: deque[Row] = deque(maxlen=wanted)
    total = 0
    for row in rows:
        kept.append(row)
        total += 1
    return list(kept), total


def _say_rest(shown: int, total: int, what: str) -> None:
    if shown < total:
        say(f"the last {shown:,} of {plural(total, what)}; --limit 0 shows all")
