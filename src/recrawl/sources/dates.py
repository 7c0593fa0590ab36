"""A date as sources write it -> epoch seconds, with its precision; never filled from today.

The W3C profile of ISO 8601 (https://www.w3.org/TR/NOTE-datetime), what is often written in its
place (single digits, a space for the T, no colon in the zone, no zone = UTC), and RFC 822.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from recrawl.sources.reading import Reading, Warned
from recrawl.units import DAY, HOUR, MINUTE

ABSURD = datetime(1995, 1, 1, tzinfo=UTC).timestamp()
"""Nothing on the web is older: such a date is a default that was never filled in."""

_ZONE = r"(?P<zone>Z|UTC?|GMT|[ECMP][SD]T|[+-]\d\d(?::?\d\d)?)?(?![\w:+-])"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,20}))?)?"
_W3C = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    rf"(?:(?:T|\s+){_CLOCK}\s{{0,3}}{_ZONE})?)?)?(?=\s|\Z)",
    re.IGNORECASE | re.ASCII,
)
_RFC822 = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(?P<day>\d{1,2})[\s-]+(?P<name>[a-z]{3})[a-z]{0,6}[\s-]+"
    rf"(?P<year>\d{{4}}|\d\d)(?:\s+{_CLOCK}\s{{0,3}}{_ZONE})?(?=\s|\Z)",
    re.IGNORECASE | re.ASCII,
)
_MONTHS = {name.lower(): i for i, name in enumerate(calendar.month_abbr) if name}
_AMERICAN = {"e": -5, "c": -6, "m": -7, "p": -8}
_LONGEST = 200  # characters that are looked at


class Stamp(NamedTuple):
    """The interval that a date names: it begins `at` (epoch seconds) and is `span` seconds long.

    `2024` spans a year, `2024-05-17` a day, a time to the second one second.
    """

    at: float
    span: float


@lru_cache(maxsize=1024)  # the same few dates stand beside many pages
def read_date(text: str) -> Stamp | None:
    """The first date in `text`, or None where there is none (`05/06/2024` could be two).

    >>> read_date("1970-01-02"), read_date("1970-1-1 00:01+00:00")
    (Stamp(at=86400.0, span=86400.0), Stamp(at=60.0, span=60.0))
    >>> read_date("Thu, 01 Jan 1970 02:00:05 +0200"), read_date("2024-02-30")
    (Stamp(at=5.0, span=1.0), None)
    """
    text = text[:_LONGEST].strip()
    found = _W3C.match(text) or _RFC822.match(text)
    if found is None:
        return None
    part = found.groupdict()
    month = _month(part)
    try:
        year = _century(part["year"])
        start = datetime(year, month or 1, int(part["day"] or 1), tzinfo=UTC).timestamp()
        days = calendar.monthrange(year, month)[1] if month else 365 + calendar.isleap(year)
    except (ValueError, OverflowError):
        return None
    if part["hour"] is None:
        return Stamp(start, DAY if part["day"] else days * DAY)
    return _clock(part, start)


def _month(part: dict[str, str | None]) -> int:
    """1-12; 0 where none is written; 13 where it is none."""
    if name := part.get("name"):
        return _MONTHS.get(name.lower(), 13)
    written = part["month"]
    return 0 if written is None else int(written) or 13


def _century(year: str | None) -> int:
    """Two digits are 1970-2069 (RFC 2822, 4.3, moved on)."""
    number = int(year or 0)
    return number if len(year or "") > 2 else number + (2000 if number < 70 else 1900)


def _clock(part: dict[str, str | None], day: float) -> Stamp | None:
    hour, minute, second = (int(part[k] or 0) for k in ("hour", "minute", "second"))
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and minute + second):
        return None
    offset = _offset((part["zone"] or "Z").lower())
    at = day + hour * HOUR + minute * MINUTE + second - offset
    if fraction := part["part"]:
        return Stamp(at + float("0." + fraction), 0.0)
    return Stamp(at, MINUTE if part["second"] is None else 1.0)


def _offset(zone: str) -> float:
    """Seconds east of Greenwich."""
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        east = int(digits[:2]) * HOUR + int(digits[2:]) * MINUTE
        return -east if zone[0] == "-" else east
    if zone[-2:] in ("st", "dt"):
        return (_AMERICAN[zone[0]] + (zone[1] == "d")) * HOUR
    return 0.0


def believable(text: str, now: float, reading: Reading, where: str) -> float | None:
    """The moment that `text` names, or None with a counted warning where it can't be true.

    An empty text is no date and no warning. `where` is the URL it stands beside.
    """
    if not text or text.isspace():
        return None
    stamp = read_date(text)
    if stamp is None:
        reading.warn(Warned.BAD_DATE, where, f"unreadable date {text.strip()[:40]!r}")
    elif stamp.at > now + DAY:
        reading.warn(Warned.FUTURE_DATE, where, f"date in the future: {text.strip()[:40]}")
    elif stamp.at < ABSURD:
        reading.warn(Warned.ABSURD_DATE, where, f"date before 1995: {text.strip()[:40]}")
    else:
        return stamp.at
    return None
