"""Scrapy's HTTP cache on disk -> fetches: one folder an answer, the last one of each request.

https://docs.scrapy.org/en/latest/topics/downloader-middleware.html (FilesystemCacheStorage).
`pickled_meta` is never read: a pickle runs whatever is in it. `meta` says the same as text.
"""

from __future__ import annotations

import ast
import gzip
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha1
from pathlib import Path
from typing import Any

from recrawl.audit.rows import Row, RowError, read_count, read_time, read_url

LONGEST = 1 << 16  # bytes of `meta`
BLOCK = 1 << 16
_GZIP = b"\x1f\x8b"
_NO_META = "`meta` is no dictionary of URL, status and time"


def read(folder: Path) -> Row | None:
    """The fetch that a folder of the cache holds; None for methods other than GET.

    Bytes are those of headers and body as they were sent. Raises RowError, and OSError where a
    file can't be read.
    """
    try:
        packed = _start(folder / "meta", 2) == _GZIP  # HTTPCACHE_GZIP packs every file once more
        meta = _meta(_start(folder / "meta", LONGEST, packed))
        if str(meta.get("method", "GET")).upper() != "GET":
            return None
        headers = sum(map(len, _blocks(folder / "response_headers", packed)))
        size, digest = _body(_blocks(folder / "response_body", packed))
    except FileNotFoundError as error:
        raise RowError(f"there is no {Path(error.filename).name}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RowError(f"cut off or damaged: {error}") from None
    return Row(
        url=read_url(meta.get("url")),
        time=read_time(meta.get("timestamp")),
        status=read_count(meta.get("status"), "status"),
        bytes=headers + size,
        digest=digest,
    )


def _start(path: Path, size: int, packed: bool = False) -> bytes:
    with gzip.open(path) if packed else path.open("rb") as file:
        return file.read(size)


def _blocks(path: Path, packed: bool) -> Iterator[bytes]:
    with gzip.open(path) if packed else path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _meta(raw: bytes) -> dict[Any, Any]:
    try:
        found = ast.literal_eval(raw.decode("utf-8", "replace").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise RowError(_NO_META) from None
    if not isinstance(found, dict):
        raise RowError(_NO_META)
    return found


def _body(blocks: Iterator[bytes]) -> tuple[int, str]:
    """(bytes as they were sent, SHA-1 of what they say).

    Two gzips of one text differ by their time, so gzip is undone.
    """
    total, size = sha1(usedforsecurity=False), 0
    plain: Callable[[bytes], bytes] = bytes
    for block in blocks:
        if not size and block.startswith(_GZIP):
            plain = zlib.decompressobj(31).decompress
        size += len(block)
        try:
            total.update(plain(block))
        except zlib.error:  # no gzip after all
            plain = bytes
            total.update(block)
    return size, total.hexdigest()
