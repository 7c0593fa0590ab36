"""Which hosts and IP addresses are private: never visited because a page merely links to them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address
_COMPATIBLE = IPv6Network("::/96")  # RFC 4291 2.5.5.1, deprecated but still routed by some stacks

LOCAL_SUFFIXES = ("localhost", "local", "internal", "home.arpa")
"""Names never delegated in the public DNS: RFC 6761, RFC 6762, ICANN 2024, RFC 8375."""


def is_private_ip(ip: str | IPv4Address | IPv6Address) -> bool:
    """True for every address that is no public unicast one, or that carries such an IPv4 address.

    Loopback, private, link-local (cloud metadata), shared, reserved, multicast, unspecified; for
    IPv6 also what an IPv4-mapped, IPv4-compatible, NAT64 or 6to4 address leads to. Text that is
    no IP address is private: what can't be judged isn't visited.

    >>> [is_private_ip(ip) for ip in ("169.254.169.254", "::ffff:10.0.0.1", "8.8.8.8")]
    [True, True, False]
    """
    if isinstance(ip, str):
        try:
            ip = ip_address(ip.strip("[]"))
        except ValueError:
            return True
    if isinstance(ip, IPv6Address):
        inner = _embedded(ip)
        if inner is not None:
            return is_private_ip(inner)
        if ip.is_site_local:
            return True
    return not ip.is_global or ip.is_multicast or ip.is_reserved


def _embedded(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for, if any."""
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    if ip in _NAT64 or (ip in _COMPATIBLE and int(ip) > 1):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def is_private_literal(hostname: str) -> bool:
    """True where the hostname alone shows that the host isn't on the public Internet.

    Private IP literals (IPv6 in brackets or not), single-label names, `LOCAL_SUFFIXES`, and
    numeric forms that only a resolver would accept ('127.1', '0x7f.1'): the WHATWG parser has
    already turned those of valid URLs into dotted decimals, so one that is left is a trick.

    >>> [is_private_literal(h) for h in ("[::1]", "printer", "db.internal", "example.com")]
    [True, True, True, False]
    """
    name = hostname.rstrip(".").lower()
    if not name or ":" in name:
        return is_private_ip(name)
    last = name.rpartition(".")[2]
    if last.isdecimal() or last.startswith("0x"):
        return is_private_ip(name)
    return last == name or any(name.endswith("." + suffix) for suffix in LOCAL_SUFFIXES)
