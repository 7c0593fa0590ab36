"""A partner's list or an API's answer -> hints: CSV, TSV, JSON, JSON lines, text.

What a column or key means is guessed by its name, or said by a `Mapping`. Files of search results
are read alike, with kind 'search'.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import chain
from typing import Any

from recrawl.extract.structured import at_path, parse
from recrawl.model import Hint
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import Limits, plain, utf8
from recrawl.sources.urllist_columns import GUESSES, WEB, Columns, Mapping

__all__ = ["Mapping", "read"]

MAX_BYTES = 64_000_000  # of one JSON document; other forms are read as they come in
MAX_URLS = 20_000_000
LONGEST = 1_000_000  # characters of a line
_DEEP = 3  # how deep the array of items is looked for


def read(
    chunks: Iterable[bytes],
    base: str,
    now: float,
    reading: Reading,
    *,
    kind: str = "list",
    mapping: Mapping | None = None,
    limits: Limits | None = None,
) -> Iterator[Hint]:
    """The hints of one list, a row each. Never raises on what the bytes hold.

    >>> reading = Reading()
    >>> body = b"url,lastmod,value\\n/a,2024-05-17,3\\n"
    >>> [(h.url, h.value) for h in read([body], "http://e.com/", 1.8e9, reading)]
    [('http://e.com/a', 3.0)]
    """
    reading.kind = kind
    limits = limits or Limits(bytes=20 * MAX_BYTES, urls=MAX_URLS)
    stream = utf8(plain(chunks, limits, reading), reading)
    columns = Columns(mapping or Mapping(), base, f"{kind}:{base}", now, reading)
    for n, row in enumerate(_rows(stream, columns.mapping, reading), 1):
        hint = columns.hint(row, f"row {n}")
        if hint is None:
            continue
        if reading.hints >= limits.urls:
            reading.cut(Warned.OVER_LIMIT, "", f"more than {limits.urls} URLs")
            break
        reading.hints += 1
        yield hint
    if not reading.failed and not reading.hints:
        if reading.warnings[Warned.BAD_URL] or reading.warnings[Warned.NO_URL]:
            reading.fail("no row of it names a page")
        elif not reading.shortened:
            reading.warn(Warned.NOTHING_LISTED)
    reading.finish()


def _rows(stream: Iterator[bytes], mapping: Mapping, reading: Reading) -> Iterator[Any]:
    """Rows as objects, or as texts where a URL stands alone."""
    head = next((block for block in stream if block.strip()), b"")
    start = head.lstrip()[:1]
    whole = chain((head,), stream)
    if not start:
        reading.fail("it is empty")
    elif start == b"<":
        reading.fail("markup, no list")
    elif start == b"[" or (start == b"{" and not _is_json_lines(head)):
        yield from _json(whole, mapping, reading)
    elif start == b"{":
        yield from _json_lines(whole, reading)
    else:
        yield from _table(whole, mapping, reading)


def _is_json_lines(head: bytes) -> bool:
    """Is its first line an object of its own, with more behind it, or with nothing in it?"""
    first, _, rest = head.lstrip().partition(b"\n")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip()) or not any(isinstance(v, dict | list) for v in found.values())


def _json(stream: Iterator[bytes], mapping: Mapping, reading: Reading) -> Iterator[Any]:
    parts, size = [], 0
    for block in stream:
        parts.append(block)
        size += len(block)
        if size > MAX_BYTES:
            reading.fail(f"a JSON document of more than {MAX_BYTES:,} bytes")
            return
    try:
        data = parse(b"".join(parts))
    except ValueError as error:
        reading.fail(f"broken JSON: {error}"[:200])
        return
    if mapping.items:
        found = at_path(data, tuple(mapping.items.split(".")))
    else:
        found = _array(data, mapping)
    if not isinstance(found, list):
        reading.fail(f"no array at {mapping.items!r}" if mapping.items else "no array of items")
        return
    yield from found


def _array(data: Any, mapping: Mapping) -> list[Any] | None:
    """The first array, seen from outside, whose items name pages; an empty one if there's none."""
    level, empty = [data], None
    for _ in range(_DEEP + 1):
        for node in level:
            if isinstance(node, list):
                if not node:
                    empty = node if empty is None else empty
                elif _names_a_page(node[0], mapping) or node is data:
                    return node
        level = [v for node in level if isinstance(node, dict) for v in node.values()]
    return empty


def _names_a_page(item: Any, mapping: Mapping) -> bool:
    if isinstance(item, str):
        return item.startswith(WEB)
    if not isinstance(item, dict):
        return False
    if mapping.url:
        return at_path(item, tuple(mapping.url.split("."))) is not None
    return any(str(name).lower() in GUESSES["url"] for name in item)


def _lines(stream: Iterator[bytes], reading: Reading) -> Iterator[str]:
    """Lines with their ends. One that is too long is counted and left out."""
    held = b""
    skipping = False
    for block in stream:
        *lines, held = (held + block).split(b"\n")
        for line in lines:
            if not skipping:
                yield line.rstrip(b"\r").decode("utf-8", "replace") + "\n"
            skipping = False
        if len(held) > LONGEST:
            if not skipping:
                reading.warn(Warned.BAD_ROW, held[:80].decode("utf-8", "replace"), "too long")
            held, skipping = b"", True
    if held.strip() and not skipping:
        yield held.decode("utf-8", "replace") + "\n"


def _json_lines(stream: Iterator[bytes], reading: Reading) -> Iterator[Any]:
    for n, line in enumerate(_lines(stream, reading), 1):
        if not line.strip():
            continue
        try:
            yield parse(line)
        except ValueError:
            reading.warn(Warned.BAD_ROW, f"line {n}", "broken JSON")


def _table(stream: Iterator[bytes], mapping: Mapping, reading: Reading) -> Iterator[Any]:
    """CSV, TSV (or semicolons), or one URL a line; # begins a comment."""
    lines: Iterator[str] = filter(_counts, _lines(stream, reading))
    first = next(lines, "")
    comma = max("\t,;", key=first.count)
    names = [cell.strip().lower() for cell in _cells(first, comma)]
    known = {name for guesses in GUESSES.values() for name in guesses}
    known |= {getattr(mapping, field.name).lower() for field in fields(mapping)} - {""}
    header = bool(known & set(names))
    if not header and (first.count(comma) == 0 or _lone_urls(first, comma)):
        yield first.strip()
        yield from (line.strip() for line in lines)
        return
    if not header:
        names = _guessed(names)
        lines = chain((first,), lines)
    rows = csv.reader(lines, delimiter=comma)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            reading.warn(Warned.BAD_ROW, f"line {rows.line_num}", str(error))
            continue
        if row:
            yield dict(zip(names, row, strict=False))


def _counts(line: str) -> bool:
    return bool(line.strip()) and line[0] != "#"


def _cells(line: str, comma: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=comma), [])
    except csv.Error:
        return []


def _lone_urls(line: str, comma: str) -> bool:
    """One URL a line, with commas in it? Then what follows a comma is no date and no number."""
    return (
        comma != "\t"
        and line.startswith(WEB)
        and not any(cell.strip()[:1].isdigit() for cell in _cells(line, comma)[1:])
    )


def _guessed(cells: list[str]) -> list[str]:
    """Names for the columns of a table without header: the URL, a date, a number."""
    names = []
    for cell in cells:
        name = "value" if cell.replace(".", "", 1).isdigit() else "page_type"
        if cell.startswith((*WEB, "/", "www.")):
            name = "url"
        elif cell[:4].isdigit() and "-" in cell:
            name = "lastmod"
        names.append(name if name not in names else "")
    return names
