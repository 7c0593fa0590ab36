"""What a document is by how it begins: a sitemap, an index, a feed, a list of URLs, or none.

Content types, file names and status lines are not asked: servers set them wrong, and answer
with error pages in place of sitemaps.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import NamedTuple

_TOKEN = re.compile(
    rb"(?P<comment><!--(?:.*?(?P<end>-->))?)|(?P<pi><\?(?:[^>]*(?P<close>>))?)|<!DOCTYPE(?P<doctype>[^>\[]*)"
    rb"(?P<subset>\[)?|<(?P<tag>[A-Za-z_][\w.:-]*)",
    re.IGNORECASE | re.DOTALL,
)
_ROOTS = {
    "urlset": "sitemap", "sitemapindex": "sitemap-index",
    "rss": "feed", "feed": "feed", "rdf": "feed", "channel": "feed",
}  # fmt: skip
_PAGE = frozenset({"html", "head", "body", "title", "meta", "script", "noscript", "frameset"})
_ROBOTS = re.compile(
    rb"^[ \t]*(?:user-agent|(?:dis)?allow|sitemap)[ \t]*:", re.IGNORECASE | re.MULTILINE
)
_URL_LINE = re.compile(rb"https?://[^\s/]", re.IGNORECASE)


class Sniffed(NamedTuple):
    """`kind` is 'sitemap', 'sitemap-index', 'feed', 'text', or '' with `why` it is none."""

    kind: str
    at: int = 0  # where the document begins
    why: str = ""
    junk: bool = False  # something stands before it


def sniff(head: bytes) -> Sniffed:
    """Judge by the first block, in UTF-8 without byte order mark.

    >>> sniff(b" <?xml version='1.0'?><urlset>")
    Sniffed(kind='sitemap', at=22, why='', junk=True)
    >>> sniff(b"<!doctype html><p>Not found").why
    'an HTML page'
    """
    if not head.strip():
        return Sniffed("", why="it is empty")
    end = 0  # of what was understood so far
    junk = head[:1].isspace() and head.lstrip().startswith(b"<?xml")
    strange = ""
    for token in _TOKEN.finditer(head):
        junk = junk or bool(head[end : token.start()].strip())
        end = token.end()
        if (token["comment"] and not token["end"]) or (token["pi"] and not token["close"]):
            break
        if token["doctype"] is not None:
            if token["doctype"].strip().lower().startswith(b"html"):
                return Sniffed("", why="an HTML page")
            if token["subset"]:
                return Sniffed("", why="it declares entities (DOCTYPE with a subset): refused")
        elif token["tag"]:
            name = token["tag"].rpartition(b":")[2].decode("ascii", "replace").lower()
            if name in _ROOTS:
                return Sniffed(_ROOTS[name], token.start(), "", junk or bool(strange))
            if name in _PAGE:
                return Sniffed("", why="an HTML page")
            strange = strange or name
    return _other(head, strange)


def _other(head: bytes, strange: str) -> Sniffed:
    """No root element of any sitemap or feed: a list of URLs, or why it is nothing."""
    lines = [line.strip() for line in head.splitlines()]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    urls = sum(_URL_LINE.match(line) is not None for line in lines)
    if not head.lstrip().startswith((b"<", b"{", b"[")) and urls * 2 >= len(lines) and urls:
        return Sniffed("text")
    if head.lstrip().startswith(b"<"):
        what = f"its first element is <{strange[:40]}>: no sitemap" if strange else ""
        return Sniffed("", why=what or "no root element in its first bytes")
    if head.lstrip()[:1] in (b"{", b"["):
        return Sniffed("", why="JSON, no sitemap")
    if _ROBOTS.search(head):
        return Sniffed("", why="a robots.txt, no sitemap")
    return Sniffed("", why="neither a sitemap nor a list of URLs")


_STRAY = re.compile(
    rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(?:([A-Za-z][A-Za-z0-9]{1,31});)?"
)
_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32)])  # no XML holds these, even escaped
_CDATA, _CDATA_END = b"<![CDATA[", b"]]>"
_UNCLOSED = 100
_HELD = 48  # longer than any reference and any delimiter that a block may cut in two


class Mender:
    """Blocks of almost-XML -> blocks without stray ampersands and control characters.

    A recovering parser drops both with what follows: `?a=1&b=2` would come out as `?a=1=2`.

    >>> Mender().feed(b"<loc>/?a=1&b=2&amp;c</loc>", last=True)
    b'<loc>/?a=1&amp;b=2&amp;c</loc>'
    """

    def __init__(self) -> None:
        self.mended = 0
        self.wild = False  # a hundred tags were opened and none closed: read no further
        self._open = 0  # tags that are open at the end of the last block
        self._tail = b""
        self._literal = False  # inside of CDATA, where an ampersand stands for itself

    def feed(self, block: bytes, *, last: bool = False) -> bytes:
        """The next bytes; a little is held back until the `last` ones."""
        clean = block.translate(None, _CONTROLS)
        self.mended += len(block) - len(clean)
        text = self._tail + clean
        out: list[bytes] = []
        at = 0
        while True:
            mark = _CDATA_END if self._literal else _CDATA
            end = text.find(mark, at)
            if end < 0:
                break
            end += len(mark)
            out.append(self._part(text[at:end]))
            self._literal = not self._literal
            at = end
        cut = len(text) if last else max(at, self._safe(text))
        out.append(self._part(text[at:cut]))
        self._tail = text[cut:]
        return self._watched(b"".join(out))

    def _watched(self, text: bytes) -> bytes:
        """For each `<` libxml2 looks for its `>`, through all that it was fed: quadratic work."""
        parts = text.split(b">")
        opened = self._open + parts[0].count(b"<")
        long = [part for part in parts[1:] if len(part) >= _UNCLOSED]
        most = max([opened, *(part.count(b"<") for part in long)])
        self.wild = self.wild or most >= _UNCLOSED
        self._open = parts[-1].count(b"<") if len(parts) > 1 else opened
        return text

    def _safe(self, text: bytes) -> int:
        """Where to cut: before what might be the beginning of a reference or a delimiter."""
        start = max(len(text) - _HELD, 0)
        marks = (b"]",) if self._literal else (b"&", b"<")
        found = [i for i in (text.find(mark, start) for mark in marks) if i >= 0]
        return min(found, default=len(text))

    def _part(self, text: bytes) -> bytes:
        if self._literal or b"&" not in text:
            return text
        text, odd = _STRAY.subn(_mended, text)
        self.mended += odd
        return text


def _mended(found: re.Match[bytes]) -> bytes:
    """`&eacute;`, which XML does not know, -> `&#233;`; `&copy=1` -> `&amp;copy=1`."""
    name = found[1]
    chars = html5.get(name.decode("ascii") + ";") if name else None
    if chars is None:
        return b"&amp;" + found[0][1:]
    return b"".join(b"&#%d;" % ord(char) for char in chars)
