"""Short digests of what a page says, equal on every machine and in every process.

The first two bytes tell by which rules the page was read, so that a digest made by other fields or
by another version of the extractor is known to be incomparable, not taken for a change.
"""

from __future__ import annotations

from hashlib import blake2b

RECORD_VERSION = 1
"""Raise it when extraction comes to yield something else for the same bytes."""

SIZE = 8
RULES = 2


def rules(*parts: str) -> bytes:
    """The 2-byte mark of a way to read pages: RECORD_VERSION and whatever else decides it."""
    text = "\0".join((str(RECORD_VERSION), *parts))
    return blake2b(text.encode(), digest_size=RULES).digest()


def digest(content: bytes, mark: bytes) -> bytes:
    """8 bytes: the mark of the rules, then 48 bits of blake2b (RFC 7693).

    >>> a, b = digest(b"x", rules()), digest(b"x", rules("price=css:.price"))
    >>> len(a), a == digest(b"x", rules()), same_rules(a, b)
    (8, True, False)
    """
    return mark + blake2b(content, digest_size=SIZE - RULES, person=b"recrawl", key=mark).digest()


def same_rules(a: bytes, b: bytes) -> bool:
    """Were both digests made by the same rules?"""
    return a[:RULES] == b[:RULES]
