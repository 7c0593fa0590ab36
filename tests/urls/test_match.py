"""Sites, page types and values: the first rule that meets an address decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.model import Address
from recrawl.urls import match
from recrawl.urls.canonical import Normalizer
from recrawl.urls.match import (
    VALUE_TIERS,
    PageType,
    PatternError,
    SiteMatcher,
    SiteRule,
    value_of,
)

NORMALIZER = Normalizer()


def at(url: str) -> Address:
    found = NORMALIZER.normalize(url)
    assert isinstance(found, Address)
    return found


def meets(pattern: str, url: str) -> bool:
    return SiteMatcher([SiteRule(pattern)]).classify(at(url))[2] is not None


@pytest.mark.parametrize(
    ("pattern", "met", "not_met"),
    [
        ("shop.example", ["http://shop.example/", "https://shop.example:8443/a?b"],
         ["http://www.shop.example/", "http://xshop.example/", "http://shop.example.evil.test/"]),
        ("shop.example/", ["http://shop.example/a"], ["http://other.example/"]),
        ("shop.example/*", ["http://shop.example/a"], ["http://other.example/"]),
        ("shop.example/product/*", ["https://shop.example/product/1", "http://shop.example/product/"],
         ["https://shop.example/products/1", "https://shop.example/", "https://o.example/product/1"]),
        ("*.example.com/*", ["http://a.example.com/", "http://a.b.example.com/x",
                             "http://example.com/"], ["http://badexample.com/", "http://com/"]),
        ("*/product/", ["http://a.test/product/1", "http://[::1]/product/"], ["http://a.test/p"]),
        ("*", ["http://a.test/", "https://127.0.0.1:9/x"], []),
        ("https://shop.example", ["https://shop.example/", "https://shop.example:444/"],
         ["http://shop.example/"]),
        ("shop.example:8080/x", ["http://shop.example:8080/x", "https://shop.example:8080/xy"],
         ["http://shop.example/x", "http://shop.example:8081/x", "http://shop.example:8080/y"]),
        ("shop.example:443", ["https://shop.example/"], ["http://shop.example/"]),
        ("http://shop.example:80", ["http://shop.example/"], ["https://shop.example/"]),
        ("SHOP.Example/A", ["http://shop.example/A"], ["http://shop.example/a"]),
        ("m\u00fcnchen.example", ["http://xn--mnchen-3ya.example/"], ["http://munchen.example/"]),
        ("*.m\u00fcnchen.example", ["http://a.xn--mnchen-3ya.example/"], ["http://a.example/"]),
        ("127.0.0.1:8001/a", ["http://127.0.0.1:8001/ab"], ["http://127.0.0.1:8002/ab"]),
        ("[::1]:8080", ["http://[::1]:8080/x"], ["http://[::1]/x", "http://[::2]:8080/"]),
        ("[::1]", ["http://[::1]:8080/x", "https://[0:0::1]/"], ["http://[::2]/"]),
        ("shop.example/search?q=*", ["http://shop.example/search?q=a"],
         ["http://shop.example/search"]),
        ("shop.example/*.pdf$", ["http://shop.example/a/b.pdf"], ["http://shop.example/a.pdfx"]),
        ("localhost", ["http://localhost:5000/"], ["http://localhost.test/"]),
    ],
)  # fmt: skip
def test_where_a_rule_holds(pattern: str, met: list[str], not_met: list[str]) -> None:
    assert [url for url in met if not meets(pattern, url)] == []
    assert [url for url in not_met if meets(pattern, url)] == []


@pytest.mark.parametrize(
    ("pattern", "fix"),
    [
        ("", "names no host"),
        ("/product/*", "'*/product/*'"),
        ("ftp://shop.example/", "only http and https"),
        ("shop.example:99999", "65535"),
        ("shop.*.example/x", "'*.example'"),
        ("*shop.example", "'*.shop.example'"),
        ("a b.example", "names no host"),
        ("user@shop.example", "names no host"),
        ("shop.example/a b", "'%20'"),
        ("shop.example?x=1", "'/*?x=1'"),
        ("[::x]", "names no host"),
        ("[1::2::3]", "no host"),
        ("1.2.3.4.5", "no host"),
        ("shop.example:port", "names no host"),
    ],
)
def test_a_bad_match_is_named_with_its_fix(pattern: str, fix: str) -> None:
    with pytest.raises(PatternError) as e:
        SiteMatcher([SiteRule("ok.example"), SiteRule(pattern)])
    assert fix in str(e.value)
    assert repr(pattern) in str(e.value)


@given(st.text(max_size=24) | st.text("ab.*:/[]?$@%1", max_size=16))
def test_any_text_is_a_match_or_a_pattern_error(text: str) -> None:
    try:
        matcher = SiteMatcher([SiteRule(text)])
    except PatternError as e:
        assert str(e)
    else:
        matcher.classify(at("https://a.b:81/x?y"))


PRODUCT = SiteRule("shop.example/product/*", "product", 4.0, {"price": "css:.price"}, "proxy")
ITEM = SiteRule("other.example/item/*", "product", 2.0, {"price": "css:#cost"})
NEWS = SiteRule("*.example/news/", "news", max_gap=3600.0)
ALL = SiteRule("shop.example", value=0.5, min_gap=60.0)


def test_the_first_rule_that_meets_decides() -> None:
    m = SiteMatcher([PRODUCT, ITEM, NEWS, ALL])
    assert m.types == (
        PageType("page"),
        PageType("product", 4.0, {"price": "css:.price"}),
        PageType("product", 2.0, {"price": "css:#cost"}),
        PageType("news", max_gap=3600.0),
        PageType("shop.example", 0.5, min_gap=60.0),
    )
    assert m.classify(at("http://shop.example/product/1")) == (1, 4.0, PRODUCT)
    assert m.classify(at("http://other.example/item/1")) == (2, 2.0, ITEM)
    assert m.classify(at("http://shop.example/news/x")) == (3, 1.0, NEWS)
    assert m.classify(at("http://shop.example/about")) == (4, 0.5, ALL)
    assert m.classify(at("http://other.example/about")) == (0, 1.0, None)
    assert m.classify(at("http://other.test/product/1")) == (0, 1.0, None)
    assert m.hosts() == ("shop.example", "other.example", "*.example")


def test_order_is_all_that_counts() -> None:
    assert SiteMatcher([ALL, PRODUCT]).classify(at("http://shop.example/product/1"))[2] is ALL


def test_one_type_read_one_way_is_one_type() -> None:
    m = SiteMatcher([PRODUCT, SiteRule("third.example", "product", fields=PRODUCT.fields)])
    assert [t.name for t in m.types] == ["page", "product"]
    assert m.classify(at("http://third.example/")) == (1, 1.0, m._rules[1][3])


def test_fields_without_a_type_read_no_other_pages() -> None:
    m = SiteMatcher([SiteRule("a.example/x", fields={"title": "css:h1"})])
    assert m.types[0] == PageType("page")
    assert m.classify(at("http://a.example/x"))[0] == 1
    assert m.types[1].name == "a.example/x"
    assert m.classify(at("http://a.example/y"))[0] == 0


def test_without_rules_every_page_is_a_page() -> None:
    m = SiteMatcher([])
    assert m.classify(at("http://a.example/")) == (0, 1.0, None)
    assert (m.types, m.hosts()) == ((PageType("page"),), ())


def test_a_path_is_tried_on_both_forms_of_an_address() -> None:
    assert meets("a.example/s?z=", "http://a.example/s?z=1&b=2")
    assert meets("a.example/s?b=", "http://a.example/s?z=1&b=2")


def test_many_origins_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "_CACHED_ORIGINS", 20)
    m = SiteMatcher([SiteRule("*.example/a")])
    for i in range(100):
        assert m.classify(at(f"http://h{i}.example/a"))[2] is not None
        assert m.classify(at(f"http://h{i}.test/a"))[2] is None
    assert len(m._of_origin) <= 20


@pytest.mark.parametrize(
    ("given_value", "worth"),
    [("critical", 4.0), ("high", 2.0), ("normal", 1.0), ("low", 0.5), (" High ", 2.0), (3, 3.0),
     (0.25, 0.25)],
)  # fmt: skip
def test_values(given_value: str | float, worth: float) -> None:
    assert value_of(given_value) == worth


@pytest.mark.parametrize("wrong", ["", "urgent", "3", 0, -1, float("nan"), float("inf"), True])
def test_a_bad_value_is_named_with_what_is_known(wrong: str | float) -> None:
    with pytest.raises(PatternError, match="critical, high, normal, low") as e:
        value_of(wrong)
    assert repr(wrong) in str(e.value)
    assert VALUE_TIERS["normal"] == 1.0
