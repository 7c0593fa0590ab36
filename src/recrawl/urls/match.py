"""Which site, page type and value an address has: the first rule of the project that meets it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ada_url

from recrawl.model import Address
from recrawl.urls.patterns import PathPattern, PatternError, PatternSet, hint, meets

__all__ = [
    "VALUE_TIERS",
    "PageType",
    "PathPattern",
    "PatternError",
    "PatternSet",
    "SiteMatcher",
    "SiteRule",
    "hint",
    "value_of",
]

VALUE_TIERS: Mapping[str, float] = {"critical": 4.0, "high": 2.0, "normal": 1.0, "low": 0.5}
"""What a page is worth beside a normal one. Three or four tiers are enough (the article)."""

DEFAULT_TYPE = "page"
_CACHED_ORIGINS = 65_536
_PORTS = {"http": 80, "https": 443}
_SITE = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#:@\[\]]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>[/?].*)?"
)


def value_of(value: str | float) -> float:
    """A tier's name, or a number above 0, as a value. Raises PatternError.

    >>> value_of("high"), value_of(3)
    (2.0, 3.0)
    """
    if isinstance(value, str):
        if value.strip().lower() in VALUE_TIERS:
            return VALUE_TIERS[value.strip().lower()]
    elif not isinstance(value, bool) and 0 < value < float("inf"):
        return float(value)
    raise PatternError(
        f"{value!r} is no value: write {', '.join(VALUE_TIERS)} or a number above 0"
    )


@dataclass(frozen=True, slots=True)
class PageType:
    """Pages that are read alike. Two shops may name one type and read it by other fields."""

    name: str
    value: float = 1.0
    fields: Mapping[str, str] = field(default_factory=dict)
    min_gap: float | None = None  # seconds; None = the project's
    max_gap: float | None = None
    mode: str = "plain"


@dataclass(frozen=True, slots=True)
class SiteRule:
    """What a project says of some pages.

    `match` is `host/path`: the host exactly, `*.host` for it and its subdomains, or `*`; a scheme
    and a port where they matter; the path in robots syntax. `shop.example` is all of it.
    """

    match: str
    type: str | None = None
    value: float | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    route: str | None = None
    min_gap: float | None = None  # seconds
    max_gap: float | None = None  # seconds
    mode: str = "plain"  # how its pages are fetched, as tariffs name it


@dataclass(frozen=True, slots=True)
class _Where:
    """The parsed `match` of a rule; None and '' are anything."""

    host: str  # 'example.com', '*.example.com' or '*'
    scheme: str
    port: int | None
    path: PathPattern | None

    def meets_origin(self, address: Address) -> bool:
        scheme, host = address.origin.partition("://")[0], address.hostname
        port = address.origin[len(scheme) + len("://") + len(host) + 1 :]
        if self.scheme and scheme != self.scheme:
            return False
        if self.port is not None and self.port != (int(port) if port else _PORTS[scheme]):
            return False
        if self.host.startswith("*."):
            return host == self.host[2:] or host.endswith(self.host[1:])
        return self.host in ("*", host)


# A rule at one origin: its path (None = every path), type, value, and itself.
_Applied = tuple[PathPattern | None, int, float, SiteRule]


class SiteMatcher:
    """The rules of a project in their order; the first that meets an address decides.

    Raises PatternError naming the rule whose `match` is none.

    >>> m = SiteMatcher([SiteRule("shop.example/p/*", "product", 4.0), SiteRule("*.example")])
    >>> [t.name for t in m.types], m.hosts()
    (['page', 'product'], ('shop.example', '*.example'))
    """

    def __init__(self, rules: Sequence[SiteRule]) -> None:
        self._rules: list[tuple[_Where, int, float, SiteRule]] = []
        types = [PageType(DEFAULT_TYPE)]
        known: dict[tuple[Any, ...], int] = {(DEFAULT_TYPE, (), None, None, "plain"): 0}
        for rule in rules:
            value = 1.0 if rule.value is None else value_of(rule.value)
            # Fields, gaps or a mode without a type still are a type: no other page is read so.
            gaps = (rule.min_gap, rule.max_gap)
            own = rule.fields or gaps != (None, None) or rule.mode != "plain"
            name = rule.type or (rule.match if own else DEFAULT_TYPE)
            key = (name, tuple(sorted(rule.fields.items())), *gaps, rule.mode)
            if key not in known:
                known[key] = len(types)
                types.append(PageType(name, value, rule.fields, *gaps, rule.mode))
            self._rules.append((_parse(rule.match), known[key], value, rule))
        self.types: tuple[PageType, ...] = tuple(types)
        self._of_origin: dict[str, list[_Applied]] = {}

    def classify(self, address: Address) -> tuple[int, float, SiteRule | None]:
        """(index into `types`, value, the rule); (0, 1.0, None) where no rule meets it."""
        rules = self._of_origin.get(address.origin)
        if rules is None:
            rules = self._rules_of(address)
        for path, type_index, value, rule in rules:
            if path is None or meets(path, address):
                return type_index, value, rule
        return 0, 1.0, None

    def hosts(self) -> tuple[str, ...]:
        """The host patterns that the rules name, each once, in their order."""
        return tuple(dict.fromkeys(where.host for where, *_ in self._rules))

    def _rules_of(self, address: Address) -> list[_Applied]:
        if len(self._of_origin) >= _CACHED_ORIGINS:
            self._of_origin.clear()
        found = [
            (where.path, type_index, value, rule)
            for where, type_index, value, rule in self._rules
            if where.meets_origin(address)
        ]
        self._of_origin[address.origin] = found
        return found


def _parse(match: str) -> _Where:
    """A rule's `match`, its host in ASCII. Raises PatternError."""
    text = match.strip()
    m = _SITE.fullmatch(text)
    if m is None:
        fix = f"*{text}" if text.startswith("/") else "shop.example/product/*"
        raise PatternError(f"{match!r} names no host: write it as in {fix!r}")
    scheme = (m["scheme"] or "").lower()
    if scheme not in ("", *_PORTS):
        raise PatternError(f"{match!r}: only http and https are crawled, not {scheme!r}")
    port = int(m["port"]) if m["port"] else None
    if port is not None and port > 65535:
        raise PatternError(f"{match!r}: {port} is no port; the highest is 65535")
    path = m["path"] or "/"
    try:
        pattern = None if path in ("/", "/*") else PathPattern(path)
    except PatternError as e:
        raise PatternError(f"{match!r}: its path {e}") from None
    return _Where(_host(m["host"], match), scheme, port, pattern)


def _host(host: str, match: str) -> str:
    """A host pattern with its name in the spelling of origins. Raises PatternError."""
    if host == "*":
        return host
    star, name = ("*.", host[2:]) if host.startswith("*.") else ("", host)
    if "*" not in name:
        try:
            return star + ada_url.normalize_url(f"http://{name}/")[len("http://") : -1]
        except ValueError:
            raise PatternError(f"{match!r}: {host!r} is no host") from None
    raise PatternError(
        f"{match!r}: a star in a host stands alone or before its first dot: write "
        f"'*.{name.rpartition('*')[2].lstrip('.') or 'example.com'}'"
    )
