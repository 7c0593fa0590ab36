"""A spec -> the made-up web: its sites, their links, and all their changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recrawl.sim.kinds import (
    KINDS,
    LISTING,
    NOISY_FACTOR,
    NOISY_FLOOR,
    Band,
    HostKind,
    PageType,
    Validator,
)
from recrawl.sim.web import Floats, Ints, MadeUpHost, MadeUpWeb, WebSpec
from recrawl.units import DAY

LISTED = 20  # items on a listing page
RELATED = 5
SIZE_MEDIAN, SIZE_SIGMA, SIZE_MIN, SIZE_MAX = 9_600.0, 0.68, 4_000.0, 60_000.0
DYING = 0.03  # share of the items that die within the span
CLOSEST = 2.0  # seconds between two changes: Last-Modified has no finer grain than one
THROTTLED_HOST = 2
VALIDATORS = tuple(Validator)


@dataclass
class _Draft:
    """The columns of the pages as they are laid out."""

    host: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    types: list[PageType] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    links: list[list[int]] = field(default_factory=list)
    related: list[tuple[int, ...]] = field(default_factory=list)
    items: list[int] = field(default_factory=list)

    def add(self, host: int, path: str, kind: PageType, gap: float) -> int:
        """A new page without links; returns its number."""
        self.host.append(host)
        self.paths.append(path)
        self.types.append(kind)
        self.gaps.append(gap)
        self.links.append([])
        self.related.append(())
        return len(self.paths) - 1


def make_web(spec: WebSpec) -> MadeUpWeb:
    """Lay out the sites and draw every change of the whole span (Poisson, one rate a page).

    The generator comes from the spec alone, so that every process makes the same web.
    """
    rng = np.random.Generator(np.random.PCG64(spec.seed))
    draft = _Draft()
    share = np.diff(np.linspace(0, spec.pages, spec.hosts + 1).astype(int))
    hosts = tuple(_lay_out(draft, i, int(n), rng) for i, n in enumerate(share))
    n = len(draft.paths)
    host = np.array(draft.host, dtype=np.int64)
    rate = 1.0 / np.array(draft.gaps)
    changes, bounds = _poisson_times(rate, spec, rng)
    noisy = np.array([h.validator is Validator.NOISY_ETAG for h in hosts])[host]
    extra_rate = np.where(noisy, (NOISY_FACTOR - 1) * np.maximum(rate, NOISY_FLOOR), 0.0)
    moves, move_bounds = _merged(changes, bounds, *_poisson_times(extra_rate, spec, rng))
    return MadeUpWeb(
        spec, hosts, host, tuple(draft.paths), tuple(draft.types),
        tuple(tuple(x) for x in draft.links), tuple(draft.related),
        value=np.array([t.value for t in draft.types]),
        rate=rate,
        validator_rate=rate + extra_rate,
        created=spec.start - rng.uniform(1, 365, n) * DAY // 1,
        died=_deaths(draft, spec, rng),
        gone_status=np.where(rng.random(n) < 0.5, 404, 410),
        size=_sizes(n, rng),
        changes=changes, bounds=bounds, moves=moves, move_bounds=move_bounds,
        _index={(h, p): i for i, (h, p) in enumerate(zip(draft.host, draft.paths, strict=True))},
        _ips={h.ip: i for i, h in enumerate(hosts)},
    )  # fmt: skip


def _lay_out(draft: _Draft, number: int, n: int, rng: np.random.Generator) -> MadeUpHost:
    kind = KINDS[number % len(KINDS)]
    first = len(draft.paths)
    home = draft.add(number, "/", LISTING, _gap((kind.home,), rng))
    nav, items = _sections(draft, number, kind, n - 1, rng)
    draft.links[home] = list(nav)
    draft.items += items
    for item in items:
        draft.related[item] = tuple(
            items[int(k)] for k in rng.choice(len(items), RELATED, replace=False)
        )
    for page in range(first, len(draft.paths)):
        draft.links[page].append(home)
    redirects, missing = _addresses(draft, items, rng)
    return MadeUpHost(
        ip=f"127.0.0.{number + 1}",
        kind=kind,
        # every further round of the kinds pairs them with another validator
        validator=VALIDATORS[
            (VALIDATORS.index(kind.validator) + number // len(KINDS)) % len(VALIDATORS)
        ],
        throttled=number == THROTTLED_HOST,
        home=home,
        pages=range(first, len(draft.paths)),
        nav=tuple(nav),
        extra=(*redirects, *missing, "/private/panel"),
        redirects=redirects,
        missing=frozenset(missing),
    )


def _sections(
    draft: _Draft, number: int, kind: HostKind, n: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """`n` pages as chains of listing pages, each showing its items and the next of the chain."""
    listings = max(kind.sections if n > 20 * kind.sections else 2, round(n / (LISTED + 1)))
    sections = min(kind.sections, listings)
    nav: list[int] = []
    items: list[int] = []
    shares = np.diff(np.linspace(0, n - listings, listings + 1).astype(int))
    previous: list[int] = []  # the last listing page of each section
    for k, count in enumerate(shares):
        page = draft.add(
            number, kind.listing_path.format(n=k + 1), LISTING, _gap(kind.listings, rng)
        )
        if k < sections:
            nav.append(page)
            previous.append(page)
        else:
            draft.links[previous[k % sections]].append(page)
            previous[k % sections] = page
        for _ in range(count):
            path = kind.item_path.format(n=1000 + len(items))
            item = draft.add(number, path, kind.item, _gap(kind.items, rng))
            draft.links[page].append(item)
            draft.links[item].append(page)
            items.append(item)
    return nav, items


def _gap(bands: tuple[Band, ...], rng: np.random.Generator) -> float:
    """Mean seconds between two changes (inf = never)."""
    band = bands[int(rng.choice(len(bands), p=[b.share for b in bands]))]
    if np.isinf(band.fastest):
        return np.inf
    return float(np.exp(rng.uniform(np.log(band.fastest), np.log(band.slowest))))


def _addresses(
    draft: _Draft, items: list[int], rng: np.random.Generator
) -> tuple[dict[str, tuple[int, str]], list[str]]:
    """Addresses without a record: redirects of every sort, and links that were always dead."""
    a, b, c = (draft.paths[int(i)] for i in rng.choice(items, 3, replace=False))
    redirects = {
        "/old/first.html": (301, a),
        "/moved/for-good": (308, b),
        "/today": (302, c),
        "/go/1": (301, "/go/2"),
        "/go/2": (302, "/go/3"),
        "/go/3": (301, a),
        "/loop/a": (302, "/loop/b"),
        "/loop/b": (302, "/loop/a"),
    }
    return redirects, [f"/missing/{k}.html" for k in range(3)]


def _poisson_times(rate: Floats, spec: WebSpec, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Change times of every page over the span, flat and ascending within a page, and bounds."""
    span = spec.end - spec.start
    counts = rng.poisson(rate * span)
    owner = np.repeat(np.arange(len(rate)), counts)
    times = rng.uniform(spec.start, spec.end, int(counts.sum()))
    order = np.lexsort((times, owner))
    return _apart(times[order], owner[order], len(rate))


def _merged(times: Floats, bounds: Ints, more: Floats, more_bounds: Ints) -> tuple[Floats, Ints]:
    """Two sets of times as one. The first set is kept whole: a validator shows every change."""
    n = len(bounds) - 1
    owner = np.concatenate(
        [np.repeat(np.arange(n), np.diff(bounds)), np.repeat(np.arange(n), np.diff(more_bounds))]
    )
    both = np.concatenate([times, more])
    order = np.lexsort((both, owner))
    counts = np.bincount(owner, minlength=n)
    return both[order], np.concatenate([[0], np.cumsum(counts)])


def _apart(times: Floats, owner: Ints, n: int) -> tuple[Floats, Ints]:
    """Drop the times that follow another of the same page too closely."""
    close = np.zeros(len(times), dtype=bool)
    close[1:] = (np.diff(times) < CLOSEST) & (np.diff(owner) == 0)
    counts = np.bincount(owner[~close], minlength=n)
    return times[~close], np.concatenate([[0], np.cumsum(counts)])


def _deaths(draft: _Draft, spec: WebSpec, rng: np.random.Generator) -> Floats:
    died = np.full(len(draft.paths), np.inf)
    dying = rng.choice(draft.items, round(DYING * len(draft.items)), replace=False)
    died[dying] = spec.start + rng.uniform(0.2, 0.9, len(dying)) * spec.days * DAY
    return died


def _sizes(n: int, rng: np.random.Generator) -> Ints:
    drawn = SIZE_MEDIAN * np.exp(SIZE_SIGMA * rng.standard_normal(n))
    return np.clip(drawn, SIZE_MIN, SIZE_MAX).astype(np.int64)
