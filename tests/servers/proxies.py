"""Counting HTTP (CONNECT and absolute-form, Basic) and SOCKS5 (password) proxies.

Both resolve every name under `.test` to loopback, and no other names.
"""

import asyncio
import socket
import struct
from base64 import b64encode

from servers.gateway import Count, Counting, relay

USER, PASSWORD = "ann", "s3cr:et"


async def _dial(host, port):
    if host.endswith(".test"):
        host = "127.0.0.1"
    return await asyncio.open_connection(host.strip("[]"), port)


class HttpProxy(Counting):
    """`heads` are the request heads that it received; `url` is without credentials."""

    def __init__(self):
        super().__init__()
        self.heads = []

    async def begin(self):
        self.port = await self.listen(self._serve)
        self.url = f"http://127.0.0.1:{self.port}"

    async def _serve(self, reader, writer):
        count = Count()
        self.counts.append(count)
        try:
            await self._handle(reader, writer, count)
        finally:
            count.closed = True

    async def _handle(self, reader, writer, count):
        def reply(data):
            count.down += len(data)
            writer.write(data)

        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        count.up += len(head)
        secret = b64encode(f"{USER}:{PASSWORD}".encode())
        if b"Proxy-Authorization: Basic " + secret + b"\r\n" not in head:
            reply(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\n"
                b'Proxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n'
            )
            return
        method, where, _ = head.split(b" ", 2)
        tunnel = method == b"CONNECT"
        authority = where if tunnel else where.split(b"/", 3)[2]
        host, _, port = authority.decode().rpartition(":")
        try:
            far_reader, far_writer = await _dial(host, int(port))
        except OSError:
            reply(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return
        if tunnel:
            reply(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            lines = head.split(b"\r\n")
            lines[0] = b"GET /" + where.split(b"/", 3)[3].replace(b" ", b"%20") + b" HTTP/1.1"
            far_writer.write(b"\r\n".join(s for s in lines if not s.startswith(b"Proxy-")))
        await relay(reader, writer, far_reader, far_writer, count)


class SocksProxy(Counting):
    """SOCKS5 (RFC 1928, 1929). `asked` are the hosts requested: names show that it resolves."""

    def __init__(self):
        super().__init__()
        self.asked = []

    async def begin(self):
        self.port = await self.listen(self._serve)
        self.url = f"socks5h://127.0.0.1:{self.port}"

    async def _serve(self, reader, writer):
        count = Count()
        self.counts.append(count)
        try:
            await self._handle(reader, writer, count)
        finally:
            count.closed = True

    async def _handle(self, reader, writer, count):
        async def take(n):
            data = await reader.readexactly(n)
            count.up += n
            return data

        def reply(data):
            count.down += len(data)
            writer.write(data)

        methods = await take((await take(2))[1])
        if 2 not in methods:
            reply(b"\5\xff")
            return
        reply(b"\5\2")
        await take(1)
        user = await take((await take(1))[0])
        password = await take((await take(1))[0])
        if (user, password) != (USER.encode(), PASSWORD.encode()):
            reply(b"\1\1")
            return
        reply(b"\1\0")
        kind = (await take(4))[3]
        if kind == 3:
            host = (await take((await take(1))[0])).decode()
        else:
            size, family = (4, socket.AF_INET) if kind == 1 else (16, socket.AF_INET6)
            host = socket.inet_ntop(family, await take(size))
        port = struct.unpack(">H", await take(2))[0]
        self.asked.append(host)
        try:
            far = await _dial(host, port)
        except OSError:
            reply(b"\5\4\0\1" + bytes(6))  # host unreachable
            return
        reply(b"\5\0\0\1" + bytes(6))
        await relay(reader, writer, *far, count)
