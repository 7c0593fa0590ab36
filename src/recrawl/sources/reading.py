"""What reading one source told besides its hints: warnings counted, examples, how it ended.

Every reader of this package is a generator `read(chunks, base, now, reading, ...)`: it yields
`Hint`s while the bytes come in and fills the `Reading` as it goes. It never raises on what the
bytes hold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

EXAMPLES = 5
_SHOWN = 200  # characters of an example's place and of its reason


class Warned(StrEnum):
    """What was odd about a source; every one is counted."""

    JUNK_BEFORE = "text before the document"
    MALFORMED = "malformed markup, read as far as it makes sense"
    NAMESPACE = "unusual namespace"
    CHARSET = "bytes that are not in the declared charset"
    TRUNCATED = "cut short: what came is kept"
    OVER_PROTOCOL = "over protocol limit, read anyway"
    OVER_LIMIT = "over limit: the rest was not read"
    NO_URL = "entry without a URL"
    BAD_URL = "unusable URL"
    OTHER_HOST = "URL of another host"
    BAD_DATE = "unreadable date"
    FUTURE_DATE = "date in the future"
    ABSURD_DATE = "date before 1995"
    BAD_ROW = "unreadable row"
    NOTHING_LISTED = "it lists nothing"
    LEFT_OUT = "capture of another status or type"
    OUT_OF_ORDER = "keys out of order: a part may be missing"


@dataclass(slots=True)
class Reading:
    """How one source was read. `kind` is set by the reader: 'sitemap', 'sitemap-index', ..."""

    kind: str = ""
    warnings: Counter[Warned] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)  # the first few, 'line or URL: why'
    hints: int = 0  # how many were yielded
    maps: list[str] = field(default_factory=list)  # an index's sub-sitemaps, absolute
    map_dates: dict[str, float] = field(default_factory=dict)  # their lastmod, where told
    complete: bool = False  # read to its end: only then is what it lacks evidence of removal
    failed: str = ""  # why the bytes are no such source at all: an HTML page, nothing
    shortened: bool = False  # a limit or damage cut it short
    resume: str = ""  # of an archive's answer: where the next one begins
    span: tuple[str, str] = ("", "")  # the first and the last key of an archive's answer

    def warn(self, reason: Warned, where: str = "", why: str = "", times: int = 1) -> None:
        """Count a warning; the first few of a source are kept as examples."""
        self.warnings[reason] += times
        if len(self.examples) < EXAMPLES:
            text = f"{where[:_SHOWN]}: {(why or reason)[:_SHOWN]}" if where else (why or reason)
            self.examples.append(text[: 2 * _SHOWN + 2])

    def cut(self, reason: Warned, where: str = "", why: str = "") -> None:
        """Count a warning that means that something is missing from here on."""
        self.shortened = True
        self.warn(reason, where, why)

    def fail(self, why: str) -> None:
        """The bytes are no such source."""
        self.failed = why

    def finish(self) -> None:
        """The reader came to the end of its bytes."""
        self.complete = not self.shortened and not self.failed
