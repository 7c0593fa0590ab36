"""Where a seed leads, the project goes, if no more than http(s) and a leading www. differ."""

from __future__ import annotations

from recrawl.engine.crawl import Crawl
from recrawl.frontier.admit import same_site
from recrawl.frontier.private import is_private_literal
from recrawl.model import Address


def widen_scope(crawl: Crawl, seed: str, target: str) -> None:
    """Take the host that a seed redirects to into scope, if it is the same site (`same_site`)."""
    asked, led = (crawl.project.normalizer.normalize(url) for url in (seed, target))
    if isinstance(asked, Address) and isinstance(led, Address) and same_site(asked, led):
        crawl.project.gate.scope.add(_pattern(led))


def restore_scope(crawl: Crawl, seeds: list[Address]) -> None:
    """After a restart: the hosts that seeds led to, as the store knows them."""
    for origin in crawl.by_origin:
        known = crawl.project.normalizer.normalize(origin + "/")
        if isinstance(known, Address) and any(same_site(seed, known) for seed in seeds):
            crawl.project.gate.scope.add(_pattern(known))


def _pattern(address: Address) -> str:
    """The host; a private one with its port, as config's default scope has it."""
    name = address.hostname
    return f"{name}:{address.port}" if is_private_literal(name) else name
