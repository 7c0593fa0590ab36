"""A crawl without a network: outcomes are data, the store is in RAM, all invariants are held."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from recrawl.engine import Engine, PlanAnswer, Project
from recrawl.engine.check import check
from recrawl.frontier.admit import AdmitLimits, Gate, Scope
from recrawl.frontier.politeness import PaceRules
from recrawl.model import (
    Blame,
    Entry,
    Hint,
    Kind,
    Observation,
    Outcome,
    Page,
    Visit,
    Wait,
    WireCost,
    Writes,
)
from recrawl.plan.budget import Budget
from recrawl.plan.policies import get_policy
from recrawl.plan.tariff import Tariff
from recrawl.stores import MemoryStore
from recrawl.units import Spend, Unit
from recrawl.urls.canonical import Normalizer
from recrawl.urls.match import SiteMatcher
from recrawl.urls.patterns import PatternSet

T0 = 1_790_000_000.0  # 2026-09-21T14:13:20Z, a Monday
ORIGIN = "https://a.example"
HTML = (("content-type", "text/html"),)


def project(**changes: Any) -> Project:
    """One site without delay and budget, unless told otherwise."""
    limits = changes.pop("admit", AdmitLimits())
    scope = changes.pop("scope", Scope(["a.example", "b.example"]))
    patterns = changes.pop("patterns", PatternSet())
    known: dict[str, Any] = {
        "seeds": (f"{ORIGIN}/",),
        "agent": "recrawl/0.1",
        "normalizer": Normalizer(),
        "gate": Gate(limits, scope, patterns),
        "sites": SiteMatcher([]),
        "policy": get_policy("freshness"),
        "budget": Budget(),
        "tariffs": {"direct": Tariff("direct", Unit.BYTES, 0.008)},
        "pace": PaceRules(delay=0.0, concurrency=4, jitter=0.0),
    }
    return Project(**{**known, **changes})


def ok(text: str = "hello", *links: str, etag: str = "", cost: int = 2_000) -> Outcome:
    """A page with that text and those links."""
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    body = f"<html><title>t</title><body><p>{text}</p>{anchors}</body></html>".encode()
    headers = (*HTML, ("etag", etag)) if etag else HTML
    return answer(Kind.OK, 200, headers=headers, body=body, wire_body=body, cost=wire(cost))


def answer(kind: Kind, status: int = 0, *, cost: WireCost | None = None, **more: Any) -> Outcome:
    """Any outcome; the blame is the target's unless it is a success."""
    blame = Blame.TARGET if kind not in GOOD else Blame.NOBODY
    return Outcome(
        kind,
        cost if cost is not None else wire(400),
        **{"status": status, "blame": blame, **more},
    )


GOOD = (Kind.OK, Kind.NOT_MODIFIED, Kind.REDIRECT, Kind.GONE)


def wire(n: int) -> WireCost:
    """An exchange of n bytes."""
    return WireCost(up=min(n, 200), down=n - min(n, 200), seconds=0.1)


def no_robots() -> Outcome:
    return answer(Kind.GONE, 404)


def robots(text: str) -> Outcome:
    return answer(Kind.OK, 200, body=text.encode(), headers=(("content-type", "text/plain"),))


def moved(to: str, status: int = 301) -> Outcome:
    return answer(Kind.REDIRECT, status, location=to)


Site = Callable[[str, Visit], Outcome]
"""The web: URL and visit -> what it answers (robots.txt included)."""


def pages(site: dict[str, Outcome]) -> Site:
    """A site of fixed answers by path; 404 for all else, robots.txt included."""

    def ask(url: str, visit: Visit) -> Outcome:
        return site.get("/" + url.split("/", 3)[3], no_robots())

    return ask


class Play:
    """An engine, its store, and the time. Each step commits, then asserts all invariants.

    `checked=False`: not after each step, where a long crawl is only to come to a state.
    """

    def __init__(
        self,
        rules: Project | None = None,
        store: MemoryStore | None = None,
        *,
        checked: bool = True,
    ) -> None:
        self.rules = rules or project()
        self.checked = checked
        self.store = store or MemoryStore()
        self.now = T0
        self.u = 0.0
        self.rng = np.random.Generator(np.random.PCG64(7))
        self.start()

    @property
    def crawl(self) -> Any:
        return self.engine.crawl

    def start(self) -> None:
        """(Re)build everything from the store, as a process that starts does."""
        self.engine = Engine(
            self.rules, self.store.load_hosts(), self.store.scan_hot(), self.store.meta(),
            self.store.open_reservations(), self.now,
        )  # fmt: skip
        spent = [self.store.spent(t) for t in self.engine.spent_since(self.now)]
        since = float(self.store.meta().get("since") or self.now)
        self.commit(self.engine.start(self.now, spent, since))

    def commit(self, writes: Writes) -> Writes:
        self.store.commit(writes)
        if self.checked:
            self.verify()
        return writes

    def verify(self) -> None:
        """RAM's invariants hold, and the store knows what RAM knows."""
        wrong = check(self.crawl)
        assert not wrong, wrong
        rows = self.crawl.mirror.rows
        mine = rows[np.lexsort((rows["key"], rows["host_id"]))].array()
        kept_rows = self.store.scan_hot().array()
        # A start shortens pauses that the clock's step back made too long; only RAM need know.
        for time in ("last", "retry_at"):
            kept_rows[time] = np.minimum(kept_rows[time], mine[time])
        assert mine.tolist() == kept_rows.tolist()
        for host, kept in zip(self.crawl.hosts.values(), self.store.load_hosts(), strict=True):
            assert host.next_ok <= kept.next_ok and host.throttled_until <= kept.throttled_until
            pause = {"next_ok": kept.next_ok, "throttled_until": kept.throttled_until}
            assert replace(host, **pause) == kept
        promised = {r.lease for r in self.store.open_reservations()}
        assert promised == set(self.crawl.flights)

    def admit(self, *hints: str | Hint) -> Any:
        answer, writes = self.engine.admit(
            [Hint(h, "link", depth=1) if isinstance(h, str) else h for h in hints], self.now
        )
        self.commit(writes)
        return answer

    def plan(self) -> PlanAnswer:
        answer, writes = self.engine.plan(self.now, self.rng)
        self.commit(writes)
        self.engine.stock(self.store.load_pages(answer.keys))
        if self.checked:
            self.verify()
        return answer

    def next(self) -> Visit | Wait:
        visit, writes = self.engine.next(self.now, self.u)
        self.commit(writes)
        return visit

    def record(self, visit: Visit, outcome: Outcome) -> Observation:
        seen, writes = self.engine.record(visit.lease, outcome, self.now)
        self.commit(writes)
        assert [(e.host_id, e.key) for e in writes.entries] == [(visit.host_id, visit.key)]
        return seen

    def visit(self) -> Visit:
        """The next visit; there must be one now."""
        found = self.next()
        assert isinstance(found, Visit), found
        return found

    def serve(self, site: Site, *, patience: float = 0.0, most: int = 100_000) -> list[str]:
        """Visit one after the other whatever the queues hold; the URLs in order.

        `patience`: seconds that one wait may last.
        """
        urls: list[str] = []
        while len(urls) < most:
            found = self.next()
            if isinstance(found, Wait):
                if not self.now < found.until <= self.now + patience:
                    break
                self.now = found.until
                continue
            urls.append(found.request.url)
            self.record(found, site(found.request.url, found))
            self.now += 0.001  # two visits of one page never share a moment
        return urls

    def crawl_once(self, site: Site, *, patience: float = 0.0) -> list[str]:
        """Plan and serve until nothing more comes of it."""
        urls: list[str] = []
        while True:
            answer = self.plan()
            if not (answer.keys or answer.queued):
                return urls
            more = self.serve(site, patience=patience)
            if not more:
                return urls
            urls += more

    def close_pass(self) -> None:
        self.commit(self.engine.close_pass())

    def page(self, path: str, origin: str = ORIGIN) -> Page:
        """The store's row of a page."""
        found = self.rules.normalizer.normalize(origin + path)
        host = self.crawl.by_origin[origin]
        page = self.store.get_page(host.host_id, found.key)
        assert page is not None, path
        return page

    def entries(self) -> list[Entry]:
        return list(self.store.entries())

    def spent(self) -> Spend:
        return self.store.spent()

    def refused(self) -> dict[str, int]:
        """How many addresses each reason refused."""
        counts: dict[str, int] = {}
        for _, reason, n in self.store.refused():
            counts[reason] = counts.get(reason, 0) + n
        return counts


def read_twice(play: Play, site: Site, path: str = "/", after: float = 3600.0) -> Page:
    """Two passes over a site, `after` seconds apart; the page as it stands then."""
    play.crawl_once(site)
    play.close_pass()
    play.now += after
    play.crawl_once(site)
    play.close_pass()
    return play.page(path)


def faults() -> Iterable[Kind]:
    """Every way to end that is no answer of the page."""
    return [k for k in Kind if k not in GOOD]


def finite(x: float) -> bool:
    return math.isfinite(x)


def with_headers(outcome: Outcome, *headers: tuple[str, str]) -> Outcome:
    return replace(outcome, headers=(*outcome.headers, *headers))
