"""Lines of text logs -> rows: access logs, CDX and CDXJ, the 14-week crawl data set."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from recrawl.audit.account import Account
from recrawl.audit.rows import Row, RowError, read_count, read_digest, read_time, read_url

LONGEST = 1 << 22  # bytes of a line
_ACCESS = re.compile(
    r"(?:(?P<vhost>[^\s:]+)(?::\d+)? )?\S+ \S+ \S+ \[(?P<day>\d\d/[A-Za-z]{3}/\d{4}):"
    r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d):(?P<second>[0-6]\d) (?P<zone>[+-]\d{4})\] "
    r'"(?P<request>[^"\\]*(?:\\.[^"\\]*)*)" (?P<status>\d{3}) (?P<bytes>\d+|-)(?:\s|\Z)'
)
_REQUEST = re.compile(r"GET (\S+)(?: HTTP/[\d.]+)?")
_SQUID = re.compile(
    r"(?P<time>\d{9,10}\.\d{1,6})\s+-?\d+\s+\S+\s+\w+/(?P<status>\d{3})\s+(?P<bytes>\d+)\s+"
    r"(?P<method>[A-Z_]+)\s+(?P<url>\S+)\s"
)
_CDX_FORMS = {  # letters of https://archive.org/web/researcher/cdx_legend.php by their number
    7: "NbamskS", 9: "NbamskrVg", 10: "NbamskrMVg", 11: "NbamskrMSVg",
}  # fmt: skip
DAY_ZERO = 1_500_000_000.0  # the 14-week set counts days from a start that it doesn't name


class Names(Protocol):
    """URLs by id; a dict will do."""

    def get(self, key: str, default: str, /) -> str:
        """The URL of an id, or `default`."""


def text_lines(account: Account, path: Path, raw: io.BufferedReader) -> Iterator[tuple[int, str]]:
    """(number, line); too long ones are bad rows."""
    number = 0
    while line := raw.readline(LONGEST):
        number += 1
        if len(line) == LONGEST and not line.endswith(b"\n"):
            account.reject(path, number, "the line is longer than 4 MB")
            while (rest := raw.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            continue
        yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")


def access(line: str, host: str = "") -> Row | None:
    """A line of an Apache or nginx access log, common or combined; None for other methods.

    A forward proxy logs absolute URLs. A reverse one logs paths: of the host in a first column,
    or of `host`. Raises RowError.

    >>> access('h - - [14/Nov/2023:22:13:20 +0000] "GET http://a.b/ HTTP/1.1" 304 0 "-" "-"')
    Row(url='http://a.b/', time=1700000000.0, status=304, bytes=0, digest=None, \
changed=None, page_type=None)
    """
    m = _ACCESS.match(line)
    if m is None:
        raise RowError("no line of a common or combined access log")
    wanted = _REQUEST.fullmatch(m["request"])
    if wanted is None:  # another method, or bytes that were no request
        return None
    target, owner = wanted[1], m["vhost"] or host
    if target.startswith("/") and not owner:
        raise RowError("a path without its host: give it with --host")
    url, status = read_url(target, owner), int(m["status"])
    clock = 3600 * int(m["hour"]) + 60 * int(m["minute"]) + int(m["second"])
    return Row(url, _day(m["day"], m["zone"]) + clock, status, read_count(m["bytes"], "bytes"))


@lru_cache(maxsize=64)  # a day holds many lines
def _day(day: str, zone: str) -> float:
    return read_time(f"{day}:00:00:00 {zone}")


def squid(line: str) -> Row | None:
    """A line of Squid's own access log; None for other methods. Raises RowError.

    >>> squid("1700000000.100 9 ::1 TCP_MISS/200 507 GET http://a.b/ - HIER_DIRECT/b text/html")
    Row(url='http://a.b/', time=1700000000.1, status=200, bytes=507, digest=None, \
changed=None, page_type=None)
    """
    m = _SQUID.match(line)
    if m is None:
        raise RowError("no line of a Squid access log")
    if m["method"] != "GET":
        return None
    return Row(read_url(m["url"]), read_time(m["time"]), int(m["status"]), int(m["bytes"]))


def cdx(line: str, form: str = "") -> Row | None:
    """A line of a CDX or CDXJ index; None for its heading. Raises RowError.

    `form` is the heading's letters; without one the number of fields tells them.
    """
    if line.lstrip().startswith(("CDX ", "!")):
        return None
    head = line.split(None, 2)
    if len(head) == 3 and head[2].startswith("{"):
        return _cdxj(head[1], head[2])
    cells = line.split()
    form = form or _CDX_FORMS.get(min(len(cells), 11), "")
    if not form or len(cells) < len(form):
        raise RowError(f"{len(cells)} fields, a CDX line has {len(form) or '7, 9, 10 or 11'}")
    by = dict(zip(form, cells, strict=False))
    return _archived(by.get("a"), by.get("b"), by.get("m"), by.get("s"), by.get("k"), by.get("S"))


class Cdx:
    """Lines of one index, the first of which may say what the fields are.

    >>> [len(list(Cdx()(line))) for line in (" CDX N b a", "a)/ 20231114221320 http://a/ - - - 1")]
    [0, 1]
    """

    def __init__(self) -> None:
        self._form = ""

    def __call__(self, line: str) -> Iterator[Row]:
        """No row or one. Raises RowError."""
        cells = line.split()
        if cells[:1] == ["CDX"]:
            self._form = "".join(c[0] for c in cells[1:])
        row = cdx(line, self._form)
        return iter(() if row is None else (row,))


def _archived(
    url: object, stamp: object, mime: object, status: object, digest: object, size: object
) -> Row:
    """A capture. A revisit's length is that of a note on the visit, not of what was sent."""
    revisit = mime == "warc/revisit"
    known = read_digest(digest)
    return Row(
        read_url(url),
        read_time(stamp),
        read_count(status, "status"),
        None if revisit else read_count(size, "length"),
        known,
        changed=False if revisit and known is None else None,
    )


def _cdxj(stamp: str, text: str) -> Row:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise RowError("the JSON of a CDXJ line doesn't parse") from None
    if not isinstance(fields, dict):
        raise RowError("the JSON of a CDXJ line is no object")
    mime = fields.get("mime") or fields.get("mimetype")
    known = (fields.get(k) for k in ("status", "digest", "length"))
    return _archived(fields.get("url"), stamp, mime, *known)


def weeks(line: str, urls: Names) -> Iterator[Row]:
    """A line of `urlid_offset_history.txt`: URL id, days to the first crawl, `[[days, changed]]`.

    `urls` maps ids to URLs; an id that isn't in it stands for itself. Raises RowError.

    >>> [r.changed for r in weeks("5\\t5.514\\t[[1.104, 0], [1.473, 1]]", {})]
    [None, False, True]
    """
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != 3:
        raise RowError(f"{len(cells)} fields, a line of the 14-week set has 3")
    url = urls.get(cells[0], f"http://unknown.invalid/{cells[0]}")
    try:
        day = float(cells[1])
        steps = [(float(gap), bool(changed)) for gap, changed in json.loads(cells[2])]
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise RowError("no days and list of [days, changed]") from None
    if not all(0 <= x < 36_500 for x in (day, *(gap for gap, _ in steps))):
        raise RowError("days are not between 0 and 36,500")
    yield Row(url, DAY_ZERO + day * 86_400.0)
    for gap, changed in steps:
        day += gap
        yield Row(url, read_time(DAY_ZERO + day * 86_400.0), changed=changed)
