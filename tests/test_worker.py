"""The loop that drives the engine, against a real server: ends, stops, and failing stores."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from engine.harness import project
from recrawl.engine import Engine, Project
from recrawl.engine.check import check
from recrawl.fetch.http import HttpFetcher
from recrawl.frontier.admit import AdmitLimits, Scope
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Outcome, Request, State, Verdict, Writes
from recrawl.plan.budget import Budget, Cap
from recrawl.ports import Store, StoreError
from recrawl.progress import Ended, Progress
from recrawl.stores import MemoryStore
from recrawl.units import Unit
from recrawl.worker import Worker
from servers.site import Site, linked


class Wall:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()

    async def sleep_until(self, t: float) -> None:
        await asyncio.sleep(max(0.0, t - time.time()))


class Failing(MemoryStore):
    """A store whose n-th commit fails, and whose later ones would succeed."""

    def __init__(self, fails_at: int) -> None:
        super().__init__()
        self.commits = 0
        self.fails_at = fails_at

    def commit(self, writes: Writes) -> None:
        self.commits += 1
        if self.commits == self.fails_at:
            raise StoreError("no space left on the device; free some and start again")
        super().commit(writes)


def rules(site: Site, **changes: object) -> Project:
    known = {
        "seeds": (f"{site.origin}/",),
        "scope": Scope(["127.0.0.1"]),
        "admit": AdmitLimits(private_ok=True),
        "private_ok": True,
    }
    return project(**{**known, **changes})


def worker(what: Project, store: Store, **options: object) -> Worker:
    engine = Engine(
        what, store.load_hosts(), store.scan_hot(), store.meta(), store.open_reservations(),
        time.time(),
    )  # fmt: skip
    fetcher = HttpFetcher({}, "test/1.0", allow_private=True)
    rng = np.random.Generator(np.random.PCG64(1))
    return Worker(engine, store, fetcher, Wall(), rng, **options)  # type: ignore[arg-type]


def run(
    made: Worker,
    *,
    after: float | None = None,
    do: Callable[[], None] | None = None,
    **how: object,
) -> Progress:
    """Run to the end; `do` is called `after` so many seconds."""

    async def main() -> Progress:
        if after is not None and do is not None:
            asyncio.get_running_loop().call_later(after, do)
        try:
            return await asyncio.wait_for(made.run(**how), 20)  # type: ignore[arg-type]
        finally:
            await made.fetcher.aclose()

    return asyncio.run(main())


def test_a_pass_reads_every_page_once_and_ends() -> None:
    store = MemoryStore()
    with Site(linked(20)) as site:
        done = run(worker(rules(site), store))
        assert Counter(site.asked) == dict.fromkeys(["/robots.txt", *site.pages], 1)
    assert done.ended is Ended.DONE
    assert (done.visits, done.new, done.robots, done.discovered) == (22, 21, 1, 20)
    assert done.spend == store.spent()
    assert {p.state for p in store.iter_pages()} == {State.LIVE}
    assert store.open_reservations() == []


def test_a_second_run_reads_all_again_and_compares() -> None:
    store = MemoryStore()
    with Site(linked(5)) as site:
        run(worker(rules(site), store))
        site.pages["/3"] = "<title>3</title><p>something new</p>"
        time.sleep(0.01)
        done = run(worker(rules(site), store))
    assert (done.changed, done.unchanged, done.new, done.robots) == (1, 5, 0, 0)
    (change,) = [c for c in store.changes() if c.verdict is Verdict.CHANGED]
    assert store.get_page(change.host_id, change.key).path == "/3"


def test_stopping_finishes_what_is_in_flight() -> None:
    store = MemoryStore()
    with Site(linked(30), held=("/7",)) as site:
        made = worker(rules(site), store, concurrency=4)

        def stop() -> None:
            made.stop()
            site.release()

        done = run(made, after=0.5, do=stop)
        assert done.ended is Ended.INTERRUPTED
        assert store.open_reservations() == [], "what was in flight was recorded"
        assert "/7" in [p.path for p in store.iter_pages(state=State.LIVE)]
        left = done.visits
        again = run(worker(rules(site), store))
        assert left + again.visits == 32, "the rest, and nothing twice"
        assert max(Counter(site.asked).values()) == 1


@pytest.mark.parametrize("delay", [30.0, 600.0])
def test_stopping_does_not_wait_for_a_hosts_delay(delay: float) -> None:
    store = MemoryStore()
    with Site(linked(3)) as site:
        made = worker(rules(site, pace=PaceRules(delay=delay, jitter=0.0)), store)
        began = time.monotonic()
        done = run(made, after=0.3, do=made.stop)
    assert done.ended is Ended.INTERRUPTED
    assert time.monotonic() - began < 3.0


def test_for_a_time() -> None:
    store = MemoryStore()
    with Site(linked(200), delay=0.05) as site:
        began = time.monotonic()
        what = rules(site, pace=PaceRules(delay=0.02, concurrency=2))
        done = run(worker(what, store), until=time.time() + 1.0, keep_on=True)
    assert done.ended is Ended.TIME
    assert 0.9 <= time.monotonic() - began < 4.0
    assert 5 < done.visits < 202
    assert store.open_reservations() == []


def test_at_most_so_many_visits() -> None:
    store = MemoryStore()
    with Site(linked(40)) as site:
        done = run(worker(rules(site), store), max_visits=7)
    assert done.visits == 7 == len(list(store.entries()))


def test_nothing_due_is_said_with_the_time_to_come_back() -> None:
    store = MemoryStore()
    budget = Budget((Cap(Unit.BYTES, 10**9, "day"),), 3600.0)
    with Site(linked(3)) as site:
        first = run(worker(rules(site, budget=budget), store))
        assert first.visits == 5
        done = run(worker(rules(site, budget=budget), store))
    assert (done.ended, done.visits) == (Ended.NOTHING_DUE, 0)
    assert done.reason and time.time() < done.next_due < time.time() + 3601


def test_no_page_known_is_nothing_due() -> None:
    with Site({}) as site:
        done = run(worker(rules(site, seeds=()), MemoryStore()))
    assert done.ended is Ended.NOTHING_DUE and "add `seeds`" in done.reason
    assert done.next_due == math.inf


def test_a_limit_of_the_project_ends_the_run() -> None:
    store = MemoryStore()
    with Site(linked(40)) as site:
        done = run(worker(rules(site, totals=(Cap(Unit.FETCHES, 9),)), store))
        assert done.ended is Ended.LIMIT and "9 fetches" in done.reason
        assert done.visits == 9 == len(site.asked)


@pytest.mark.parametrize("fails_at", [1, 2, 3, 5, 9])
def test_a_failing_commit_ends_the_run_and_loses_nothing_acknowledged(fails_at: int) -> None:
    store = Failing(fails_at)
    with Site(linked(25)) as site:
        what = rules(site, pace=PaceRules(delay=0.0, concurrency=3))
        with pytest.raises(StoreError, match="no space left"):
            run(worker(what, store, concurrency=3))
        assert store.commits == fails_at, "RAM is ahead of the store: nothing more is written"
        asked = len(site.asked)
        acknowledged = len(list(store.entries()))
        out = len(store.open_reservations())
        assert asked <= acknowledged + out, "each request was promised before it was sent"
        done = run(worker(what, store))
        assert {p.state for p in store.iter_pages()} == {State.LIVE}
        assert sum(1 for _ in store.iter_pages()) == 26
    verdicts = Counter(e.verdict for e in store.entries())
    assert verdicts[Verdict.UNKNOWN] == out
    assert sum(verdicts.values()) == acknowledged + out + done.visits
    assert done.ended is Ended.DONE
    assert max(Counter(site.asked).values()) <= 2


def test_a_fetcher_that_is_slow_never_has_more_than_its_places() -> None:
    most = 0

    class Counting:
        name = "counting"

        def __init__(self) -> None:
            self.now = 0

        async def fetch(self, request: Request) -> Outcome:
            nonlocal most
            self.now += 1
            most = max(most, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            return await inner.fetch(request)

        async def aclose(self) -> None:
            await inner.aclose()

    with Site(linked(40)) as site:
        what = rules(site, pace=PaceRules(delay=0.0, concurrency=50))
        made = worker(what, MemoryStore(), concurrency=5)
        inner = made.fetcher
        made.fetcher = Counting()  # type: ignore[assignment]
        done = run(made)
    assert done.visits == 42 and 1 < most <= 5


def test_progress_is_told_after_each_commit_and_the_state_is_sound() -> None:
    seen: list[int] = []
    with Site(linked(12)) as site:
        made = worker(rules(site), MemoryStore(), concurrency=2)

        def told(progress: Progress) -> None:
            seen.append(progress.visits)
            assert check(made.engine.crawl) == []

        made._on_progress = told
        run(made)
    assert seen == sorted(seen) and seen[-1] == 14
