"""What the columns of a list mean: guessed by name, or said by a `Mapping`; a row -> a hint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from recrawl.extract.document import join
from recrawl.extract.structured import at_path
from recrawl.model import Hint
from recrawl.sources.dates import ABSURD, believable
from recrawl.sources.reading import Reading, Warned
from recrawl.units import DAY

WEB = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which column or key holds what, '' = guessed. Keys of objects may be dotted paths.

    `items` is the path to the array of items within a JSON object.
    """

    url: str = ""
    lastmod: str = ""
    value: str = ""
    page_type: str = ""
    items: str = ""


GUESSES = {
    "url": ("url", "loc", "link", "href", "uri", "page_url", "permalink", "canonical_url",
            "address", "page", "website"),
    "lastmod": ("lastmod", "last_modified", "modified_at", "modified", "updated_at", "updated",
                "date_modified", "changed_at", "published_at", "date_published", "published",
                "date"),
    "value": ("value", "priority", "weight", "score"),
    "page_type": ("page_type", "type", "kind", "category"),
}  # fmt: skip


class Columns:
    """Rows -> hints, by what their columns mean."""

    def __init__(
        self, mapping: Mapping, base: str, source: str, now: float, reading: Reading
    ) -> None:
        self.mapping = mapping
        self._base = base
        self._source = source
        self._now = now
        self._reading = reading

    def hint(self, row: Any, where: str) -> Hint | None:
        """One row; None with a warning where it names no page."""
        if isinstance(row, str):
            if not row.startswith((*WEB, "/")):  # else any message would be a page
                self._reading.warn(Warned.BAD_URL, where, f"no web address: {row[:80]}")
                return None
            row = dict.fromkeys([self.mapping.url or "url"], row)
        if not isinstance(row, dict):
            self._reading.warn(Warned.BAD_ROW, where, "neither an object nor a URL")
            return None
        row = {str(name).lower(): value for name, value in row.items()}
        written = self._of(row, "url")
        if not isinstance(written, str) or not written.strip():
            self._reading.warn(Warned.NO_URL, where)
            return None
        url = join(self._base, written)
        if url is None or (not self._base and not written.strip().startswith(WEB)):
            self._reading.warn(Warned.BAD_URL, where, f"no web address: {written[:80]}")
            return None
        kind = self._of(row, "page_type")
        return Hint(
            url,
            self._source,
            modified_at=self._moment(self._of(row, "lastmod"), url),
            value=self._value(self._of(row, "value"), where),
            page_type=kind.strip() or None if isinstance(kind, str) else None,
        )

    def _of(self, row: dict[str, Any], what: str) -> Any:
        said = getattr(self.mapping, what)
        if said:
            found = row.get(said.lower())
            return at_path(row, tuple(said.lower().split("."))) if found is None else found
        return next((row[name] for name in GUESSES[what] if row.get(name) is not None), None)

    def _moment(self, written: Any, url: str) -> float | None:
        """A date in any form, or epoch seconds or milliseconds."""
        text = "" if written is None else str(written).strip()
        if text.isdecimal() and text.isascii() and len(text) in (10, 13):
            at = float(text) / (1 if len(text) == 10 else 1000)
            if ABSURD <= at <= self._now + DAY:
                return at
        return believable(text, self._now, self._reading, url)

    def _value(self, written: Any, where: str) -> float | None:
        if written is None or written == "":
            return None
        try:
            value = float(written)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not (0 <= value < math.inf):
            self._reading.warn(Warned.BAD_ROW, where, f"no value: {str(written)[:40]!r}")
            return None
        return value
