"""What outcomes do to a page's base, validators and counters; the recorded cases of others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.model import Kind, Observation, Outcome, Page, Record, Verdict, WireCost
from recrawl.observe.base import MAX_VALIDATOR, advance

A, B = "<main>A</main>", "<main>B</main>"
NOT_MODIFIED = {"kind": Kind.NOT_MODIFIED, "status": 304}
THEN, NOW = "Thu, 01 Aug 2024 10:00:00 GMT", "Fri, 02 Aug 2024 10:00:00 GMT"


def test_a_304_is_unchanged_whatever_the_signatures_were(site) -> None:
    """SCH-01: body A, then B, then 304 for ever: one change in all."""
    verdicts = [site.visit(A, {"etag": '"a"'}).verdict, site.visit(B, {"etag": '"b"'}).verdict]
    verdicts += [site.visit(**NOT_MODIFIED).verdict for _ in range(4)]
    assert verdicts == [Verdict.NEW, Verdict.CHANGED] + [Verdict.NOT_MODIFIED] * 4
    page = site.page
    assert (page.n_visits, page.n_changes, page.n_not_modified) == (6, 1, 4)
    assert page.changed_at == site.now - 4 * 3600
    assert page.last == site.now


def test_new_validators_of_an_equal_record_are_kept(site) -> None:
    """SCH-03: same body, new validators."""
    site.visit(A, {"etag": '"a"', "last-modified": THEN})
    assert site.visit(A, {"etag": '"b"', "last-modified": NOW}).verdict is Verdict.SAME
    site.visit(**NOT_MODIFIED)
    assert site.sent == [("If-None-Match", '"b"'), ("If-Modified-Since", NOW)]
    assert site.page.n_changes == 0


def test_a_failed_extraction_advances_nothing(site) -> None:
    """SCH-05: the page changes on the very visit on which the rule is broken."""
    page = "<main class=m>price {}</main>"
    site.fields(text="css:.m")
    site.visit(page.format(10), {"etag": '"a"'})
    before = replace(site.page)
    site.fields(text="css:.broken")
    assert site.visit(page.format(12), {"etag": '"b"'}).verdict is Verdict.FAILED
    assert site.page == replace(before, n_visits=2)
    site.fields(text="css:.m")
    seen = site.visit(page.format(12), {"etag": '"b"'})
    assert site.sent == [("If-None-Match", '"a"')]
    assert seen.verdict is Verdict.CHANGED
    assert seen.record is not None
    assert seen.record.fields == {"text": "price 12"}


def test_an_etag_that_never_moves_hides_no_change(site) -> None:
    """SCH-07: a 200 is judged by its content only."""
    verdicts = [site.visit(f"<p>v{n} text</p>", {"etag": '"fixed"'}).verdict for n in range(4)]
    assert verdicts == [Verdict.NEW] + [Verdict.CHANGED] * 3


def test_validators_come_from_the_answer_never_from_the_clock(site) -> None:
    """SCH-09."""
    site.now += 86_400
    site.visit(A, {"last-modified": "Mon, 03 Mar 2025 03:03:03 GMT"})
    site.request()
    assert site.sent == [("If-Modified-Since", "Mon, 03 Mar 2025 03:03:03 GMT")]
    site.visit(B)
    site.request()
    assert site.sent == []


@pytest.mark.parametrize("etag", ['W/"x"', '"x"', "unquoted", '"a--gzip"', '""', '"é"', "W/bad"])
def test_an_etag_is_sent_back_as_it_came(site, etag: str) -> None:
    """SCH-24."""
    site.visit(A, {"etag": etag})
    site.request()
    assert site.sent == [("If-None-Match", etag)]


def test_back_ends_with_other_etags_are_no_change(site) -> None:
    """SCH-26."""
    tags = ['"6a7-1"', '"6a7-2"', '"6a7-3"', '"6a7-1"', '"6a7-2"']
    verdicts = [site.visit(A, {"etag": tag}).verdict for tag in tags]
    assert verdicts == [Verdict.NEW] + [Verdict.SAME] * 4
    assert site.page.etag == tags[-1]


def test_json_keys_in_another_order_are_no_change(site) -> None:
    """CHG-01."""
    bodies = ['{"price":10,"stock":3}', '{ "stock": 3,\n "price": 10 }'] * 5
    for body in bodies:
        site.visit(body, {"content-type": "application/json"})
    assert (site.page.n_visits, site.page.n_changes) == (10, 0)


def test_content_that_vanishes_for_a_visit_and_returns_is_no_change(site) -> None:
    """CHG-06."""
    good = "<html><head><title>t</title></head><body><main>stock 5</main></body></html>"
    verdicts = [
        site.visit(good).verdict,
        site.visit("").verdict,
        site.visit(good).verdict,
        site.visit("oops", kind=Kind.SERVER_ERROR, status=500).verdict,
        site.visit(good).verdict,
    ]
    assert verdicts == [
        Verdict.NEW, Verdict.FAILED, Verdict.SAME, Verdict.FAILED, Verdict.SAME
    ]  # fmt: skip
    assert (site.page.n_changes, site.page.n_visits) == (0, 5)


def test_session_ids_in_links_are_no_change(site) -> None:
    """CHG-14, the content's half: addresses are not text."""
    for sid in ("A2DE0F", "77B1C2"):
        site.visit(f"<p>topic</p><a href='/homr/api;jsessionid={sid}?x=1'>api</a>")
    assert site.page.n_changes == 0


def test_a_304_may_renew_validators_or_say_nothing(site) -> None:
    site.visit(A, {"etag": '"a"', "last-modified": THEN})
    base = (site.page.digest1, site.page.digest2)
    site.visit(**NOT_MODIFIED)
    assert (site.page.etag, site.page.last_modified) == ('"a"', THEN)
    site.visit(headers={"etag": '"c"'}, **NOT_MODIFIED)
    assert (site.page.etag, site.page.last_modified) == ('"c"', THEN)
    site.visit(headers={"last-modified": NOW}, **NOT_MODIFIED)
    assert (site.page.etag, site.page.last_modified) == ('"c"', NOW)
    assert (site.page.digest1, site.page.digest2) == base


def test_a_200_without_validators_removes_them(site) -> None:
    site.visit(A, {"etag": '"a"', "last-modified": THEN})
    site.visit(A)
    assert (site.page.etag, site.page.last_modified) == (None, None)


@pytest.mark.parametrize(("size", "kept"), [(MAX_VALIDATOR, True), (MAX_VALIDATOR + 1, False)])
def test_a_validator_as_long_as_a_page_is_none(site, size: int, kept: bool) -> None:
    site.visit(A, {"etag": "x" * size})
    assert (site.page.etag is not None) is kept


def test_every_reading_stores_both_digests_and_the_canonical(site) -> None:
    seen = site.visit(A + "<link rel=canonical href=/c>")
    assert seen.record is not None
    assert (site.page.digest1, site.page.digest2) == (seen.record.digest1, seen.record.digest2)
    assert site.page.canonical == "https://shop.test/c"
    quieter = site.visit(A + "<nav>noise</nav>")
    assert quieter.verdict is Verdict.SAME
    assert quieter.record is not None
    assert site.page.digest1 == quieter.record.digest1
    assert site.page.canonical is None


def test_the_first_reading_is_no_change(site) -> None:
    site.visit(A)
    assert (site.page.n_changes, site.page.changed_at, site.page.last) == (0, 0.0, site.now)


FAILURES = [
    (Kind.GONE, 404), (Kind.REDIRECT, 301), (Kind.THROTTLED, 429), (Kind.DENIED, 403),
    (Kind.SERVER_ERROR, 500), (Kind.TIMEOUT, 0), (Kind.CAPPED, 200), (Kind.INCOMPLETE, 200),
    (Kind.DECODE_ERROR, 200), (Kind.OK, 204),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "status"), FAILURES)
def test_what_is_no_reading_leaves_all_but_the_count(site, kind: Kind, status: int) -> None:
    site.visit(A, {"etag": '"a"', "last-modified": THEN})
    before = replace(site.page)
    site.visit(B, {"etag": '"evil"'}, kind=kind, status=status, location="/elsewhere")
    assert site.page == replace(before, n_visits=2)


@given(
    st.sampled_from(list(Verdict)),
    st.text(max_size=5) | st.none(),
    st.floats(1, 2e9),
    st.booleans(),
)
def test_belief_failures_and_state_are_not_its_business(
    verdict: Verdict, etag: str | None, now: float, has_record: bool
) -> None:
    page = Page(1, 1, "/", fails=3, missing=2, retry_at=7.0, a=1.5, b=2.5, due=9.0, value=4.0)
    page.last, page.digest1, page.digest2, page.etag = 5.0, b"11111111", b"22222222", '"old"'
    before = replace(page)
    record = Record({}, b"33333333", b"44444444") if has_record else None
    headers = (("etag", etag),) if etag is not None else ()
    got = Outcome(Kind.OK, WireCost(), status=200, headers=headers)
    advance(page, Observation(verdict, record), got, now)
    for name in ("state", "fails", "missing", "retry_at", "a", "b", "va", "vb", "due", "value",
                 "target", "last_attempt", "variant", "depth", "hops"):  # fmt: skip
        assert getattr(page, name) == getattr(before, name), name
    assert page.n_visits == before.n_visits + 1
    assert page.last == (now if verdict.is_reading else 5.0)
    assert (page.digest1 == b"33333333") is (verdict <= Verdict.SAME and has_record)
