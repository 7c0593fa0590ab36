"""A URL as asked -> exactly what libcurl gets, so that no two parsers disagree on its host."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address

_URL = re.compile(
    r"(https?)://(?:[^/?#\\\s]*@)?"
    r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5})?)?"
    r"([/?#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN = re.compile(r"[\x21-\x7e]+")
_UNSAFE = re.compile(rb"[^\x21-\x7e]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)


class BadTarget(ValueError):  # noqa: N818 - the field's word
    """A URL that is never asked for; the message says why, without repeating the URL."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `url` is rebuilt from the parts: no user name, no fragment."""

    scheme: str
    host: str  # lower-case, without brackets
    port: int
    url: str
    literal: bool  # the host is an IP address, or a number that a resolver would take for one

    @property
    def tls(self) -> bool:
        """True for https."""
        return self.scheme == "https"


def parse_target(url: str) -> Target:
    """Raises BadTarget on anything but http and https with a plain ASCII host and a real port.

    Path and query go out byte for byte; what can't stand in a request line (spaces, controls,
    non-ASCII) is percent-encoded as UTF-8. A user name or password is left out, never sent.

    >>> parse_target("http://user:pw@Example.com?q=a b#top").url
    'http://example.com/?q=a%20b'
    """
    match = _URL.fullmatch(url)
    if match is None:
        scheme = _SCHEME.match(url)
        if scheme is not None and scheme[1].lower() not in ("http", "https"):
            raise BadTarget(f"scheme {scheme[1].lower()!r} is not fetched, only http and https")
        raise BadTarget("no host that can be fetched; write it as http://host/path")
    scheme_name, host, written, rest = match.groups("")
    scheme_name, host = scheme_name.lower(), host.lower()
    default = 443 if scheme_name == "https" else 80
    port = int(written) if written else default
    if not 0 < port < 65_536:
        raise BadTarget(f"port {port} does not exist")
    bare = host.strip("[]")
    literal = _is_literal(bare)
    if (host[0] == "[" and ":" not in bare) or (":" in bare and not literal):
        raise BadTarget("what stands in brackets is no IPv6 address")
    path = rest.partition("#")[0]
    if not path.startswith("/"):
        path = "/" + path
    if not _PLAIN.fullmatch(path):
        path = _UNSAFE.sub(lambda m: b"%%%02X" % m[0][0], path.encode("utf-8", "replace")).decode()
    authority = host if port == default else f"{host}:{port}"
    return Target(scheme_name, bare, port, f"{scheme_name}://{authority}{path}", literal)


@lru_cache(4096)
def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        last = host.rstrip(".").rpartition(".")[2]  # WHATWG: a host that ends in a number
        return last.isdigit() or last.startswith("0x")
    return True
