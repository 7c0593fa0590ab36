"""JSON: one spelling, bounded depth; JSON-LD as it is found in the wild."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.document import Document
from recrawl.extract.structured import (
    at_path,
    canonical,
    decimal_text,
    entities,
    parse,
    types_of,
)

DATA = Path(__file__).parents[1] / "data" / "extract"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(JSON)
def test_the_canonical_form_is_json_of_the_same_value(data: Any) -> None:
    assert json.loads(canonical(data)) == data
    assert canonical(parse(canonical(data))) == canonical(data)


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=6))
def test_the_order_of_keys_does_not_matter(data: dict[str, int]) -> None:
    assert canonical({"in": dict(reversed(data.items()))}) == canonical({"in": data})


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        ("10", "10.0", True),
        ("10", "1e1", True),
        ("2879.2", "2879.20", True),
        ("0", "-0.0", True),
        ("10", "11", False),
        ("1", '"1"', False),
        ("1e400", "1e401", False),
        ("9007199254740993.0", "9007199254740992.0", False),
        ("null", "false", False),
        ('"é"', '"\\u00e9"', True),
    ],
)
def test_numbers_by_value_and_all_else_by_kind(one: str, two: str, equal: bool) -> None:
    assert (canonical(parse(one)) == canonical(parse(two))) is equal


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", "nul", "[" * 100_000, '{"a":' * 50_000, "9" * 10_000, "{'a':1}"]
)
def test_what_is_no_json_raises_value_error_and_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse(text)


def test_what_could_be_parsed_can_be_spelled() -> None:
    for depth in (10, 100, 500, 900, 2000, 5000):
        doc = Document(b"[" * depth + b"]" * depth, "application/json", "https://e.com/")
        if doc.is_json:
            assert canonical(doc.data) == doc.body


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2879.20", "2879.2"),
        (2879.2, "2879.2"),
        (2879, "2879"),
        ("12.00", "12"),
        ("100", "100"),
        (" 9.90 ", "9.9"),
        ("-0.50", "-0.5"),
        ("0.0", "0"),
        (0, "0"),
        ("007", "007"),
        ("1,299.00", "1,299.00"),
        ("12 EUR", "12 EUR"),
        ("1.2.3", "1.2.3"),
        ("", ""),
        (".", "."),
        ("-", "-"),
        ("\u0663", "\u0663"),
        (True, True),
        (None, None),
        (["1.0"], ["1.0"]),
        ("9" * 50, "9" * 50),
        (float("inf"), float("inf")),
    ],
)
def test_decimal_text(value: Any, expected: Any) -> None:
    assert decimal_text(value) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", 1),
        ("b.c", 2),
        ("list.0.x", 5),
        ("list.x", 5),
        ("list.y", 6),
        ("list.9.x", None),
        ("list.999999999999", None),
        ("a.b", None),
        ("none", None),
        ("none.x", None),
        ("missing.x", None),
        ("words.0", "w"),
        ("words.x", None),
        ("nested.0.0", 7),
    ],
)
def test_at_path(path: str, expected: Any) -> None:
    data = {
        "a": 1,
        "b": {"c": 2},
        "list": [{"x": 5}, {"y": 6, "x": 8}],
        "none": None,
        "words": ["w"],
        "nested": [[7]],
    }
    assert at_path(data, tuple(path.split("."))) == expected


@pytest.mark.parametrize(
    ("scripts", "names", "broken"),
    [
        (['{"@type":"A"}'], ["A"], 0),
        (["null", "", "  ", '{"@type":"A"}', "null"], ["A"], 0),
        (['[{"@type":"A"},[{"@type":"B"}],null,3]'], ["A", "B"], 0),
        (['{"@graph":[{"@type":"A"},{"@type":"B"}]}'], ["", "A", "B"], 0),
        (["{broken", '{"@type":"A"}', "{"], ["A"], 2),
        (['<!-- {"@type":"A"} -->'], ["A"], 0),
        (['<![CDATA[ {"@type":"A"} ]]>'], ["A"], 0),
        (['{"@type":"A"};'], ["A"], 0),
        (['{"@type":"A","d":"line\nbreak"}'], ["A"], 0),
    ],
)
def test_entities(scripts: list[str], names: list[str], broken: int) -> None:
    found, failed = entities(scripts)
    assert [(types_of(e) or [""])[0] for e in found] == names
    assert failed == broken


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("Product", ["Product"]),
        ("https://schema.org/Product", ["Product"]),
        (["A", 5, "http://x/B/"], ["A", "B"]),
        (None, []),
        ({"a": 1}, []),
    ],
)
def test_types(kind: Any, names: list[str]) -> None:
    assert types_of({"@type": kind}) == names


def test_scripts_that_are_null_are_skipped() -> None:
    """CHG-20, on the page it was found in."""
    doc = Document(
        (DATA / "html_jsonld_null_scripts.html").read_bytes(), "text/html", "https://e.com/"
    )
    assert [types_of(e) for e in doc.jsonld] == [["LocalBusiness"], ["Review"]]
    assert doc.jsonld_broken == 0
    assert doc.jsonld[0]["address"]["postalCode"] == "52342"
