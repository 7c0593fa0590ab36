"""Lines of real formats become rows; anything else is a RowError, never another error."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.audit.lines import access, cdx, weeks
from recrawl.audit.rows import RowError, read_changed, read_count, read_time, read_url

T = 1_700_000_000.0
TAIL = '- - [14/Nov/2023:22:13:20 +0000] "GET /a?b=1 HTTP/1.1" 200 512 "-" "curl/8"'


def test_a_reverse_proxys_log_needs_a_host():
    with pytest.raises(RowError, match="--host"):
        access(f"10.0.0.1 {TAIL}")
    row = access(f"10.0.0.1 {TAIL}", "shop.example")
    assert (row.url, row.time, row.status, row.bytes) == ("http://shop.example/a?b=1", T, 200, 512)
    assert access(f"10.0.0.1 {TAIL}", "https://x.example").url == "https://x.example/a?b=1"


def test_the_host_of_a_first_column_wins():
    assert access(f"v.example:443 10.0.0.1 {TAIL}", "other").url == "http://v.example/a?b=1"


def test_time_zones_of_access_logs_count():
    line = '::1 - me [14/Nov/2023:23:13:20 +0100] "GET http://a.b/ HTTP/1.1" 304 -'
    assert (access(line).time, access(line).bytes) == (T, None)


def test_other_methods_are_left_out():
    assert access(f"10.0.0.1 {TAIL}".replace("GET", "POST"), "h") is None


@pytest.mark.parametrize(
    "line",
    [
        "example,a)/ 20231114221320 http://a.example/ text/html 200 SHA 612",
        "example,a)/ 20231114221320 http://a.example/ text/html 200 SHA - - 612 9 a.warc.gz",
        (
            'example,a)/ 20231114221320 {"url": "http://a.example/", "status": "200", '
            '"digest": "SHA", "length": "612"}'
        ),
    ],
    ids=["cdx7", "cdx11", "cdxj"],
)
def test_cdx_in_its_three_forms(line):
    row = cdx(line)
    assert (row.url, row.time, row.status, row.bytes, row.digest) == (
        "http://a.example/", T, 200, 612, "SHA",
    )  # fmt: skip


def test_headings_of_cdx_are_no_rows():
    assert cdx(" CDX N b a m s k r M S V g") is None


def test_the_example_of_the_14_week_set():
    rows = list(weeks("5\t5.514\t[[1.104, 0], [1.473, 1]]", {"5": "http://a.example/"}))
    assert [r.url for r in rows] == ["http://a.example/"] * 3
    gaps = [(b.time - a.time) / 86_400 for a, b in itertools.pairwise(rows)]
    assert gaps == pytest.approx([1.104, 1.473])
    assert [r.changed for r in rows] == [None, False, True]


@given(
    st.text()
    | st.text(alphabet='[]"{}:0123456789 \t/GET-htp,')
    | st.builds(lambda s: f"k 20231114221320 {{{s}}}", st.text())
    | st.builds(lambda s: f"1\t2\t{s}", st.text())
    | st.builds(lambda n: f"1\t2\t[[{n}, {n}]]", st.integers(-(10**400), 10**400))
)
@example(f"1\t2\t[[{10**400}, 1]]")
def test_garbage_is_a_bad_row_and_nothing_else(line):
    for read in (access, cdx, lambda x: list(weeks(x, {})), read_time, read_url, read_changed):
        try:
            read(line)
        except RowError as error:
            assert str(error)


@given(st.none() | st.text() | st.floats() | st.integers())
def test_counts_are_whole_or_bad(cell):
    try:
        n = read_count(cell, "bytes")
    except RowError:
        return
    assert n is None or (isinstance(n, int) and n >= 0)
