"""Tables and JSON: what a column means, when a row was fetched, what a feed's items say."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.audit.account import LogError
from recrawl.audit.columns import FILE_NAME, NAMES, guess
from recrawl.audit.files import Reading
from recrawl.audit.items import ALL, BUT_TIMES
from recrawl.audit.rows import RowError, read_time, read_url
from recrawl.audit.tables import REREAD
from recrawl.cli.app import run

T = 1_700_000_000
ISO = "2023-11-14T22:13:20"


def read(tmp_path, text, name="log", host="", **told):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    told |= {"host": told.pop("host_column")} if "host_column" in told else {}
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    reading = Reading(host, told)
    return list(reading.read(path)), reading


def columns(reading):
    return next(iter(reading.columns.values()))


@pytest.mark.parametrize(
    "cell",
    [
        T, str(T), float(T), f"{T}.0", T * 10**3, T * 10**6, T * 10**9, str(T * 10**9),
        ISO, ISO + "Z", ISO + ".000", ISO.replace("T", " "), "2023-11-14 22:13:20,000",
        "2023-11-14T23:13:20+01:00", "2023-11-14 23:13:20 +0100", "2023-11-14 22:13:20 UTC",
        "2023-11-14T22:13:20.000000000Z", "20231114221320", 20231114221320, "20231114221320000",
        "Tue, 14 Nov 2023 22:13:20 GMT", "Tuesday, 14-Nov-23 22:13:20 GMT",
        "Tue Nov 14 22:13:20 2023", "14/Nov/2023:23:13:20 +0100",
    ],
)  # fmt: skip
def test_one_moment_in_every_spelling(cell):
    assert read_time(cell) == pytest.approx(T, abs=1e-3)


def test_days_are_times():
    assert read_time("2023-11-14") == read_time(20231114) == read_time("14 Nov 2023") == T - 80_000


@pytest.mark.parametrize(
    "cell",
    ["2023", "05/06/2023", "12:30", "inf", "-inf", "nan", "", "true", "1e400", 0, -T, 10**30],
)
def test_what_could_be_two_times_or_none_is_none(cell):
    with pytest.raises(RowError):
        read_time(cell)


@given(st.sampled_from([1, 10**3, 10**6, 10**9]), st.integers(631_152_000, 4_102_444_799))
def test_epochs_of_all_units_between_1990_and_2100(unit, second):
    assert read_time(second * unit) == pytest.approx(second, abs=1e-3)


TABLE = [
    ["Link", "ts", "http_status", "size", "hash"],
    ["http://a.example/p/1", f"{T}", "200", "100", "x"],
    ["http://a.example/p/2", f"{T + 10}", "304", "", ""],
]


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_of_every_make(tmp_path, mark, end, codec):
    text = end.join(mark.join(cells) for cells in TABLE)
    rows, reading = read(tmp_path, text.encode(codec))
    assert [(r.url[-1], r.time, r.status, r.bytes, r.digest) for r in rows] == [
        ("1", T, 200, 100, "x"), ("2", T + 10, 304, None, None),
    ]  # fmt: skip
    assert columns(reading) == {
        "url": "Link", "time": "ts", "status": "http_status", "bytes": "size", "digest": "hash",
    }  # fmt: skip


def test_what_was_guessed_is_shown_and_can_be_overridden(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("\n".join(map(",".join, TABLE)) + "\n")
    assert run(["audit", str(path), "--no-policies"]) == 0
    assert (
        f"{path}: table: url=Link, time=ts, status=http_status, bytes=size, digest=hash\n"
        in capsys.readouterr().err
    )
    told = ["--column", "bytes=", "--column", "digest=size"]
    assert run(["audit", str(path), "--no-policies", *told]) == 0
    said = capsys.readouterr().err
    assert f"{path}: table: url=Link, time=ts, status=http_status, digest=size\n" in said


def test_without_a_heading_values_tell(tmp_path):
    text = f"7,{T},http://a.example/,200\n8,{T + 1},http://a.example/,304\n"
    rows, reading = read(tmp_path, text, status="4", digest="")
    assert columns(reading) == {"url": "3", "time": "2", "status": "4"}
    assert [(r.time, r.status) for r in rows] == [(T, 200), (T + 1, 304)]


def test_headings_that_come_again_are_no_rows(tmp_path):
    text = f"url,time,status\nhttp://a.example/,{T},200\n"
    rows, reading = read(tmp_path, text * 3)
    assert (len(rows), reading.bad) == (3, 0)


def test_text_over_several_lines_is_one_cell(tmp_path):
    text = f'url,time,note,status\nhttp://a.example/,{T},"one\n\n""two"", three",200\n'
    rows, reading = read(tmp_path, text + f"http://a.example/,{T + 1},,304\n")
    assert ([r.status for r in rows], reading.bad) == ([200, 304], 0)


@pytest.mark.parametrize("bad", [1, 3, REREAD + 3])
def test_a_quote_that_is_never_closed_costs_its_own_line(tmp_path, bad):
    good = "".join(f'http://a.example/,{T + i},"o,k",200\n' for i in range(50))
    for broken, lost in (('"oh,200', 0), ('"oh,200,', bad), ('"o"h,200', 0)):
        text = "url,time,note,status\n" + (f"http://a.example/,{T},{broken}\n" + good) * bad
        rows, reading = read(tmp_path, text)
        assert (len(rows), reading.bad) == (51 * bad - lost, lost)
        assert {r.status for r in rows} == {200}
        assert not lost or reading.first_bad[0].endswith("log:2: 5 cells of 4")


def test_bad_rows_are_told_in_their_order(tmp_path):
    text = f"url,time,status\nhttp://a.example/,when,200\nftp://x,{T},200\n1\n"
    rows, reading = read(tmp_path, text + f"http://a.example/,{T},200\n")
    assert len(rows) == 1
    assert [bad.partition("log:")[2].partition(":")[0] for bad in reading.first_bad] == list("234")


def test_other_methods_and_other_hosts(tmp_path):
    text = (
        f"uri,time_iso8601,method,host,status\n/a,{ISO},GET,b.example,200\n"
        f"/a,{ISO},POST,b.example,200\n/b,{ISO},get,,304\n"
    )
    rows, _ = read(tmp_path, text, host="https://c.example/")
    assert [r.url for r in rows] == ["http://b.example/a", "https://c.example/b"]
    rows, reading = read(tmp_path, text)
    assert len(rows) == 1
    assert "--host" in reading.first_bad[0]
    assert read_url("//c.example/x", "d.example")


def test_nested_columns(tmp_path):
    line = {"ts": T, "request": {"host": "a.example", "uri": "/x"}, "status": 200, "size": 9}
    text = json.dumps(line) + "\n"
    with pytest.raises(LogError, match="which column is the url"):
        read(tmp_path, text)
    rows, _ = read(tmp_path, text, url="request.uri", host_column="request.host")
    assert [(r.url, r.bytes) for r in rows] == [("http://a.example/x", 9)]


@pytest.mark.parametrize(
    ("cells", "left_out"),
    [
        ({"status": "in stock", "price": "3"}, "status"),
        ({"code": "A-12", "price": "3"}, "status"),
        ({"size": "XL", "price": "3"}, "bytes"),
        ({"size": "42", "price": "3"}, "bytes"),
        ({"type": "x" * 100, "price": "3"}, "page_type"),
        ({"changed": "a lot", "price": "3"}, "changed"),
    ],
)
def test_names_that_things_have_too_are_told_by_their_values(cells, left_out):
    found = guess(["url", "time", *cells], {}, "f", [{"url": "http://a.b/", "time": T, **cells}])
    assert left_out not in found.at
    assert found.at["digest"] == BUT_TIMES


def test_of_several_times_the_one_that_has_values():
    sample = [{"url": "http://a.b/", "timestamp": "", "crawled_at": "", "date": ISO}]
    assert guess(list(sample[0]), {}, "f", sample).at["time"] == "date"


@given(
    st.lists(st.text(max_size=8), max_size=5),
    st.dictionaries(st.sampled_from(sorted(NAMES)), st.text(max_size=8), max_size=3),
    st.lists(st.dictionaries(st.text(max_size=8), st.none() | st.text() | st.floats() | st.lists(
        st.integers())), max_size=3),
)  # fmt: skip
def test_guesses_end_in_columns_or_a_clear_error(names, told, sample):
    try:
        found = guess(names, told, "log.csv", sample)
    except LogError as error:
        assert "log.csv" in str(error)
    else:
        assert {"url", "time"} <= found.at.keys()


ITEMS = [  # of two crawls, an hour between; pages mixed, items of a page in another order
    ("l/1", 0, "shoe", 3), ("l/2", 1, "hat", 5), ("l/1", 2, "sock", 1),
    ("l/2", 3600, "hat", 4), ("l/1", 3601, "sock", 1), ("l/1", 3602, "shoe", 3),
]  # fmt: skip


def items(stamps=True, run=""):
    return [
        {"url": f"http://a.example/{page}", "name": name, "price": price, "job_id": f"j{t // 60}",
         "download_latency": t / 7, "retry_times": t % 2,
         **({"scraped_at": f"2024-01-01T{t // 3600:02}:00:{t % 3600:02}"} if stamps else {})}
        for page, t, name, price in ITEMS
        if run in ("", str(t // 3600))
    ]  # fmt: skip


FEEDS = {
    "jsonl": lambda x: "\n".join(map(json.dumps, x)) + "\n",
    "json": lambda x: "[\n" + ",\n".join(map(json.dumps, x)) + "\n]",
    "pretty.json": lambda x: json.dumps(x, indent=4),
    "appended.json": lambda x: json.dumps(x[:3]) + json.dumps(x[3:]),
    "objects.json": lambda x: "\n".join(json.dumps(y, indent=1) for y in x),
    "csv": lambda x: "\n".join(
        [",".join(x[0]), *(",".join(map(str, y.values())) for y in x)]
    ),
}  # fmt: skip


def found(rows):
    """Whether each fetch of a page found what the one before had."""
    pages = {}
    for row in sorted(rows, key=lambda row: row.time):
        pages.setdefault(row.url[-3:], []).append(row.digest)
    return {page: [a != b for a, b in itertools.pairwise(d)] for page, d in pages.items()}


@pytest.mark.parametrize("form", FEEDS)
def test_items_of_a_page_are_one_fetch(tmp_path, form):
    rows, reading = read(tmp_path, FEEDS[form](items()), f"feed.{form}")
    assert len(rows) == 4
    assert found(rows) == {"l/1": [False], "l/2": [True]}
    assert columns(reading) == {"url": "url", "time": "scraped_at", "digest": BUT_TIMES}
    assert reading.bad == 0


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_without_times_is_dated_by_its_name(tmp_path, form):
    rows = []
    for hour in "01":
        name = f"feed_2024-01-01T0{hour}-00-00+00-00.{form}"
        some, reading = read(tmp_path, FEEDS[form](items(False, hour)), name)
        rows += some
        assert columns(reading)["time"] == FILE_NAME
    assert len(rows) == 4
    assert found(rows) == {"l/1": [False], "l/2": [True]}
    assert sorted({r.time for r in rows}) == [1704067200, 1704070800]


def test_a_feed_without_any_time_says_what_to_do(tmp_path):
    with pytest.raises(LogError, match="--column time=NAME, or name the file by its time"):
        read(tmp_path, FEEDS["jsonl"](items(False)), "feed.jsonl")


def test_an_articles_date_is_not_the_fetchs(tmp_path):
    line = json.dumps({"url": "http://a.example/", "title": "x", "date": "2019-05-05"}) + "\n"
    rows, _ = read(tmp_path, line, "2024-01-01/feed.jsonl")
    assert rows[0].time == 1704067200
    rows, _ = read(tmp_path, line, "2024-01-01/feed.jsonl", time="date")
    assert rows[0].time < 1704067200


def test_what_a_digest_is_made_of_can_be_told(tmp_path):
    lines = [
        {"url": "http://a.example/", "time": T + 100 * i, "status": 200, "n": i, "x": i % 2}
        for i in range(3)
    ]
    rows, _ = read(tmp_path, FEEDS["jsonl"](lines))
    assert [r.digest for r in rows] == [None] * 3
    for ignore, kinds in (("", 3), ("n", 2), ("n,x", 1)):
        rows, reading = read(tmp_path, FEEDS["jsonl"](lines), digest=ALL, ignore=ignore)
        assert len({r.digest for r in rows}) == kinds
    assert columns(reading)["digest"] == BUT_TIMES
    rows, _ = read(tmp_path, FEEDS["jsonl"](items()), digest="")
    assert {r.digest for r in rows} == {None}


@given(st.permutations(items()[:3]), st.data())
def test_the_order_of_items_does_not_matter(tmp_path_factory, order, data):
    form = data.draw(st.sampled_from(sorted(FEEDS)))
    folder = tmp_path_factory.mktemp("feed")
    one, two = (read(folder, FEEDS[form](x), f"f.{form}")[0] for x in (items()[:3], order))
    assert {(r.url, r.digest) for r in one} == {(r.url, r.digest) for r in two}


def test_arrays_under_a_heading_as_the_wayback_machine_answers(tmp_path):
    text = json.dumps([
        ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"],
        ["example,a)/", "20231114221320", "http://a.example/", "text/html", "200", "ABC", "612"],
        ["example,a)/", "20231114221321", "http://a.example/", "text/html", "200", "ABD"],
    ])  # fmt: skip
    rows, reading = read(tmp_path, text)
    assert [(r.url, r.time, r.status, r.bytes, r.digest) for r in rows] == [
        ("http://a.example/", T, 200, 612, "ABC")
    ]
    assert "6 cells of 7" in reading.first_bad[0]


BROKEN = [
    '{"url": "http://a.example/", "time": 1700000000, "no',
    "no JSON at all",
    '{"url": }',
    "[1, 2}",
    '{"a": ' * 3000,
    '{"url": 1e99999999, "time": [[[[}',
    '"text"',
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("join", ["\n", ",\n"], ids=["lines", "array"])
def test_reading_goes_on_behind_what_is_no_json(tmp_path, broken, join):
    good = [
        json.dumps({"url": "http://a.example/", "time": T + i, "status": 200}) for i in range(1, 4)
    ]
    text = join.join([good[0], broken, *good[1:]])
    rows, reading = read(tmp_path, text if join == "\n" else f"[\n{text}\n]")
    assert [r.time - T for r in rows] == [1, 2, 3]
    assert reading.bad >= 1
    assert ":2:" in reading.first_bad[0] or ":3:" in reading.first_bad[0]


def test_a_long_value_is_read_and_an_endless_one_is_left(tmp_path):
    row = {"url": "http://a.example/", "time": T, "status": 200}
    long, endless = {**row, "x": "x" * 3_000_000}, {**row, "x": "x" * 9_000_000}
    text = "[" + ",\n".join(map(json.dumps, [row, long, row, endless, row])) + "]"
    rows, reading = read(tmp_path, text)
    assert (len(rows), reading.bad) == (4, 1)
    assert "longer than 4 MB" in reading.first_bad[0]
