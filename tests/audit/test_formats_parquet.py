"""Parquet as people write it: any unit of time, any row group, cut off, from a pipe."""

import datetime as dt
import gzip
import io
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from recrawl.audit import account
from recrawl.audit.account import INSTALL, LogError, MissingError
from recrawl.audit.files import Reading
from recrawl.audit.items import BUT_TIMES
from recrawl.audit.rows import Row
from recrawl.cli.app import run

T = 1_700_000_000
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def packed(columns, **options):
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def read(tmp_path, data, name="log", **told):
    path = tmp_path / name
    path.write_bytes(data)
    reading = Reading("", told)
    return list(reading.read(path)), reading


def times():
    for unit, n in UNITS.items():
        yield pa.array([T * n, (T + 1) * n], pa.timestamp(unit))
        yield pa.array([T * n, (T + 1) * n], pa.timestamp(unit, tz="America/New_York"))
        yield pa.array([T * n, (T + 1) * n], pa.int64())
    yield pa.array([T * 10**9 + 1, (T + 1) * 10**9 + 1], pa.timestamp("ns"))  # no microsecond
    yield pa.array([float(T), T + 1.0])
    yield pa.array(["2023-11-14T22:13:20Z", "2023-11-14 22:13:21"])
    yield pa.array(["2023-11-14T22:13:20Z", "2023-11-14 22:13:21"]).dictionary_encode()


@pytest.mark.parametrize("time", list(times()), ids=lambda column: str(column.type))
def test_times_of_every_unit(tmp_path, time):
    data = packed({"url": ["http://a.b/"] * 2, "fetched_at": time, "status": [200, 304]})
    rows, _ = read(tmp_path, data)
    assert [(r.time, r.status) for r in rows] == [
        (pytest.approx(T, abs=1e-3), 200), (pytest.approx(T + 1, abs=1e-3), 304),
    ]  # fmt: skip


def test_days(tmp_path):
    data = packed({"url": ["http://a.b/"], "date": [dt.date(2023, 11, 14)], "status": [200]})
    rows, _ = read(tmp_path, data)
    assert rows[0].time == T - 80_000


def test_cells_of_other_types(tmp_path):
    data = packed({
        "url": pa.array([b"http://a.b/\xc3\xa9", "http://a.b/2", None], pa.binary()),
        "request": [{"at": T}, {"at": T + 1}, {"at": T}],
        "md5": pa.array([b"\x00\xff" * 8, None, b""], pa.binary()),
        "changed": [True, None, False],
        "bytes": pa.array([1, None, 2], pa.uint32()),
        "type": pa.array(["shop", None, "shop"]).dictionary_encode(),
        "code": [200.0, 304.0, None],
    })  # fmt: skip
    rows, reading = read(tmp_path, data, time="request.at")
    assert rows == [
        Row("http://a.b/\u00e9", T, 200, 1, "00ff" * 8, True, "shop"),
        Row("http://a.b/2", T + 1, 304),
    ]
    assert reading.first_bad == [f"{tmp_path / 'log'}:3: no url"]


def test_columns_that_are_not_needed_are_not_read(tmp_path):
    data = bytearray(packed(
        {"url": ["http://a.b/"] * 500, "html": [f"<{i}" for i in range(500)],
         "time": range(T, T + 500), "hash": ["x"] * 500},
        use_dictionary=False, compression="none", write_page_checksum=True, row_group_size=250,
    ))  # fmt: skip
    at = data.rindex(b"<499")
    data[at : at + 4] = b"\xff" * 4  # damage that reading the column would meet, in row group 2
    rows, reading = read(tmp_path, bytes(data))
    assert (len(rows), reading.bad) == (500, 0)


def test_rows_are_items_where_no_column_tells_of_an_answer(tmp_path):
    data = packed({"url": ["http://a.b/"] * 3, "time": [T, T + 1, T + 100], "price": [1, 2, 3]})
    rows, reading = read(tmp_path, data)
    assert len(rows) == 2
    assert next(iter(reading.columns.values()))["digest"] == BUT_TIMES


ROWS = packed(
    {"url": [f"http://a.b/{i}" for i in range(40)], "time": range(T, T + 40), "size": range(40)},
    row_group_size=10, compression="none", use_dictionary=False, write_statistics=False,
)  # fmt: skip


def test_a_damaged_row_group_costs_its_rows(tmp_path):
    data = bytearray(ROWS)
    at = data.index(b"http://a.b/10") - 30
    data[at : at + 26] = b"\xff" * 26  # the header of its page of URLs
    rows, reading = read(tmp_path, bytes(data))
    assert [r.bytes for r in rows] == [*range(10), *range(20, 40)]
    assert reading.bad == 1
    assert ":11: the row group is damaged" in reading.first_bad[0]


@pytest.mark.parametrize("end", [4, 100, -1, -8])
def test_cut_off_it_is_refused_with_the_reason(tmp_path, end):
    with pytest.raises(LogError, match="no whole Parquet file, is it cut off"):
        read(tmp_path, ROWS[:end])


def test_packed_again_or_from_a_pipe(tmp_path, capsys, monkeypatch):
    assert len(read(tmp_path, gzip.compress(ROWS))[0]) == 40
    with pytest.raises(LogError, match="cut off"):
        read(tmp_path, gzip.compress(ROWS)[:-200])
    stdin = io.TextIOWrapper(io.BytesIO(ROWS))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run(["audit", "-", "--json", "--no-policies"]) == 0
    assert '"rows": 40' in capsys.readouterr().out


def test_an_empty_table_holds_no_rows(tmp_path):
    data = packed({"url": pa.array([], pa.string()), "time": pa.array([], pa.int64())})
    assert read(tmp_path, data)[0] == []


@pytest.mark.parametrize(
    ("data", "package"),
    [(ROWS, "pyarrow"), (b"WARC/1.0\r\n\r\n", "warcio"), (b"\x28\xb5\x2f\xfd", "pyarrow")],
    ids=["parquet", "warc", "zstd"],
)
def test_where_the_package_is_missing_it_says_how_to_get_it(
    tmp_path, capsys, monkeypatch, data, package
):
    def nothing(name):
        raise ImportError(name)

    monkeypatch.setattr(account.importlib, "import_module", nothing)
    (tmp_path / "log").write_bytes(data)
    (tmp_path / "good.csv").write_text(f"url,time,status\nhttp://a.b/,{T},200\n")
    with pytest.raises(MissingError, match=package):
        list(Reading().read(tmp_path / "log"))
    assert run(["audit", str(tmp_path / "good.csv"), str(tmp_path / "log")]) == 2
    assert INSTALL in capsys.readouterr().err
