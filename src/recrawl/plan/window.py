"""What is still to be spent while a window's plan is put together, and what was taken so far."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Purpose, Table
from recrawl.plan.appraise import Scheme, appraise
from recrawl.plan.select import within_capacity
from recrawl.poisson import Floats
from recrawl.units import Unit

Rows = NDArray[np.integer[Any]]


class Window:
    """What is still to be spent while a plan is put together."""

    def __init__(self, scheme: Scheme, budget: Mapping[Unit, float]) -> None:
        self.scheme = scheme
        self.budgets = [float(budget.get(u, np.inf)) for u in scheme.units]
        self.left = list(self.budgets)
        self.capacity = scheme.hosts.capacity.astype(np.int64)
        self.taken: list[tuple[Rows, Purpose]] = []

    def copy(self) -> Window:
        """What is taken from it is not taken from this one."""
        other = copy(self)
        other.taken = list(self.taken)
        return other

    def take(self, rows: Rows, purpose: Purpose, host: Rows, costs: list[Floats]) -> None:
        """Buy these rows: their cost and their hosts' slots are gone."""
        self.taken.append((rows, purpose))
        self.left = [
            max(left - float(c.sum(dtype=np.float64)), 0.0)
            for left, c in zip(self.left, costs, strict=True)
        ]
        used = np.bincount(host, minlength=self.capacity.size)
        self.capacity = np.maximum(self.capacity - used, 0)

    def share(self, part: float) -> list[float]:
        """A share of each cap's whole budget, as far as it is left."""
        return [min(b * part, left) for b, left in zip(self.budgets, self.left, strict=True)]

    def afford(
        self, hot: Table, now: float, rows: Rows, budgets: list[float]
    ) -> tuple[Rows, Rows, list[Floats], bool]:
        """The first of `rows`, in order, that budgets and hosts can take; hosts and costs; whether
        the budgets could take more.
        """
        host = hot["host_id"][rows]
        keep = within_capacity(host, self.capacity)
        rows, host = rows[keep], host[keep]
        seen = appraise(hot[rows], now, self.scheme, np.float64)
        costs = [c.expected for c in seen.costs]
        ok = np.ones(rows.size, np.bool_)
        for cost, budget in zip(costs, budgets, strict=True):
            ok &= np.cumsum(cost) <= budget
        n = rows.size if ok.all() else int(np.argmin(ok))
        return rows[:n], host[:n], [c[:n] for c in costs], n == rows.size

    def rows(self) -> Rows:
        """All rows taken, in the order of taking."""
        return np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in self.taken)])

    def purposes(self) -> NDArray[np.uint8]:
        """What each of `rows()` was taken for."""
        parts = (np.full(rows.size, purpose, np.uint8) for rows, purpose in self.taken)
        return np.concatenate([np.zeros(0, np.uint8), *parts])
