"""Which sitemaps to fetch next: those robots.txt names, else the usual places, then sub-sitemaps.

Indexes may list themselves, each other, or other people's hosts; a `Walk` fetches each file once.
It decides, the driver fetches: `take` a URL, `found` what it listed, until `take` gives None.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from enum import StrEnum

import ada_url

_USUAL = (
    "/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml",
    "/sitemap.xml.gz", "/sitemaps.xml", "/sitemap/sitemap.xml", "/sitemap.txt",
)  # fmt: skip


def usual_places(origin: str) -> tuple[str, ...]:
    """Where sitemaps stand when robots.txt names none, the likeliest first.

    >>> usual_places("http://e.com/")[:2]
    ('http://e.com/sitemap.xml', 'http://e.com/sitemap_index.xml')
    """
    return tuple(origin.rstrip("/") + path for path in _USUAL)


class Skipped(StrEnum):
    """Why a sitemap is not fetched; every one is counted."""

    INVALID = "no valid http or https URL"
    ROBOTS = "robots.txt named as a sitemap"
    SEEN = "already fetched in this walk"
    OTHER_HOST = "on another host, and not named in robots.txt"
    TOO_DEEP = "indexes nested too deep"
    TOO_MANY = "more sitemaps than the limit"


class Walk:
    """One pass over the sitemaps of one site.

    `base` is any URL of the site. `named` are robots.txt's Sitemap lines as written; they may lie
    on other hosts, and what such an index lists may lie on its own host or the site's. Depth 0 is
    what is named or usual.

    >>> walk = Walk("http://e.com/", named=["/s.xml"])
    >>> walk.take()
    'http://e.com/s.xml'
    >>> walk.found("http://e.com/s.xml", ["http://e.com/s.xml?", "https://e.com/a.xml"])
    >>> walk.take(), walk.take(), dict(walk.skipped)
    ('https://e.com/a.xml', None, {<Skipped.SEEN: 'already fetched in this walk'>: 1})
    """

    def __init__(
        self, base: str, named: Iterable[str] = (), *, max_depth: int = 5, max_maps: int = 10_000
    ) -> None:
        self.skipped: Counter[Skipped] = Counter()
        self.taken = 0
        self._max_depth = max_depth
        self._max_maps = max_maps
        self._hosts = {_hostname(base)}
        self._queue: deque[tuple[str, int]] = deque()
        self._seen: set[str] = set()
        self._depth: dict[str, int] = {}  # of what was taken and not answered yet
        named = tuple(named)
        for url in named:
            self._add(_resolved(url, base), 0, self._hosts | {_hostname(_resolved(url, base))})
        if not named:
            origin = ada_url.URL(base).origin
            for url in usual_places(origin):
                self._add(url, 0, self._hosts)

    def take(self) -> str | None:
        """The next sitemap to fetch, or None when there is none (until more is `found`)."""
        if not self._queue:
            return None
        url, depth = self._queue.popleft()
        self._depth[url] = depth
        self.taken += 1
        return url

    def found(self, url: str, maps: Iterable[str], final_url: str | None = None) -> None:
        """What the index at `url` (as taken) lists; `final_url` is where redirects led.

        A file that redirects to one that was read says nothing new: its maps are not followed.
        """
        depth = self._depth.pop(url, 0)
        final = final_url or url
        if _same(final) != _same(url):
            if _same(final) in self._seen:
                self.skipped[Skipped.SEEN] += 1
                return
            self._seen.add(_same(final))
        hosts = self._hosts | {_hostname(url)}
        for listed in maps:
            self._add(_resolved(listed, final), depth + 1, hosts)

    def _add(self, url: str, depth: int, hosts: set[str]) -> None:
        reason = self._judge(url, depth, hosts)
        if reason is not None:
            self.skipped[reason] += 1
            return
        self._seen.add(_same(url))
        self._queue.append((url, depth))

    def _judge(self, url: str, depth: int, hosts: set[str]) -> Skipped | None:
        if not url:
            return Skipped.INVALID
        if _same(url).endswith("/robots.txt") and _same(url).count("/") == 1:
            return Skipped.ROBOTS
        if _hostname(url) not in hosts:
            return Skipped.OTHER_HOST
        if _same(url) in self._seen:
            return Skipped.SEEN
        if depth > self._max_depth:
            return Skipped.TOO_DEEP
        return Skipped.TOO_MANY if len(self._seen) >= self._max_maps else None


def _resolved(url: str, base: str) -> str:
    """Absolute, or '' where it is no http(s) URL."""
    try:
        parsed = ada_url.URL(url.strip(), base=base)
    except (ValueError, UnicodeError):
        return ""
    if parsed.protocol not in ("http:", "https:"):
        return ""
    return parsed.href.partition("#")[0]


def _hostname(url: str) -> str:
    """The host as a site is known: with and without `www.` it is one."""
    try:
        return ada_url.URL(url).hostname.removeprefix("www.")
    except ValueError:
        return ""


def _same(url: str) -> str:
    """Equal for the spellings of one file: http or https, an empty query."""
    return url.partition("://")[2].removesuffix("?")
