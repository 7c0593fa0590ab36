"""Private hosts: every way to write one that a hostile page could link to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.private import LOCAL_SUFFIXES, is_private_ip, is_private_literal

PRIVATE_IPS = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",  # shared address space of carriers
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",  # cloud metadata
    "172.16.0.1",
    "172.31.255.255",
    "192.0.2.1",  # documentation
    "192.168.1.1",
    "198.18.0.1",  # benchmarks
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fc00::1",
    "fd00:ec2::254",  # cloud metadata over IPv6
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "4000::1",  # reserved, not allocated
    "::ffff:127.0.0.1",  # IPv4-mapped
    "::ffff:a00:1",
    "::127.0.0.1",  # IPv4-compatible
    "64:ff9b::10.0.0.1",  # NAT64
    "2002:7f00:1::",  # 6to4 of 127.0.0.1
]
PUBLIC_IPS = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"]


@pytest.mark.parametrize("ip", PRIVATE_IPS)
def test_private_ips(ip: str) -> None:
    assert is_private_ip(ip)
    assert is_private_literal(f"[{ip}]" if ":" in ip else ip)


@pytest.mark.parametrize("ip", [*PUBLIC_IPS, "64:ff9b::8.8.8.8", "2002:808:808::"])
def test_public_ips(ip: str) -> None:
    assert not is_private_ip(ip)
    assert not is_private_literal(f"[{ip}]" if ":" in ip else ip)


@pytest.mark.parametrize("text", ["", "not an ip", "1.2.3", "1.2.3.4.5", "[::1", "12345::"])
def test_what_cannot_be_judged_is_private(text: str) -> None:
    assert is_private_ip(text)


def test_address_objects_are_taken_too() -> None:
    assert is_private_ip(IPv4Address("10.1.2.3"))
    assert is_private_ip(IPv6Address("::1"))
    assert not is_private_ip(ip_address("9.9.9.9"))


@pytest.mark.parametrize(
    "name",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "app.localhost",
        "printer",
        "printer.",
        "printer.local",
        "Printer.Local.",
        "metadata.google.internal",
        "router.home.arpa",
        "",
        ".",
    ],
)
def test_local_only_names(name: str) -> None:
    assert is_private_literal(name)


@pytest.mark.parametrize(
    "name",
    [
        "example.com",
        "example.com.",
        "localhost.example.com",
        "notlocal.example",
        "mylocal.dev",
        "internal.example.com",
        "xn--bcher-kva.example",
        "1.2.3.4.example.com",
        "a.b-internal",
    ],
)
def test_public_names(name: str) -> None:
    assert not is_private_literal(name)


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "10.0.0x1", "1.2.3.4.5", "017700000001"])
def test_numeric_forms_left_over_are_tricks(host: str) -> None:
    """A resolver would read them as addresses, so they may not pass for names."""
    assert is_private_literal(host)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "017700000001",
        "127.1",
        "0177.0.0.1",
        "%31%32%37.0.0.1",
        "①②⑦.0.0.1",
    ],
)
def test_disguised_loopback_is_seen_after_normalization(host: str) -> None:
    assert is_private_literal(ada_url.URL(f"http://{host}/").hostname)


@given(st.integers(0, 2**32 - 1))
def test_an_embedded_address_is_as_private_as_itself(n: int) -> None:
    v4 = IPv4Address(n)
    mapped = IPv6Address((0xFFFF << 32) | n)
    nat64 = IPv6Address((0x64FF9B << 96) | n)
    assert is_private_ip(mapped) == is_private_ip(v4)
    assert is_private_ip(nat64) == is_private_ip(v4)


@given(st.sampled_from(LOCAL_SUFFIXES), st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True))
def test_every_name_under_a_local_suffix(suffix: str, label: str) -> None:
    assert is_private_literal(f"{label}.{suffix}")
    assert not is_private_literal(f"{label}.{suffix}.example.com")


@given(st.text(max_size=40))
def test_never_raises(text: str) -> None:
    assert is_private_ip(text) in (True, False)
    assert is_private_literal(text) in (True, False)
