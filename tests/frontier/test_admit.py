"""The gate: scope, limits, traps by shape, and the order in which reasons are given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.admit import (
    MAX_PERIOD,
    AdmitLimits,
    Gate,
    Scope,
    ScopeError,
    path_repeats,
    same_site,
)
from recrawl.model import Address, Refused


def at(url: str, userinfo: str = "") -> Address:
    """An address from a URL that is already in normal form."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return Address(f"{scheme}://{host}", slash + path or "/", slash + path or "/", 1, userinfo)


class NoPatterns:
    def refuses(self, address: Address) -> tuple[Refused, str] | None:
        return None


class Refuses:
    """Refuses every path that holds a word."""

    def __init__(self, word: str, reason: Refused = Refused.EXCLUDED) -> None:
        self.word = word
        self.reason = reason

    def refuses(self, address: Address) -> tuple[Refused, str] | None:
        return (self.reason, self.word) if self.word in address.path else None


def check(
    url: str,
    limits: AdmitLimits | None = None,
    scope: tuple[str, ...] = ("example.com",),
    *,
    patterns: object = None,
    userinfo: str = "",
    **kw: int,
) -> Refused | None:
    gate = Gate(limits or AdmitLimits(), Scope(scope), patterns or NoPatterns())  # type: ignore[arg-type]
    asked = {"depth": 1, "hops": 0, "host_pages": 0, "total_pages": 0} | kw
    return gate.check(at(url, userinfo), **asked)  # type: ignore[arg-type]


# scope


@pytest.mark.parametrize(
    ("patterns", "url", "allowed"),
    [
        (["example.com"], "https://example.com/", True),
        (["example.com"], "http://example.com/a", True),
        (["example.com"], "http://example.com:8080/a", True),
        (["Example.COM"], "http://example.com/", True),
        (["example.com"], "http://www.example.com/", False),
        (["example.com"], "http://example.com.evil.example/", False),
        (["example.com"], "http://notexample.com/", False),
        (["*.example.com"], "http://a.example.com/", True),
        (["*.example.com"], "http://a.b.example.com/", True),
        (["*.example.com"], "http://example.com/", False),
        (["*.example.com"], "http://badexample.com/", False),
        (["example.com:8080"], "http://example.com:8080/", True),
        (["example.com:8080"], "http://example.com:8081/", False),
        (["example.com:8080"], "http://example.com/", False),
        (["example.com:80"], "http://example.com/", True),
        (["example.com:80"], "https://example.com/", False),
        (["example.com:443"], "https://example.com/", True),
        (["*.example.com:8080"], "http://a.example.com:8080/", True),
        (["*.example.com:8080"], "http://a.example.com/", False),
        (["bücher.example"], "https://xn--bcher-kva.example/", True),
        (["*.bücher.example"], "https://a.xn--bcher-kva.example/", True),
        (["exаmple.test"], "http://example.test/", False),  # the 'а' is Cyrillic
        (["[::1]"], "http://[::1]/", True),
        (["[::1]:8000"], "http://[::1]:8000/", True),
        (["[::1]:8000"], "http://[::1]/", False),
        (["[0:0:0:0:0:0:0:1]"], "http://[::1]/", True),
        (["127.0.0.1"], "http://127.0.0.1:5000/", True),
        (["*"], "http://anything.example/", True),
        (["a.example", "b.example"], "http://b.example/", True),
        ([], "http://example.com/", False),
    ],
)
def test_scope(patterns: list[str], url: str, allowed: bool) -> None:
    assert Scope(patterns).allows(at(url)) is allowed


@pytest.mark.parametrize(
    "pattern",
    ["", "https://example.com", "example.com/path", "a b", "user@example.com", "*.", "a.*.com",
     "example.com:99999", "example.com:http", "[::1", "exa<mple.com", "*example.com"],
)  # fmt: skip
def test_scope_patterns_that_are_no_host_say_how_to_write_one(pattern: str) -> None:
    with pytest.raises(ScopeError, match=r"example\.com") as error:
        Scope([pattern])
    assert repr(pattern) in str(error.value)


def test_scope_can_be_widened_later() -> None:
    scope = Scope(["example.com"])
    assert not scope.allows(at("http://www.example.com/"))
    scope.add("www.example.com")
    assert scope.allows(at("http://www.example.com/"))


def test_any_host_is_not_a_name() -> None:
    scope = Scope(["*", "known.example"])
    assert scope.allows(at("http://10.0.0.1/"))
    assert not scope.names(at("http://10.0.0.1/"))
    assert scope.names(at("http://known.example/"))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("http://h.example/", "https://h.example/", True),
        ("http://h.example/", "http://www.h.example/", True),
        ("http://www.h.example/a", "https://h.example/a/", True),
        ("http://h.example/", "https://www.h.example/en/", True),
        ("http://h.example:8080/", "http://www.h.example:8080/", True),
        ("http://h.example:8080/", "http://h.example:8081/", False),
        ("http://h.example/", "http://h.example:8080/", False),
        ("http://some-site.example/", "http://bigsocial.example/some-site", False),
        ("http://h.example/", "http://m.h.example/", False),
        ("http://h.example/", "http://www2.h.example/", False),
        ("http://h.example/", "http://h.example.evil.example/", False),
    ],
)
def test_same_site_widens_by_scheme_and_www_only(a: str, b: str, same: bool) -> None:
    assert same_site(at(a), at(b)) is same
    assert same_site(at(b), at(a)) is same


# path repeats


@pytest.mark.parametrize(
    ("path", "repeats"),
    [
        ("/", False),
        ("/a/b/c", False),
        ("/infra/www/", False),
        ("/infra/www/infra/www/", False),
        ("/infra/www/infra/www/infra/www/", True),
        ("/infra/www/infra/www/infra/www/index.html", True),
        ("/x/infra/www/infra/www/infra/www", True),
        ("/js/js/js", True),
        ("/js/js/jsx", False),
        ("/js/js/js/a.js", True),
        ("/a/b/a/b/a", False),  # two and a half
        ("/2026/11/11/11-news", False),
        ("/a?x=/b/b/b/b", False),  # a query is no path
        ("/a/x/a/y/a/z", False),
        ("/a//b", False),
        ("/" + "/".join("abcdefgh" * 3), True),
        ("/a" * 700, True),
    ],
)
def test_path_repeats(path: str, repeats: bool) -> None:
    assert path_repeats(path) is repeats


segments = st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=6)


@given(head=segments, unit=segments, tail=segments)
def test_any_sequence_three_times_is_found(
    head: list[str], unit: list[str], tail: list[str]
) -> None:
    assert path_repeats("/" + "/".join([*head, *unit * 3, *tail]))


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=300))
def test_a_path_without_equal_segments_never_repeats(numbers: list[int]) -> None:
    assert not path_repeats("/" + "/".join(map(str, numbers)))


def test_the_growing_path_is_cut_after_a_few_levels() -> None:
    """FRO-25: a relative link that answers 200 at any depth costs at most four requests."""
    path, admitted = "/", 0
    while not path_repeats(path):
        path += "infra/www/"
        admitted += 1
        assert admitted < 10
    assert admitted <= 4
    assert MAX_PERIOD >= 16


# the order of reasons, and each of them


def test_an_ordinary_link_passes() -> None:
    assert check("https://example.com/a?b=1") is None


def test_userinfo() -> None:
    assert check("https://example.com/", userinfo="user:pw") is Refused.USERINFO
    allowed = AdmitLimits(userinfo_ok=True)
    assert check("https://example.com/", allowed, userinfo="user:pw") is None


def test_length_counts_the_whole_url() -> None:
    limits = AdmitLimits(url_length=40)
    base = "https://example.com/"
    assert check(base + "a" * (40 - len(base)), limits) is None
    assert check(base + "a" * (41 - len(base)), limits) is Refused.TOO_LONG


def test_length_of_the_longer_of_both_forms() -> None:
    gate = Gate(AdmitLimits(url_length=60), Scope(["example.com"]), NoPatterns())
    tracked = Address("https://example.com", "/a?utm_source=" + "x" * 60, "/a", 1)
    found = gate.check(tracked, depth=0, hops=0, host_pages=0, total_pages=0)
    assert found is Refused.TOO_LONG


def test_out_of_scope() -> None:
    assert check("https://other.example/") is Refused.OUT_OF_SCOPE


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::ffff:a00:1]/", "http://169.254.169.254/latest/meta-data/",
     "http://localhost:6379/", "http://printer/", "http://db.internal/"],
)  # fmt: skip
def test_private_hosts_are_refused_for_discovered_links(url: str) -> None:
    assert check(url, scope=("*",)) is Refused.PRIVATE_ADDRESS
    assert check(url, AdmitLimits(private_ok=True), scope=("*",)) is None
    assert check(url, scope=("*",), seed=True) is None


def test_a_private_host_that_the_user_named_is_no_stranger() -> None:
    assert check("http://127.0.0.1:8000/a", scope=("127.0.0.1",)) is None
    assert check("http://10.0.0.9/", scope=("*", "127.0.0.1")) is Refused.PRIVATE_ADDRESS
    assert check("http://wiki.corp.internal/", scope=("*.corp.internal",)) is None


def test_depth_and_hops_at_their_limits() -> None:
    assert check("https://example.com/", AdmitLimits(depth=2), depth=2) is None
    assert check("https://example.com/", AdmitLimits(depth=2), depth=3) is Refused.TOO_DEEP
    assert check("https://example.com/", hops=5) is None
    assert check("https://example.com/", hops=6) is Refused.TOO_MANY_HOPS


def test_path_that_repeats() -> None:
    assert check("https://example.com/js/js/js/") is Refused.PATH_REPEATS


@pytest.mark.parametrize("reason", [Refused.EXCLUDED, Refused.NOT_INCLUDED])
def test_patterns_give_their_own_reason(reason: Refused) -> None:
    patterns = Refuses("calendar", reason)
    assert check("https://example.com/calendar/1057", patterns=patterns) is reason
    assert check("https://example.com/news", patterns=patterns) is None


def test_caps_on_pages() -> None:
    limits = AdmitLimits(per_host=10, total=100)
    assert check("https://example.com/", limits, host_pages=9, total_pages=99) is None
    assert check("https://example.com/", limits, host_pages=10) is Refused.HOST_FULL
    assert check("https://example.com/", limits, total_pages=100) is Refused.PROJECT_FULL


def test_a_seed_is_bound_by_caps_but_not_by_where_and_what() -> None:
    wide = {"scope": ("example.com",), "seed": True}
    assert check("https://other.example/", **wide) is None  # type: ignore[arg-type]
    assert check("https://example.com/x/x/x", **wide) is None  # type: ignore[arg-type]
    assert check("https://example.com/calendar", patterns=Refuses("calendar"), seed=True) is None
    assert check("https://example.com/", AdmitLimits(depth=0), depth=1, seed=True) is None
    assert check("https://example.com/", AdmitLimits(total=0), seed=True) is Refused.PROJECT_FULL
    assert check("https://example.com/", AdmitLimits(per_host=0), seed=True) is Refused.HOST_FULL
    assert check("https://example.com/", userinfo="u", seed=True) is Refused.USERINFO
    assert check("https://example.com/", hops=6, seed=True) is Refused.TOO_MANY_HOPS
    long = AdmitLimits(url_length=10)
    assert check("https://example.com/", long, seed=True) is Refused.TOO_LONG


def test_the_first_failing_check_is_the_reason() -> None:
    """Everything is wrong with this address; mended one by one, the reasons come in order."""
    limits = {"depth": 1, "per_host": 1, "total": 1, "url_length": 20}
    url = "http://10.0.0.1/bad/bad/bad/long"
    scope: tuple[str, ...] = ("example.com",)
    userinfo, depth, hops, host_pages, total_pages = "u:p", 9, 9, 9, 9
    patterns: object = Refuses("bad")
    reasons = []

    def ask() -> Refused | None:
        return check(
            url, AdmitLimits(**limits), scope, patterns=patterns, userinfo=userinfo,
            depth=depth, hops=hops, host_pages=host_pages, total_pages=total_pages,
        )  # fmt: skip

    reasons.append(ask())
    userinfo = ""
    reasons.append(ask())
    limits["url_length"] = 2048
    reasons.append(ask())
    scope = ("*",)
    reasons.append(ask())
    url = url.replace("10.0.0.1", "h.example")
    reasons.append(ask())
    depth = 0
    reasons.append(ask())
    hops = 0
    reasons.append(ask())
    url = "http://h.example/bad"
    reasons.append(ask())
    patterns = NoPatterns()
    reasons.append(ask())
    host_pages = 0
    reasons.append(ask())
    total_pages = 0
    assert ask() is None
    assert reasons == [
        Refused.USERINFO,
        Refused.TOO_LONG,
        Refused.OUT_OF_SCOPE,
        Refused.PRIVATE_ADDRESS,
        Refused.TOO_DEEP,
        Refused.TOO_MANY_HOPS,
        Refused.PATH_REPEATS,
        Refused.EXCLUDED,
        Refused.HOST_FULL,
        Refused.PROJECT_FULL,
    ]


def test_a_canonical_or_redirect_elsewhere_does_not_widen_scope() -> None:
    """FRO-17, FRO-23: the gate is asked again, and nothing was learned from the first answer."""
    gate = Gate(AdmitLimits(), Scope(["shop.example"]), NoPatterns())
    for _ in range(2):
        for url in ("http://partner.example/p", "http://bigsocial.example/shop"):
            found = gate.check(at(url), depth=1, hops=1, host_pages=0, total_pages=0)
            assert found is Refused.OUT_OF_SCOPE
