"""What a log is, by its first bytes: names and endings lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from recrawl.audit import parquet
from recrawl.audit.account import LogError
from recrawl.audit.lines import Cdx, access, squid, weeks
from recrawl.audit.rows import Row, RowError
from recrawl.audit.unpack import HEAD, refuse_foreign

EMPTY, PARQUET, WARC, TABLE = "empty", "Parquet", "WARC", "table"
JSON, JSON_LINES = "JSON", "JSON lines"
ACCESS, SQUID, CDX, WEEKS = "access log", "Squid access log", "CDX", "14-week crawl data"
WEEKS_URLS = "14-week crawl data: URLs"
LOOKED_AT = 20  # first lines
_NEEDS_HOST = "--host"


def one(row: Row | None) -> Iterator[Row]:
    """None or one row, as rows."""
    return iter(() if row is None else (row,))


def sniff(head: bytes, path: Path, host: str = "") -> str:
    """The kind of a log that begins so. Raises LogError for what is no log."""
    refuse_foreign(head, path)
    if head.startswith(parquet.MAGIC):
        return PARQUET
    if head.startswith((b"WARC/", b"filedesc://")):
        return WARC
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text:
        return EMPTY
    if "\0" in text or text.count("\ufffd") > len(text) // 10:
        raise LogError(f"{path} is of no known kind: it holds no text")
    if text.startswith("<"):
        raise LogError(f"{path} is markup, no log")
    lines = [line for line in text.split("\n")[:LOOKED_AT] if line.strip()]
    if len(head) >= HEAD and len(lines) > 1 and len(lines) < LOOKED_AT:
        lines.pop()  # cut off by the end of the head
    objects = sum(map(_is_object, lines))
    if text[0] != "[" and (2 * objects >= len(lines) or (objects and text[0] == "{")):
        return JSON_LINES
    if text[0] in "[{":
        return JSON
    return _of_lines(lines, path, host)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _of_lines(lines: list[str], path: Path, host: str) -> str:
    parsers: dict[str, Callable[[str], Iterator[Row]]] = {
        ACCESS: lambda line: one(access(line, host)),
        SQUID: lambda line: one(squid(line)),
        CDX: Cdx(),
        WEEKS: lambda line: weeks(line, {}),
    }
    for kind, parse in parsers.items():
        fit, rows, homeless = 0, 0, ""
        for line in lines:
            try:
                rows += len(list(parse(line)))
                fit += 1  # other methods and headings fit too
            except RowError as error:
                homeless = str(error) if _NEEDS_HOST in str(error) else homeless
        if homeless and not rows:
            raise LogError(f"{path}: {homeless}")
        if 2 * fit >= len(lines) or (fit and kind == ACCESS):
            return kind
    return TABLE
