"""The default fetcher passes the port's suite, and the suite fails fetchers that don't."""

import asyncio
from dataclasses import replace

import pytest

from recrawl.model import Kind, Outcome, WireCost
from recrawl.testing.fetcher import FetcherContract


class TestHttpFetcher(FetcherContract):
    @pytest.fixture(autouse=True)
    def _maker(self, make_fetcher):
        self.make = make_fetcher


class Spoiled:
    """A good fetcher with one fault."""

    name = "spoiled"

    def __init__(self, inner, spoil):
        self.inner, self.spoil = inner, spoil
        self.quote, self.aclose = inner.quote, inner.aclose

    async def fetch(self, request):
        return self.spoil(await self.inner.fetch(request))


SPOILS = {
    "a_page_is_got_whole_and_paid_for": lambda o: replace(o, cost=WireCost()),
    "statuses_become_kinds": lambda o: replace(o, kind=Kind.OK),
    "conditional_headers_go_out_verbatim": lambda o: replace(o, kind=Kind.OK),
    "no_redirect_is_followed": lambda o: replace(o, location=None),
    "failures_are_outcomes": lambda o: replace(o, cost=WireCost(up=0)),
    "the_body_cap_holds": lambda o: replace(o, wire_body=bytes(300_000)),
    "a_quote_bounds_the_cost": lambda o: replace(o, cost=WireCost(up=10**9)),
    "cancelling_leaves_it_serving": lambda o: Outcome(Kind.INTERNAL, WireCost()),
}


@pytest.mark.parametrize("test", SPOILS)
def test_the_suite_fails_a_spoiled_fetcher(make_fetcher, test):
    suite = FetcherContract()
    suite.make = lambda: Spoiled(make_fetcher(), SPOILS[test])
    with pytest.raises(AssertionError):
        getattr(suite, f"test_{test}")()


def test_the_suite_fails_a_fetcher_that_follows_redirects_or_keeps_cookies(make_fetcher):
    class Wandering(Spoiled):
        async def fetch(self, request):
            first = await self.inner.fetch(request)
            cookie = first.header("set-cookie")
            if first.location:
                await self.inner.fetch(replace(request, url=request.url.replace("moved", "page")))
            if cookie:
                await self.inner.fetch(replace(request, headers=(("Cookie", cookie),)))
            return first

    suite = FetcherContract()
    suite.make = lambda: Wandering(make_fetcher(), None)
    for test in (suite.test_no_redirect_is_followed, suite.test_no_cookie_is_sent_back):
        with pytest.raises(AssertionError):
            test()


def test_the_suite_says_what_to_define():
    with pytest.raises(TypeError, match="must define make"):
        FetcherContract().test_it_can_be_closed_twice()


def test_a_closed_fetcher_refuses_and_says_so(make_fetcher):
    async def use():
        fetcher = make_fetcher()
        await fetcher.aclose()
        return await fetcher.fetch(_request())

    def _request():
        from recrawl.model import Request

        return Request("http://127.0.0.1:1/")

    outcome = asyncio.run(use())
    assert (outcome.kind, outcome.detail) == (Kind.INTERNAL, "the fetcher is closed")
