"""RSS, Atom, RDF or JSON Feed -> one hint a page, with a digest of what its items say.

Markup is recovered by lxml without entities, then read by feedparser as bytes. The digest leaves
dates out: feeds that date every item anew each day (github.com/feedbin/support/issues/287) keep
theirs. A feed shows its newest items only, so what it lacks is no evidence of removal.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import feedparser
from lxml import etree

from recrawl.extract.digests import digest, rules
from recrawl.extract.document import Document, join
from recrawl.extract.structured import parse
from recrawl.model import Hint
from recrawl.sources.dates import believable
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import Limits, plain, utf8
from recrawl.sources.sitemap_sniff import Mender, sniff

MAX_BYTES = 16_000_000
MAX_ITEMS = 20_000
TYPES = (
    "application/rss+xml", "application/atom+xml", "application/rdf+xml",
    "application/feed+json", "application/json", "text/xml", "application/xml",
)  # fmt: skip
_WHITE = b" \t\r\n"
_PARSER_FAULTS = (
    ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError,
    AssertionError,
)  # fmt: skip
_WORDS = ("title", "summary", "content")


@dataclass(slots=True)
class _Item:
    """One item as its feed has it. `link` is resolved; `words` are its texts."""

    link: str
    guid: str
    dates: tuple[str, ...]  # the most telling first
    words: tuple[str, ...]


def read(
    chunks: Iterable[bytes],
    base: str,
    now: float,
    reading: Reading,
    limits: Limits | None = None,
) -> Iterator[Hint]:
    """The hints of one feed. Never raises on what the bytes hold.

    `chunks` are the body as received (packed or not), `base` is the URL it came from. Several
    items of one page are one hint: its date is their latest.

    >>> reading = Reading()
    >>> body = b"<rss><channel><item><link>/a</link><title>A</title></item></channel></rss>"
    >>> [h.url for h in read([body], "http://e.com/feed", 1e9, reading)], reading.complete
    (['http://e.com/a'], True)
    """
    limits = limits or Limits(bytes=MAX_BYTES, urls=MAX_ITEMS)
    body = b"".join(utf8(plain(chunks, limits, reading), reading))
    reading.kind = "feed"
    try:
        items = _items(body, base, reading)
    except _PARSER_FAULTS as error:
        reading.fail(f"unreadable feed: {type(error).__name__}")
    if reading.failed:
        return
    if len(items) > limits.urls:
        reading.cut(Warned.OVER_LIMIT, "", f"more than {limits.urls} items")
    for hint in _pages(items[: limits.urls], base, now, reading):
        reading.hints += 1
        yield hint
    if not items and not reading.shortened:
        reading.warn(Warned.NOTHING_LISTED)
    reading.finish()


def _items(body: bytes, base: str, reading: Reading) -> list[_Item]:
    if body.lstrip(_WHITE)[:1] == b"{":
        return _json_items(body, base, reading)
    found = sniff(body[:65_536])
    if found.kind != "feed":
        reading.fail(found.why or f"a {found.kind}, no feed")
        return []
    if b"<!ENTITY" in body[: found.at]:
        reading.fail("it declares entities: refused")
        return []
    if found.junk:
        reading.warn(Warned.JUNK_BEFORE, "line 1")
    return _xml_items(_sound(body[found.at :], reading), base)


def _sound(markup: bytes, reading: Reading) -> bytes:
    """Well-formed XML: what can be recovered, without any DOCTYPE (so without entities)."""
    mender = Mender()
    markup = mender.feed(markup, last=True)
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, encoding="utf-8"
    )
    try:
        root = etree.fromstring(markup, parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        reading.fail("no markup that can be recovered")
        return b""
    errors = list(parser.error_log)
    ends = (etree.ErrorTypes.ERR_TAG_NOT_FINISHED, etree.ErrorTypes.ERR_DOCUMENT_END)
    if any(e.type in ends for e in errors) or not markup.rstrip().endswith(b">"):
        reading.cut(Warned.TRUNCATED, "", "the markup ends too early")
    elif errors or mender.mended:
        reading.warn(Warned.MALFORMED, "", errors[0].message if errors else "mended")
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True, with_tail=False))


def _xml_items(markup: bytes, base: str) -> list[_Item]:
    if not markup:
        return []
    # Bytes in a stream: feedparser would open a text as a file or a URL.
    parsed = feedparser.parse(
        io.BytesIO(markup),
        response_headers={"content-location": base, "content-type": "text/xml; charset=utf-8"},
        resolve_relative_uris=False,
        sanitize_html=False,
    )
    return [_xml_item(entry) for entry in parsed.entries]


def _xml_item(entry: dict[str, Any]) -> _Item:
    get = dict.get  # feedparser's own answers `updated` with other dates, and warns
    content = "\0".join(str(get(part, "value", "")) for part in get(entry, "content") or ())
    texts = {"title": get(entry, "title"), "summary": get(entry, "summary"), "content": content}
    link = get(entry, "feedburner_origlink") or get(entry, "link")
    if not link:
        link = next((get(one, "href") for one in get(entry, "links") or ()), "")
    dates = (get(entry, "updated"), get(entry, "published"), get(entry, "created"))
    return _Item(
        _text(link),
        _text(get(entry, "id")),
        tuple(_text(date) for date in dates),
        tuple(_text(texts[name]) for name in _WORDS),
    )


def _json_items(body: bytes, base: str, reading: Reading) -> list[_Item]:
    """JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/)."""
    try:
        data = parse(body)
    except ValueError:
        reading.fail("broken JSON")
        return []
    version = data.get("version") if isinstance(data, dict) else None
    items = data.get("items") if isinstance(data, dict) else None
    if "jsonfeed.org" not in _text(version) or not isinstance(items, list):
        reading.fail("JSON, but no JSON Feed")
        return []
    found = []
    for n, item in enumerate(items):
        if isinstance(item, dict):
            found.append(_json_item(item))
        else:
            reading.warn(Warned.BAD_ROW, f"item {n + 1}", "no object")
    return found


def _json_item(item: dict[str, Any]) -> _Item:
    content = _text(item.get("content_html")) or _text(item.get("content_text"))
    return _Item(
        _text(item.get("url")),
        _text(item.get("id")),
        (_text(item.get("date_modified")), _text(item.get("date_published"))),
        (_text(item.get("title")), _text(item.get("summary")), content),
    )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _pages(items: list[_Item], base: str, now: float, reading: Reading) -> Iterator[Hint]:
    """One hint a page, in the order in which the pages first stand in the feed."""
    said: dict[str, list[str]] = {}
    latest: dict[str, float] = {}
    for n, item in enumerate(items):
        url = _address(item, base, f"item {n + 1}", reading)
        if url is None:
            continue
        said.setdefault(url, []).extend(item.words if any(item.words) else ())
        moments = (believable(date, now, reading, url) for date in item.dates)
        moment = next((m for m in moments if m is not None), None)
        if moment is not None:
            latest[url] = max(moment, latest.get(url, moment))
    mark = rules("feed")
    for url, words in said.items():
        content = "\0".join(words).encode("utf-8", "replace")
        says = digest(content, mark) if words else None
        yield Hint(url, f"feed:{base}", modified_at=latest.get(url), digest=says)


def _address(item: _Item, base: str, where: str, reading: Reading) -> str | None:
    """The page of an item: its link, else its guid where that is an address."""
    written = item.link or (item.guid if item.guid.startswith(("http://", "https://")) else "")
    if not written or (written == item.guid and ":" in written and join(base, written) is None):
        reading.warn(Warned.NO_URL, where)
        return None
    url = join(base, written)
    if url is None:
        reading.warn(Warned.BAD_URL, written, "no web address")
    return url


def feeds_of(page: Document) -> list[tuple[str, str]]:
    """(absolute URL, media type) of the feeds that a page names with `link rel=alternate`."""
    found: dict[str, str] = {}
    for node in page.elements("link"):
        rel = node.attrs.sget("rel").lower().split()
        mime = node.attrs.sget("type").partition(";")[0].strip().lower()
        wanted = mime in TYPES and "alternate" in rel
        url = join(page.base, node.attrs.sget("href")) if wanted or "feed" in rel else None
        # application/json is also what other alternates are (WordPress names its API so).
        if url is not None and (mime != "application/json" or "feed" in rel or "feed" in url):
            found.setdefault(url, mime)
    return list(found.items())
