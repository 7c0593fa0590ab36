"""One reusable libcurl handle: fixed settings, the traps they close, and what a transfer left."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

import pycurl

from recrawl.fetch.meter import Meter, Peer

_TLS_RECORD = 22  # bytes that a TLS 1.3 record adds to its content
RECEIVE_BUFFER = 131_072  # bytes: bounds what the kernel still takes in when a cap has struck
_DNS_SECONDS = 60  # how long libcurl may believe a pinned address


@dataclass(frozen=True, slots=True)
class Settings:
    """What is equal for all transfers of one route."""

    http2: bool = True
    ca_file: str | None = None
    tls_groups: str | None = None
    proxy: str | None = None
    credentials: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"Settings(proxy={self.proxy!r}, http2={self.http2})"


def request_size(url: str, headers: list[bytes]) -> int:
    """Bytes of the GET that libcurl makes of these over HTTP/1.1."""
    _scheme, _, where = url.partition("://")
    own = 0 if any(line[:7].lower() == b"accept:" for line in headers) else len("Accept: */*\r\n")
    fields = sum(len(line) + 2 for line in headers)
    return len(where) + fields + own + len("GET  HTTP/1.1\r\nHost: \r\n\r\n")


class Handle:
    """A `pycurl.Curl` that collects head and body, counts the head, and vetoes addresses."""

    __slots__ = (
        "_fresh", "_head_cap", "_head_size", "_meter", "_peer", "_pinned", "_request_size",
        "_tls", "_veto",
        "body", "curl", "head", "opened", "overlong", "vetoed",
    )  # fmt: skip

    def __init__(
        self, settings: Settings, meter: Meter, veto: Callable[[str], bool] | None
    ) -> None:
        """`veto` is asked for each IP address that libcurl is about to connect to."""
        self.curl = pycurl.Curl()
        self._meter = meter
        self._veto = veto
        self._fresh: socket.socket | None = None
        self._peer: Peer = ("", 0)
        self._pinned = False
        self._fix(settings)
        self._clear(0)

    def _fix(self, settings: Settings) -> None:
        put = self.curl.setopt
        put(pycurl.NOSIGNAL, 1)
        put(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        put(pycurl.FOLLOWLOCATION, 0)
        put(pycurl.PATH_AS_IS, 1)
        put(pycurl.HTTP09_ALLOWED, 0)
        put(pycurl.BUFFERSIZE, 65_536)
        put(pycurl.DNS_CACHE_TIMEOUT, _DNS_SECONDS)
        version = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
        put(pycurl.HTTP_VERSION, version)
        if settings.ca_file:
            put(pycurl.CAINFO, settings.ca_file)
        if settings.tls_groups:
            put(pycurl.SSL_EC_CURVES, settings.tls_groups)
        self._fix_proxy(settings)
        put(pycurl.OPENSOCKETFUNCTION, self._open)
        put(pycurl.SOCKOPTFUNCTION, self._opened)
        put(pycurl.HEADERFUNCTION, self._take_head)
        put(pycurl.WRITEFUNCTION, self._take_body)

    def _fix_proxy(self, settings: Settings) -> None:
        put = self.curl.setopt
        if settings.proxy is None:  # also not the one of the environment
            put(pycurl.PROXY, "")
            put(pycurl.NOPROXY, "*")
            return
        put(pycurl.PROXY, settings.proxy)
        put(pycurl.NOPROXY, "")
        put(pycurl.HEADEROPT, pycurl.HEADER_SEPARATE)  # the target's headers are not the proxy's
        put(pycurl.PROXYHEADER, ["Proxy-Connection:"])
        if settings.ca_file:
            put(pycurl.PROXY_CAINFO, settings.ca_file)
        if settings.credentials is not None:
            user, password = settings.credentials
            put(pycurl.PROXYUSERNAME, user.encode())
            put(pycurl.PROXYPASSWORD, password.encode())

    def aim(
        self, url: str, headers: list[bytes], pin: str | None, head_cap: int, body_cap: int
    ) -> None:
        """Set up one GET. `pin` is 'host:port:address,...' (CURLOPT_RESOLVE), sizes are bytes."""
        self._clear(head_cap)
        self._tls = url.startswith("https:")
        self._request_size = request_size(url, headers)
        put = self.curl.setopt
        put(pycurl.URL, url.encode())
        put(pycurl.HTTPHEADER, headers)
        put(pycurl.MAXFILESIZE_LARGE, body_cap)
        if pin is not None:
            put(pycurl.RESOLVE, ["+" + pin])
        elif self._pinned:
            self.curl.unsetopt(pycurl.RESOLVE)
        self._pinned = pin is not None

    def limit(self, connect: float, total: float) -> None:
        """Seconds until the connection stands (TLS included), and until all is over."""
        self.curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, round(connect * 1000)))
        self.curl.setopt(pycurl.TIMEOUT_MS, max(1, round(total * 1000)))

    def _clear(self, head_cap: int) -> None:
        self.head: list[bytes] = []
        self.body: list[bytes] = []
        self.vetoed = ""
        self.opened = 0
        self.overlong = False
        self._head_size = 0
        self._head_cap = head_cap

    def _open(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        """libcurl wants a socket. It gets a duplicate; ours is closed in `_opened`."""
        self._let_go()
        ip, port = address.addr[:2]
        if self._veto is not None and self._veto(ip):
            self.vetoed = ip
            return int(pycurl.SOCKET_BAD)
        sock = socket.socket(address.family, address.socktype, address.protocol)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._fresh, self._peer = sock, (ip, port)
        return sock

    def _opened(self, fd: int, _purpose: int) -> int:
        os.set_inheritable(fd, False)
        if self._fresh is not None:
            self._meter.opened(self._fresh, fd, self._peer)
        self._let_go()
        self.opened += 1
        return int(pycurl.SOCKOPT_OK)

    def _let_go(self) -> None:
        if self._fresh is not None:
            self._fresh.close()
            self._fresh = None

    def _take_head(self, line: bytes) -> int | None:
        self.head.append(line)
        self._head_size += len(line)
        if self._head_size > self._head_cap:
            self.overlong = True
            return -1
        return None

    def _take_body(self, piece: bytes) -> None:
        self.body.append(piece)

    def endpoints(self) -> tuple[int, Peer]:
        """Local port and peer of the connection last used ('' = none)."""
        get = self.curl.getinfo
        return get(pycurl.LOCAL_PORT), (get(pycurl.PRIMARY_IP), get(pycurl.PRIMARY_PORT))

    def sent_in_vain(self) -> int:
        """Bytes of requests that libcurl sent on kept connections which turned out closed.

        It asks whether one is alive only a second after its last use, and sends the request again
        on another one. The dead one is closed within one step, before its count can be read, but
        REQUEST_SIZE sums all that was sent. Over TLS each took a record of its own.
        """
        times = int(self.curl.getinfo(pycurl.REQUEST_SIZE)) // self._request_size
        return max(0, times - 1) * (self._request_size + (_TLS_RECORD if self._tls else 0))

    def farewell(self) -> int:
        """Bytes that a TLS connection opened by this transfer will send as it is closed.

        That happens after anybody could be charged, so whoever opens it pays: a close_notify of
        24 bytes (TLS 1.3; 31 over 1.2), and HTTP/2's GOAWAY before it.
        """
        get = self.curl.getinfo
        if not (self._tls and self.opened and get(pycurl.APPCONNECT_TIME) > 0):
            return 0
        return 72 if get(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0 else 24

    def own_count(self) -> tuple[int, int]:
        """libcurl's count of (up, down): heads and body without handshakes and framing."""
        get = self.curl.getinfo
        down = get(pycurl.HEADER_SIZE) + int(get(pycurl.SIZE_DOWNLOAD_T))
        return get(pycurl.REQUEST_SIZE), down

    def close(self) -> None:
        """Close the transfer and its connection."""
        self._let_go()
        self.curl.close()
