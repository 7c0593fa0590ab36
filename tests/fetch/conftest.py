"""Loopback servers for the fetcher's tests; `import servers...` works from here on."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from recrawl.fetch.http import HttpFetcher
from recrawl.model import Limits
from servers.certificates import make_authority, server_context
from servers.fault import FaultServer
from servers.gateway import Gateway
from servers.proxies import PASSWORD, USER, HttpProxy, SocksProxy

AGENT = "recrawl-tests/1 (+mailto:nobody@example.org)"


@pytest.fixture(scope="session")
def faults():
    with FaultServer() as server:
        yield server


@pytest.fixture
def gateway(faults):
    """A counting gateway in front of the fault server."""
    with Gateway(faults.port) as gate:
        yield gate


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return make_authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="session")
def tls_faults(authority):
    with FaultServer(server_context(authority), name="localhost") as server:
        yield server


@pytest.fixture
def tls_gateway(tls_faults):
    with Gateway(tls_faults.port) as gate:
        yield gate


@pytest.fixture
def http_proxy():
    with HttpProxy() as proxy:
        yield proxy


@pytest.fixture
def socks_proxy():
    with SocksProxy() as proxy:
        yield proxy


@pytest.fixture
def secret(monkeypatch):
    """The name of the environment variable that holds the proxies' credentials."""
    monkeypatch.setenv("TEST_PROXY_SECRET", f"{USER}:{PASSWORD}")
    return "TEST_PROXY_SECRET"


@pytest.fixture(scope="session")
def make_fetcher(authority):
    """Makes a fetcher that may reach loopback, unless told otherwise."""

    def make(routes=None, **options):
        options.setdefault("allow_private", True)
        options.setdefault("ca_file", str(authority / "ca.crt"))
        return HttpFetcher(routes or {}, AGENT, **options)

    return make


@pytest.fixture(scope="session")
def short():
    """Limits that keep tests fast."""
    return Limits(
        body=1_000_000,
        decoded=4_000_000,
        head=65_536,
        connect=0.7,
        first_byte=0.7,
        total=1.0,
    )
