"""The kernel's count of what each TCP connection carried, and whose exchange pays for it.

Linux only (TCP_INFO with tcpi_bytes_sent: 4.19 and later); elsewhere nothing is counted here and
the fetcher falls back to libcurl's own counters, which miss handshakes and framing.
"""

from __future__ import annotations

import socket
import struct

Peer = tuple[str, int]  # IP address and port
_TCP_INFO = getattr(socket, "TCP_INFO", None)
_SO_COOKIE = 57  # Linux 4.6: a number that no other socket gets while the system runs
_LENGTH = 256
_RECEIVED, _SENT, _RESENT = 128, 200, 208  # offsets of tcpi_bytes_* in struct tcp_info
_PEER_CLOSED = frozenset((6, 8, 9, 11))  # TIME_WAIT, CLOSE_WAIT, LAST_ACK, CLOSING
_u64 = struct.Struct("=Q").unpack_from


class _Connection:
    """What one connection has carried, and how much of it has been charged."""

    __slots__ = ("charged", "cookie", "fd", "fin", "key", "peer", "total")

    def __init__(self, fd: int, peer: Peer, cookie: bytes) -> None:
        self.fd = fd
        self.peer = peer
        self.cookie = cookie
        self.key: tuple[int, Peer] | None = None
        self.total = (0, 0)
        self.charged = (0, 0)
        self.fin = 0

    def sample(self) -> bool:
        """Read the counters. False where the connection is closed: the last reading stays."""
        found = _read(self.fd, self.cookie)
        if found is None:
            return False
        state, sent, received = found
        if state in _PEER_CLOSED:
            self.fin = 1  # the kernel counts the peer's FIN as a byte
        self.total = (sent, received - self.fin)
        return True

    def take(self) -> tuple[int, int]:
        """(up, down) since the last call."""
        (up, down), (up0, down0) = self.total, self.charged
        self.charged = self.total
        return up - up0, down - down0


def _read(fd: int, cookie: bytes) -> tuple[int, int, int] | None:
    """(state, sent, received) of `fd` if it is still the socket with that cookie."""
    if _TCP_INFO is None:
        return None
    try:
        view = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fd)
    except OSError:
        return None
    try:
        if view.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8) != cookie:
            return None
        info = view.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _LENGTH)
    except OSError:
        return None
    finally:
        view.detach()
    if len(info) < _SENT + 8:
        return None
    resent = _u64(info, _RESENT)[0] if len(info) >= _RESENT + 8 else 0
    return info[0], _u64(info, _SENT)[0] - resent, _u64(info, _RECEIVED)[0]


class Meter:
    """Charges each exchange with what its connection carried since it was last charged.

    An exchange is matched to its connection by local port and peer, because libcurl names no
    socket once a transfer has failed. The first exchange of a connection pays its handshakes.
    """

    def __init__(self) -> None:
        self._by_fd: dict[int, _Connection] = {}
        self._by_key: dict[tuple[int, Peer], _Connection] = {}

    def opened(self, sock: socket.socket, fd: int, peer: Peer) -> None:
        """A connection to `peer` is about to be made on `fd`, a duplicate of `sock`."""
        old = self._by_fd.pop(fd, None)
        if old is not None and old.key is not None and self._by_key.get(old.key) is old:
            del self._by_key[old.key]
        if _TCP_INFO is None:
            return
        try:
            cookie = sock.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8)
        except OSError:
            return  # an old kernel: the fetcher says 'estimate'
        self._by_fd[fd] = _Connection(fd, peer, cookie)

    def event(self, fd: int, released: bool) -> None:
        """libcurl watches `fd` or, `released`, no longer does (always so before it closes it)."""
        connection = self._by_fd.get(fd)
        if connection is None:
            return
        if connection.key is None:
            self._name(connection)
        if released:
            connection.sample()

    def _name(self, connection: _Connection) -> None:
        view = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, connection.fd)
        try:
            port = view.getsockname()[1]  # stands at the same place for IPv4 and IPv6
        except OSError:
            return
        finally:
            view.detach()
        connection.key = (port, connection.peer)
        self._by_key[connection.key] = connection

    def charge(self, local_port: int, peer: Peer) -> tuple[int, int] | None:
        """(up, down) of the exchange that has just ended there; None = not known.

        To be called before the transfer's handle is removed, or another exchange may already
        have the connection.
        """
        connection = self._by_key.get((local_port, peer))
        if connection is None:
            return None
        if not connection.sample() and connection.total == connection.charged:
            return None  # answered and closed within one step of libcurl, which told nobody
        return connection.take()

    def pending(self, local_port: int, peer: Peer) -> int:
        """Bytes received on that connection and not charged yet."""
        return self._owed(self._by_key.get((local_port, peer)))

    def pending_on(self, fd: int) -> int:
        """The same, by the connection's descriptor."""
        return self._owed(self._by_fd.get(fd))

    @staticmethod
    def _owed(connection: _Connection | None) -> int:
        if connection is None:
            return 0
        connection.sample()
        return connection.total[1] - connection.charged[1]
