"""One verdict on every outcome, and what it yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.model import Kind, Outcome, Page, Record, Request, Verdict, WireCost
from recrawl.observe.verdict import HARDLY_ANY_TEXT, observe

Make = Callable[..., Outcome]
PAGE = "<title>T</title><main><p>price {}</p></main>"
READ = PAGE.format(10)


def test_new_same_changed(site) -> None:
    assert site.visit(READ).verdict is Verdict.NEW
    assert site.visit(READ).verdict is Verdict.SAME
    assert site.visit(PAGE.format(12)).verdict is Verdict.CHANGED
    assert site.visit(PAGE.format(12)).verdict is Verdict.SAME


def test_noise_is_no_change(site) -> None:
    noisy = READ + "<aside>{}</aside><p>served {}, id {}</p>"
    site.visit(noisy.format("shoes", "30 Nov 2026 18:04:05", "9f86d081884c7d659a2f"))
    seen = site.visit(noisy.format("sofas", "1 Dec 2026 9:12:11", "a3c5d081884c7d659b30"))
    assert seen.verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("kind", "status", "verdict"),
    [
        (Kind.GONE, 404, Verdict.GONE),
        (Kind.GONE, 410, Verdict.GONE),
        (Kind.DENIED, 401, Verdict.BLOCKED),
        (Kind.DENIED, 403, Verdict.BLOCKED),
        (Kind.DENIED, 451, Verdict.BLOCKED),
        (Kind.THROTTLED, 429, Verdict.BLOCKED),
        (Kind.THROTTLED, 503, Verdict.BLOCKED),
        (Kind.SERVER_ERROR, 500, Verdict.FAILED),
        (Kind.CLIENT_ERROR, 400, Verdict.FAILED),
        (Kind.CAPPED, 200, Verdict.FAILED),
        (Kind.INCOMPLETE, 200, Verdict.FAILED),
        (Kind.DECODE_ERROR, 200, Verdict.FAILED),
        (Kind.PROTOCOL_ERROR, 0, Verdict.FAILED),
        (Kind.TIMEOUT, 0, Verdict.FAILED),
        (Kind.CONNECT_ERROR, 0, Verdict.FAILED),
        (Kind.DNS_ERROR, 0, Verdict.FAILED),
        (Kind.TLS_ERROR, 0, Verdict.FAILED),
        (Kind.PROXY_ERROR, 407, Verdict.FAILED),
        (Kind.POLICY, 0, Verdict.FAILED),
        (Kind.INTERNAL, 0, Verdict.FAILED),
        (Kind.OK, 204, Verdict.FAILED),
        (Kind.OK, 202, Verdict.FAILED),
        (Kind.OK, 203, Verdict.CHANGED),
        (Kind.REDIRECT, 301, Verdict.FAILED),  # without a target
        (Kind.NOT_MODIFIED, 304, Verdict.FAILED),  # to a request without validators
    ],
)
def test_the_table(site, kind: Kind, status: int, verdict: Verdict) -> None:
    site.visit(READ)
    seen = site.visit(PAGE.format("of another page"), kind=kind, status=status)
    assert seen.verdict is verdict
    if verdict is Verdict.CHANGED:
        return
    assert (seen.record, seen.links, seen.canonical) == (None, None, None)
    assert seen.evidence
    if status:
        assert str(status) in " ".join(seen.evidence)


def test_every_kind_of_outcome_has_its_verdict(site, make: Make) -> None:
    for kind in Kind:
        assert isinstance(site.look(make(READ, kind=kind, status=200)).verdict, Verdict)


def test_a_detail_is_evidence_once(site) -> None:
    seen = site.visit(kind=Kind.DENIED, status=403, detail="status 403")
    assert seen.evidence == ("denied", "status 403")
    seen = site.visit(kind=Kind.DNS_ERROR, status=0, detail="no such host: shop.test")
    assert seen.evidence == ("dns-error", "no such host: shop.test")


@pytest.mark.parametrize(
    ("etag", "read_before", "verdict"),
    [
        ('"a"', True, Verdict.NOT_MODIFIED),
        (None, True, Verdict.FAILED),
        ('"a"', False, Verdict.FAILED),
    ],
)
def test_not_modified_must_have_been_asked_and_stand_for_something(
    site, etag: str | None, read_before: bool, verdict: Verdict
) -> None:
    if read_before:
        site.visit(READ)
    site.page.etag = etag
    assert site.visit(kind=Kind.NOT_MODIFIED, status=304).verdict is verdict


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/p/2", "https://shop.test/p/2"),
        ("2?x=1#frag", "https://shop.test/p/2?x=1"),
        ("//other.test/", "https://other.test/"),
        ("http://shop.test/p/1", "http://shop.test/p/1"),
        ("/caf\u00e9 x", "https://shop.test/caf%C3%A9%20x"),
        (" /p/2 ", "https://shop.test/p/2"),
    ],
)
def test_a_redirect_has_moved_to_an_absolute_target(site, location: str, target: str) -> None:
    seen = site.visit(kind=Kind.REDIRECT, status=301, location=location)
    assert (seen.verdict, seen.target) == (Verdict.MOVED, target)
    assert seen.evidence == ("status 301",)


@pytest.mark.parametrize(
    "location",
    [
        *("ftp://e.com/", "javascript:f()", "http://e.com:99999/", "http://[", "\udcff"),
        *("mailto:a@b", "", "#x", "1", "https://SHOP.test/p/1#again"),
    ],
)
def test_a_redirect_that_leads_nowhere_has_failed(site, location: str) -> None:
    seen = site.visit(kind=Kind.REDIRECT, status=302, location=location)
    assert (seen.verdict, seen.target) == (Verdict.FAILED, None)
    assert "status 302" in seen.evidence


def test_a_refresh_of_a_page_without_text_has_moved(site) -> None:
    page = "<meta http-equiv=refresh content='{};url=/p/2'><p>{}</p>"
    seen = site.visit(page.format(0, "Redirecting"))
    assert (seen.verdict, seen.target) == (Verdict.MOVED, "https://shop.test/p/2")
    assert seen.evidence == ("meta refresh after 0 s",)
    assert site.visit(page.format(6, "Redirecting")).verdict is Verdict.NEW  # meant to be read
    assert site.visit(page.format(5, "word " * HARDLY_ANY_TEXT)).verdict is Verdict.CHANGED
    assert site.visit(page.format(5, "")).verdict is Verdict.MOVED
    assert site.visit("<meta http-equiv=refresh content='0'>x").verdict is Verdict.CHANGED


def test_links_are_one_deeper_and_a_page_may_forbid_them(site) -> None:
    site.page.depth = 3
    seen = site.visit("<base href=/b/><a href=x>x</a><a href=y rel=nofollow>y</a>")
    assert seen.links is not None
    assert (seen.links.hrefs, seen.links.depth, seen.links.nofollow) == (("x",), 4, 1)
    assert seen.links.base == "https://shop.test/b/"


@pytest.mark.parametrize(
    ("meta", "header", "honour", "hrefs", "noindex"),
    [
        ("nofollow", None, True, (), False),
        ("none", None, True, (), True),
        ("noindex", None, True, ("/x",), True),
        (None, "nofollow", True, (), False),
        (None, "recrawl: none", True, (), True),
        (None, "otherbot: none", True, ("/x",), False),
        ("nofollow", None, False, ("/x",), False),
        (None, None, True, ("/x",), False),
    ],
)
def test_robots_directives_of_the_page(
    site, meta: str | None, header: str | None, honour: bool, hrefs: tuple[str], noindex: bool
) -> None:
    site.honour_nofollow = honour
    page = (f"<meta name=robots content={meta}>" if meta else "") + "<a href=/x>x</a>"
    seen = site.visit(page, {"x-robots-tag": header} if header else {})
    assert seen.verdict is Verdict.NEW  # noindex hides nothing from a crawler that keeps watch
    assert seen.links is not None
    assert seen.links.hrefs == hrefs
    assert seen.links.nofollow == 1 - len(hrefs)
    assert seen.noindex is noindex


def test_a_canonical_is_told_and_nothing_more(site) -> None:
    """FRO-21, FRO-23: its own, or on another domain: the page keeps its identity."""
    seen = site.visit("<link rel=canonical href=/p/1>x")
    assert (seen.canonical, seen.target) == ("https://shop.test/p/1", None)
    seen = site.visit("<link rel=canonical href=http://partner.test/p>x")
    assert (seen.verdict, seen.canonical) == (Verdict.SAME, "http://partner.test/p")
    assert seen.links is not None
    assert seen.links.hrefs == ()


def test_fields_that_are_not_found_are_a_failure_with_its_reason(site) -> None:
    site.fields(price="css:.price", stock="css:.stock")
    seen = site.visit(READ)
    assert (seen.verdict, seen.record) == (Verdict.FAILED, None)
    assert seen.evidence == ("not one field was found in the page: price, stock",)


def test_an_empty_body_is_no_change(site) -> None:
    site.visit(READ)
    for body in ("", "  \n"):
        seen = site.visit(body)
        assert seen.verdict is Verdict.FAILED
        assert "empty" in seen.evidence[0]


def test_a_page_that_never_had_content_is_read_as_that(site) -> None:
    assert site.visit("").verdict is Verdict.NEW
    assert site.visit("").verdict is Verdict.SAME
    assert site.visit(READ).verdict is Verdict.CHANGED


def test_what_was_odd_about_the_body_is_evidence(site) -> None:
    seen = site.visit("é".encode("latin-1"), {"content-type": "text/html; charset=utf-8"})
    assert (seen.verdict, seen.evidence) == (Verdict.NEW, ("mislabelled",))
    assert site.visit(READ).evidence == ()


def test_another_way_to_read_begins_anew_instead_of_calling_everything_changed(site) -> None:
    site.visit(READ)
    site.fields(title="css:title")
    assert site.visit(READ).verdict is Verdict.NEW
    assert site.visit(READ).verdict is Verdict.SAME
    site.fields(name="css:title")
    assert site.visit(READ).verdict is Verdict.NEW


def test_either_digest_equal_is_the_same(site, make: Make) -> None:
    site.visit(READ)
    one, two = site.page.digest1, site.page.digest2
    assert one is not None
    assert two is not None
    other = one[:2] + b"other!"
    for digests, verdict in (
        ((one, two), Verdict.SAME),
        ((one, other), Verdict.SAME),
        ((other, two), Verdict.SAME),
        ((other, other), Verdict.CHANGED),
    ):
        site.page.digest1, site.page.digest2 = digests
        assert site.look(make(READ)).verdict is verdict


def test_observing_changes_nothing(site, make: Make) -> None:
    site.visit(READ, {"etag": '"a"'})
    before = replace(site.page)
    got = make(PAGE.format(12), {"etag": '"b"'})
    assert site.look(got) == site.look(got)
    assert site.page == before


@given(
    st.binary(max_size=200),
    st.sampled_from(list(Kind)),
    st.sampled_from([0, 200, 204, 301, 304, 404]),
    st.text(max_size=20) | st.none(),
    st.sampled_from(["text/html", "application/json", "", "text/html; charset=\ud800"]),
)
def test_no_outcome_makes_it_raise_and_only_readings_have_a_record(
    body: bytes, kind: Kind, status: int, location: str | None, content_type: str
) -> None:
    outcome = Outcome(
        kind,
        WireCost(),
        status=status,
        headers=(("content-type", content_type),),
        body=body,
        location=location,
    )
    seen = observe(
        outcome,
        Page(1, 1, "/"),
        Request("https://e.com/"),
        specs={},
        honour_nofollow=True,
        agent="recrawl",
    )
    assert (seen.record is not None) == (seen.verdict is Verdict.NEW)
    assert (seen.target is not None) == (seen.verdict is Verdict.MOVED)
    if seen.record is not None:
        assert isinstance(seen.record, Record)
        assert len(seen.record.digest1) == len(seen.record.digest2) == 8
