"""Short ways to write an outcome, a page and a visit's verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from recrawl.extract.fields import FieldSpec
from recrawl.model import Kind, Observation, Outcome, Page, Request, WireCost
from recrawl.observe.base import advance
from recrawl.observe.verdict import observe

URL = "https://shop.test/p/1"
OK = (Kind.OK, 200)


@dataclass
class Site:
    """One page visited again and again, as a crawl would: verdict, then base."""

    page: Page = field(default_factory=lambda: Page(1, 1, "/p/1"))
    specs: Mapping[str, FieldSpec] = field(default_factory=dict)
    url: str = URL
    honour_nofollow: bool = True
    now: float = 1_000_000.0
    sent: list[tuple[str, str]] = field(default_factory=list)

    def fields(self, **named: str) -> None:
        self.specs = {name: FieldSpec.parse(text) for name, text in named.items()}

    def request(self) -> Request:
        """With the validators that the page has."""
        named = (
            ("If-None-Match", self.page.etag),
            ("If-Modified-Since", self.page.last_modified),
        )
        self.sent = [(k, v) for k, v in named if v]
        return Request(self.url, tuple(self.sent))

    def look(self, outcome: Outcome, request: Request | None = None) -> Observation:
        """The verdict alone."""
        return observe(
            outcome,
            self.page,
            request or self.request(),
            specs=self.specs,
            honour_nofollow=self.honour_nofollow,
            agent="recrawl/1.0",
        )

    def visit(
        self,
        body: str | bytes = b"",
        headers: Mapping[str, str] | None = None,
        kind: Kind = Kind.OK,
        status: int = 200,
        **more: str,
    ) -> Observation:
        """One visit: an hour later, the answer given is taken in."""
        self.now += 3600
        got = answer(body, headers, kind, status, **more)
        seen = self.look(got)
        advance(self.page, seen, got, self.now)
        return seen


def answer(
    body: str | bytes = b"",
    headers: Mapping[str, str] | None = None,
    kind: Kind = Kind.OK,
    status: int = 200,
    **more: str,
) -> Outcome:
    raw = body.encode() if isinstance(body, str) else body
    sent = {"content-type": "text/html; charset=utf-8", **(headers or {})}
    return Outcome(kind, WireCost(), status=status, headers=tuple(sent.items()), body=raw, **more)  # type: ignore[arg-type]


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def make() -> Callable[..., Outcome]:
    return answer
