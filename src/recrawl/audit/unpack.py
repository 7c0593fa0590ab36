"""A log as it lies on disk or comes by stdin -> its plain bytes, unpacked by magic bytes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from recrawl.audit.account import DamageError, LogError, optional

STDIN = Path("-")
HEAD = 1 << 16  # bytes that are looked at to tell what a file is
_LAYERS = 3  # a packed file that was packed again, and UTF-16 in it
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class _Filled(io.RawIOBase):
    """A raw stream that fills its reader's buffer, so that `peek` sees a whole head.

    Where the source breaks, what it gave before is handed on first.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read  # b"" at the end only
        self._held = b""
        self._broken: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        view, n = memoryview(buffer), 0
        try:
            while n < len(view) and self._broken is None:
                block = self._held or self._read(len(view) - n)
                if not block:
                    break
                part = block[: len(view) - n]
                self._held = block[len(part) :]
                view[n : n + len(part)] = part
                n += len(part)
        except (DamageError, *_DAMAGE) as error:
            self._broken = _as_damage(error)
        if self._broken is not None and n == 0:
            raise self._broken
        return n


def _as_damage(error: Exception) -> Exception:
    if isinstance(error, DamageError) or (isinstance(error, OSError) and error.errno):
        return error  # an OSError with a number is the disk's; without one, the unpacker's
    return DamageError(f"the file is cut off or damaged: {error}")


@contextmanager
def open_log(path: Path) -> Iterator[io.BufferedReader]:
    """The plain bytes of a file, or of stdin for '-'. Reading them may raise DamageError.

    Raises LogError where the unpacker is missing, and OSError.
    """
    with ExitStack() as stack:
        if path == STDIN:
            raw: BinaryIO | io.RawIOBase = sys.stdin.buffer
        else:
            raw = stack.enter_context(path.open("rb", buffering=0))
        stream = _buffered(raw.read)
        for _ in range(_LAYERS):
            unpacked = _layer(stream, path)
            if unpacked is None:
                break
            stream = _buffered(unpacked)
        yield stream


def _buffered(read: Callable[[int], bytes | None]) -> io.BufferedReader:
    return io.BufferedReader(_Filled(lambda n: read(n) or b""), HEAD)


def _layer(stream: io.BufferedReader, path: Path) -> Callable[[int], bytes] | None:
    """How to read what is packed in a stream; None where nothing is."""
    head = start(stream)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream).read1
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return bz2.BZ2File(stream).read1
    if head.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(stream).read1
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[:1] in b"PQRSTUVWXYZ[\\]^_" and
                                                head[1:4] == b"\x2a\x4d\x18"):  # fmt: skip
        arrow = optional("pyarrow", f"{path} is packed with zstd")
        return arrow.CompressedInputStream(arrow.PythonFile(stream, mode="r"), "zstd").read  # type: ignore[no-any-return]
    if head.startswith(_UTF16):
        blocks = _utf8(stream)
        return lambda _: next(blocks, b"")
    return None


def _utf8(stream: io.BufferedReader) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    while block := stream.read1(HEAD):
        if text := decoder.decode(block):
            yield text.encode("utf-8", "replace")


def start(stream: io.BufferedReader) -> bytes:
    """The first bytes, still to be read; as many as there are where the file breaks off."""
    try:
        return stream.peek(HEAD)[:HEAD]
    except DamageError:
        return b""


_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive: `unzip -p FILE | recrawl audit -`"),
    (b"SQLite format 3\0", "an SQLite database: export the table of fetches as CSV"),
    (b"Obj\x01", "an Avro file: export it as CSV or Parquet"),
    (b"ORC", "an ORC file: export it as CSV or Parquet"),
    (b"ARROW1", "an Arrow file: write it as Parquet"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"\x80\x04", "a pickle: reading one runs whatever is in it, so it is never read"),
)
_TAR_AT = 257


def refuse_foreign(head: bytes, path: Path) -> None:
    """Raise LogError for a known form that is no log, with what to do."""
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            raise LogError(f"{path} is {what}")
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        raise LogError(f"{path} is a tar archive: unpack it and give its folder")
