"""Forty cycles of a site that is edited, touched and pruned: ours beside even visits.

Made-up days, everything else is real: nginx, the fetcher, SQLite, the engine as `recrawl run`
opens it. Both policies get the same files, edits, conditional requests and byte budget; even
visits are spared the reserves.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from real_links import file_of, reachable
from real_nginx import Nginx
from real_project import write_project

from recrawl.cli.session import opened
from recrawl.config import load
from recrawl.fetch.http import HttpFetcher
from recrawl.model import State, Verdict
from recrawl.stores import SqliteStore
from recrawl.units import DAY

RHYTHMS = (1, 2, 5, 10)  # cycles between two edits
EDITED, TOUCHED, DELETED = 20, 50, 5  # pages
DELETED_AT = 5
SETTLED = 11  # the first cycle that counts: by then the rhythms can be known
SAVING = 0.25  # less a change than even visits
BODY = re.compile(r'(<div class="body" role="main">)(?:<p class="edit">[^<]*</p>)?')
WORDS = [
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "willow",
    "thunder",
    "saddle",
    "orchard",
    "granite",
    "feather",
    "compass",
    "barley",
    "kettle",
    "anchor",
    "velvet",
    "timber",
    "falcon",
    "ribbon",
    "cinder",
    "marble",
    "pepper",
    "violin",
    "walnut",
    "engine",
    "bridge",
]


@dataclass
class Day:
    """`ports.Clock`: a made-up day that real seconds pass in."""

    start: float = 0.0
    _began: float = field(default_factory=time.monotonic)

    def begin(self, start: float) -> None:
        self.start, self._began = start, time.monotonic()

    def now(self) -> float:
        return self.start + time.monotonic() - self._began

    async def sleep_until(self, t: float) -> None:
        await asyncio.sleep(max(0.0, min(t - self.now(), 1.0)))


class Site:
    """A copy of the manual, and what happens to it; the same for the same seed."""

    def __init__(self, manual: Path, root: Path, seed: int) -> None:
        shutil.copytree(manual, root)
        self.root, self._rng = root, random.Random(seed)
        pages = sorted(
            path
            for path, there in reachable(root).items()
            if there and path not in ("/", "/index.html") and BODY.search(self._text(path))
        )
        drawn = self._rng.sample(pages, EDITED + TOUCHED + DELETED)
        self.edited = self._rhythms(drawn[:EDITED])
        self.touched = self._rhythms(drawn[EDITED : EDITED + TOUCHED])
        self.deleted = drawn[EDITED + TOUCHED :]
        self.version: Counter[str] = Counter()

    def _rhythms(self, pages: list[str]) -> dict[str, tuple[int, int]]:
        """Page -> (cycles between two events, phase)."""
        every = [RHYTHMS[i % len(RHYTHMS)] for i in range(len(pages))]
        return {p: (n, self._rng.randrange(n)) for p, n in zip(pages, every, strict=True)}

    def _text(self, path: str) -> str:
        return file_of(self.root, path).read_text(encoding="utf-8")

    def group(self, path: str) -> str:
        """What becomes of a page."""
        if path in self.edited:
            return f"edited every {self.edited[path][0]}"
        return (
            "touched" if path in self.touched else "deleted" if path in self.deleted else "quiet"
        )

    def live(self, cycle: int, t: float) -> None:
        """What happens before a cycle; files get the made-up time."""
        for path, (every, phase) in self.edited.items():
            if cycle % every == phase:
                self.version[path] += 1
                words = " ".join(self._rng.choices(WORDS, k=30)).capitalize()
                text, n = BODY.subn(rf'\1<p class="edit">{words}.</p>', self._text(path), count=1)
                assert n == 1
                file_of(self.root, path).write_text(text, encoding="utf-8")
                os.utime(file_of(self.root, path), (t, t))
        for path, (every, phase) in self.touched.items():
            if cycle % every == phase:
                os.utime(file_of(self.root, path), (t, t))
        if cycle == DELETED_AT:
            for path in self.deleted:
                file_of(self.root, path).unlink()


@dataclass
class Tally:
    """What a policy's cycles came to."""

    policy: str
    first_pass: int = 0  # bytes
    revisit_pass: int = 0
    budget: int = 0  # of a cycle
    bytes: int = 0  # from cycle SETTLED on
    found: int = 0
    visits: Counter[str] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)  # bytes by group of pages
    changes: Counter[str] = field(default_factory=Counter)
    purposes: Counter[str] = field(default_factory=Counter)
    edits: Counter[str] = field(default_factory=Counter)
    per_cycle: list[tuple[int, int, int]] = field(default_factory=list)  # visits, bytes, found
    wrong: list[str] = field(default_factory=list)

    @property
    def per_change(self) -> float:
        return self.bytes / max(self.found, 1)

    def as_dict(self) -> dict[str, Any]:
        return {
            "first_pass": self.first_pass,
            "revisit_pass": self.revisit_pass,
            "budget": self.budget,
            "bytes": self.bytes,
            "found": self.found,
            "bytes_per_change": round(self.per_change),
            "by_group": {
                g: {"visits": n, "bytes": self.spent[g], "found": self.changes[g],
                    "edits": self.edits[g]}
                for g, n in sorted(self.visits.items())
            },
            "by_purpose": dict(self.purposes),
            "visits_bytes_found": self.per_cycle,
            "wrong": self.wrong,
        }  # fmt: skip


class Watch:
    """One policy's crawl of one copy of the site."""

    def __init__(self, folder: Path, manual: Path, policy: str, seed: int, settled: int) -> None:
        folder.mkdir()
        self.folder, self.policy, self.seed, self.settled = folder, policy, seed, settled
        self.site = Site(manual, folder / "site", seed)
        self.tally = Tally(policy)
        self.clock = Day()
        self._read: dict[str, int] = {}  # page -> the version last read
        self._since = 0.0

    def play(self, cycles: int, share: float, of: str, start: float) -> Tally:
        with Nginx(self.site.root, self.folder / "nginx") as nginx:
            origin = f"http://127.0.0.1:{nginx.port}"
            config = write_project(self.folder, origin, policy=self.policy)
            store = SqliteStore.open(self.folder / "recrawl.db", create=True)
            try:
                self._cycle(store, config, start, 0)
                self._cycle(store, config, start + DAY / 2, 0)
                full = self._pass_bytes(store, of)
                self.tally.budget = int(full * share)
                config = write_project(
                    self.folder, origin, policy=self.policy, per_run=self.tally.budget,
                    reserves="{ discovery = 0, reestimation = 0, verification = 0 }"
                    if self.policy == "uniform"
                    else "",
                )  # fmt: skip
                for cycle in range(1, cycles + 1):
                    t = start + cycle * DAY
                    self.site.live(cycle, t - 3600)
                    self._cycle(store, config, t, cycle)
                self._judge_end(store)
            finally:
                store.close()
        return self.tally

    def _pass_bytes(self, store: SqliteStore, of: str) -> int:
        """Bytes of a full pass: the first one's, or those of one that asks with validators.

        The latter is the second run, and a full answer for each page that is edited or touched.
        """
        entries = list(store.entries())
        self.tally.first_pass = sum(e.up + e.down for e in entries if not e.conditional)
        second = sum(e.up + e.down for e in entries if e.conditional)
        moved = {
            (p.host_id, p.key)
            for p in store.iter_pages()
            if p.path in self.site.edited or p.path in self.site.touched
        }
        read = (e for e in entries if not e.conditional and (e.host_id, e.key) in moved)
        self.tally.revisit_pass = second + sum(e.up + e.down for e in read)
        return self.tally.first_pass if of == "first" else self.tally.revisit_pass

    def _cycle(self, store: SqliteStore, config: Path, t: float, cycle: int) -> None:
        self.clock.begin(t)
        asyncio.run(self._run(store, config, cycle))
        paths = {(p.host_id, p.key): p.path for p in store.iter_pages()}
        visits = spent = found = 0
        for e in store.entries(self._since):
            path = paths.get((e.host_id, e.key), "/robots.txt")
            visits, spent = visits + 1, spent + e.up + e.down
            found += self._judge(path, e.verdict, cycle)
            if cycle >= self.settled:
                group = self.site.group(path)
                self.tally.visits[group] += 1
                self.tally.spent[group] += e.up + e.down
                self.tally.changes[group] += e.verdict is Verdict.CHANGED
                self.tally.purposes[e.purpose.word] += e.up + e.down
        self._since = self.clock.now() + 1e-6
        if cycle >= self.settled:
            self.tally.bytes += spent
            self.tally.found += found
            for path, (every, phase) in self.site.edited.items():
                self.tally.edits[self.site.group(path)] += cycle % every == phase
        if cycle:
            self.tally.per_cycle.append((visits, spent, found))

    async def _run(self, store: SqliteStore, config: Path, cycle: int) -> None:
        settings = load(config)
        fetcher = HttpFetcher({}, settings.project.user_agent, now=self.clock.now)
        async with opened(
            settings, store, clock=self.clock, fetcher=fetcher, seed=self.seed * 1000 + cycle
        ) as worker:
            await worker.run()

    def _judge(self, path: str, verdict: Verdict, cycle: int) -> bool:
        """Hold one reading against the truth; True where it found a change."""
        if not verdict.is_reading:
            return False
        now, before = self.site.version[path], self._read.get(path)
        self._read[path] = now
        changed = verdict is Verdict.CHANGED
        if before is not None and changed != (now != before):
            self.tally.wrong.append(
                f"{self.policy}, cycle {cycle}: {path} is called {verdict.word}, but its version "
                f"went from {before} to {now}"
            )
        return changed

    def _judge_end(self, store: SqliteStore) -> None:
        pages = {p.path: p for p in store.iter_pages()}
        alive = [p for p in self.site.deleted if pages[p].state is not State.GONE]
        if alive:
            self.tally.wrong.append(f"{self.policy}: deleted, but not called gone: {alive}")
        gone = [p.path for p in pages.values() if p.state is State.GONE and p.last]
        wrongly = set(gone) - set(self.site.deleted)
        if wrongly:
            self.tally.wrong.append(f"{self.policy}: called gone, but there: {sorted(wrongly)}")


def compare(
    folder: Path,
    manual: Path,
    *,
    cycles: int,
    share: float = 0.1,
    of: str = "revisit",
    seed: int = 1,
    settled: int = SETTLED,
    start: float = 0.0,
) -> dict[str, Any]:
    """Play both policies, and say where ours falls short.

    A cycle's budget is `share` of a pass: `of` the "first", or of one that asks with validators
    ("revisit": all answered 304 but the pages that were edited or touched). On a tenth of the
    latter, even visits take ten cycles for a round. Cycles count from `settled` on.
    """
    start = start or time.time() // 3600 * 3600
    even, ours = (
        Watch(folder / policy, manual, policy, seed, settled).play(cycles, share, of, start)
        for policy in ("uniform", "index")
    )
    saved = 1.0 - ours.per_change / even.per_change
    wrong = [*even.wrong, *ours.wrong]
    if saved < SAVING:
        wrong.append(f"ours spends {saved:.1%} less a change, not {SAVING:.0%}")
    if ours.found < even.found:
        wrong.append(f"ours finds {ours.found} changes, even visits {even.found}")
    return {
        "saved_per_change": round(saved, 4),
        "ours": ours.as_dict(),
        "even": even.as_dict(),
        "wrong": wrong,
    }
