"""`kill -9` at random moments of a first pass: what ledger, pages and server say after.

Each start of `recrawl run` is killed at a random moment, from before its first request to half a
second into its crawl, until the kills are used up; the last start runs to the end.
"""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from real_links import reachable
from real_nginx import Hit, Nginx
from real_project import Crawl, write_project

from recrawl.model import Entry, Reservation, State, Verdict
from recrawl.ports import StoreError
from recrawl.stores import SqliteStore
from recrawl.units import parse_duration

DELAY = "20 ms"
LONG_DELAY = "2 s"  # longer than a restart takes: else any start would be late enough
LONG_KILLS = 5
CRAWL = 0.5  # seconds after its first request within which a start is killed
PATIENCE = 60.0
TICK = 0.002  # seconds: the log's clock ticks in milliseconds, at both ends of a gap
SLIPS = 0.05  # of a start's requests may arrive early: the one before was held up on its way


@dataclass
class Snapshot:
    """What the store holds."""

    entries: list[Entry] = field(default_factory=list)
    reservations: list[Reservation] = field(default_factory=list)
    live: set[tuple[int, int]] = field(default_factory=set)
    paths: dict[tuple[int, int], str] = field(default_factory=dict)


def look(folder: Path) -> Snapshot:
    """Read the store beside whoever writes it."""
    path = folder / "recrawl.db"
    if not path.exists():
        return Snapshot()
    try:
        store = SqliteStore.open(path, create=False, read_only=True)
    except StoreError:  # killed before its schema was made
        return Snapshot()
    try:
        pages = list(store.iter_pages())
        return Snapshot(
            list(store.entries()),
            store.open_reservations(),
            {(p.host_id, p.key) for p in pages if p.state is State.LIVE},
            {(p.host_id, p.key): p.path for p in pages},
        )
    finally:
        store.close()


class Killer:
    """Kills starts of one crawl, and keeps what was wrong."""

    def __init__(self, folder: Path, crawl: Crawl, nginx: Nginx, seed: int) -> None:
        self.folder, self.crawl, self.nginx = folder, crawl, nginx
        self.rng = random.Random(seed)
        self.wrong: list[str] = []
        self.kills = self.idle = 0  # idle: killed before the start had sent anything
        self.killed_at: list[float] = []
        self.in_flight: dict[int, Reservation] = {}  # by lease: a start killed early books none

    def kill_once(self) -> bool:
        """One start, killed. False where it came to its end first."""
        seen = self.nginx.log_size()
        began = time.monotonic()
        process = self.crawl.start()
        if self.rng.random() < 0.8:  # else from the very start
            while self.nginx.log_size() == seen and process.poll() is None:
                if time.monotonic() - began > PATIENCE:
                    break
                time.sleep(0.002)
        time.sleep(self.rng.uniform(0, CRAWL))
        acknowledged = look(self.folder).entries
        if process.poll() is not None:
            return False
        process.kill()
        process.wait()
        self.killed_at.append(time.time())
        self.kills += 1
        self.idle += self.nginx.log_size() == seen
        self._kept(acknowledged)
        return True

    def _kept(self, acknowledged: list[Entry]) -> None:
        """What was committed before the kill is there after it, and its pages are read."""
        after = look(self.folder)
        lost = set(acknowledged) - set(after.entries)
        if lost:
            self.wrong.append(f"kill {self.kills}: {len(lost)} acknowledged visits are lost")
        read = {(e.host_id, e.key) for e in after.entries if e.verdict.is_reading}
        if read - after.live:
            self.wrong.append(f"kill {self.kills}: {len(read - after.live)} readings without page")
        if len(after.reservations) > 1:
            self.wrong.append(f"kill {self.kills}: {len(after.reservations)} visits in flight")
        self.in_flight |= {r.lease: r for r in after.reservations}


def kill_often(
    folder: Path,
    manual: Path,
    *,
    kills: int = 50,
    seed: int = 1,
    long_kills: int = LONG_KILLS,
    delay: str = DELAY,
) -> dict[str, Any]:
    """The pass of a whole site with `kills` kills, then a few at a delay longer than a start."""
    shutil.copytree(manual, folder / "site")
    short = _killed(folder, "short", delay, kills, seed, to_the_end=True)
    long = _killed(folder, "long", LONG_DELAY, long_kills, seed, to_the_end=False)
    return {"short": short, "long": long, "wrong": short.pop("wrong") + long.pop("wrong")}


def _killed(
    folder: Path, name: str, delay: str, kills: int, seed: int, *, to_the_end: bool
) -> dict[str, Any]:
    here = folder / name
    here.mkdir()
    with Nginx(folder / "site", here / "nginx") as nginx:
        origin = f"http://127.0.0.1:{nginx.port}"
        crawl = Crawl(write_project(here, origin, delay=delay, concurrency=1))
        killer = Killer(here, crawl, nginx, seed)
        while killer.kills < kills and killer.kill_once():
            pass
        if to_the_end:
            crawl.run()
        return _judge(folder / "site", here, killer, nginx.hits(), delay, to_the_end)


def _judge(
    root: Path, here: Path, killer: Killer, hits: list[Hit], delay: str, complete: bool
) -> dict[str, Any]:
    end = look(here)
    wrong = killer.wrong
    path = {**end.paths, **dict.fromkeys({(e.host_id, 0) for e in end.entries}, "/robots.txt")}
    asked = Counter(h.path for h in hits)
    lines = Counter(path[e.host_id, e.key] for e in end.entries)
    unknown = [e for e in end.entries if e.verdict is Verdict.UNKNOWN]
    lost = Counter(path[e.host_id, e.key] for e in unknown)
    open_now = Counter(path[r.host_id, r.key] for r in end.reservations)
    for page in asked:
        if asked[page] > lines[page] + open_now[page]:
            wrong.append(f"{page}: asked {asked[page]} times, {lines[page]} lines in the ledger")
    for page, n in (lines - lost).items():
        if n > 1 and page != "/robots.txt":
            wrong.append(f"{page}: fetched {n} times, beyond what was in flight")
        if asked[page] < n:
            wrong.append(f"{page}: {n} acknowledged visits, but the server saw {asked[page]}")
    booked = Counter((e.host_id, e.key, e.spend.bytes) for e in unknown)
    promised = Counter((r.host_id, r.key, r.reserved.bytes) for r in killer.in_flight.values())
    still = Counter((r.host_id, r.key, r.reserved.bytes) for r in end.reservations)
    if booked != promised - still:
        wrong.append("what was in flight isn't booked as unknown at the reserved price")
    if complete:
        wanted = set(reachable(root)) - {"/robots.txt"}
        read = {path[e.host_id, e.key] for e in end.entries if e.verdict is not Verdict.UNKNOWN}
        if wanted - read:
            wrong.append(
                f"{len(wanted - read)} pages were never read: {sorted(wanted - read)[:5]}"
            )
    across, within = _gaps(hits, killer.killed_at)
    least = parse_duration(delay)
    if min(across, default=least) < least - TICK:
        wrong.append(f"a restart came {min(across):.4f} s after the last request, not {delay}")
    early = sum(g < least - TICK for g in within)
    if early > SLIPS * len(within):
        wrong.append(
            f"{early} of {len(within)} requests of one start came less than {delay} apart"
        )
    return {
        "kills": killer.kills,
        "before_any_request": killer.idle,
        "in_flight": len(killer.in_flight),
        "requests": len(hits),
        "ledger_lines": len(end.entries),
        "unknown": len(unknown),
        "unknown_that_reached_the_server": sum(
            min(n, asked[p] - (lines - lost)[p]) for p, n in lost.items()
        ),
        "shortest_gap_across_a_restart": round(min(across, default=0.0), 4),
        "shortest_gap_within_a_start": round(min(within, default=0.0), 4),
        "gaps_below_the_delay": early,
        "wrong": wrong,
    }


def _gaps(hits: list[Hit], killed_at: list[float]) -> tuple[list[float], list[float]]:
    """Seconds between two requests as the server saw them: across a kill, and within one start."""
    begun = sorted(h.begun for h in hits)
    across, within = [], []
    for a, b in pairwise(begun):
        (across if any(a <= t <= b for t in killed_at) else within).append(b - a)
    return across, within
