"""libcurl's multi interface on the running asyncio loop: many transfers, one thread."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pycurl

from recrawl.fetch.handle import Handle
from recrawl.fetch.meter import Meter

TICK = 0.25  # seconds between two looks of the watchdog
ROUNDS = 4  # of reading from a connection between two looks at its count
TIMED_OUT, TOO_BIG, STOPPED = pycurl.E_OPERATION_TIMEDOUT, pycurl.E_FILESIZE_EXCEEDED, 42


@dataclass(frozen=True, slots=True)
class Done:
    """How a transfer ended: libcurl's code (0 = well) and words, and what it moved."""

    code: int
    text: str
    up: int
    down: int
    metered: bool


class _Transfer:
    __slots__ = ("deadline", "future", "handle", "wire_cap")

    def __init__(
        self, handle: Handle, future: asyncio.Future[Done], deadline: float, wire_cap: int
    ) -> None:
        self.handle = handle
        self.future = future
        self.deadline = deadline
        self.wire_cap = wire_cap


class CurlLoop:
    """One connection cache driven by `socket_action`; belongs to the loop that runs it first."""

    def __init__(self, max_idle: int) -> None:
        self.meter = Meter()
        self._loop = asyncio.get_running_loop()
        self._transfers: dict[pycurl.Curl, _Transfer] = {}
        self._watched: dict[int, int] = {}
        self._rounds: dict[int, int] = {}  # of reading, by descriptor
        self._least_cap = 1 << 62  # the smallest wire cap asked for so far
        self._timer: asyncio.Handle | None = None
        self._watchdog: asyncio.TimerHandle | None = None
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_idle)

    async def run(self, handle: Handle, first_byte: float, wire_cap: int) -> Done:
        """Perform the transfer that `handle` is set up for.

        It is stopped (TIMED_OUT) when `first_byte` seconds bring no byte of an answer, and
        (TOO_BIG) when the kernel received more than `wire_cap` bytes: chunk framing and TLS
        records can carry far more than the body that libcurl's own cap sees.
        """
        deadline = self._loop.time() + first_byte
        self._least_cap = min(self._least_cap, wire_cap)
        future: asyncio.Future[Done] = self._loop.create_future()
        self._transfers[handle.curl] = _Transfer(handle, future, deadline, wire_cap)
        self._multi.add_handle(handle.curl)
        if self._watchdog is None:
            self._watchdog = self._loop.call_later(TICK, self._look)
        try:
            return await future
        finally:
            if self._transfers.pop(handle.curl, None) is not None:  # cancelled
                self._charge(handle)  # or the connection's next user would pay
                self._multi.remove_handle(handle.curl)

    def _set_timer(self, milliseconds: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if milliseconds == 0:
            self._timer = self._loop.call_soon(self._timeout)
        elif milliseconds > 0:
            self._timer = self._loop.call_later(milliseconds / 1000, self._timeout)

    def _timeout(self) -> None:
        self._timer = None
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _watch(self, event: int, fd: int, _multi: object, _data: object) -> None:
        """Follow libcurl's wish: a bit mask of POLL_IN and POLL_OUT, or POLL_REMOVE."""
        old = self._watched.pop(fd, 0)
        self.meter.event(fd, event == pycurl.POLL_REMOVE)
        new = event & pycurl.POLL_INOUT
        if new & ~old & pycurl.POLL_IN:
            self._loop.add_reader(fd, self._read, fd)
        elif old & ~new & pycurl.POLL_IN:
            self._loop.remove_reader(fd)
        if new & ~old & pycurl.POLL_OUT:
            self._loop.add_writer(fd, self._act, fd, pycurl.CSELECT_OUT)
        elif old & ~new & pycurl.POLL_OUT:
            self._loop.remove_writer(fd)
        if new:
            self._watched[fd] = new
        else:
            self._rounds.pop(fd, None)

    def _read(self, fd: int) -> None:
        """Let libcurl read; every few rounds see that no cap on the wire is passed."""
        self._act(fd, pycurl.CSELECT_IN)
        rounds = self._rounds.get(fd, 0) + 1
        self._rounds[fd] = rounds
        if rounds % ROUNDS == 0 and self.meter.pending_on(fd) > self._least_cap:
            self._inspect()

    def _act(self, fd: int, mask: int) -> None:
        _, running = self._multi.socket_action(fd, mask)
        if running != len(self._transfers):
            self._collect()

    def _collect(self) -> None:
        """Hand out the results of all transfers that ended."""
        left = 1
        while left:
            left, good, bad = self._multi.info_read()
            bad += [(curl, 0, "") for curl in good]
            for curl, code, text in bad:
                transfer = self._transfers.pop(curl)
                self._finish(transfer, code, text, self._charge(transfer.handle))

    def _charge(self, handle: Handle) -> tuple[int, int] | None:
        local_port, peer = handle.endpoints()
        if not peer[0]:  # no connection was made, so nothing was sent
            return 0, 0
        return self.meter.charge(local_port, peer)

    def _finish(
        self, transfer: _Transfer, code: int, text: str, moved: tuple[int, int] | None
    ) -> None:
        handle = transfer.handle
        up, down = moved or handle.own_count()
        if moved:
            up += handle.sent_in_vain() + handle.farewell()
        self._multi.remove_handle(handle.curl)
        if not transfer.future.done():
            transfer.future.set_result(Done(code, text, up, down, moved is not None))

    def _stop(self, transfer: _Transfer, code: int, text: str) -> None:
        """End a transfer that libcurl would let go on; its connection is closed."""
        del self._transfers[transfer.handle.curl]
        self._finish(transfer, code, text, self._charge(transfer.handle))

    def _look(self) -> None:
        """The watchdog's round."""
        self._watchdog = None
        self._inspect()
        if self._transfers:
            self._watchdog = self._loop.call_later(TICK, self._look)

    def _inspect(self) -> None:
        """Stop the transfers that go beyond what libcurl bounds by itself."""
        now = self._loop.time()
        for transfer in list(self._transfers.values()):
            if now > transfer.deadline and not transfer.handle.head:
                self._stop(transfer, TIMED_OUT, "no byte of an answer in the time allowed")
            elif self.meter.pending(*transfer.handle.endpoints()) > transfer.wire_cap:
                self._stop(transfer, TOO_BIG, "more bytes on the wire than the caps allow")

    def close(self) -> None:
        """Stop what is in flight (its callers get STOPPED) and close every connection."""
        for transfer in list(self._transfers.values()):
            self._stop(transfer, STOPPED, "the fetcher was closed")
        for timer in (self._timer, self._watchdog):
            if timer is not None:
                timer.cancel()
        for fd in list(self._watched):
            self._watch(pycurl.POLL_REMOVE, fd, None, None)
        self._multi.close()
