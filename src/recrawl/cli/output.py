"""Data to stdout, words to stderr: tables for people, one JSON object a line for programs."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

WIDE = 100_000  # off a terminal nothing is wrapped or cut


def say(text: str) -> None:
    """A line of words on stderr."""
    sys.stderr.write(text + "\n")


def emit(text: str) -> None:
    """A line of data on stdout."""
    sys.stdout.write(text + "\n")


def emit_json(value: Mapping[str, Any]) -> None:
    """One JSON object on a line of its own, on stdout."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    emit(json_line(value, ascii_only))


def json_line(value: Mapping[str, Any], ascii_only: bool = False) -> str:
    """A JSON object. NaN and infinities have no JSON: they become null."""
    return json.dumps(_plain(value), ensure_ascii=ascii_only, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, bytes):
        return value.hex()
    return value


def clean(text: str) -> str:
    """Text of a stranger, safe on a terminal: what is not printable is shown as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    right: Sequence[str] = (),
) -> None:
    """A table on stdout. `right` names the columns to align there: numbers.

    Colour and cutting to the width only on a terminal; NO_COLOR is honoured.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, show_edge=False)
    for i, name in enumerate(columns):
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=12 if i == 0 and name not in right else None,
        )
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    buffer = io.StringIO()
    console = Console(
        file=sys.stdout if terminal else buffer,
        width=None if terminal else WIDE,
        no_color=True if os.environ.get("NO_COLOR") or not terminal else None,
        highlight=False,
    )
    if title:
        emit(title)
    console.print(table)
    for line in buffer.getvalue().splitlines():
        emit(line.rstrip())


def tolerant() -> None:
    """Let no character that the terminal lacks end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Write out what is buffered, so that a closed pipe shows here and not at exit."""
    sys.stdout.flush()


def hush() -> None:
    """After a closed pipe: let the interpreter's own last flush go nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = io.StringIO()


def percent(share: float | None) -> str:
    """A share for people; '-' where there is none."""
    return "-" if share is None else f"{share:.1%}"


def plural(n: int, one: str, many: str = "") -> str:
    """'1 page', '2 pages'."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
