"""The made-up web on loopback: one address a host, one port, a process that dies with its parent.

The parser knows as much of HTTP/1.1 (RFC 9112) as a crawler's requests need: keep-alive,
pipelining, no request bodies; anything else is answered 400 and closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from recrawl.sim.answers import Answers, Asked
from recrawl.sim.clock import SharedClock
from recrawl.sim.growth import make_web
from recrawl.sim.web import MadeUpWeb, WebSpec

MAX_HEAD = 65_536
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
STOP_TIMEOUT = 5.0  # seconds
Answer = Callable[[str, Asked], bytes]  # the address that was asked, the request -> all bytes


def parse(head: bytes) -> Asked | None:
    """A request's head, without the empty line, or None where it is no good request."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return None
    method, target, version = parts
    if not method.isalpha() or not target.startswith("/"):
        return None
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            return None
        headers[name.lower()] = value.strip()
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        return None
    connection = headers.get("connection", "").lower()
    return Asked(method, target, headers, version == "HTTP/1.1" and connection != "close")


class HttpServer(asyncio.Protocol):
    """One connection: heads in, answers out, in order."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self._ip = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # what a stream server is given
        self._ip = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        self._buffer += data
        while True:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                if len(self._buffer) > MAX_HEAD:
                    self._close(BAD_REQUEST)
                return
            self._buffer = rest
            asked = parse(head)
            if asked is None:
                self._close(BAD_REQUEST)
                return
            out = self._answer(self._ip, asked)
            if not asked.keep_alive:
                self._close(out)
                return
            transport.write(out)

    def _close(self, last: bytes) -> None:
        if self._transport is not None:
            self._transport.write(last)
            self._transport.close()
        self._buffer = b""


def bind(ips: list[str]) -> list[socket.socket]:
    """One listening socket an address, all with the same free port. Raises OSError."""
    for attempt in range(50):
        sockets: list[socket.socket] = []
        try:
            port = 0
            for ip in ips:
                sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                sockets.append(sock)
                sock.bind((ip, port))
                sock.listen(1024)
                port = sock.getsockname()[1]
        except OSError:
            for sock in sockets:
                sock.close()
            if attempt == 49:
                raise
        else:
            return sockets
    raise AssertionError("unreachable")


async def serve(answer: Answer, ips: list[str], started: Callable[[int], None]) -> None:
    """Answer until stdin ends or the parent is gone; `started` is told the port.

    A pipe ends when its last writer is gone, but children of the parent may hold it open: hence
    the second look at who the parent is.
    """
    loop = asyncio.get_running_loop()
    parent, over = os.getppid(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), over.set)
    sockets = bind(ips)
    servers = [await loop.create_server(lambda: HttpServer(answer), sock=sock) for sock in sockets]
    started(sockets[0].getsockname()[1])
    while not over.is_set() and os.getppid() == parent:
        try:
            await asyncio.wait_for(over.wait(), 0.5)
        except TimeoutError:
            continue
    for server in servers:
        server.close()


class RunningWeb:
    """A server process; leaving the `with` block ends it."""

    def __init__(self, web: MadeUpWeb, process: subprocess.Popen[str], port: int) -> None:
        self.web = web
        self.port = port
        self._process = process

    @property
    def pid(self) -> int:
        """The process that serves."""
        return self._process.pid

    @property
    def origins(self) -> list[str]:
        """'http://127.0.0.1:PORT' of every host, by number."""
        return [f"http://{host.ip}:{self.port}" for host in self.web.hosts]

    def url(self, page: int) -> str:
        """The address of a page."""
        return self.web.url(page, self.port)

    def stop(self) -> None:
        """End the process and wait for it; killed if it does not end by itself."""
        try:
            self._process.communicate(timeout=STOP_TIMEOUT)  # closes its stdin
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def start_web(web: MadeUpWeb, clock: SharedClock) -> RunningWeb:
    """Serve `web` at the time that `clock` shows. Raises RuntimeError: it did not start."""
    task = json.dumps({"spec": asdict(web.spec), "clock": str(clock.path)})
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "recrawl.sim.server", task],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = process.stdout.readline() if process.stdout is not None else ""
    if not line.strip().isdigit():
        process.kill()
        process.communicate()
        raise RuntimeError("the made-up web did not start; its reason stands above")
    return RunningWeb(web, process, int(line))


def main(task: str) -> None:
    """The server process: `task` is the JSON that `start_web` wrote."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the crawl, and that ends this
    told = json.loads(task)
    spec = WebSpec(**told["spec"])
    web = make_web(spec)
    with SharedClock(Path(told["clock"])) as clock:
        answers = Answers(web, random.Random(spec.seed))

        def answer(ip: str, asked: Asked) -> bytes:
            return answers.answer(web.host_of(ip) or 0, asked, clock.now())

        def started(port: int) -> None:
            print(port, flush=True)  # noqa: T201 - how the parent learns it

        asyncio.run(serve(answer, [host.ip for host in web.hosts], started))


if __name__ == "__main__":
    main(sys.argv[1])
