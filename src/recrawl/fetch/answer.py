"""What libcurl left behind -> the outcome of the exchange."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pycurl

from recrawl.fetch.classify import Exchange, classify, final_head, parse_head
from recrawl.fetch.curl import Done
from recrawl.fetch.faults import fault
from recrawl.fetch.handle import Handle
from recrawl.fetch.routes import Redactor, Route
from recrawl.fetch.target import Target
from recrawl.model import Blame, Kind, Outcome, Request, WireCost

_OFFLOAD = 100_000  # coded bytes above which a body is decoded in a thread


@dataclass(frozen=True, slots=True)
class Asked:
    """An exchange that was made: what for, which way, since when."""

    request: Request
    route: Route
    target: Target
    started: float  # on the crawl's clock
    begun: float  # time.monotonic()

    @property
    def proxy_speaks(self) -> bool:
        """Whether the proxy itself may have answered: it reads plain HTTP, not tunnels."""
        return self.route.proxy is not None and not self.route.socks and not self.target.tls


async def outcome(
    asked: Asked, handle: Handle, done: Done, finished: float, redact: Redactor
) -> Outcome:
    """The outcome of one exchange, `finished` on the crawl's clock. Large bodies are decoded in a
    thread, so that a bomb doesn't hold up its neighbours."""
    raw, whole = final_head(handle.head)
    headers = parse_head(redact.head(raw))
    status = handle.curl.getinfo(pycurl.RESPONSE_CODE) if raw else 0
    wire_body = b"".join(handle.body)
    exchange = _exchange(asked, handle, done, finished)
    if done.code == 0 and whole:
        limits = asked.request.limits
        if len(wire_body) > _OFFLOAD and any(name == "content-encoding" for name, _ in headers):
            return await asyncio.to_thread(classify, status, headers, wire_body, limits, exchange)
        return classify(status, headers, wire_body, limits, exchange)
    kind, blame, detail = _why(asked, handle, done, answered=bool(raw))
    return Outcome(
        kind=kind,
        cost=exchange.cost,
        started=exchange.started,
        finished=exchange.finished,
        status=status,
        headers=headers,
        wire_body=wire_body,
        blame=blame,
        flags=frozenset(("body-cap",)) if kind is Kind.CAPPED else frozenset(),
        detail=redact(detail),
        final_ip=exchange.final_ip,
    )


def _exchange(asked: Asked, handle: Handle, done: Done, finished: float) -> Exchange:
    """What it cost and how it was made."""
    cost = WireCost(
        up=done.up,
        down=done.down,
        seconds=time.monotonic() - asked.begun,
        connects=handle.opened,
        source="kernel" if done.metered else "estimate",
    )
    return Exchange(
        cost=cost,
        started=asked.started,
        finished=finished,
        conditional=asked.request.conditional,
        by_proxy=asked.proxy_speaks,
        final_ip=handle.endpoints()[1][0],
    )


def _why(asked: Asked, handle: Handle, done: Done, *, answered: bool) -> tuple[Kind, Blame, str]:
    """How a failed exchange failed."""
    if handle.vetoed:
        detail = f"{asked.target.host} leads to the private address {handle.vetoed}"
        return Kind.POLICY, Blame.NOBODY, detail
    if handle.overlong:
        return Kind.PROTOCOL_ERROR, Blame.TARGET, "the head is longer than allowed"
    if done.code == 0:
        return Kind.INCOMPLETE, Blame.TARGET, "the head ends before its blank line"
    proxied = asked.route.proxy is not None
    reached = not proxied or _got_through(asked, handle, done, answered)
    kind, blame = fault(done.code, done.text, answered=answered, proxied=proxied, reached=reached)
    return kind, blame, f"{done.text or kind.value} (libcurl {done.code})"


def _got_through(asked: Asked, handle: Handle, done: Done, answered: bool) -> bool:
    """Whether a proxy had let the request through to its target when the exchange failed."""
    get = handle.curl.getinfo
    sent = get(pycurl.REQUEST_SIZE) > 0
    if asked.route.socks:  # TLS begins only once the SOCKS handshake is done
        return sent or done.code in (pycurl.E_SSL_CONNECT_ERROR, pycurl.E_PEER_FAILED_VERIFICATION)
    if asked.target.tls:
        return bool(get(pycurl.HTTP_CONNECTCODE) // 100 == 2)
    return answered or (sent and done.code == pycurl.E_OPERATION_TIMEDOUT)
