"""What a visit was good for: each line of the rollup in one of nine heaps, named by result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from recrawl.model import Purpose, Verdict
from recrawl.ports import Rollup


class Heap(StrEnum):
    """Where the price of a visit went. Every visit is in exactly one."""

    CHANGE = "change"  # it found a change
    FIRST = "first"  # it read a page for the first time
    UNCHANGED = "unchanged"  # no change, at full price
    NOT_MODIFIED = "not_modified"  # no change, by a 304
    FAILED = "failed"  # blocked, soft error, failure, or unknown after a crash
    VERIFICATION = "verification"  # drawn at random, whatever it found
    GONE = "gone"  # 404 or 410, found for the first time or again
    MOVED = "moved"  # it led elsewhere
    OVERHEAD = "overhead"  # robots.txt


_BY_VERDICT = {
    Verdict.NEW: Heap.FIRST,
    Verdict.CHANGED: Heap.CHANGE,
    Verdict.SAME: Heap.UNCHANGED,
    Verdict.NOT_MODIFIED: Heap.NOT_MODIFIED,
    Verdict.GONE: Heap.GONE,
    Verdict.MOVED: Heap.MOVED,
    Verdict.BLOCKED: Heap.FAILED,
    Verdict.SOFT_ERROR: Heap.FAILED,
    Verdict.FAILED: Heap.FAILED,
    Verdict.ROBOTS: Heap.OVERHEAD,
    Verdict.UNKNOWN: Heap.FAILED,
}


def heap_of(purpose: Purpose, verdict: Verdict) -> Heap:
    """The heap of a visit.

    >>> heap_of(Purpose.VERIFICATION, Verdict.CHANGED), heap_of(Purpose.ROBOTS, Verdict.FAILED)
    (<Heap.VERIFICATION: 'verification'>, <Heap.OVERHEAD: 'overhead'>)
    """
    if purpose is Purpose.VERIFICATION:
        return Heap.VERIFICATION
    if purpose is Purpose.ROBOTS:
        return Heap.OVERHEAD
    return _BY_VERDICT[verdict]


def found_nothing(row: Rollup) -> bool:
    """True where the page was read, or answered 304, and had not changed."""
    return row.verdict in (Verdict.SAME, Verdict.NOT_MODIFIED)


def site_name(host_id: int, origins: Mapping[int, str]) -> str:
    """The origin of a host, or a stand-in where it is not known."""
    return origins.get(host_id, f"host {host_id}")


def type_name(page_type: int, types: Sequence[str]) -> str:
    """The name of a page type, or a stand-in where the project has dropped it."""
    return types[page_type] if 0 <= page_type < len(types) else f"type {page_type}"
