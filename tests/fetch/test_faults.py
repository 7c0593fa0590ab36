"""libcurl's codes and words: the map, on the words that the bundled libcurl says."""

import pycurl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.faults import fault
from recrawl.model import Blame, Kind

RESET = "Recv failure: Connection reset by peer"
TARGET, ROUTE, LOCAL, NOBODY = Blame.TARGET, Blame.ROUTE, Blame.LOCAL, Blame.NOBODY


@pytest.mark.parametrize(
    ("code", "text", "answered", "ending"),
    [
        (1, 'Protocol "ftp" not supported', False, (Kind.POLICY, NOBODY)),
        (1, "Received HTTP/0.9 when not allowed", False, (Kind.PROTOCOL_ERROR, TARGET)),
        (1, "Unsupported HTTP/1 subversion in response", False, (Kind.PROTOCOL_ERROR, TARGET)),
        (3, "URL rejected: Malformed input", False, (Kind.POLICY, NOBODY)),
        (6, "Could not resolve host: x", False, (Kind.DNS_ERROR, TARGET)),
        (7, "Failed to connect", False, (Kind.CONNECT_ERROR, TARGET)),
        (8, "Header without colon", True, (Kind.PROTOCOL_ERROR, TARGET)),
        (18, "end of response with 30000 bytes missing", True, (Kind.INCOMPLETE, TARGET)),
        (28, "Operation timed out", True, (Kind.TIMEOUT, TARGET)),
        (35, "TLS connect error", False, (Kind.TLS_ERROR, TARGET)),
        (42, "the fetcher was closed", False, (Kind.INTERNAL, LOCAL)),
        (52, "Empty reply from server", False, (Kind.CONNECT_ERROR, TARGET)),
        (55, "Send failure: Broken pipe", False, (Kind.CONNECT_ERROR, TARGET)),
        (56, RESET, False, (Kind.CONNECT_ERROR, TARGET)),
        (56, RESET, True, (Kind.INCOMPLETE, TARGET)),
        (56, "chunk hex-length longer than 17", True, (Kind.PROTOCOL_ERROR, TARGET)),
        (56, "Too large response headers: 307201 > 307200", True, (Kind.PROTOCOL_ERROR, TARGET)),
        (60, "SSL certificate problem", False, (Kind.TLS_ERROR, TARGET)),
        (63, "Exceeded the maximum allowed file size", True, (Kind.CAPPED, TARGET)),
        (77, "error adding trust anchors", False, (Kind.TLS_ERROR, LOCAL)),
        (92, "HTTP/2 stream 1 was not closed cleanly", True, (Kind.PROTOCOL_ERROR, TARGET)),
        (100, "", True, (Kind.PROTOCOL_ERROR, TARGET)),
        (27, "Out of memory", False, (Kind.INTERNAL, LOCAL)),
    ],
)
def test_without_a_proxy(code, text, answered, ending):
    assert fault(code, text, answered=answered) == ending


@pytest.mark.parametrize(
    ("code", "text", "reached", "ending"),
    [
        (5, "Could not resolve proxy", False, (Kind.PROXY_ERROR, ROUTE)),
        (7, "Failed to connect to proxy", False, (Kind.PROXY_ERROR, ROUTE)),
        (7, "CONNECT tunnel failed, response 407", False, (Kind.PROXY_ERROR, ROUTE)),
        (56, "CONNECT tunnel failed, response 502", False, (Kind.PROXY_ERROR, ROUTE)),
        (97, "User was rejected by the SOCKS5 server", False, (Kind.PROXY_ERROR, ROUTE)),
        (35, "TLS connect error", False, (Kind.PROXY_ERROR, ROUTE)),
        (35, "TLS connect error", True, (Kind.TLS_ERROR, TARGET)),
        (60, "certificate has expired", True, (Kind.TLS_ERROR, TARGET)),
        (28, "Operation timed out", False, (Kind.TIMEOUT, ROUTE)),
        (28, "Operation timed out", True, (Kind.TIMEOUT, TARGET)),
        (52, "Empty reply from server", False, (Kind.PROXY_ERROR, ROUTE)),
        (63, "Exceeded the maximum", False, (Kind.CAPPED, TARGET)),
        (42, "the fetcher was closed", False, (Kind.INTERNAL, LOCAL)),
    ],
)
def test_behind_a_proxy_what_fails_on_the_way_is_the_routes(code, text, reached, ending):
    assert fault(code, text, answered=False, proxied=True, reached=reached) == ending


@given(st.integers(1, 120), st.text(max_size=40), st.booleans(), st.booleans())
def test_every_error_is_some_kind_and_never_a_success(code, text, answered, reached):
    kind, blame = fault(code, text, answered=answered, proxied=True, reached=reached)
    assert kind not in (Kind.OK, Kind.NOT_MODIFIED, Kind.REDIRECT, Kind.GONE)
    assert (blame is NOBODY) == (kind is Kind.POLICY)


def test_the_codes_are_those_of_libcurl():
    named = {
        1: pycurl.E_UNSUPPORTED_PROTOCOL, 3: pycurl.E_URL_MALFORMAT,
        5: pycurl.E_COULDNT_RESOLVE_PROXY, 6: pycurl.E_COULDNT_RESOLVE_HOST,
        7: pycurl.E_COULDNT_CONNECT, 18: pycurl.E_PARTIAL_FILE, 28: pycurl.E_OPERATION_TIMEDOUT,
        35: pycurl.E_SSL_CONNECT_ERROR, 42: pycurl.E_ABORTED_BY_CALLBACK,
        52: pycurl.E_GOT_NOTHING, 55: pycurl.E_SEND_ERROR, 56: pycurl.E_RECV_ERROR,
        60: pycurl.E_PEER_FAILED_VERIFICATION, 63: pycurl.E_FILESIZE_EXCEEDED,
        77: pycurl.E_SSL_CACERT_BADFILE, 83: pycurl.E_SSL_ISSUER_ERROR,
    }  # fmt: skip
    assert {number: name for number, name in named.items() if number != name} == {}
