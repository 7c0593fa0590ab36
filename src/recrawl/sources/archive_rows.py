"""The lines of an archive's answer -> fields by name, whichever of its forms it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from recrawl.sources.reading import Reading, Warned

LONGEST = 65_536  # bytes of a line that are looked at
STAMP = re.compile(r"(?:19|20)\d{2,12}", re.ASCII)
STATUS = re.compile(r"[1-5]\d\d|-|", re.ASCII)
_ROW = re.compile(rb"\]\s*,\s*\[")
_LETTERS = {
    "N": "urlkey", "b": "timestamp", "a": "original", "m": "mimetype", "s": "statuscode",
    "k": "digest", "S": "length",
}  # fmt: skip
_NAMES = {"url": "original", "mime": "mimetype", "status": "statuscode", "mime-detected": ""}
_HEAD = ["urlkey", "timestamp", "original"]
_TAILS = {
    4: ["mimetype", "statuscode", "digest", "length"],
    6: ["mimetype", "statuscode", "digest", "redirect", "offset", "filename"],
    8: ["mimetype", "statuscode", "digest", "redirect", "flags", "length", "offset", "filename"],
}


def lines(stream: Iterable[bytes], reading: Reading) -> Iterator[bytes]:
    """Lines and, where a JSON array stands on one line, its rows."""
    held = b""
    skipping = False  # inside of a line that is too long to be one
    for block in stream:
        held += block
        if held.lstrip().startswith(b"["):
            held = _ROW.sub(b"],\n[", held)
        *lines, held = held.split(b"\n")
        for line in lines:
            if not skipping:
                yield line.strip()
            skipping = False
        if len(held) > LONGEST:
            if not skipping:
                reading.warn(Warned.BAD_ROW, held[:80].decode("utf-8", "replace"), "too long")
            held, skipping = b"", True
    if held and not skipping:
        yield held.strip()


class Rows:
    """Lines -> fields by name; what stands behind an empty row is the key to resume with."""

    def __init__(self, reading: Reading) -> None:
        self.seen = False  # something that belongs to such an answer
        self.odd = 0
        self._reading = reading
        self._names: list[str] = []  # of the columns, as a header told
        self._ended = False

    def row(self, line: bytes, number: int) -> dict[str, str] | None:
        """The fields of one line; None where it is no capture."""
        text = line.decode("utf-8", "replace")
        if self._ended:
            self._resume(text)
            return None
        if text.startswith("["):
            return self._array(text, number)
        if not text:
            self._ended = self.seen
            return None
        if text.startswith("CDX ") and not self.seen:
            self._names = [_LETTERS.get(letter, letter) for letter in text.split()[1:]]
            self.seen = True
            return None
        row = self._object(text) if "{" in text else self._plain(text)
        if row is None and text not in ("]", "]]"):
            self._refuse(text, number)
        self.seen = self.seen or row is not None
        return row or None

    def _refuse(self, text: str, number: int) -> None:
        self.odd += 1
        self._reading.warn(Warned.BAD_ROW, f"line {number}", f"no capture: {text[:80]}")

    def _resume(self, text: str) -> None:
        key = text.strip("[], \"'")
        if key:
            self._reading.resume = key

    def _array(self, text: str, number: int) -> dict[str, str] | None:
        text = text.rstrip(", ")
        if text.startswith("[["):
            text = text[1:]
        if text.endswith("]]"):
            text = text[:-1]
        try:
            cells = json.loads(text)
        except (ValueError, RecursionError):
            self._refuse(text, number)
            return None
        if not cells:  # [] alone lists nothing; behind rows it announces the key
            self._ended = bool(self._names)
            self.seen = True
            return None
        if not self._names:
            self._names = [str(cell) for cell in cells]
            self.seen = True
            return None
        if len(cells) != len(self._names):
            self._refuse(text, number)
            return None
        return _named(dict(zip(self._names, cells, strict=True)))

    def _object(self, text: str) -> dict[str, str] | None:
        """A JSON object alone, or behind key and timestamp (CDXJ)."""
        before, _, rest = text.partition("{")
        try:
            found = json.loads("{" + rest)
        except (ValueError, RecursionError):
            return None
        head = before.split()
        if not head and "message" in found and "url" not in found:
            return {}  # "No Captures found for": an answer, and no row of it
        if len(head) not in (0, 2):
            return None
        return _named({**dict(zip(_HEAD[:2], head, strict=False)), **found})

    def _plain(self, text: str) -> dict[str, str] | None:
        cells = text.split()
        if self._names:
            return dict(zip(self._names, cells, strict=True)) if self._fits(cells) else None
        if len(cells) < 7 or not STAMP.fullmatch(cells[1]):
            return None
        size = next((n for n in (8, 6, 4) if len(cells) >= 3 + n and _counted(cells, n)), 4)
        url = " ".join(cells[2:-size])  # addresses with spaces: counted from the right end
        return dict(zip(_HEAD + _TAILS[size], [*cells[:2], url, *cells[-size:]], strict=True))

    def _fits(self, cells: list[str]) -> bool:
        return len(cells) == len(self._names)


def _counted(cells: list[str], size: int) -> bool:
    """Is the status where it should be, counted from the right?"""
    return STATUS.fullmatch(cells[1 - size]) is not None


def _named(found: dict[str, Any]) -> dict[str, str]:
    return {_NAMES.get(name) or name: str(value) for name, value in found.items()}
