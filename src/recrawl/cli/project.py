"""An existing project, opened to be read: its settings, its store, and the names of its hosts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.cli.errors import UsageError
from recrawl.units import UnitError, parse_duration, parse_iso

if TYPE_CHECKING:
    from recrawl.config import Settings
    from recrawl.model import Host, Page
    from recrawl.ports import Store

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Project:
    """What a reading command needs."""

    settings: Settings
    store: Store
    hosts: dict[int, Host]

    @property
    def origins(self) -> dict[int, str]:
        """host_id -> origin."""
        return {host_id: host.origin for host_id, host in self.hosts.items()}

    def url(self, page: Page) -> str:
        """Where a page is fetched."""
        return self.hosts[page.host_id].origin + page.path

    def type_of(self, page_type: int) -> str:
        """The name of a page type."""
        from recrawl.report import type_name

        return type_name(page_type, self.settings.page_types)

    def mode_of(self, page_type: int) -> str:
        """How pages of a type are fetched."""
        modes = self.settings.page_modes
        return modes[page_type] if page_type < len(modes) else "plain"

    def host_ids(self, site: str) -> set[int]:
        """The hosts that an origin or a host name means, '' = all. Raises UsageError."""
        if not site:
            return set(self.hosts)
        wanted = site.rstrip("/").lower()
        found = {
            host_id
            for host_id, host in self.hosts.items()
            if wanted in (host.origin, _authority(host.origin), _name(host.origin))
        }
        if not found:
            known = ", ".join(sorted(_authority(h.origin) for h in self.hosts.values())[:10])
            raise UsageError(f"no host {site!r} in this crawl; known: {known or 'none yet'}")
        return found

    def urls_of(self, keys: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """(host_id, key) -> URL; key 0 is robots.txt."""
        wanted = list(dict.fromkeys(keys))
        origins = self.origins
        urls = {
            (host_id, key): f"{origins.get(host_id, '?')}/robots.txt"
            for host_id, key in wanted
            if key == 0
        }
        for i in range(0, len(wanted), CHUNK):
            for page in self.store.load_pages(wanted[i : i + CHUNK]):
                urls[page.host_id, page.key] = self.url(page)
        return urls


def _authority(origin: str) -> str:
    return origin.partition("://")[2]


def _name(origin: str) -> str:
    rest = _authority(origin)
    return rest[: rest.index("]") + 1] if rest.startswith("[") else rest.partition(":")[0]


@contextmanager
def opened(config: Path) -> Iterator[Project]:
    """Open the project of that file to read. Raises ConfigError, StoreError."""
    from recrawl.config import load

    settings = load(config)
    with store_to_read(settings) as store:
        yield Project(settings, store, {host.host_id: host for host in store.load_hosts()})


@contextmanager
def store_to_read(settings: Settings) -> Iterator[Store]:
    """The store of a project that was crawled before. Raises StoreError."""
    from recrawl.ports import StoreError
    from recrawl.stores import SqliteStore

    if not settings.store.exists():
        raise StoreError(f"{settings.store}: nothing was crawled yet; start with `recrawl run`")
    store = SqliteStore.open(settings.store, create=False, read_only=True)
    try:
        yield store
    finally:
        store.close()


def moment(text: str, now: float | None = None) -> float:
    """'2 d' ago, or a date -> epoch seconds; '' is the beginning. Raises UsageError."""
    if not text:
        return 0.0
    try:
        return (time.time() if now is None else now) - parse_duration(text)
    except UnitError:
        pass
    try:
        return parse_iso(text)
    except (UnitError, OverflowError, OSError):
        raise UsageError(
            f"{text!r} is no time; write '2 d' (ago), 2026-11-30 or 2026-11-30T18:04:00Z"
        ) from None


def when(t: float) -> str | None:
    """A time for people and programs; None for never."""
    from recrawl.units import iso

    try:
        return iso(t) if t > 0 else None
    except (OverflowError, OSError, ValueError):
        return None
