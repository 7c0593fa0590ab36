"""Replay worlds under a policy: every cycle the best visits that the budget allows.

Several worlds and budgets ("lanes") run side by side in the same arrays, because a cycle's work
is small. Scores rise with age, so what a page may reach before the next full look is known: only
pages that could be bought until then are looked at each cycle, and where that bound turns out
too low all are looked at again. What is bought is what full looks would have bought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recrawl.learn.prior import MEAN_GAP
from recrawl.plan.view import Policy
from recrawl.poisson import Floats
from recrawl.replay.score import Outcome, Visits, judge
from recrawl.replay.state import Beliefs, State
from recrawl.replay.world import Events, Ints, World
from recrawl.units import DAY, HOUR

LOOK = 6 * HOUR  # between two looks at every page
REFRESH = 6 * HOUR  # between two readings of what groups have learned, for pages of no history
SPARE, FEW = 5.0, 64  # candidates beside the visits that are expected until the next look


@dataclass(frozen=True, slots=True)
class Lane:
    """One world at one budget (units of cost per second, for the pages then alive)."""

    world: World
    budget: float
    known: Floats | None = None  # change rates told in advance, per second
    beliefs: Beliefs | None = None  # what is believed at the start; None = nothing


@dataclass(frozen=True, slots=True)
class Settings:
    """How a replay goes. Times in seconds."""

    span: float = 365 * DAY
    since: float = 30 * DAY  # from when on it counts
    cycle: float = HOUR / 2
    mean_gap: float = MEAN_GAP  # of the default prior
    look: float = LOOK  # 0 = look at every page in every cycle
    random_share: float = 0.0  # of the budget, for visits drawn at random
    price_by_record: bool = False  # take 304s for as frequent as unchanged records: a mistake


def replay(
    lanes: Sequence[Lane],
    policy: Policy,
    settings: Settings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Outcome]:
    """What `policy` comes to in each lane. `progress` is told the share done, 0 to 1.

    `rng` is needed where a share of the visits is drawn at random.
    """
    return _Replay(lanes, policy, settings or Settings(), rng).run(progress)


@dataclass(slots=True)
class _Candidates:
    """The pages that may be bought until the next look, and what the others could reach."""

    until: float
    all: Ints
    rows: list[Ints]  # by lane
    out: Floats

    @classmethod
    def none(cls, until: float, lanes: int) -> _Candidates:
        """Before the first look."""
        empty = np.zeros(0, np.int64)
        return cls(until, empty, [empty] * lanes, np.zeros(lanes))


@dataclass(slots=True)
class _Log:
    rows: list[Ints] = field(default_factory=list)
    changed: list[np.ndarray] = field(default_factory=list)
    cost: list[Floats] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


class _Replay:
    def __init__(
        self,
        lanes: Sequence[Lane],
        policy: Policy,
        settings: Settings,
        rng: np.random.Generator | None,
    ) -> None:
        self.lanes, self.settings, self.rng = lanes, settings, rng
        worlds = [lane.world for lane in lanes]
        told = [lane.known for lane in lanes]
        known = [k for k in told if k is not None]
        if known and len(known) != len(told):
            raise ValueError("rates are told for all lanes or for none")
        self.state = State(
            worlds, policy, settings.mean_gap, known or None, [lane.beliefs for lane in lanes]
        )
        self.state.price_by_record = settings.price_by_record
        self.changes = Events.join([w.changes for w in worlds])
        self.shown = Events.join([w.shown for w in worlds])
        self.died = np.concatenate([w.died for w in worlds])
        n = self.died.size
        everyone, start = np.arange(n), np.zeros(n)
        self.next_change = self.changes.following(everyone, self.changes.position(everyone, start))
        self.next_shown = self.shown.following(everyone, self.shown.position(everyone, start))
        self.offsets = np.cumsum([0, *(len(w) for w in worlds)])
        self.left = np.zeros(len(lanes))
        self.drawn = np.zeros(len(lanes))
        self.worst = np.zeros(len(lanes))  # score bought last
        self.refreshed = -REFRESH
        self.log = _Log()
        self.candidates = _Candidates.none(-1.0, len(lanes))
        self.spare = np.full(len(lanes), SPARE)
        self._alive_share = self._shares()

    def _shares(self) -> list[tuple[Floats, Floats]]:
        """By lane: times of death, and the share of cost that then remains."""
        out: list[tuple[Floats, Floats]] = []
        for lane in self.lanes:
            order = np.argsort(lane.world.died, kind="stable")
            gone = np.cumsum(lane.world.full[order]) / lane.world.full.sum()
            out.append((lane.world.died[order], 1.0 - np.concatenate([[0.0], gone])))
        return out

    def run(self, progress: Callable[[float], None] | None) -> list[Outcome]:
        s = self.settings
        steps = round(s.span / s.cycle)
        for step in range(1, steps + 1):
            now = step * s.cycle
            self._earn(now)
            if s.random_share:
                self._draw(now)
            self._best(now)
            if progress is not None and step % 500 == 0:
                progress(step / steps)
        return [self._outcome(i) for i in range(len(self.lanes))]

    def _earn(self, now: float) -> None:
        """A cycle's budget for the pages that live."""
        for i, lane in enumerate(self.lanes):
            died, rest = self._alive_share[i]
            alive = float(rest[np.searchsorted(died, now, side="right")])
            earned = lane.budget * self.settings.cycle * max(alive, 0.0)
            self.left[i] += earned * (1.0 - self.settings.random_share)
            self.drawn[i] += earned * self.settings.random_share

    def _best(self, now: float) -> None:
        """Buy by falling score while something is left: a lane may overdraw by one visit."""
        if now >= self.refreshed + REFRESH:
            self.state.refresh()
            self.refreshed, self.candidates.until = now, -1.0
        if not (self.left > 0).any():
            return
        if now > self.candidates.until:
            self.spare = np.maximum(self.spare / 2, SPARE)
            self.candidates = _Candidates.none(now + self.settings.look, len(self.lanes))
            self._look(now, np.ones(len(self.lanes), np.bool_))
        while True:
            bought, worst = self._choose(self.candidates.all, now)
            better = worst < self.candidates.out  # a page that was left out may be better
            if not better.any():
                break
            self.spare[better] *= 8
            self._look(now, better)
        self._visit(bought, now, self.left)

    def _choose(self, among: Ints, now: float) -> tuple[Ints, Floats]:
        """The visits of this cycle, and the worst score bought by lane (as `_buy` says)."""
        state = self.state
        rows = among[(self.died[among] > now) & (self.left[state.lane[among]] > 0)]
        score, cost = state.appraise(rows, now)
        # Scores of a cycle hardly differ from those of the one before: few need to be sorted.
        for floor in (0.7 * self.worst, np.zeros(len(self.lanes))):
            likely = (score > 0) & (score >= floor[state.lane[rows]])
            bought, worst = self._buy(rows[likely], score[likely], cost[likely])
            if (worst >= floor).all():
                break
        self.worst = np.where(np.isfinite(worst), worst, self.worst)
        return bought, worst

    def _buy(self, rows: Ints, score: Floats, cost: Floats) -> tuple[Ints, Floats]:
        """What the lanes' money buys, best first, and the worst score bought by lane: 0 where
        everything was bought and something is left, inf where nothing had to be bought.
        """
        lanes = len(self.lanes)
        # The bits of positive floats are in their order: one sort of whole numbers, five times as
        # fast as one by lane and score.
        bits = score.astype(np.float32).view(np.int32)
        order = np.argsort((self.state.lane[rows] << 32) - bits, kind="stable")
        rows, score, cost = rows[order], score[order], cost[order]
        lane = self.state.lane[rows]
        total = np.cumsum(cost) - cost
        first = np.searchsorted(lane, np.arange(lanes))
        begin = np.append(total, 0.0)[np.minimum(first, rows.size)]
        ok = total - begin[lane] < self.left[lane]
        worst = np.full(lanes, np.inf)
        np.minimum.at(worst, lane[ok], score[ok])
        starved = (np.bincount(lane[~ok], minlength=lanes) == 0) & (self.left > 0)
        return rows[ok], np.where(starved, 0.0, worst)

    def _look(self, now: float, which: np.ndarray) -> None:
        """Look at every page of these lanes, and keep those that may be bought soon."""
        s, state, found = self.settings, self.state, self.candidates
        rows = np.flatnonzero((self.died > now) & which[state.lane])
        best = state.appraise(rows, found.until)[0]
        ends = np.searchsorted(state.lane[rows], np.arange(len(self.lanes) + 1))
        for i in np.flatnonzero(which).tolist():
            mine, score = rows[ends[i] : ends[i + 1]], best[ends[i] : ends[i + 1]]
            each = self.lanes[i]
            money = max(self.left[i] + each.budget * s.look, 0.0)  # less where it overdrew
            visits = money / max(each.world.unchanged.mean(), 1e-9)
            k, found.out[i] = int(self.spare[i] * visits) + FEW, 0.0
            if s.look > 0 and k < mine.size:
                cut = np.argpartition(-score, k)
                found.out[i] = score[cut[k:]].max() * 1.01
                mine = mine[np.sort(cut[:k])]
            found.rows[i] = mine
        found.all = np.concatenate(found.rows)

    def _draw(self, now: float) -> None:
        """Visits drawn evenly at random from the pages that live, paid by their own share."""
        if self.rng is None:
            raise ValueError("visits drawn at random need a generator")
        for i in np.flatnonzero(self.drawn > 0).tolist():
            rows = np.arange(self.offsets[i], self.offsets[i + 1])
            rows = rows[(self.died[rows] > now) & (self.state.last[rows] < now)]
            if rows.size:
                self._visit(rows[self.rng.integers(rows.size, size=1)], now, self.drawn)

    def _visit(self, rows: Ints, now: float, purse: Floats) -> None:
        if not rows.size:
            return
        state = self.state
        changed, moved_on = self.next_change[rows] <= now, self.next_shown[rows] <= now
        shown = changed | moved_on
        cost = np.where(state.conditional[rows] & ~shown, state.low[rows], state.full[rows])
        np.subtract.at(purse, state.lane[rows], cost)
        state.learn(rows, now, changed, shown)
        for due, events, which in (
            (self.next_change, self.changes, changed),
            (self.next_shown, self.shown, moved_on),
        ):
            moved = rows[which]
            if moved.size:
                at = np.full(moved.size, now)
                due[moved] = events.following(moved, events.position(moved, at))
        self.log.rows.append(rows)
        self.log.changed.append(changed)
        self.log.cost.append(cost)
        self.log.times.append(now)

    def _outcome(self, i: int) -> Outcome:
        log, s = self.log, self.settings
        sizes = [r.size for r in log.rows]
        rows = np.concatenate([np.zeros(0, np.int64), *log.rows])
        mine = (rows >= self.offsets[i]) & (rows < self.offsets[i + 1])
        visits = Visits(
            page=rows[mine] - self.offsets[i],
            time=np.repeat(np.array(log.times), sizes)[mine],
            changed=np.concatenate([np.zeros(0, bool), *log.changed])[mine],
            cost=np.concatenate([np.zeros(0), *log.cost])[mine],
        )
        return judge(self.lanes[i].world, visits, s.since, s.span)
