"""The driver: commits what the engine decides, makes its visits, and brings the outcomes back.

One loop: take in the outcomes that have come, ask for visits, commit both in one transaction,
then send. A visit is acknowledged only once its outcome is committed; a failed commit ends the
run, and the next start rebuilds everything from the store.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np

from recrawl.engine import Engine
from recrawl.model import Change, Outcome, Verdict, Visit, Wait, Writes
from recrawl.ports import Clock, Fetcher, Store
from recrawl.progress import Ended, Progress


def _since(store: Store, now: float) -> float:
    """When the project began to spend: a month that began before it isn't paced from its first."""
    return float(store.meta().get("since") or now)


A = TypeVar("A")
R = TypeVar("R")

GROUP_COMMIT = 0.01  # seconds an outcome may wait for company before it is committed
REST_PATIENCE = 20.0  # seconds a run waits for hosts that can't be asked for a while
PATIENCE = 60.0  # seconds a run waits for a host that put its pages off
BATCH = 200  # outcomes taken into one transaction


class Worker:
    """Runs one project's engine against a store, a fetcher and a clock.

    `jumps`: the clock is a made-up one, which may leap to the next moment of interest while
    nothing is in flight. `on_progress` is called after every commit.
    """

    def __init__(
        self,
        engine: Engine,
        store: Store,
        fetcher: Fetcher,
        clock: Clock,
        rng: np.random.Generator,
        *,
        concurrency: int = 64,
        jumps: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.engine = engine
        self.store = store
        self.fetcher = fetcher
        self.clock = clock
        self.rng = rng
        self.concurrency = concurrency
        self.jumps = jumps
        self.progress = Progress()
        self._on_progress = on_progress
        self._done: asyncio.Queue[tuple[Visit, Outcome]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recrawl-store")
        self._pending = Writes()
        self._stopping = False
        self._failed = False
        self._limit_reached = False
        self._resting = ""
        self._sent = 0
        self._visits_left: float = math.inf

    def stop(self) -> None:
        """Send nothing more; the run ends when what is in flight has been recorded."""
        self._stopping = True

    async def run(
        self, *, until: float = math.inf, keep_on: bool = False, max_visits: int | None = None
    ) -> Progress:
        """Crawl until the window or pass is done; with `keep_on`, window after window to `until`.

        `max_visits`: send no more than that. Raises StoreError where a commit fails: nothing
        unacknowledged is lost.
        """
        self._visits_left = math.inf if max_visits is None else max_visits
        now = self.clock.now()
        spent = [self.store.spent(t) for t in self.engine.spent_since(now)]
        try:
            await self._commit(self.engine.start(now, spent, _since(self.store, now)))
            while not self._over(until):
                await self._window(until, keep_on)
                if not keep_on:
                    break
                await self._rest(until)
        finally:
            await self._drain()
            await self._commit(self.engine.stop(self.clock.now()))
            self._thread.shutdown(wait=True)
        self._conclude(until, keep_on)
        return self.progress

    def _over(self, until: float) -> bool:
        return self._stopping or self._visits_left <= 0 or self.clock.now() >= until

    def _conclude(self, until: float, keep_on: bool) -> None:
        """Say why the run ended."""
        self.progress.reason = self._resting or self.progress.reason
        if self._stopping:
            self.progress.ended = Ended.INTERRUPTED
        elif keep_on and self.clock.now() >= until:
            self.progress.ended = Ended.TIME
        elif self._limit_reached:
            self.progress.ended = Ended.LIMIT
        elif not self.progress.visits:
            self.progress.ended = Ended.NOTHING_DUE

    async def _window(self, until: float, keep_on: bool) -> None:
        """One window, or one pass: plan, then serve it to its end."""
        before = (-1, 0)
        while self._moved() != before and not self._over(until) and await self._plan():
            before = self._moved()
            self.progress.windows += 1
            while not self._over(until):
                await self._take_in()
                wait = await self._send(until)
                if self._tasks or not self._done.empty():
                    await self._await_outcome(wait)
                elif self._worth(wait.until, until, keep_on):
                    await self._sleep(wait.until)
                else:
                    break  # more of this window or pass may wait in the store
        if not self._over(until):
            await self._commit(self.engine.close_pass())

    def _moved(self) -> tuple[int, int]:
        """Visits sent and put aside: where neither grew, another plan would choose the same."""
        return self._sent, self.engine.put_aside

    def _worth(self, t: float, until: float, keep_on: bool) -> bool:
        """Is there something to wait for until `t`? Not in this window, where it ends before.

        A run that is to end does not wait long for hosts that don't answer.
        """
        if t >= min(until, self.engine.window_ends):
            return False
        now = self.clock.now()
        if keep_on or t - now <= REST_PATIENCE:
            return True
        self._resting = self.engine.resting(now)
        return not self._resting

    async def _plan(self) -> bool:
        """Ask for a plan and load its pages. False where nothing is to be done now."""
        now = self.clock.now()
        plan, writes = self.engine.plan(now, self.rng)
        await self._commit(writes)
        if plan.keys:
            self.engine.stock(await self._in_thread(self.store.load_pages, plan.keys))
        self.progress.next_due = plan.next_due
        self.progress.reason = plan.reason
        self._limit_reached = plan.limit_reached
        if plan.keys or plan.queued:
            return True
        again = self.engine.again_at
        if again - now > PATIENCE:
            return False
        self.engine.again()
        await self._sleep(again)  # a host put pages off: ask once more
        return await self._plan()

    async def _take_in(self) -> None:
        """Record the outcomes that have come."""
        writes = Writes()
        taken = 0
        while taken < BATCH and not self._done.empty():
            visit, outcome = self._done.get_nowait()
            _, more = self.engine.record(visit.lease, outcome, self.clock.now())
            more.changes = [self._with_before(change) for change in more.changes]
            self.progress.count(more)
            writes.merge(more)
            taken += 1
        self._pending = writes

    def _with_before(self, change: Change) -> Change:
        """What the page said before, from the store: the engine holds no records."""
        if change.verdict is Verdict.NEW:
            return change
        held = self.store.get_record(change.host_id, change.key)
        return change if held is None else replace(change, before=held.fields)

    async def _send(self, until: float) -> Wait:
        """Buy visits for the free places, commit, then send. The wait that ended the buying."""
        writes = self._pending
        self._pending = Writes()
        visits: list[Visit] = []
        wait: Wait | None = None
        places = self.concurrency - len(self._tasks)
        while not self._stopping and len(visits) < min(places, self._visits_left):
            now = self.clock.now()
            answer, more = (
                self.engine.next(now, float(self.rng.random()))
                if now < until
                else (Wait(math.inf, "time is up"), Writes())
            )
            writes.merge(more)
            if isinstance(answer, Wait):
                wait = answer
                break
            visits.append(answer)
        await self._commit(writes)
        self._visits_left -= len(visits)
        self._sent += len(visits)
        now = self.clock.now()
        for visit in visits:
            self.engine.launched(visit.lease, now)
            task = asyncio.create_task(self._fetch(visit))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return wait or Wait(math.inf, "every place is taken")

    async def _fetch(self, visit: Visit) -> None:
        outcome = await self.fetcher.fetch(visit.request)
        self._done.put_nowait((visit, outcome))

    async def _await_outcome(self, wait: Wait) -> None:
        """Sleep until outcomes come, or the time to ask again does.

        The first one waits a moment for company: one commit serves all that come together.
        """
        timeout = None if self.jumps else max(0.0, wait.until - self.clock.now())
        if timeout == math.inf:
            timeout = None
        if self._done.empty():
            await asyncio.wait(self._tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if self._tasks and not self._done.empty():
            await asyncio.wait(self._tasks, timeout=1.0 if self.jumps else GROUP_COMMIT)

    async def _rest(self, until: float) -> None:
        """Between two windows."""
        ends = self.engine.window_ends
        wake = ends if ends > self.clock.now() else self.progress.next_due
        if not self._over(until):
            await self._sleep(min(wake, until))

    async def _sleep(self, t: float) -> None:
        """Until `t`, or until the run is stopped."""
        while not self._stopping and (now := self.clock.now()) < t:
            await self.clock.sleep_until(t if self.jumps else min(t, now + 0.5))

    async def _drain(self) -> None:
        """Wait for what is in flight and record it."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        while not self._done.empty():
            await self._take_in()
            await self._commit(self._pending)

    async def _commit(self, writes: Writes) -> None:
        """Make it durable. After a failure nothing more is: RAM is ahead of the store then."""
        if writes and not self._failed:
            self._failed = True
            await self._in_thread(self.store.commit, writes)
            self._failed = False
            if self._on_progress is not None:
                self._on_progress(self.progress)

    async def _in_thread(self, call: Callable[[A], R], arg: A) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call, arg)
