"""The default fetcher: one GET over libcurl, priced by the kernel, judged by `classify`."""

from __future__ import annotations

import os
import re
import ssl
import time
from collections.abc import Callable, Mapping

from recrawl.fetch import price
from recrawl.fetch.answer import Asked, outcome
from recrawl.fetch.curl import CurlLoop
from recrawl.fetch.handle import Handle, Settings, request_size
from recrawl.fetch.reach import Reach, Refused
from recrawl.fetch.resolve import Resolver
from recrawl.fetch.routes import Redactor, Route
from recrawl.fetch.target import BadTarget, parse_target
from recrawl.frontier.private import is_private_ip
from recrawl.model import Blame, Kind, Outcome, Request, WireCost

_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\0]")


class HttpFetcher:
    """`ports.Fetcher` over libcurl. Use it on one event loop; close it with `aclose`.

    `routes` are the ways there are besides "direct"; their credentials are read here, once.
    Connections on which private addresses are allowed are kept apart from all others, so that a
    name that first led to a private address can't be reached over the old connection later.
    """

    name = "http"

    def __init__(
        self,
        routes: Mapping[str, Route],
        user_agent: str,
        *,
        allow_private: bool = False,
        ca_file: str | None = None,
        http2: bool = True,
        max_idle: int = 256,
        resolver: Resolver | None = None,
        is_private: Callable[[str], bool] = is_private_ip,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Raises RouteError (credentials missing) and ValueError (an unusable User-Agent)."""
        if not user_agent.strip() or _BREAKS.search(user_agent) or not user_agent.isascii():
            raise ValueError("user_agent must be one line of ASCII that says who is crawling")
        self._routes = {"direct": Route("direct"), **routes}
        secrets = {name: route.credentials() for name, route in self._routes.items()}
        self._redact = Redactor(pair for pair in secrets.values() if pair)
        ca_file = ca_file or os.environ.get("SSL_CERT_FILE") or _system_authorities()
        self._settings = {
            name: Settings(http2, ca_file, route.tls_groups, route.proxy, secrets[name])
            for name, route in self._routes.items()
        }
        self._own = (("User-Agent", user_agent), ("Accept-Encoding", "gzip, br"))
        self._own_fields = [f"{name}: {value}".encode() for name, value in self._own]
        self._allow_private = allow_private
        self._max_idle = max_idle
        self._reach = Reach(resolver or Resolver(), is_private)
        self._now = now
        self._loops: dict[bool, CurlLoop] = {}  # by: is every address allowed?
        self._idle: dict[tuple[bool, str], list[Handle]] = {}
        self._closed = False

    def quote(self, request: Request, body: float, warm: bool) -> tuple[WireCost, WireCost]:
        """(expected, worst) cost, in bytes of TCP payload. Never raises: a request that can't be
        sent is priced like one that can."""
        route = self._routes.get(request.route)
        try:
            target = parse_target(request.url)
            tls, url, fields = target.tls, target.url, self._fields(request)
        except BadTarget:
            tls, url, fields = False, request.url, self._own_fields
        sent = request_size(url, fields)
        proxied = route is not None and route.proxy is not None
        return price.quote(price.Shape(sent, tls, proxied, request.limits), body, warm)

    async def fetch(self, request: Request) -> Outcome:
        """One exchange; see `ports.Fetcher.fetch`."""
        begun, started = time.monotonic(), self._now()
        try:
            return await self._fetch(request, started, begun)
        except Refused as refused:
            kind, blame, detail = refused.kind, refused.blame, str(refused)
        except Exception as error:  # noqa: BLE001 - the port promises an outcome, whatever happens
            kind, blame, detail = Kind.INTERNAL, Blame.LOCAL, f"{type(error).__name__}: {error}"
        return Outcome(
            kind=kind,
            cost=WireCost(seconds=time.monotonic() - begun),
            started=started,
            finished=self._now(),
            blame=blame,
            detail=self._redact(detail),
        )

    async def aclose(self) -> None:
        """Stop what is in flight and close every connection; later fetches are refused."""
        self._closed = True
        for loop in self._loops.values():
            loop.close()
        for handle in [handle for idle in self._idle.values() for handle in idle]:
            handle.close()
        self._loops.clear()
        self._idle.clear()
        self._reach.resolver.close()

    async def _fetch(self, request: Request, started: float, begun: float) -> Outcome:
        self._require_open()
        route = self._routes.get(request.route)
        if route is None:
            raise Refused(f"there is no route {request.route!r}", blame=Blame.LOCAL)
        try:
            target = parse_target(request.url)
            fields = self._fields(request)
        except BadTarget as error:
            raise Refused(str(error)) from None
        trusted = self._allow_private or request.private_ok
        limits = request.limits
        pin = await self._reach.pin(route, target, limits.connect, trusted=trusted)
        self._require_open()  # it may have been closed while the name was looked up
        # A proxy's own address may be private: on its route libcurl connects to nothing else.
        open_to_all = trusted or route.proxy is not None
        handle = self._take(open_to_all, request.route)
        try:
            handle.aim(target.url, fields, pin, limits.head, limits.body)
            handle.limit(limits.connect, limits.total - (time.monotonic() - begun))
            loop = self._loops[open_to_all]
            done = await loop.run(handle, limits.first_byte, price.wire_cap(limits))
            asked = Asked(request, route, target, started, begun)
            return await outcome(asked, handle, done, self._now(), self._redact)
        finally:
            self._give_back(open_to_all, request.route, handle)

    def _require_open(self) -> None:
        if self._closed:
            raise Refused("the fetcher is closed", Kind.INTERNAL, Blame.LOCAL)

    def _fields(self, request: Request) -> list[bytes]:
        """Header lines for libcurl; those of the request replace ours. Raises BadTarget."""
        if not request.headers:
            return self._own_fields
        given = {name.lower() for name, _ in request.headers}
        lines: list[bytes] = []
        for name, value in (
            *request.headers,
            *(f for f in self._own if f[0].lower() not in given),
        ):
            if not _FIELD.fullmatch(name) or _BREAKS.search(value):
                raise BadTarget(f"header field {name!r} can't be sent: it would break the request")
            line = f"{name}: {value}" if value else f"{name};"  # libcurl's way to send it empty
            lines.append(line.encode("latin-1", "replace"))
        return lines

    def _take(self, open_to_all: bool, route: str) -> Handle:
        if open_to_all not in self._loops:
            self._loops[open_to_all] = CurlLoop(self._max_idle)
        idle = self._idle.setdefault((open_to_all, route), [])
        if idle:
            return idle.pop()
        veto = None if open_to_all else self._reach.is_private
        return Handle(self._settings[route], self._loops[open_to_all].meter, veto)

    def _give_back(self, open_to_all: bool, route: str, handle: Handle) -> None:
        if self._closed:
            handle.close()
        else:
            self._idle[open_to_all, route].append(handle)


def _system_authorities() -> str | None:
    """The system's file of trusted authorities: the one built into the wheel may not exist."""
    return ssl.get_default_verify_paths().cafile
