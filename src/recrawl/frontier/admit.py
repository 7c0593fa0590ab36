"""The gate: which addresses may become pages of this project, and why the others may not.

The order of the checks is part of the contract, since the first one that fails is the reason that
is counted: userinfo, length, scope, private host, depth, hops, path repeats, patterns, host full,
project full. A seed is the user's own word: scope, privacy, depth, shape and patterns don't bind
it, the caps do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import ada_url

from recrawl.frontier.private import is_private_literal
from recrawl.model import Address, Refused

REPEATS = 3
"""So many times in a row may no sequence of path segments stand (Heritrix: pathological path)."""
MAX_PERIOD = 32
"""Longest sequence looked for, in segments: bounds the work on a hostile path."""


class ScopeError(ValueError):
    """A scope pattern that names no host; the message says how to write it."""


class Patterns(Protocol):
    """What `urls.match` offers the gate: include and exclude patterns in robots syntax."""

    def refuses(self, address: Address) -> tuple[Refused, str] | None:
        """The reason and the pattern that refuses the address, or None."""


@dataclass(frozen=True, slots=True)
class AdmitLimits:
    """Caps on entry. None = no cap."""

    depth: int = 6  # links away from a seed
    per_host: int | None = None  # pages of one origin
    total: int | None = None  # pages of the project
    url_length: int = 2048  # characters of the canonical URL
    hops: int = 5  # redirects in a row
    private_ok: bool = False  # discovered links may lead to private hosts
    userinfo_ok: bool = False  # 'user:password@' may stand in addresses


def same_port(port: int) -> tuple[int, ...]:
    """The ports at which one site answers: 80 and 443 are one site, every other is its own.

    >>> same_port(443), same_port(8080)
    ((80, 443), (8080,))
    """
    return (80, 443) if port in (80, 443) else (port,)


class Scope:
    """The hosts of the project: 'example.com', '*.example.com' (its subdomains), '*' (any host).

    Names are compared as A-labels; a port counts only where the pattern gives one. Raises
    ScopeError for a pattern that is no host.

    >>> scope = Scope(["bücher.example", "*.shop.example:8080"])
    >>> scope.allows(Address("https://xn--bcher-kva.example", "/", "/", 0))
    True
    >>> scope.allows(Address("http://a.shop.example", "/", "/", 0))
    False
    """

    __slots__ = ("_exact", "_subdomains", "any_host")

    def __init__(self, hosts: Iterable[str]) -> None:
        self._exact: set[tuple[str, int | None]] = set()
        self._subdomains: set[tuple[str, int | None]] = set()
        self.any_host = False
        for pattern in hosts:
            self.add(pattern)

    def add(self, pattern: str) -> None:
        """Take one more pattern into scope. Raises ScopeError."""
        pattern = pattern.strip()
        if pattern == "*":
            self.any_host = True
        elif pattern.startswith("*."):
            self._subdomains.add(_parse_host(pattern[2:], pattern))
        else:
            self._exact.add(_parse_host(pattern, pattern))

    def allows(self, address: Address) -> bool:
        """True where the address belongs to the project."""
        return self.any_host or self.names(address)

    def names(self, address: Address) -> bool:
        """True where a pattern other than '*' names the host: the user knows of it."""
        host, port = address.hostname, address.port
        if (host, None) in self._exact or (host, port) in self._exact:
            return True
        if not self._subdomains:
            return False
        rest = host.partition(".")[2]
        while rest:
            if (rest, None) in self._subdomains or (rest, port) in self._subdomains:
                return True
            rest = rest.partition(".")[2]
        return False


def _parse_host(text: str, pattern: str) -> tuple[str, int | None]:
    """'bücher.example:8080' -> ('xn--bcher-kva.example', 8080). Raises ScopeError."""
    try:
        if not text or any(c in "/\\?#@* \t" for c in text):
            raise ValueError
        # A scheme without default port keeps every port that was written.
        url = ada_url.URL("http://" + text)
        written = ada_url.URL("https://" + text).port or url.port
    except ValueError:
        raise ScopeError(
            f"{pattern!r} names no host; write 'example.com', '*.example.com' or "
            "'example.com:8080', without scheme and path"
        ) from None
    return url.hostname, int(written) if written else None


def same_site(a: Address, b: Address) -> bool:
    """True where the two hosts differ at most by http/https and a leading 'www.'.

    What a seed redirects to comes into scope only then (paths don't matter: scope is by host);
    anything else would let one redirect to a social network take the network in.
    """
    if a.hostname.removeprefix("www.") != b.hostname.removeprefix("www."):
        return False
    return b.port in same_port(a.port)


def path_repeats(path: str) -> bool:
    """True where a sequence of segments stands `REPEATS` times in a row: a path that grows.

    >>> path_repeats("/infra/www/infra/www/infra/www/"), path_repeats("/2026/11/11/a")
    (True, False)
    """
    segments = path.partition("?")[0].split("/")[1:]
    n = len(segments)
    if n - len(set(segments)) < REPEATS - 1:
        return False
    for period in range(1, min(n // REPEATS, MAX_PERIOD) + 1):
        run = 0
        for i in range(period, n):
            run = run + 1 if segments[i] == segments[i - period] else 0
            if run >= period * (REPEATS - 1):
                return True
    return False


class Gate:
    """Admission by limits, scope and patterns; decides, never remembers."""

    __slots__ = ("limits", "patterns", "scope")

    def __init__(self, limits: AdmitLimits, scope: Scope, patterns: Patterns) -> None:
        self.limits = limits
        self.scope = scope
        self.patterns = patterns

    def check(
        self,
        address: Address,
        *,
        depth: int,
        hops: int,
        host_pages: int,
        total_pages: int,
        seed: bool = False,
    ) -> Refused | None:
        """Why the address may not become a page, or None.

        `host_pages` and `total_pages` are the pages already admitted, of its origin and in all.
        """
        limits = self.limits
        if address.userinfo and not limits.userinfo_ok:
            return Refused.USERINFO
        # The fetched and the canonical form can differ in length; neither may be too long.
        if len(address.origin) + max(len(address.path), len(address.key_path)) > limits.url_length:
            return Refused.TOO_LONG
        if not seed:
            reason = self._stranger(address, depth)
            if reason is not None:
                return reason
        if hops > limits.hops:
            return Refused.TOO_MANY_HOPS
        if not seed:
            reason = self._shape(address)
            if reason is not None:
                return reason
        if limits.per_host is not None and host_pages >= limits.per_host:
            return Refused.HOST_FULL
        if limits.total is not None and total_pages >= limits.total:
            return Refused.PROJECT_FULL
        return None

    def _stranger(self, address: Address, depth: int) -> Refused | None:
        """Scope, private host, depth: what a link may not lead to."""
        if not self.scope.allows(address):
            return Refused.OUT_OF_SCOPE
        private_ok = self.limits.private_ok or self.scope.names(address)
        if not private_ok and is_private_literal(address.hostname):
            return Refused.PRIVATE_ADDRESS
        return Refused.TOO_DEEP if depth > self.limits.depth else None

    def _shape(self, address: Address) -> Refused | None:
        """Path repeats, then the user's patterns."""
        if path_repeats(address.path):
            return Refused.PATH_REPEATS
        refusal = self.patterns.refuses(address)
        return refusal[0] if refusal else None
