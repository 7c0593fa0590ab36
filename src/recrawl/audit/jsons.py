"""JSON text -> its values: one a line, or of arrays, however they are laid out or cut."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from json import JSONDecoder
from typing import Any

from recrawl.audit.account import DamageError
from recrawl.audit.lines import LONGEST
from recrawl.audit.rows import RowError

BLOCK = 1 << 16
_NEAR = 16  # an error as near to the end of what is there may be for want of more
_INDENT = 1024  # characters between a line break and the value behind it
_SKIP = re.compile(r"[\s,]*")
_NEXT = re.compile(r"\n\s*[\[{]")  # where reading goes on after what is no JSON


def lines(text: Iterator[tuple[int, str]]) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """The objects of JSON lines; anything else is a bad row."""
    for number, line in text:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            yield number, RowError("no JSON")
            continue
        yield number, value if isinstance(value, dict) else RowError("no JSON object")


def objects(stream: io.BufferedReader) -> Iterator[tuple[int, dict[str, Any] | RowError]]:
    """The objects of one or more JSON arrays, or one after the other.

    Scrapy appends to feeds, so `][` may stand between. Arrays in the array are rows under a
    heading, as the Wayback Machine's index answers.
    """
    heading: list[str] | None = None
    for number, value in _Values(stream).read():
        if isinstance(value, (dict, RowError)):
            yield number, value
        elif not isinstance(value, list):
            yield number, RowError("no JSON object")
        elif heading is None:
            heading = [str(name) for name in value]
        elif len(value) == len(heading):
            yield number, dict(zip(heading, value, strict=True))
        else:
            yield number, RowError(f"{len(value)} cells of {len(heading)}")


class _Values:
    """The text that is still to be parsed, `text[at:]`, and how far reading has come."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text, self._at, self._line = "", 0, 1
        self._ended = False
        self._broken: Exception | None = None

    def read(self) -> Iterator[tuple[int, Any]]:
        """(line, value or RowError) of every one; raises what the stream raises, after them."""
        decode = JSONDecoder().raw_decode
        inside = False  # the brackets around all values are not one
        while self._begins():
            mark = self._text[self._at]
            if mark in "[]" and inside == (mark == "]"):
                inside = not inside
                self._move(self._at + 1)
                continue
            number = self._line
            try:
                yield number, self._value(decode)
            except RowError as error:
                yield number, error
                self._recover()
        if self._broken is not None:
            raise self._broken

    def _value(self, decode: Callable[[str, int], tuple[Any, int]]) -> Any:
        """The value that begins here. Raises RowError where there is none."""
        while True:
            try:
                value, end = decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                more = _unfinished(error, len(self._text))
            else:
                more = end == len(self._text) and not isinstance(value, (dict, list))
                if not more or self._ended:
                    self._move(end)
                    return value
            if more and not self._ended and len(self._text) - self._at < LONGEST:
                self._more()
                continue
            why = "the file ends within it" if self._ended else "longer than 4 MB"
            raise RowError(why if more else "no JSON")

    def _begins(self) -> bool:
        """Go to where a value may begin; False at the end."""
        while True:
            m = _SKIP.match(self._text, self._at)
            self._move(m.end() if m else self._at)
            if self._at < len(self._text):
                return True
            if self._ended:
                return False
            self._more()

    def _move(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _more(self) -> None:
        """Read as much again as is waiting: a long value is parsed a few times, not hundreds."""
        self._text, self._at = self._text[self._at :], 0
        parts, wanted = [self._text], max(BLOCK, len(self._text))
        while wanted > 0 and not self._ended:
            try:
                block = self._stream.read1(BLOCK)
            except (DamageError, OSError) as error:
                self._broken, block = error, b""
            self._ended = not block
            parts.append(self._decoder.decode(block, self._ended))
            wanted -= len(block)
        self._text = "".join(parts)

    def _recover(self) -> None:
        """Go on at the next line that begins a value."""
        while True:
            if m := _NEXT.search(self._text, self._at):
                self._move(m.end() - 1)
                return
            if self._ended:
                self._move(len(self._text))
                return
            self._move(max(self._at, len(self._text) - _INDENT))
            self._more()


def _unfinished(error: Exception, length: int) -> bool:
    """Whether more text could mend it."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= length - _NEAR
