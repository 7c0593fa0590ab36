"""Addresses, hosts, patterns, proxies and selectors of the project file, each checked alone.

The rules are those of the stages that use them; only the sentences are made here.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from recrawl.config.fields import each, shown, text, texts

_MAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+\Z")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PROXIES = ("http", "https", "socks5", "socks5h")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET = ("authorization", "proxy-authorization", "cookie")
_OURS = (
    "host", "connection", "content-length", "transfer-encoding", "user-agent", "accept-encoding",
    "if-none-match", "if-modified-since",
)  # fmt: skip
_SELECTORS = ("css", "jsonld")


def seeds(value: object) -> tuple[str, ...]:
    """Absolute http or https URLs, as written."""
    return tuple(dict.fromkeys(each(texts(value), _seed)))


def _seed(url: str) -> str:
    from recrawl.model import Refusal
    from recrawl.urls.canonical import Normalizer

    found = Normalizer().normalize(url)
    if isinstance(found, Refusal):
        detail = f" ({found.detail})" if found.detail else ""
        whole = url if "://" in url else f"https://{url.lstrip('/')}"
        usable = not isinstance(Normalizer().normalize(whole), Refusal)
        example = whole if usable and whole != url else "https://example.com/"
        raise ValueError(f"{shown(url)}: {found.reason}{detail}; write it as in {example!r}")
    if found.userinfo:
        raise ValueError(
            "a seed's user and password never stand in this file (and are not sent); remove them"
        )
    return url


def host_of(seed: str) -> str:
    """The host name of a checked seed: ASCII, no port, IPv6 in brackets."""
    from recrawl.model import Address
    from recrawl.urls.canonical import Normalizer

    found = Normalizer().normalize(seed)
    return found.hostname if isinstance(found, Address) else ""


def scope_of(seed: str) -> tuple[str, ...]:
    """What of a checked seed's site is in scope unless configured: its host, on any port.

    A private host is in scope only on the seed's own port (80 and 443 being one): what else
    listens on an inner machine is not for a page's links to reach.
    """
    from recrawl.frontier.admit import same_port
    from recrawl.frontier.private import is_private_literal
    from recrawl.model import Address
    from recrawl.urls.canonical import Normalizer

    found = Normalizer().normalize(seed)
    if not isinstance(found, Address):
        return ()
    if not is_private_literal(found.hostname):
        return (found.hostname,)
    return tuple(f"{found.hostname}:{port}" for port in same_port(found.port))


def is_loopback(seed: str) -> bool:
    """Does it lead to this machine, whatever a name server says?"""
    host = host_of(seed).strip("[]").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def contact(value: object) -> str:
    """A mail address or a web page at which the crawler's owner can be reached."""
    who = text(value)
    if _MAIL.match(who) or (who.startswith(("http://", "https://")) and host_of(who)):
        return who
    raise ValueError(
        f"{shown(value)} is no contact; write a mail address or the URL of a page about your bot"
    )


def scope(value: object) -> tuple[str, ...]:
    """'example.com', '*.example.com', 'example.com:8080' or '*'."""
    from recrawl.frontier.admit import Scope

    patterns = texts(value)
    each(patterns, lambda pattern: Scope([pattern]))
    if not patterns:
        raise ValueError("is empty; name a host, or leave the line out for the seeds' hosts")
    return patterns


def hosts(value: object) -> tuple[str, ...]:
    """Host names alone, in ASCII."""
    return tuple(dict.fromkeys(each(texts(value), _host)))


def _host(item: str) -> str:
    from recrawl.urls.canonical import Normalizer

    name = host_of(f"http://{item}/") if not re.search(r"[/?#@\\]", item) else ""
    if not name or ":" in item.rpartition("]")[2]:
        whole = item if "://" in item else f"http://{item}"
        guess = getattr(Normalizer().normalize(whole), "hostname", "") or "example.com"
        raise ValueError(f"{shown(item)} is no host name; write it as in {guess!r}")
    return name


def tracking(value: object) -> tuple[str, ...]:
    """Names of query parameters: 'name', 'name@host', 'prefix_*'."""
    from recrawl.urls.tracking import TrackingRules

    entries = texts(value)
    each(entries, lambda entry: TrackingRules.none().extended([entry]))
    return entries


def proxy(value: object) -> str:
    """The URL of a proxy, which must not hold credentials (so a bad one is not repeated)."""
    url = text(value)
    try:
        parts = urlsplit(url)
        usable = bool(parts.scheme in _PROXIES and parts.hostname and parts.port)
    except ValueError:
        usable = False
    if "@" in url:
        raise ValueError(
            "a proxy's user and password never stand in this file; put 'user:password' into an "
            "environment variable and write its name as credentials_env"
        )
    if not usable:
        raise ValueError(f"not the URL of a proxy; write '{'|'.join(_PROXIES)}://host:port'")
    return url


def header(value: object) -> tuple[str, str]:
    """'Name: value', of a header that a request may add."""
    name, colon, rest = text(value).partition(":")
    name, rest = name.strip(), rest.strip()
    if not colon or not rest or not _TOKEN.fullmatch(name) or not rest.isascii():
        raise ValueError(f"{shown(value)} is no header; write it as in 'X-Render: true'")
    if name.lower() in _SECRET or name.lower() in _OURS:
        why = "holds credentials" if name.lower() in _SECRET else "is set by the crawler"
        raise ValueError(f"{name} {why}; write the vendor's own header, as in 'X-Render: true'")
    return name, rest


def env_name(value: object) -> str:
    """The name of an environment variable (a bad one may be its value, so it is not repeated)."""
    if isinstance(value, str) and _ENV.match(value):
        return value
    raise ValueError(
        "not the name of an environment variable; write the name, as in 'PROXY_LOGIN', and put "
        "'user:password' into that variable"
    )


def selectors(value: object) -> tuple[tuple[str, str], ...]:
    """{name = 'css:...' | 'jsonld:...'} -> ((name, selector), ...)."""
    if not isinstance(value, dict):
        raise ValueError(f"{shown(value)} is no table; write {{ price = 'css:.price' }}")
    return each(value.items(), lambda pair: (text(pair[0]), _selector(pair[1])))


def _selector(item: object) -> str:
    selector = text(item)
    kind, colon, rest = selector.partition(":")
    if not colon or kind not in _SELECTORS or not rest.strip():
        raise ValueError(f"{shown(item)} is no selector; write 'css:...' or 'jsonld:a.path'")
    return selector


def patterns(value: object) -> tuple[str, ...]:
    """Path patterns in robots syntax, or 'param:name'."""
    from recrawl.urls.match import PathPattern

    return each(texts(value), lambda item: PathPattern(item).text)


def site_match(value: object) -> str:
    """'host/path*': which pages a site entry speaks of."""
    from recrawl.urls.match import SiteMatcher, SiteRule

    pattern = text(value)
    SiteMatcher([SiteRule(pattern)])
    return pattern
