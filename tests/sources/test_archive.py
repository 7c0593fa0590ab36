"""Archive indexes: every form, malformed lines, dates from digests, and walking to the end."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sources.archive import Changes, captures, changes, read
from recrawl.sources.archive_walk import CdxWalk, Query
from recrawl.sources.reading import Reading, Warned

DATA = Path(__file__).parents[1] / "data" / "sources"
NOW = 1_800_000_000.0
HEADER = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
MAY = 1714521600.0  # 2024-05-01


def cdx(body, step=None, **more):
    body = body.encode() if isinstance(body, str) else body
    chunks = [body] if step is None else [body[i : i + step] for i in range(0, len(body), step)]
    reading = Reading()
    hints = list(read(chunks, "http://a.org/cdx", NOW, reading, **more))
    assert reading.hints == len(hints)
    return hints, reading


def row(path="", stamp="20240501000000", digest="A", status="200", mime="text/html"):
    return [f"com,e)/{path}", stamp, f"https://e.com/{path}", mime, status, digest, "9"]


def plain(*rows):
    return "\n".join(" ".join(one) for one in rows)


def test_internet_archive_json():
    hints, reading = cdx((DATA / "cdx_ia.json").read_bytes())
    assert [(h.url, h.modified_at) for h in hints] == [
        ("http://www.commoncrawl.org:80/", 1206677683.0)
    ]
    assert (reading.complete, reading.kind, reading.warnings) == (True, "archive", {})
    assert sum(1 for _ in captures([(DATA / "cdx_ia.json").read_bytes()], NOW, Reading())) == 10


def test_malformed_lines_cost_only_themselves():
    body = (DATA / "cdx_malformed_lines.txt").read_bytes()
    hints, reading = cdx(body)
    assert [(h.url, h.modified_at) for h in hints] == [("https://www.epa.gov/", 1587171543.0)]
    assert reading.warnings == {Warned.BAD_URL: 3}
    assert len(reading.examples) == 3
    assert len(list(captures([body], NOW, Reading()))) == 2


@pytest.mark.parametrize(
    "body",
    [
        plain(row("a")),
        json.dumps([HEADER, row("a")]),
        json.dumps([HEADER, row("a")]).replace("], ", "],\n"),
        json.dumps([["original", "timestamp"], ["https://e.com/a", "20240501000000"]]),
        (" CDX N b a m s k r M S V g\ncom,e)/a 20240501000000 https://e.com/a text/html 200 A - -"
        " 9 1 x.warc.gz"),
        "com,e)/a 20240501000000 https://e.com/a text/html 200 A - - 9 1 x.warc.gz",
        "com,e)/a 20240501000000 https://e.com/a text/html 200 A - 1 x.warc.gz",
        'com,e)/a 20240501000000 {"url": "https://e.com/a", "mime": "text/html", "status": "200"}',
        ('{"urlkey": "com,e)/a", "timestamp": "20240501000000", "url": "https://e.com/a", "mime":'
        ' "text/html", "mime-detected": "text/html", "status": "200", "digest": "A"}\n'),
    ],
)  # fmt: skip
def test_forms(body):
    hints, reading = cdx(body)
    assert [(h.url, h.modified_at) for h in hints] == [("https://e.com/a", MAY)]
    assert (reading.complete, reading.warnings) == (True, {})


def test_the_date_is_that_of_the_last_change_of_the_digest():
    stamps = ["20240101000000", "20240201000000", "20240501000000", "20240601000000"]
    rows = [row("a", t, d) for t, d in zip(stamps, "ABAA", strict=True)]
    hints, _ = cdx(plain(*rows, row("b", "20230101", "C")))
    assert [(h.url[-1], h.modified_at) for h in hints] == [("a", MAY), ("b", 1672531200.0)]
    found = changes(captures([plain(*rows).encode()], NOW, Reading()))
    assert found == {"com,e)/a": Changes(reads=4, changed=2, span=152 * 86_400.0)}


def test_filters_leave_out_and_count():
    rows = [row("a", status="301"), row("b", mime="image/png"), row("c"),
            row("d", status="-", mime="warc/revisit")]  # fmt: skip
    hints, reading = cdx(plain(*rows), mimes=frozenset({"text/html"}))
    assert [h.url[-1] for h in hints] == ["c", "d"]
    assert reading.warnings == {Warned.LEFT_OUT: 2}
    assert len(cdx(plain(*rows), statuses=frozenset({"200", "301"}))[0]) == 4


def test_resume_keys_of_both_forms():
    key = "com%2Ce%29%2Fa+20240501000001"
    for body in (json.dumps([HEADER, row("a"), [], [key]]), plain(row("a")) + f"\n\n{key}\n"):
        hints, reading = cdx(body)
        assert (len(hints), reading.resume, reading.complete) == (1, key, False)
        assert reading.warnings == {}


def test_nothing_and_no_answer_are_told_apart():
    for body in ("[]", json.dumps([HEADER]), '{"message": "No Captures found for: e.com"}'):
        hints, reading = cdx(body)
        assert (hints, reading.failed, reading.complete) == ([], "", True), body
        assert reading.warnings == {Warned.NOTHING_LISTED: 1}
    for body in ("", "<!doctype html><h1>504 Gateway", "Blocked Site Error", '{"error": "x"}'):
        assert cdx(body)[1].failed, body


def test_times_that_cannot_be():
    rows = [row("a", "20991231000000"), row("b", "20241399000000"), row("c")]
    hints, reading = cdx(json.dumps([HEADER, *rows]))
    assert [h.url[-1] for h in hints] == ["c"]
    assert reading.warnings == {Warned.BAD_DATE: 2}


LINES = st.sampled_from([
    plain(row("a")), plain(row("b")), json.dumps(row("a")), "[[", "]]", "[]", '["k"]', "", "{",
    "}",     json.dumps(HEADER), '{"url": 1}', '{"url": [], "timestamp": {}}', " CDX N b", "],[",
    "[1,2]", "[" * 999,
])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=200),
                 st.lists(LINES, max_size=8).map(lambda t: "\n".join(t).encode())),
       st.integers(1, 30))  # fmt: skip
def test_any_bytes_in_any_chunks(body, step):
    assert cdx(body) == cdx(body, step=step)


def test_many_rows_on_one_line_and_a_line_without_end():
    rows = [row(f"{n:06}") for n in range(5_000)]
    assert len(cdx(json.dumps([HEADER, *rows]))[0]) == 5_000
    hints, reading = cdx(plain(row("a")) + "\n" + "x" * 1_000_000 + "\n" + plain(row("b")))
    assert ([h.url[-1] for h in hints], reading.warnings) == (["a", "b"], {Warned.BAD_ROW: 1})


class Server:
    """A CDX server: answers `limit` rows and the key of the next one."""

    def __init__(self, rows, jump=False, lost=False):
        self.rows, self.jump, self.lost, self.asked = rows, jump, lost, 0

    def answer(self, url):
        ask = parse_qs(urlsplit(url).query)
        self.asked += 1
        at = int(ask["resumeKey"][0].split()[-1]) if "resumeKey" in ask else 0
        if self.jump and at:
            at -= 2
        end = at + int(ask["limit"][0])
        body = [HEADER, *self.rows[at:end]]
        if end < len(self.rows):
            body += [[], [f"{'' if self.lost else 'com,e)/x '}{end}"]]
        return json.dumps(body)


def walked(walk, server, most=99):
    urls = []
    for _ in range(most):
        url = walk.take()
        if url is None:
            break
        hints, reading = cdx(server.answer(url))
        urls += [h.url for h in hints]
        walk.found(reading)
    return urls


ROWS = [row(f"{n:02}") for n in range(7)]
QUERY = Query("http://a.org/cdx", "e.com", limit=3)


def test_a_walk_goes_to_the_end_and_resumes():
    walk = CdxWalk(QUERY)
    assert len(walked(walk, Server(ROWS))) == 7
    assert (walk.whole, walk.problems, walk.report) == (True, [], "7 pages")
    first = CdxWalk(QUERY, max_answers=1)
    got = walked(first, Server(ROWS))
    assert (len(got), first.whole) == (3, False)
    assert first.report == "3 pages, and more that were not read"
    rest = CdxWalk(QUERY, resume=first.resume)
    assert got + walked(rest, Server(ROWS)) == [r[2] for r in ROWS]
    assert rest.whole


def test_a_walk_sees_jumps_lost_keys_and_loops():
    jumped = CdxWalk(QUERY)
    walked(jumped, Server(ROWS, jump=True))
    assert (jumped.whole, "jumped back" in jumped.problems[0]) == (False, True)
    lost, server = CdxWalk(QUERY), Server(ROWS, lost=True)
    walked(lost, server)
    assert (lost.whole, server.asked) == (False, 1)
    assert "names no URL" in lost.problems[0]
    loop = CdxWalk(QUERY)
    for _ in range(2):
        loop.take()
        loop.found(Reading(hints=1, span=("a", "a"), resume="a) 1"))
    assert (loop.take(), loop.problems) == (None, ["the resume key repeats itself"])


def test_queries_always_ask_for_the_key():
    ask = parse_qs(urlsplit(QUERY.at()).query)
    assert ask["fl"][0].startswith("urlkey,")
    assert (ask["collapse"], ask["filter"], ask["matchType"]) == (
        ["urlkey"], ["statuscode:200"], ["domain"],
    )  # fmt: skip
    assert "showNumPages" not in ask  # it counts 0 where there are captures
    with pytest.raises(ValueError, match="prefix"):
        Query("http://a.org/cdx", "e.com", match="all")


def test_numbered_pages_end_behind_the_last_one():
    walk = CdxWalk(Query("http://a.org/cdx", "e.com", paged=True))
    pages = [plain(row("a")), plain(row("b")), "Page 2 invalid: First Page is 0, Last Page is 1"]
    asked = []
    for body in pages:
        asked.append(parse_qs(urlsplit(walk.take()).query)["page"])
        walk.found(cdx(body)[1])
    assert (asked, walk.take(), walk.whole, walk.hints) == ([["0"], ["1"], ["2"]], None, True, 2)
