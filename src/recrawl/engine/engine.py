"""The engine: admit, plan, next, record. It decides; the driver commits and fetches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from recrawl.engine.admit import Admitted, admit
from recrawl.engine.boot import learned_meta, rebuild
from recrawl.engine.plan import PlanAnswer, plan, stock
from recrawl.engine.project import Project
from recrawl.engine.purse import Purse
from recrawl.engine.record import record
from recrawl.engine.scope import restore_scope
from recrawl.engine.serve import launched, next_visit
from recrawl.frontier.admit import same_port
from recrawl.frontier.politeness import ready_at
from recrawl.model import (
    Address,
    Hint,
    Host,
    Observation,
    Outcome,
    Page,
    Reservation,
    Table,
    Visit,
    Wait,
    Writes,
)
from recrawl.units import Spend, iso

LONG_REST = 60.0  # seconds: a run that is to end doesn't wait so long for a host


def rests(host: Host, now: float) -> bool:
    """True where a host can't be reached, or asked not to be asked for a good while."""
    unreachable = host.fails > 0 or host.robots_status == "unreachable"
    return unreachable or host.throttled_until > now + LONG_REST


class Engine:
    """One project's crawl. Every call returns its answer and the writes it asks for.

    RAM moves at once; a visit may be sent, and an outcome counts as acknowledged, only after
    the writes have been committed. A failed commit must end the process.
    """

    def __init__(
        self,
        project: Project,
        hosts: Sequence[Host],
        hot: Table,
        meta: Mapping[str, str],
        reservations: Sequence[Reservation],
        now: float,
    ) -> None:
        """`hosts`, `hot`, `meta`, `reservations`: what the store holds."""
        self.project = project
        self.crawl, self._owed = rebuild(project, hosts, hot, meta, reservations, now)
        self.purse = Purse(project.budget, project.totals, now)
        began = float(meta.get("pass_started") or 0.0)
        self._pass_started = began if began <= now else 0.0  # later: the clock stepped back
        self._saved_at = now

    def spent_since(self, now: float) -> list[float]:
        """The driver tells `start` what was spent since each of these times."""
        return self.purse.started_at(now)

    def start(self, now: float, spent: Sequence[Spend] = (), since: float | None = None) -> Writes:
        """Book what was in flight, and take in the seeds."""
        self.purse.told(spent or [Spend()] * len(self.purse.caps), now if since is None else since)
        writes = self._owed
        self._owed = Writes()
        if since is None or since == now:
            writes.meta["since"] = repr(now)
        for entry in writes.entries:
            self.purse.add(entry.spend, entry.t)
        found = [self.project.normalizer.normalize(seed) for seed in self.project.seeds]
        seeds = [address for address in found if isinstance(address, Address)]
        self.crawl.seed_places.update(
            (seed.hostname, port) for seed in seeds for port in same_port(seed.port)
        )
        restore_scope(self.crawl, seeds)
        _, more = self.admit((Hint(seed, "seed") for seed in self.project.seeds), now)
        writes.merge(more)
        return writes

    def admit(self, hints: Iterable[Hint], now: float) -> tuple[Admitted, Writes]:
        """Take in what sources say of pages."""
        return admit(self.crawl, hints, now)

    def plan(self, now: float, rng: np.random.Generator) -> tuple[PlanAnswer, Writes]:
        """Open a window where none is open, and choose what it buys (more, where one is open)."""
        answer, writes = plan(self.crawl, self.purse, now, rng, self._pass_started)
        window = self.crawl.window
        self._pass_started = window.opened if window is not None and window.one_pass else 0.0
        writes.meta["pass_started"] = repr(self._pass_started)
        return answer, writes

    def stock(self, pages: Iterable[Page]) -> None:
        """Queue the pages of the last plan, as the driver loaded them."""
        stock(self.crawl, pages)

    def next(self, now: float, u: float) -> tuple[Visit | Wait, Writes]:
        """The next visit, or when to ask again. Never blocks. `u` in [0, 1) jitters the delay."""
        return next_visit(self.crawl, now, u)

    def launched(self, lease: int, now: float) -> None:
        """The request of that visit goes out now, after its commit."""
        launched(self.crawl, lease, now)

    def record(self, lease: int, outcome: Outcome, now: float) -> tuple[Observation, Writes]:
        """Take in an outcome. Raises KeyError for a lease that isn't out."""
        observation, writes = record(self.crawl, lease, outcome, now)
        for entry in writes.entries:
            self.purse.add(entry.spend, entry.t)
        return observation, writes

    def stop(self, now: float) -> Writes:
        """Keep what the groups have taught."""
        return Writes(meta={"learned": learned_meta(self.crawl)})

    @property
    def window_ends(self) -> float:
        """When the present window is over (its plan's next due time, for a pass)."""
        return self.crawl.resume_at

    @property
    def put_aside(self) -> int:
        """Visits of this window given up: more than what was left could be needed."""
        window = self.crawl.window
        return window.unaffordable if window is not None else 0

    @property
    def again_at(self) -> float:
        """When a page that its host put off may be asked again in this window (inf = none)."""
        window = self.crawl.window
        return window.again_at if window is not None else float("inf")

    def again(self) -> None:
        """Those pages are about to be planned again."""
        if self.crawl.window is not None:
            self.crawl.window.again_at = float("inf")

    def resting(self, now: float) -> str:
        """Where everything queued belongs to hosts that can't be asked for a while: which, and
        until when; else ''.
        """
        crawl = self.crawl
        waiting = [h for h in crawl.hosts.values() if any(crawl.queues.sizes(h.host_id))]
        if not waiting or not all(rests(h, now) for h in waiting):
            return ""
        first = min(waiting, key=ready_at)
        n = sum(sum(crawl.queues.sizes(h.host_id)) for h in waiting)
        asked = first.robots_until if first.robots_status == "unreachable" else 0.0
        until = iso(max(ready_at(first), asked, now))
        return f"{n} visits wait for {first.origin}, which can't be asked before {until}"

    def close_pass(self) -> Writes:
        """The pass is complete: the next plan begins another."""
        window = self.crawl.window
        if window is None or not window.one_pass:
            return Writes()
        self.crawl.window = None
        self._pass_started = 0.0
        return Writes(meta={"pass_started": "0.0"})

    @property
    def in_flight(self) -> int:
        """How many visits were served and not recorded yet."""
        return len(self.crawl.flights)
