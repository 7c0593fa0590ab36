"""Partners' lists in every form: what columns mean, what is counted."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap_bytes import Limits
from recrawl.sources.urllist import Mapping, read

BASE = "http://e.com/list"
NOW = 1_800_000_000.0
MAY = 1714521600.0  # 2024-05-01


def listed(body, step=None, **more):
    body = body.encode() if isinstance(body, str) else body
    chunks = [body] if step is None else [body[i : i + step] for i in range(0, len(body), step)]
    reading = Reading()
    hints = list(read(chunks, BASE, NOW, reading, **more))
    assert reading.hints == len(hints)
    return hints, reading


ITEMS = [
    {"url": "http://e.com/a", "lastmod": "2024-05-01", "value": 2, "type": "product"},
    {"url": "/b"},
]


@pytest.mark.parametrize(
    "body",
    [
        "url,lastmod,value,type\nhttp://e.com/a,2024-05-01,2,product\n/b,,,\n",
        "URL\tLastMod\tPriority\tCategory\r\nhttp://e.com/a\t2024-05-01\t2\tproduct\r\n/b\t\t\t",
        "url;lastmod;value;type\n\"http://e.com/a\";2024-05-01;2;product\n/b",
        "http://e.com/a,2024-05-01,2,product\n/b,,,\n",
        "\ufeffloc,updated_at,score,kind\nhttp://e.com/a,1714521600,2,product\n/b",
        json.dumps(ITEMS),
        "\n".join(map(json.dumps, ITEMS)),
        json.dumps({"took": 3, "data": {"hits": ITEMS}}),
        json.dumps({"page": 1, "results": ITEMS}, indent=2),
    ],
)  # fmt: skip
def test_forms(body):
    (a, b), reading = listed(body)
    assert (a.url, a.modified_at, a.value, a.page_type) == ("http://e.com/a", MAY, 2.0, "product")
    assert (b.url, b.modified_at, b.value, b.page_type) == ("http://e.com/b", None, None, None)
    assert (reading.complete, reading.warnings, reading.kind) == (True, {}, "list")


def test_text_with_commas_comments_and_blank_lines():
    hints, reading = listed("# ours\nhttp://e.com/a,b\n\nhttp://e.com/c?x=1,2\n")
    assert [h.url for h in hints] == ["http://e.com/a,b", "http://e.com/c?x=1,2"]
    assert reading.complete
    assert [h.url for h in listed('["http://e.com/x", "/y"]')[0]] == [
        "http://e.com/x", "http://e.com/y",
    ]  # fmt: skip


def test_mapping_overrides_the_guess():
    mapping = Mapping(url="target", lastmod="meta.seen", items="out.rows")
    body = {"items": [{"url": "/no"}], "out": {"rows": [
        {"target": "/yes", "url": "/no", "meta": {"seen": "2024-05-01"}, "date": "2020-01-01"},
    ]}}  # fmt: skip
    hints, reading = listed(json.dumps(body), mapping=mapping, kind="search")
    assert [(h.url, h.modified_at) for h in hints] == [("http://e.com/yes", MAY)]
    assert (reading.kind, hints[0].source) == ("search", f"search:{BASE}")
    table = listed("target,url\n/yes,/no\n", mapping=Mapping(url="target"))[0]
    assert [h.url for h in table] == ["http://e.com/yes"]
    assert "out.none" in listed(json.dumps(body), mapping=Mapping(items="out.none"))[1].failed


def test_bad_rows_cost_only_themselves():
    rows = [{"url": "/a"}, 7, {"name": "x"}, {"url": "mailto:x@y.z"},
            {"url": "/b", "value": "NaN"}, {"url": "/c", "lastmod": "2999-01-01"},
            {"url": "/d", "value": -1}]  # fmt: skip
    hints, reading = listed("\n".join(map(json.dumps, rows)) + "\n{broken")
    assert [h.url[-1] for h in hints] == ["a", "b", "c", "d"]
    assert reading.warnings == {
        Warned.BAD_ROW: 4, Warned.NO_URL: 1, Warned.BAD_URL: 1, Warned.FUTURE_DATE: 1,
    }  # fmt: skip
    assert reading.complete


def test_no_list_is_failed_and_an_empty_one_is_not():
    for body in ("", "<html>", "[1", '{"error": "no"}\n', '{"a": {"b": 1}}', "Not found\n"):
        hints, reading = listed(body)
        assert (hints, bool(reading.failed), reading.complete) == ([], True, False), body
    for body in ("[]", '{"results": []}', "url,lastmod\n"):
        hints, reading = listed(body)
        assert (hints, reading.failed, reading.complete) == ([], "", True), body
        assert reading.warnings == {Warned.NOTHING_LISTED: 1}


def test_limits():
    body = "".join(f"http://e.com/{n}\n" for n in range(9))
    hints, reading = listed(body, limits=Limits(urls=4))
    assert (len(hints), reading.complete) == (4, False)
    hints, reading = listed("http://e.com/a\n" + "x" * 3_000_000 + "\nhttp://e.com/b")
    assert ([h.url[-1] for h in hints], reading.warnings) == (["a", "b"], {Warned.BAD_ROW: 1})
    assert listed("[" * 100_000)[1].failed


PARTS = st.sampled_from([
    "url", ",", "\n", '"', "http://e.com/a", "/b", "{", "}", "[", "]", '"url":', '"x"', "\t", ";",
    "2024-05-01", "\0", "#", '{"url":"/a"}', "\r", "1e999", "null", "é",
])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.lists(PARTS, max_size=20).map("".join)),
       st.integers(1, 30))  # fmt: skip
def test_any_bytes_in_any_chunks(body, step):
    body = body.encode() if isinstance(body, str) else body
    assert listed(body) == listed(body, step=step)
