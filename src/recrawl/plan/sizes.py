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
        hosts, back = runs(host_id)
        connect = self.connect_bytes(hosts)[back]
        small = self.unchanged.many(hosts, NOT_MODIFIED)[back] + connect
        full = self.expected_body(host_id, page_type, body) + connect
        full = np.maximum(full, small)  # a 304 is never dearer than its page
        return Quote(full, small, small)

    def expected_body(self, host_id: Ints, page_type: Ints, body: Floats) -> Floats:
        """Bytes of a full answer, handshake left out: the page's own, else its group's mean."""
        full = np.asarray(body, np.float64)
        unknown = np.flatnonzero(~(full > 0))
        if unknown.size:
            full = full.copy()
            kinds, of = runs(group_key(host_id[unknown].astype(np.int64), page_type[unknown]))
            above = self.types.many(kinds % 65536, FULL)
            full[unknown] = self.groups.many(kinds, above)[of]
        return full

    def millis(self, host_id: Ints) -> Floats:
        """Expected milliseconds of a visit."""
        hosts, back = runs(host_id)
        return self.latency.many(hosts, MILLIS)[back]

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


def runs(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct neighbours of `keys` and, for each key, the index of its own.

    Pages come sorted by host, so that looking up one key a run spares nearly all look-ups.
    """
    if not keys.size:
        return keys, np.zeros(0, np.intp)
    new = np.empty(keys.size, np.bool_)
    new[0] = True
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new], np.cumsum(new) - 1
