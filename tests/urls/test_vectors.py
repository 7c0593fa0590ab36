"""The vectors of other normalizers, of RFC 3986 and of the Web Platform Tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recrawl.model import Address, Refusal
from recrawl.urls.canonical import Normalizer, Profile

COPIES = Path(__file__).parents[1] / "data" / "urls"
SHARED = Path(__file__).parents[2].parent / "shared" / "vectors"

# Two vectors sort the values of one name. They contradict `?a=2&a=1` / `?a=1&a=2` must stay apart
# (docs/decisions/0002-url-normalization.md); the aggressive profile does as they say.
SORTED_VALUES = {"http://e.com/?a=b&a=a", "http://www.example.com/do?c=3&b=5&b=2&a=50"}

# Conflicting inputs for which no source says what we decided: input -> ours.
UNSAID = {
    "http://www.example.com/do?b=&c&a=2": "http://www.example.com/do?a=2&b=&c",
    "//www.foo.com/": None,
    "/foo.png": None,
}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shared(name: str) -> list[dict[str, Any]]:
    path = SHARED / name
    if not path.exists():
        pytest.skip("the shared vectors are not beside this checkout")
    return rows(path)


def canon(url: str, base: str | None = None, profile: Profile = Profile.DEFAULT) -> str | None:
    found = Normalizer(profile).normalize(url, base)
    return found.canonical if isinstance(found, Address) else None


def shown(row: dict[str, Any]) -> str:
    return ascii(f"{row['input']} @ {row['base']}")


def differing(vectors: list[dict[str, Any]]) -> dict[str, tuple[str | None, str | None]]:
    normalizer = Normalizer()
    wrong = {}
    for row in vectors:
        found = normalizer.normalize(row["input"], row["base"])
        got = found.canonical if isinstance(found, Address) else None
        if got != row["expected"]:
            wrong[row["input"]] = (got, row["expected"])
    return wrong


@pytest.mark.parametrize("row", rows(COPIES / "core.jsonl"), ids=shown)
def test_a_core_vector_holds_exactly(row: dict[str, Any]) -> None:
    assert canon(row["input"], row["base"]) == row["expected"]


@pytest.mark.parametrize("row", rows(COPIES / "resolve.jsonl"), ids=shown)
def test_a_reference_resolves_to_the_core_form(row: dict[str, Any]) -> None:
    assert canon(row["input"], row["base"]) == row["expected"]


@pytest.mark.parametrize("row", rows(COPIES / "reject.jsonl"), ids=shown)
def test_what_is_no_http_address_is_refused_with_a_reason(row: dict[str, Any]) -> None:
    found = Normalizer().normalize(row["input"], row["base"])
    assert isinstance(found, Refusal)
    assert found.detail


@pytest.mark.parametrize("row", rows(COPIES / "equivalent.jsonl"), ids=shown)
def test_equivalent_spellings_have_one_key(row: dict[str, Any]) -> None:
    one = Normalizer().normalize(row["input"], row["base"])
    other = Normalizer().normalize(row["expected"])
    assert isinstance(one, Address)
    assert isinstance(other, Address)
    assert (one.origin, one.key, one.canonical) == (other.origin, other.key, other.canonical)


@pytest.mark.parametrize("row", rows(COPIES / "conflicts.jsonl"), ids=shown)
def test_where_sources_conflict_our_decision_stands(row: dict[str, Any]) -> None:
    assert canon(row["input"], row["base"]) == row["ours"]


def test_all_shared_core_vectors_hold_but_for_the_two_that_sort_values() -> None:
    vectors = shared("url_core.jsonl")
    assert len(vectors) > 700
    assert set(differing(vectors)) == SORTED_VALUES


def test_the_two_hold_in_the_aggressive_profile() -> None:
    assert canon("http://e.com/?a=b&a=a", None, Profile.AGGRESSIVE) == "http://e.com/?a=a&a=b"
    assert (
        canon("http://www.example.com/do?c=3&b=5&b=2&a=50", None, Profile.AGGRESSIVE)
        == "http://www.example.com/do?a=50&b=2&b=5&c=3"
    )


@pytest.mark.parametrize(
    ("name", "at_least"), [("url_resolve_core.jsonl", 100), ("url_reject.jsonl", 200)]
)
def test_all_shared_vectors_of_that_file_hold(name: str, at_least: int) -> None:
    vectors = shared(name)
    assert len(vectors) > at_least
    assert differing(vectors) == {}


def test_all_shared_equivalent_vectors_have_one_key() -> None:
    vectors = shared("url_equivalent.jsonl")
    assert len(vectors) > 100
    apart = [
        (row["input"], row["expected"])
        for row in vectors
        if (one := canon(row["input"], row["base"])) is None or one != canon(row["expected"])
    ]
    assert apart == []


def test_every_shared_conflict_is_decided_one_way_or_recorded() -> None:
    for row in shared("url_conflicts.jsonl"):
        ours = canon(row["input"], row["base"])
        readings = [
            r["expected"]
            for r in row["readings"]
            if not all(s.startswith(("ural", "surt")) for s in r["sources"])
        ]
        if not readings:  # lookup keys of another kind (SURT, scheme-less), not addresses
            continue
        if row["input"] in UNSAID:
            assert ours == UNSAID[row["input"]]
            continue
        said = {*readings, *(canon(r) for r in readings if r is not None)}
        assert ours in said, row["input"]


OPTION_HOLDS = {  # an option's vectors -> the profile in which all of them hold
    ("collapse-slashes",): Profile.AGGRESSIVE,
    ("space-as-plus",): Profile.AGGRESSIVE,
    ("strip-host-trailing-dot",): Profile.AGGRESSIVE,
    ("blank-gets-=",): Profile.AGGRESSIVE,
}
NEVER = [("default-page",), ("strip-www",), ("strip-trailing-slash",)]


@pytest.mark.parametrize("option", OPTION_HOLDS, ids="+".join)
def test_an_option_of_the_aggressive_profile_holds_there_and_not_by_default(
    option: tuple[str, ...],
) -> None:
    vectors = [r for r in shared("url_option.jsonl") if tuple(r["options"]) == option]
    assert vectors
    for row in vectors:
        assert canon(row["input"], row["base"], OPTION_HOLDS[option]) == row["expected"]
        assert canon(row["input"], row["base"]) != row["expected"]


@pytest.mark.parametrize("option", NEVER, ids="+".join)
def test_no_profile_merges_what_only_the_host_can_show(option: tuple[str, ...]) -> None:
    vectors = [r for r in shared("url_option.jsonl") if tuple(r["options"]) == option]
    assert vectors
    for row in vectors:
        for profile in Profile:
            assert canon(row["input"], row["base"], profile) != row["expected"]
