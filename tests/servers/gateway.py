"""A TCP gateway that counts what passes: the truth about bytes on the wire."""

import asyncio
import socket
import struct
import time
from dataclasses import dataclass

from servers.background import Background


@dataclass
class Count:
    """What one client connection carried (bytes the client sent, bytes sent to it)."""

    up: int = 0
    down: int = 0
    closed: bool = False


async def _pump(reader, writer, count, field):
    try:
        while data := await reader.read(65_536):
            setattr(count, field, getattr(count, field) + len(data))
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (ConnectionError, OSError):
        sock = writer.get_extra_info("socket")  # a reset is passed on as a reset
        if sock is not None and sock.fileno() != -1:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


async def relay(reader, writer, far_reader, far_writer, count):
    """Pass bytes both ways until both ends are done, counting on the client's side.

    The client's side has a small buffer: what is counted is soon what the client has received.
    """
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
    up = asyncio.create_task(_pump(reader, far_writer, count, "up"))
    down = asyncio.create_task(_pump(far_reader, writer, count, "down"))
    try:
        await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait([up, down], timeout=2)
    finally:
        up.cancel()
        down.cancel()
        far_writer.close()
        writer.close()
        count.closed = True


class Counting(Background):
    """What gateways and proxies have in common: `counts`, one a client connection."""

    def __init__(self):
        self.counts = []

    @property
    def up(self):
        return sum(count.up for count in self.counts)

    @property
    def down(self):
        return sum(count.down for count in self.counts)

    def settle(self, seconds=3.0, connects=0):
        """Wait until every connection is closed and counted, and `connects` have been taken: a
        client may drop one that the system accepted before this process came to it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not (
            len(self.counts) >= connects and all(count.closed for count in self.counts)
        ):
            time.sleep(0.005)
        return self.up, self.down

    def reset(self):
        self.counts.clear()


class Gateway(Counting):
    """Forwards every connection to `target_port` on loopback."""

    def __init__(self, target_port):
        super().__init__()
        self.target_port = target_port

    async def begin(self):
        self.port = await self.listen(self._serve)

    async def _serve(self, reader, writer):
        count = Count()
        self.counts.append(count)
        far = await asyncio.open_connection("127.0.0.1", self.target_port)
        await relay(reader, writer, *far, count)
