"""Quantities that a crawl is paid in: bytes, money, credits, fetches and time, never mixed up.

Inside the program every quantity is an integer of its smallest unit (bytes, micro-USD,
microcredits, fetches, milliseconds); outside it is text such as ``500 MB`` or ``4 USD``.
Times are UTC epoch seconds (float) inside and ISO 8601 outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import NewType

Bytes = NewType("Bytes", int)
MicroUSD = NewType("MicroUSD", int)
MicroCredits = NewType("MicroCredits", int)

MICRO = 1_000_000
MINUTE, HOUR, DAY, WEEK = 60.0, 3600.0, 86400.0, 7 * 86400.0
MONTH = 30 * DAY  # only for rates ("per month"); calendar months are counted in plan.budget


class UnitError(ValueError):
    """Text that is no quantity; the message says what was expected."""


class Unit(StrEnum):
    """What a cap or a tariff counts. The value is the name of the field of `Spend`."""

    BYTES = "bytes"
    USD = "micro_usd"
    CREDITS = "microcredits"
    FETCHES = "fetches"
    SECONDS = "millis"


@dataclass(frozen=True, slots=True)
class Spend:
    """An amount in every unit at once; integers of the smallest unit, so that sums are exact.

    >>> Spend(bytes=300, fetches=1) + Spend(bytes=200, micro_usd=4)
    Spend(bytes=500, micro_usd=4, microcredits=0, fetches=1, millis=0)
    """

    bytes: int = 0
    micro_usd: int = 0
    microcredits: int = 0
    fetches: int = 0
    millis: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.bytes + other.bytes,
            self.micro_usd + other.micro_usd,
            self.microcredits + other.microcredits,
            self.fetches + other.fetches,
            self.millis + other.millis,
        )

    def __sub__(self, other: Spend) -> Spend:
        return Spend(
            self.bytes - other.bytes,
            self.micro_usd - other.micro_usd,
            self.microcredits - other.microcredits,
            self.fetches - other.fetches,
            self.millis - other.millis,
        )

    def get(self, unit: Unit) -> int:
        """The amount in one unit, in its smallest part (bytes, micro-USD, ...)."""
        return int(getattr(self, unit.value))

    def as_dict(self) -> dict[str, int]:
        """Amounts by unit, in its smallest part."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


_SIZE = {
    "b": 1, "byte": 1, "bytes": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_TIME = {
    "ms": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": MINUTE, "min": MINUTE, "minute": MINUTE, "minutes": MINUTE,
    "h": HOUR, "hour": HOUR, "hours": HOUR,
    "d": DAY, "day": DAY, "days": DAY, "w": WEEK, "week": WEEK, "weeks": WEEK,
    "month": MONTH, "months": MONTH, "y": 365 * DAY, "year": 365 * DAY, "years": 365 * DAY,
}  # fmt: skip
_QUANTITY = re.compile(r"\s*([0-9][0-9_,]*(?:\.[0-9]+)?|\.[0-9]+)\s*([A-Za-z]+)\s*\Z")


def _split(text: str, expected: str) -> tuple[float, str]:
    m = _QUANTITY.match(text) if isinstance(text, str) else None
    if m is None:
        raise UnitError(f"{text!r} is not a quantity; write a number and a unit, as in {expected}")
    return float(m[1].replace(",", "").replace("_", "")), m[2].lower()


def parse_bytes(text: str) -> Bytes:
    """``500 MB`` -> 500000000 (SI steps of 1000; KiB, MiB, GiB are steps of 1024).

    Raises UnitError on anything else.

    >>> parse_bytes("2.5 kB")
    2500
    """
    number, unit = _split(text, "'500 MB'")
    if unit not in _SIZE:
        raise UnitError(f"{text!r}: {unit!r} is no unit of size; use B, kB, MB, GB, MiB or GiB")
    return Bytes(round(number * _SIZE[unit]))


def parse_duration(text: str) -> float:
    """``10 min`` -> 600.0 seconds. Raises UnitError.

    >>> parse_duration("1.5 h")
    5400.0
    """
    number, unit = _split(text, "'10 min'")
    if unit not in _TIME:
        raise UnitError(f"{text!r}: {unit!r} is no unit of time; use s, min, h, d or w")
    return number * _TIME[unit]


def parse_amount(text: str) -> tuple[Unit, int]:
    """A cap as text -> its unit and the integer amount of the smallest part. Raises UnitError.

    >>> parse_amount("4 USD"), parse_amount("500 MB"), parse_amount("20 credits")
    ((<Unit.USD: 'micro_usd'>, 4000000), (<Unit.BYTES: 'bytes'>, 500000000), \
(<Unit.CREDITS: 'microcredits'>, 20000000))
    """
    number, unit = _split(text, "'4 USD', '500 MB', '2000 credits', '10000 fetches' or '2 h'")
    if unit in ("usd", "dollar", "dollars"):
        return Unit.USD, round(number * MICRO)
    if unit in ("credit", "credits"):
        return Unit.CREDITS, round(number * MICRO)
    if unit in ("fetch", "fetches", "visit", "visits", "request", "requests"):
        return Unit.FETCHES, round(number)
    if unit in _SIZE:
        return Unit.BYTES, round(number * _SIZE[unit])
    if unit in _TIME:
        return Unit.SECONDS, round(number * _TIME[unit] * 1000)
    raise UnitError(
        f"{text!r}: {unit!r} is no unit of a budget; "
        "use USD, B/kB/MB/GB, credits, fetches or s/min/h"
    )


def format_bytes(n: float) -> str:
    """Bytes for people, SI steps.

    >>> format_bytes(812), format_bytes(1_234_567)
    ('812 B', '1.23 MB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(n) >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.0f} B"


def format_usd(micro: float) -> str:
    """Micro-USD for people: cents where they are enough, more digits where they are not.

    >>> format_usd(4_000_000), format_usd(210)
    ('$4.00', '$0.00021')
    """
    usd = micro / MICRO
    if usd == 0 or abs(usd) >= 0.1:
        return f"${usd:,.2f}"
    return f"${usd:.2g}" if abs(usd) >= 1e-4 else f"${usd:.7f}".rstrip("0")


def format_duration(seconds: float) -> str:
    """Seconds for people, at most two parts.

    >>> format_duration(147600), format_duration(0.8), format_duration(90)
    ('1 d 17 h', '0.8 s', '1 min 30 s')
    """
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if seconds < 60:
        return f"{seconds:.3g} s"
    parts: list[str] = []
    rest = round(seconds)
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        n, rest = divmod(rest, size)
        if n or parts:
            parts.append(f"{n} {name}")
    return " ".join(p for p in parts[:2] if not p.startswith("0 "))


def format_amount(unit: Unit, n: float) -> str:
    """An amount in the smallest part of `unit`, for people.

    >>> format_amount(Unit.CREDITS, 1_500_000)
    '1.5 credits'
    """
    if unit is Unit.BYTES:
        return format_bytes(n)
    if unit is Unit.USD:
        return format_usd(n)
    if unit is Unit.CREDITS:
        return f"{n / MICRO:g} credits"
    if unit is Unit.FETCHES:
        return f"{n:,.0f} fetches"
    return format_duration(n / 1000)


def iso(t: float) -> str:
    """Epoch seconds -> ISO 8601 in UTC.

    >>> iso(0.0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(t, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_iso(text: str) -> float:
    """ISO 8601 (a date, or date and time; UTC where no zone is given) -> epoch seconds.

    Raises UnitError.

    >>> parse_iso("1970-01-02")
    86400.0
    """
    try:
        t = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UnitError(
            f"{text!r} is not a date; write it as 2026-11-30 or 2026-11-30T18:04:00Z"
        ) from None
    return (t if t.tzinfo else t.replace(tzinfo=UTC)).timestamp()
