"""Private addresses are refused wherever a name leads there: before sending, and on connecting."""

import asyncio

import pycurl
import pytest

from fetch.wire import ask, serve
from recrawl.fetch.curl import CurlLoop
from recrawl.fetch.handle import Handle, Settings
from recrawl.fetch.resolve import Resolver
from recrawl.frontier.private import is_private_ip
from recrawl.model import Blame, Kind


class Rebinding:
    """A name server whose answers follow each other; the last one stays."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, host):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def only_home_is_private(ip):
    """Stands in for the public Internet, which tests don't reach: 127.0.0.2 is 'public'."""
    return ip != "127.0.0.2"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "10.0.0.1", "192.168.1.1", "169.254.169.254", "[::ffff:127.0.0.1]",
     "0.0.0.0", "2130706433", "0x7f.1", "127.1", "017700000001", "[fe80::1]", "100.64.0.1"],
)  # fmt: skip
def test_private_literals_are_refused_before_sending(make_fetcher, short, host):
    (outcome,) = serve(make_fetcher, ask(f"http://{host}/", short), allow_private=False)
    assert (outcome.kind, outcome.blame) == (Kind.POLICY, Blame.NOBODY)
    assert outcome.cost.bytes == outcome.cost.connects == 0


def test_a_name_that_leads_home_is_refused(make_fetcher, faults, short):
    before = len(faults.requests)
    for answers in (("127.0.0.1",), ("10.0.0.7", "::1")):
        (outcome,) = serve(
            make_fetcher,
            ask(f"http://evil.example:{faults.port}/ok", short),
            allow_private=False,
            resolver=Resolver(Rebinding(answers)),
        )
        assert outcome.kind is Kind.POLICY and answers[0] in outcome.detail
    assert len(faults.requests) == before


def test_a_request_or_a_project_may_allow_it(make_fetcher, faults, short):
    home = ("127.0.0.1",)
    url = f"http://intranet.example:{faults.port}/ok"
    (seed,) = serve(
        make_fetcher,
        ask(url, short, private_ok=True),
        allow_private=False,
        resolver=Resolver(Rebinding(home)),
    )
    (allowed,) = serve(make_fetcher, ask(url, short), resolver=Resolver(Rebinding(home)))
    assert seed.kind is allowed.kind is Kind.OK


def test_of_mixed_addresses_only_the_public_ones_are_tried(make_fetcher, faults, short):
    lookup = Rebinding(("127.0.0.1", "127.0.0.2"))
    (outcome,) = serve(
        make_fetcher,
        ask(f"http://mixed.example:{faults.port}/ok", short),
        allow_private=False,
        is_private=only_home_is_private,
        resolver=Resolver(lookup),
    )
    assert outcome.kind is Kind.CONNECT_ERROR  # nobody listens on 127.0.0.2; home was not tried


@pytest.fixture(scope="module")
def everywhere():
    """A server on all of loopback: 127.0.0.1 is 'home', 127.0.0.2 'public'."""
    from servers.fault import FaultServer

    with FaultServer(host="0.0.0.0") as server:
        yield server


def test_a_name_that_is_bound_anew_between_check_and_connect_changes_nothing(
    make_fetcher, everywhere, short
):
    """The address that was checked is the one that is connected to, however the name moves."""
    lookup = Rebinding(("127.0.0.2",), ("127.0.0.1",))
    request = ask(f"http://rebind.example:{everywhere.port}/ok-close", short)
    outcomes = serve(
        make_fetcher,
        *[request] * 3,
        allow_private=False,
        is_private=only_home_is_private,
        resolver=Resolver(lookup, ttl=0.0),  # every request asks the name server again
    )
    assert [(o.kind, o.final_ip) for o in outcomes[:1]] == [(Kind.OK, "127.0.0.2")]
    assert [o.kind for o in outcomes[1:]] == [Kind.POLICY] * 2


def test_a_connection_that_a_trusted_request_opened_is_not_for_others(
    make_fetcher, everywhere, short
):
    """First home, for a seed; then the name turns public: the kept connection still leads home."""
    lookup = Rebinding(("127.0.0.1",), ("127.0.0.2",))
    url = f"http://rebind.example:{everywhere.port}/ok"
    trusted, discovered = serve(
        make_fetcher,
        ask(url, short, private_ok=True),
        ask(url, short),
        allow_private=False,
        is_private=only_home_is_private,
        resolver=Resolver(lookup, ttl=0.0),
    )
    assert (trusted.kind, trusted.final_ip) == (Kind.OK, "127.0.0.1")
    assert (discovered.kind, discovered.final_ip) == (Kind.OK, "127.0.0.2")
    assert discovered.cost.connects == 1


def test_the_veto_on_connecting_holds_by_itself(everywhere):
    """Whatever libcurl thinks a name means (here: pinned home), it gets no socket."""

    async def run(veto):
        loop = CurlLoop(4)
        handle = Handle(Settings(), loop.meter, veto)
        port = everywhere.port
        handle.aim(f"http://x.test:{port}/ok", [], f"x.test:{port}:127.0.0.1", 65_536, 10**6)
        handle.limit(1.0, 1.0)
        done = await loop.run(handle, 1.0, 10**7)
        loop.close()
        ended = (done.code, handle.vetoed, handle.opened, done.up)
        handle.close()
        return ended

    before = len(everywhere.requests)
    code, vetoed, opened, up = asyncio.run(run(is_private_ip))
    assert (code, vetoed, opened, up) == (pycurl.E_COULDNT_CONNECT, "127.0.0.1", 0, 0)
    assert len(everywhere.requests) == before
    assert asyncio.run(run(None))[0] == 0  # without it, it would have gone through


def test_a_vetoed_connection_ends_as_a_refusal(make_fetcher, everywhere, short, monkeypatch):
    """A resolver's check that fails to see it (a defect) is caught by the veto."""
    from recrawl.fetch import reach

    monkeypatch.setattr(reach.Reach, "pin", _pin_home)
    (outcome,) = serve(
        make_fetcher, ask(f"http://x.test:{everywhere.port}/ok", short), allow_private=False
    )
    assert (outcome.kind, outcome.blame, outcome.cost.bytes) == (Kind.POLICY, Blame.NOBODY, 0)
    assert "127.0.0.1" in outcome.detail


async def _pin_home(self, route, target, seconds, *, trusted):
    return f"{target.host}:{target.port}:127.0.0.1"
