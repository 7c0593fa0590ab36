"""The whole engine against a store: whatever comes, in any order, with restarts in between."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.harness import (
    GOOD,
    T0,
    Play,
    answer,
    moved,
    no_robots,
    ok,
    project,
    robots,
    wire,
    with_headers,
)
from recrawl.frontier.admit import AdmitLimits
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Blame, Hint, Kind, Outcome, Purpose, Visit, Wait, WireCost
from recrawl.plan.budget import Budget, Cap
from recrawl.units import DAY, HOUR, Spend, Unit

ORIGINS = ("https://a.example", "http://a.example", "https://b.example")
BUDGETS = (
    Budget(),
    Budget((Cap(Unit.BYTES, 3_000_000, "day"),), HOUR),
    Budget((Cap(Unit.BYTES, 40_000_000, "day"), Cap(Unit.FETCHES, 30, "day")), 6 * HOUR),
    Budget((Cap(Unit.USD, 100_000, "run"), Cap(Unit.BYTES, 20_000_000, "hour")), HOUR),
)
PACES = (
    PaceRules(delay=0.0, concurrency=4, jitter=0.0),
    PaceRules(delay=1.5, concurrency=1, jitter=0.1),
    PaceRules(delay=5.0, concurrency=2, jitter=0.0),
)
ALL_ROBOTS = (
    no_robots(),
    robots("User-agent: *\nDisallow: /p1\n"),
    robots("<html><body>not found</body></html>"),
    answer(Kind.SERVER_ERROR, 503),
    answer(Kind.TIMEOUT),
    moved("https://b.example/robots.txt"),
)
PATHS = st.integers(0, 12).map("/p{}".format)


@st.composite
def outcomes(draw: Any, visit: Visit) -> Outcome:
    """Any answer to that visit, at any cost that its promise covers."""
    out = draw(st.sampled_from(ALL_ROBOTS)) if visit.purpose is Purpose.ROBOTS else _page(draw)
    if out.kind is Kind.THROTTLED and draw(st.booleans()):
        out = Outcome(
            out.kind, out.cost, status=429, blame=Blame.TARGET,
            retry_after=draw(st.sampled_from((0.0, 30.0, 1e9))),
        )  # fmt: skip
    most = visit.reserved.bytes
    n = draw(st.integers(1, most) | st.just(most) | st.integers(1, 3000))
    seconds = draw(st.floats(0, visit.request.limits.total))
    cost = WireCost(min(n, 100), n - min(n, 100), seconds, draw(st.integers(0, 1)))
    return Outcome(
        **{
            **{f: getattr(out, f) for f in Outcome.__dataclass_fields__},
            "cost": cost,
            "started": T0,
            "finished": T0 + seconds,
        }
    )


def _page(draw: Any) -> Outcome:
    kind = draw(st.sampled_from([Kind.OK] * 6 + list(Kind)))
    if kind is Kind.OK:
        links = draw(st.lists(PATHS, max_size=4))
        out = ok(draw(st.sampled_from("abc")), *links, "https://b.example/p1", "http://a.example/")
        return with_headers(out, ("etag", '"1"')) if draw(st.booleans()) else out
    if kind is Kind.REDIRECT:
        return moved(draw(PATHS), draw(st.sampled_from((301, 302, 308))))
    if kind is Kind.GONE:
        return answer(kind, draw(st.sampled_from((404, 410))))
    status = {Kind.NOT_MODIFIED: 304, Kind.THROTTLED: 429, Kind.DENIED: 403}.get(kind, 0)
    blame = draw(st.sampled_from(list(Blame))) if kind not in GOOD else Blame.NOBODY
    return answer(kind, status, blame=blame)


class WholeEngine(RuleBasedStateMachine):
    """Steps of a driver, in any order, with answers of any kind."""

    @initialize(
        budget=st.sampled_from(BUDGETS),
        pace=st.sampled_from(PACES),
        total=st.sampled_from(((), (Cap(Unit.FETCHES, 25, "run"),))),
        per_host=st.sampled_from((None, 5)),
    )
    def begin(self, budget: Any, pace: Any, total: Any, per_host: int | None) -> None:
        rules = project(
            budget=budget, pace=pace, totals=total, admit=AdmitLimits(per_host=per_host)
        )
        self.play = Play(rules)
        self.out: dict[int, Visit] = {}
        self.bought: Counter[tuple[float, int, int]] = Counter()
        self.pages = 0

    def tick(self) -> None:
        self.play.now += 0.01

    @rule(origin=st.sampled_from(ORIGINS), paths=st.lists(PATHS, max_size=5))
    def admit(self, origin: str, paths: list[str]) -> None:
        self.play.admit(*(Hint(origin + p, "link", depth=1) for p in paths))

    @rule()
    def plan(self) -> None:
        self.play.plan()

    @rule(n=st.integers(1, 6))
    def buy(self, n: int) -> None:
        for _ in range(n):
            self.tick()
            found = self.play.next()
            if isinstance(found, Wait):
                assert found.until >= self.play.now
                return
            assert self.play.now >= self.play.crawl.hosts[found.host_id].throttled_until
            self.out[found.lease] = found
            window = self.play.crawl.window
            if found.purpose is not Purpose.ROBOTS:
                self.bought[window.opened, found.host_id, found.key] += 1

    @precondition(lambda self: self.out)
    @rule(data=st.data())
    def answered(self, data: st.DataObject) -> None:
        self.tick()
        lease = data.draw(st.sampled_from(sorted(self.out)))
        visit = self.out.pop(lease)
        before = self.play.crawl.window
        out = data.draw(outcomes(visit))
        self.play.record(visit, out)
        if out.kind is Kind.THROTTLED and before is not None:
            self.bought[before.opened, visit.host_id, visit.key] -= 1  # may be asked once more

    @rule(data=st.data(), steps=st.integers(1, 12), out=st.integers(1, 3))
    def drive(self, data: st.DataObject, steps: int, out: int) -> None:
        """As a worker does: plan, keep some visits under way, take in their answers."""
        self.play.plan()
        for _ in range(steps):
            if len(self.out) < out:
                self.buy(out - len(self.out))
            if not self.out:
                return
            self.answered(data)

    @rule(seconds=st.sampled_from((0.5, 2.0, 90.0, HOUR, 5 * HOUR, DAY, 9 * DAY)))
    def wait(self, seconds: float) -> None:
        self.play.now += seconds

    @rule()
    def finish_pass(self) -> None:
        if not self.out:
            self.play.close_pass()

    @rule(back=st.sampled_from((0.0, 0.0, 30.0)))
    def restart(self, back: float) -> None:
        """The process dies; the next one's clock may be a little behind."""
        lost = sum((v.reserved for v in self.out.values()), Spend())
        before = self.play.spent()
        self.play.now += 0.01 - back
        self.play.start()
        assert self.play.spent() - before == lost
        self.out.clear()
        self.bought.clear()

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "play"):
            return
        assert self.play.crawl.mirror.n >= self.pages
        self.pages = self.play.crawl.mirror.n
        assert set(self.play.crawl.flights) == set(self.out)

    @invariant()
    def nothing_is_bought_twice(self) -> None:
        if hasattr(self, "play"):
            assert not [key for key, n in self.bought.items() if n > 1]

    @invariant()
    def no_cap_is_exceeded(self) -> None:
        """Of the present period: what is booked and what is promised."""
        if not hasattr(self, "play"):
            return
        play = self.play
        promised = sum((v.reserved for v in self.out.values()), Spend())
        for cap in play.rules.budget.caps:
            if cap.period == "run":
                continue
            used = play.store.spent(cap.start(play.now, T0)) + promised
            assert used.get(cap.unit) <= cap.amount, (str(cap), used)
        for cap in play.rules.totals:
            assert (play.spent() + promised).get(cap.unit) <= cap.amount

    @invariant()
    def the_purse_is_the_ledger(self) -> None:
        if not hasattr(self, "play"):
            return
        purse = self.play.engine.purse
        purse.turn(self.play.now)
        starts = purse.started_at(self.play.now)
        for cap, start, spent in zip(purse.caps, starts, purse.spent(), strict=True):
            if cap.period != "run" or start == 0.0:
                assert spent == self.play.store.spent(start).get(cap.unit), str(cap)


WholeEngine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestWholeEngine = WholeEngine.TestCase


def test_the_machine_reaches_what_it_is_for() -> None:
    """A guard for the test itself: a plain run through it buys, records and restarts."""
    machine = WholeEngine()
    machine.begin(BUDGETS[0], PACES[0], (), None)
    machine.admit(ORIGINS[0], ["/p1", "/p2"])
    machine.plan()
    machine.buy(1)
    (visit,) = machine.out.values()
    assert visit.purpose is Purpose.ROBOTS
    machine.restart(0.0)
    assert machine.play.spent() == visit.reserved
    assert wire(400).bytes == 400
