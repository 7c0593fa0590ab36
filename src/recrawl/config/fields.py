"""One value of the project file -> a plain value, or a ValueError that says what to write.

Values may come from the environment, where everything is text: numbers and lists are read from
text too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, TypeVar

from recrawl.config.settings import Cap
from recrawl.units import Unit, UnitError, parse_amount, parse_bytes, parse_duration
from recrawl.urls.match import VALUE_TIERS

T = TypeVar("T")
R = TypeVar("R")
N = TypeVar("N", int, float)

MOST = 10**18
"""Of anything, in its smallest part."""


def shown(value: object) -> str:
    """A value as it may stand in a message: quoted, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def suggestion(word: str, allowed: list[str]) -> str:
    """' (did you mean X?)' or ''."""
    close = get_close_matches(word.lower(), allowed, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def text(value: object) -> str:
    """Text that is not empty, trimmed."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'{shown(value)} is not a text; write it in quotes, as in "..."')
    if any(ord(c) < 32 or ord(c) == 127 for c in value):
        raise ValueError(f"{shown(value)} has control characters; remove them")
    return value.strip()


def each(items: Iterable[T], check: Callable[[T], R]) -> tuple[R, ...]:
    """What `check` makes of each item; all that it finds wrong in one ValueError."""
    found: list[R] = []
    wrong: list[str] = []
    for item in items:
        try:
            found.append(check(item))
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise ValueError("; and ".join(dict.fromkeys(wrong)))
    return tuple(found)


def texts(value: object) -> tuple[str, ...]:
    """A list of texts, or one alone; a JSON list where it comes from the environment."""
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return (text(value),)
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError(f'{shown(value)} is not a list; write ["...", "..."]') from None
    if not isinstance(value, list):
        raise ValueError(f'{shown(value)} is not a list; write ["...", "..."]')
    return each(value, text)


def flag(value: object) -> bool:
    """true or false."""
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError(f"{shown(value)} is neither true nor false; write true or false, no quotes")


def number(value: object) -> float:
    """A finite number."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError(f"{shown(value)} is not a number; write it as in 1.5") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        raise ValueError(f"{shown(value)} is not a number; write it as in 1.5")
    return float(value)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def count(least: int) -> Callable[[object], int]:
    """A whole number, `least` or more."""

    def check(value: object) -> int:
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 19:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{shown(value)} is not a whole number; write it as in {least + 5}")
        if not least <= value < MOST:
            raise ValueError(f"{shown(value)} is out of range; write {least} or more")
        return value

    return check


def day(value: object) -> int:
    """A day of the month."""
    found = count(1)(value)
    if found > 31:
        raise ValueError(f"{shown(value)} is no day of a month; write 1 to 31 (31 = the last)")
    return found


def share(value: object) -> float:
    """A part of the whole: a number of [0, 1], or '10 %'."""
    if isinstance(value, str) and value.strip().endswith("%"):
        return share(number(value.strip()[:-1].strip()) / 100)
    x = number(value)
    if not 0 <= x <= 1:
        raise ValueError(f"{shown(value)} is not a share; write 0.10 or '10 %' for a tenth")
    return x


def size(value: object) -> int:
    """Bytes, more than none."""
    return _positive(value, _quantity(parse_bytes, value))


def duration(value: object) -> float:
    """Seconds, 0 allowed."""
    return _quantity(parse_duration, value)


def some_time(value: object) -> float:
    """Seconds, more than none."""
    return _positive(value, _quantity(parse_duration, value))


def _quantity(parse: Callable[[Any], T], value: object) -> T:
    """Parsed, and small enough to be stored and added up."""
    try:
        parsed = parse(value)
    except OverflowError:
        raise UnitError(f"{shown(value)} is too large; write what you mean") from None
    amount: Any = parsed[1] if isinstance(parsed, tuple) else parsed
    if amount > MOST:
        raise UnitError(f"{shown(value)} is too large; write what you mean")
    return parsed


def _positive(value: object, amount: N) -> N:
    if amount <= 0:
        raise ValueError(f"{shown(value)} is nothing; leave the line out to set no limit")
    return amount


def caps(value: object) -> tuple[Cap, ...]:
    """Caps of different units: '4 USD', or ['4 USD', '500 MB']."""
    found: dict[Unit, Cap] = {}
    for item in texts(value):
        unit, amount = _quantity(parse_amount, item)
        if unit in found:
            raise ValueError(f"{shown(value)} caps the same unit twice; keep the smaller one")
        found[unit] = Cap(unit, _positive(item, amount))
    return tuple(found.values())


def cap_in(unit: Unit, example: str) -> Callable[[object], Cap]:
    """One cap of that unit."""

    def check(value: object) -> Cap:
        if unit is Unit.FETCHES and isinstance(value, int) and not isinstance(value, bool):
            return Cap(unit, _positive(value, value))
        got, amount = _quantity(parse_amount, value)
        if got is not unit:
            raise ValueError(f"{shown(value)} is of another unit; write it as in {example!r}")
        return Cap(unit, _positive(value, amount))

    return check


def price(value: object) -> tuple[int, Unit, int]:
    """'8 USD/GB', '49 USD / 150000 credits' -> (micro-USD, unit, smallest parts of it)."""
    example = "'8 USD/GB' or '49 USD / 150000 credits'"
    left, slash, right = text(value).partition("/")
    if not slash:
        raise ValueError(f"{shown(value)} is no price; write it as in {example}")
    paid, micro_usd = _quantity(parse_amount, left)
    right = right.strip()
    try:
        unit, per = _quantity(parse_amount, right if right[:1].isdigit() else f"1 {right}")
    except UnitError:
        raise ValueError(f"{shown(value)}: no unit after '/'; write it as in {example}") from None
    if paid is not Unit.USD or unit is Unit.USD:
        raise ValueError(f"{shown(value)} is no price in USD; write it as in {example}")
    return micro_usd, unit, _positive(value, per)


def word(*allowed: str) -> Callable[[object], str]:
    """One of these words."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        hint = suggestion(value, list(allowed)) if isinstance(value, str) else ""
        raise ValueError(f"{shown(value)} is not one of {', '.join(allowed)}{hint}")

    return check


def words(*allowed: str) -> Callable[[object], tuple[str, ...]]:
    """A list of some of these words."""
    one = word(*allowed)

    def check(value: object) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each(texts(value), one)))

    return check


def worth(value: object) -> float:
    """What a page is worth: a number above 0, or the name of a tier."""
    if isinstance(value, str) and value in VALUE_TIERS:
        return VALUE_TIERS[value]
    tiers = ", ".join(VALUE_TIERS)
    if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
        hint = suggestion(value, list(VALUE_TIERS))
        raise ValueError(f"{shown(value)} is neither a number nor one of {tiers}{hint}")
    if not 0 < number(value) <= 1e6:
        raise ValueError(f"{shown(value)} is no value; write a number above 0, or one of {tiers}")
    return number(value)


def times(value: object) -> tuple[float, ...]:
    """['1 h', '1 d'] -> seconds above 0, each longer than the one before."""
    found = each(texts(value), duration)
    if not found or any(next_ <= one for one, next_ in pairwise((0.0, *found))):
        raise ValueError(f'{shown(value)} is no rising list of times; write ["1 h", "1 d", "7 d"]')
    return found


def span(value: object) -> tuple[float, float]:
    """['10 min', '30 d'] -> (least, most) seconds."""
    example = 'write it as in ["10 min", "30 d"]'
    items = texts(value)
    if len(items) != 2:
        raise ValueError(f"{shown(value)} is not a pair of times; {example}")
    low, high = duration(items[0]), some_time(items[1])
    if low > high:
        raise ValueError(f"{shown(value)} begins with the longer time; {example}")
    return low, high
