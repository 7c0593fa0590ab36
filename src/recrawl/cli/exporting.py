"""`export`: changes or records as CSV or JSON lines, for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from recrawl.cli.errors import UsageError
from recrawl.cli.history import Row, change_rows, fields_changed
from recrawl.cli.options import DEFAULT_CONFIG, Config, Json, Since
from recrawl.cli.output import emit_json, json_line, plural, say
from recrawl.cli.project import Project, moment, opened, when

CHANGE_COLUMNS = ("t", "t_before", "url", "type", "verdict", "field", "before", "after")
PAGE_COLUMNS = ("url", "type", "state", "last", "changed_at")


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(export)


def export(
    what: Annotated[str, typer.Argument(metavar="changes|records", help="Which of the two.")],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="csv or jsonl.")
    ] = "jsonl",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Else stdout. Replaced when complete.")
    ] = None,
    since: Since = "",
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Write changes or records as CSV or JSON lines.

    CSV has one row a changed field, or one row a record. Values are written as they were read: a
    spreadsheet may take one that begins with '=' for a formula, so import the columns as text.
    """
    if what not in ("changes", "records"):
        raise UsageError(f"{what!r}: write changes or records")
    if form not in ("csv", "jsonl"):
        raise UsageError(f"--format {form!r}: write csv or jsonl")
    if as_json and out is None:
        form = "jsonl"  # stdout holds the rows themselves
    with opened(config) as project:
        if what == "changes":
            rows = change_rows(project, moment(since))
        else:
            rows = _records(project, moment(since))
        with _target(out) as stream:
            n = _write(stream, what, form, rows, project)
    if as_json and out is not None:
        emit_json({"what": what, "format": form, "file": str(out), "rows": n})
    elif out is not None:
        say(f"{out}: {plural(n, 'row')}")


def _write(stream: TextIO, what: str, form: str, rows: Iterable[Row], project: Project) -> int:
    if form == "jsonl":
        return sum(_put(stream, json_line(row)) for row in rows)
    writer = csv.writer(stream, lineterminator="\n")
    if what == "changes":
        writer.writerow(CHANGE_COLUMNS)
        cells: Iterable[list[Any]] = _change_cells(rows)
    else:
        names = _field_names(project)
        writer.writerow([*PAGE_COLUMNS, *(f"field.{name}" for name in names)])
        cells = (
            [*(row[c] for c in PAGE_COLUMNS), *(_cell(row["fields"].get(n)) for n in names)]
            for row in rows
        )
    return sum(1 for line in cells if writer.writerow(line))


def _put(stream: TextIO, line: str) -> int:
    stream.write(line + "\n")
    return 1


def _change_cells(rows: Iterable[Row]) -> Iterator[list[Any]]:
    for row in rows:
        common = [row["t"], row["t_before"], row["url"], row["type"], row["verdict"]]
        for name, before, after in fields_changed(row) or [("", None, None)]:
            yield [*common, name, _cell(before), _cell(after)]


def _records(project: Project, since: float) -> Iterator[Row]:
    for page, record in project.store.iter_records():
        if page.last >= since:
            yield {
                "url": project.url(page),
                "type": project.type_of(page.page_type),
                "state": page.state.word,
                "last": when(page.last),
                "changed_at": when(page.changed_at),
                "fields": record.fields,
            }


def _field_names(project: Project) -> list[str]:
    return sorted({name for _, record in project.store.iter_records() for name in record.fields})


def _cell(value: Any) -> Any:
    """Lists and tables as JSON, so that they can be read back."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return value


@contextmanager
def _target(out: Path | None) -> Iterator[TextIO]:
    """stdout, or a file that appears only when it is complete."""
    if out is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(newline="")
        yield sys.stdout
        return
    part = out.with_name(out.name + ".part")
    try:
        with part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
