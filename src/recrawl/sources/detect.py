"""What kind of source a file is, by how it begins; type and name where that leaves it open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recrawl.model import Hint
from recrawl.sources import archive, feed, sitemap, urllist
from recrawl.sources.reading import Reading
from recrawl.sources.sitemap_bytes import BLOCK, Limits, plain, utf8
from recrawl.sources.sitemap_sniff import sniff

KINDS = ("sitemap", "feed", "archive", "list", "search", "robots")
"""What `recrawl sources` can read; an index is a sitemap, a text file of URLs too."""

_CDX = re.compile(rb"\A(?: CDX [A-Za-z] [A-Za-z ]+$|\S+ (?:19|20)\d{12} (?:\S|\{))", re.MULTILINE)
_CDX_JSON = re.compile(rb"\A\s*(?:\[\s*\[\s*\"(?:urlkey|original|timestamp)\"|"
                       rb"\{[^{}]*\"timestamp\"\s*:\s*\"\d{14}\")")  # fmt: skip
_JSON_FEED = re.compile(rb"\"version\"\s*:\s*\"https?:\\?/\\?/(?:www\.)?jsonfeed\.org")
_ROBOTS = re.compile(
    rb"^[ \t]*(?:user-?agent|disallow|allow|site-?map|crawl-?delay)[ \t]*:", re.IGNORECASE
)
_TABLES = ("text/csv", "text/tab-separated-values")


def detect(head: bytes, content_type: str = "", url: str = "") -> str:
    """One of `KINDS`, 'html' for a page, '' for nothing that is known.

    `head` is the beginning of the body, packed or not: its first block (64 kB) is looked at.

    >>> detect(b"<rss><channel>"), detect(b"User-agent: *"), detect(b"<!doctype html><p>x")
    ('feed', 'robots', 'html')
    """
    scratch = Reading()
    text = b"".join(utf8(plain([head[:BLOCK]], Limits(bytes=BLOCK), scratch), scratch))
    mime = content_type.partition(";")[0].strip().lower()
    path = url.partition("?")[0].lower()
    start = text.lstrip()[:1]
    if not start:
        return ""
    if _CDX.match(text.lstrip(b"\r\n")) or _CDX_JSON.match(text):
        return "archive"
    if start in (b"{", b"["):
        return "feed" if start == b"{" and _JSON_FEED.search(text) else "list"
    found = sniff(text)
    if found.kind in ("sitemap", "sitemap-index", "feed"):
        return found.kind.partition("-")[0]
    if start == b"<":
        return "html" if "HTML" in found.why or mime == "text/html" else ""
    if path.endswith("/robots.txt") or _robots(text):
        return "robots"
    if mime in _TABLES or path.endswith((".csv", ".tsv")) or _table(text):
        return "list"
    return "sitemap" if found.kind == "text" else ""


def _robots(text: bytes) -> bool:
    """Its first line that is no comment is one of robots.txt."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith(b"#"))
    return _ROBOTS.match(next(lines, b"")) is not None


def _table(text: bytes) -> bool:
    """Does its first row name columns, or is it an address with more in other columns?"""
    first = text.lstrip().partition(b"\n")[0].lower()
    names = {cell.strip(b" \"'\r") for cell in re.split(rb"[,;\t]", first)}
    if names & {b"url", b"loc", b"link", b"href", b"uri", b"page_url"}:
        return True
    return re.match(rb"https?://[^\s,;]+(?:\t|[,;]\s*\d)", first) is not None


def read_as(
    kind: str, chunks: Iterable[bytes], base: str, now: float, reading: Reading
) -> Iterator[Hint]:
    """The hints of a source of that kind. What has no reader here is `failed`."""
    if kind == "sitemap":
        yield from sitemap.read(chunks, base, now, reading)
    elif kind == "feed":
        yield from feed.read(chunks, base, now, reading)
    elif kind == "archive":
        yield from archive.read(chunks, base, now, reading)
    elif kind in ("list", "search"):
        yield from urllist.read(chunks, base, now, reading, kind=kind)
    else:
        reading.kind = kind
        reading.fail("an HTML page" if kind == "html" else "no sitemap, feed, archive or list")
