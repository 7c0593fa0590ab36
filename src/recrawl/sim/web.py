"""A made-up web whose truth is known: which page exists, and at what times its record changed.

Pure and seeded: the same spec gives the same web in every process. Pages are numbered 0..n-1 over
all hosts; redirects and dead links are addresses beside them, with no record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from recrawl.sim.kinds import HostKind, PageType, Validator
from recrawl.units import DAY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WebSpec:
    """What to make: everything that a second process needs to make the same web."""

    seed: int = 1
    hosts: int = 5
    pages: int = 2000
    days: float = 30.0
    start: float = 1_767_225_600.0  # 2026-01-01, epoch seconds

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= 250:
            raise ValueError(f"{self.hosts} hosts: a made-up web has 1 to 250 (one address each)")
        if self.pages < 40 * self.hosts:
            raise ValueError(f"{self.pages} pages: {self.hosts} hosts need at least 40 each")
        if not self.days > 0:
            raise ValueError(f"{self.days} days: the span must be positive")

    @property
    def end(self) -> float:
        """The end of the span in which changes were drawn."""
        return self.start + self.days * DAY


@dataclass(frozen=True, slots=True)
class MadeUpHost:
    """One site; `ip` is its loopback address."""

    ip: str
    kind: HostKind
    validator: Validator
    throttled: bool
    home: int  # page number
    pages: range  # page numbers
    nav: tuple[int, ...]  # the first listing page of every section
    extra: tuple[str, ...]  # addresses that are no pages, linked from the home page
    redirects: dict[str, tuple[int, str]]  # path -> (status, target)
    missing: frozenset[str]


@dataclass(frozen=True)
class MadeUpWeb:
    """The truth. Arrays have one element a page; `changes` is flat, page i's times being
    `changes[bounds[i]:bounds[i + 1]]`, ascending; `moves` likewise for the validator.
    """

    spec: WebSpec
    hosts: tuple[MadeUpHost, ...]
    host: Ints
    paths: tuple[str, ...]
    types: tuple[PageType, ...]
    links: tuple[tuple[int, ...], ...]  # in the main part
    related: tuple[tuple[int, ...], ...]  # "people also viewed", shown in a new order each time
    value: Floats
    rate: Floats  # changes of the record a second
    validator_rate: Floats  # changes of the validator a second
    created: Floats
    died: Floats  # inf = never
    gone_status: Ints  # 404 or 410, once dead
    size: Ints  # bytes of HTML, about
    changes: Floats
    bounds: Ints
    moves: Floats
    move_bounds: Ints
    _index: dict[tuple[int, str], int] = field(repr=False)
    _ips: dict[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.paths)

    def url(self, page: int, port: int) -> str:
        """The address of a page, given the port that the server got."""
        return f"http://{self.hosts[self.host[page]].ip}:{port}{self.paths[page]}"

    def host_of(self, ip: str) -> int | None:
        """The number of the host at that address."""
        return self._ips.get(ip)

    def page_at(self, host: int, path: str) -> int | None:
        """The page of a host under `path` (with query; tracking parameters are ignored)."""
        page = self._index.get((host, path))
        if page is None and "utm_" in path:
            bare, _, query = path.partition("?")
            kept = "&".join(p for p in query.split("&") if not p.startswith("utm_"))
            page = self._index.get((host, f"{bare}?{kept}" if kept else bare))
        return page

    def find(self, url: str) -> int | None:
        """The page that a URL leads to, or None: another host, a redirect, a dead link."""
        parts = urlsplit(url)
        host = self._ips.get(parts.hostname or "")
        if host is None:
            return None
        return self.page_at(host, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))

    def versions(self, pages: Ints, times: Floats) -> Ints:
        """How often the record of each page had changed by each time (elementwise)."""
        return self._change_keys.count(pages, times) - self.bounds[pages]

    def validator_versions(self, pages: Ints, times: Floats) -> Ints:
        """The same for what the validator shows."""
        return self._move_keys.count(pages, times) - self.move_bounds[pages]

    def next_change(self, pages: Ints, times: Floats) -> Floats:
        """When each page's record next changes after each time (inf = not in the span)."""
        k = self._change_keys.count(pages, times)
        padded = np.append(self.changes, np.inf)
        return np.where(k < self.bounds[pages + 1], padded[k], np.inf)

    def page_version(self, url: str, t: float) -> int:
        """How often the record at `url` had changed by `t`. Raises KeyError: no such page."""
        page = self._page(url)
        lo, hi = self.bounds[page], self.bounds[page + 1]
        return int(np.searchsorted(self.changes[lo:hi], t, side="right"))

    def changed_between(self, url: str, t0: float, t1: float) -> bool:
        """Did the record change in (t0, t1]? Raises KeyError: no such page."""
        return self.page_version(url, t0) != self.page_version(url, t1)

    def fresh(self, url: str, last_seen: float, now: float) -> bool:
        """Is a copy read at `last_seen` still true at `now`? Raises KeyError: no such page."""
        died = self.died[self._page(url)]
        return not self.changed_between(url, last_seen, now) and not last_seen < died <= now

    def page_types(self) -> tuple[PageType, ...]:
        """The page types in use, the most specific pattern first."""
        return tuple(sorted(set(self.types), key=lambda t: (-len(t.pattern), t.name)))

    def _page(self, url: str) -> int:
        page = self.find(url)
        if page is None:
            raise KeyError(f"{url} is no page of this web")
        return page

    @cached_property
    def _change_keys(self) -> _Keys:
        return _Keys(self.spec, self.changes, self.bounds)

    @cached_property
    def _move_keys(self) -> _Keys:
        return _Keys(self.spec, self.moves, self.move_bounds)


class _Keys:
    """Times of all pages on one line, page after page, so that one search answers for all."""

    def __init__(self, spec: WebSpec, times: Floats, bounds: Ints) -> None:
        self._start = spec.start
        self._width = spec.days * DAY + 2.0
        owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        self._keys = owner * self._width + (times - self._start)

    def count(self, pages: Ints, times: Floats) -> Ints:
        """How many of the times, all pages in order, stand at or before (page, time)."""
        offset = np.clip(times - self._start, -1.0, self._width - 1.0)
        return np.searchsorted(self._keys, pages * self._width + offset, side="right")
