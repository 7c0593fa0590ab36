"""The bytes of a sitemap as they came -> plain UTF-8 in blocks of one size, within the limits.

Everything downstream sees the same blocks however the bytes were cut on the way, so the way they
came in can't change what is read.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from recrawl.extract.charset import codec_of
from recrawl.sources.reading import Reading, Warned

BLOCK = 65_536
PROTOCOL_BYTES = 52_428_800  # https://www.sitemaps.org/protocol.html: 50 MB, unpacked
PROTOCOL_URLS = 50_000

_GZIP = b"\x1f\x8b"
_LAYERS = 2  # a packed file that a server packs once more
_COMPRESSED = 4_096  # bytes in at a time: what is lost of a file that turns out damaged
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w:.+-]{2,40})", re.IGNORECASE)
_LONE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one file is read. Beyond the protocol's own limits it is read with a warning."""

    bytes: int = 4 * PROTOCOL_BYTES  # unpacked
    urls: int = 20 * PROTOCOL_URLS
    maps: int = PROTOCOL_URLS  # sub-sitemaps of an index


def blocks(chunks: Iterable[bytes], size: int = BLOCK) -> Iterator[bytes]:
    """The same bytes in blocks of `size`; the last one may be shorter, none is empty."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        whole = len(held) // size * size
        for at in range(0, whole, size):
            yield bytes(held[at : at + size])
        del held[:whole]
    if held:
        yield bytes(held)


def plain(chunks: Iterable[bytes], limits: Limits, reading: Reading) -> Iterator[bytes]:
    """Unpacked, in blocks. Its first bytes say whether a file is packed: names and types lie."""
    stream = blocks(chunks, _COMPRESSED)
    for _ in range(_LAYERS):
        first = next(stream, b"")
        stream = chain((first,) if first else (), stream)
        if not first.startswith(_GZIP):
            break
        stream = blocks(_metered(_gunzip(stream, reading), limits.bytes, reading), _COMPRESSED)
    return blocks(_metered(stream, limits.bytes, reading))


def _gunzip(stream: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Every member of a gzip file (RFC 1952), as far as it is sound."""
    engine = zlib.decompressobj(31)
    try:
        for data in stream:
            if engine.eof:
                data = engine.unused_data + data
                if len(data) > 1 and not data.startswith(_GZIP):
                    return  # padding behind the file
                engine = zlib.decompressobj(31)
            while data:
                yield engine.decompress(data, BLOCK)
                data = engine.unconsumed_tail
                if engine.eof and (data := engine.unused_data).startswith(_GZIP):
                    engine = zlib.decompressobj(31)
                elif engine.eof:
                    break
    except zlib.error as error:
        reading.cut(Warned.TRUNCATED, "", f"damaged gzip: {error}")
        return
    if not engine.eof:
        reading.cut(Warned.TRUNCATED, "", "the gzip file ends too early")


def _metered(stream: Iterable[bytes], limit: int, reading: Reading) -> Iterator[bytes]:
    """As much as the limit allows: memory and time are bounded whatever is sent."""
    size = 0
    for data in stream:
        if (
            size <= PROTOCOL_BYTES < size + len(data)
            and Warned.OVER_PROTOCOL not in reading.warnings
        ):
            reading.warn(Warned.OVER_PROTOCOL, "", "the file is larger than 50 MB")
        if size + len(data) > limit:
            yield data[: limit - size]
            reading.cut(Warned.OVER_LIMIT, "", f"not read beyond {limit} bytes")
            return
        size += len(data)
        yield data


def charset(head: bytes) -> tuple[str, int]:
    """(codec, bytes of the byte order mark) of a document that begins so."""
    for mark, marked in _BOMS:
        if head.startswith(mark):
            return marked, len(mark)
    if head[1:2] == b"\0" != head[:1]:
        return "utf-16-le", 0
    if head[:1] == b"\0" != head[1:2]:
        return "utf-16-be", 0
    found = _ENCODING.search(head)
    codec = codec_of(found[1].decode("ascii")) if found else None
    if codec is None or codec.startswith("utf-16"):  # that could not be read as ASCII
        return "utf-8", 0
    return codec, 0


def utf8(stream: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """The text in UTF-8. Octets that are no UTF-8 become triplets, as in the addresses they are
    part of; in other charsets what can't be read becomes U+FFFD.
    """
    head = next(stream, b"")
    codec, mark = charset(head)
    if codec != "utf-8" and not codec.startswith("utf-16") and _is_utf8(head):
        reading.warn(Warned.CHARSET, "", f"declared as {codec}, but it is UTF-8")
        codec = "utf-8"
    errors = "surrogateescape" if codec == "utf-8" else "replace"
    decoder = codecs.getincrementaldecoder(codec)(errors)
    for data in chain((head[mark:],), stream):
        yield _encoded(decoder.decode(data), codec, reading)
    yield _encoded(decoder.decode(b"", final=True), codec, reading)


def _encoded(text: str, codec: str, reading: Reading) -> bytes:
    if codec != "utf-8":
        if odd := text.count("\ufffd"):
            reading.warn(Warned.CHARSET, "", f"octets that are not {codec}", times=odd)
        return text.encode("utf-8", "replace")
    try:
        return text.encode()
    except UnicodeEncodeError:
        text, odd = _LONE.subn(lambda m: f"%{ord(m[0]) - 0xDC00:02X}", text)
        reading.warn(Warned.CHARSET, "", "octets that are not UTF-8", times=odd)
        return text.encode("utf-8", "replace")


def _is_utf8(head: bytes) -> bool:
    """True where a legacy charset is declared, yet there is UTF-8 beyond ASCII and no other."""
    if head.isascii():
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
