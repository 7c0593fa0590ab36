"""Where a page is: its address, why an address was refused, and what a source hints."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model.words import Refused

_DEFAULT_PORT = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """The one address of a page. `path` goes on the wire; `key_path` is its identity."""

    origin: str  # 'https://example.com' or 'http://example.com:8080': ASCII, no default port
    path: str  # path and query as fetched (WHATWG serialization), begins with '/'
    key_path: str  # canonical path and query
    key: int  # signed 64-bit keyed blake2b of userinfo and key_path, unique within the origin
    userinfo: str = ""  # 'user:password' as written, or ''

    @property
    def url(self) -> str:
        """What is fetched (without userinfo)."""
        return self.origin + self.path

    @property
    def canonical(self) -> str:
        """The canonical URL, userinfo kept."""
        if not self.userinfo:
            return self.origin + self.key_path
        scheme, _, rest = self.origin.partition("://")
        return f"{scheme}://{self.userinfo}@{rest}{self.key_path}"

    @property
    def hostname(self) -> str:
        """Host without scheme and port; IPv6 in brackets."""
        rest = self.origin.partition("://")[2]
        return rest[: rest.index("]") + 1] if rest.startswith("[") else rest.partition(":")[0]

    @property
    def port(self) -> int:
        """The port that the origin names, or its scheme's own."""
        scheme, _, rest = self.origin.partition("://")
        written = rest.rpartition("]")[2].rpartition(":")
        return int(written[2]) if written[1] else _DEFAULT_PORT[scheme]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An address that was not admitted, and why."""

    url: str
    reason: Refused
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a source says of one page: an unknown URL is a seed, a known one is evidence."""

    url: str
    source: str  # 'seed', 'link', 'redirect', 'sitemap:...', ...
    base: str | None = None
    charset: str | None = None  # of the page the link stood in: legacy pages encode queries in it
    depth: int = 0
    hops: int = 0  # redirects that led here
    modified_at: float | None = None
    digest: bytes | None = None
    value: float | None = None
    page_type: str | None = None


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one page, in bulk: no object a link."""

    base: str  # the URL they resolve against
    hrefs: tuple[str, ...]  # as written, trimmed, each once, nofollow ones left out if honoured
    depth: int  # of the pages they lead to
    charset: str | None = None
    nofollow: int = 0  # how many were left out
