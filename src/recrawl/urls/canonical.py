"""One page, one address: the URL as found -> what goes on the wire and what the page is.

Parsing is WHATWG's (ada-url); on top of its serialization stand RFC 3986 section 6.2.2-6.2.3
and, by profile, rules about parameters. What only a host can show (trailing slash, www., scheme,
index files) is never merged here. `docs/decisions/0002-url-normalization.md` has the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from struct import Struct

import ada_url

from recrawl.model import Address, Refusal
from recrawl.urls.found import as_text, encode_query, refusal
from recrawl.urls.percent import spell_path, spell_query
from recrawl.urls.tracking import HostRules, TrackingRules

NORMALIZER_VERSION = 1

# What the parser and the spelling would both leave as it is; all else takes the slow way.
# No `%`, no path parameters, no session forms; dots after a slash are looked for apart.
_PLAIN = re.compile(
    r"(?:(https?://[A-Za-z0-9._\-]+(?::[0-9]{1,5})?)?(/(?!/)[A-Za-z0-9\-._~!$&'*+,=:@/]*)"
    r"|([A-Za-z0-9_~\-][A-Za-z0-9\-._~!$&'*+,=@/]*))"  # no colon: it could end a scheme
    r"(?:\?([A-Za-z0-9\-._~!$()*+,;=:@/?&]*))?(?:#[!-~]*)?"
).fullmatch
_AMP = re.compile(r"(?:amp(?:;|%(?:25)*3[Bb]))+")
_SLASHES = re.compile(r"//+")
_CACHED_ORIGINS = 65_536
_SIGNED = Struct(">q").unpack
_HASHER = blake2b(key=b"recrawl page key", digest_size=8)


class Profile(StrEnum):
    """How much is merged. A stored key remembers its profile (`Normalizer.id`)."""

    SAFE = "safe"  # RFC 3986 alone: nothing that a server may tell apart
    DEFAULT = "default"  # without tracking and session ids, query sorted by name
    AGGRESSIVE = "aggressive"  # also what most servers, not all, answer alike


def key_of(key_path: str, userinfo: str = "") -> int:
    """The key of a page within its origin: signed 64-bit keyed BLAKE2b (RFC 7693).

    5M pages in one origin collide with a chance of 7e-7.
    """
    hasher = _HASHER.copy()
    # Unambiguous: a path begins with '/', and userinfo holds none.
    hasher.update((f"{userinfo}@{key_path}" if userinfo else key_path).encode())
    key: int = _SIGNED(hasher.digest())[0]
    return key


@dataclass(frozen=True, slots=True)
class _Origin:
    """What is the same for all addresses of an origin."""

    origin: str
    rules: HostRules | None
    sort: bool


class Normalizer:
    """A URL as found -> its Address, or the Refusal that says why it has none.

    `tracking` are the parameters to leave out of keys (the shipped ones if None; SAFE leaves out
    none). `unsorted_hosts` are host names for which the order of parameters matters.
    Idempotent: the canonical form of an address has that same canonical form.

    >>> address = Normalizer().normalize("HTTP://Example.com:80/a/../b?utm_source=x&c=%7e#top")
    >>> address.url, address.canonical
    ('http://example.com/b?utm_source=x&c=%7e', 'http://example.com/b?c=~')
    """

    def __init__(
        self,
        profile: Profile = Profile.DEFAULT,
        tracking: TrackingRules | None = None,
        unsorted_hosts: frozenset[str] = frozenset(),
    ) -> None:
        self._safe = profile is Profile.SAFE
        self._aggressive = profile is Profile.AGGRESSIVE
        self._tracking = tracking if tracking is not None else TrackingRules.default()
        self._unsorted = frozenset(host.lower() for host in unsorted_hosts)
        self._origins: dict[str, _Origin | None] = {}
        self.id = f"{profile}/{NORMALIZER_VERSION}{self._own_rules()}"

    def _own_rules(self) -> str:
        """`+` and a digest where a project's own rules decide keys too, else nothing."""
        if self._safe or (self._tracking == TrackingRules.default() and not self._unsorted):
            return ""
        text = " ".join([self._tracking.digest, *sorted(self._unsorted)])
        return "+" + blake2b(text.encode(), digest_size=4).hexdigest()

    def normalize(
        self, url: str | bytes, base: str | None = None, charset: str | None = None
    ) -> Address | Refusal:
        """The address of `url`, as found in a page at `base` that was written in `charset`.

        Never raises, whatever it is given.
        """
        addresses, refusals = self.normalize_many((url,), base, charset)
        return addresses[0] if addresses else refusals[0]

    def normalize_many(
        self, urls: Iterable[str | bytes], base: str | None, charset: str | None = None
    ) -> tuple[list[Address], list[Refusal]]:
        """The addresses and the refusals of many URLs of one page, each in the order found."""
        addresses: list[Address] = []
        refusals: list[Refusal] = []
        base = as_text(base)
        charset = charset if isinstance(charset, str) else None
        here, folder = self._here(base)
        if here is None and base and not ada_url.check_url(base):
            base = None  # a page of no valid address still links to addresses
        origins = self._origins
        for url in urls:
            m = _PLAIN(url) if isinstance(url, str) else None
            if m is not None:
                head, path, below, query = m.groups()
                at = here if head is None else origins.get(head) or self._origin(head)
                if path is None:
                    path = folder + below
                if at is not None and "/." not in path:
                    addresses.append(self._plain(at, path, query))
                    continue
            found = self._parsed(url, base, charset)
            if isinstance(found, Address):
                addresses.append(found)
            else:
                refusals.append(found)
        return addresses, refusals

    def _plain(self, at: _Origin, path: str, query: str | None) -> Address:
        """An address whose path and query are spelled canonically already."""
        if query is None:
            key_path = _SLASHES.sub("/", path) if self._aggressive else path
            return Address(at.origin, path, key_path, key_of(key_path))
        fetched = f"{path}?{query}"
        if "amp;" in query and not self._safe:
            fetched = path + _unfold(query)
        key_path = self._key_path(at, path, query)
        return Address(at.origin, fetched, key_path, key_of(key_path))

    def _parsed(
        self, url: str | bytes, base: str | None, charset: str | None
    ) -> Address | Refusal:
        """The address of a URL that the parser has to look at."""
        text = as_text(url)
        if text is None:
            return refusal(url)
        if charset is not None:
            text = encode_query(text, charset)
        try:
            href = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
        except ValueError:
            return refusal(url, base)
        if not href.startswith(("http://", "https://")):
            return refusal(url, base, href.partition(":")[0])
        m = _PLAIN(href)
        if m is not None:
            at = self._origins.get(m[1]) or self._origin(m[1])
            return self._plain(at, m[2], m[4]) if at is not None else refusal(url, base)
        return self._odd(href.partition("#")[0]) or refusal(url, base)

    def _odd(self, href: str) -> Address | None:
        """An address with userinfo, or with characters that have several spellings."""
        slash = href.index("/", 8)
        head, rest = href[:slash], href[slash:]
        userinfo = ""
        if "@" in head:
            scheme, _, authority = head.partition("://")
            userinfo, _, host = authority.rpartition("@")
            head, userinfo = f"{scheme}://{host}", spell_path(userinfo)
        at = self._origins.get(head) or self._origin(head)
        if at is None:
            return None
        path, mark, query = rest.partition("?")
        if "amp" in query and not self._safe:
            rest = path + _unfold(query)
        key_path = self._key_path(at, spell_path(path), spell_query(query) if mark else None)
        return Address(at.origin, rest, key_path, key_of(key_path, userinfo), userinfo)

    def _key_path(self, at: _Origin, path: str, query: str | None) -> str:
        """The identity of a page within its origin, from its spelled path and query."""
        if self._safe:
            # RFC 3986 6.2.3 tells '/a?' from '/a'.
            return path if query is None else f"{path}?{query}"
        if at.rules is not None and (";" in path or "(" in path):
            path = _settle(at.rules, path)
        if self._aggressive:
            path = _SLASHES.sub("/", path)
        if not query:
            return path
        pairs = _pairs(query) if "&" in query or "amp" in query else [query]
        if at.rules is not None:
            pairs = at.rules.strip(pairs, path)
        if self._aggressive:
            pairs = _merged(pairs)
        elif at.sort and len(pairs) > 1:
            # Stable, by name: the values of one name keep their order, which can matter.
            pairs.sort(key=_flag_or_name)
        return f"{path}?{'&'.join(pairs)}" if pairs else path

    def _here(self, base: str | None) -> tuple[_Origin | None, str]:
        """The origin and folder of a plain base; (None, '') where its links go the slow way."""
        m = _PLAIN(base) if base else None
        if m is None or m[1] is None or "/." in m[2]:
            return None, ""
        return self._origin(m[1]), m[2][: m[2].rindex("/") + 1]

    def _origin(self, head: str) -> _Origin | None:
        """The origin of `scheme://host:port`, None where that is no valid one."""
        try:
            return self._origins[head]
        except KeyError:
            pass
        if len(self._origins) >= _CACHED_ORIGINS:
            self._origins.clear()
        try:
            origin = ada_url.normalize_url(head + "/")[:-1]
        except ValueError:
            found = None
        else:
            scheme, _, authority = origin.partition("://")
            host, port = _split_port(authority)
            if self._aggressive:
                host = host.rstrip(".") or host
            rules = None if self._safe else self._tracking.for_host(host)
            found = _Origin(f"{scheme}://{host}{port}", rules, host not in self._unsorted)
        self._origins[head] = found
        return found


def _split_port(authority: str) -> tuple[str, str]:
    colon = authority.rfind(":")
    if colon < 0 or authority.endswith("]"):
        return authority, ""
    return authority[:colon], authority[colon:]


def _flag_or_name(pair: str) -> tuple[str, str]:
    """The name, a bare `a` before any `a=`: the two are told apart anyway."""
    name, equals, _ = pair.partition("=")
    return name, equals


def _pairs(query: str) -> list[str]:
    """The non-empty pairs of a query, names that an entity was left in (`amp;x`) unfolded.

    Such a name stands for `x`, unless a less escaped one is there, which the server reads.

    >>> _pairs("a=1&&amp;b=2&amp%3Ba=3")
    ['a=1', 'b=2']
    """
    pairs = [pair for pair in query.split("&") if pair]
    if "amp" not in query:
        return pairs
    split = []
    least: dict[str, int] = {}
    for pair in pairs:
        m = _AMP.match(pair)
        depth = m.end() if m is not None else 0
        if depth < len(pair):
            name = pair[depth:].partition("=")[0]
            least[name] = min(depth, least.get(name, depth))
            split.append((name, depth, pair[depth:]))
    return [pair for name, depth, pair in split if depth == least[name]]


def _unfold(query: str) -> str:
    """`?` and the query as fetched, without left-over entities; as written if it holds none."""
    if not any(_AMP.match(pair) for pair in query.split("&")):
        return "?" + query
    return "?" + "&".join(_pairs(query))


def _merged(pairs: list[str]) -> list[str]:
    """Pairs of the aggressive profile: `a` is `a=`, `%20` is `+`, each once, wholly sorted."""
    spaced = (pair.replace("%20", "+") for pair in pairs)
    return sorted({pair if "=" in pair else pair + "=" for pair in spaced}, key=_whole)


def _whole(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return name, value


def _settle(rules: HostRules, path: str) -> str:
    """The path without session ids. Dots that lost their id (`/.;jsessionid=`) are resolved."""
    stripped = rules.strip_path(path)
    if stripped == path or "/." not in stripped:
        return stripped
    return spell_path(ada_url.normalize_url("http://h" + stripped)[len("http://h") :])
