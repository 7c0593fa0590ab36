"""A page's text in two tiers: all that a reader sees, and the main text without what is volatile.

The hash of the first differs in 8 % of visits to pages whose bytes differ but whose content does
not, that of the second in 1 % (measured on 3,744 consecutive pairs).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.extract.document import Document
from recrawl.extract.mask import masked
from recrawl.extract.structured import at_path, canonical, decimal_text, types_of

_UNSEEN = ("script", "style", "noscript", "iframe")
_ATTRIBUTED = "[hidden],[style],[role]"
_CHROME = ("nav", "aside", "time", "header", "footer", "form")
_CONTENT = frozenset(("main", "article", "section"))
_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "complementary", "timer", "status")
)
_ADS = ".ad,.ads,[class*=advert]"
_DIGIT = re.compile(r"[0-9]")
_SPACE = ord(" ")
_SPACES = bytes.maketrans(b"\n\t\r\f\v\0", b"      ")
_PRODUCT = ("name", "sku", "offers.price", "offers.priceCurrency", "offers.availability")
_ARTICLE = ("headline",)
_ESSENTIAL = {
    "Product": _PRODUCT, "Offer": ("price", "priceCurrency", "availability"),
    "Article": _ARTICLE, "NewsArticle": _ARTICLE, "BlogPosting": _ARTICLE,
}  # fmt: skip


@dataclass(frozen=True)
class Tiers:
    """UTF-8 with white space collapsed, in Unicode normal form C.

    In `visible`, the page's chrome comes after its main text, wherever it stood: so both tiers
    cost one pass. `main` is a function of it, computed when first asked.
    """

    visible: bytes
    unmasked: bytes
    verbatim: bytes = b""  # after the main text, never masked
    masks: bool = field(default=True, compare=False)

    @cached_property
    def main(self) -> bytes:
        """The main text, what is volatile in it masked."""
        return (masked(self.unmasked) if self.masks else self.unmasked) + self.verbatim

    def __iter__(self) -> Iterator[bytes]:
        yield from (self.visible, self.main)


def tiers(doc: Document) -> Tiers:
    """Both tiers of a body. Takes the document's tree apart: ask last.

    JSON is compared in canonical form, other text as it stands, anything else byte by byte.
    The essentials of a page's JSON-LD belong to both: a price that only scripts show is content.
    """
    if doc.is_json:
        return _two(canonical(doc.data))
    if doc.is_binary:
        return Tiers(doc.body, doc.body, masks=False)
    if not doc.is_html:
        return _two(_collapsed(doc.utf8.decode("utf-8", "replace")))
    facts = essentials(doc)
    extra = b"\n" + canonical(facts) if facts else b""
    title = _collapsed(doc.title)
    unseen = [doc.elements(name) for name in _UNSEEN]
    around = {name: doc.elements(name) for name in _CHROME}
    tree = doc.take_tree()
    root = tree.body or tree.root
    if root is None:
        return _two(title + extra)
    chrome = _collapsed(" ".join(_take_chrome(tree, around, _drop_unseen(tree, unseen))))
    main = _text(root)
    visible = b"\n".join((title, main, chrome)) + extra
    return Tiers(visible, title + b"\n" + (main or chrome), extra)


def essentials(doc: Document) -> dict[str, Any]:
    """What the page's first JSON-LD product, offer or article says of itself.

    >>> html = b'<script type="application/ld+json">{"@type":"Offer","price":"9.90"}</script>'
    >>> essentials(Document(html, "text/html", "https://e.com/"))
    {'price': '9.9'}
    """
    for entity in doc.jsonld:
        for kind in types_of(entity):
            if kind in _ESSENTIAL:
                found = {
                    path.rpartition(".")[2]: at_path(entity, tuple(path.split(".")))
                    for path in _ESSENTIAL[kind]
                }
                return {
                    k: decimal_text(v) if k == "price" else v
                    for k, v in found.items()
                    if isinstance(v, str | int | float) and v != ""
                }
    return {}


def _two(text: bytes) -> Tiers:
    return Tiers(text, text)


def _collapsed(text: str) -> bytes:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.replace("\xa0", " "))
    raw = text.encode("utf-8", "replace").translate(_SPACES)
    codes = np.frombuffer(raw, np.uint8)
    space = codes == _SPACE
    again = space[1:] & space[:-1]
    if np.count_nonzero(again):
        raw = raw[:1] + codes[1:][~again].tobytes()
    return raw.strip()


def _text(node: LexborNode) -> bytes:
    return _collapsed(node.text(separator=" ", strip=True, skip_empty=True))


def _drop_unseen(tree: LexborHTMLParser, unseen: Iterable[list[LexborNode]]) -> list[LexborNode]:
    """Take out what no reader sees; returns the elements whose role is not content."""
    for nodes in unseen:
        _drop(nodes)
    roles = []
    for node in tree.css(_ATTRIBUTED):
        attrs = node.attrs
        style = attrs.sget("style").replace(" ", "").lower()
        if "hidden" in attrs or "display:none" in style:
            node.decompose()
        elif attrs.sget("role").lower() in _ROLES:
            roles.append(node)
    return roles


def _take_chrome(
    tree: LexborHTMLParser, around: Mapping[str, list[LexborNode]], roles: list[LexborNode]
) -> list[str]:
    """Take out navigation, boilerplate, times and advertisements; returns what they said.

    An element within one that is out already says nothing more.
    """
    said: list[str] = []
    for name, nodes in around.items():
        _drop((n for n in nodes if _is_chrome(n, name)), said)
    _drop(roles, said)
    _drop(tree.css(_ADS), said)
    return said


def _is_chrome(node: LexborNode, name: str) -> bool:
    """A header, footer or form within the content is content; so is a form that shows amounts."""
    if name in ("nav", "aside", "time"):
        return True
    parent, steps = node.parent, 0
    while parent is not None and steps < 12:
        if parent.tag in _CONTENT:
            return False
        parent, steps = parent.parent, steps + 1
    return name != "form" or not _DIGIT.search(node.text())


def _drop(nodes: Iterable[LexborNode], said: list[str] | None = None) -> None:
    for node in nodes:
        if said is not None:
            said.append(node.text(separator=" ", strip=True, skip_empty=True))
        node.decompose()
