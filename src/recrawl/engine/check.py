"""The invariants of the crawl in RAM: what must hold between any two calls of the engine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from recrawl.engine.crawl import Crawl, Planned, RobotsCheck, hostname
from recrawl.model import HOT, State, hot_row
from recrawl.units import Spend, Unit

WAITING = (State.GONE, State.ALIAS, State.REFUSED)  # states that always say when to look again


def check(crawl: Crawl) -> list[str]:
    """What is wrong with the state, a sentence each; empty where nothing is. O(pages)."""
    return [
        *_pages(crawl),
        *_hosts(crawl),
        *_queued(crawl),
        *_flights(crawl),
        *_window(crawl),
    ]


def _pages(crawl: Crawl) -> Iterator[str]:
    """Rows and the index that finds them say the same; no row holds a number that can't be."""
    mirror, rows = crawl.mirror, crawl.mirror.rows
    if len(mirror.seen) != mirror.n:
        yield f"{mirror.n} rows, but {len(mirror.seen)} keys in the index"
    for i, (host_id, key) in enumerate(zip(rows["host_id"], rows["key"], strict=True)):
        found = mirror.row_of(int(host_id), int(key))
        if found != i:
            yield f"row {i} of page {(int(host_id), int(key))} is found at {found}"
    for name in ("last", "retry_at", "a", "b", "va", "vb", "body", "value"):
        bad = np.flatnonzero(~(np.isfinite(rows[name]) & (rows[name] >= 0)))
        if bad.size:
            yield f"{name} of {bad.size} pages is {rows[name][bad[0]]}, as in row {bad[0]}"
    for pair in (("a", "b"), ("va", "vb")):
        half = np.flatnonzero((rows[pair[0]] > 0) & ~(rows[pair[1]] > 0))
        if half.size:
            yield f"half a belief ({', '.join(pair)}) in row {half[0]}"
    unread = np.flatnonzero((rows["state"] == State.LIVE) != (rows["last"] > 0))
    for row in unread[np.isin(rows["state"][unread], (State.NEW, State.LIVE))].tolist():
        yield f"row {row} is {State(rows['state'][row]).word}, last read at {rows['last'][row]}"
    restless = np.isin(rows["state"], WAITING) & (rows["retry_at"] <= 0)
    for row in np.flatnonzero(restless).tolist():
        yield f"row {row} is {State(rows['state'][row]).word}, but may be asked at any time"


def _hosts(crawl: Crawl) -> Iterator[str]:
    counted = Counter(crawl.mirror.rows["host_id"].tolist())
    for host_id in counted.keys() - crawl.hosts.keys():
        yield f"{counted[host_id]} pages of host {host_id}, which is unknown"
    for host_id, host in crawl.hosts.items():
        if host.n_pages != counted[host_id]:
            yield f"{host.origin} counts {host.n_pages} pages, but has {counted[host_id]}"
        if crawl.by_origin.get(host.origin) is not host:
            yield f"{host.origin} isn't found by its origin"
        numbers = (
            host.delay, host.next_ok, host.penalty, host.throttled_until, host.fails,
            host.latency, host.robots_at, host.robots_until, host.n_validator, host.n_304,
        )  # fmt: skip
        if not all(math.isfinite(x) and x >= 0 for x in numbers):
            yield f"{host.origin} holds a number that can't be: {numbers}"
        if host.n_304 > host.n_validator:
            yield f"{host.origin}: {host.n_304} answers 304 to {host.n_validator} questions"


def _queued(crawl: Crawl) -> Iterator[str]:
    """Each page waits once, knows what the mirror knows, and isn't bought already."""
    flying = {
        (f.visit.host_id, f.visit.key)
        for f in crawl.flights.values()
        if isinstance(f.item, Planned)
    }
    seen: set[tuple[int, int]] = set()
    for host_id in crawl.hosts:
        checks = 0
        for item in crawl.queues.items(host_id):
            if isinstance(item, RobotsCheck):
                checks += 1
                continue
            key = item.page.host_id, item.page.key
            if key[0] != host_id:
                yield f"page {key} waits in the queue of host {host_id}"
            if key in seen:
                yield f"page {key} waits twice"
            if key in flying:
                yield f"page {key} waits while it is being visited"
            seen.add(key)
            yield from _in_step(crawl, item, "waits")
            if crawl.mirror.bought[crawl.mirror.row_of(*key)]:
                yield f"page {key} waits, but was bought in this window"
        checks += sum(
            f.visit.host_id == host_id and isinstance(f.item, RobotsCheck)
            for f in crawl.flights.values()
        )
        if checks > 1:
            yield f"robots.txt of host {host_id} is asked for {checks} times at once"
        if crawl.queues.gate_closed(host_id) and not checks:
            yield f"the gate of host {host_id} is closed, and nobody asks for its robots.txt"


def _in_step(crawl: Crawl, item: Planned, does: str) -> Iterator[str]:
    page = item.page
    row = crawl.mirror.row_of(page.host_id, page.key)
    if row < 0:
        yield f"page {(page.host_id, page.key)} {does}, but isn't known"
        return
    mine = np.array([hot_row(page)], HOT)[0]
    held = crawl.mirror.rows[row : row + 1].array()[0]
    for time in ("last", "retry_at"):  # a start brings times down after the clock stepped back
        mine[time] = min(mine[time], held[time])
    if mine != held:
        yield f"page {(page.host_id, page.key)} {does} with another row than the mirror's"


def _flights(crawl: Crawl) -> Iterator[str]:
    under_way: Counter[str] = Counter()
    seen: set[tuple[int, int]] = set()
    for lease, flight in crawl.flights.items():
        visit = flight.visit
        under_way[hostname(crawl.hosts[visit.host_id].origin)] += 1
        if lease != visit.lease or lease > crawl.next_lease:
            yield f"lease {visit.lease} flies as {lease}; the last one given is {crawl.next_lease}"
        if isinstance(flight.item, Planned):
            if (visit.host_id, visit.key) in seen:
                yield f"page {(visit.host_id, visit.key)} is visited twice at once"
            seen.add((visit.host_id, visit.key))
            yield from _in_step(crawl, flight.item, "is visited")
            if not crawl.mirror.bought[crawl.mirror.row_of(visit.host_id, visit.key)]:
                yield f"page {(visit.host_id, visit.key)} is visited, but not marked as bought"
    for host_id, host in crawl.hosts.items():
        name, busy = hostname(host.origin), crawl.queues.busy(host_id)
        if busy != under_way[name]:
            yield f"{name}: {under_way[name]} visits under way, but {busy} places are taken"
        if busy > crawl.project.pace.concurrency:
            yield f"{name}: {busy} visits at once, {crawl.project.pace.concurrency} are allowed"


def _window(crawl: Crawl) -> Iterator[str]:
    """The account holds what the flights were promised, and no cap was overdrawn."""
    window = crawl.window
    if window is None:
        return
    account = window.account
    promised = sum((f.visit.reserved for f in crawl.flights.values()), Spend())
    if account.reserved != promised:
        yield f"the account reserves {account.reserved}, the flights were promised {promised}"
    for name, amounts in (("spent", account.spent), ("reserved", account.reserved)):
        if min(amounts.as_dict().values()) < 0:
            yield f"the account has {name} a negative amount: {amounts}"
    for cap, left in zip(account.caps, account.left, strict=True):
        used = account.spent.get(cap.unit) + account.reserved.get(cap.unit)
        if left < 0 or (used > left and cap.unit is not Unit.SECONDS):
            yield f"the cap of {cap} had {left} left, {used} of it is spent or promised"
    waiting = [i for h in crawl.hosts for i in crawl.queues.items(h) if isinstance(i, Planned)]
    waiting += crawl.staged.values()
    expected = sum(i.expected for i in waiting) if not window.one_pass else window.promised
    if not math.isclose(window.promised, expected, rel_tol=1e-6, abs_tol=1e-3):
        yield f"{window.promised} is promised to planned visits that expect {expected}"
