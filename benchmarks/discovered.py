"""Addresses as a crawl discovers them, the same for every contestant: most are known already."""

from __future__ import annotations

import random
from collections.abc import Iterator

HOSTS = 100
LINKS = 30  # on one page


def address(i: int, other_spelling: bool = False) -> str:
    """Page `i` of 0, 1, 2, ...; its other spelling leads to the same page by safe rules."""
    host = f"www.site-{i % HOSTS}.example.com"
    path = f"/category-{i % 977}/item-{i}"
    if i % 3 == 0:
        if other_spelling:
            return f"http://{host.upper()}{path}?sort=price&page=2#reviews"
        return f"http://{host}{path}?page=2&sort=price"
    return f"http://{host}{path}#top" if other_spelling else f"http://{host}{path}"


def preload(known: int) -> Iterator[list[str]]:
    """Pages 0..known-1, in batches of one page's links."""
    for first in range(0, known, LINKS):
        yield [address(i) for i in range(first, min(first + LINKS, known))]


def discovered(known: int, n: int, seed: int = 1) -> list[list[str]]:
    """`n` addresses, nine in ten of them known (half spelled otherwise), page by page."""
    rng = random.Random(seed)
    out: list[str] = []
    new = known
    for _ in range(n):
        if rng.random() < 0.9:
            out.append(address(rng.randrange(known), rng.random() < 0.5))
        else:
            out.append(address(new))
            new += 1
    return [out[k : k + LINKS] for k in range(0, n, LINKS)]
