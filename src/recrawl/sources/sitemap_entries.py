"""The entries of a sitemap as they come in -> hints, each with what may be wrong with it."""

from __future__ import annotations

import re

import ada_url

from recrawl.model import Hint
from recrawl.sources.dates import believable
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import PROTOCOL_URLS, Limits

LONGEST = 8_192  # characters of a URL that are looked at; none that long is admitted

_PLAIN = re.compile(r"https?://([a-z0-9.-]+)(?::\d{1,5})?/[!-~]*\Z")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class Entries:
    """Collects the hints of one file. Drain them with `take` after every block.

    `base` is the URL of the file, `source` what its hints say they come from.
    """

    def __init__(self, base: str, now: float, reading: Reading, limits: Limits) -> None:
        self.full = False  # a limit is reached: read no further
        self._base = base
        self._now = now
        self._reading = reading
        self._limits = limits
        self._source = f"sitemap:{base}"
        self._host = _hostname(base)
        self._urls = 0
        self._listed: set[str] = set()  # sub-sitemaps
        self._hints: list[Hint] = []

    def take(self) -> list[Hint]:
        """The hints since the last call."""
        hints, self._hints = self._hints, []
        self._reading.hints += len(hints)
        return hints

    def page(self, loc: str, modified: str = "", alternates: tuple[str, ...] = ()) -> None:
        """One listed page. Its alternates are known to exist; nothing is said of their age."""
        if self.full:
            return
        url = self._resolved(loc)
        if url is None:
            return
        if self._urls >= PROTOCOL_URLS and not self._room():
            return
        self._urls += 1
        moment = believable(modified, self._now, self._reading, url)
        self._hints.append(Hint(url, self._source, modified_at=moment))
        for alternate in dict.fromkeys(alternates):
            other = self._resolved(alternate)
            if other is not None and other != url:
                self._hints.append(Hint(other, self._source))

    def sub_map(self, loc: str, modified: str = "") -> None:
        """One sub-sitemap of an index; its date says whether it is worth fetching again."""
        if self.full:
            return
        url = self._resolved(loc, flag_host=False)  # whose it may be is for the walk to say
        if url is None or url in self._listed:
            return
        if len(self._listed) >= self._limits.maps:
            self.stop(f"more than {self._limits.maps} sub-sitemaps")
            return
        self._listed.add(url)
        self._reading.maps.append(url)
        moment = believable(modified, self._now, self._reading, url)
        if moment is not None:
            self._reading.map_dates[url] = moment

    def nameless(self) -> None:
        """An entry without a URL."""
        self._reading.warn(Warned.NO_URL, f"behind entry {self._urls}")

    def refuse(self, text: str, why: str) -> None:
        """Something that is no URL stands where one should."""
        self._reading.warn(Warned.BAD_URL, text.strip()[:200] or "(empty)", why)

    def stop(self, why: str) -> None:
        """A limit is reached."""
        if not self.full:
            self.full = True
            self._reading.cut(Warned.OVER_LIMIT, "", why)

    @property
    def empty(self) -> bool:
        """True while nothing was listed."""
        return not self._urls and not self._listed

    def _room(self) -> bool:
        if self._urls >= self._limits.urls:
            self.stop(f"more than {self._limits.urls} URLs")
            return False
        if Warned.OVER_PROTOCOL not in self._reading.warnings or self._urls == PROTOCOL_URLS:
            self._reading.warn(Warned.OVER_PROTOCOL, "", f"more than {PROTOCOL_URLS} URLs")
        else:
            self._reading.warnings[Warned.OVER_PROTOCOL] += 1
        return True

    def _resolved(self, loc: str, *, flag_host: bool = True) -> str | None:
        """The absolute http(s) URL, or None with a warning."""
        loc = loc.strip()
        plain = _PLAIN.match(loc)
        if plain is not None and len(loc) <= LONGEST:
            host = plain[1]
        else:
            written = self._written(loc)
            if written is None:
                return None
            try:
                parsed = ada_url.URL(written, base=self._base)
            except ValueError:
                self.refuse(loc, "no valid URL")
                return None
            if parsed.protocol not in ("http:", "https:"):
                self.refuse(loc, "neither http nor https")
                return None
            loc, host = parsed.href, parsed.hostname
        if flag_host and host != self._host:
            self._reading.warn(Warned.OTHER_HOST, loc)
        return loc

    def _written(self, loc: str) -> str | None:
        """As a URL parser should see it; None with a warning where it can't be meant as a URL."""
        if not loc or len(loc) > LONGEST:
            self.refuse(loc, f"longer than {LONGEST} characters" if loc else "empty")
            return None
        if _ABSOLUTE.match(loc) or loc[0] in "/?.":
            return loc
        first = loc.partition("/")[0].lower()
        if first == self._host or first.startswith("www."):
            return f"{self._base.partition(':')[0]}://{loc}"  # the scheme was forgotten
        if any(c.isspace() for c in loc) or "<" in loc:
            self.refuse(loc, "no URL")
            return None
        return loc


def _hostname(url: str) -> str:
    try:
        return ada_url.URL(url).hostname
    except ValueError:
        return ""
