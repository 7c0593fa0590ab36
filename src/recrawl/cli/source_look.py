"""One source, read once: from a file or over the wire, whatever it is, and what it would admit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from recrawl import __version__
from recrawl.cli.errors import UsageError
from recrawl.cli.first_look import start_of
from recrawl.extract.document import Document, join
from recrawl.fetch.http import HttpFetcher
from recrawl.frontier.private import is_private_literal
from recrawl.frontier.robots import MAX_BYTES, parse_robots
from recrawl.model import Address, Hint, Kind, Limits, Outcome, Refusal, Refused, Request
from recrawl.sources.detect import detect, read_as
from recrawl.sources.feed import feeds_of
from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_walk import Walk
from recrawl.urls.canonical import Normalizer

MAX_HOPS = 5
MAX_FOLLOWED = 50  # sub-sitemaps of one look
CHUNK = 65_536
_LIMITS = Limits(body=64_000_000, decoded=256_000_000, ratio=1_000, total=300.0)
_PARTIAL = (Kind.CAPPED, Kind.INCOMPLETE, Kind.TIMEOUT, Kind.DECODE_ERROR)


@dataclass(frozen=True, slots=True)
class Body:
    """A source's bytes and what came with them; `failed` says why there are none."""

    chunks: Iterable[bytes]
    url: str
    content_type: str = ""
    failed: str = ""
    partial: bool = False


@dataclass(slots=True)
class SourceLook:
    """What was read, in all: rows by URL in the order found, refusals and repeats counted."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    reading: Reading = field(default_factory=Reading)
    feeds: list[str] = field(default_factory=list)  # that an HTML page names
    followed: int = 0
    bytes: int = 0

    def admit(self, hint: Hint, base: str, normalizer: Normalizer) -> None:
        """Keep the address of a hint; the same one again adds only what it knows."""
        found = normalizer.normalize(hint.url, base, hint.charset)
        reason = _refusal(found, base)
        if isinstance(found, Refusal) or reason is not None:
            self.refused[str(reason)] += 1
            return
        row = self.rows.get(found.canonical)
        if row is not None:
            self.repeated += 1
            if (hint.modified_at or 0.0) > (row["modified_at"] or 0.0):
                row["modified_at"] = hint.modified_at
            return
        self.rows[found.canonical] = {
            "url": found.url,
            "modified_at": hint.modified_at,
            "value": hint.value,
            "type": hint.page_type,
            "digest": hint.digest,
            "source": hint.source,
        }

    def absorb(self, other: Reading) -> None:
        """Add what a followed sub-sitemap told; what failed there is missing here."""
        self.followed += 1
        self.reading.warnings.update(other.warnings)
        self.reading.complete = self.reading.complete and other.complete
        if other.failed:
            self.refused["sub-sitemap that could not be read"] += 1


def _refusal(found: Address | Refusal, base: str) -> Refused | None:
    """Why no project would admit it: among others, what is private is left to its own host.

    A name without dots passes: whether it is private is for the project's resolver to say.
    """
    if isinstance(found, Refusal):
        return found.reason
    if found.userinfo:
        return Refused.USERINFO
    name = found.hostname
    if is_private_literal(name) and ("." in name or ":" in name or name == "localhost"):
        home = Normalizer().normalize(base)
        if isinstance(home, Refusal) or home.hostname != name:
            return Refused.PRIVATE_ADDRESS
    return None


def file_body(path: Path, base: str) -> Body:
    """A file that was fetched from `base`. Raises OSError, UsageError."""
    if not base:
        raise UsageError("say where the file comes from: --base URL")
    if isinstance(Normalizer().normalize(base), Refusal):
        raise UsageError(f"--base {base!r} is no http or https address")
    return Body(_pieces(path), base)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(CHUNK):
            yield piece


class Wire:
    """Fetches sources with the project's fetcher; `bytes` is what it cost."""

    def __init__(self, contact: str) -> None:
        self.bytes = 0
        self._contact = contact
        agent = f"recrawl/{__version__}" + (f" (+{contact})" if contact else "")
        self._fetcher = HttpFetcher({}, agent)

    async def aclose(self) -> None:
        """Close the fetcher."""
        await self._fetcher.aclose()

    async def get(self, url: str, home: str = "") -> Body:
        """One source, redirects followed. Private addresses only on the host of `home` (as a
        seed's), or of `url` itself where the user named it. Raises UsageError.
        """
        address = start_of(url, self._contact)
        allowed = start_of(home, self._contact).hostname if home else address.hostname
        seen = address.url
        for _ in range(MAX_HOPS + 1):
            private = address.hostname == allowed and is_private_literal(allowed)
            request = Request(address.url, limits=_LIMITS, private_ok=private)
            outcome = await self._fetcher.fetch(request)
            self.bytes += outcome.cost.bytes
            if outcome.kind is not Kind.REDIRECT:
                return _answer(outcome, address.url)
            target = join(address.url, outcome.location or "")
            found = Normalizer().normalize(target or "")
            if isinstance(found, Refusal):
                return Body((), seen, failed=f"redirects to {outcome.location!r}: no web address")
            address = found
        return Body((), seen, failed=f"more than {MAX_HOPS} redirects")


def _answer(outcome: Outcome, url: str) -> Body:
    partial = outcome.kind in _PARTIAL and outcome.body != b""
    if not partial and outcome.kind is not Kind.OK:
        said = f"answered {outcome.status}" if outcome.status else str(outcome.kind)
        return Body((), url, failed=f"{said} {outcome.detail}".strip())
    return Body((outcome.body,), url, outcome.header("content-type") or "", partial=partial)


def read_body(body: Body, kind: str, now: float, look: SourceLook, reading: Reading) -> None:
    """Read one source into the look; its bytes say what it is where `kind` is ''."""
    if body.failed:
        reading.fail(body.failed)
        return
    stream = iter(body.chunks)
    head = b""
    for piece in stream:
        head += piece
        if len(head) >= CHUNK:
            break
    kind = kind or detect(head, body.content_type, body.url)
    chunks = chain((head,), stream)
    normalizer = Normalizer()
    read = _robots if kind == "robots" else read_as
    for hint in read(kind, chunks, body.url, now, reading):
        look.admit(hint, body.url, normalizer)
    if kind == "html":
        page = Document(head, body.content_type or "text/html", body.url)
        look.feeds = [url for url, _ in feeds_of(page)]
    if body.partial:
        reading.complete = False
        reading.cut(Warned.TRUNCATED, body.url, "the answer was cut short")


def _robots(
    kind: str, chunks: Iterable[bytes], base: str, now: float, reading: Reading
) -> Iterator[Hint]:
    """The Sitemap lines of a robots.txt; they are `reading.maps` too. Has no use for `now`."""
    reading.kind = kind
    held = bytearray()
    for piece in chunks:
        held += piece
        if len(held) > MAX_BYTES:
            break
    found = parse_robots(bytes(held))
    if "html" in found.flags:
        reading.fail("an HTML page, no robots.txt")
        return
    for written in found.sitemaps:
        url = join(base, written)
        if url is None:
            reading.warn(Warned.BAD_URL, written)
            continue
        reading.maps.append(url)
        reading.hints += 1
        yield Hint(url, f"robots:{base}")
    if not found.sitemaps:
        reading.warn(Warned.NOTHING_LISTED)
    reading.finish()


async def look_into(
    what: str, base: str, kind: str, now: float, *, contact: str = "", follow: bool = False
) -> SourceLook:
    """Read the file or the URL `what`, and with `follow` up to 50 sitemaps that it lists.

    Raises UsageError, OSError.
    """
    look = SourceLook()
    wire = Wire(contact)
    try:
        if "://" not in what or Path(what).exists():
            body = file_body(Path(what), base)
        else:
            body = await wire.get(what)
            body = Body(
                body.chunks, base or body.url, body.content_type, body.failed, body.partial
            )
        read_body(body, kind, now, look, look.reading)
        if follow and look.reading.maps:
            await _follow(look, body.url, wire, now)
    finally:
        look.bytes = wire.bytes
        await wire.aclose()
    return look


async def _follow(look: SourceLook, home: str, wire: Wire, now: float) -> None:
    maps = look.reading.maps
    if look.reading.kind == "robots":
        walk = Walk(home, maps, max_maps=MAX_FOLLOWED)
    else:  # an index: what it lists elsewhere is not its to say
        walk = Walk(home, [home], max_maps=MAX_FOLLOWED + 1)
        walk.take()
        walk.found(home, maps)
    while (url := walk.take()) is not None:
        reading = Reading()
        try:
            body = await wire.get(url, home)
        except UsageError as error:  # another host, which is owed a contact
            body = Body((), url, failed=str(error))
        read_body(body, "", now, look, reading)
        look.absorb(reading)
        walk.found(url, reading.maps)
    look.refused.update({str(why): n for why, n in walk.skipped.items()})
