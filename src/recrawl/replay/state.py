"""What a crawler knows of its pages while a replay goes on, and what a visit would be worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.learn.prior import HEARD, SPREAD_GROUP, SPREAD_VALIDATORS, GroupPrior
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


class _Rates:
    """Beliefs of one kind of change (records' or validators'), and what their groups learn.

    A page that showed no change yet is believed to do what its group does by now; `refresh`
    brings all such pages up to it.
    """

    def __init__(
        self, group: Ints, lane: Ints, lanes: int, mean_gap: float, spread: float
    ) -> None:
        n = group.size
        self.a, self.b = np.ones(n), np.full(n, mean_gap)
        self.exposure = np.zeros(n)  # seconds seen unchanged
        self.silent = np.ones(n, np.bool_)  # no change seen yet
        self.priors = [GroupPrior(mean_gap, spread) for _ in range(lanes)]
        self._groups = []  # by lane: the numbers of its groups
        self._at = np.zeros(n, np.int64)  # which of them a page is of
        self._lanes = [np.flatnonzero(lane == i) for i in range(lanes)]
        for rows in self._lanes:
            names, self._at[rows] = np.unique(group[rows], return_inverse=True)
            self._groups.append(names)

    def know(self, a: Floats | float, b: Floats, rows: Ints | slice) -> None:
        """Give pages beliefs of their own."""
        self.a[rows], self.b[rows], self.silent[rows] = a, b, False

    def refresh(self) -> None:
        """Give all silent pages what their groups have learned by now."""
        for rows, groups, prior in zip(self._lanes, self._groups, self.priors, strict=True):
            some = rows[self.silent[rows]]
            if some.size:
                _, b = prior.beliefs(groups, np.zeros(groups.size, np.int64))
                self.b[some] = b[self._at[some]] + self.exposure[some]

    def restart(self, row: int, lane: int, group: int) -> None:
        """The same for one page."""
        if self.silent[row]:
            self.b[row] = self.priors[lane].belief(group, 0)[1] + self.exposure[row]

    def learn(self, rows: Ints, tau: Floats, changed: np.ndarray) -> None:
        """Take in one visit each, `tau` seconds after the last."""
        self.exposure[rows] += tau
        self.silent[rows] &= ~changed
        self.a[rows], self.b[rows] = update(self.a[rows], self.b[rows], tau, changed)


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
        self.record, self.validator = (
            _Rates(self.group, self.lane, len(worlds), mean_gap, spread)
            for spread in (SPREAD_GROUP, SPREAD_VALIDATORS)
        )
        self.intervals = np.zeros(n, np.int64)  # told so far
        self.price_by_record = False
        self.learns = known is None
        if known is not None:
            self._know(np.concatenate(known))
        for lane, believed in enumerate(beliefs):
            if believed is not None:
                self._believe(lane, believed)

    def _know(self, rate: Floats) -> None:
        """Rates told in advance (per second): as beliefs that are certain."""
        for rates in (self.record, self.validator):
            rates.know(CERTAIN, CERTAIN / np.maximum(rate, 1e-10), slice(None))

    def _believe(self, lane: int, beliefs: Beliefs) -> None:
        """Begin with what is believed already; the groups have taught all they know."""
        mine = np.flatnonzero(self.lane == lane)
        self.record.know(*beliefs[:2], mine)
        self.validator.know(*beliefs[2:], mine)
        self.intervals[mine] = HEARD

    def refresh(self) -> None:
        """Give pages without a belief of their own what their groups have learned by now."""
        if self.learns:
            self.record.refresh()
            self.validator.refresh()

    def appraise(self, rows: Ints, now: float) -> tuple[Floats, Floats]:
        """(score, expected cost) of visiting these pages."""
        tau = (now - self.last[rows]).astype(np.float32)  # as the planner ranks
        columns = (self.record.a, self.record.b, self.value, self.interval)
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
        rates = self.record if self.price_by_record else self.validator
        va, vb = rates.a[some].astype(np.float32), rates.b[some].astype(np.float32)
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
        self.record.learn(rows, tau, changed)
        with_ = self.conditional[rows]
        self.validator.learn(rows[with_], tau[with_], shown[with_])

    def _teach_groups(
        self, rows: Ints, tau: Floats, changed: np.ndarray, shown: np.ndarray
    ) -> None:
        """The engine's order: a page's own belief begins at what its group had learned before,
        its validator's at what the group knows with this visit.
        """
        for i in np.flatnonzero(self.intervals[rows] < HEARD).tolist():
            row = int(rows[i])
            lane, group, told = int(self.lane[row]), int(self.group[row]), int(self.intervals[row])
            self.record.restart(row, lane, group)
            self.record.priors[lane].observe(group, 0, float(tau[i]), bool(changed[i]), told)
            if self.conditional[row]:
                self.validator.priors[lane].observe(group, 0, float(tau[i]), bool(shown[i]), told)
                self.validator.restart(row, lane, group)
