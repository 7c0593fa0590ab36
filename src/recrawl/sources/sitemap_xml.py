"""The XML of a sitemap or an index -> its entries, one by one; no tree is built.

By local names only, since namespaces are missing, old or wrong in many files; what belongs to
images, videos and news stands inside elements of its own and is told apart by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from lxml import etree

from recrawl.model import Hint
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import blocks
from recrawl.sources.sitemap_entries import LONGEST, Entries
from recrawl.sources.sitemap_sniff import Mender

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_ENTRY = frozenset({"url", "sitemap"})
_PARENTS = _ENTRY | {"urlset", "sitemapindex", "news"}
_FIELDS = frozenset({"loc", "lastmod", "publication_date"})
_SIBLINGS = _FIELDS | {"changefreq", "priority", "link", "image", "video", "news"}  # of a loc
_EXTENSIONS = ("image", "video", "news", "pagemap", "mobile")
_KEPT = LONGEST + 64  # characters of one text, so that a longer one is seen to be too long
_EACH = 1_000  # URLs in one entry, alternates of one page; there are fewer languages
_DEEPEST = 200_000  # open elements: one for each entry that is never closed, not without end
_FED = 8_192  # bytes at a time: how far it goes on after a limit
_NAMES = 1_000  # different ones; lxml keeps each for as long as the process lives


def read_xml(stream: Iterator[bytes], entries: Entries, reading: Reading) -> Iterator[Hint]:
    """The hints of UTF-8 blocks that begin with the root element."""
    target = _Target(entries, reading)
    parser = etree.XMLParser(
        target=target, recover=True, resolve_entities=False, no_network=True, load_dtd=False,
        huge_tree=False, encoding="utf-8",
    )  # fmt: skip
    mender = Mender()
    try:
        for block in chain(blocks(stream, _FED), (b"",)):
            mended = mender.feed(block, last=not block)
            if mender.wild:
                reading.cut(Warned.MALFORMED, "", "a hundred tags are opened and none is closed")
                break
            parser.feed(mended)
            yield from entries.take()
            if entries.full:
                return
        target.at_end()  # what the parser closes from here on was never closed in the file
        parser.close()
    except etree.LxmlError as error:
        target.at_end()
        reading.cut(Warned.MALFORMED, "", str(error))
    if mender.mended:
        reading.warn(Warned.MALFORMED, "", "stray & or control characters", times=mender.mended)
    _judge(parser, target, reading)
    yield from entries.take()


def _judge(parser: etree.XMLParser, target: _Target, reading: Reading) -> None:
    """Was all of it read? An error of the parser may have cost an entry."""
    for error in parser.feed_error_log:
        where = f"line {error.line}"
        if error.type_name.startswith("NS_"):
            reading.warn(Warned.NAMESPACE, where, error.message)
        elif target.ended or "Premature end" not in error.message:
            reading.cut(Warned.MALFORMED, where, error.message.strip())
    if not target.ended and not reading.shortened:
        reading.cut(Warned.TRUNCATED, "", "the document has no end")


class _Target:
    """What the parser calls. `self.stack` holds the local names of the open elements."""

    def __init__(self, entries: Entries, reading: Reading) -> None:
        self.ended = False
        self.stack: list[str] = []
        self._entries = entries
        self._reading = reading
        self._root = ""  # its namespace
        self._names: dict[str, str] = {}  # tag -> its local name
        self._others: set[str] = set()  # attributes and namespaces
        self._over = False
        self._text: list[str] | None = None  # of the field that is being read
        self._size = 0
        self._depth = 0  # of that field
        self._frozen = False  # its text is whole
        self._clear()

    def _clear(self) -> None:
        self._open = ""  # 'url', 'sitemap' or ''
        self._locs: list[str] = []
        self._lastmod = self._published = ""
        self._alternates: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        name = self._names.get(tag) or self._name(tag)
        stack = self.stack
        parent = stack[-1] if stack else ""
        stack.append(name)
        if attributes and not attributes.keys() <= self._others:
            self._count(attributes)
        if len(stack) > _DEEPEST:
            self._entries.stop(f"elements nested {_DEEPEST} deep")
        if name in _ENTRY:
            self._text = None
            self._flush()
            self._open = name
        elif self._text is not None:
            self._nested(name, "".join(self._text))
        elif parent in _PARENTS:
            if name in _FIELDS:
                self._text, self._size, self._depth, self._frozen = [], 0, len(stack), False
            elif name == "link":
                self._alternate(attributes)

    def _nested(self, name: str, text: str) -> None:
        """A field was not closed before the next one, or holds markup: half a URL is none."""
        if name in _SIBLINGS:
            self._frozen = True
        elif text.strip():
            self._entries.refuse(text, f"<{name[:40]}> inside")
            self._text = None

    def start_ns(self, prefix: str, uri: str) -> None:
        """A namespace is declared."""
        self._count((prefix, uri))

    def _count(self, names: Iterable[str]) -> None:
        self._others.update(names)
        if len(self._others) > _NAMES:
            self._entries.stop(f"more than {_NAMES} attributes and namespaces")

    def data(self, data: str) -> None:
        """A piece of text."""
        if self._text is not None and self._size < _KEPT and not self._frozen:
            self._text.append(data[:_KEPT])
            self._size += len(data)

    def end(self, tag: str) -> None:
        """An element ends; the stack is the parser's own, so it is the last one that began."""
        if self._over:
            return
        name = self.stack.pop()
        if not self.stack:
            self._flush()
            self.ended = True
        elif name in _ENTRY:
            self._flush()
        elif self._text is not None and len(self.stack) < self._depth:
            self._keep(name, "".join(self._text))
            self._text = None

    def close(self) -> None:
        """The parser is done."""

    def at_end(self) -> None:
        """The bytes ended: an entry that is still open is kept if its URL was whole."""
        self._over = True
        if self._locs:
            self._flush()

    def _keep(self, name: str, text: str) -> None:
        if name == "lastmod":
            self._lastmod = text
        elif name == "publication_date":
            self._published = text
        elif len(self._locs) >= _EACH:
            self._reading.cut(Warned.OVER_LIMIT, text, f"more than {_EACH} URLs in one entry")
        else:
            self._locs.append(text)
            if not self._open:  # straight below the root
                self._open = "sitemap" if self.stack[-1] == "sitemapindex" else "url"
                self._flush()

    def _flush(self) -> None:
        if self._open == "sitemap":
            for loc in self._locs:
                self._entries.sub_map(loc, self._lastmod)
        elif self._open:
            modified = self._lastmod if self._lastmod.strip() else self._published
            for loc in self._locs:
                self._entries.page(loc, modified, tuple(self._alternates))
        if self._open and not self._locs:
            self._entries.nameless()
        self._clear()

    def _alternate(self, attributes: Mapping[str, str]) -> None:
        href = attributes.get("href", "")
        relations = attributes.get("rel", "alternate").lower().split()
        if not href or "alternate" not in relations:
            return
        if len(self._alternates) < _EACH:
            self._alternates.append(href)
        else:
            self._reading.warn(Warned.OVER_LIMIT, href, f"more than {_EACH} alternates of a page")

    def _name(self, tag: str) -> str:
        """The local name in lower case; '-' for an extension's tag that looks like a core one."""
        namespace, _, local = tag.rpartition("}")
        namespace = namespace[1:]
        name = local.rpartition(":")[2].lower()
        if not self.stack:
            self._root = namespace
            if namespace.rstrip("/") != _NAMESPACE:
                said = f"namespace {namespace[:100]!r}" if namespace else "no namespace"
                self._reading.warn(Warned.NAMESPACE, "the root element", said)
        elif namespace != self._root and name in ("loc", "lastmod", "url", "sitemap"):
            low = namespace.lower()
            name = "-" if any(word in low for word in _EXTENSIONS) else name
        if len(self._names) >= _NAMES:
            self._entries.stop(f"more than {_NAMES} kinds of elements")
        self._names[tag] = name or "-"
        return name or "-"
