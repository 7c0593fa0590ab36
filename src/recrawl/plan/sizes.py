"""How many bytes and milliseconds a visit takes: means learned by host and page type.

A full answer's bytes: page, else (host, page type), else page type, else a default; a 304's
bytes, a new connection's handshake and the chance of needing one, and the latency: by host.
Each mean is shrunk toward the level above it, so that one odd visit decides nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.model import WireCost
from recrawl.plan.groups import Groups
from recrawl.plan.tariff import Quote
from recrawl.poisson import Floats

Ints = NDArray[np.integer[Any]]

FULL, NOT_MODIFIED, HANDSHAKE, MILLIS = 30_000.0, 400.0, 4_000.0, 500.0  # before any visit
NEW_CONNECTION = 0.2  # chance, before any visit
STRENGTH = 3.0  # visits that the level above is worth
FRESH_WEIGHT = 0.5  # of the newest size in a page's own mean


class Means:
    """Running means by key, each shrunk toward a parent's.

    >>> m = Means()
    >>> m.add(7, 900.0); m.get(7, parent=300.0), m.get(8, parent=300.0)
    (450.0, 300.0)
    """

    def __init__(self) -> None:
        self.sums: dict[int, tuple[float, float]] = {}  # key -> (count, sum)
        self._table: tuple[Ints, Floats, Floats] | None = None

    def add(self, key: int, x: float) -> None:
        """One more reading."""
        n, total = self.sums.get(key, (0.0, 0.0))
        self.sums[key] = (n + 1.0, total + x)
        self._table = None

    def get(self, key: int, parent: float) -> float:
        """The shrunk mean of one key."""
        n, total = self.sums.get(key, (0.0, 0.0))
        return (STRENGTH * parent + total) / (STRENGTH + n)

    def many(self, keys: Ints, parent: Floats | float) -> Floats:
        """The shrunk means of many keys, aligned with them."""
        if self._table is None:
            order = sorted(self.sums)
            pairs = np.array([self.sums[k] for k in order], np.float64).reshape(-1, 2)
            self._table = (np.array(order, np.int64), pairs[:, 0], pairs[:, 1])
        known, counts, totals = self._table
        above = np.broadcast_to(np.asarray(parent, np.float64), keys.shape)
        if not known.size:
            return above
        at = np.minimum(np.searchsorted(known, keys), known.size - 1)
        here = known[at] == keys
        n, total = np.where(here, counts[at], 0.0), np.where(here, totals[at], 0.0)
        out: Floats = (STRENGTH * above + total) / (STRENGTH + n)
        return out


def group_key(host_id: Any, page_type: Any) -> Any:
    """One integer for (host, page type)."""
    return host_id * 65536 + page_type


class SizeModel:
    """What visits have weighed so far, as expectations for the next ones."""

    _PARTS = ("types", "groups", "unchanged", "handshakes", "connections", "latency")

    def __init__(self) -> None:
        self.types = Means()
        self.groups = Means()
        self.unchanged = Means()
        self.handshakes = Means()
        self.connections = Means()
        self.latency = Means()
        self.bare: Ints = np.zeros(0, np.int64)  # hosts whose connections need no handshake

    def observe(self, host_id: int, page_type: int, cost: WireCost, handshake: float) -> None:
        """One full answer. `handshake`: bytes of `cost` that opened its new connections."""
        body = max(cost.bytes - handshake, 0.0)
        self.types.add(page_type, body)
        self.groups.add(group_key(host_id, page_type), body)
        self._connection(host_id, cost, handshake)

    def observe_not_modified(self, host_id: int, cost: WireCost, handshake: float) -> None:
        """One 304."""
        self.unchanged.add(host_id, max(cost.bytes - handshake, 0.0))
        self._connection(host_id, cost, handshake)

    def _connection(self, host_id: int, cost: WireCost, handshake: float) -> None:
        self.connections.add(host_id, 1.0 if cost.connects else 0.0)
        if cost.connects:
            self.handshakes.add(host_id, handshake / cost.connects)
        self.latency.add(host_id, cost.seconds * 1000.0)

    def group_body(self, host_id: int, page_type: int) -> float:
        """Expected bytes of a full answer of a page not yet read, handshake left out."""
        return self.groups.get(group_key(host_id, page_type), self.types.get(page_type, FULL))

    def page_body(self, body: float, seen: float, host_id: int, page_type: int) -> float:
        """A page's new expected bytes after a full answer of `seen` bytes (`body` 0 = first)."""
        start = body if body > 0 else self.group_body(host_id, page_type)
        return start + FRESH_WEIGHT * (seen - start)

    def handshake(self, host_id: int) -> float:
        """Expected handshake bytes of a new connection."""
        return self.handshakes.get(host_id, 0.0 if host_id in self.bare else HANDSHAKE)

    def connect_bytes(self, host_id: Ints) -> Floats:
        """Expected handshake bytes of a visit: P(new connection) x bytes of one.

        The mean is over new connections as they come, full handshakes and resumed ones; a visit
        on a warm connection counts in P only.
        """
        before = np.where(np.isin(host_id, self.bare), 0.0, HANDSHAKE)
        return self.connections.many(host_id, NEW_CONNECTION) * self.handshakes.many(
            host_id, before
        )

    def expected(self, host_id: Ints, page_type: Ints, body: Floats) -> Quote:
        """Expected bytes of a full answer, a 304 and a failure, handshakes included.

        Arrays aligned with the pages; `body` 0 = the group's mean. A failure is taken to
        transfer about what a 304 does.
        """
        return self.of_groups(Groups(host_id, page_type), np.asarray(body, np.float64))

    def of_groups(self, pages: Groups, body: Floats) -> Quote:
        """The same of pages whose groups are known, in the precision of `body`."""
        connect = pages.by_host(self.connect_bytes, body.dtype)
        small = connect + pages.by_host(lambda h: self.unchanged.many(h, NOT_MODIFIED), body.dtype)
        full = self._body(pages, body) + connect
        np.maximum(full, small, out=full)  # a 304 is never dearer than its page
        return Quote(full, small, small)

    def expected_body(self, host_id: Ints, page_type: Ints, body: Floats) -> Floats:
        """Bytes of a full answer, handshake left out: the page's own, else its group's mean."""
        return self._body(Groups(host_id, page_type), np.asarray(body, np.float64))

    def _body(self, pages: Groups, body: Floats) -> Floats:
        known = body > 0
        if known.all():
            return body
        (mean,) = pages.by_group(self._group_bodies, body.dtype)
        return np.where(known, body, mean)

    def _group_bodies(self, host_id: Ints, page_type: Ints) -> tuple[Floats]:
        above = self.types.many(page_type, FULL)
        return (self.groups.many(group_key(host_id.astype(np.int64), page_type), above),)

    def millis(self, host_id: Ints) -> Floats:
        """Expected milliseconds of a visit."""
        return self.latency.many(host_id, MILLIS)

    def to_dict(self) -> dict[str, Any]:
        """Everything learned, as JSON can hold it."""
        return {
            name: [[k, *v] for k, v in getattr(self, name).sums.items()] for name in self._PARTS
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SizeModel:
        """The inverse of `to_dict`; parts that are missing start empty."""
        model = cls()
        for name in cls._PARTS:
            rows = data.get(name, [])
            getattr(model, name).sums = {int(k): (float(n), float(t)) for k, n, t in rows}
        return model
