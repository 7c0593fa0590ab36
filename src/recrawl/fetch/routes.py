"""The ways to a site: direct or through a proxy, with credentials that are never written down."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

PROXY_SCHEMES = ("http", "https", "socks5h")
HIDDEN = "***"
_USERINFO = re.compile(r"(?<=//)[^/?#\s'\"]*@")


class RouteError(ValueError):
    """A route that can't be used; the message names it and the fix, never a credential."""


@dataclass(frozen=True, slots=True)
class Route:
    """A named way to a site.

    `proxy` is a URL without credentials; socks5h alone of the SOCKS family, because the proxy
    shall resolve the target's name. `user:password` is read from the environment variable
    `credentials_env` or the first line of the file `credentials_file`, when the fetcher is made.
    `tls_groups` (such as 'X25519:P-256') leaves out the post-quantum key share: about 1.1 kB less
    each way per new TLS connection, for routes billed by the byte, at its price in secrecy.
    """

    name: str
    proxy: str | None = None
    credentials_env: str | None = None
    credentials_file: str | None = None
    tls_groups: str | None = None

    def __post_init__(self) -> None:
        if self.proxy is None:
            if self.credentials_env or self.credentials_file:
                raise RouteError(f"route {self.name!r} has credentials but no proxy: add `proxy`")
            return
        try:
            parts = urlsplit(self.proxy)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise RouteError(f"route {self.name!r}: its proxy is no URL") from None
        if "@" in self.proxy:
            raise RouteError(
                f"route {self.name!r}: the proxy's URL holds credentials; put them into an "
                "environment variable and name it in `credentials_env`"
            )
        if parts.scheme not in PROXY_SCHEMES or not host or not port:
            raise RouteError(
                f"route {self.name!r}: write the proxy as scheme://host:port, "
                f"the scheme one of {', '.join(PROXY_SCHEMES)}"
            )

    @property
    def socks(self) -> bool:
        """True where the proxy speaks SOCKS5 and resolves names itself."""
        return self.proxy is not None and self.proxy.startswith("socks5h:")

    def endpoint(self) -> tuple[str, int] | None:
        """Host and port of the proxy, None where the way is direct."""
        if self.proxy is None:
            return None
        parts = urlsplit(self.proxy)
        return parts.hostname or "", parts.port or 0

    def credentials(self, environ: Mapping[str, str] = os.environ) -> tuple[str, str] | None:
        """(user, password), or None where the route names none. Raises RouteError."""
        if self.credentials_env:
            secret = environ.get(self.credentials_env, "")
            source = f"environment variable {self.credentials_env}"
        elif self.credentials_file:
            source = f"file {self.credentials_file}"
            try:
                lines = Path(self.credentials_file).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
                raise RouteError(f"route {self.name!r}: {source}: {reason}") from None
            secret = lines[0] if lines else ""
        else:
            return None
        user, colon, password = secret.strip().partition(":")
        if not user or not colon:
            raise RouteError(f"route {self.name!r}: set {source} to user:password")
        return user, password


class Redactor:
    """Takes credentials out of text: the known ones in every form they travel in, and any others
    that stand in a URL.

    >>> Redactor([("ann", "s3cret")])("proxy http://bob:pw@h:1 said ann:s3cret")
    'proxy http://***@h:1 said ***'
    """

    def __init__(self, credentials: Iterable[tuple[str, str]] = ()) -> None:
        forms: set[str] = set()
        for user, password in credentials:
            pair = f"{user}:{password}"
            whole = (pair, password, user, b64encode(pair.encode()).decode())
            forms.update(form for text in whole for form in (text, quote(text, safe="")) if form)
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        text = _USERINFO.sub(HIDDEN + "@", text)
        return self._known.sub(HIDDEN, text) if self._known else text

    def head(self, raw: bytes) -> bytes:
        """A raw head without the known credentials: a proxy may repeat them, and it is kept."""
        if self._known is None:
            return raw
        return self._known.sub(HIDDEN, raw.decode("latin-1")).encode("latin-1")

    def __repr__(self) -> str:
        return "Redactor()"


redact = Redactor()
"""For text where no credentials are known: those in URLs."""
