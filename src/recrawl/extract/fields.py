"""Named fields of a page: where each stands, and what stood there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from recrawl.extract.document import Document
from recrawl.extract.structured import at_path, decimal_text, types_of

EXAMPLES = "'css:.price', 'css:a.next@href', 'jsonld:offers.price', 'meta:og:title' or 'json:a.b'"

_ATTRIBUTE = re.compile(r"[A-Za-z_:][\w:.-]*")
_EMPTY = LexborHTMLParser("<p></p>")


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """Where a field stands: `kind` is css, jsonld, meta or json."""

    kind: str
    query: str  # selector, or the name of a meta element
    attribute: str = ""  # css only: take this attribute, not the text
    path: tuple[str, ...] = ()  # jsonld and json only

    @classmethod
    def parse(cls, text: str) -> FieldSpec:
        """A field as written in a project's configuration. Raises ValueError that says the fix.

        >>> FieldSpec.parse("css:a.next@href")
        FieldSpec(kind='css', query='a.next', attribute='href', path=())
        >>> FieldSpec.parse("jsonld:offers.price").path
        ('offers', 'price')
        """
        kind, colon, query = text.partition(":")
        kind, query = kind.strip().lower(), query.strip()
        if not colon or kind not in ("css", "jsonld", "meta", "json"):
            raise ValueError(f"{text!r} says not where the field stands; write {EXAMPLES}")
        if not query:
            raise ValueError(f"{text!r} names nothing after {kind!r}; write {EXAMPLES}")
        if kind == "css":
            return _css(text, query)
        if kind == "meta":
            return cls(kind, query.lower())
        path = tuple(query.removeprefix("$.").split("."))
        if not all(path):
            raise ValueError(
                f"{text!r} has an empty step; write a path as in 'jsonld:offers.price'"
            )
        return cls(kind, query, path=path)

    @property
    def text(self) -> str:
        """The specification in one spelling.

        >>> FieldSpec.parse("CSS: a@href").text
        'css:a@href'
        """
        return f"{self.kind}:{self.query}" + (f"@{self.attribute}" if self.attribute else "")


def _css(text: str, query: str) -> FieldSpec:
    selector, at, attribute = query.rpartition("@")
    if not (at and _ATTRIBUTE.fullmatch(attribute)):
        selector, attribute = query, ""
    try:
        _EMPTY.css(selector or "*")
    except SelectolaxError:
        raise ValueError(
            f"{text!r}: {selector!r} is not a CSS selector; write one as in 'css:.price'"
        ) from None
    return FieldSpec("css", selector or "*", attribute.lower())


def extract_fields(doc: Document, specs: Mapping[str, FieldSpec]) -> dict[str, Any]:
    """What stands in each field; None where it is missing or blank.

    Text has its white space collapsed. Where the field's name or place speaks of a price, a plain
    decimal loses its trailing zeros, so that 2879.2 and 2879.20 are the same amount.
    """
    found: dict[str, Any] = {}
    for name, spec in specs.items():
        value = _READERS[spec.kind](doc, spec)
        if isinstance(value, str):
            value = " ".join(value.split()) or None
        if "price" in name.lower() or "price" in spec.query.lower():
            value = decimal_text(value)
        found[name] = value
    return found


def _from_css(doc: Document, spec: FieldSpec) -> str | None:
    node = doc.tree.css_first(spec.query) if doc.is_html else None
    if node is None:
        return None
    return node.attrs.get(spec.attribute) if spec.attribute else node.text(separator=" ")


def _from_meta(doc: Document, spec: FieldSpec) -> str | None:
    for node in doc.elements("meta"):
        attrs = node.attrs
        if spec.query in (attrs.sget("property").lower(), attrs.sget("name").lower()):
            return attrs.get("content")
    return None


def _from_jsonld(doc: Document, spec: FieldSpec) -> Any:
    """The first object that has the path; a first step that is a @type picks among objects."""
    for entity in doc.jsonld:
        path = spec.path[1:] if spec.path[0] in types_of(entity) else spec.path
        value = at_path(entity, path)
        if value is not None and value != "":
            return value
    return None


def _from_json(doc: Document, spec: FieldSpec) -> Any:
    return at_path(doc.data, spec.path)


_READERS = {"css": _from_css, "meta": _from_meta, "jsonld": _from_jsonld, "json": _from_json}
