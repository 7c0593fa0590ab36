"""Patterns in robots syntax and on parameters, and what a project leaves out by them."""

from __future__ import annotations

import re
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.model import Address, Refused
from recrawl.urls.canonical import Normalizer
from recrawl.urls.patterns import PathPattern, PatternError, PatternSet, hint, meets

NORMALIZER = Normalizer()


def at(path: str) -> Address:
    found = NORMALIZER.normalize(path, "http://h.test/")
    assert isinstance(found, Address)
    return found


@pytest.mark.parametrize(
    ("pattern", "met", "not_met"),
    [  # RFC 9309 2.2.3 and the examples of its section 5, the article's three, and edges
        ("/", ["/", "/a", "/?x"], []),
        ("*", ["/", "/a"], []),
        ("/calendar/", ["/calendar/", "/calendar/2026/1"],
         ["/calendar", "/x/calendar/", "/Calendar/"]),
        ("/?filter=", ["/?filter=", "/?filter=red&a=1"], ["/shop?filter=red", "/?a=1&filter=red"]),
        ("/*?sort=", ["/shop?sort=price", "/?sort=", "/a/b?sort=x"],
         ["/shop?a=1&sort=x", "/sort="]),
        ("/*?*sort=", ["/shop?a=1&sort=x", "/?sort="], ["/shop"]),
        ("/*.gif$", ["/a.gif", "/x/y.gif", "/.gif"], ["/a.gif?x", "/a.gifs", "/gif"]),
        ("/a*b*c", ["/abc", "/a1b2c3", "/aabbcc"], ["/acb", "/ab"]),
        ("/a$", ["/a"], ["/", "/ab", "/a?"]),
        ("/$", ["/"], ["/a", "/?"]),
        ("/a*$", ["/a", "/abc"], ["/b"]),
        ("*/print$", ["/print", "/a/print"], ["/printer", "/print/"]),
        ("/*/", ["//", "/a/", "/a/b"], ["/", "/a"]),
        ("/ab*ba$", ["/abba", "/abxba"], ["/aba", "/ab", "/abab"]),
        ("/a$b", ["/a$b", "/a$bc"], ["/a", "/ab"]),
        ("/**//***x", ["///x", "/a/b//x"], ["/x", "//x"]),
        ("/caf\u00e9", ["/caf%C3%A9"], ["/cafe", "/caf%E9"]),
        ("/%7euser", ["/~user"], ["/%7Fuser"]),
        ("/a%2fb", ["/a%2Fb"], ["/a/b"]),
        ("/s?q[]=", ["/s?q%5B%5D=1"], ["/s?q=1"]),
    ],
)  # fmt: skip
def test_robots_syntax(pattern: str, met: list[str], not_met: list[str]) -> None:
    p = PathPattern(pattern)
    assert [path for path in met if not p.matches(path)] == []
    assert [path for path in not_met if p.matches(path)] == []


@pytest.mark.parametrize(
    ("pattern", "met", "not_met"),
    [
        ("param:sort", ["/?sort=x", "/a?b=1&sort=x", "/a?sort", "/?sort=&c"],
         ["/sort", "/?resort=x", "/?sorted=1", "/?a=sort", "/?Sort=x", "/?a=1?sort=x"]),
        ("param:utm_*", ["/?utm_source=x", "/?a=1&utm_=", "/?utm_"], ["/?utm=1", "/?xutm_a=1"]),
        ("param:a[]", ["/?a%5B%5D=1"], ["/?a=1"]),
    ],
)  # fmt: skip
def test_param_meets_the_parameter_wherever_it_stands(
    pattern: str, met: list[str], not_met: list[str]
) -> None:
    p = PathPattern(pattern)
    assert [path for path in met if not p.matches(path)] == []
    assert [path for path in not_met if p.matches(path)] == []


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("", "write '/'"),
        ("   ", "write '/'"),
        ("calendar/", "write '/calendar/'"),
        ("?sort=", "write '/*?sort='"),
        ("&sort=", "write '/*&sort='"),
        ("https://h.test/a/b", "write '/a/b'"),
        ("http://h.test", "write '/'"),
        ("/a b", "as '%20'"),
        ("/a\nb", "as '%0A'"),
        ("/a#b", "as '%23'"),
        ("param:", "write 'param:sort'"),
        ("param:*", "write 'param:sort'"),
        ("param:sort=price", "write 'param:sort'"),
        ("param:a*b", "write 'param:a'"),
        ("param:a b", "write 'param:a'"),
    ],
)
def test_a_bad_pattern_is_named_with_its_fix(text: str, fix: str) -> None:
    with pytest.raises(PatternError) as e:
        PathPattern(text)
    assert fix in str(e.value)
    assert isinstance(e.value, ValueError)


@given(st.text(max_size=30))
def test_any_text_is_a_pattern_or_a_pattern_error(text: str) -> None:
    try:
        PathPattern(text).matches("/a/b?c=d")
    except PatternError as e:
        assert str(e)


def reference(pattern: str) -> re.Pattern[str]:
    """The same by a regular expression, which backtracks."""
    body = pattern.removesuffix("$")
    end = r"\Z" if pattern.endswith("$") else ""
    return re.compile(".*".join(map(re.escape, body.split("*"))) + end, re.DOTALL)


@given(st.text("/ab*", max_size=9), st.booleans(), st.text("/ab", max_size=14))
def test_it_agrees_with_a_regular_expression(body: str, anchored: bool, tail: str) -> None:
    pattern = "/" + body + ("$" if anchored else "")
    path = "/" + tail
    expected = reference(pattern).match(path) is not None
    assert PathPattern(pattern).matches(path) is expected


@pytest.mark.parametrize(
    "pattern",
    ["/" + "*" * 2000, "/" + "a*" * 1000, "/" + "a*" * 1000 + "b$", "/" + "*a" * 1000 + "$",
     "/" + "*aaaaaaab" * 220, "/" + "?*" * 1000, "param:" + "a" * 2000],
    ids=lambda p: f"{p[:10]}...{p[-3:]}",
)  # fmt: skip
@pytest.mark.parametrize("path", ["/" + "a" * 8000, "/" + "ab" * 4000, "/?" + "a&" * 4000])
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    p = PathPattern(pattern)
    times = []
    for _ in range(5):
        began = perf_counter()
        p.matches(path)
        times.append(perf_counter() - began)
    assert min(times) < 0.010


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/*?sort=", "param:sort"),
        ("/?filter=", "param:filter"),
        ("*?sort=", "param:sort"),
        ("?sort=", "param:sort"),
        ("/*&sort=", "param:sort"),
        ("/*?*sort=", "param:sort"),
        ("/*?sort=*", "param:sort"),
        ("/*?sort", "param:sort"),
        ("/calendar/", None),
        ("/search?q=", None),
        ("/*?a=1", None),
        ("/*?", None),
        ("param:sort", None),
    ],
)
def test_hint(text: str, said: str | None) -> None:
    assert hint(text) == said
    if said is not None:
        assert PathPattern(said).matches("/shop?a=1&" + said.removeprefix("param:") + "=x")


def test_exclude_and_include() -> None:
    s = PatternSet(include=["/shop/", "/news/"], exclude=["/shop/cart", "param:sort"])
    assert s.refuses(at("/shop/1")) is None
    assert s.refuses(at("/shop/cart/2")) == (Refused.EXCLUDED, "/shop/cart")
    assert s.refuses(at("/news/1?a=1&sort=x")) == (Refused.EXCLUDED, "param:sort")
    assert s.refuses(at("/about")) == (Refused.NOT_INCLUDED, "")
    assert s.refuses(at("/about?sort=1")) == (Refused.EXCLUDED, "param:sort")
    assert PatternSet().refuses(at("/anything")) is None
    assert PatternSet(exclude=["/a"]).refuses(at("/b")) is None


def test_the_three_exclusions_of_the_article() -> None:
    s = PatternSet(exclude=["/calendar/", "/?filter=", "/*?sort="])
    paths = ["/calendar/2026/12", "/?filter=red", "/shop?sort=price", "/shop?color=red", "/"]
    assert [s.refuses(at(path)) is not None for path in paths] == [True, True, True, False, False]


def test_both_forms_of_an_address_are_tried() -> None:
    """`sort` is found first in one form and last in the other; a tracking name in one alone."""
    found = at("/shop?sort=x&color=red&utm_source=y")
    assert (found.path, found.key_path) == (
        "/shop?sort=x&color=red&utm_source=y",
        "/shop?color=red&sort=x",
    )
    for text in ("/*?sort=", "/*?color=", "param:utm_*", "/shop?color=red&sort=x$"):
        assert meets(PathPattern(text), found), text
    assert PatternSet(include=["/*?sort="]).refuses(found) is None


def test_a_bad_pattern_of_a_set_is_named() -> None:
    with pytest.raises(PatternError, match="'cart'"):
        PatternSet(exclude=["/shop", "cart"])


def test_patterns_are_values() -> None:
    assert PathPattern("/a") == PathPattern(" /a ") != PathPattern("/b")
    assert len({PathPattern("/a"), PathPattern("/a")}) == 1
    assert repr(PathPattern("/a")) == "PathPattern('/a')"
