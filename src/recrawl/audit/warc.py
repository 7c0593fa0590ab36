"""WARC and ARC -> fetches: responses, revisits and resources (warcio)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stderr
from hashlib import sha1
from pathlib import Path
from typing import Any

from recrawl.audit.account import Account, optional
from recrawl.audit.rows import Row, RowError, read_count, read_digest, read_time, read_url

BLOCK = 1 << 16
NOT_MODIFIED = "server-not-modified"
LONGEST = 1 << 20  # bytes of a line of headers
_KEPT = ("response", "revisit", "resource")
_UNSOUND = ("time", "disconnect", "unspecified")  # a body cut off at random has a random hash
_END = b"\r\n\r\n"
_SKEWED = "Record not followed by newline"


class _Source:
    """What warcio reads from: whatever is there, so that nothing is lost where it breaks."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self.end = b""

    def read(self, size: int = BLOCK) -> bytes:
        block = self._stream.read1(size)
        self.end = (self.end + block)[-len(_END) :] if block else self.end
        return block


def read(account: Account, path: Path, stream: io.BufferedReader) -> Iterator[tuple[int, Row]]:
    """The fetches of a file, numbered by record. Raises what `stream` does, after them."""
    archive = optional("warcio.archiveiterator", f"{path} is a WARC file")
    is_warc = stream.peek(1).startswith(b"W")
    source, errors, number, last_bad = _Source(stream), _errors(), 0, -1
    records = archive.ArchiveIterator(source, arc2warc=True)
    whole_line = records.reader.readline  # of any length, in time that grows with its square
    records.reader.readline = lambda n=None: whole_line(min(n or LONGEST, LONGEST))
    while True:
        number, said = number + 1, io.StringIO()
        try:
            with redirect_stderr(said):  # where warcio says what it stumbles over
                record = next(records, None)
                row = None if record is None else _row(record)
        except RowError as error:
            account.reject(path, number, str(error))
            last_bad = number
            continue
        except errors as error:
            why = " ".join(str(error).split())[:200]
            account.breaks(path, number, f"no record, and what follows can't be found: {why}")
            return
        if _SKEWED in said.getvalue():
            account.reject(path, number - 1, "the record is longer than it says")
        if record is None:
            break
        if row is not None:
            yield number, row
    if is_warc and source.end != _END and last_bad != number - 1:
        account.breaks(path, number, "the file ends within a record")


def _errors() -> tuple[type[Exception], ...]:
    """What warcio raises on files that are no archive."""
    parser = optional("warcio.statusandheaders", "").StatusAndHeadersParserException
    failed = optional("warcio.exceptions", "").ArchiveLoadFailed
    return (parser, failed, EOFError, ValueError, TypeError, AttributeError, LookupError)


def _row(record: Any) -> Row | None:
    """A fetch of a web page; None for other records. Raises RowError."""
    head = record.rec_headers
    url = str(head.get_header("WARC-Target-URI") or "")
    if record.rec_type not in _KEPT or not url.lower().startswith(("http://", "https://")):
        return None
    page, time = read_url(url), read_time(head.get_header("WARC-Date"))
    digest = head.get_header("WARC-Payload-Digest")
    if record.rec_type == "revisit":
        return _revisit(record, page, time, read_digest(digest))
    unsound = head.get_header("WARC-Truncated") in _UNSOUND
    digest = None if unsound else digest or _computed(record)
    row = Row(page, time, _status(record), record.length, read_digest(digest))
    return _whole(record, row)


def _revisit(record: Any, page: str, time: float, digest: str | None) -> Row:
    """The digest says what it is the same as, which need not be the visit before.

    A copy of known content was sent in full, but only its headers are kept.
    """
    status, size = _status(record), record.length or None
    if NOT_MODIFIED in str(record.rec_headers.get_header("WARC-Profile")):
        return _whole(record, Row(page, time, 304, size))
    told = record.http_headers and record.http_headers.get_header("Content-Length")
    body = read_count(told, "Content-Length") if told else None
    size = None if size is None or body is None else size + body
    same = None if digest is not None else False
    return _whole(record, Row(page, time, status, size, digest, changed=same))


def _status(record: Any) -> int | None:
    if record.http_headers is None:
        return None
    return read_count(record.http_headers.get_statuscode(), "status")


def _whole(record: Any, row: Row) -> Row:
    """The row, if all of its record is there. Raises RowError."""
    if record.length is None:
        raise RowError("the record doesn't say its length")
    if record.rec_type == "response" and record.http_headers is None:
        raise RowError("the record holds no HTTP answer")
    while record.raw_stream.read(BLOCK):
        pass
    if record.raw_stream.tell() < record.length:
        raise RowError("the file ends within the record")
    return row


def _computed(record: Any) -> str:
    """SHA-1 of the content without its transfer and content coding."""
    total, content = sha1(usedforsecurity=False), record.content_stream()
    while block := content.read(BLOCK):
        total.update(block)
    return total.hexdigest()
