"""What to ask an archive's index (a CDX server), answer by answer, to its end or to a stated cap.

It decides, the driver fetches: `take` a URL, read the answer, tell `found`. The plain query with
a resume key comes first and serves all but huge sites: an index of pages lags behind and may
count none where there are captures (github.com/akamhy/waybackpy/issues/69).
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote_plus, urlencode

from recrawl.sources.reading import Reading, Warned

FIELDS = "urlkey,timestamp,original,mimetype,statuscode,digest,length"
"""Always with urlkey: without it the resume key lacks the URL and whole years are skipped
(github.com/internetarchive/wayback/issues/121)."""

_MATCHES = ("exact", "prefix", "host", "domain")


@dataclass(frozen=True, slots=True)
class Query:
    """One question to `server`. `collapse`: 'urlkey' one capture a page, 'digest' its changes.

    `since` and `until` are timestamps (`2024`, `20240501`). `paged` servers (pywb, Common Crawl)
    number their pages and know no resume key. Raises ValueError on an unknown `match`.
    """

    server: str
    url: str
    match: str = "domain"
    collapse: str = "urlkey"
    filters: tuple[str, ...] = ("statuscode:200",)
    limit: int = 10_000
    since: str = ""
    until: str = ""
    paged: bool = False

    def __post_init__(self) -> None:
        if self.match not in _MATCHES:
            raise ValueError(f"match {self.match!r}: write {', '.join(_MATCHES)}")

    def at(self, resume: str = "", page: int = 0) -> str:
        """The URL that asks for what follows `resume`, or for a numbered page.

        >>> Query("http://a.org/cdx", "e.com", limit=5).at("com,e)/ 2020").partition("limit")[2]
        '=5&showResumeKey=true&resumeKey=com%2Ce%29%2F+2020'
        """
        ask = [("url", self.url), ("matchType", self.match), ("output", "json")]
        if not self.paged:
            ask += [("fl", FIELDS)]
        ask += [("filter", one) for one in self.filters]
        if self.collapse and not self.paged:
            ask += [("collapse", self.collapse)]
        ask += [(k, v) for k, v in (("from", self.since), ("to", self.until)) if v]
        if self.paged:
            ask += [("page", str(page))]
        else:
            ask += [("limit", str(self.limit)), ("showResumeKey", "true")]
            ask += [("resumeKey", resume)] if resume else []
        return f"{self.server}{'&' if '?' in self.server else '?'}{urlencode(ask)}"


class CdxWalk:
    """One pass over what an index holds of a site, resumable: keep `resume` and `page`.

    `problems` says what may be missing; a walk that isn't `whole` is no inventory.

    >>> walk = CdxWalk(Query("http://a.org/cdx", "e.com"))
    >>> walk.take() == Query("http://a.org/cdx", "e.com").at(), walk.take()
    (True, None)
    >>> walk.found(Reading(hints=2, complete=True)); walk.take(), walk.whole, walk.report
    (None, True, '2 pages')
    """

    def __init__(
        self, query: Query, *, resume: str = "", page: int = 0, max_answers: int = 1_000
    ) -> None:
        self.resume = resume
        self.page = page
        self.hints = 0
        self.whole = False
        self.problems: list[str] = []
        self._query = query
        self._left = max_answers
        self._last_key = ""
        self._keys = {resume}
        self._ready = True

    def take(self) -> str | None:
        """The next URL to fetch; None at the end, and while an answer is still out."""
        if not self._ready:
            return None
        self._ready = False
        if self._left <= 0:
            self.problems.append("stopped at the cap of answers")
            return None
        self._left -= 1
        return self._query.at(self.resume, self.page)

    def found(self, reading: Reading) -> None:
        """How the answer was read; without an answer the walk stands where it was."""
        self.hints += reading.hints
        first, last = reading.span
        if first and first < self._last_key:
            self._stop(f"the index jumped back: {first} behind {self._last_key}")
        elif reading.warnings[Warned.OUT_OF_ORDER]:
            self._stop("keys out of order within an answer")
        elif reading.failed and not (self._query.paged and self.page):
            self._stop(reading.failed)
        elif reading.shortened:
            self._stop("an answer was cut short")
        elif self._query.paged:
            self._next_page(reading)
        else:
            self._next_key(reading)
        self._last_key = max(self._last_key, last)

    def _next_page(self, reading: Reading) -> None:
        if reading.failed or not reading.span[0]:
            self.whole = True  # behind the last page
            return
        self.page += 1
        self._ready = True

    def _next_key(self, reading: Reading) -> None:
        key = reading.resume
        if not key:
            self.whole = True
        elif key in self._keys:
            self._stop("the resume key repeats itself")
        elif ")" not in unquote_plus(key):
            self._stop(f"the resume key names no URL: {key[:40]!r}")
        else:
            self._keys.add(key)
            self.resume, self._ready = key, True

    def _stop(self, why: str) -> None:
        self.problems.append(why)

    @property
    def report(self) -> str:
        """How much was got: never a part as if it were the whole."""
        pages = f"{self.hints:,} page{'s' if self.hints != 1 else ''}"
        return pages if self.whole else f"{pages}, and more that were not read"
