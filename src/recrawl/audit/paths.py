"""What the user named -> the files to read: folders, patterns, caches; the time in a name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from recrawl.audit.account import LogError
from recrawl.audit.rows import RowError, read_time
from recrawl.audit.unpack import STDIN

URLS_NAME = "url_urlid_hostid"
_BESIDE = (URLS_NAME, "urlid_imp", "urlid_chrate")  # of the 14-week set, no histories
_MAGIC = set("*?[")
_STAMP = re.compile(
    r"(?<!\d)((?:19|20)\d\d)-?([01]\d)-?([0-3]\d)"
    r"(?:[T_ .-]?([0-2]\d)[-:._h]?([0-5]\d)(?:[-:._m]?([0-5]\d))?"
    r"(?:\.\d+)?(?:([+-]\d\d)[-:]?(\d\d))?)?(?!\d)"
)
_EPOCH = re.compile(r"(?<!\d)(1\d{9}(?:\d{3})?)(?!\d)")


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read, or the folder of one answer in a Scrapy HTTP cache."""

    path: Path
    cached: bool = False


def time_in(path: Path) -> float | None:
    """The time that a file or one of its folders is named by, as Scrapy's `%(time)s` does.

    >>> time_in(Path("feed_2023-11-14T22-13-20+00-00.jsonl")), time_in(Path("2023-11-14/a.csv"))
    (1700000000.0, 1699920000.0)
    >>> time_in(Path("items.json"))
    """
    for part in reversed(path.parts):
        if m := _STAMP.search(part):
            day, clock, zone = "-".join(m.groups()[:3]), m.groups()[3:6], m.groups()[6:]
            hour = f"T{clock[0]}:{clock[1]}:{clock[2] or '00'}" if clock[0] else ""
            east = f"{zone[0]}:{zone[1]}" if zone[0] else ""
            text = day + hour + east
        elif m := _EPOCH.search(part):
            text = m[1]
        else:
            continue
        try:
            return read_time(text)
        except RowError:
            continue
    return None


def beside(path: Path) -> bool:
    """Whether it is a file of the 14-week set that holds no histories."""
    return path.name.startswith(_BESIDE)


def expand(named: Iterable[Path]) -> Iterator[Input]:
    """Every file once. Raises LogError for a pattern that fits nothing, and OSError."""
    seen: set[int] = set()
    for path in named:
        for found in _matching(path):
            for item in _walk(found) if found.is_dir() else [Input(found)]:
                key = hash(str(item.path) if item.path == STDIN else os.path.realpath(item.path))
                if key not in seen:
                    seen.add(key)
                    yield item


def _matching(path: Path) -> list[Path]:
    if path == STDIN or path.exists() or not _MAGIC & set(str(path)):
        if path != STDIN:
            path.stat()  # a file that isn't there is told before others are read
        return [path]
    root = Path(path.anchor or ".")
    found = sorted(p for p in root.glob(str(path.relative_to(path.anchor))) if p.exists())
    if not found:
        raise LogError(f"{path}: no file fits the pattern")
    return found


def _walk(folder: Path) -> Iterator[Input]:
    """The files in a folder and below, by name; hidden ones are no logs, a pipe would block."""
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(f for f in folders if not f.startswith(".") or f == ".scrapy")
        names = set(files)
        if "response_headers" in names and names & {"meta", "pickled_meta"}:
            folders.clear()
            yield Input(here, cached=True)
            continue
        for name in sorted(files):
            if not name.startswith(".") and (here / name).is_file():
                yield Input(here / name)
