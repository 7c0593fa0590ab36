"""An answer as it came over the wire -> what it means: the pure half of every fetcher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from recrawl.fetch.decode import Damaged, TooLarge, decode
from recrawl.model import Blame, Kind, Limits, Outcome, WireCost
from recrawl.units import DAY

Headers = tuple[tuple[str, str], ...]
REDIRECTS = frozenset((301, 302, 303, 307, 308))
DENIALS = frozenset((401, 403, 407, 451))
EMPTY = frozenset((204, 205))


@dataclass(frozen=True, slots=True)
class Exchange:
    """How and when an answer was got: what its bytes alone do not say."""

    cost: WireCost
    started: float = 0.0
    finished: float = 0.0
    conditional: bool = False  # the request carried a validator
    by_proxy: bool = False  # a proxy that reads plain HTTP may have answered in the target's name
    final_ip: str = ""


def final_head(lines: Sequence[bytes]) -> tuple[bytes, bool]:
    """The lines of all heads of one exchange -> the last head, and whether it is whole.

    Interim (1xx) and CONNECT heads precede the answer's, trailers of a chunked body follow it.
    A head cut before its blank line is not whole: libcurl reports that as a success.
    """
    raw = b"".join(lines)
    if raw.endswith(b"\r\n\r\n") and raw.count(b"HTTP/") == raw.count(b"\r\n\r\n") == 1:
        return raw, True  # nearly always
    start = next((i for i in range(len(lines) - 1, -1, -1) if lines[i][:5] == b"HTTP/"), None)
    if start is None:
        return b"", False
    for end in range(start, len(lines)):
        if lines[end] in (b"\r\n", b"\n"):
            return b"".join(lines[start : end + 1]), True
    return b"".join(lines[start:]), False


def parse_head(raw: bytes) -> Headers:
    """A raw head -> its fields in order: names lower-cased, values trimmed, both latin-1.

    The status line is left out; folded lines (RFC 9112, 5.2) are joined with one space; lines
    without a colon are dropped.

    >>> parse_head(b'HTTP/1.1 200 OK\\r\\nETag: "a"\\r\\nX: 1\\r\\n  2\\r\\n\\r\\n')
    (('etag', '"a"'), ('x', '1 2'))
    """
    fields: list[tuple[str, str]] = []
    for line in raw.decode("latin-1").split("\n")[1:]:
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        name, colon, value = line.partition(":")
        if colon:
            fields.append((name.strip().lower(), value.strip(" \t\r")))
    return tuple(fields)


def retry_after(value: str | None, now: float) -> float | None:
    """Retry-After (RFC 9110, 10.2.3), seconds or a date -> seconds from `now`, at most a day.

    None where there is no such header or it says nothing that can be read.

    >>> retry_after("7", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 0.0)
    (7.0, 60.0)
    >>> retry_after("soon", 0.0), retry_after("999999999999", 0.0)
    (None, 86400.0)
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), DAY)
    try:
        when = parsedate_to_datetime(text)
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return max(0.0, min(seconds, DAY))


def _as_text(value: str) -> str:
    """A field's value as UTF-8 where its bytes are that, else as the latin-1 it was read as."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


def _judge(status: int, first: dict[str, str], by_proxy: bool) -> tuple[Kind, Blame, str]:
    """The meaning of a status that does not depend on the body."""
    if status == 304:
        return Kind.NOT_MODIFIED, Blame.NOBODY, ""
    if status in REDIRECTS and first.get("location"):
        return Kind.REDIRECT, Blame.NOBODY, ""
    if status == 429 or (status == 503 and "retry-after" in first):
        return Kind.THROTTLED, Blame.TARGET, f"status {status}"
    if status in (404, 410):
        return Kind.GONE, Blame.NOBODY, ""
    if status == 407 and by_proxy:
        return Kind.PROXY_ERROR, Blame.ROUTE, "the proxy asks for credentials (407)"
    if status in DENIALS:
        return Kind.DENIED, Blame.TARGET, f"status {status}"
    if 500 <= status < 600:
        return Kind.SERVER_ERROR, Blame.TARGET, f"status {status}"
    if status == 206:
        return Kind.INCOMPLETE, Blame.TARGET, "a part of the page was sent unasked (206)"
    if 200 <= status < 300:
        return Kind.OK, Blame.NOBODY, ""
    if 100 <= status < 200:
        return Kind.PROTOCOL_ERROR, Blame.TARGET, f"the last answer is an interim one ({status})"
    missing = " without a Location" if status in REDIRECTS else ""
    return Kind.CLIENT_ERROR, Blame.TARGET, f"status {status}{missing}"


def _coding(headers: Headers) -> str:
    """All Content-Encoding fields as one (RFC 9110, 5.3)."""
    return ",".join(value for name, value in headers if name == "content-encoding")


def _bare_flags(status: int, conditional: bool) -> frozenset[str]:
    """What there is to say of an answer that has no body."""
    if status in EMPTY:
        return frozenset(("empty",))
    return frozenset(("unsolicited",)) if status == 304 and not conditional else frozenset()


def classify(
    status: int, headers: Headers, wire_body: bytes, limits: Limits, exchange: Exchange
) -> Outcome:
    """A whole answer -> its outcome; pure. Dates are judged at `exchange.finished`.

    Bodies are decoded for every status (an error page says what blocked a visit), but only a
    2xx answer fails by its coding: `decode-error` with what could be decoded, or `capped` where
    a bomb exceeded `limits.decoded` or `limits.ratio`. `wire_body` is always kept.
    """
    first = dict(reversed(headers))
    kind, blame, detail = _judge(status, first, exchange.by_proxy)
    body, flags = b"", _bare_flags(status, exchange.conditional)
    if status in EMPTY or status == 304:
        pass
    elif "content-encoding" not in first:
        body = wire_body
    else:
        try:
            body, flags = decode(_coding(headers), wire_body, limits)
        except (TooLarge, Damaged) as error:
            body, flags = error.partial, error.flags
            if kind is Kind.OK:
                kind = Kind.CAPPED if isinstance(error, TooLarge) else Kind.DECODE_ERROR
                blame, detail = Blame.TARGET, str(error)
    return Outcome(
        kind=kind,
        cost=exchange.cost,
        started=exchange.started,
        finished=exchange.finished,
        status=status,
        headers=headers,
        body=body,
        wire_body=wire_body,
        location=_as_text(first["location"]) if kind is Kind.REDIRECT else None,
        retry_after=retry_after(first.get("retry-after"), exchange.finished),
        blame=blame,
        flags=flags,
        detail=detail,
        final_ip=exchange.final_ip,
    )
