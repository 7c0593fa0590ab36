"""Many hosts, each with its queue: who is served next, so that none is hurried and none starves.

A *slot* is a hostname: all origins on it (http and https, other ports) share its pace. Slots whose
time has come stand in line, and so do the hosts within a slot; whoever was served goes to the end.
Each item goes through `pop`, then `sent` (the slot's next time; until then the slot stays shut),
then `release` (one request less in flight). An item that isn't sent after all goes the same way,
with the old times.
"""

from __future__ import annotations

import heapq
from collections import deque
from enum import StrEnum
from math import inf, isnan
from typing import Generic, TypeVar

from recrawl.frontier.turns import Turns

T = TypeVar("T")

URGENT, PLANNED, DISCOVERY = 0, 1, 2
"""The lanes of a host: robots.txt and the like; the plan's buys, best first; new pages."""


class Order(StrEnum):
    """In which order a host's new pages are visited."""

    FIFO = "fifo"
    LIFO = "lifo"
    PRIORITY = "priority"


class _HostQueue(Generic[T]):
    """The lanes of one host."""

    __slots__ = ("discovery", "gate_closed", "held_until", "planned", "ranked", "slot", "urgent")

    def __init__(self, slot: _Slot) -> None:
        self.slot = slot
        self.urgent: deque[T] = deque()
        self.planned: list[tuple[float, int, T]] = []
        self.discovery: deque[T] = deque()  # FIFO and LIFO
        self.ranked: list[tuple[float, int, T]] = []  # PRIORITY
        self.gate_closed = False
        self.held_until = -inf

    def sizes(self) -> tuple[int, int, int]:
        return len(self.urgent), len(self.planned), len(self.discovery) + len(self.ranked)

    def has_work(self) -> bool:
        """True where an item could be popped now but for times."""
        if self.urgent:
            return True
        return not self.gate_closed and bool(self.planned or self.discovery or self.ranked)

    def take(self, order: Order) -> T:
        """The next item, out of the first lane that has one."""
        if self.urgent:
            return self.urgent.popleft()
        if self.planned:
            return heapq.heappop(self.planned)[2]
        if self.ranked:
            return heapq.heappop(self.ranked)[2]
        return self.discovery.pop() if order is Order.LIFO else self.discovery.popleft()

    def items(self) -> list[T]:
        """All items, lane by lane."""
        items = [*self.urgent]
        items += [item for _, _, item in sorted(self.planned, key=lambda e: e[:2])]
        items += [item for _, _, item in sorted(self.ranked, key=lambda e: e[:2])]
        items += self.discovery
        return items

    def drain(self) -> list[T]:
        """Take out all items, lane by lane."""
        items = self.items()
        self.urgent.clear()
        self.planned.clear()
        self.ranked.clear()
        self.discovery.clear()
        return items


class _Slot:
    """One hostname: its time, its requests in flight, and whose turn it is."""

    __slots__ = ("busy", "hostname", "ready_at", "turns", "unsent")

    def __init__(self, hostname: str) -> None:
        self.hostname = hostname
        self.ready_at = -inf
        self.busy = 0
        self.unsent = False  # popped, its next time not known yet
        self.turns: Turns[int] = Turns()


class HostQueues(Generic[T]):
    """Items of many hosts; O(log n) a step. Raises KeyError for a host that was never added.

    >>> queues = HostQueues[str](Order.FIFO)
    >>> queues.add_host(1, "a.example", ready_at=0.0)
    >>> queues.push(1, "page", lane=DISCOVERY)
    >>> queues.pop(now=5.0), queues.pop(now=5.0)
    ((1, 'page'), None)
    """

    def __init__(self, order: Order = Order.FIFO, concurrency: int = 1) -> None:
        self.order = order
        self.concurrency = concurrency  # requests in flight to one hostname
        self._hosts: dict[int, _HostQueue[T]] = {}
        self._slots: dict[str, _Slot] = {}
        self._line: Turns[str] = Turns()
        self._size = 0
        self._pushed = 0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, host_id: int) -> bool:
        return host_id in self._hosts

    def add_host(self, host_id: int, hostname: str, ready_at: float) -> None:
        """Make a host known; again: its slot waits at least until `ready_at`."""
        slot = self._slots.get(hostname)
        if slot is None:
            slot = self._slots[hostname] = _Slot(hostname)
        if host_id not in self._hosts:
            self._hosts[host_id] = _HostQueue(slot)
        slot.ready_at = max(slot.ready_at, ready_at)
        self._reschedule(slot)

    def push(self, host_id: int, item: T, *, lane: int, rank: float = 0.0) -> None:
        """Queue an item. `rank` (higher first) orders PLANNED, and DISCOVERY under PRIORITY.

        Raises ValueError for a rank that is not a number, which no order could hold.
        """
        if isnan(rank):
            raise ValueError(f"rank of {item!r} of host {host_id} is not a number")
        host = self._hosts[host_id]
        had_work = host.has_work()
        self._pushed += 1
        if lane == URGENT:
            host.urgent.append(item)
        elif lane == PLANNED:
            heapq.heappush(host.planned, (-rank, self._pushed, item))
        elif self.order is Order.PRIORITY:
            heapq.heappush(host.ranked, (-rank, self._pushed, item))
        else:
            host.discovery.append(item)
        self._size += 1
        if not had_work:
            self._wake(host_id, host)

    def pop(self, now: float) -> tuple[int, T] | None:
        """(host_id, item) of the next host whose time has come, or None. Marks its slot busy."""
        while (hostname := self._line.head(now)) is not None:
            slot = self._slots[hostname]
            self._line.drop(hostname)
            host_id = slot.turns.head(now)
            if host_id is not None:
                return host_id, self._serve(slot, host_id)
            self._reschedule(slot)  # the clock stepped back: its hosts are held for longer
        return None

    def sent(self, host_id: int, ready_at: float) -> None:
        """The popped item is on its way: its slot may be asked again from `ready_at` on."""
        slot = self._hosts[host_id].slot
        slot.unsent = False
        slot.ready_at = ready_at
        self._reschedule(slot)

    def release(self, host_id: int, ready_at: float) -> None:
        """An item is done with. `ready_at` can lengthen the slot's wait, never shorten it.

        Raises ValueError where nothing of the slot is in flight.
        """
        slot = self._hosts[host_id].slot
        if not slot.busy:
            raise ValueError(f"nothing of host {host_id} is in flight")
        slot.busy -= 1
        slot.ready_at = max(slot.ready_at, ready_at)
        self._reschedule(slot)

    def set_ready(self, host_id: int, ready_at: float) -> None:
        """Set the slot's time outright: earlier too, after the clock stepped back."""
        slot = self._hosts[host_id].slot
        slot.ready_at = ready_at
        self._reschedule(slot)

    def hold(self, host_id: int, until: float) -> None:
        """Nothing of this host (other origins of its slot may go on) before `until`."""
        host = self._hosts[host_id]
        host.held_until = until
        self._wake(host_id, host)

    def close_gate(self, host_id: int) -> None:
        """Until `open_gate`, only the URGENT lane passes: robots.txt has to be read first."""
        host = self._hosts[host_id]
        host.gate_closed = True
        self._wake(host_id, host)

    def open_gate(self, host_id: int) -> None:
        """All lanes pass again."""
        host = self._hosts[host_id]
        host.gate_closed = False
        self._wake(host_id, host)

    def gate_closed(self, host_id: int) -> bool:
        """True where only the URGENT lane of the host passes."""
        return self._hosts[host_id].gate_closed

    def wait_until(self, now: float) -> float:
        """When `pop` may next yield: `now` if at once, inf if only new calls can change that."""
        return max(now, self._line.earliest())

    def sizes(self, host_id: int) -> tuple[int, int, int]:
        """Items queued in each lane of a host."""
        return self._hosts[host_id].sizes()

    def items(self, host_id: int) -> list[T]:
        """What waits at a host, lane by lane; nothing is taken out."""
        return self._hosts[host_id].items()

    def busy(self, host_id: int) -> int:
        """Requests in flight to the host's hostname."""
        return self._hosts[host_id].slot.busy

    def clear(self) -> list[T]:
        """Take out every queued item (what is in flight stays in flight)."""
        items: list[T] = []
        for host_id, host in self._hosts.items():
            items += host.drain()
            host.slot.turns.drop(host_id)
            self._line.drop(host.slot.hostname)
        self._size = 0
        return items

    def _serve(self, slot: _Slot, host_id: int) -> T:
        host = self._hosts[host_id]
        slot.turns.drop(host_id)
        item = host.take(self.order)
        self._size -= 1
        slot.busy += 1
        slot.unsent = True
        if host.has_work():
            slot.turns.put(host_id, host.held_until)
        return item

    def _wake(self, host_id: int, host: _HostQueue[T]) -> None:
        """Put the host where its work, gate and hold say, then its slot."""
        if host.has_work():
            host.slot.turns.put(host_id, host.held_until)
        else:
            host.slot.turns.drop(host_id)
        self._reschedule(host.slot)

    def _reschedule(self, slot: _Slot) -> None:
        if slot.unsent or slot.busy >= self.concurrency:
            self._line.drop(slot.hostname)
            return
        at = max(slot.ready_at, slot.turns.earliest())
        if at == inf:
            self._line.drop(slot.hostname)
        else:
            self._line.put(slot.hostname, at)
