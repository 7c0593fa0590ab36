"""Whose turn it is: those whose time has come stand in line, the others wait by the clock."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Hashable
from math import inf
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class _Turn:
    """The one valid appointment of a member."""

    __slots__ = ("at", "in_line", "ticket")

    def __init__(self, at: float, ticket: int) -> None:
        self.at = at
        self.ticket = ticket
        self.in_line = False


class Turns(Generic[K]):
    """A round of members, each with the time from which on it may be served.

    A heap alone would serve the one with the oldest time again and again; here everyone whose
    time has come enters a line at its end, so each is served before anyone is served twice.
    Entries that were overtaken by a later `put` or `drop` are skipped when they surface.

    >>> turns = Turns[str]()
    >>> turns.put("a", 5.0); turns.put("b", 1.0)
    >>> turns.head(0.0), turns.earliest(), turns.head(2.0), turns.earliest()
    (None, 1.0, 'b', -inf)
    """

    __slots__ = ("_heap", "_line", "_tickets", "_turns")

    def __init__(self) -> None:
        self._turns: dict[K, _Turn] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._line: deque[tuple[int, K]] = deque()
        self._tickets = 0  # handed out

    def put(self, member: K, at: float) -> None:
        """Make or move an appointment. Who stands in line keeps the place unless `at` is later."""
        turn = self._turns.get(member)
        if turn is not None and (turn.at == at or (turn.in_line and at < turn.at)):
            return
        self._tickets += 1
        self._turns[member] = _Turn(at, self._tickets)
        heapq.heappush(self._heap, (at, self._tickets, member))
        if len(self._heap) > 4 * len(self._turns) + 64:
            self._heap = [entry for entry in self._heap if self._valid(entry[1], entry[2])]
            heapq.heapify(self._heap)

    def drop(self, member: K) -> None:
        """Cancel the appointment, if there is one."""
        self._turns.pop(member, None)

    def head(self, now: float) -> K | None:
        """Whose turn it is at `now`; stays at the head until dropped or put anew."""
        heap, line = self._heap, self._line
        while heap and heap[0][0] <= now:
            _, ticket, member = heapq.heappop(heap)
            if self._valid(ticket, member):
                self._turns[member].in_line = True
                line.append((ticket, member))
        while line:
            ticket, member = line[0]
            if self._valid(ticket, member):
                return member
            line.popleft()
        return None

    def earliest(self) -> float:
        """The time from which on `head` has someone: -inf for at once, inf for never.

        Who stands in line has waited long enough, whatever the clock shows since.
        """
        line, heap = self._line, self._heap
        while line and not self._valid(*line[0]):
            line.popleft()
        if line:
            return -inf
        while heap and not self._valid(heap[0][1], heap[0][2]):
            heapq.heappop(heap)
        return heap[0][0] if heap else inf

    def _valid(self, ticket: int, member: K) -> bool:
        turn = self._turns.get(member)
        return turn is not None and turn.ticket == ticket
