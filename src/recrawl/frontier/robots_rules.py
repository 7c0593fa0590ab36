"""What a robots.txt lets one crawler do: allowed paths, its delay, the sitemaps.

Groups are chosen here; patterns are matched by protego, given only our own group's rules, so that
no file, however hostile, costs more than `MAX_WILDCARDS` searches a decision.
"""

from __future__ import annotations

import re
from urllib.parse import quote

import ada_url
from protego import Protego

from recrawl.frontier.robots_text import ANY_AGENT, RobotsText, Rule, agent_token, parse_robots
from recrawl.units import DAY

MAX_WILDCARDS = 2_000
"""Rules with an inner star kept for one crawler, in the file's order; past it 'rules-capped'."""
MAX_CRAWL_DELAY = DAY
"""Longer delays are taken as this, with the flag 'delay-clamped'."""

_GENERIC = frozenset({"mozilla", "compatible"})
_STARS = re.compile(r"\*{2,}")
# What would end a line or be cut off in the matcher's own parser.
_UNSAFE = re.compile("[\x00-\x20\x7f\x85\u2028\u2029]")
_HIGH_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")


def product_tokens(agent: str) -> tuple[str, ...]:
    """The names by which a User-Agent can be addressed, lower case.

    One: what stands before the version. A browser-like string ('Mozilla/5.0 (compatible;
    FooBot/1.0; +http://foo.example)') names its crawler further back: every word there counts,
    less versions and contact addresses.

    >>> product_tokens("recrawl/0.1 (+https://bot.example)")
    ('recrawl',)
    >>> product_tokens("Mozilla/5.0 (compatible; FooBot/1.0; +http://bot.example)")
    ('foobot',)
    """
    first = agent_token(agent)
    if first not in _GENERIC:
        return (first,)
    words = [w for w in re.split(r"[\s;,()]+", agent) if "://" not in w and "@" not in w]
    tokens = [w.partition("/")[0].lower() for w in words]
    return tuple(t for t in tokens if t and t not in _GENERIC and not t[0].isdecimal())


class Robots:
    """One crawler's reading of one robots.txt.

    `origin` ('https://example.com') is what relative Sitemap lines resolve against. Flags are
    those of `RobotsText`, and 'rules-capped', 'delay-clamped', 'bad-sitemap'.

    >>> robots = Robots(b"User-agent: *\\nDisallow: /private/\\nCrawl-delay: 2", "recrawl/0.1")
    >>> robots.allows("/private/x"), robots.allows("https://h.example/"), robots.crawl_delay
    (False, True, 2.0)
    """

    __slots__ = ("_matcher", "crawl_delay", "flags", "sitemaps")

    def __init__(
        self, body: bytes, agent: str, *, origin: str = "", content_type: str = ""
    ) -> None:
        text = parse_robots(body, content_type)
        flags = set(text.flags)
        token = _choose(text, agent)
        self._matcher = _matcher(_rules_of(text, token, flags))
        self.crawl_delay = _delay_of(text, token, flags)
        self.sitemaps = _sitemaps(text, origin, flags)
        self.flags = frozenset(flags)

    def allows(self, path_or_url: str) -> bool:
        """May the path (with query) or URL be fetched? /robots.txt itself always may."""
        if self._matcher is None:
            return True
        path = path_or_url
        if not path.startswith("/"):
            path = path.partition("://")[2]
            start = re.search(r"[/?#]", path)
            path = path[start.start() :] if start else "/"
            if not path.startswith("/"):
                path = "/" + path
        # With a host in front, so that a path beginning with '//' isn't read as one.
        return bool(self._matcher.can_fetch("http://h" + _escape(path), ANY_AGENT))


def _choose(text: RobotsText, agent: str) -> str:
    """The token whose groups bind us: the longest that names us, else '*' (RFC 9309 2.2.1)."""
    named = set().union(*(group.agents for group in text.groups))
    ours = [token for token in product_tokens(agent) if token in named]
    return max(ours, key=len, default=ANY_AGENT)


def _rules_of(text: RobotsText, token: str, flags: set[str]) -> list[Rule]:
    """The rules of all groups of a token, made safe for the matcher, each once."""
    written = [r for group in text.groups if token in group.agents for r in group.rules]
    rules = dict.fromkeys((allow, _STARS.sub("*", _escape(pattern))) for allow, pattern in written)
    wild = [rule for rule in rules if "*" in rule[1][:-1]]
    for rule in wild[MAX_WILDCARDS:]:
        flags.add("rules-capped")
        del rules[rule]
    return list(rules)


def _matcher(rules: list[Rule]) -> Protego | None:
    if not rules:
        return None
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    return Protego.parse("\n".join(["User-agent: *", *lines]))


def _escape(text: str) -> str:
    """Percent-encode what the matcher would trip over, alike in patterns and paths.

    Control characters and line separators, and octets that are no UTF-8: the matcher compares
    decoded text, in which %E8 and %E9 of a legacy page would both be U+FFFD; as %25E8 and %25E9
    they stay apart.
    """
    text = _UNSAFE.sub(lambda m: quote(m[0], safe=""), text)
    return _HIGH_ESCAPES.sub(_keep_octets, text) if "%" in text else text


def _keep_octets(m: re.Match[str]) -> str:
    chars = bytes.fromhex(m[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        f"%25{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else quote(c) for c in chars
    )


def _delay_of(text: RobotsText, token: str, flags: set[str]) -> float | None:
    """The longest delay stated for the token, at most a day."""
    delays = [
        seconds
        for group in text.groups
        if group.delays and token in group.agents
        for seconds in group.delays_of(token)
    ]
    if not delays:
        return None
    if max(delays) > MAX_CRAWL_DELAY:
        flags.add("delay-clamped")
    return min(max(delays), MAX_CRAWL_DELAY)


def _sitemaps(text: RobotsText, origin: str, flags: set[str]) -> tuple[str, ...]:
    """Absolute http(s) URLs, each once, in the file's order."""
    urls: dict[str, None] = {}
    for written in text.sitemaps:
        try:
            url = ada_url.join_url(origin + "/robots.txt", written) if origin else written
            parsed = ada_url.URL(url)
        except ValueError:
            flags.add("bad-sitemap")
            continue
        if parsed.protocol in ("http:", "https:"):
            urls[parsed.href] = None
        else:
            flags.add("bad-sitemap")
    return tuple(urls)
