"""Exact dedup and row index at once: is this address known, and which row of the mirror is it?

Per host a sorted array of keys beside an array of row numbers (12 B a page), and a small dict of
what came since, merged into the arrays when it has grown to a sixteenth of them: the dict's cost
stays below 8 B a page, and the merges copy about 16 keys for each one that is added.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""The row of a key that isn't known."""

_OVERFLOW_SHARE = 16
_OVERFLOW_MIN = 64


class _HostKeys:
    """The keys of one host."""

    __slots__ = ("_sorted", "keys", "overflow", "rows")

    def __init__(self, keys: NDArray[np.int64], rows: NDArray[np.int32]) -> None:
        self._set(keys, rows)
        self.overflow: dict[int, int] = {}

    def _set(self, keys: NDArray[np.int64], rows: NDArray[np.int32]) -> None:
        self.keys, self.rows = keys, rows
        self._sorted = keys.data  # gives plain integers: half the time of searchsorted

    def __len__(self) -> int:
        return len(self.keys) + len(self.overflow)

    def find(self, key: int) -> int:
        row = self.overflow.get(key)
        if row is not None:
            return row
        keys = self._sorted
        i = bisect_left(keys, key)
        if i < len(keys) and keys[i] == key:
            return int(self.rows.item(i))
        return UNKNOWN

    def add(self, key: int, row: int) -> None:
        self.overflow[key] = row
        if len(self.overflow) > max(_OVERFLOW_MIN, len(self.keys) // _OVERFLOW_SHARE):
            self.merge()

    def merge(self) -> None:
        """Move the overflow into the arrays."""
        n = len(self.overflow)
        keys = np.fromiter(self.overflow.keys(), np.int64, n)
        rows = np.fromiter(self.overflow.values(), np.int32, n)
        order = keys.argsort()
        keys = keys[order]
        at = self.keys.searchsorted(keys)
        self._set(np.insert(self.keys, at, keys), np.insert(self.rows, at, rows[order]))
        self.overflow = {}


class SeenIndex:
    """(host_id, key) -> row number, for every page of the project; keys are signed 64-bit.

    >>> seen = SeenIndex()
    >>> seen.add(1, 42, row=0), seen.add(1, 42, row=7), seen.find(1, 42), seen.find(2, 42)
    (True, False, 0, -1)
    """

    __slots__ = ("_hosts", "_total")

    def __init__(self) -> None:
        self._hosts: dict[int, _HostKeys] = {}
        self._total = 0

    @classmethod
    def from_sorted(cls, host_ids: NDArray[np.int32], keys: NDArray[np.int64]) -> SeenIndex:
        """The index of rows 0, 1, 2, ... given sorted by (host_id, key), each pair once.

        Raises ValueError where the order is broken: the index would then miss pages silently.
        """
        if len(host_ids) != len(keys):
            raise ValueError(f"{len(host_ids)} host ids, but {len(keys)} keys")
        index = cls()
        if not len(keys):
            return index
        bounds = (np.flatnonzero(host_ids[1:] != host_ids[:-1]) + 1).tolist()
        for start, end in zip([0, *bounds], [*bounds, len(keys)], strict=True):
            # Own copies: a view would keep the whole array alive after the host's next merge.
            own = np.array(keys[start:end], dtype=np.int64)
            host_id = int(host_ids[start])
            if host_id in index._hosts or bool((own[1:] <= own[:-1]).any()):
                raise ValueError(
                    f"rows of host {host_id} aren't sorted by (host_id, key), each once"
                )
            index._hosts[host_id] = _HostKeys(own, np.arange(start, end, dtype=np.int32))
        index._total = len(keys)
        return index

    def find(self, host_id: int, key: int) -> int:
        """The row of the page, or -1."""
        host = self._hosts.get(host_id)
        return UNKNOWN if host is None else host.find(key)

    def add(self, host_id: int, key: int, row: int) -> bool:
        """Note a new page. False, and nothing changed, where it is already known."""
        host = self._hosts.get(host_id)
        if host is None:
            host = _HostKeys(np.empty(0, np.int64), np.empty(0, np.int32))
            self._hosts[host_id] = host
        elif host.find(key) != UNKNOWN:
            return False
        host.add(key, row)
        self._total += 1
        return True

    def count(self, host_id: int) -> int:
        """How many pages of that host are known."""
        host = self._hosts.get(host_id)
        return 0 if host is None else len(host)

    def __len__(self) -> int:
        return self._total
