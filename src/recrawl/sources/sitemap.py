"""A sitemap, an index of sitemaps, or a text file of URLs -> hints (https://www.sitemaps.org).

What is read is decided by the bytes alone. Malformed input gives what can be read and counted
warnings; what is no sitemap at all (an HTML page, an error page) is `failed`, never an empty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from recrawl.model import Hint
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import Limits, plain, utf8
from recrawl.sources.sitemap_entries import LONGEST, Entries
from recrawl.sources.sitemap_sniff import Sniffed, sniff
from recrawl.sources.sitemap_xml import read_xml

__all__ = ["Limits", "read"]

_DEFAULT = Limits()


def read(
    chunks: Iterable[bytes],
    base: str,
    now: float,
    reading: Reading,
    limits: Limits = _DEFAULT,
) -> Iterator[Hint]:
    """The hints of one file, while it comes in. Never raises on what the bytes hold.

    `chunks` are the body as received (packed or not), `base` is the URL it came from. An index
    yields nothing; its sub-sitemaps are `reading.maps`. Feeds go to the feed reader.

    >>> reading = Reading()
    >>> body = b"<urlset><url><loc>/a</loc><lastmod>1996-01-01</lastmod></url></urlset>"
    >>> [(h.url, h.modified_at) for h in read([body], "http://e.com/s.xml", 1e9, reading)]
    [('http://e.com/a', 820454400.0)]
    >>> reading.kind, reading.complete
    ('sitemap', True)
    """
    blocks = plain(chunks, limits, reading)
    first = next(blocks, b"")
    stream = utf8(chain((first,), blocks), reading)
    head = next(stream, b"")
    found = sniff(head)
    if not found.kind:
        reading.fail(found.why)
    elif found.kind == "feed":
        from recrawl.sources import feed

        yield from feed.read(chain((first,), blocks), base, now, reading)
    else:
        rest = chain((head[found.at :],), stream)
        yield from _read(found, rest, Entries(base, now, reading, limits), reading)


def _read(
    found: Sniffed, stream: Iterator[bytes], entries: Entries, reading: Reading
) -> Iterator[Hint]:
    """What is a sitemap of some kind, in UTF-8 from where it begins."""
    reading.kind = found.kind
    if found.junk:
        reading.warn(Warned.JUNK_BEFORE, "line 1")
    reader = _read_text if found.kind == "text" else read_xml
    yield from reader(stream, entries, reading)
    if entries.empty and not reading.shortened:
        reading.warn(Warned.NOTHING_LISTED)
    reading.finish()


def _read_text(stream: Iterator[bytes], entries: Entries, reading: Reading) -> Iterator[Hint]:
    """One URL a line; what stands behind a tab is left out, as are lines that begin with #."""
    held = b""
    skipping = False  # inside of a line that is too long to be one
    for block in stream:
        lines = (held + block).replace(b"\r", b"\n").split(b"\n")
        held = lines.pop()
        for line in lines:
            if not skipping:
                _line(line, entries)
            skipping = False
        if len(held) > LONGEST:
            if not skipping:
                entries.refuse(held[:200].decode("utf-8", "replace"), "the line is too long")
            held, skipping = b"", True
        yield from entries.take()
        if entries.full:
            return
    if not skipping and not reading.shortened:  # else it may be cut in two
        _line(held, entries)
    yield from entries.take()


def _line(line: bytes, entries: Entries) -> None:
    text = line.decode("utf-8", "replace").partition("\t")[0].strip()
    if not text or text.startswith("#"):
        return
    for url in text.split() if " http" in text else (text,):
        if url[:7].lower() == "http://" or url[:8].lower() == "https://":
            entries.page(url)
        else:
            entries.refuse(url, "no absolute URL")
