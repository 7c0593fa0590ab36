"""What a site says of itself before its first crawl: robots.txt, and whether it has a sitemap."""

from __future__ import annotations

from dataclasses import dataclass, field

from recrawl import __version__
from recrawl.cli.errors import UsageError
from recrawl.fetch.http import HttpFetcher
from recrawl.frontier.robots import Robots
from recrawl.model import Address, Outcome, Refusal, Request
from recrawl.urls.canonical import Normalizer

USUAL_SITEMAPS = ("/sitemap.xml", "/sitemap_index.xml")


@dataclass
class FirstLook:
    """What was found, in words too, and the bytes that it cost."""

    notes: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    bytes: int = 0


def start_of(url: str, contact: str) -> Address:
    """Where to begin; https unless said otherwise. Raises UsageError."""
    text = url if "://" in url else f"https://{url}"
    found = Normalizer().normalize(text)
    if isinstance(found, Refusal):
        raise UsageError(f"{url!r} is no address to crawl: {found.reason}")
    if found.userinfo:
        raise UsageError("leave user and password out of the address: they don't belong in a file")
    if not contact and not _is_local(found.hostname):
        raise UsageError(
            "say how sites can reach you: --contact you@example.com (a crawler of the open web "
            "owes its hosts a name)"
        )
    return found


def _is_local(hostname: str) -> bool:
    return hostname in ("localhost", "[::1]") or hostname.startswith("127.")


async def look_at(address: Address, contact: str) -> FirstLook:
    """Ask for robots.txt and the usual sitemaps: up to three requests."""
    look = FirstLook()
    agent = f"recrawl/{__version__}" + (f" (+{contact})" if contact else "")
    fetcher = HttpFetcher({}, agent)
    local = _is_local(address.hostname)

    async def get(path: str) -> Outcome:
        outcome = await fetcher.fetch(Request(address.origin + path, private_ok=local))
        look.bytes += outcome.cost.bytes
        return outcome

    try:
        answer = await get("/robots.txt")
        _read_robots(look, answer, address, agent)
        for path in () if look.sitemaps else USUAL_SITEMAPS:
            if (await get(path)).status == 200:
                look.sitemaps.append(address.origin + path)
                break
    finally:
        await fetcher.aclose()
    listed = ", ".join(look.sitemaps[:3])
    look.notes.append(f"sitemap: {listed}" if listed else "no sitemap in the usual places")
    return look


def _read_robots(look: FirstLook, answer: Outcome, address: Address, agent: str) -> None:
    if answer.status != 200:
        said = f"answered {answer.status}" if answer.status else f"{answer.kind} ({answer.detail})"
        look.notes.append(f"robots.txt: {said}")
        return
    look.notes.append("robots.txt: read")
    robots = Robots(answer.body, agent, origin=address.origin)
    look.sitemaps = list(robots.sitemaps)
    if robots.crawl_delay:
        look.notes.append(f"robots.txt asks for {robots.crawl_delay:g} s between requests")
    if not robots.allows(address.path):
        look.notes.append(f"robots.txt forbids {address.path}: nothing will be fetched there")
