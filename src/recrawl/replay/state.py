"""What a crawler knows of its pages while a replay goes on, and what a visit would be worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.learn.prior import HEARD, GroupPrior
from recrawl.learn.rate import update
from recrawl.plan.cost import Cost, attempt
from recrawl.plan.gain import answer_shares
from recrawl.plan.tariff import Quote
from recrawl.plan.view import KeepsInterval, Policy, View
from recrawl.poisson import Floats
from recrawl.replay.world import Ints, World

Beliefs = tuple[Floats, Floats, Floats, Floats]
"""Gamma (a, b) of each page's rate, then of its validator's; b in seconds."""

CERTAIN = 1e4
"""Shape of a belief that is as good as known, and far enough from where scales are clipped."""


class State:
    """Beliefs, ages and intervals of all pages of several worlds at once.

    `lane` numbers the world that a page is of; each lane learns on its own.
    """

    def __init__(
        self,
        worlds: Sequence[World],
        policy: Policy,
        mean_gap: float,
        known: Sequence[Floats] | None,
        beliefs: Sequence[Beliefs | None] = (),
    ) -> None:
        self.policy = policy
        self._keeper = policy if isinstance(policy, KeepsInterval) else None
        self.lane = np.repeat(np.arange(len(worlds)), [len(w) for w in worlds])
        self.group = np.concatenate([w.group for w in worlds])
        self.value = np.concatenate([w.value for w in worlds])
        self.full = np.concatenate([w.full for w in worlds])
        self.low = np.concatenate([w.unchanged for w in worlds])
        self.conditional = np.concatenate([w.conditional for w in worlds])
        n = self.lane.size
        self.last, self.interval = np.zeros(n), np.zeros(n)
        self.a, self.b = np.ones(n), np.full(n, mean_gap)
        self.va, self.vb = np.ones(n), np.full(n, mean_gap)
        self.intervals = np.zeros(n, np.int64)  # told so far
        self.price_by_record = False
        self.learns = known is None
        if known is not None:
            self._know(np.concatenate(known))
        self._priors = [(GroupPrior(mean_gap), GroupPrior(mean_gap)) for _ in worlds]
        self._unread = [len(w) for w in worlds]  # pages without a belief of their own
        for lane, believed in enumerate(beliefs):
            if believed is not None:
                self._believe(lane, believed)

    def _know(self, rate: Floats) -> None:
        """Rates told in advance (per second): as beliefs that are certain."""
        self.a[:] = self.va[:] = CERTAIN
        self.b[:] = self.vb[:] = CERTAIN / np.maximum(rate, 1e-10)

    def _believe(self, lane: int, beliefs: Beliefs) -> None:
        """Begin with what is believed already; the groups have taught all they know."""
        mine = self.lane == lane
        for column, start in zip((self.a, self.b, self.va, self.vb), beliefs, strict=True):
            column[mine] = start
        self.intervals[mine] = HEARD
        self._unread[lane] = 0

    def refresh(self) -> None:
        """Give pages without a belief of their own what their groups have learned by now."""
        if not self.learns:
            return
        rows = np.flatnonzero(self.intervals == 0)
        for lane in np.unique(self.lane[rows]).tolist():
            mine = rows[self.lane[rows] == lane]
            record, validator = self._priors[lane]
            kind = np.zeros(mine.size, np.int64)
            self.a[mine], self.b[mine] = record.beliefs(self.group[mine], kind)
            self.va[mine], self.vb[mine] = validator.beliefs(self.group[mine], kind)

    def appraise(self, rows: Ints, now: float) -> tuple[Floats, Floats]:
        """(score, expected cost) of visiting these pages."""
        tau = (now - self.last[rows]).astype(np.float32)  # as the planner ranks
        columns = (self.a, self.b, self.value, self.interval)
        a, b, value, interval = (c[rows].astype(np.float32) for c in columns)
        view = View(a, b, tau, value, interval)
        cost = self._cost(rows, tau)
        gain = self.policy.gain(view)
        return (gain / cost.price if self.policy.per_price else gain), cost.expected

    def _cost(self, rows: Ints, tau: Floats) -> Cost:
        full = self.full[rows]
        at = np.flatnonzero(self.conditional[rows])
        if not at.size:
            return Cost(full, full)
        marginal, changed = np.ones(rows.size), np.ones(rows.size)
        some = rows[at]
        a, b = (self.a, self.b) if self.price_by_record else (self.va, self.vb)
        va, vb = a[some].astype(np.float32), b[some].astype(np.float32)
        marginal[at], changed[at] = answer_shares(va, vb, tau[at])
        quoted = Quote(full, self.low[rows], np.zeros(rows.size))
        return attempt(quoted, marginal, changed, np.ones(rows.size))

    def learn(self, rows: Ints, now: float, changed: np.ndarray, shown: np.ndarray) -> None:
        """Take in one visit of each of `rows`; `shown`: its validator had changed."""
        tau = now - self.last[rows]
        self.last[rows] = now
        if self._keeper is not None:
            self.interval[rows] = self._keeper.after(self.interval[rows], changed)
        if not self.learns:
            return
        self._teach_groups(rows, tau, changed, shown)
        self.intervals[rows] += 1
        self.a[rows], self.b[rows] = update(self.a[rows], self.b[rows], tau, changed)
        with_ = self.conditional[rows]
        some = rows[with_]
        if some.size:
            self.va[some], self.vb[some] = update(
                self.va[some], self.vb[some], tau[with_], shown[with_]
            )

    def _teach_groups(
        self, rows: Ints, tau: Floats, changed: np.ndarray, shown: np.ndarray
    ) -> None:
        """The engine's order: a page's own belief begins at what its group had learned before,
        its validator's at what the group knows with this visit. Once every page has its own,
        nobody asks the groups any more.
        """
        heard = (self.intervals[rows] < HEARD) & (np.array(self._unread)[self.lane[rows]] > 0)
        for i in np.flatnonzero(heard).tolist():
            row = int(rows[i])
            lane, group, told = int(self.lane[row]), int(self.group[row]), int(self.intervals[row])
            record, validator = self._priors[lane]
            if told == 0:
                self._unread[lane] -= 1
                self.a[row], self.b[row] = record.belief(group, 0)
            record.observe(group, 0, float(tau[i]), bool(changed[i]), told)
            if self.conditional[row]:
                validator.observe(group, 0, float(tau[i]), bool(shown[i]), told)
                if told == 0:
                    self.va[row], self.vb[row] = validator.belief(group, 0)
