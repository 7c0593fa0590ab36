"""URLs on their way out: byte for byte, never a user name, and one reading of the host."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.target import BadTarget, parse_target


@pytest.mark.parametrize(
    ("given_url", "sent"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTP://Example.COM:80/A%2fb", "http://example.com/A%2fb"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://example.com?q", "http://example.com/?q"),
        ("http://example.com/a?", "http://example.com/a?"),
        ("http://example.com/../a/./b", "http://example.com/../a/./b"),
        ("http://example.com/a|b%zz'\"{}", "http://example.com/a|b%zz'\"{}"),
        ("http://example.com/a#b?c", "http://example.com/a"),
        ("http://u:p@example.com/", "http://example.com/"),
        ("http://u:p@x@example.com/", "http://example.com/"),
        ("http://example.com/ñ é", "http://example.com/%C3%B1%20%C3%A9"),
        ("http://example.com/a\r\nX: b", "http://example.com/a%0D%0AX:%20b"),
        ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/"),
        ("http://a_b.example./", "http://a_b.example./"),
        ("http://example.com:/", "http://example.com/"),
    ],
)
def test_what_is_sent(given_url, sent):
    assert parse_target(given_url).url == sent


@pytest.mark.parametrize(
    "url",
    [
        "", "x", "/path", "//host/", "http:", "http://", "http:///a", "http:example.com",
        "http://exa mple.com/", "http://example.com:port/", "http://example.com:99999/",
        "http://example.com:0/", "http://good.test\\@127.0.0.1/", "http://a%2eb/",
        "http://bücher.example/", "http://[::1/", "http://[zz]/", "http://[1.2.3]/",
        "http://a\r\nb/", "http://@/", "http://user@/", "http://a\t.b/",
        "file:///etc/passwd", "ftp://x/y", "javascript:alert(1)", "data:,x", "gopher://x:70/_",
    ],
)  # fmt: skip
def test_what_is_never_asked_for(url):
    with pytest.raises(BadTarget):
        parse_target(url)


def test_the_reason_names_the_scheme_and_no_secret():
    with pytest.raises(BadTarget, match="'ftp'"):
        parse_target("ftp://user:hunter2@x/")
    with pytest.raises(BadTarget) as caught:
        parse_target("http://user:hunter2@bad host/")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "literal"),
    [
        ("127.0.0.1", True), ("[::1]", True), ("2130706433", True), ("127.1", True),
        ("0x7f.1", True), ("0x7f000001", True), ("1.2.3.4.", True), ("017700000001", True),
        ("example.com", False), ("1.example", False), ("localhost", False), ("x0", False),
    ],
)  # fmt: skip
def test_numbers_are_literals(host, literal):
    assert parse_target(f"http://{host}/").literal is literal


def test_the_parts():
    target = parse_target("https://Example.com:8443/a?b")
    assert (target.scheme, target.host, target.port, target.tls) == (
        "https", "example.com", 8443, True,
    )  # fmt: skip
    assert parse_target("http://[::1]/x").host == "::1"


HOSTISH = st.text("abz019.-_[]:@/\\#?% \r\n\tñ'\"", max_size=30)


@given(HOSTISH, HOSTISH)
def test_whatever_passes_is_read_alike_by_another_parser(authority, rest):
    try:
        target = parse_target(f"http://{authority}/{rest}")
    except BadTarget:
        return
    other = urlsplit(target.url)
    assert (other.hostname, other.port or 80, other.username) == (target.host, target.port, None)
    assert target.url.isascii() and not any(c <= " " for c in target.url)
    assert "@" not in other.netloc and other.fragment == ""


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_refused(text):
    try:
        assert parse_target(text).url.startswith(("http://", "https://"))
    except BadTarget as error:
        assert str(error)


@given(st.from_regex(r"/[\x21-\x22\x24-\x7e]{0,60}", fullmatch=True))
def test_printable_paths_go_out_byte_for_byte(path):
    assert parse_target("http://example.com" + path).url == "http://example.com" + path
