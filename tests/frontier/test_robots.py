"""Reading a robots.txt: bytes to groups, groups to one crawler's rules, and no hostile file."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.frontier.robots import MAX_BYTES, Robots, parse_robots
from recrawl.frontier.robots_rules import MAX_WILDCARDS, product_tokens
from recrawl.frontier.robots_text import agent_token
from recrawl.units import DAY

CLOSED = "User-agent: *\r\nDisallow: /"


def robots(*lines: str, agent: str = "MyBot", origin: str = "") -> Robots:
    return Robots("\n".join(lines).encode(), agent, origin=origin)


# bytes


@pytest.mark.parametrize(
    ("body", "flag"),
    [
        (CLOSED.encode(), None),
        (codecs.BOM_UTF8 + CLOSED.encode(), "bom"),
        (codecs.BOM_UTF16_LE + CLOSED.encode("utf-16-le"), "bom"),
        (codecs.BOM_UTF16_BE + CLOSED.encode("utf-16-be"), "bom"),
        (CLOSED.replace("\r\n", "\r").encode(), None),
        (CLOSED.replace("\r\n", "\n").encode(), None),
        (b"\r\n\r\n" + CLOSED.encode() + b"\r\n", None),
    ],
)
def test_every_encoding_and_line_end_keeps_the_first_rule(body: bytes, flag: str | None) -> None:
    """ROB-07 and its kind."""
    found = Robots(body, "MyBot")
    assert not found.allows("/a")
    assert found.flags == (frozenset({flag}) if flag else frozenset())


def test_nothing_at_all_allows_everything() -> None:
    for body in (b"", b"\n\n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, b"# only a comment", b"\x00"):
        found = Robots(body, "MyBot")
        assert found.allows("/x")
        assert found.crawl_delay is None
        assert found.sitemaps == ()


def test_what_is_past_the_cap_is_not_read_and_a_cut_line_is_dropped() -> None:
    line = b"Disallow: /%06d\n"
    body = b"User-agent: *\n" + b"".join(line % i for i in range(40_000))
    assert len(body) > MAX_BYTES
    found = Robots(body, "MyBot")
    last = (MAX_BYTES - len(b"User-agent: *\n")) // len(line % 0) - 1
    assert "truncated" in found.flags
    assert not found.allows(f"/{last:06d}")
    assert found.allows(f"/{last + 1:06d}")
    cut = b"User-agent: *\nDisallow: /abc\nDisallow: /" + b"x" * MAX_BYTES
    assert Robots(cut, "MyBot").allows("/")
    assert not Robots(cut, "MyBot").allows("/abc")


def test_a_file_of_just_the_cap_is_whole() -> None:
    head = b"User-agent: *\nDisallow: /abc\n#"
    body = head + b"x" * (MAX_BYTES - len(head) - 13) + b"\nDisallow: /z"
    assert len(body) == MAX_BYTES
    found = Robots(body, "MyBot")
    assert "truncated" not in found.flags
    assert not found.allows("/z")


PAGE = b"<!doctype html><html><pre>\nUser-agent: *\nDisallow: /\n</pre></html>"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (PAGE, "text/html"),
        (PAGE, "text/plain"),
        (PAGE, ""),
        (b"\n\n  " + PAGE, ""),
        (codecs.BOM_UTF8 + PAGE, "text/plain"),
        (b"Not found\n" + PAGE, "text/html; charset=utf-8"),
        (b"x\n<script>\nUser-agent: *\nDisallow: /\n</script>", "TEXT/HTML"),
        (b"<?xml version='1.0'?><Error>\nUser-agent: *\nDisallow: /\n</Error>", "application/xml"),
    ],
)
def test_a_page_in_place_of_the_file_has_no_rules(body: bytes, content_type: str) -> None:
    """ROB-17."""
    found = Robots(body, "MyBot", content_type=content_type)
    assert found.allows("/x")
    assert found.flags == {"html"}


def test_rules_sent_as_html_are_rules_all_the_same() -> None:
    found = Robots(CLOSED.encode(), "MyBot", content_type="text/html")
    assert not found.allows("/x")
    assert found.flags == {"html-type"}


# lines and groups


@pytest.mark.parametrize(
    "line",
    ["Disallow: /x", "disallow:/x", "DISALLOW : /x", "Disallow /x", "disallow\t/x",
     "Dissallow: /x", "Disalow: /x", "  Disallow: /x  # why", "\u00a0Disallow: /x"],
)  # fmt: skip
def test_ways_to_write_disallow(line: str) -> None:
    found = robots("user agent : mybot", line)
    assert not found.allows("/x")
    assert found.allows("/y")


@pytest.mark.parametrize(
    "line", ["Disallowed: /x", "Not-disallow: /x", "Disallow", "Disallow:", "Noindex: /x", ": /x"]
)
def test_lines_that_are_no_rule(line: str) -> None:
    assert robots("User-agent: *", line).allows("/x")


@pytest.mark.parametrize(
    "between",
    ["Crawl-delay: 5", "Sitemap: https://e.com/s.xml", "Host: e.com", "Nonsense", "# a comment",
     "", "Request-rate: 1/5", "Content-Signal: search=yes"],
)  # fmt: skip
def test_only_rules_end_the_agents_of_a_group(between: str) -> None:
    """RFC 9309 2.2.4: other records must not interfere."""
    found = robots("User-agent: MyBot", between, "User-agent: other", "Disallow: /x")
    assert not found.allows("/x")
    found = robots("User-agent: MyBot", "Disallow:", between, "User-agent: other", "Disallow: /x")
    assert found.allows("/x")


def test_a_delay_belongs_to_the_agents_before_it() -> None:
    """ROB-09: one bot's delay isn't given to all; blank lines don't matter, nor does Sitemap."""
    lines = (
        "User-agent: *",
        "Disallow: /*/print$",
        "Sitemap: https://e.com/s.xml",
        "User-agent: AhrefsBot",
        "Crawl-delay: 10",
        "User-agent: deepcrawl",
        "Disallow: /",
    )
    anyone = robots(*lines)
    assert anyone.crawl_delay is None
    assert not anyone.allows("/x/print")
    assert anyone.allows("/x/print/y")
    assert robots(*lines, agent="AhrefsBot/7.0").crawl_delay == 10.0
    assert robots(*lines, agent="deepcrawl").crawl_delay is None


def test_delays_within_one_group() -> None:
    lines = (
        "User-agent: a",
        "User-agent: b",
        "Crawl-delay: 10",
        "User-agent: c",
        "Crawl-delay: 20",
        "Disallow: /x",
        "Crawl-delay: 30",
        "User-agent: d",
        "Disallow: /y",
    )
    delays = {agent: robots(*lines, agent=agent).crawl_delay for agent in "abcd"}
    assert delays == {"a": 10.0, "b": 10.0, "c": 30.0, "d": None}
    assert all(not robots(*lines, agent=agent).allows("/x") for agent in "abc")


def test_directives_before_any_agent_are_ignored() -> None:
    """ROB-13."""
    found = robots("Crawl-delay: 1", "User-agent: *", "Disallow: /*%")
    assert found.crawl_delay is None
    assert found.allows("/a")
    assert not found.allows("/a%20b")
    assert robots("Disallow: /", "User-agent: *", "Disallow: /b").allows("/a")
    assert robots("User-agent:", "Disallow: /").allows("/a")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1,5", 1.5),
        ("10s", 10.0),
        ("10 seconds", 10.0),
        ("0", 0.0),
        ("120", 120.0),
        ("86400", DAY),
    ],
)
def test_delays_as_they_are_written(written: str, seconds: float) -> None:
    found = robots("User-agent: *", f"Crawl-delay: {written}")
    assert found.crawl_delay == seconds
    assert found.flags == frozenset()


@pytest.mark.parametrize("written", ["", "-1", "fast", "1e9", "inf", "nan", "1.2.3", "5 min", "٣"])
def test_delays_that_say_nothing_are_flagged(written: str) -> None:
    found = robots("User-agent: *", f"Crawl-delay: {written}", "Disallow: /x")
    assert found.crawl_delay is None
    assert "bad-delay" in found.flags
    assert not found.allows("/x")


@pytest.mark.parametrize("written", ["86401", "86400000", "9" * 400])
def test_absurd_delays_are_clamped_with_notice(written: str) -> None:
    """ROB-15."""
    found = robots("User-agent: *", f"Crawl-delay: {written}")
    assert found.crawl_delay == DAY
    assert "delay-clamped" in found.flags


def test_the_longest_of_several_delays_binds() -> None:
    lines = ("User-agent: *", "Crawl-delay: 2", "Disallow: /x", "User-agent: *", "Crawl-delay: 7")
    assert robots(*lines).crawl_delay == 7.0
    assert robots(*lines, "Crawl-delay: 3").crawl_delay == 7.0


# agents


@pytest.mark.parametrize(
    ("agent", "tokens"),
    [
        ("recrawl", ("recrawl",)),
        ("Recrawl/0.1 (+https://bot.example/about)", ("recrawl",)),
        ("my-bot_2/1.0", ("my-bot_2",)),
        ("Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)", ("foobot",)),
        ("Mozilla allowbot1 99.9", ("allowbot1",)),
        ("Mozilla/5.0 (compatible; a@b.example)", ()),
        ("", ("",)),
    ],
)
def test_product_tokens(agent: str, tokens: tuple[str, ...]) -> None:
    assert product_tokens(agent) == tokens


@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("FooBot", "foobot"),
        (" FooBot/1.0 ", "foobot"),
        ("Foo Bar", "foo"),
        ("FooBot*", "foobot"),
        ("*", "*"),
        ("* anything", "*"),
        ("*FooBot", "foobot"),
        ("", ""),
        ("/1.0", ""),
        ("Львів-bot", "львів-bot"),
    ],
)
def test_agent_token(line: str, token: str) -> None:
    assert agent_token(line) == token


@pytest.mark.parametrize(
    ("group", "agent", "binds"),
    [
        ("recrawl", "recrawl/0.1 (+https://x.example)", True),
        ("RECRAWL", "recrawl", True),
        ("recrawl/0.2", "recrawl/0.1", True),
        ("crawl", "recrawl", False),
        ("rec", "recrawl", False),
        ("recrawl-news", "recrawl", False),
        ("bot", "MyBot/1.0 (+http://bot.example/bot)", False),
        ("mozilla", "Mozilla/5.0 (compatible; FooBot/1.0)", False),
        ("foobot", "Mozilla/5.0 (compatible; FooBot/1.0)", True),
    ],
)
def test_a_group_binds_by_the_whole_token(group: str, agent: str, binds: bool) -> None:
    found = robots(f"User-agent: {group}", "Disallow: /x", agent=agent)
    assert found.allows("/x") is not binds


def test_our_own_group_replaces_the_one_for_all() -> None:
    lines = ("User-agent: *", "Disallow: /", "Crawl-delay: 9", "User-agent: mybot", "Disallow: /x")
    assert robots(*lines).allows("/y")
    assert robots(*lines).crawl_delay is None
    assert not robots(*lines, agent="another").allows("/y")
    assert not robots(*lines, agent="").allows("/y")


# paths


@pytest.mark.parametrize(
    ("pattern", "path", "allowed"),
    [
        ("/caf%E9", "/caf%E9", False),  # a legacy page's octets ...
        ("/caf%E9", "/caf%e9/menu", False),
        ("/caf%E9", "/caf%E8", True),  # ... aren't all the same unknown character
        ("/caf%E9", "/caf%C3%A9", True),
        ("/café", "/caf%C3%A9", False),
        ("/caf%c3%a9", "/café", False),
        ("/a%FFb%C3%A9", "/a%ffb%c3%a9x", False),
        ("/%7Ejoe", "/~joe", False),
        ("/a%2Fb", "/a/b", True),
        ("/a b", "/a%20b", False),
        ("/x$", "/x", False),
        ("/x$", "/xy", True),
        ("/x$y", "/x$y", False),
        ("/*.pdf$", "/a/b.pdf", False),
        ("/*.pdf$", "/a/b.pdf?x", True),
        ("/a%2Ab", "/a*b", False),
        ("/a%2Ab", "/axb", True),
        ("/?", "/?a=1", False),
        ("/?", "/", True),
        ("//admin", "//admin/x", False),
        ("//admin", "/admin/x", True),
        ("/a\x0bb", "/a%0Bb", False),
        ("/a\x0bb", "/a", True),
        ("/a\x0bDisallow: /c", "/c", True),
        ("/a\x85b", "/a", True),
        ("/a\u2028b", "/a%E2%80%A8b", False),
        ("/a\u2028b", "/a", True),
        ("private", "/x", True),
        ("*private", "/x/private", False),
    ],
)
def test_patterns(pattern: str, path: str, allowed: bool) -> None:
    assert robots("User-agent: *", f"Disallow: {pattern}").allows(path) is allowed


def test_raw_latin_1_in_the_file() -> None:
    found = Robots("User-agent: *\nDisallow: /café".encode("latin-1"), "MyBot")
    assert not found.allows("/caf%E9")
    assert found.allows("/caf%E8")


@pytest.mark.parametrize(
    "url",
    ["/x?y", "https://h.example/x?y", "http://u:p@h.example:8080/x?y", "https://h.example/x?y#z",
     "https://[::1]:80/x?y"],
)  # fmt: skip
def test_a_path_and_its_url_are_judged_alike(url: str) -> None:
    assert not robots("User-agent: *", "Disallow: /x?y").allows(url)
    assert robots("User-agent: *", "Disallow: /z").allows(url)


@pytest.mark.parametrize(
    "url", ["https://h.example", "https://h.example?q", "https://h.example#f"]
)
def test_a_url_without_a_path_means_the_root(url: str) -> None:
    assert not robots("User-agent: *", "Disallow: /").allows(url)
    assert robots("User-agent: *", "Disallow: /a").allows(url)


def test_robots_txt_itself_is_always_allowed() -> None:
    found = robots("User-agent: *", "Disallow: /")
    assert found.allows("/robots.txt")
    assert found.allows("https://h.example/robots.txt")
    assert not found.allows("/x/robots.txt")


def test_the_longest_rule_wins_and_allow_wins_a_tie() -> None:
    found = robots("User-agent: *", "Disallow: /a", "Allow: /a/b", "Disallow: /c", "Allow: /c")
    assert [found.allows(p) for p in ("/a/x", "/a/b/x", "/c")] == [False, True, True]


# sitemaps


def test_sitemaps_are_absolute_each_once_and_for_every_agent() -> None:
    found = robots(
        "Sitemap: /a.xml",
        "User-agent: other",
        "Disallow: /",
        "sitemap: https://e.com/a.xml",
        "Site-map: b.xml.gz",
        "Sitemap: https://cdn.example/c.xml",
        "SITEMAP:HTTPS://E.com/a.xml",
        origin="https://e.com",
    )
    assert found.sitemaps == (
        "https://e.com/a.xml",
        "https://e.com/b.xml.gz",
        "https://cdn.example/c.xml",
    )
    assert found.flags == frozenset()


@pytest.mark.parametrize("line", ["http://[bad", "ftp://e.com/s.xml", "javascript:alert(1)"])
def test_sitemaps_that_cannot_be_fetched_are_flagged(line: str) -> None:
    found = robots(f"Sitemap: {line}", "Sitemap: /good.xml", origin="https://e.com")
    assert found.sitemaps == ("https://e.com/good.xml",)
    assert "bad-sitemap" in found.flags


def test_a_relative_sitemap_without_an_origin_is_flagged() -> None:
    assert robots("Sitemap: /s.xml").flags == {"bad-sitemap"}


# hostile files


@pytest.mark.parametrize(
    "pattern",
    ["/" + "*" * 2000 + "/", "/" + "*" * 19, "/" + "*a" * 1000, "/" + "a*" * 1000 + "b$",
     "/*" + "a" * 2000 + "b", "/*" + "ab" * 1000 + "c", "/" + "%" * 2000, "/" + "%ff" * 600],
)  # fmt: skip
def test_patterns_that_freeze_a_regex_engine(pattern: str) -> None:
    """ROB-11: 2 KB patterns against 8 KB URLs."""
    found = robots("User-agent: *", f"Disallow: {pattern}")
    for path in ("/" + "a" * 8000, "/" + "ab" * 4000, "/a" * 4000, "/" + "x" * 100):
        best = 1.0
        for _ in range(3):
            t = time.process_time()
            found.allows(path)
            best = min(best, time.process_time() - t)
        assert best < 0.01


def test_star_runs_mean_one_star() -> None:
    for pattern in ("/********************/", "/*******************"):
        many = robots("User-agent: *", f"Disallow: {pattern}")
        one = robots("User-agent: *", "Disallow: " + pattern.replace("*" * 18, ""))
        for path in ("/", "/a", "/a/", "/a/b", "/" + "a" * 100, "/" + "a" * 100 + "/"):
            assert many.allows(path) == one.allows(path)


def test_a_run_of_stars_makes_no_rule_longer() -> None:
    found = robots("User-agent: *", "Disallow: /****", "Allow: /abc")
    assert found.allows("/abc")


BIG = {
    "many searching rules": "User-agent: *\n"
    + "".join(f"Allow: /*{i}a*b\n" for i in range(30_000)),
    "many plain rules": "User-agent: *\n" + "".join(f"Allow: /{i}\n" for i in range(40_000)),
    "agents x rules": "".join(f"user-agent:a{i}\n" for i in range(18_000))
    + "".join(f"allow:/{i}\n" for i in range(20_000)),
    "one agent often, delays": "user-agent:mybot\n" * 15_000 + "crawl-delay:1\n" * 15_000,
    "delay after delay": "user-agent:mybot\ncrawl-delay:1\n" * 16_000,
    "group after group": "user-agent:mybot\ndisallow:/\n" * 18_000,
    "one long line": "user-agent:*\ndisallow:/" + "*a" * 200_000,
    "blanks": "disallow" + " " * 400_000 + "x",
    "sitemaps": "".join(f"sitemap:/{i}\n" for i in range(30_000)),
}


@pytest.mark.parametrize("text", BIG.values(), ids=BIG)
def test_no_file_costs_more_than_a_moment(text: str) -> None:
    t = time.process_time()
    found = Robots(text.encode(), "MyBot", origin="https://e.com")
    assert time.process_time() - t < 2.5
    t = time.process_time()
    for _ in range(10):
        found.allows("/" + "x" * 2000)
    assert time.process_time() - t < 0.5


def test_searching_rules_are_capped_and_others_are_not() -> None:
    n = MAX_WILDCARDS
    lines = [f"Disallow: /*q{i:05}q" for i in range(n + 1)] + ["Disallow: /plain", "Disallow: /t*"]
    found = robots("User-agent: *", *lines)
    assert "rules-capped" in found.flags
    assert not found.allows(f"/x/q{n - 1:05}q")
    assert found.allows(f"/x/q{n:05}q")
    assert not found.allows("/plain")
    assert not found.allows("/tail")
    assert "rules-capped" not in robots("User-agent: *", *lines[1:]).flags


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=400), st.text(max_size=30), st.text(max_size=60))
def test_never_raises_on_bytes(body: bytes, agent: str, path: str) -> None:
    found = Robots(body, agent, origin="https://e.com")
    assert found.allows("/" + path) in (True, False)


line = st.one_of(
    st.sampled_from(["User-agent: *", "User-agent: mybot", "User-agent: x", "Crawl-delay: 3", ""]),
    st.builds(
        "{}: {}".format,
        st.sampled_from(["Disallow", "Allow", "Sitemap", "Crawl-delay", "User-agent"]),
        st.text("/*$ab%4#: \u00e9", max_size=12),
    ),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(line, max_size=30), st.text("/ab%4?", max_size=12))
def test_line_ends_marks_and_blank_lines_change_nothing(lines: list[str], path: str) -> None:
    """Whatever the file: CRLF, CR, a mark, comments and blank lines leave its meaning alone."""
    plain = Robots("\n".join(lines).encode(), "mybot")
    for body in (
        "\r\n".join(lines).encode(),
        "\r".join(lines).encode(),
        codecs.BOM_UTF8 + "\n".join(lines).encode(),
        codecs.BOM_UTF16_LE + "\n".join(lines).encode("utf-16-le"),
        "\n# comment\n\n".join(lines).encode(),
        "\nUnknown-line: 7\n".join(lines).encode(),
    ):
        other = Robots(body, "mybot")
        assert other.allows("/" + path) == plain.allows("/" + path)
        assert other.crawl_delay == plain.crawl_delay


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.booleans(), st.text("/ab*", min_size=1, max_size=6)), max_size=8),
    st.text("/ab", max_size=8),
)
def test_decisions_equal_a_plain_reading_of_the_rfc(
    rules: list[tuple[bool, str]], tail: str
) -> None:
    """Against ten lines of backtracking: the longest matching pattern, allow on a tie."""
    path = "/" + tail

    def matches(pattern: str, text: str) -> bool:
        if not pattern:
            return True
        if pattern[0] == "*":
            return any(matches(pattern[1:], text[i:]) for i in range(len(text) + 1))
        return text[:1] == pattern[0] and matches(pattern[1:], text[1:])

    best = (0, True)
    lines = ["User-agent: *"]
    for allow, pattern in rules:
        while "**" in pattern:
            pattern = pattern.replace("**", "*")
        lines.append(f"{'Allow' if allow else 'Disallow'}: {pattern}")
        if matches(pattern, path):
            best = max(best, (len(pattern), allow))
    assert robots(*lines).allows(path) == best[1]


def test_parse_robots_shows_the_groups() -> None:
    text = parse_robots(
        b"User-agent: a\nUser-agent: b\nDisallow:\nAllow: /x\nUser-agent: c\nDisallow: /y"
    )
    assert [(g.agents, g.rules) for g in text.groups] == [
        (["a", "b"], [(True, "/x")]),
        (["c"], [(False, "/y")]),
    ]
