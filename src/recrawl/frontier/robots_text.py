"""The bytes of a robots.txt -> its groups, delays and sitemaps (RFC 9309, section 2.2).

Ours rather than the matcher's: byte order marks, the size cap, HTML pages in place of the file,
and groups that unknown lines, Sitemap or Crawl-delay lines don't end.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from dataclasses import dataclass, field

MAX_BYTES = 500 * 1024
"""As much is read (RFC 9309 2.5 asks for at least 500 KiB); a line cut there is dropped."""

ANY_AGENT = "*"

_LINE = re.compile(
    r"(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<delay>crawl[- ]?delay)|"
    r"(?P<sitemap>site-?maps?)|(?P<disallow>dis+al+ow|diasllow|disallaw)",
    re.IGNORECASE,
)
_AFTER_FIELD = re.compile(r"\s*:\s*|\s+|\Z")
_TOKEN = re.compile(r"[^\s/;,()*]+")
_DELAY = re.compile(r"([0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)\s*(?:s|secs?|seconds?)?\Z", re.IGNORECASE)
_MARKUP = re.compile(rb"<\s*(?:!doctype|html|head|body|script)\b", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")

Rule = tuple[bool, str]
"""(allow, pattern as written)"""


@dataclass(slots=True)
class Group:
    """Agents, their common rules, and the delays of some of them."""

    agents: list[str] = field(default_factory=list)  # product tokens, lower case
    rules: list[Rule] = field(default_factory=list)
    delays: list[tuple[int, int, float]] = field(default_factory=list)  # agents[i:j], seconds

    def delays_of(self, token: str) -> list[float]:
        """The delays stated for one agent."""
        at = [i for i, agent in enumerate(self.agents) if agent == token]
        return [s for i, j, s in self.delays if bisect_left(at, i) < bisect_left(at, j)]


@dataclass(frozen=True, slots=True)
class RobotsText:
    """What a robots.txt says, for all agents.

    Flags: 'bom', 'html' (a page, no rules), 'html-type' (rules sent as HTML), 'truncated',
    'bad-delay'.
    """

    groups: tuple[Group, ...] = ()
    sitemaps: tuple[str, ...] = ()  # as written, each once
    flags: frozenset[str] = frozenset()


def parse_robots(body: bytes, content_type: str = "") -> RobotsText:
    """Read a robots.txt. Never raises: lines that say nothing are skipped, as the RFC asks.

    >>> text = parse_robots(b"User-agent: FooBot/1.0\\nDisallow: /x  # no\\n")
    >>> text.groups[0].agents, text.groups[0].rules
    (['foobot'], [(False, '/x')])
    """
    flags: set[str] = set()
    html_type = "html" in content_type.lower()
    if _is_markup(body, html_type):
        return RobotsText(flags=frozenset({"html"}))
    if html_type:
        flags.add("html-type")
    parser = _Parser(flags)
    for line in _LINE_END.split(_decode(body, flags)):
        parser.feed(line)
    parser.end_group()
    return RobotsText(tuple(parser.groups), tuple(parser.sitemaps), frozenset(flags))


def _is_markup(body: bytes, html_type: bool) -> bool:
    """True for a page in place of the file: no rule is taken from inside markup."""
    head = body[:4096].removeprefix(codecs.BOM_UTF8).lstrip()
    return head.startswith(b"<") or (html_type and _MARKUP.search(body[:MAX_BYTES]) is not None)


def _decode(body: bytes, flags: set[str]) -> str:
    """UTF-8, or UTF-16 where a mark says so; bytes that are no UTF-8 are kept as %XX."""
    if len(body) > MAX_BYTES:
        flags.add("truncated")
        body = body[:MAX_BYTES]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        flags.add("bom")
        text = body.decode("utf-16", "replace")
    else:
        text = body.decode("utf-8", "surrogateescape")
        text = re.sub(r"[\udc80-\udcff]", lambda m: f"%{ord(m[0]) - 0xDC00:02X}", text)
    if text.startswith("\ufeff"):
        flags.add("bom")
        text = text[1:]
    if "truncated" in flags:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def agent_token(value: str) -> str:
    """The product token of a User-agent line: 'FooBot/1.0' -> 'foobot'; '' where there is none.

    >>> agent_token("Foo Bar"), agent_token("* "), agent_token("FooBot*")
    ('foo', '*', 'foobot')
    """
    value = value.strip().lower()
    if value == ANY_AGENT or value[:2].rstrip() == ANY_AGENT:
        return ANY_AGENT
    m = _TOKEN.match(value.lstrip("*"))
    return m[0] if m else ""


class _Parser:
    """Lines -> groups. Only rules end the list of a group's agents (RFC 9309 2.2.1, 2.2.4)."""

    def __init__(self, flags: set[str]) -> None:
        self.flags = flags
        self.groups: list[Group] = []
        self.sitemaps: dict[str, None] = {}
        self.group = Group()
        self.has_rules = False
        self.delay_start = 0  # the agents from here on are meant by the next delay
        self.after_delay = False

    def feed(self, line: str) -> None:
        line = line.partition("#")[0].strip()
        m = _LINE.match(line)
        rest = _AFTER_FIELD.match(line, m.end()) if m else None
        if m is None or rest is None:
            return
        value = line[rest.end() :]
        match m.lastgroup:
            case "agent":
                self._agent(value)
            case "delay":
                self._delay(value)
            case "sitemap":
                if value:
                    self.sitemaps[value] = None
            case kind:
                self.has_rules = True
                if value and self.group.agents:
                    self.group.rules.append((kind == "allow", value))

    def end_group(self) -> None:
        if self.group.agents:
            self.groups.append(self.group)
        self.group = Group()
        self.has_rules = self.after_delay = False
        self.delay_start = 0

    def _agent(self, value: str) -> None:
        if self.has_rules:
            self.end_group()
        if self.after_delay:
            self.delay_start = len(self.group.agents)
            self.after_delay = False
        token = agent_token(value)
        if token:
            self.group.agents.append(token)

    def _delay(self, value: str) -> None:
        self.after_delay = True
        m = _DELAY.match(value)
        if m is None:
            self.flags.add("bad-delay")
        elif self.group.agents:
            seconds = float(m[1].replace(",", "."))
            self.group.delays.append((self.delay_start, len(self.group.agents), seconds))
