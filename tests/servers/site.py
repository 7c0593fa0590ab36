"""A small site on loopback: pages by path, some held back at will, a list of what was asked."""

from __future__ import annotations

import asyncio

from servers.background import Background


class Site(Background):
    """Answers GET with `pages[path]` (404 elsewhere); paths in `held` wait for `release()`."""

    def __init__(self, pages: dict[str, str], held: tuple[str, ...] = (), delay: float = 0.0):
        self.pages = pages
        self.held = held
        self.delay = delay
        self.asked: list[str] = []

    async def begin(self):
        self._gate = asyncio.Event()
        self.port = await self.listen(self._answer)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def release(self) -> None:
        """Let the held pages be answered."""
        self.loop.call_soon_threadsafe(self._gate.set)

    async def _answer(self, reader, writer):
        while head := await reader.readuntil(b"\r\n\r\n"):
            path = head.split(b" ", 2)[1].decode()
            self.asked.append(path)
            if path in self.held:
                await self._gate.wait()
            await asyncio.sleep(self.delay)
            body = self.pages.get(path, "not here").encode()
            status = b"200 OK" if path in self.pages else b"404 Not Found"
            kind = b"text/plain" if path == "/robots.txt" else b"text/html"
            writer.write(
                b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
                % (status, kind, len(body), body)
            )
            await writer.drain()


def linked(n: int) -> dict[str, str]:
    """A home page that links to n others."""
    links = "".join(f'<a href="/{i}">{i}</a>' for i in range(n))
    leaves = {f"/{i}": f"<title>{i}</title><p>page number {i}</p>" for i in range(n)}
    return {"/": f"<title>home</title>{links}", **leaves}
