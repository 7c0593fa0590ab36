"""What a request may reach: the addresses it is pinned to, or why it is not sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recrawl.fetch.resolve import ResolveError, Resolver
from recrawl.fetch.routes import Route
from recrawl.fetch.target import Target
from recrawl.frontier.private import is_private_literal
from recrawl.model import Blame, Kind


class Refused(Exception):  # noqa: N818 - the field's word
    """A request that is not sent at all, and the outcome it ends in."""

    def __init__(self, detail: str, kind: Kind = Kind.POLICY, blame: Blame = Blame.NOBODY) -> None:
        super().__init__(detail)
        self.kind = kind
        self.blame = blame


@dataclass(frozen=True, slots=True)
class Reach:
    """Resolves names and refuses private addresses."""

    resolver: Resolver
    is_private: Callable[[str], bool]

    async def pin(
        self, route: Route, target: Target, seconds: float, *, trusted: bool
    ) -> str | None:
        """What libcurl shall connect to, as 'host:port:address,...' (None: the host is one).

        Raises Refused: unless `trusted`, for a target that leads to private addresses only, and
        behind a proxy, which resolves names itself, for IP literals and local-only names. A
        proxy's own address may be private.
        """
        endpoint = route.endpoint()
        if endpoint is not None:
            if not trusted and (target.literal or is_private_literal(target.host)):
                raise Refused(f"{target.host} is not asked for through a proxy: it may be private")
            return await self._pin_proxy(endpoint, seconds)
        if target.literal:
            if not trusted and self.is_private(target.host):
                raise Refused(f"{target.host} is a private address")
            return None
        try:
            found = await self.resolver.addresses(target.host, seconds)
        except ResolveError as error:
            raise Refused(str(error), Kind.DNS_ERROR, error.blame) from None
        if not trusted:
            public = tuple(ip for ip in found if not self.is_private(ip))
            if not public:
                raise Refused(f"{target.host} leads to the private address {found[0]}")
            found = public
        return _entry(target.host, target.port, found)

    async def _pin_proxy(self, endpoint: tuple[str, int], seconds: float) -> str | None:
        host, port = endpoint
        if ":" in host or host.replace(".", "").isdigit():
            return None
        try:
            return _entry(host, port, await self.resolver.addresses(host, seconds))
        except ResolveError as error:
            raise Refused(f"proxy {error}", Kind.PROXY_ERROR, Blame.ROUTE) from None


def _entry(host: str, port: int, addresses: tuple[str, ...]) -> str:
    written = ",".join(f"[{ip}]" if ":" in ip else ip for ip in addresses)
    return f"{host}:{port}:{written}"
