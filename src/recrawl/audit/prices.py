"""What a user pays a fetch by: '8' or '8/GB' is USD a GB, '1.5/1000' USD a thousand fetches."""

from __future__ import annotations

import math
from dataclasses import dataclass

BYTES, FETCHES = "bytes", "fetches"
_EXPECTED = "write 8/GB for USD a GB, 1.5/1000 for USD a thousand fetches"


@dataclass(frozen=True, slots=True)
class Price:
    """USD for one unit of `unit`; without an amount nothing is said in USD."""

    unit: str = BYTES
    usd: float = 0.0

    def of(self, number: float, fetches: float) -> float:
        """USD for so many bytes in so many fetches."""
        return self.usd * (fetches if self.unit == FETCHES else number)


def parse_price(text: str) -> Price:
    """Raises ValueError, which says what to write.

    >>> parse_price("8/GB"), parse_price("1.5/1000").unit
    (Price(unit='bytes', usd=8e-09), 'fetches')
    """
    if not text.strip():
        return Price()
    number, _, per = (part.strip() for part in text.partition("/"))
    units = {"": (BYTES, 1e9), "gb": (BYTES, 1e9), "1000": (FETCHES, 1000.0)}
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf or per.lower() not in units:
        raise ValueError(f"{text!r} is no price; {_EXPECTED}")
    unit, parts = units[per.lower()]
    return Price(unit, amount / parts)
