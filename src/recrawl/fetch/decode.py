"""A body as received -> the body that was meant, never larger than the caps allow."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import brotli

from recrawl.model import Limits

RATIO_FROM = 1_000_000  # bytes decoded before the ratio is judged
MAX_LAYERS = 3
_FEED = 4_096  # bytes in at a time: what is lost of a body that turns out corrupt
_PIECE = 65_536  # bytes out at a time
_GZIP, _EITHER, _RAW = 31, 47, -15  # window bits: gzip; gzip or zlib; no wrapper


class CodingError(Exception):
    """A body that could not be decoded whole; carries what could be, and why."""

    def __init__(self, message: str, partial: bytes, flag: str) -> None:
        super().__init__(message)
        self.partial = partial
        self.flags = frozenset((flag,))


class Damaged(CodingError):  # noqa: N818 - the field's word
    """Corrupt or cut."""


class TooLarge(CodingError):  # noqa: N818 - the field's word
    """A bomb, or a page beyond the caps; `partial` is empty, nothing is kept of it."""


class _Corrupt(Exception):  # noqa: N818 - internal signal
    """What both libraries' errors become."""


def decode(coding: str, wire: bytes, limits: Limits) -> tuple[bytes, frozenset[str]]:
    """Content-Encoding value and body -> the decoded body and flags.

    Codings are undone last first (RFC 9110, 8.4): gzip, x-gzip, deflate (with or without its zlib
    wrapper), br, identity; at most three layers, each capped at `limits.decoded` bytes and, above
    1 MB, at `limits.ratio` times the wire. Flags: `mislabelled-encoding` (the body is plain),
    `unknown-encoding` (body left as it is), `trailing-data` (junk after the coded body, dropped).
    Raises TooLarge and Damaged.

    >>> import gzip
    >>> decode("gzip", gzip.compress(b"hello"), Limits())
    (b'hello', frozenset())
    """
    layers = [
        c for c in (c.strip().lower() for c in coding.split(",")) if c not in ("", "identity")
    ]
    if not layers or not wire:
        return wire, frozenset()
    if len(layers) > MAX_LAYERS:
        raise Damaged(f"{len(layers)} layers of Content-Encoding", b"", "layers")
    ratio_cap = max(RATIO_FROM, limits.ratio * len(wire))
    cap, word = min((limits.decoded, "decoded-cap"), (ratio_cap, "ratio-cap"))
    flags: set[str] = set()
    body = wire
    for layer in reversed(layers):
        if layer in ("gzip", "x-gzip", "deflate"):
            body = _bounded(_inflate(layer, body, flags), body, cap, word, flags)
        elif layer == "br":
            body = _bounded(_unbrotli(body), body, cap, word, flags)
        else:
            flags.add("unknown-encoding")
            break  # what lies under an unknown layer can't be reached
    return body, frozenset(flags)


def _bounded(pieces: Iterator[bytes], coded: bytes, cap: int, word: str, flags: set[str]) -> bytes:
    """All pieces of one layer joined. Stops at `cap`, so memory is bounded whatever comes."""
    out: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > cap:
                raise TooLarge(f"{word}: more than {cap} bytes from {len(coded)}", b"", word)
            out.append(piece)
    except _Corrupt as error:
        if not size and _is_plain(coded):
            flags.add("mislabelled-encoding")
            return coded
        partial = b"".join(out)
        raise Damaged(f"coded body damaged or cut: {error}", partial, "truncated") from None
    return b"".join(out)


def _is_plain(body: bytes) -> bool:
    """True where a body labelled as coded looks like text."""
    start = body[:64]
    return all(32 <= c < 127 or c in (9, 10, 13) for c in start)


def _inflate(layer: str, wire: bytes, flags: set[str]) -> Iterator[bytes]:
    """Pieces of a gzip (any number of members, RFC 1952) or deflate body. Raises _Corrupt."""
    if layer == "deflate":
        # RFC 9110 means zlib, but servers send the bare stream too; zlib's header checks itself.
        wrapped = len(wire) > 1 and wire[0] & 15 == 8 and (wire[0] << 8 | wire[1]) % 31 == 0
        bits = _EITHER if wrapped or wire[:2] == b"\x1f\x8b" else _RAW
    else:
        bits = _GZIP
    at = 0
    while at < len(wire):
        engine = zlib.decompressobj(bits)
        try:
            while not engine.eof:
                data = engine.unconsumed_tail
                if not data:
                    data = wire[at : at + _FEED]
                    at += len(data)
                    if not data:
                        raise _Corrupt("it ends too early")
                if piece := engine.decompress(data, _PIECE):
                    yield piece
        except zlib.error as error:
            raise _Corrupt(str(error)) from None
        at -= len(engine.unused_data)
        if at < len(wire) and not (bits != _RAW and wire[at : at + 2] == b"\x1f\x8b"):
            flags.add("trailing-data")
            return


def _unbrotli(wire: bytes) -> Iterator[bytes]:
    """Pieces of a brotli body (RFC 7932). Raises _Corrupt."""
    engine = brotli.Decompressor()
    try:
        for at in range(0, len(wire), _FEED):
            piece = engine.process(wire[at : at + _FEED], output_buffer_limit=_PIECE)
            while piece or not engine.can_accept_more_data():
                yield piece
                piece = engine.process(b"", output_buffer_limit=_PIECE)
    except brotli.error as error:
        raise _Corrupt(str(error)) from None
    if not engine.is_finished():
        raise _Corrupt("it ends too early")
