"""The queues: nobody is served before time, nothing is lost or doubled, nobody starves."""

from __future__ import annotations

import random
import time
from collections import Counter, deque
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recrawl.frontier.queues import DISCOVERY, PLANNED, URGENT, HostQueues, Order
from recrawl.frontier.turns import Turns


def queues(
    hosts: int = 1, order: Order = Order.FIFO, concurrency: int = 1, ready_at: float = 0.0
) -> HostQueues[str]:
    q: HostQueues[str] = HostQueues(order, concurrency)
    for h in range(hosts):
        q.add_host(h, f"h{h}.example", ready_at)
    return q


def serve(q: HostQueues[str], now: float, delay: float = 0.0) -> tuple[int, str] | None:
    """Pop, send and release in one go."""
    popped = q.pop(now)
    if popped:
        q.sent(popped[0], now + delay)
        q.release(popped[0], now + delay)
    return popped


def serve_all(q: HostQueues[str], now: float = 0.0) -> list[str]:
    items = []
    while popped := serve(q, now):
        items.append(popped[1])
    return items


# order within a host


@pytest.mark.parametrize(
    ("order", "expected"),
    [(Order.FIFO, "abcd"), (Order.LIFO, "dcba"), (Order.PRIORITY, "bdac")],
)
def test_order_of_discovery(order: Order, expected: str) -> None:
    q = queues(order=order)
    for item, rank in zip("abcd", (1.0, 9.0, -3.0, 9.0), strict=True):
        q.push(0, item, lane=DISCOVERY, rank=rank)
    assert "".join(serve_all(q)) == expected


def test_lanes_pass_in_turn_whatever_came_first() -> None:
    q = queues()
    q.push(0, "new", lane=DISCOVERY)
    q.push(0, "buy", lane=PLANNED, rank=1.0)
    q.push(0, "best buy", lane=PLANNED, rank=2.0)
    q.push(0, "robots", lane=URGENT)
    assert q.sizes(0) == (1, 2, 1)
    assert serve_all(q) == ["robots", "best buy", "buy", "new"]
    assert q.sizes(0) == (0, 0, 0)


def test_equal_ranks_keep_their_order() -> None:
    q = queues(order=Order.PRIORITY)
    for lane in (PLANNED, DISCOVERY):
        for i in range(50):
            q.push(0, f"{lane}-{i:02}", lane=lane, rank=7.0)
    items = serve_all(q)
    assert items == sorted(items)


def test_an_urgent_page_overtakes_what_waits_but_not_the_delay() -> None:
    """FRO-33: after a hundred others were queued, the urgent one is the next to be sent."""
    q = queues()
    for i in range(100):
        q.push(0, str(i), lane=DISCOVERY)
    assert serve(q, 0.0, delay=0.2) == (0, "0")
    q.push(0, "now", lane=URGENT)
    assert serve(q, 0.1) is None
    assert serve(q, 0.2) == (0, "now")


def test_a_rank_that_no_order_could_hold_is_refused() -> None:
    q = queues()
    with pytest.raises(ValueError, match="not a number"):
        q.push(0, "x", lane=PLANNED, rank=nan)
    assert len(q) == 0
    q.push(0, "worst", lane=PLANNED, rank=-inf)
    q.push(0, "best", lane=PLANNED, rank=inf)
    assert serve_all(q) == ["best", "worst"]


def test_an_unknown_host_is_a_mistake_of_the_caller() -> None:
    q = queues()
    assert 0 in q
    assert 9 not in q
    with pytest.raises(KeyError):
        q.push(9, "x", lane=DISCOVERY)


# time


def test_nothing_before_its_time() -> None:
    q = queues(ready_at=10.0)
    q.push(0, "a", lane=DISCOVERY)
    assert q.pop(9.999) is None
    assert q.wait_until(3.0) == 10.0
    assert q.pop(10.0) == (0, "a")


def test_a_popped_slot_is_shut_until_its_next_time_is_known() -> None:
    q = queues(concurrency=2)
    q.push(0, "a", lane=DISCOVERY)
    q.push(0, "b", lane=DISCOVERY)
    assert q.pop(0.0) == (0, "a")
    assert q.pop(1e9) is None
    q.hold(0, 0.0)  # whatever else happens to its hosts meanwhile
    q.close_gate(0)
    q.open_gate(0)
    q.set_ready(0, 0.0)
    assert q.pop(1e9) is None
    q.sent(0, 5.0)
    assert q.pop(4.9) is None
    assert q.pop(5.0) == (0, "b")
    assert q.busy(0) == 2


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_at_most_so_many_in_flight(concurrency: int) -> None:
    q = queues(concurrency=concurrency)
    for i in range(10):
        q.push(0, str(i), lane=DISCOVERY)
    for _ in range(concurrency):
        assert q.pop(0.0) is not None
        q.sent(0, 0.0)
    assert q.pop(1e9) is None
    assert q.wait_until(0.0) == inf
    q.release(0, 0.0)
    assert q.pop(0.0) is not None


def test_release_can_lengthen_but_not_shorten() -> None:
    q = queues()
    for item in "abc":
        q.push(0, item, lane=DISCOVERY)
    q.pop(0.0)
    q.sent(0, 1.5)
    q.release(0, 60.0)  # answered 429
    assert q.wait_until(0.0) == 60.0
    q.pop(60.0)
    q.sent(0, 61.5)
    q.release(0, 0.0)
    assert q.wait_until(60.0) == 61.5


def test_release_without_anything_in_flight_is_a_mistake() -> None:
    q = queues()
    with pytest.raises(ValueError, match="in flight"):
        q.release(0, 0.0)


def test_wait_until() -> None:
    q = queues(2)
    assert q.wait_until(7.0) == inf
    q.set_ready(0, 100.0)
    q.set_ready(1, 50.0)
    q.push(0, "a", lane=DISCOVERY)
    assert q.wait_until(7.0) == 100.0
    q.push(1, "b", lane=DISCOVERY)
    assert q.wait_until(7.0) == 50.0
    assert q.wait_until(75.0) == 75.0
    assert q.pop(75.0) == (1, "b")
    assert q.wait_until(75.0) == 100.0


def test_after_a_step_back_of_the_clock_times_can_be_set_anew() -> None:
    """SCH-14: `set_ready` may shorten what the clock's step made too long."""
    q = queues(ready_at=1000.0)
    q.push(0, "a", lane=DISCOVERY)
    assert q.pop(880.0) is None
    q.set_ready(0, 881.5)
    assert q.wait_until(880.0) == 881.5
    assert q.pop(881.5) == (0, "a")


def test_who_stood_in_line_isnt_stalled_by_a_step_back() -> None:
    q = queues(3, ready_at=100.0)
    for h in range(3):
        q.push(h, str(h), lane=DISCOVERY)
    assert serve(q, 100.0) is not None  # all three had their time
    assert q.wait_until(50.0) == 50.0
    assert serve(q, 50.0) is not None
    assert serve(q, 50.0) is not None


def test_a_held_host_doesnt_block_the_line_after_a_step_back() -> None:
    q = queues(3)
    for h, ready in ((2, 99.0), (0, 100.0), (1, 100.0)):
        q.set_ready(h, ready)
        q.push(h, str(h), lane=DISCOVERY)
    q.hold(0, 80.0)
    assert serve(q, 100.0) == (2, "2")  # and the slots of 0 and 1 now stand in line
    assert serve(q, 50.0) == (1, "1")
    assert serve(q, 50.0) is None
    assert serve(q, 100.0) == (0, "0")


# slots, holds, gates


def test_origins_of_one_hostname_share_the_pace() -> None:
    q: HostQueues[str] = HostQueues()
    q.add_host(1, "h.example", 0.0)
    q.add_host(2, "h.example", 0.0)
    for host in (1, 2):
        for i in range(3):
            q.push(host, f"{host}{i}", lane=DISCOVERY)
    times, now = [], 0.0
    while len(q):
        popped = serve(q, now, delay=1.5)
        if popped:
            times.append((now, popped[1]))
        now = q.wait_until(now)
    assert [t for t, _ in times] == [0.0, 1.5, 3.0, 4.5, 6.0, 7.5]
    assert [i for _, i in times] == ["10", "20", "11", "21", "12", "22"]


def test_a_hostname_met_again_keeps_the_later_time() -> None:
    q: HostQueues[str] = HostQueues()
    q.add_host(1, "h.example", 20.0)
    q.add_host(2, "h.example", 5.0)
    q.push(2, "x", lane=DISCOVERY)
    assert q.wait_until(0.0) == 20.0
    q.add_host(2, "h.example", 30.0)
    assert q.wait_until(0.0) == 30.0


def test_a_hold_binds_one_origin_only() -> None:
    q: HostQueues[str] = HostQueues()
    q.add_host(1, "h.example", 0.0)
    q.add_host(2, "h.example", 0.0)
    q.push(1, "held", lane=URGENT)
    q.push(2, "free", lane=DISCOVERY)
    q.hold(1, 60.0)
    assert serve(q, 0.0) == (2, "free")
    assert serve(q, 0.0) is None
    assert q.wait_until(0.0) == 60.0
    q.hold(1, 10.0)
    assert q.wait_until(0.0) == 10.0
    assert serve(q, 10.0) == (1, "held")


def test_a_hold_for_ever_leaves_nothing_to_wait_for() -> None:
    q = queues()
    q.push(0, "x", lane=DISCOVERY)
    q.hold(0, inf)
    assert q.wait_until(0.0) == inf
    assert q.pop(1e18) is None
    assert len(q) == 1


def test_a_closed_gate_lets_only_urgent_items_pass() -> None:
    q = queues()
    q.push(0, "page", lane=DISCOVERY)
    q.push(0, "buy", lane=PLANNED)
    q.close_gate(0)
    assert q.gate_closed(0)
    assert q.pop(0.0) is None
    assert q.wait_until(0.0) == inf
    q.push(0, "robots", lane=URGENT)
    assert serve(q, 0.0) == (0, "robots")
    assert serve(q, 0.0) is None
    q.push(0, "page 2", lane=DISCOVERY)
    assert serve(q, 0.0) is None
    q.open_gate(0)
    assert not q.gate_closed(0)
    assert serve_all(q) == ["buy", "page", "page 2"]


def test_a_gate_closed_while_in_line_takes_the_host_out() -> None:
    q = queues(2)
    for h in (0, 1):
        q.push(h, f"{h}a", lane=DISCOVERY)
        q.push(h, f"{h}b", lane=DISCOVERY)
    assert serve(q, 0.0) == (0, "0a")
    q.close_gate(1)
    assert serve_all(q) == ["0b"]


def test_clear_empties_every_lane_and_leaves_flights_alone() -> None:
    q = queues(3, concurrency=2)
    for h in range(3):
        for lane in (URGENT, PLANNED, DISCOVERY):
            q.push(h, f"{h}{lane}", lane=lane)
    popped = q.pop(0.0)
    assert popped == (0, "00")
    left = q.clear()
    assert sorted(left) == sorted(
        f"{h}{n}" for h in range(3) for n in range(3) if (h, n) != (0, 0)
    )
    assert (len(q), q.busy(0)) == (0, 1)
    q.sent(0, 1.0)
    assert q.wait_until(0.0) == inf
    q.push(0, "next window", lane=PLANNED)
    assert q.pop(1.0) == (0, "next window")


def test_clear_gives_every_order_back() -> None:
    for order in Order:
        q = queues(order=order)
        q.push(0, "a", lane=DISCOVERY, rank=1.0)
        q.push(0, "b", lane=DISCOVERY, rank=2.0)
        assert sorted(q.clear()) == ["a", "b"]


# fairness


def test_one_slow_host_holds_nobody_up() -> None:
    """FRO-09: nine fast hosts finish at their own pace beside one with a delay of 8 s."""
    q = queues(10)
    for h in range(10):
        for i in range(20):
            q.push(h, str(i), lane=DISCOVERY)
    now, done = 0.0, Counter[int]()
    while now <= 20.0 and len(q):
        popped = q.pop(now)
        if popped is None:
            now = q.wait_until(now)
            continue
        host = popped[0]
        ready = now + (8.0 if host == 0 else 1.0)
        q.sent(host, ready)
        q.release(host, ready)
        done[host] += 1
    assert [done[h] for h in range(1, 10)] == [20] * 9
    assert done[0] == 3  # at 0, 8 and 16 s


def test_without_delays_hosts_take_turns() -> None:
    q = queues(5)
    for h in range(5):
        for i in range(100):
            q.push(h, str(i), lane=DISCOVERY)
    hosts = [popped[0] for _ in range(500) if (popped := serve(q, 0.0))]
    for turn in range(0, 500, 5):
        assert sorted(hosts[turn : turn + 5]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("stale", [-100.0, 0.0, 49.0])
def test_a_host_whose_time_is_long_past_doesnt_starve_the_others(stale: float) -> None:
    """Its next time is always older than the others': it still takes turns."""
    q = queues(3)
    q.set_ready(1, 40.0)
    q.set_ready(2, 45.0)
    for h in range(3):
        for i in range(10):
            q.push(h, str(i), lane=DISCOVERY)
    hosts = []
    for _ in range(9):
        popped = q.pop(50.0)
        assert popped is not None
        hosts.append(popped[0])
        q.sent(popped[0], stale if popped[0] == 0 else 50.0)
        q.release(popped[0], stale if popped[0] == 0 else 50.0)
    assert Counter(hosts) == {0: 3, 1: 3, 2: 3}


def test_a_host_that_is_fed_all_the_time_doesnt_starve_the_others() -> None:
    q = queues(3)
    for h in range(3):
        q.push(h, "first", lane=DISCOVERY)
    served = []
    for i in range(6):
        q.push(0, f"more {i}", lane=URGENT)
        popped = serve(q, 0.0)
        assert popped is not None
        served.append(popped[0])
    assert set(served[:3]) == {0, 1, 2}


def test_many_origins_of_one_hostname_take_turns_too() -> None:
    """A hostile page can name 60,000 ports; each step stays cheap, and nobody starves."""
    q: HostQueues[int] = HostQueues()
    for port in range(20_000):
        q.add_host(port, "h.example", 0.0)
        q.push(port, port, lane=DISCOVERY)
        q.push(port, port, lane=DISCOVERY)
    t = time.process_time()
    first = []
    for _ in range(20_000):
        popped = q.pop(0.0)
        assert popped is not None
        first.append(popped[0])
        q.sent(popped[0], 0.0)
        q.release(popped[0], 0.0)
    assert sorted(first) == list(range(20_000))
    assert (time.process_time() - t) / 20_000 < 100e-6


@settings(deadline=None, max_examples=40)
@given(
    weights=st.lists(st.integers(1, 40), min_size=2, max_size=12),
    delay=st.sampled_from([0.0, 1.0]),
    order=st.sampled_from(Order),
    seed=st.integers(0, 999),
)
def test_no_starvation(weights: list[int], delay: float, order: Order, seed: int) -> None:
    """Between two turns of a host that has work, no other host has more than two."""
    rng = random.Random(seed)
    q = queues(len(weights), order)
    items = [h for h, n in enumerate(weights) for _ in range(n)]
    rng.shuffle(items)
    for i, h in enumerate(items):
        q.push(h, str(i), lane=rng.choice((PLANNED, DISCOVERY)), rank=rng.random())
    left = Counter(items)
    since: dict[int, Counter[int]] = {h: Counter() for h in left}
    now = 0.0
    while len(q):
        popped = serve(q, now, delay)
        if popped is None:
            now = q.wait_until(now)
            continue
        host = popped[0]
        left[host] -= 1
        since[host].clear()
        for other, served in since.items():
            if other != host and left[other]:
                served[host] += 1
                assert served[host] <= 2
    assert not any(left.values())


class QueuesAgainstModel(RuleBasedStateMachine):
    """Any sequence of steps, with a clock that goes forward, beside a plain model."""

    @initialize(order=st.sampled_from(Order), concurrency=st.integers(1, 3))
    def start(self, order: Order, concurrency: int) -> None:
        self.q: HostQueues[int] = HostQueues(order, concurrency)
        self.concurrency = concurrency
        self.now = 0.0
        self.count = 0
        self.slot_of = {0: "a", 1: "a", 2: "b", 3: "c"}
        self.slot_ready = dict.fromkeys("abc", 0.0)
        self.busy = Counter[str]()
        self.unsent: dict[str, int] = {}
        self.flying: dict[str, deque[int]] = {s: deque() for s in "abc"}
        self.held = dict.fromkeys(self.slot_of, 0.0)
        self.closed: set[int] = set()
        self.items: dict[int, tuple[int, int]] = {}  # item -> (host, lane)
        for host, slot in self.slot_of.items():
            self.q.add_host(host, slot, 0.0)

    hosts = st.integers(0, 3)
    times = st.floats(0, 30)

    @rule(host=hosts, lane=st.integers(0, 2), rank=st.floats(-5, 5))
    def push(self, host: int, lane: int, rank: float) -> None:
        self.q.push(host, self.count, lane=lane, rank=rank)
        self.items[self.count] = (host, lane)
        self.count += 1

    @rule(seconds=times)
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def wait_as_told(self) -> None:
        until = self.q.wait_until(self.now)
        assert until >= self.now
        if until != inf:
            self.now = until
            assert self.eligible()

    def eligible(self) -> set[int]:
        """The hosts that may be served now."""
        found = set()
        for host, lane in self.items.values():
            slot = self.slot_of[host]
            if (
                slot not in self.unsent
                and self.busy[slot] < self.concurrency
                and self.slot_ready[slot] <= self.now
                and self.held[host] <= self.now
                and (lane == URGENT or host not in self.closed)
            ):
                found.add(host)
        return found

    @rule()
    def pop(self) -> None:
        may = self.eligible()
        popped = self.q.pop(self.now)
        if popped is None:
            assert not may
            return
        host, item = popped
        assert host in may
        owner, lane = self.items.pop(item)  # KeyError: lost or served twice
        assert owner == host
        assert not any(h == host and at < lane for h, at in self.items.values())
        slot = self.slot_of[host]
        self.unsent[slot] = host
        self.busy[slot] += 1

    @precondition(lambda self: self.unsent)
    @rule(seconds=times, pick=st.integers(0, 2))
    def sent(self, seconds: float, pick: int) -> None:
        slot = sorted(self.unsent)[pick % len(self.unsent)]
        host = self.unsent.pop(slot)
        self.slot_ready[slot] = self.now + seconds
        self.flying[slot].append(host)
        self.q.sent(host, self.now + seconds)

    @rule(slot=st.sampled_from("abc"), seconds=times)
    def release(self, slot: str, seconds: float) -> None:
        if self.flying[slot]:
            host = self.flying[slot].popleft()
            self.busy[slot] -= 1
            self.slot_ready[slot] = max(self.slot_ready[slot], self.now + seconds)
            self.q.release(host, self.now + seconds)

    @rule(host=hosts, seconds=times)
    def hold(self, host: int, seconds: float) -> None:
        self.held[host] = self.now + seconds
        self.q.hold(host, self.held[host])

    @rule(host=hosts, closed=st.booleans())
    def gate(self, host: int, closed: bool) -> None:
        (self.q.close_gate if closed else self.q.open_gate)(host)
        (self.closed.add if closed else self.closed.discard)(host)

    @rule()
    def clear(self) -> None:
        assert sorted(self.q.clear()) == sorted(self.items)
        self.items.clear()

    @invariant()
    def nothing_is_lost(self) -> None:
        assert len(self.q) == len(self.items)
        for host in self.slot_of:
            lanes = Counter(lane for h, lane in self.items.values() if h == host)
            assert self.q.sizes(host) == (lanes[0], lanes[1], lanes[2])
            assert self.q.busy(host) == self.busy[self.slot_of[host]]
        if self.eligible():
            assert self.q.wait_until(self.now) == self.now


QueuesAgainstModel.TestCase.settings = settings(
    deadline=None, max_examples=80, stateful_step_count=50
)
TestQueuesAgainstModel = QueuesAgainstModel.TestCase


def test_many_items_over_many_hosts_are_quick() -> None:
    """100,000 items over 10,000 hosts: a push, and a pop with its sent and release."""
    q: HostQueues[int] = HostQueues()
    for h in range(10_000):
        q.add_host(h, f"h{h}.example", 0.0)
    t = time.process_time()
    for i in range(100_000):
        q.push(i % 10_000, i, lane=PLANNED if i % 2 else DISCOVERY, rank=float(i % 7))
    pushed = time.process_time() - t
    now, popped = 0.0, 0
    t = time.process_time()
    while len(q):
        got = q.pop(now)
        if got is None:
            now = q.wait_until(now)
            continue
        q.sent(got[0], now + 1.5)
        q.release(got[0], now + 1.5)
        popped += 1
        now += 1e-4
    assert popped == 100_000
    assert pushed / 100_000 < 30e-6
    assert (time.process_time() - t) / 100_000 < 60e-6


# turns by themselves


def test_turns_forget_overtaken_appointments() -> None:
    turns: Turns[str] = Turns()
    for i in range(10_000):
        turns.put("a", 1e9 - i)
    assert len(turns._heap) < 200
    assert turns.earliest() == 1e9 - 9999
    turns.drop("a")
    assert turns.earliest() == inf
    assert turns.head(2e9) is None


def test_turns_keep_the_place_in_line_unless_put_later() -> None:
    turns: Turns[str] = Turns()
    for member in "abc":
        turns.put(member, 1.0)
    assert turns.head(1.0) == "a"
    turns.put("a", 0.5)
    assert turns.head(1.0) == "a"
    turns.put("a", 2.0)
    assert turns.head(1.0) == "b"
    turns.drop("b")
    assert turns.head(1.0) == "c"
    turns.drop("c")
    assert turns.head(1.0) is None
    assert turns.head(2.0) == "a"
