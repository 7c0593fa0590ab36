"""Where each key of a TOML text stands, so that a mistake can name its line."""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate

Path = tuple[str | int, ...]

_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_ARRAY = re.compile(rf"\s*\[\[\s*({_DOTTED})\s*\]\]")
_TABLE = re.compile(rf"\s*\[\s*({_DOTTED})\s*\]\s*(?:#.*)?\Z")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_TOKEN = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')


def line_numbers(text: str) -> dict[Path, int]:
    """Path of each table, array entry and key -> its line, from 1.

    Keys inside inline tables are not found: `line_of` falls back to the key that holds them.
    """
    found: dict[Path, int] = {}
    entries: Counter[Path] = Counter()
    table: Path = ()
    quote = ""
    for n, line in enumerate(text.splitlines(), 1):
        inside, quote = quote, _after(line, quote)
        if inside:
            continue
        if m := _ARRAY.match(line):
            name = _parts(m[1])
            found.setdefault(name, n)
            table = (*name, entries[name])
            entries[name] += 1
            found[table] = n
        elif m := _TABLE.match(line):
            table = _parts(m[1])
            found.setdefault(table, n)
        elif m := _KEY.match(line):
            for path in accumulate(((part,) for part in _parts(m[1])), initial=table):
                found.setdefault(path, n)
    return found


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """The line of that path, or of the closest thing around it."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def _parts(dotted: str) -> Path:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


def _after(line: str, quote: str) -> str:
    """The multi-line quote that is open after this line, '' for none."""
    at = 0
    while True:
        if quote:
            at = line.find(quote, at) + len(quote)
            if at < len(quote):
                return quote
        token = _TOKEN.search(line, at)
        if token is None:
            return ""
        at, quote = token.end(), token[0] if token[0] in ('"""', "'''") else ""
