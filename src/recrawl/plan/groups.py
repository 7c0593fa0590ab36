"""What depends on a page's host and type alone: worked out once a group, not once a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.poisson import Floats

Ints = NDArray[np.integer[Any]]
Of = Callable[[Ints, Ints], tuple[Floats, ...]]
"""(host_id, page_type) -> some numbers, aligned with them."""


class Groups:
    """The groups (host x page type) of aligned pages.

    Pages come sorted by host, nearly all of them, so that a host's pages are one run: spreading
    what is known of runs over pages is a tenth of the work of looking it up by page.

    >>> pages = Groups(np.array([7, 7, 7, 9]), np.array([0, 1, 0, 1]))
    >>> pages.by_host(lambda host: host / 2.0), pages.by_group(lambda host, kind: (host + kind,))
    (array([3.5, 3.5, 3.5, 4.5]), (array([ 7,  8,  7, 10]),))
    """

    def __init__(self, host: Ints, kind: Ints) -> None:
        self.host, self.kind = host, kind
        ends = np.flatnonzero(host[1:] != host[:-1])
        self._counts = np.diff(ends, prepend=-1, append=host.size - 1)
        self._hosts = host[np.append(ends, host.size - 1)] if host.size else host

    def by_host(self, of: Callable[[Ints], Floats], dtype: Any = None) -> Floats:
        """`of` the hosts, aligned with the pages."""
        return np.repeat(np.asarray(of(self._hosts), dtype), self._counts)

    def by_group(self, of: Of, dtype: Any = None) -> tuple[Floats, ...]:
        """`of` the groups, aligned with the pages."""
        hosts, kinds = self._hosts, self._kinds
        if hosts.size * kinds > self.host.size or kinds < 1:  # few pages of each group, or none
            return tuple(np.asarray(x, dtype) for x in of(self.host, self.kind))
        found = of(np.repeat(hosts, kinds), np.tile(np.arange(kinds), hosts.size))
        return tuple(self._spread(np.asarray(x, dtype)) for x in found)

    def _spread(self, x: Floats) -> Floats:
        """One number a group of the grid, aligned with the pages."""
        if x.min() == x.max():
            return np.full(self.host.size, x[0])
        return x.take(self._at, mode="clip")

    @cached_property
    def _kinds(self) -> int:
        if not self.kind.size or self.kind.min() < 0:
            return 0
        return int(self.kind.max()) + 1

    @cached_property
    def _at(self) -> Ints:
        """Each page's place in the grid of all hosts by all types."""
        first = np.arange(0, self._hosts.size * self._kinds, self._kinds)
        return np.repeat(first, self._counts) + self.kind
