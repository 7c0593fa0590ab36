"""What an outcome says of its page: one verdict, with its evidence.

Only a whole answer with content is read. Whatever failed, was refused or was cut says nothing
about the content: it is neither "changed" nor "same".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recrawl.extract.document import Document, join
from recrawl.extract.fields import FieldSpec
from recrawl.extract.links import canonical, links, refresh, robots_meta
from recrawl.extract.text import tiers
from recrawl.model import Kind, Links, Observation, Outcome, Page, Record, Request, Verdict
from recrawl.observe.record import NoRecord, comparable, make_record

MOVED_WITHIN = 5.0
"""Seconds: a meta refresh that waits longer is part of a page that is meant to be read."""

HARDLY_ANY_TEXT = 300
"""Bytes of visible text, title included, that a page which only sends readers on may have."""

_CONTENT = frozenset((200, 203))
_BLOCKED = frozenset((Kind.THROTTLED, Kind.DENIED))


def observe(
    outcome: Outcome,
    page: Page,
    request: Request,
    *,
    specs: Mapping[str, FieldSpec],
    honour_nofollow: bool,
    agent: str,
) -> Observation:
    """The verdict on one exchange, and what it yields: record, links, canonical, target. Pure.

    `page` is the row before this visit; `specs` the fields of its page type (none: the default
    record); `agent` the crawler's product token or User-Agent, for robots directives.
    """
    kind = outcome.kind
    if kind is Kind.OK:
        if outcome.status in _CONTENT:
            return _read(outcome, page, request, specs, honour_nofollow, agent)
        return _failed(f"status {outcome.status} has no content to read")
    if kind is Kind.NOT_MODIFIED:
        return _not_modified(page, request)
    if kind is Kind.REDIRECT:
        return _redirected(outcome, request)
    if kind is Kind.GONE:
        return Observation(Verdict.GONE, evidence=(f"status {outcome.status}",))
    verdict = Verdict.BLOCKED if kind in _BLOCKED else Verdict.FAILED
    status = f"status {outcome.status}" if outcome.status else ""
    said = dict.fromkeys((kind.value, status, outcome.detail))
    return Observation(verdict, evidence=tuple(s for s in said if s))


def _failed(*evidence: str) -> Observation:
    return Observation(Verdict.FAILED, evidence=evidence)


def _not_modified(page: Page, request: Request) -> Observation:
    if not request.conditional:
        return _failed("status 304 to a request without validators")
    if page.digest1 is None:
        return _failed("status 304, but the page was never read")
    return Observation(Verdict.NOT_MODIFIED)


def _redirected(outcome: Outcome, request: Request) -> Observation:
    said = f"status {outcome.status}"
    target = join(request.url, outcome.location) if outcome.location is not None else None
    if target is None:
        return _failed(said, f"no page can be at its target: {(outcome.location or '')[:200]!r}")
    if target == join(request.url, ""):
        return _failed(said, "it redirects to itself")
    return Observation(Verdict.MOVED, target=target, evidence=(said,))


def _read(
    outcome: Outcome,
    page: Page,
    request: Request,
    specs: Mapping[str, FieldSpec],
    honour_nofollow: bool,
    agent: str,
) -> Observation:
    doc = Document(outcome.body, outcome.header("content-type"), request.url)
    onward = refresh(doc)
    if onward and onward[0] <= MOVED_WITHIN and _hardly_any_text(outcome, request):
        said = f"meta refresh after {onward[0]:g} s"
        return Observation(Verdict.MOVED, target=onward[1], evidence=(said,))
    directives = robots_meta(doc, outcome.headers, agent)
    found = links(doc, honour_nofollow, page.depth + 1)
    if honour_nofollow and "nofollow" in directives:
        found = _unfollowed(found)
    own = canonical(doc, outcome.headers)
    record = make_record(doc, specs, page)
    if isinstance(record, NoRecord):
        return _failed(record.evidence)
    verdict = _compare(record, page, specs)
    if verdict is Verdict.CHANGED and not outcome.body.strip():
        return _failed("an empty body where there was content")
    return Observation(
        verdict,
        record,
        found,
        own,
        evidence=tuple(sorted(doc.charset_flags | doc.parse_flags)),
        noindex="noindex" in directives,
    )


def _hardly_any_text(outcome: Outcome, request: Request) -> bool:
    doc = Document(outcome.body, outcome.header("content-type"), request.url)
    return len(tiers(doc).visible) <= HARDLY_ANY_TEXT


def _unfollowed(found: Links) -> Links:
    return replace(found, hrefs=(), nofollow=found.nofollow + len(found.hrefs))


def _compare(record: Record, page: Page, specs: Mapping[str, FieldSpec]) -> Verdict:
    """By digests alone, and only with a base that was read by the same rules."""
    if not comparable(page, specs):
        return Verdict.NEW
    if record.digest1 == page.digest1 or record.digest2 == page.digest2:
        return Verdict.SAME
    return Verdict.CHANGED
