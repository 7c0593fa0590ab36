"""A body as it came, read at most once: charset, kind, one parsed tree, title, base, JSON-LD."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.extract import structured
from recrawl.extract.bounds import bounded
from recrawl.extract.charset import Decoded, decode

_HTML = ("text/html", "application/xhtml+xml")
_WHITE = b" \t\n\r\f\v\0"
_WEB = ("http://", "https://")
_NAMED = (
    "a,area,aside,base,footer,form,frame,header,iframe,link,meta,nav,noscript,script,style,time,"
    "title"
)
C0_SPACE = "".join(map(chr, range(33)))
"""What the URL standard trims from an address: C0 controls and space."""


class Document:
    """One answer's body. Every property is computed when first asked and never raises.

    `body` is the decoded content (no transfer or content coding), `content_type` the header or
    None, `url` the absolute address that was fetched.
    """

    def __init__(self, body: bytes, content_type: str | None, url: str) -> None:
        self.body = body
        self.content_type = content_type
        self.url = url
        self._tree: LexborHTMLParser | None = None
        self._named: dict[str, list[LexborNode]] | None = None

    @cached_property
    def mime(self) -> str:
        """Media type in lower case, '' if none was sent."""
        return (self.content_type or "").partition(";")[0].strip().lower()

    @cached_property
    def _decoded(self) -> Decoded:
        return decode(self.body, self.content_type)

    @property
    def utf8(self) -> bytes:
        """The whole body in UTF-8, without byte-order mark."""
        return self._decoded.utf8

    @property
    def charset(self) -> str:
        """The charset that the body is in, as Python's codecs name it."""
        return self._decoded.charset

    @property
    def charset_flags(self) -> frozenset[str]:
        """See `charset.Decoded`."""
        return self._decoded.flags

    @cached_property
    def _bounded(self) -> tuple[bytes, frozenset[str]]:
        return bounded(self.utf8)

    @property
    def parse_flags(self) -> frozenset[str]:
        """What had to be done to the page before it was safe to parse, see `bounds.bounded`."""
        return self._bounded[1] if self.is_html else frozenset()

    @cached_property
    def is_binary(self) -> bool:
        """No text: images, archives and the like are compared byte by byte."""
        if self.mime.startswith(("image/", "audio/", "video/", "font/")):
            return self.mime != "image/svg+xml"
        if self.mime.startswith("text/") or self.charset.startswith("utf-16"):
            return False
        return b"\0" in self.body[:1024].strip(b"\0")

    @cached_property
    def _json(self) -> tuple[bool, Any]:
        if self.utf8[:256].lstrip(_WHITE)[:1] in (b"{", b"[") or "json" in self.mime:
            try:
                return True, structured.parse(self.utf8)
            except ValueError:
                pass
        return False, None

    @property
    def is_json(self) -> bool:
        """The body is JSON, whatever the header says."""
        return self._json[0]

    @property
    def data(self) -> Any:
        """The parsed JSON of a JSON body, else None."""
        return self._json[1]

    @cached_property
    def is_html(self) -> bool:
        """The header says HTML; or it says nothing useful and the body begins like HTML."""
        if self.mime in _HTML:
            return not self.is_json
        if self.mime not in ("", "application/octet-stream", "unknown/unknown", "*/*"):
            return False
        start = self.utf8[:256].lstrip(_WHITE)[:1]
        return not self.is_json and not self.is_binary and start == b"<" and not self._is_xml()

    def _is_xml(self) -> bool:
        head = self.utf8[:1024].lower()
        return head.lstrip(_WHITE).startswith(b"<?xml") and b"<html" not in head

    @property
    def tree(self) -> LexborHTMLParser:
        """The parsed page; not to be changed (`take_tree` gives one that may be)."""
        if self._tree is None:
            self._tree = LexborHTMLParser(self._bounded[0])
        return self._tree

    def take_tree(self) -> LexborHTMLParser:
        """The parsed page to keep and change. Whoever asks for `tree` afterwards gets a new one,
        so ask last for what takes the tree apart.
        """
        tree, self._tree, self._named = self.tree, None, None
        return tree

    def elements(self, name: str) -> list[LexborNode]:
        """The tree's elements of that name, in document order; none where the body isn't HTML.

        Knows the names that links, texts and facts stand in, found in one walk: a walk for each
        costs as much as parsing the page.
        """
        if self._named is None:
            named: dict[str, list[LexborNode]] = {name: [] for name in _NAMED.split(",")}
            for node in self.tree.css(_NAMED) if self.is_html else ():
                named[node.tag or ""].append(node)
            self._named = named
        return self._named[name]

    @cached_property
    def title(self) -> str:
        """The text of the first title that is not part of a drawing, white space collapsed."""
        for node in self.elements("title"):
            parent = node.parent
            if parent is None or parent.tag in ("head", "body", "html", "noscript"):
                return " ".join(node.text().split())
        return ""

    @cached_property
    def base(self) -> str:
        """What the page's links resolve against (HTML standard, "document base URL")."""
        for node in self.elements("base"):
            href = node.attrs.get("href")
            if href is not None:
                return join(self.url, href) or self.url
        return self.url

    @cached_property
    def _jsonld(self) -> tuple[list[dict[str, Any]], int]:
        scripts = (n for n in self.elements("script") if "ld+json" in n.attrs.sget("type").lower())
        return structured.entities(n.text() for n in scripts)

    @property
    def jsonld(self) -> list[dict[str, Any]]:
        """The objects of the page's JSON-LD, @graph and arrays opened."""
        return self._jsonld[0]

    @property
    def jsonld_broken(self) -> int:
        """How many of the page's JSON-LD scripts could not be read."""
        return self._jsonld[1]


def join(base: str, href: str) -> str | None:
    """`href` seen from `base`, absolute and without fragment; None where that is no web address.

    >>> join("https://e.com/a/b", "../c#d"), join("https://e.com/", "javascript:1")
    ('https://e.com/c', None)
    """
    try:
        url = ada_url.join_url(base, href.strip(C0_SPACE)).partition("#")[0]
    except ValueError:
        return None
    return url if url.startswith(_WEB) else None
