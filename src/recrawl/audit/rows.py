"""One fetch of a log, and the reading of its cells: times, numbers, URLs, yes and no."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from recrawl.sources.dates import read_date
from recrawl.units import DAY, UnitError, parse_iso

FIRST, LAST = 631_152_000.0, 4_102_444_800.0  # 1990 and 2100: nobody crawled outside
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # epoch numbers from here on: ns, us, ms
MOST = 2**53  # counts above are no counts
YES, NO = {"1", "true", "t", "yes", "y", "changed"}, {"0", "false", "f", "no", "n", "unchanged"}
_LOGGED = re.compile(r"(\d\d)/([A-Za-z]{3})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})")
_ASCTIME = re.compile(r"[A-Za-z]{3} ([A-Za-z]{3}) +(\d\d?) (\d\d:\d\d:\d\d) (\d{4})")


class RowError(ValueError):
    """A line, or several, that are no fetch; the message says why."""

    def __init__(self, why: str, rows: int = 1) -> None:
        super().__init__(why)
        self.rows = rows


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
    """Epoch s, ms, us or ns by size, a CDX stamp, ISO 8601, an HTTP date, an access log's time.

    No zone is UTC. Raises RowError.

    >>> read_time("1700000000"), read_time(1700000000000), read_time("20231114221320")
    (1700000000.0, 1700000000.0, 1700000000.0)
    >>> read_time("Tue, 14 Nov 2023 22:13:20 GMT"), read_time("14/Nov/2023:23:13:20 +0100")
    (1700000000.0, 1700000000.0)
    """
    text = str(cell).strip()
    try:
        t = float(_dashed(text))
    except ValueError:
        t = _written(_dashed(text))
    for least, parts in _UNITS:
        if t >= least:
            t /= parts
            break
    if not FIRST <= t < LAST:
        raise RowError(f"the time {text[:40]!r} is not between 1990 and 2100")
    return t


def _dashed(text: str) -> str:
    """A stamp of 8, 14 or 17 digits with its dashes; no epoch number has as many."""
    if len(text) not in (8, 14, 17) or not (text.isascii() and text.isdigit()):
        return text
    day = f"{text[:4]}-{text[4:6]}-{text[6:8]}"
    if len(text) == 8:
        return day
    return f"{day}T{text[8:10]}:{text[10:12]}:{text[12:14]}.{text[14:] or 0}"


def _written(text: str) -> float:
    try:
        return parse_iso(text)
    except (UnitError, OverflowError):
        pass
    if m := _LOGGED.fullmatch(text):
        text = f"{m[1]} {m[2]} {m[3]} {m[4]} {m[5]}"
    elif m := _ASCTIME.fullmatch(text):
        text = f"{m[2]} {m[1]} {m[4]} {m[3]}"
    stamp = read_date(text)
    if stamp is None or stamp.span > DAY:
        raise RowError(f"{text[:40]!r} is no time (epoch seconds, ISO 8601 or an HTTP date)")
    return stamp.at


def read_count(cell: object, name: str) -> int | None:
    """A whole number of zero or more; None for an empty cell or '-'. Raises RowError."""
    text = "" if cell is None else str(cell).strip()
    if text in ("", "-"):
        return None
    if text.isdecimal() and len(text) < 16:
        return int(text)
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


def read_url(cell: object, host: str = "") -> str:
    """An http or https URL without its fragment; a path is one of `host`. Raises RowError.

    >>> read_url("/a#b", "shop.example")
    'http://shop.example/a'
    """
    text = "" if cell is None else str(cell).strip()
    if host and text.startswith("/"):
        text = host.rstrip("/") + text if "://" in host else f"http://{host}{text}"
    scheme, _, rest = text.partition("://")
    if scheme.lower() not in ("http", "https") or rest[:1] in ("", "/", "?", "#"):
        hint = "; whose path is it? --host HOST" if text.startswith("/") else ""
        raise RowError(f"{text[:80]!r} is no http URL{hint}")
    return text.partition("#")[0]


def read_digest(cell: object) -> str | None:
    """A content hash as text; SHA-1 as archives write it, so that WARC and CDX agree.

    >>> read_digest("sha1:3I42H3S6NNFQ2MSV"), read_digest(b"\\x0f"), read_digest("-")
    ('3I42H3S6NNFQ2MSV', '0f', None)
    """
    if isinstance(cell, bytes):
        return cell.hex() or None
    text = "" if cell is None else str(cell).strip()
    return None if text in ("", "-") else text.removeprefix("sha1:")
