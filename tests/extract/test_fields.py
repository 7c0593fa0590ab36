"""Named fields: where they stand, and what stood there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recrawl.extract.document import Document
from recrawl.extract.fields import FieldSpec, extract_fields

DATA = Path(__file__).parents[1] / "data" / "extract"
PAGE = """<html><head><title>Anvil</title><meta property="og:title" content="Executive  Anvil">
<meta name="Description" content="d"><meta property="product:price:amount" content="12.50">
<script type="application/ld+json">null</script>
<script type="application/ld+json">{"@graph":[{"@type":"WebPage","name":"Shop"},
{"@type":"Product","name":"Anvil","offers":[{"@type":"Offer","price":"2879.20"}],"sku":"0010"}]}
</script></head><body><h1>  Executive
 Anvil </h1><span class="price">129.90</span><span class="price">99</span>
<a class="next" href="/2?a=1&amp;b=2">more</a><b class="empty"> </b></body></html>"""


def get(text: str, name: str = "x", page: str = PAGE, kind: str = "text/html") -> Any:
    doc = Document(page.encode(), kind, "https://e.com/")
    return extract_fields(doc, {name: FieldSpec.parse(text)})[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("css:h1", "Executive Anvil"),
        ("css:.price", "129.90"),
        ("css:a.next@href", "/2?a=1&b=2"),
        ("css:a[href*='@']", None),
        ("css:.missing", None),
        ("css:.empty", None),
        ("css:h1@class", None),
        ("css:body > .price:nth-of-type(2)", "99"),
        ("meta:og:title", "Executive Anvil"),
        ("meta:OG:Title", "Executive Anvil"),
        ("meta:description", "d"),
        ("meta:missing", None),
        ("jsonld:offers.price", "2879.2"),
        ("jsonld:name", "Shop"),
        ("jsonld:Product.name", "Anvil"),
        ("jsonld:Product.offers.0.price", "2879.2"),
        ("jsonld:sku", "0010"),
        ("jsonld:missing.x", None),
        ("json:a", None),
    ],
)
def test_fields(text: str, expected: str | None) -> None:
    if text == "css:.price":
        expected = "129.9"  # the place speaks of a price
    assert get(text) == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("css:.amount", "price", "2879.2"),
        ("css:.amount", "version", "2879.20"),
        ("css:.text", "price", "12.50 EUR"),
    ],
)
def test_a_price_is_compared_as_an_amount(text: str, name: str, expected: str) -> None:
    page = "<b class=amount>2879.20</b><b class=text>12.50 EUR</b>"
    assert get(text, name, page) == expected


def test_json_numbers_and_text_prices_are_one_amount() -> None:
    pages = [
        '{"item":{"price":2879.2}}',
        '{"item":{"price":"2879.20"}}',
        '{"item":{"price":2879.20}}',
    ]
    assert {get("json:item.price", "p", page, "application/json") for page in pages} == {"2879.2"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("json:items.1.name", "b"),
        ("json:$.items.name", "a"),
        ("json:count", 3),
        ("json:flag", False),
        ("json:blank", None),
        ("css:h1", None),
        ("meta:og:title", None),
        ("jsonld:name", None),
    ],
)
def test_fields_of_json(text: str, expected: Any) -> None:
    page = '{"items":[{"name":"a"},{"name":"b"}],"count":3.0,"flag":false,"blank":" "}'
    assert get(text, page=page, kind="application/json") == expected


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("", "write 'css:.price'"),
        (".price", "write 'css:.price'"),
        ("xpath://h1", "write 'css:.price'"),
        ("css:", "names nothing"),
        ("json: ", "names nothing"),
        ("css:a[", "not a CSS selector"),
        ("css:>>>", "not a CSS selector"),
        ("css:a:nope(", "not a CSS selector"),
        ("jsonld:offers..price", "empty step"),
        ("json:.", "empty step"),
    ],
)
def test_a_mistake_is_named_with_its_fix(text: str, fix: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        FieldSpec.parse(text)
    assert fix in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("css:.a", FieldSpec("css", ".a")),
        (" CSS : .a ", FieldSpec("css", ".a")),
        ("css:a@href", FieldSpec("css", "a", "href")),
        ("css:a@DATA-x", FieldSpec("css", "a", "data-x")),
        ("css:a[x='b@c']", FieldSpec("css", "a[x='b@c']")),
        ("css:@href", FieldSpec("css", "*", "href")),
        ("meta:og:Title", FieldSpec("meta", "og:title")),
        ("jsonld:a.b", FieldSpec("jsonld", "a.b", path=("a", "b"))),
    ],
)
def test_parse(text: str, spec: FieldSpec) -> None:
    assert FieldSpec.parse(text) == spec
    assert FieldSpec.parse(spec.text) == spec


def test_microdata_can_be_named_by_its_attributes() -> None:
    page = (DATA / "html_product_microdata.html").read_text()
    assert get("css:[itemprop=price]", "price", page) == "119.99"
    assert get("css:[itemprop=priceCurrency]@content", page=page) == "USD"
    assert get("css:[itemprop=brand]", page=page) == "ACME"
    assert get("css:[itemprop=availability]@href", page=page) == "http://schema.org/InStock"


def test_all_fields_are_named_found_or_not() -> None:
    doc = Document(PAGE.encode(), "text/html", "https://e.com/")
    specs = {"b": FieldSpec.parse("css:.none"), "a": FieldSpec.parse("css:h1")}
    assert extract_fields(doc, specs) == {"b": None, "a": "Executive Anvil"}
