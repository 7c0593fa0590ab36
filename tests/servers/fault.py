"""A web server that misbehaves on purpose: each path is one fault (or one well-behaved answer)."""

import asyncio
import gzip
import socket
import struct
import zlib

import brotli

from servers.background import Background

BODY = (b"<html><body>" + b"hello world lorem ipsum " * 2083)[:50_000]
BOMB_SIZE = 64_000_000


def answer(status=b"200 OK", head=b"", body=b"x" * 100):
    """A whole answer with a Content-Length."""
    length = b"Content-Length: %d\r\n" % len(body)
    return (
        b"HTTP/1.1 " + status + b"\r\nContent-Type: text/html\r\n" + head + length + b"\r\n" + body
    )


def raw(lines, body=b"hello"):
    """A 200 with the header lines as they are, then Content-Length and `body`."""
    return b"HTTP/1.1 200 OK\r\n" + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body


def coded(coding, body):
    return answer(head=b"Content-Encoding: " + coding + b"\r\n", body=body)


def to(where):
    return answer(b"302 Found", b"Location: " + where + b"\r\n", b"")


def _corrupt(body):
    middle = len(body) // 2
    return body[:middle] + bytes(b ^ 255 for b in body[middle : middle + 2]) + body[middle + 2 :]


def _gzip_bomb():
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1_000_000)
    return b"".join(engine.compress(zeros) for _ in range(BOMB_SIZE // 10**6)) + engine.flush()


def _brotli_bomb():
    engine = brotli.Compressor(quality=1)
    zeros = bytes(1_000_000)
    pieces = [engine.process(zeros) for _ in range(BOMB_SIZE // 10**6)]
    return b"".join(pieces) + engine.finish()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LONG = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 50000\r\n\r\n"
ZIPPED = gzip.compress(BODY, mtime=0)

KEPT = {  # sent whole, then the connection is kept
    "/ok": answer(body=BODY),
    "/small": answer(),
    "/gz": coded(b"gzip", ZIPPED),
    "/br": coded(b"br", brotli.compress(BODY)),
    "/deflate": coded(b"deflate", zlib.compress(BODY)),
    "/chunked": CHUNKED + b"5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nX-Trailer: v\r\n\r\n",
    "/continue": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    + answer(body=BODY),
    "/gzip-bomb": coded(b"gzip", _gzip_bomb()),
    "/br-bomb": coded(b"br", _brotli_bomb()),
    "/gzip-double": coded(b"gzip, gzip", gzip.compress(ZIPPED)),
    "/gzip-corrupt": coded(b"gzip", _corrupt(ZIPPED)),
    "/gzip-cut": coded(b"gzip", ZIPPED[: len(ZIPPED) // 2]),
    "/gzip-fake": coded(b"gzip", BODY),
    "/gzip-trail": coded(b"gzip", ZIPPED + b"trailing garbage"),
    "/enc-unknown": coded(b"lol", BODY),
    "/429": answer(b"429 Too Many Requests", b"Retry-After: 7\r\n"),
    "/429-date": answer(
        b"429 Too Many Requests", b"Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"
    ),
    "/503-garbage": answer(b"503 Service Unavailable", b"Retry-After: soon\r\n"),
    "/503": answer(b"503 Service Unavailable"),
    "/403": answer(b"403 Forbidden"),
    "/410": answer(b"410 Gone"),
    "/cl-short": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" + BODY[:1000],
    "/cl-dup": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\nContent-Length: 60\r\n\r\n" + BODY[:60],
    "/cl-te": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n3c\r\n"
    + BODY[:60]
    + b"\r\n0\r\n\r\n",
    "/loop": to(b"/loop"),
    "/to-ftp": to(b"ftp://x/y"),
    "/to-utf8": to("/ok?q=ñandú".encode()),
    "/to-nothing": answer(b"302 Found", b"", b""),
    "/to-empty": to(b""),
    "/bad-charset": raw(
        b"Content-Type: text/html; charset=x-bogus\r\n", b"\xff\xfe\xfaab\xe9\xc3"
    ),
    "/hdr-nocolon": raw(b"This is not a header\r\n"),
    "/hdr-nul": raw(b"X-A: b\0c\r\n"),
    "/hdr-spacecolon": raw(b"X-A : b\r\n"),
    "/hdr-fold": raw(b"X-A: b\r\n  continued\r\n"),
    "/hdr-latin1": raw(b"X-A: caf\xe9 \xc3\xb1\r\n"),
    "/hdr-lf": b"HTTP/1.1 200 OK\nX-A: b\nContent-Length: 5\n\nhello",
    "/hdr-16k": raw(b"X-Big: " + b"v" * 16_000 + b"\r\n"),
    "/hdr-many": raw(b"".join(b"X-%d: a\r\n" % i for i in range(300))),
    "/hdr-1m": raw(b"X-Big: " + b"v" * 1_000_000 + b"\r\n"),
    "/st-999": b"HTTP/1.1 999 Request Denied\r\nContent-Length: 5\r\n\r\nhello",
    "/st-abc": b"HTTP/1.1 abc OK\r\nContent-Length: 5\r\n\r\nhello",
    "/204-body": b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    "/206": answer(b"206 Partial Content", b"Content-Range: bytes 0-99/500\r\n"),
    "/304-cl": b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 50000\r\n\r\n',
}
CLOSED = {  # sent, then the connection is closed
    "/ok-close": answer(head=b"Connection: close\r\n", body=BODY),
    "/http10": b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY,
    "/drop-mid": LONG + BODY[:20_000],
    "/drop-chunked": CHUNKED + b"4e20\r\n" + BODY[:20_000] + b"\r\n",
    "/drop-head": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "/close-now": b"",
    "/idle-close": answer(body=BODY),  # promises to stay
    "/cl-neg": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + BODY[:60],
    "/cl-nan": b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n" + BODY[:60],
    "/garbage": bytes(range(256)) * 40,
    "/http09": b"<html>hello</html>",
    "/chunk-bad": CHUNKED + b"ZZZ\r\nhello\r\n0\r\n\r\n",
    "/chunk-huge": CHUNKED + b"FFFFFFFFFFFFFFFFFF\r\nhello",
}
ENDLESS = {  # a beginning, then the same again for ever: (beginning, piece, seconds between)
    "/slow-head": (b"HTTP/1.1 200 OK\r\n", b"X", 0.05),
    "/slow-body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"y", 0.05),
    "/stall-head": (b"", b"", 0.05),
    "/stall-body": (LONG + BODY[:20_000], b"", 0.05),
    "/101": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nfoo", b"", 0.05),
    "/infinite": (b"HTTP/1.1 200 OK\r\n\r\n", b"z" * 65_536, 0),
    "/infinite-chunked": (CHUNKED, b"10000\r\n" + b"z" * 65_536 + b"\r\n", 0),
    "/infinite-ext": (CHUNKED, b"1;" + b"e" * 64_000 + b"\r\nz\r\n", 0.0005),
    "/infinite-head": (b"HTTP/1.1 200 OK\r\n", b"X-H: " + b"v" * 900 + b"\r\n", 0),
    "/infinite-1xx": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", 0),
}


class FaultServer(Background):
    """`url(path)` of a fault; `requests` are the heads received, in order."""

    def __init__(self, ssl_context=None, host="127.0.0.1", name="127.0.0.1"):
        self._ssl, self._host, self._name = ssl_context, host, name
        self.requests = []

    async def begin(self):
        self.port = await self.listen(self._serve, self._host, ssl=self._ssl)

    def url(self, path, port=None):
        scheme = "https" if self._ssl else "http"
        return f"{scheme}://{self._name}:{port or self.port}{path}"

    async def _serve(self, reader, writer):
        kept = True
        while kept:
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head)
            path = head.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
            kept = await self._answer(path, head, reader, writer)
            await writer.drain()

    async def _answer(self, path, head, reader, writer):
        """Write the answer; True where the connection is to be kept."""
        if path in KEPT or path in CLOSED:
            writer.write(KEPT.get(path, CLOSED.get(path)))
            return path in KEPT
        if path in ENDLESS:
            beginning, piece, pause = ENDLESS[path]
            writer.write(beginning)
            while not reader.at_eof():
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
            return False
        if path in ("/rst-mid", "/rst-now"):
            if path == "/rst-mid":
                writer.write(LONG + BODY[:20_000])
                await writer.drain()
                await asyncio.sleep(0.1)
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if path == "/etag":
            same = b'if-none-match: "v1"' in head.lower()
            status = b"304 Not Modified" if same else b"200 OK"
            body = b"" if same else BODY
            writer.write(
                b"HTTP/1.1 " + status + b'\r\nETag: "v1"\r\n' if same
                else answer(head=b'ETag: "v1"\r\n', body=body)
            )  # fmt: skip
            writer.write(b"\r\n" if same else b"")
            return True
        if path == "/echo":
            writer.write(answer(head=b"Set-Cookie: sid=1; Path=/\r\n", body=head))
            return True
        writer.write(answer(b"404 Not Found", body=b"nope"))
        return True
