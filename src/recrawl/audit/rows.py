"""One fetch of a log, and the reading of its cells: times, numbers, yes and no."""

from __future__ import annotations

import math
from dataclasses import dataclass

from recrawl.units import UnitError, parse_iso

FIRST, LAST = 631_152_000.0, 4_102_444_800.0  # 1990 and 2100: nobody crawled outside
MILLIS = 1e11  # epoch numbers from here on count milliseconds; as seconds it is the year 5138
MOST = 2**53  # counts above are no counts
YES, NO = {"1", "true", "t", "yes", "y", "changed"}, {"0", "false", "f", "no", "n", "unchanged"}


class RowError(ValueError):
    """A line that is no fetch; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fetch. None where the log doesn't say."""

    url: str
    time: float  # epoch seconds
    status: int | None = None
    bytes: int | None = None
    digest: str | None = None
    changed: bool | None = None  # since the fetch before
    page_type: str | None = None


def read_time(cell: object) -> float:
    """Epoch seconds or milliseconds, a CDX timestamp, or ISO 8601. Raises RowError.

    >>> read_time("1700000000"), read_time(1700000000000), read_time("20231114221320")
    (1700000000.0, 1700000000.0, 1700000000.0)
    """
    text = str(cell).strip()
    if len(text) == 14 and text.isascii() and text.isdigit():
        text = f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:]}"
    try:
        t = float(text)
    except ValueError:
        try:
            t = parse_iso(text)
        except (UnitError, OverflowError):
            raise RowError(f"{text[:40]!r} is no time (epoch seconds or ISO 8601)") from None
    if t >= MILLIS:
        t /= 1000.0
    if not FIRST <= t < LAST:
        raise RowError(f"the time {text[:40]!r} is not between 1990 and 2100")
    return t


def read_count(cell: object, name: str) -> int | None:
    """A whole number of zero or more; None for an empty cell or '-'. Raises RowError."""
    text = "" if cell is None else str(cell).strip()
    if text in ("", "-"):
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (0 <= number < MOST) or number != int(number):
        raise RowError(f"{name} {text[:40]!r} is no whole number")
    return int(number)


def read_changed(cell: object) -> bool | None:
    """Yes or no; None for an empty cell. Raises RowError."""
    text = "" if cell is None else str(cell).strip().lower()
    if text in ("", "-"):
        return None
    if text in YES or text in NO:
        return text in YES
    raise RowError(f"changed {text[:40]!r} is neither yes nor no")


def read_url(cell: object) -> str:
    """An http or https URL without its fragment. Raises RowError."""
    text = "" if cell is None else str(cell).strip()
    scheme, _, rest = text.partition("://")
    if scheme.lower() not in ("http", "https") or rest[:1] in ("", "/", "?", "#"):
        raise RowError(f"{text[:80]!r} is no http URL")
    return text.partition("#")[0]
