"""What is made durable: entries, changes, promises to pay, and the writes of one decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from recrawl.model.rows import Host, Page
from recrawl.model.visit import Record
from recrawl.model.words import Purpose, Verdict
from recrawl.units import Spend

RETURNED = "it is back"
"""Evidence of a visit that read a page given up before (gone, inactive, alias, refused)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger and of the visit history."""

    t: float
    host_id: int
    key: int  # 0 for robots.txt
    purpose: Purpose
    verdict: Verdict
    page_type: int
    status: int
    kind: str
    conditional: bool
    up: int
    down: int
    spend: Spend
    tau: float = 0.0
    predicted: float = 0.0
    gain: float = 0.0
    price: float = 0.0
    score: float = 0.0
    bar: float = 0.0
    source: str = "kernel"
    route: str = "direct"
    discovered: int = 0  # new URLs admitted from this visit
    sighted: int = 0  # URLs seen in it, known ones included
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A record that changed: after `t_before`, seen at `t`. The first reading has before=None."""

    t: float
    t_before: float
    host_id: int
    key: int
    page_type: int
    verdict: Verdict
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A promise to pay, durable before the request is sent."""

    lease: int
    host_id: int
    key: int
    t: float
    purpose: Purpose
    reserved: Spend
    page_type: int = 0
    route: str = "direct"


@dataclass(slots=True)
class Writes:
    """What a decision asks the store to make durable, in one transaction.

    Pages and hosts are whole rows (insert or replace); entries, changes and counts are added.
    """

    hosts: dict[int, Host] = field(default_factory=dict)
    new_pages: dict[tuple[int, int], Page] = field(default_factory=dict)
    pages: dict[tuple[int, int], Page] = field(default_factory=dict)
    records: dict[tuple[int, int], Record] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    reserved: list[Reservation] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)  # (origin, reason)
    meta: dict[str, str] = field(default_factory=dict)

    def merge(self, other: Writes) -> None:
        """Add what `other` asks; later rows replace earlier ones."""
        self.hosts.update(other.hosts)
        self.new_pages.update(other.new_pages)
        self.pages.update(other.pages)
        self.records.update(other.records)
        self.entries += other.entries
        self.changes += other.changes
        self.reserved += other.reserved
        self.settled += other.settled
        self.refused.update(other.refused)
        self.meta.update(other.meta)

    def __bool__(self) -> bool:
        return any(
            (self.hosts, self.new_pages, self.pages, self.records, self.entries, self.changes,
             self.reserved, self.settled, self.refused, self.meta)
        )  # fmt: skip
