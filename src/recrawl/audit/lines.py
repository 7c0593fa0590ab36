"""Lines of text logs -> rows: access logs, CDX and CDXJ, the 14-week crawl data set."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime

from recrawl.audit.rows import Row, RowError, read_count, read_time, read_url

_ACCESS = re.compile(
    r"(?:(?P<vhost>[^\s:]+)(?::\d+)? )?\S+ \S+ \S+ \[(?P<time>[^\]]+)\] "
    r'"(?P<method>[A-Z]+) (?P<target>\S+)(?: HTTP/[\d.]+)?" (?P<status>\d{3}) (?P<bytes>\d+|-)'
)
_CDX_FIELDS = 7  # urlkey timestamp original mimetype statuscode digest length
DAY_ZERO = 1_500_000_000.0  # the 14-week set counts days from a start that it doesn't name


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
    if m["method"] != "GET":
        return None
    target = m["target"]
    if target.startswith("/"):
        owner = m["vhost"] or host
        if not owner:
            raise RowError("a path without its host: give it with --host")
        target = owner + target if "://" in owner else f"http://{owner}{target}"
    try:
        t = datetime.strptime(m["time"], "%d/%b/%Y:%H:%M:%S %z").timestamp()
    except ValueError:
        raise RowError(f"{m['time'][:40]!r} is no time of an access log") from None
    return Row(read_url(target), read_time(t), int(m["status"]), read_count(m["bytes"], "bytes"))


def cdx(line: str) -> Row | None:
    """A line of a CDX (7 or 11 fields) or CDXJ index; None for its heading. Raises RowError."""
    if line.lstrip().startswith(("CDX ", "!")):
        return None
    head = line.split(None, 2)
    if len(head) == 3 and head[2].startswith("{"):
        return _cdxj(head[1], head[2])
    cells = line.split()
    if len(cells) < _CDX_FIELDS:
        raise RowError(f"{len(cells)} fields, a CDX line has 7 or 11")
    size = cells[8] if len(cells) >= 11 else cells[6]
    digest = None if cells[5] == "-" else cells[5]
    status = read_count(cells[4], "status")
    return Row(read_url(cells[2]), read_time(cells[1]), status, read_count(size, "length"), digest)


def _cdxj(stamp: str, text: str) -> Row:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise RowError("the JSON of a CDXJ line doesn't parse") from None
    if not isinstance(fields, dict):
        raise RowError("the JSON of a CDXJ line is no object")
    digest = fields.get("digest")
    return Row(
        read_url(fields.get("url")),
        read_time(stamp),
        read_count(fields.get("status"), "status"),
        read_count(fields.get("length"), "length"),
        None if digest is None else str(digest),
    )


def weeks(line: str, urls: dict[str, str]) -> Iterator[Row]:
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
    except (ValueError, TypeError, RecursionError):
        raise RowError("no days and list of [days, changed]") from None
    if not all(0 <= x < 36_500 for x in (day, *(gap for gap, _ in steps))):
        raise RowError("days are not between 0 and 36,500")
    yield Row(url, DAY_ZERO + day * 86_400.0)
    for gap, changed in steps:
        day += gap
        yield Row(url, read_time(DAY_ZERO + day * 86_400.0), changed=changed)
