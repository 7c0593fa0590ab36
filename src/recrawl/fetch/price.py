"""What one exchange will cost on the wire: the likely and the worst case, before it is made."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.fetch.curl import ROUNDS
from recrawl.fetch.handle import RECEIVE_BUFFER
from recrawl.model import Limits, WireCost

HEAD = 300  # bytes of a usual answer's head
# TLS 1.3 over TCP payload, a chain of usual size, X25519MLKEM768 key share (research: a cold 304
# costs 3,860 bytes more than a warm one with classic groups; the hybrid share adds 1.1 kB a way).
TLS_UP, TLS_DOWN = 1_760, 4_350
TUNNEL_UP, TUNNEL_DOWN = 300, 60  # CONNECT with Basic credentials, or SOCKS5 with a password
# The most that OpenSSL takes: a chain of 100 KiB (SSL_CTX_set_max_cert_list), both proxy's and
# target's, with room for the rest.
WORST_TLS_DOWN, WORST_TLS_UP = 2 * 110_000, 2 * 8_000
WORST_TUNNEL = 310_000  # libcurl's own cap on heads, which a proxy's answer to CONNECT counts into
OVERSHOOT = (ROUNDS + 1) * 2 * RECEIVE_BUFFER  # the kernel doubles the buffer


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a request decides its price. `sent` = bytes of request line and header fields."""

    sent: int
    tls: bool
    proxied: bool
    limits: Limits


def wire_cap(limits: Limits) -> int:
    """Bytes received at which the watchdog stops an exchange: caps plus an eighth for framing."""
    return limits.head + limits.body + limits.body // 8 + WORST_TLS_DOWN + WORST_TUNNEL


def quote(shape: Shape, body: float, warm: bool) -> tuple[WireCost, WireCost]:
    """(expected, worst); see `ports.Fetcher.quote`.

    The worst case has the request sent twice (a kept connection dies while it is on its way),
    a new connection, every cap filled, and socket buffers of overshoot until the watchdog sees it.
    """
    up, down = shape.sent, HEAD + max(0, round(body))
    if not warm:
        if shape.tls:
            up, down = up + TLS_UP, down + TLS_DOWN
        if shape.proxied:
            up, down = up + TUNNEL_UP, down + TUNNEL_DOWN
    expected = WireCost(up=up, down=down, connects=0 if warm else 1, source="estimate")
    limits = shape.limits
    worst_up = 2 * (shape.sent + TUNNEL_UP) + (WORST_TLS_UP if shape.tls or shape.proxied else 0)
    worst = WireCost(
        up=max(up, worst_up),
        down=max(down, wire_cap(limits) + OVERSHOOT),
        seconds=limits.connect + limits.total,
        connects=1,
        source="reserved",
    )
    return expected, worst
