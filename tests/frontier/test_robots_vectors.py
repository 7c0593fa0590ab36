"""Every robots.txt vector: other people's tests, our own edge cases, and captured files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from recrawl.frontier.robots import Robots

HERE = Path(__file__).parents[1] / "data" / "robots"
SHARED = Path(__file__).parents[2].parent / "shared"

Row = dict[str, object]

# Where the sources contradict each other, or RFC 9309; reasons in docs/decisions/0003-robots.md.
NOT_OURS = {
    ("google-robotstxt", "ID_Encoding"): "RFC 9309 2.2.2: escapes are compared decoded",
    ("protego", "test_grouping_unknown_keys"): "RFC 9309 2.2.4: unknown lines end no group",
}
DIFFERENCES = 6


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def name(row: Row) -> str:
    text = json.dumps([row["robots"], row["target"]]).encode()
    label = row.get("test") or row.get("name")
    return f"{label}-{row['agent']}-{hashlib.sha256(text).hexdigest()[:6]}"


def ours(row: Row) -> bool:
    return Robots(str(row["robots"]).encode(), str(row["agent"])).allows(str(row["target"]))


def expected(row: Row) -> bool:
    """What we answer: the source's answer, but for the rows on which our policy parts from it."""
    allowed = bool(row["allowed"])
    grouping = row.get("test") == "test_grouping_unknown_keys" and allowed
    return not allowed if row.get("conflict") or grouping else allowed


@pytest.mark.parametrize("row", read(HERE / "vectors.jsonl"), ids=name)
def test_vectors(row: Row) -> None:
    assert ours(row) == expected(row)


@pytest.mark.parametrize("row", read(HERE / "edge.jsonl"), ids=name)
def test_edge_vectors(row: Row) -> None:
    assert ours(row) == row["allowed"]


def test_the_differences_are_the_known_ones() -> None:
    """As many as the decision record says, and none outside of the two tests named there."""
    rows = read(HERE / "vectors.jsonl")
    parted = [row for row in rows if ours(row) != row["allowed"]]
    assert {(row["source"], row["test"]) for row in parted} == set(NOT_OURS)
    assert len(parted) <= DIFFERENCES


@pytest.mark.skipif(not (SHARED / "vectors").is_dir(), reason="the whole vectors are not here")
def test_all_shared_vectors() -> None:
    rows = read(SHARED / "vectors" / "robots.jsonl")
    assert len(rows) > 390
    parted = [row for row in rows if ours(row) != row["allowed"]]
    assert {(row["source"], row["test"]) for row in parted} == set(NOT_OURS)
    assert len(parted) == DIFFERENCES
    edge = read(SHARED / "vectors" / "robots_edge.jsonl")
    assert [row["name"] for row in edge if ours(row) != row["allowed"]] == []


# captured files


def captured(name: str, agent: str = "anybot", origin: str = "") -> Robots:
    return Robots((HERE / name).read_bytes(), agent, origin=origin)


def test_a_captured_file_with_a_byte_order_mark() -> None:
    """ROB-07: the mark must not hide the first group."""
    robots = captured("robots_bom_utf8.txt")
    assert "bom" in robots.flags
    assert not robots.allows("/login.aspx")
    assert not robots.allows("https://site.example/x/output/print")
    assert robots.allows("/")


@pytest.mark.parametrize(
    ("agent", "delay", "private", "login"),
    [
        ("mybot", 10.0, False, True),
        ("yourbot", None, False, False),
        ("otherbot", 30.0, True, True),
    ],
)
def test_groups_merge_and_delays_stay_with_their_agents(
    agent: str, delay: float | None, private: bool, login: bool
) -> None:
    robots = captured("robots_crawl_delay_group_merge.txt", agent)
    assert robots.crawl_delay == delay
    assert robots.allows("/private/x") is private
    assert robots.allows("/login/x") is login


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("anybot", "/gp/registry/wishlist/*/reserve", False),
        ("anybot", "/gp/registry/wishlist/123/other", False),
        ("anybot", "/wishlist/universal-anything", True),
        ("anybot", "/wishlist/bogus", False),
        ("anybot", "/gp/wishlist/ipad-install/x", True),
        ("anybot", "/books/gcrnsts", False),
        ("anybot", "/a/b/c/gcrnsts?d", False),
        ("anybot", "/a/sim/B001132UEE", True),  # a rule of Googlebot's
        ("anybot", "/rss/people/x/y/reviews", True),
        ("anybot", "/", True),
        ("Googlebot/2.1", "/rss/people/x/y/reviews", False),
        ("Googlebot/2.1", "/rss/people/x/y/else", True),
        ("Googlebot/2.1", "/a/sim/B001132UEE", False),
        ("EtaoSpider", "/", False),
    ],
)
def test_a_captured_file_full_of_stars(agent: str, path: str, allowed: bool) -> None:
    robots = captured("robots_wildcards.txt", agent)
    assert robots.allows(path) is allowed
    assert len(robots.sitemaps) > 3
