"""JSON, bare or in a page: parsed with bounds, canonical as text, read by path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

MAX_ENTITIES = 2000

_BROKEN = object()


def parse(text: str | bytes) -> Any:
    """Parsed JSON; raises ValueError on anything else, however deep or long.

    Numbers that are equal become equal: 10, 10.0 and 1e1.

    >>> parse('{"a": 10.0}') == parse('{"a": 1e1}') == {"a": 10}
    True
    """
    try:
        return json.loads(text, parse_float=_number, parse_constant=str, strict=False)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def _number(text: str) -> int | float | str:
    value = float(text)
    if abs(value) >= 2**53:  # infinity included: keep what was written
        return text
    return int(value) if value.is_integer() else value


def canonical(data: Any) -> bytes:
    """The one spelling of JSON data: keys sorted, no white space, UTF-8.

    >>> canonical({"b": 1, "a": ["é", None]}).decode()
    '{"a":["é",null],"b":1}'
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def decimal_text(value: Any) -> Any:
    """A plain decimal, as number or as text, without trailing zeros; anything else unchanged.

    >>> decimal_text("2879.20"), decimal_text(2879.2), decimal_text("12 EUR"), decimal_text("007")
    ('2879.2', '2879.2', '12 EUR', '007')
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = str(value).strip()
    digits = text.removeprefix("-").replace(".", "", 1)
    if len(text) > 40 or not (digits.isascii() and digits.isdecimal()):
        return value
    if len(digits) > 1 and text.removeprefix("-").startswith("0") and "." not in text:
        return value  # a code, not an amount
    try:
        plain = format(Decimal(text), "f")
    except InvalidOperation:
        return value
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def entities(scripts: Iterable[str]) -> tuple[list[dict[str, Any]], int]:
    """(all objects of a page's JSON-LD, how many of its scripts could not be read).

    Arrays and @graph are opened; null and empty scripts are skipped and are no fault.
    """
    found: list[dict[str, Any]] = []
    broken = 0
    for script in scripts:
        data = _tolerant(script)
        if data is _BROKEN:
            broken += 1
        else:
            found += _objects(data)
    return found[:MAX_ENTITIES], broken


def _tolerant(script: str) -> Any:
    text = script.strip().removeprefix("<![CDATA[").removesuffix("]]>").strip()
    text = text.removeprefix("<!--").removesuffix("-->").strip().rstrip(";")
    if not text:
        return None
    try:
        return parse(text)
    except ValueError:
        return _BROKEN


def _objects(data: Any) -> Iterator[dict[str, Any]]:
    pending = [data]
    while pending:
        item = pending.pop(0)
        if isinstance(item, list):
            pending[:0] = item[:MAX_ENTITIES]
        elif isinstance(item, dict):
            yield item
            if isinstance(item.get("@graph"), list | dict):
                pending.insert(0, item["@graph"])


def types_of(entity: dict[str, Any]) -> list[str]:
    """The @type names of a JSON-LD object, without their vocabulary's address.

    >>> types_of({"@type": ["http://schema.org/Product", "Thing"]})
    ['Product', 'Thing']
    """
    kind = entity.get("@type")
    names = kind if isinstance(kind, list) else [kind]
    return [n.rstrip("/").rpartition("/")[2] for n in names if isinstance(n, str)]


def at_path(data: Any, path: tuple[str, ...]) -> Any:
    """What stands at a dotted path, or None. A number picks from a list, a name its first fit.

    >>> at_path({"offers": [{}, {"price": 5}]}, ("offers", "price"))
    5
    """
    for i, step in enumerate(path):
        if isinstance(data, list):
            if step.isdecimal():
                data = data[int(step)] if len(step) < 9 and int(step) < len(data) else None
                continue
            values = (at_path(item, path[i:]) for item in data if isinstance(item, dict))
            return next((v for v in values if v is not None), None)
        data = data.get(step) if isinstance(data, dict) else None
        if data is None:
            return None
    return data
