"""Dates as sources write them."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.sources.dates import Stamp, believable, read_date
from recrawl.sources.reading import Reading, Warned
from recrawl.units import DAY

DATA = Path(__file__).parents[1] / "data" / "sources"
NOW = datetime(2026, 11, 30, tzinfo=UTC).timestamp()


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


VECTORS = [json.loads(line) for line in (DATA / "lastmod.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["input"])
def test_vectors(vector):
    got = read_date(vector["input"])
    if vector["input"].startswith("2015-10-08T07:18:53"):
        assert got is not None  # MAP-15 wants the first of two stamps
        return
    if vector["expected"] is None:
        assert got is None
        return
    wanted = read_date(vector["expected"].removesuffix(" or None"))
    assert got is not None
    assert wanted is not None
    assert got.at == wanted.at


@pytest.mark.parametrize(
    ("text", "moment", "span"),
    [
        # MAP-15
        (
            "2015-10-08T07:18:53.846344Z 2015-06-15T15:33:55.288302Z",
            at(2015, 10, 8, 7, 18, 53, 846344),
            0.0,
        ),
        ("2023-03-30", at(2023, 3, 30), DAY),
        ("2024-01-08T00:00:00", at(2024, 1, 8), 1.0),
        ("2017-1-3", at(2017, 1, 3), DAY),
        ("2005", at(2005, 1, 1), 365 * DAY),
        ("2004", at(2004, 1, 1), 366 * DAY),
        ("2024-02", at(2024, 2, 1), 29 * DAY),
        ("Mon, 06 Sep 2010 00:01:00 +0000", at(2010, 9, 6, 0, 1), 1.0),
        ("2024-01-05 10:00:00", at(2024, 1, 5, 10), 1.0),
        ("2024-01-05 10:00:00 +0100", at(2024, 1, 5, 9), 1.0),
        ("2024-01-05 10:00:00 UTC", at(2024, 1, 5, 10), 1.0),
        ("2024-01-05t10:00z", at(2024, 1, 5, 10), 60.0),
        ("2024-01-05T10:00-03", at(2024, 1, 5, 13), 60.0),
        ("2024-01-05T24:00:00Z", at(2024, 1, 6), 1.0),
        ("2016-12-31T23:59:60Z", at(2017, 1, 1), 1.0),
        ("\n 2024-01-05\t", at(2024, 1, 5), DAY),
        ("6 Sep 10 00:01 EST", at(2010, 9, 6, 5, 1), 60.0),
        ("Monday, 06-Sep-99 00:01:00 PDT", at(1999, 9, 6, 7, 1), 1.0),
        ("06 September 2010", at(2010, 9, 6), DAY),
    ],
)
def test_shapes(text, moment, span):
    assert read_date(text) == Stamp(pytest.approx(moment, abs=1e-6), span)


@pytest.mark.parametrize(
    "text",
    ["", "0000-00-00", "2024-00-01", "2024-01-00", "2024-13-01", "2024-02-30", "17/05/2024",
     "05/06/2024", "20240105", "2024-01-05T25:00", "2024-01-05T10:61", "2024-01-05T24:00:01Z",
     "tomorrow", "06 Foo 2010", "١٩٩٩", "2024-01-05T10:00:00+2:00", "1717171717"],
)  # fmt: skip
def test_what_is_no_date(text):
    assert read_date(text) is None


def test_what_can_not_be_true_is_dropped_and_counted():
    reading = Reading()
    kept = [
        believable(text, NOW, reading, "http://e.com/a")
        for text in (
            "2026-12-01",
            "2026-12-02",
            "1970-01-01",
            "0001-01-01",
            "gestern",
            " ",
            "2026",
        )
    ]
    assert kept == [at(2026, 12, 1), None, None, None, None, None, at(2026, 1, 1)]
    assert reading.warnings == {
        Warned.FUTURE_DATE: 1, Warned.ABSURD_DATE: 2, Warned.BAD_DATE: 1
    }  # fmt: skip
    assert reading.examples[0] == "http://e.com/a: date in the future: 2026-12-02"


@given(
    st.datetimes(datetime(1995, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 - hypothesis wants naive bounds
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from(["T", " "]),
    st.sampled_from(["minutes", "seconds", "microseconds"]),
)
def test_round_trip(moment, minutes, letter, precision):
    local = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    text = local.isoformat(letter, precision)
    got = read_date(text)
    assert got is not None
    wanted = datetime.fromisoformat(text).timestamp()
    assert abs(got.at - wanted) < 1e-5
    assert got.at - 1e-5 <= local.timestamp() < got.at + max(got.span, 1e-5)


@given(st.text() | st.text("0123456789-:TZ+. ,JanFebMonGMT", max_size=40))
def test_never_raises_and_forgets_nothing_of_today(text):
    assert read_date(text) == read_date(text)


@given(st.dates(), st.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d"]))
def test_the_day_lies_within_what_is_named(day, form):
    text = day.strftime(form).zfill({"%Y": 4, "%Y-%m": 7, "%Y-%m-%d": 10}[form])
    got = read_date(text)
    assert got is not None
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp()
    assert got.at <= noon < got.at + got.span
