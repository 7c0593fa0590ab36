"""Rows -> fetches that found nothing, by site and page type. Rows wait in a file, sorted there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from recrawl.audit.histories import CHANGED, NO_SIZE, PAGE_READS, SAME, UNKNOWN, Histories, Read
from recrawl.audit.rows import Row

BATCH = 20_000
SLUG = 24  # a longer segment is a title or an id
DEPTH = 3
GROUPS = 10_000  # sites and types told apart; what comes later is "other"
OTHER = ("other", "other")


@dataclass(slots=True)
class Group:
    """One site and page type. `judged` fetches could be held against the one before."""

    fetches: int = 0
    bytes: int = 0
    failed: int = 0
    judged: int = 0
    nothing: int = 0  # judged, unchanged
    bytes_nothing: int = 0
    pages: int = 0


@dataclass(slots=True)
class Waste:
    """The whole log."""

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    evidence: dict[str, int] = field(default_factory=dict)  # judged by what -> fetches
    once: int = 0  # pages read once: they say nothing of change
    first: float = 0.0
    last: float = 0.0


def page_type(url: str) -> str:
    """The path with ids and names masked.

    >>> page_type("http://a.b/shop/item-123/view.html?x=1"), page_type("http://a.b/")
    ('/shop/*/*.html', '/')
    """
    parts = url.split("://", 1)[-1].partition("?")[0].split("/")[1:]
    if parts in ([], [""]):
        return "/"
    last = parts[-1]
    stem, dot, kind = last.rpartition(".")
    end = "" if not last else f"*.{kind}" if dot and stem and kind.isalpha() else "*"
    masked = ["*" if len(p) > SLUG or any(c.isdigit() for c in p) else p for p in parts[:-1]]
    return "/" + "/".join([*masked[:DEPTH], end])


def site(url: str) -> str:
    """The host (and port), lower case."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return "other"


class Fetches:
    """Rows put down in a temporary database and read back by page, then time."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;"
            "CREATE TABLE url(key INTEGER PRIMARY KEY, url TEXT, kind TEXT);"
            "CREATE TABLE fetch(key INTEGER, t REAL, status INTEGER, bytes INTEGER,"
            " digest INTEGER, changed INTEGER); BEGIN"
        )

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def add(self, rows: Iterable[Row]) -> Iterator[int]:
        """Put rows down; yields how many, a batch at a time."""
        batch: list[Row] = []
        for row in rows:
            batch.append(row)
            if len(batch) == BATCH:
                yield self._put(batch)
                batch = []
        yield self._put(batch)

    def _put(self, rows: list[Row]) -> int:
        urls, fetches = {}, []
        for r in rows:
            key = _hash(r.url)
            kind = None if r.page_type is None else _text(r.page_type)
            urls[key, kind] = (key, _text(r.url), kind)
            digest = None if r.digest is None else _hash(r.digest)
            fetches.append((key, r.time, r.status, r.bytes, digest, r.changed))
        # of several names for a page the first by the alphabet, whatever the order of the rows
        self._db.executemany(
            "INSERT INTO url VALUES(?,?,?) ON CONFLICT(key) DO UPDATE SET "
            "kind=min(coalesce(kind,excluded.kind),coalesce(excluded.kind,kind))",
            urls.values(),
        )
        self._db.executemany("INSERT INTO fetch VALUES(?,?,?,?,?,?)", fetches)
        return len(rows)

    def waste(self, histories: Histories | None = None) -> Waste:
        """Judge every fetch by the one before it of the same page.

        `histories` is told the reads of every page.
        """
        out, page, keep = Waste(), _Page(None), histories or Histories()
        span = self._db.execute("SELECT min(t), max(t) FROM fetch").fetchone()
        out.first, out.last = span[0] or 0.0, span[1] or 0.0
        group = Group()
        for key, url, kind, t, status, size, digest, changed in self._db.execute(
            "SELECT f.key, u.url, u.kind, f.t, f.status, f.bytes, f.digest, f.changed"
            " FROM fetch f JOIN url u ON u.key = f.key ORDER BY 1,4,5,6,7,8"
        ):
            if key != page.key:
                page.leave(out, keep)
                name = site(url), kind or page_type(url)
                if name not in out.groups and len(out.groups) >= GROUPS:
                    name = OTHER
                group = out.groups.setdefault(name, Group())
                group.pages += 1
                page = _Page(key, name)
            _count(out, group, page, t, status, size, digest, changed)
        page.leave(out, keep)
        return out


@dataclass(slots=True)
class _Page:
    key: int | None
    name: tuple[str, str] = OTHER
    reads: int = 0
    digest: int | None = None
    size: int | None = None
    history: list[Read] = field(default_factory=list)

    def leave(self, out: Waste, histories: Histories) -> None:
        """Its last fetch was counted."""
        out.once += self.reads == 1
        if self.reads:
            histories.add(self.name, self.history)


def _count(
    out: Waste,
    group: Group,
    page: _Page,
    t: float,
    status: int | None,
    size: int | None,
    digest: int | None,
    changed: int | None,
) -> None:
    group.fetches += 1
    group.bytes += size or 0
    if status is not None and status != 304 and not 200 <= status < 300:
        group.failed += 1
        return
    by, found = _verdict(page, status, size, digest, changed)
    if by:
        group.judged += 1
        out.evidence[by] = out.evidence.get(by, 0) + 1
        if not found:
            group.nothing += 1
            group.bytes_nothing += size or 0
    page.reads += 1
    if len(page.history) < PAGE_READS:
        verdict = (CHANGED if found else SAME) if by else UNKNOWN
        page.history.append((t, status == 304, NO_SIZE if size is None else size, verdict))
    if status != 304:
        page.digest = page.digest if digest is None else digest
        page.size = page.size if size is None else size


def _verdict(
    page: _Page, status: int | None, size: int | None, digest: int | None, changed: int | None
) -> tuple[str, bool]:
    """(by what it is known, whether something had changed); '' where nothing tells."""
    if page.reads and changed is not None:
        return "changed column", bool(changed)
    if page.reads and status == 304:
        return "status 304", False
    if digest is not None and page.digest is not None:
        return "content hash", digest != page.digest
    if size is not None and page.size is not None:
        return "size (weak)", size != page.size
    return "", False


def _hash(text: str) -> int:
    raw = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
