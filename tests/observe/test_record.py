"""The record of a page: with named fields, and without."""

from __future__ import annotations

from typing import Any

import pytest

from recrawl.extract.document import Document
from recrawl.extract.fields import FieldSpec
from recrawl.model import Page, Record
from recrawl.observe.record import NoRecord, comparable, make_record, rules_of

URL = "https://e.com/"
LD = '<title>T</title><script type="application/ld+json">{}</script>'


def record(page: str, kind: str = "text/html", **fields: str) -> Record | NoRecord:
    specs = {name: FieldSpec.parse(text) for name, text in fields.items()}
    return make_record(Document(page.encode(), kind, URL), specs)


def made(page: str, kind: str = "text/html", **fields: str) -> Record:
    found = record(page, kind, **fields)
    assert isinstance(found, Record)
    return found


@pytest.mark.parametrize(
    ("page", "kind", "fields"),
    [
        ("<title>A  B</title><p>x", "text/html", {"title": "A B"}),
        ("<p>x", "text/html", {}),
        (
            LD.format('{"@type":"Product","name":"N","offers":{"price":9.90}}'),
            "text/html",
            {"title": "T", "name": "N", "price": "9.9"},
        ),
        ('{"a":1}', "application/json", {}),
        ("words", "text/plain", {}),
    ],
)
def test_the_default_record(page: str, kind: str, fields: dict[str, Any]) -> None:
    assert made(page, kind).fields == fields


def test_the_default_record_has_a_digest_of_each_tier() -> None:
    quiet = made("<p>x</p><nav>a</nav>")
    noisy = made("<p>x</p><nav>b</nav>")
    other = made("<p>y</p><nav>a</nav>")
    assert quiet.digest1 != noisy.digest1
    assert quiet.digest2 == noisy.digest2 != other.digest2
    assert quiet.digest1 != quiet.digest2


def test_with_fields_only_they_count() -> None:
    one = made("<b class=p>12</b><p>anything", price="css:.p")
    two = made("<i>moved</i><b class=p> 12.0 </b>", price="css:.p")
    three = made("<b class=p>21</b>", price="css:.p")
    assert one.fields == two.fields == {"price": "12"}
    assert one.digest1 == one.digest2 == two.digest1
    assert one.digest1 != three.digest1


def test_the_order_of_the_fields_does_not_matter_but_their_names_do() -> None:
    page = "<b>1</b><i>2</i>"
    one = made(page, a="css:b", b="css:i")
    two = made(page, b="css:i", a="css:b")
    three = made(page, a="css:b", c="css:i")
    assert one == two
    assert one.digest1[:2] != three.digest1[:2]


def test_a_field_that_goes_is_a_change_while_others_stand() -> None:
    one = made("<b>1</b><i>2</i>", a="css:b", b="css:i")
    two = made("<b>1</b>", a="css:b", b="css:i")
    assert two.fields == {"a": "1", "b": None}
    assert one.digest1 != two.digest1


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("", "text/html"),
        ("<b></b><i> </i>", "text/html"),
        ("<p>Access denied</p>", "text/html"),
        ('{"b":1}', "application/json"),
        ("<b>1</b>", "text/plain"),
    ],
)
def test_where_no_field_is_found_there_is_no_record(page: str, kind: str) -> None:
    found = record(page, kind, price="css:b", stock="css:i")
    assert found == NoRecord("not one field was found in the page: price, stock")


@pytest.mark.parametrize(
    ("data", "is_record"),
    [
        ('{"@type":"Product","sku":"1"}', True),
        ("null", True),
        ("{broken", False),
        ('{broken</script><script type="application/ld+json">{"sku":"1"}', True),
    ],
)
def test_json_ld_that_cannot_be_read_is_not_taken_for_an_emptied_record(
    data: str, is_record: bool
) -> None:
    """CHG-20: a failed script is a failed extraction, never a change."""
    found = record(LD.format(data), title="css:title", sku="jsonld:sku")
    assert isinstance(found, Record) is is_record
    if isinstance(found, NoRecord):
        assert "sku" in found.evidence


def test_a_base_is_comparable_only_if_read_by_the_same_rules() -> None:
    specs = {"a": FieldSpec.parse("css:b")}
    other = {"a": FieldSpec.parse("css:i")}
    page = Page(1, 1, "/")
    assert not comparable(page, {})
    page.digest1 = made("<b>1</b>", a="css:b").digest1
    assert comparable(page, specs)
    assert not comparable(page, other)
    assert not comparable(page, {})
    assert len({rules_of(specs), rules_of(other), rules_of({})}) == 3


def test_where_all_that_is_visible_is_the_same_both_digests_are_the_rows() -> None:
    page, doc = "<p>x 12:30</p>", lambda p: Document(p.encode(), "text/html", URL)
    first = made(page)
    row = Page(1, 1, "/", digest1=first.digest1, digest2=b"as kept!")
    again = make_record(doc(page), {}, row)
    assert again == Record({}, first.digest1, b"as kept!")
    other = make_record(doc("<p>x 12:31</p>"), {}, row)
    assert isinstance(other, Record)
    assert other.digest1 != first.digest1
    assert other.digest2 == first.digest2  # read anew
