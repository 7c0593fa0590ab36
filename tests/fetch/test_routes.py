"""Routes and their credentials, which must not appear anywhere."""

import asyncio
import logging
from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.handle import Settings
from recrawl.fetch.routes import HIDDEN, Redactor, Route, RouteError, redact
from recrawl.model import Kind, Limits, Request


@pytest.mark.parametrize(
    "proxy",
    [
        "proxy.example:8080", "ftp://proxy.example:21", "socks5://proxy.example:1080",
        "http://proxy.example", "http://", "http://:80", "http://[::1", "http://p:99999",
    ],
)  # fmt: skip
def test_a_proxy_that_cannot_be_used_is_refused_with_its_route(proxy):
    with pytest.raises(RouteError, match="'eu'"):
        Route("eu", proxy)


def test_credentials_in_the_proxys_url_are_refused_without_repeating_them():
    with pytest.raises(RouteError, match="credentials_env") as caught:
        Route("eu", "http://ann:hunter2@proxy.example:8080")
    assert "hunter2" not in str(caught.value) and "ann" not in str(caught.value)


def test_credentials_without_a_proxy_are_a_mistake():
    with pytest.raises(RouteError, match="no proxy"):
        Route("direct", credentials_env="X")


def test_the_endpoint():
    assert Route("direct").endpoint() is None
    assert Route("eu", "https://Proxy.example:8443").endpoint() == ("proxy.example", 8443)
    assert Route("s", "socks5h://[::1]:1080").endpoint() == ("::1", 1080)
    assert [Route("s", f"{s}://p:1").socks for s in ("socks5h", "http")] == [True, False]


def test_credentials_come_from_the_environment():
    route = Route("eu", "http://p:1", credentials_env="SECRET")
    assert route.credentials({"SECRET": "ann:pa:ss"}) == ("ann", "pa:ss")
    for value in ("", "hunter2", ":hunter2"):
        with pytest.raises(RouteError, match="environment variable SECRET") as caught:
            route.credentials({"SECRET": value})
        assert "hunter2" not in str(caught.value)
    assert Route("eu", "http://p:1").credentials({}) is None


def test_credentials_come_from_a_file(tmp_path):
    file = tmp_path / "secret"
    route = Route("eu", "http://p:1", credentials_file=str(file))
    with pytest.raises(RouteError, match="No such file"):
        route.credentials()
    for bad in (b"", b"\n", b"hunter2\n", b"\xff\xfe:x"):
        file.write_bytes(bad)
        with pytest.raises(RouteError) as caught:
            route.credentials()
        assert "hunter2" not in str(caught.value)
    file.write_text("ann:s3cret\nother:line\n")
    assert route.credentials() == ("ann", "s3cret")


def test_nothing_that_is_printed_shows_them():
    route = Route("eu", "http://p:1", credentials_env="SECRET")
    settings = Settings(proxy="http://p:1", credentials=("ann", "s3cret"))
    shown = f"{route!r} {route} {settings!r} {settings} {Redactor([('ann', 's3cret')])!r}"
    assert "s3cret" not in shown and "ann" not in shown


WORD = st.text(min_size=1, max_size=12).filter(lambda t: ":" not in t)
BETWEEN = st.text("abc/?&= .:'\"", max_size=10)


@given(WORD, WORD, BETWEEN, BETWEEN)
def test_known_credentials_vanish_in_every_form(user, password, before, after):
    pair = f"{user}:{password}"
    forms = (password, pair, quote(password, safe=""), b64encode(pair.encode()).decode())
    hidden = Redactor([(user, password)])
    for form in forms:
        shown = hidden(f"{before}{form}{after}")
        assert form not in shown.replace(HIDDEN, "") or form in before + after
        assert HIDDEN in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("to http://ann:pw@h:1/x failed", "to http://***@h:1/x failed"),
        ("http://ann@h/", "http://***@h/"),
        ("http://a:b@c@h/", "http://***@h/"),
        ("http://h/@x", "http://h/@x"),
        ("write to me@example.org", "write to me@example.org"),
    ],
)
def test_credentials_in_any_url_vanish(text, shown):
    assert redact(text) == shown


def test_a_head_that_repeats_them_is_cleaned():
    hidden = Redactor([("ann", "s3cret")])
    raw = b"HTTP/1.1 407 No\r\nX-Said: ann:s3cret caf\xe9\r\n\r\n"
    assert hidden.head(raw) == b"HTTP/1.1 407 No\r\nX-Said: *** caf\xe9\r\n\r\n"
    assert redact.head(raw) == raw


def test_no_outcome_or_log_shows_them(make_fetcher, monkeypatch, caplog):
    """Every way that a proxied exchange can fail, and one that can't be made at all."""
    monkeypatch.setenv("PROXY_SECRET", "annabel:hunter2")
    caplog.set_level(logging.DEBUG)
    limits = Limits(connect=0.5, first_byte=0.5, total=0.5)

    async def run():
        route = Route("eu", "http://127.0.0.1:1", credentials_env="PROXY_SECRET")
        lost = Route("lost", "http://nothing.invalid:1", credentials_env="PROXY_SECRET")
        fetcher = make_fetcher({"eu": route, "lost": lost})
        requests = [
            Request("http://annabel:hunter2@site.example/hunter2", limits=limits, route="eu"),
            Request("http://hunter2.example/", limits=limits, route="lost"),
            Request("hunter2://annabel/", limits=limits, route="eu"),
            Request("http://127.0.0.1:1/", (("X hunter2", "a"),), limits, route="eu"),
            Request("http://127.0.0.1:1/", limits=limits, route="annabel:hunter2"),
        ]
        outcomes = [await fetcher.fetch(request) for request in requests]
        with monkeypatch.context() as patch:
            patch.setattr(fetcher, "_reach", None)  # a defect of ours: still an outcome
            outcomes.append(await fetcher.fetch(requests[0]))
        shown = repr(fetcher) + repr(outcomes) + repr(vars(fetcher)["_routes"])
        await fetcher.aclose()
        return outcomes, shown

    outcomes, shown = asyncio.run(run())
    assert [o.kind for o in outcomes] == [
        Kind.PROXY_ERROR, Kind.PROXY_ERROR, Kind.POLICY, Kind.POLICY, Kind.POLICY, Kind.INTERNAL,
    ]  # fmt: skip
    assert all(o.detail for o in outcomes)
    for secret in ("hunter2", "annabel"):
        assert secret not in shown + caplog.text
