"""Hints and links -> pages of the frontier: one address each, deduplicated, within the limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recrawl.engine.crawl import Crawl
from recrawl.frontier.score import enqueue_score
from recrawl.model import (
    Address,
    Hint,
    Host,
    Links,
    Page,
    Refusal,
    Refused,
    Writes,
)

HREF_CACHE = 100_000  # raw hrefs of pages already known: navigation repeats on every page


@dataclass(slots=True)
class Admitted:
    """What became of a batch of addresses."""

    new: int = 0
    known: int = 0
    refused: int = 0

    @property
    def sighted(self) -> int:
        """How many addresses the sources named."""
        return self.new + self.known + self.refused


def admit(crawl: Crawl, hints: Iterable[Hint], now: float) -> tuple[Admitted, Writes]:
    """Take in what the sources say: unknown addresses become NEW pages, or counted refusals.

    A seed's own host is always in scope, and may be private.
    """
    answer, writes = Admitted(), Writes()
    for hint in hints:
        found = crawl.project.normalizer.normalize(hint.url, hint.base, hint.charset)
        if isinstance(found, Refusal):
            _refuse(found.reason, "", answer, writes)
            continue
        _take(crawl, found, hint, now, answer, writes)
    return answer, writes


def admit_links(crawl: Crawl, links: Links, now: float) -> tuple[Admitted, Writes]:
    """The links of one page, in bulk. Costs nothing for hrefs seen before from the same folder."""
    answer, writes = Admitted(), Writes()
    if links.nofollow:
        writes.refused["", Refused.NOFOLLOW.value] += links.nofollow
        answer.refused += links.nofollow
    fresh, keys = _uncached(crawl, links, answer)
    if not fresh:
        return answer, writes
    addresses, refusals = crawl.project.normalizer.normalize_many(fresh, links.base, links.charset)
    for refusal in refusals:
        _refuse(refusal.reason, "", answer, writes)
    hint = Hint("", "link", depth=links.depth)
    known = [_take(crawl, address, hint, now, answer, writes) for address in addresses]
    if not refusals:  # else it isn't told which href is which address
        _remember(crawl, known, keys)
    return answer, writes


def _uncached(crawl: Crawl, links: Links, answer: Admitted) -> tuple[list[str], list[str]]:
    """The hrefs not known to lead to known pages, and their cache keys."""
    root = links.base.find("/", links.base.find("//") + 2)
    origin = links.base if root < 0 else links.base[:root]
    folder = links.base[: links.base.partition("?")[0].rfind("/") + 1]
    cache = crawl.href_cache
    fresh: list[str] = []
    keys: list[str] = []
    for href in links.hrefs:
        first = href[:1]
        if first == "/" and href[1:2] != "/":
            key = origin + "\n" + href
        elif first in "?#" or not first:
            fresh.append(href)
            keys.append("")
            continue
        else:
            key = folder + "\n" + href
        if key in cache:
            answer.known += 1
        else:
            fresh.append(href)
            keys.append(key)
    return fresh, keys


def _remember(crawl: Crawl, known: list[bool], keys: list[str]) -> None:
    """The hrefs that lead to pages need no look the next time."""
    if len(crawl.href_cache) > HREF_CACHE:
        crawl.href_cache.clear()
    crawl.href_cache.update([key for key, is_known in zip(keys, known, strict=True) if is_known])
    crawl.href_cache.discard("")


def _refuse(reason: Refused, origin: str, answer: Admitted, writes: Writes) -> None:
    writes.refused[origin, reason.value] += 1
    answer.refused += 1


def _take(
    crawl: Crawl, address: Address, hint: Hint, now: float, answer: Admitted, writes: Writes
) -> bool:
    """Admit one address or refuse it; True where it is a page now."""
    host = crawl.by_origin.get(address.origin)
    if host is not None and crawl.mirror.row_of(host.host_id, address.key) >= 0:
        answer.known += 1
        return True
    reason = crawl.project.gate.check(
        address,
        depth=hint.depth,
        hops=hint.hops,
        host_pages=host.n_pages if host is not None else 0,
        total_pages=crawl.mirror.n,
        seed=hint.source == "seed",
    )
    if reason is not None:
        _refuse(reason, address.origin if host is not None else "", answer, writes)
        return False
    if host is None:
        host = crawl.add_host(address.origin, now)
    page = _new_page(crawl, host, address, hint, now)
    host.n_pages += 1
    crawl.mirror.add(page)
    writes.new_pages[page.host_id, page.key] = page
    writes.hosts[host.host_id] = host
    answer.new += 1
    crawl.enqueue_new(page, seed=hint.source == "seed")
    return True


def _new_page(crawl: Crawl, host: Host, address: Address, hint: Hint, now: float) -> Page:
    page_type, value, _ = crawl.project.classify(address)
    return Page(
        host.host_id,
        address.key,
        address.path,
        page_type=page_type,
        value=hint.value if hint.value is not None else value,
        depth=hint.depth,
        hops=hint.hops,
        score=enqueue_score(hint.depth, value),
        first_seen=now,
    )
