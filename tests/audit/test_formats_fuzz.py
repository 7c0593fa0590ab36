"""Any bytes, and any cut or damage of a sound file: rows, counted mistakes, or one clear error."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from recrawl.audit.account import LogError
from recrawl.audit.files import Reading

T = 1_700_000_000
N = 40
PAGES = [f"http://a.example/p/{i % 7}" for i in range(N)]
FETCHES = [
    {"url": u, "time": T + 100 * i, "status": 200 + i % 2, "bytes": 70 + i, "hash": f"h{i // 5}"}
    for i, u in enumerate(PAGES)
]
ITEMS = [
    {"url": u, "scraped_at": f"2024-01-01T{i:02}:00:00", "price": [i, {"a": '\u00e9"}'}]}
    for i, u in enumerate(PAGES[:24])
]


def text(lines):
    return ("\n".join(lines) + "\n").encode()


def each(form):
    """A line for every page: its number and its URL put into a form."""
    return [form.format(i=i, u=u, t=T + 100 * i) for i, u in enumerate(PAGES)]


def archive():
    out = b""
    for i, url in enumerate(PAGES):
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody %d" % i
        head = (
            "WARC/1.0", "WARC-Type: response", f"WARC-Target-URI: {url}",
            f"WARC-Date: 2024-01-01T00:{i:02}:00Z", f"Content-Length: {len(body)}",
            "Content-Type: application/http; msgtype=response", "", "",
        )  # fmt: skip
        out += "\r\n".join(head).encode() + body + b"\r\n\r\n"
    return out


def as_parquet():
    out = io.BytesIO()
    columns = {name: [fetch[name] for fetch in FETCHES] for name in FETCHES[0]}
    parquet.write_table(pa.table(columns), out, row_group_size=10)
    return out.getvalue()


SAMPLES = {
    "csv": text([",".join(FETCHES[0]), *(",".join(map(str, f.values())) for f in FETCHES)]),
    "quoted": text(['"url";"time";"note"', *each('"{u}";{t};"a ""b""\n;c"')]),
    "utf-16": text(["url\ttime\tstatus", *each("{u}\t{t}\t200")]).decode().encode("utf-16"),
    "json lines": text(map(json.dumps, FETCHES)),
    "json": json.dumps(FETCHES, indent=1).encode(),
    "json rows": json.dumps([list(FETCHES[0]), *(list(f.values()) for f in FETCHES)]).encode(),
    "items": json.dumps(ITEMS).encode(),
    "access log": text(
        each('h - - [14/Nov/2023:22:13:{i:02} +0000] "GET {u} HTTP/1.1" 200 {i} "-" "-"')
    ),
    "squid": text(each("{t}.5 9 ::1 TCP_MISS/200 {i} GET {u} - HIER_DIRECT/x text/html")),
    "cdx": text(
        [" CDX N b a m s k r M S V g", *each("k 202401010000{i:02} {u} - 200 H{i} - - {i} 1 f")]
    ),
    "cdxj": text(each('k 202401010000{i:02} {{"url": "{u}", "digest": "H{i}"}}')),
    "14 weeks": text(each("{i}\t{i}.5\t[[1.104, 0], [1.473, 1]]")),
    "warc": archive(),
    "parquet": as_parquet(),
}
ROWS = dict.fromkeys(SAMPLES, N) | {"14 weeks": 3 * N, "items": len(ITEMS)}
AT_ONCE = {"14 weeks": 3}  # rows of a line
WHOLE = {"parquet"}  # kinds that can't be read without their end
PACKINGS = {
    "plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}  # fmt: skip


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "log"

    def read(data):
        """(rows, what was noted) or (None, None) where the file was refused."""
        path.write_bytes(data)
        reading = Reading()
        try:
            rows = list(reading.read(path))
        except LogError as error:
            assert str(path) in str(error)
            return None, None
        assert len(rows) == reading.rows
        assert len(reading.first_bad) <= reading.bad
        assert all(str(path) in bad and "\n" not in bad for bad in reading.first_bad)
        return rows, reading

    return read


def key(row):
    return row.url, row.time


@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_are_sound(read, kind):
    rows, reading = read(SAMPLES[kind])
    assert len({key(row) for row in rows}) == ROWS[kind]
    assert reading.bad == 0


@pytest.mark.parametrize("kind", sorted(SAMPLES.keys() - WHOLE))
def test_any_cut_keeps_the_rows_before_it(read, kind):
    """All but the row that it went through, for a cut at any byte."""
    data, step = SAMPLES[kind], 3 if len(SAMPLES[kind]) < 4000 else 17
    whole = list(map(key, read(data)[0]))
    lost, most = AT_ONCE.get(kind, 1), 0
    for end in range(1, len(data), step):
        rows, _ = read(data[:end])
        if rows is None:
            assert most == 0  # the heading was cut: nothing stood before
            continue
        assert set(map(key, rows[:-lost])) <= set(whole)
        assert len(rows) >= most - lost
        most = max(most, len(rows))
    assert most >= len(whole) - lost


@pytest.mark.parametrize("kind", sorted(WHOLE))
def test_any_cut_of_a_file_that_needs_its_end_is_refused(read, kind):
    for end in range(4, len(SAMPLES[kind]), 7):
        assert read(SAMPLES[kind][:end]) == (None, None)


@pytest.mark.parametrize("packing", sorted(PACKINGS.keys() - {"plain"}))
def test_any_cut_of_any_packing(read, packing):
    for kind in ("csv", "json", "warc"):
        data = PACKINGS[packing](SAMPLES[kind])
        whole = {key(row) for row in read(data)[0]}
        for end in range(1, len(data), 11):
            rows, reading = read(data[:end])
            if rows is not None:
                assert {key(row) for row in rows[:-1]} <= whole
                assert reading.bad or end < 10


DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), st.binary(max_size=9)), max_size=4)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(SAMPLES)), st.sampled_from(sorted(PACKINGS)), st.booleans(), DAMAGE)
def test_any_damage_is_told_or_harmless(read, kind, packing, inside, damage):
    """Damage to the packed file, or to what is packed."""
    data = SAMPLES[kind] if inside else PACKINGS[packing](SAMPLES[kind])
    for place, gone, new in damage:
        at = int(place * len(data))
        data = data[:at] + new + data[at + gone :]
    read(PACKINGS[packing](data) if inside else data)


MAGIC = [
    b"", b"PAR1", b"WARC/1.0\r\n", b"filedesc://", b"[", b"{", b"[[", b" CDX ",
    b"\x1f\x8b\x08", b"BZh91AY&SY", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18",
    b"\xff\xfe", b"\xef\xbb\xbf", b"url,time\n", b'"',
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Length: ",
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(MAGIC),
    st.binary(max_size=400)
    | st.text(max_size=200).map(lambda s: s.encode("utf-8", "surrogatepass"))
    | st.text(alphabet='{}[]",:0123456789.eE-\\\n u', max_size=200).map(str.encode),
    st.sampled_from([b"", b"PAR1", b"\r\n\r\n", b"\n"]),
)
@example(b"[", b"[" * 100_000, b"")
@example(b"{", b'"a":[' * 100_000, b"")
@example(b"", b"9" * 100_000, b"\n")
@example(b"{", b'"url": ' + b"9" * 5000 + b"}", b"\n")
@example(b"url,time\n", b'"' * 100_001, b"\n")
@example(b"", b"\0" * 1000, b"")
@example(b"\xff\xfe", b"\x00\xd8" * 500, b"")
def test_any_bytes_end_in_rows_or_one_clear_error(read, magic, data, end):
    read(magic + data + end)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(sorted(SAMPLES)), min_size=1, max_size=4), st.randoms())
def test_files_in_any_order_give_the_same_rows(tmp_path_factory, kinds, random):
    folder = tmp_path_factory.mktemp("many")
    named = [folder / f"{i}" for i in range(len(kinds))]
    for path, kind in zip(named, kinds, strict=True):
        path.write_bytes(SAMPLES[kind])
    one = Reading()
    rows = sorted(map(key, one.read_all(named)))
    random.shuffle(named)
    assert sorted(map(key, Reading().read_all([*named, folder]))) == rows
    assert one.bad == one.unread == 0


MANY = {
    "csv": lambda n: text(
        ["url,time,status", *(f"http://a/{i % 99},{T + i},200" for i in range(n))]
    ),
    "json": lambda n: json.dumps([FETCHES[i % N] for i in range(n)], indent=1).encode(),
    "items": lambda n: text(
        json.dumps({**ITEMS[i % 24], "scraped_at": T + 9 * i}) for i in range(n // 2)
    ),
    "warc": lambda n: SAMPLES["warc"] * (n // N // 4),
    "14 weeks": lambda n: text(f"{i}\t{i % 90}\t[[1, 0]]" for i in range(n // 2)),
}


@pytest.mark.parametrize("kind", MANY)
def test_memory_does_not_grow_with_rows(tmp_path, kind):
    peaks = []
    for n in (8_000, 24_000):
        path = tmp_path / f"{n}"
        path.write_bytes(gzip.compress(MANY[kind](n), 1))
        tracemalloc.start()
        rows = sum(1 for _ in Reading().read(path))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert rows >= n // 5
    assert peaks[1] < peaks[0] + 200_000


def test_nothing_of_all_this_is_printed(read, capfd):
    for kind in ("warc", "parquet"):
        read(SAMPLES[kind].replace(b"Content-Length: 5", b"Content-Length: 1"))
    sys.stderr.flush()
    assert capfd.readouterr() == ("", "")
