"""One visit: bought, made on the wire, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recrawl.model.address import Links
from recrawl.model.words import Blame, Kind, Purpose, Verdict
from recrawl.units import Spend


@dataclass(frozen=True, slots=True)
class WireCost:
    """What one exchange moved: TCP payload bytes `up` and `down`, TLS and proxy preambles too."""

    up: int = 0
    down: int = 0
    seconds: float = 0.0
    connects: int = 0  # new connections opened
    microcredits: int | None = None  # what a vendor says it charged; None = not told
    source: str = "kernel"  # kernel | estimate | vendor | reserved

    @property
    def bytes(self) -> int:
        """Both directions together."""
        return self.up + self.down


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one exchange: bytes and seconds."""

    body: int = 8_000_000  # on the wire
    decoded: int = 32_000_000
    ratio: int = 200  # decoded / wire, judged above 1 MB decoded
    head: int = 65_536
    connect: float = 10.0
    first_byte: float = 20.0
    total: float = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """One wire exchange to be made."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()  # conditional headers included
    limits: Limits = Limits()
    route: str = "direct"
    private_ok: bool = False  # may it reach private addresses (a seed, or allowed by the project)

    @property
    def conditional(self) -> bool:
        """True where it asks for a 304."""
        return any(k in ("If-None-Match", "If-Modified-Since") for k, _ in self.headers)


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit bought: the page, why, at what price, and the request that makes it."""

    lease: int
    host_id: int
    key: int
    purpose: Purpose
    request: Request
    reserved: Spend
    tau: float = 0.0  # seconds since the last reading, 0 = never read
    predicted: float = 0.0  # chance that the record changed, frozen when drawn
    gain: float = 0.0  # what the visit buys, in the goal's currency x value
    price: float = 0.0  # marginal price in the smallest unit of the binding cap
    score: float = 0.0
    bar: float = 0.0  # lambda of the window


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do now. `until` is when to ask again (inf = this window is finished)."""

    until: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the fetcher saw: always one, whatever happened."""

    kind: Kind
    cost: WireCost
    started: float = 0.0
    finished: float = 0.0
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()  # names lower-cased, latin-1 decoded, as received
    body: bytes = b""  # decoded
    wire_body: bytes = b""  # as received
    location: str | None = None
    retry_after: float | None = None  # seconds
    blame: Blame = Blame.NOBODY
    flags: frozenset[str] = frozenset()
    detail: str = ""
    final_ip: str = ""

    def header(self, name: str) -> str | None:
        """The first header of that name (lower-case), or None."""
        return next((v for k, v in self.headers if k == name), None)


@dataclass(frozen=True, slots=True)
class Record:
    """What a page says: named fields, and the digests that "changed" is judged by."""

    fields: dict[str, Any]
    digest1: bytes
    digest2: bytes


@dataclass(frozen=True, slots=True)
class Observation:
    """What an outcome says of its page and its host."""

    verdict: Verdict
    record: Record | None = None
    links: Links | None = None
    canonical: str | None = None
    target: str | None = None  # absolute URL of a redirect or refresh
    evidence: tuple[str, ...] = ()
    noindex: bool = False
