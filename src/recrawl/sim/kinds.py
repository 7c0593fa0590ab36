"""What kinds of site the made-up web has: how their pages are addressed, valued and changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from recrawl.units import DAY, HOUR, MINUTE

NEVER = float("inf")


class Validator(StrEnum):
    """What a host's ETag and Last-Modified are worth."""

    ETAG = "etag"  # honest: moves with the record
    LAST_MODIFIED = "last-modified"  # honest: the time of the last change
    NOISY_ETAG = "noisy etag"  # moves NOISY_FACTOR times as often as the record
    NONE = "none"  # no validator is sent
    IGNORED = "ignored"  # an ETag is sent, conditional requests are answered in full

    @property
    def answers_304(self) -> bool:
        """True where a conditional request can be answered by 304."""
        return self not in (Validator.NONE, Validator.IGNORED)


NOISY_FACTOR = 20.0
NOISY_FLOOR = 1.0 / (30 * DAY)  # the record rate that a page which never changes is noisy for


@dataclass(frozen=True, slots=True)
class Band:
    """`share` of the pages change with a mean gap drawn log-uniformly from [fastest, slowest]."""

    share: float
    fastest: float  # seconds, NEVER = no change at all
    slowest: float


@dataclass(frozen=True, slots=True)
class PageType:
    """A page type as a crawler's configuration would describe it."""

    name: str
    pattern: str  # path prefix
    value: float


@dataclass(frozen=True, slots=True)
class HostKind:
    """One kind of site: a home page, `sections` chains of listing pages, and items on them."""

    name: str
    item: PageType
    item_path: str  # with {n}
    listing_path: str  # with {n}
    sections: int
    home: Band
    listings: tuple[Band, ...]
    items: tuple[Band, ...]
    validator: Validator  # of the first host of this kind


LISTING = PageType("listing", "/", 1.0)
_NEVER = (NEVER, NEVER)

KINDS: tuple[HostKind, ...] = (
    HostKind(
        "shop", PageType("product", "/product/", 3.0),
        "/product/{n}.html", "/category/{n}.html", 12,
        home=Band(1, 1 * DAY, 1 * DAY),
        listings=(Band(1, 4 * DAY, 30 * DAY),),
        items=(Band(0.05, 2 * HOUR, 8 * HOUR), Band(0.25, 1 * DAY, 4 * DAY),
               Band(0.4, 5 * DAY, 20 * DAY), Band(0.3, *_NEVER)),
        validator=Validator.ETAG,
    ),
    HostKind(
        "news", PageType("story", "/story/", 1.0), "/story/{n}", "/section/{n}", 8,
        home=Band(1, 15 * MINUTE, 15 * MINUTE),
        listings=(Band(1, 2 * HOUR, 12 * HOUR),),
        items=(Band(0.06, 1 * HOUR, 6 * HOUR), Band(0.24, 2 * DAY, 10 * DAY),
               Band(0.35, 15 * DAY, 60 * DAY), Band(0.35, *_NEVER)),
        validator=Validator.NOISY_ETAG,
    ),
    HostKind(
        "docs", PageType("guide", "/guide/", 1.0), "/guide/{n}.html", "/chapter/{n}/", 10,
        home=Band(1, 5 * DAY, 5 * DAY),
        listings=(Band(1, 10 * DAY, 60 * DAY),),
        items=(Band(0.1, 1 * DAY, 5 * DAY), Band(0.5, 8 * DAY, 90 * DAY), Band(0.4, *_NEVER)),
        validator=Validator.LAST_MODIFIED,
    ),
    HostKind(
        "forum", PageType("thread", "/thread", 1.0), "/thread?id={n}", "/board?id={n}", 5,
        home=Band(1, 30 * MINUTE, 30 * MINUTE),
        listings=(Band(1, 4 * HOUR, 2 * DAY),),
        items=(Band(0.03, 15 * MINUTE, 1 * HOUR), Band(0.12, 6 * HOUR, 2 * DAY),
               Band(0.35, 4 * DAY, 20 * DAY), Band(0.5, *_NEVER)),
        validator=Validator.NONE,
    ),
    HostKind(
        "market", PageType("offer", "/offer/", 2.0), "/offer/{n}/view", "/trade/{n}", 6,
        home=Band(1, 1 * HOUR, 1 * HOUR),
        listings=(Band(1, 12 * HOUR, 4 * DAY),),
        items=(Band(0.05, 15 * MINUTE, 2 * HOUR), Band(0.3, 12 * HOUR, 3 * DAY),
               Band(0.45, 4 * DAY, 15 * DAY), Band(0.2, *_NEVER)),
        validator=Validator.IGNORED,
    ),
)  # fmt: skip
