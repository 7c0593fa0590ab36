"""libcurl's error codes and words -> how the exchange ended, and whose fault it was."""

from __future__ import annotations

from recrawl.model import Blame, Kind

_BY_CODE: dict[int, tuple[Kind, Blame]] = {
    1: (Kind.POLICY, Blame.NOBODY),  # unsupported protocol
    3: (Kind.POLICY, Blame.NOBODY),  # malformed URL
    5: (Kind.PROXY_ERROR, Blame.ROUTE),  # proxy's name not resolved
    6: (Kind.DNS_ERROR, Blame.TARGET),
    7: (Kind.CONNECT_ERROR, Blame.TARGET),
    8: (Kind.PROTOCOL_ERROR, Blame.TARGET),  # weird reply
    16: (Kind.PROTOCOL_ERROR, Blame.TARGET),  # HTTP/2 framing
    18: (Kind.INCOMPLETE, Blame.TARGET),  # fewer bytes than declared
    28: (Kind.TIMEOUT, Blame.TARGET),
    35: (Kind.TLS_ERROR, Blame.TARGET),  # handshake
    42: (Kind.INTERNAL, Blame.LOCAL),  # stopped by us
    52: (Kind.CONNECT_ERROR, Blame.TARGET),  # nothing was answered
    55: (Kind.CONNECT_ERROR, Blame.TARGET),  # sending failed
    56: (Kind.CONNECT_ERROR, Blame.TARGET),  # receiving failed: see `fault`
    60: (Kind.TLS_ERROR, Blame.TARGET),  # certificate refused
    63: (Kind.CAPPED, Blame.TARGET),  # MAXFILESIZE
    77: (Kind.TLS_ERROR, Blame.LOCAL),  # our file of authorities
    83: (Kind.TLS_ERROR, Blame.TARGET),  # issuer check
    92: (Kind.PROTOCOL_ERROR, Blame.TARGET),  # HTTP/2 stream
    97: (Kind.PROXY_ERROR, Blame.ROUTE),  # SOCKS handshake
    100: (Kind.PROTOCOL_ERROR, Blame.TARGET),  # header too large
}
_SYNTAX = ("header", "chunk", "http/", "content-length", "status line")
# Failures of getting there: through a proxy, before it let us through, they are the route's.
_ON_THE_WAY = frozenset(
    (Kind.CONNECT_ERROR, Kind.DNS_ERROR, Kind.TLS_ERROR, Kind.INCOMPLETE, Kind.PROTOCOL_ERROR)
)


def fault(
    code: int, text: str, *, answered: bool, proxied: bool = False, reached: bool = True
) -> tuple[Kind, Blame]:
    """The meaning of a libcurl error.

    `answered`: some line of the target's head came; `reached`: the proxy had let the request
    through (always so without one). Codes 1, 8 and 56 mean several things, so the words count;
    they are those of libcurl 8.20 and later, and tests hold them.

    >>> fault(56, "Recv failure: Connection reset by peer", answered=True)
    (<Kind.INCOMPLETE: 'incomplete'>, <Blame.TARGET: 'target'>)
    """
    words = text.lower()
    if "connect tunnel failed" in words or "proxy connect aborted" in words:
        return Kind.PROXY_ERROR, Blame.ROUTE
    kind, blame = _BY_CODE.get(code, (Kind.INTERNAL, Blame.LOCAL))
    if code in (1, 8, 56) and any(w in words for w in _SYNTAX):
        kind, blame = Kind.PROTOCOL_ERROR, Blame.TARGET
    elif code in (35, 55, 56) and answered:
        kind = Kind.INCOMPLETE
    if proxied and not reached:
        if kind is Kind.TIMEOUT:
            return kind, Blame.ROUTE
        if kind in _ON_THE_WAY:
            return Kind.PROXY_ERROR, Blame.ROUTE
    return kind, blame
