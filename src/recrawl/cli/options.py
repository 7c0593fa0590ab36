"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path, typer.Option("--config", "-c", metavar="PATH", help="The project file.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Since = Annotated[
    str, typer.Option(metavar="WHEN", help="From then on: '2 d' ago, 2026-11-30, an ISO time.")
]
Limit = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="At most N rows, 0 = all (100; all with --json)."),
]
DEFAULT_CONFIG = Path("recrawl.toml")
TABLE_ROWS = 100


def rows_wanted(limit: int | None, as_json: bool) -> int | None:
    """How many rows to show; None = all."""
    if limit is None:
        return None if as_json else TABLE_ROWS
    return limit or None
