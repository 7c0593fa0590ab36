"""A page's record: what it says, and the two digests that "changed" is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recrawl.extract.digests import digest, rules, same_rules
from recrawl.extract.document import Document
from recrawl.extract.fields import FieldSpec, extract_fields
from recrawl.extract.structured import canonical
from recrawl.extract.text import essentials, tiers
from recrawl.model import Page, Record


@dataclass(frozen=True, slots=True)
class NoRecord:
    """The page was fetched, but what it should say was not found in it."""

    evidence: str


def make_record(
    doc: Document, specs: Mapping[str, FieldSpec], page: Page | None = None
) -> Record | NoRecord:
    """What the page says. Takes the document's tree apart where no fields are named: ask last.

    With fields, they are the record and both digests are theirs. Without, the record shows the
    title and the essentials of the page's JSON-LD, and the digests are those of the two tiers of
    `extract.text`. The second is a function of the first: where that of `page`, the row before
    this visit, stands for the same text, both are the row's.
    """
    mark = rules_of(specs)
    if specs:
        fields = extract_fields(doc, specs)
        missing = _missing(doc, specs, fields)
        if missing:
            return NoRecord(missing)
        one = digest(canonical(fields), mark)
        return Record(fields, one, one)
    shown: dict[str, Any] = {"title": doc.title} if doc.title else {}
    if doc.is_html:
        shown |= essentials(doc)
    text = tiers(doc)
    one = digest(text.visible, mark)
    if page is not None and page.digest1 == one and page.digest2 is not None:
        return Record(shown, one, page.digest2)
    return Record(shown, one, digest(text.main, mark))


def _missing(
    doc: Document, specs: Mapping[str, FieldSpec], fields: Mapping[str, Any]
) -> str | None:
    """Why these fields are no reading of the page; None if they are one."""
    if all(value is None for value in fields.values()):
        return f"not one field was found in the page: {', '.join(fields)}"
    structured = [name for name, spec in specs.items() if spec.kind == "jsonld"]
    if structured and doc.jsonld_broken and all(fields[name] is None for name in structured):
        return f"the page's JSON-LD can't be read, so these are missing: {', '.join(structured)}"
    return None


def rules_of(specs: Mapping[str, FieldSpec]) -> bytes:
    """The mark, within each digest, of the rules by which pages with these fields are read."""
    return _mark(tuple(sorted((name, spec.text) for name, spec in specs.items())))


@lru_cache(maxsize=256)
def _mark(named: tuple[tuple[str, str], ...]) -> bytes:
    return rules(*(f"{name}={text}" for name, text in named))


def comparable(page: Page, specs: Mapping[str, FieldSpec]) -> bool:
    """Has the page a base that was read by these rules?

    Where not, ask without validators: a 304 would leave the page unread by the new rules.
    """
    return page.digest1 is not None and same_rules(page.digest1, rules_of(specs))
