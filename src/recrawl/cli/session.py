"""A project opened to be run: its store, engine and fetcher, and the loop that drives them."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np

from recrawl.cli.memory import keep_freed_memory
from recrawl.config.build import project_of, routes_of
from recrawl.config.settings import Settings
from recrawl.engine import Engine, Project
from recrawl.fetch.http import HttpFetcher
from recrawl.ports import Clock, Fetcher, Store
from recrawl.progress import Progress
from recrawl.stores import SqliteStore
from recrawl.worker import Worker


class WallClock:
    """`ports.Clock`: the machine's time when it was made, from then on a clock that nobody sets.

    A run's pace, its windows and its ledger so stay in order when the wall clock is set back or
    forward meanwhile; the next run begins from the time that is then right.
    """

    def __init__(self) -> None:
        self._offset = time.time() - _steady()

    def now(self) -> float:
        return _steady() + self._offset

    async def sleep_until(self, t: float) -> None:
        """In short steps: a machine that was suspended meanwhile doesn't oversleep."""
        while (left := t - self.now()) > 0:
            await asyncio.sleep(min(left, 60.0))


def _steady() -> float:
    """Seconds that are never set; with those of a suspended machine, where that is told."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def open_store(settings: Settings, *, create: bool = True) -> SqliteStore:
    """The project's store, for writing. Raises StoreError, StoreBusy."""
    return SqliteStore.open(settings.store, create=create)


def make_engine(project: Project, store: Store, now: float) -> Engine:
    """The engine as the store remembers it."""
    return Engine(
        project,
        store.load_hosts(),
        store.scan_hot(),
        store.meta(),
        store.open_reservations(),
        now,
    )


def make_fetcher(settings: Settings, clock: Clock) -> HttpFetcher:
    """The project's fetcher, on that clock. Raises RouteError where credentials are missing."""
    return HttpFetcher(
        routes_of(settings),
        settings.project.user_agent,
        allow_private=settings.project.allow_private,
        max_idle=max(256, settings.politeness.total_concurrency * 2),
        now=clock.now,
    )


@asynccontextmanager
async def opened(
    settings: Settings,
    store: Store,
    *,
    clock: Clock | None = None,
    fetcher: Fetcher | None = None,
    seed: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> AsyncIterator[Worker]:
    """A worker ready to run; its fetcher is closed afterwards (the store is the caller's)."""
    clock = clock or WallClock()
    project = project_of(settings)
    made = fetcher or make_fetcher(settings, clock)
    worker = Worker(
        make_engine(project, store, clock.now()),
        store,
        made,
        clock,
        np.random.Generator(np.random.PCG64(seed)),
        concurrency=project.concurrency,
        jumps=getattr(clock, "jumps", False),
        on_progress=on_progress,
    )
    try:
        yield worker
    finally:
        await made.aclose()


def run_worker(
    settings: Settings,
    store: Store,
    *,
    seconds: float | None,
    keep_on: bool,
    max_visits: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Crawl until done; SIGINT or SIGTERM finishes what is in flight, a second ends at once."""

    async def main() -> Progress:
        async with opened(settings, store, on_progress=on_progress) as worker:
            _stop_on_signals(worker)
            until = worker.clock.now() + seconds if seconds is not None else float("inf")
            return await worker.run(
                until=until, keep_on=keep_on or seconds is not None, max_visits=max_visits
            )

    keep_freed_memory()
    return asyncio.run(main())


def _stop_on_signals(worker: Worker) -> None:
    loop = asyncio.get_running_loop()

    def stop(signum: int) -> None:
        loop.remove_signal_handler(signum)  # the next one has its usual effect
        worker.stop()

    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stop, signum)
