"""Which files are read: folders, patterns, packings, stdin, caches, the 14-week set's URLs."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import pickle
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from recrawl.audit.account import LogError
from recrawl.audit.files import CACHE, Reading
from recrawl.audit.kinds import ACCESS, CDX, JSON_LINES, SQUID, TABLE, WEEKS, WEEKS_URLS
from recrawl.audit.paths import time_in
from recrawl.cli.app import run

T = 1_700_000_000
LOG = "url,time,status,hash\n" + "".join(
    f"http://a.example/{i % 7},{T + i},200,h{i // 9}\n" for i in range(5000)
)


def zstd(data):
    return pa.compress(data, "zstd", asbytes=True)


PACKINGS = {
    "plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd,
    "gz twice": lambda data: gzip.compress(gzip.compress(data)),
    "gz in parts": lambda data: gzip.compress(data[:999]) + gzip.compress(data[999:]),
    "bz2 in parts": lambda data: bz2.compress(data[:999]) + bz2.compress(data[999:]),
    "xz in parts": lambda data: lzma.compress(data[:999]) + lzma.compress(data[999:]),
    "zst in parts": lambda data: zstd(data[:999]) + zstd(data[999:]),
    "zst, skippable": lambda data: b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd(data),
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "gz of utf-16": lambda data: gzip.compress(data.decode().encode("utf-16")),
}  # fmt: skip


QUICK = {"bz2": lambda x: bz2.compress(x, 1), "xz": lambda x: lzma.compress(x, preset=0)}


def read(*named, host="", **told):
    reading = Reading(host, told)
    return list(reading.read_all(named)), reading


@pytest.mark.parametrize("packing", PACKINGS)
def test_packings_are_known_by_their_bytes(tmp_path, packing):
    plain, packed = tmp_path / "plain", tmp_path / "log.txt"
    plain.write_text(LOG)
    packed.write_bytes(PACKINGS[packing](LOG.encode()))
    rows, reading = read(packed)
    assert rows == read(plain)[0]
    assert (len(rows), reading.bad) == (5000, 0)


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst", "gz twice", "gz in parts"])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_what_stands_before_a_cut_or_damage_is_kept(tmp_path, packing, share):
    path = tmp_path / "log"
    log = LOG + "".join(
        f"http://b.example/,{T + i},200,{os.urandom(20).hex()}\n" for i in range(12_000)
    )
    path.write_text(log)
    whole, _ = read(path)
    data = QUICK.get(packing, PACKINGS[packing])(log.encode())
    at = int(len(data) * share)
    path.write_bytes(data[:at])
    rows, reading = read(path)
    assert rows == whole[: len(rows)]
    assert len(rows) > (0.8 * share - 0.2) * len(whole)
    assert reading.bad == 1
    assert "cut off or damaged" in reading.first_bad[0]
    path.write_bytes(data[:at] + b"\xff" * 64 + data[at + 64 :])
    damaged, reading = read(path)  # what follows may come out as garbage before it is noticed
    assert damaged[: int(0.9 * len(rows))] == rows[: int(0.9 * len(rows))]
    assert packing == "zst" or "cut off or damaged" in reading.first_bad[0]


def test_stdin(tmp_path, capsys, monkeypatch):
    class Trickle(io.RawIOBase):
        """A pipe whose writer is slow: a few bytes at a time."""

        def __init__(self, data):
            self.data = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, buffer):
            return self.data.readinto(memoryview(buffer)[:7])

    for packing in ("plain", "gz", "zst"):
        stdin = io.TextIOWrapper(io.BufferedReader(Trickle(PACKINGS[packing](LOG.encode()))))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert run(["audit", "-", "--json", "--no-policies"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert (facts["rows"], facts["files"]) == (5000, {"-": TABLE})


def test_folders_patterns_and_the_same_file_once(tmp_path, monkeypatch):
    lines = LOG.splitlines(keepends=True)
    parts = {
        "b/2.csv": lines[1001:2001],
        "a/1.csv.gz": lines[2001:],
        "b/.hidden": lines,
        "c.csv": lines[1:1001],
    }
    for name, part in parts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        data = "".join([lines[0], *part]).encode()
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    rows, reading = read(tmp_path)
    assert (len(rows), len(reading.kinds)) == (5000, 3)
    (tmp_path / "link.csv").symlink_to(tmp_path / "c.csv")
    (tmp_path / "broken.csv").symlink_to(tmp_path / "gone.csv")
    os.mkfifo(tmp_path / "pipe")
    assert len(read(tmp_path, tmp_path / "c.csv", tmp_path / "b" / ".." / "c.csv")[0]) == 5000
    assert len(read(tmp_path / "**" / "*.csv*")[0]) == 5000
    monkeypatch.chdir(tmp_path)
    assert len(read(Path("*.csv"))[0]) == 1000
    with pytest.raises(LogError, match="no file fits"):
        read(Path("*.log"))
    (tmp_path / "odd[1].csv").write_text(LOG)
    assert len(read(Path("odd[1].csv"))[0]) == 5000
    with pytest.raises(FileNotFoundError):
        read(Path("c.csv"), Path("gone.csv"))


FOREIGN = {
    "a.zip": (b"PK\x03\x04rest", "unzip -p"), "b.db": (b"SQLite format 3\0x", "as CSV"),
    "c.tar": (b"a".ljust(257, b"\0") + b"ustar", "unpack it"),
    "d.png": (b"\x89PNG\0\0", "no text"),
    "e.html": (b"<!doctype html>", "markup"), "f.pickle": (b"\x80\x04\x95", "never read"),
    "g.txt": (b"hello\nworld\n", "which column is the url"), "h.avro": (b"Obj\x01", "Avro"),
    "i.json": (b'{"items": [1, 2]}', "which column is the url"),
    "j.parquet": (b"PAR1", "cut off"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_log_is_said_with_what_to_do(tmp_path, capsys, name):
    data, hint = FOREIGN[name]
    (tmp_path / name).write_bytes(data)
    assert run(["audit", str(tmp_path), "--json"]) == 2
    assert hint in capsys.readouterr().err
    (tmp_path / "log.csv").write_text(LOG)
    assert run(["audit", str(tmp_path), "--json", "--no-policies"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows"], facts["unread_files"]) == (5000, 1)
    assert hint in facts["first_unread_files"][0]
    assert run(["audit", str(tmp_path), "--no-policies"]) == 0
    assert "1 unread file left out" in capsys.readouterr().err


def test_all_that_is_wrong_with_many_files_is_told_shortly(tmp_path, capsys):
    for i in range(40):
        (tmp_path / f"{i}.csv").write_text(LOG[:500] + "\nx\n")
        (tmp_path / f"{i}.png").write_bytes(b"\0")
    assert run(["audit", str(tmp_path), "--no-policies"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) < 40
    assert any("20 more files" in line for line in said)
    assert any("40 bad rows" in line for line in said)


ENTRY = {"url": "http://a.example/x", "method": "GET", "status": 200,
         "response_url": "http://a.example/y", "timestamp": T + 0.25}  # fmt: skip
HEADERS = b"Content-Type: text/html\r\nServer: x"


def cache(root, body, entry=ENTRY, key="ab12", packed=False, **others):
    folder = root / "spider" / key[:2] / key
    folder.mkdir(parents=True, exist_ok=True)

    class Trap:
        def __reduce__(self):
            return (os.abort, ())

    files = {
        "meta": repr(entry).encode(), "pickled_meta": pickle.dumps(Trap(), 2),
        "response_headers": HEADERS, "response_body": body, "request_headers": b"",
        "request_body": b"", **others,
    }  # fmt: skip
    for name, data in files.items():
        if data is not None:
            (folder / name).write_bytes(gzip.compress(data) if packed else data)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_scrapys_http_cache(tmp_path, packed):
    """Copies of a cache after three crawls; a server's gzip differs by its time alone."""
    for i, text in enumerate([b"one", b"one", b"two"]):
        body = gzip.compress(text * 99, mtime=i)
        cache(tmp_path / str(i), body, {**ENTRY, "timestamp": T + i}, packed=packed)
        cache(tmp_path / str(i), text, {**ENTRY, "method": "POST"}, "cd34", packed=packed)
    rows, reading = read(tmp_path)
    assert [(r.url, r.time, r.status) for r in rows] == [
        ("http://a.example/x", T + i, 200) for i in range(3)
    ]
    assert [a.digest == b.digest for a, b in itertools.pairwise(rows)] == [True, False]
    assert rows[0].bytes == len(HEADERS) + len(gzip.compress(b"one" * 99))
    assert set(reading.kinds.values()) == {CACHE}
    assert len(reading.kinds) == 3


@pytest.mark.parametrize(
    "broken",
    [
        {"meta": None}, {"meta": b""}, {"meta": b"[1]"}, {"meta": b"{'url': __import__('os')}"},
        {"meta": b"(" * 9000}, {"meta": b"{'url': 'x', 'timestamp': 1}"}, {"meta": b"\xff\0"},
        {"meta": repr({**ENTRY, "timestamp": "x"}).encode()}, {"response_body": None},
        {"meta": b"\x1f\x8b\x08"}, {"meta": b"{[]: 1}"},
    ],
)  # fmt: skip
def test_a_broken_entry_of_a_cache_is_a_bad_row(tmp_path, broken):
    cache(tmp_path, b"fine")
    folder = cache(tmp_path, b"body", key="cd34", **broken)
    rows, reading = read(tmp_path)
    assert (len(rows), reading.bad) == (1, 1)
    assert reading.first_bad[0].startswith(f"{folder}:1: ")


HISTORY = "5\t5.514\t[[1.104, 0], [1.473, 1]]\n6\t1\t[[2, 1]]\n"
URLS = "http://a.example/p\t5\t77\nb.example/q\t6\t78\nnonsense\n"


@pytest.mark.parametrize("given", ["beside", "named", "named and beside"])
def test_urls_of_the_14_week_set(tmp_path, given):
    histories = tmp_path / "urlid_offset_history.txt"
    histories.write_text(HISTORY)
    folder = tmp_path / "there"
    folder.mkdir()
    name = "url_urlid_hostid.txt.gz"
    urls = (tmp_path if "beside" in given else folder) / name
    urls.write_bytes(gzip.compress(URLS.encode()))
    rows, reading = read(*[histories, urls][: 1 + ("named" in given)])
    assert [r.url for r in rows] == ["http://a.example/p"] * 3 + ["http://b.example/q"] * 2
    assert [r.changed for r in rows] == [None, False, True, None, True]
    assert reading.kinds == {str(histories): WEEKS, str(urls): WEEKS_URLS}
    assert reading.bad == 1


def test_the_14_week_sets_whole_folder(tmp_path):
    (tmp_path / "urlid_offset_history.txt").write_text(HISTORY)
    (tmp_path / "url_urlid_hostid.txt").write_text(URLS)
    (tmp_path / "urlid_imp.txt").write_text("5\t0.25\n")
    (tmp_path / "urlid_chrate_compl_obs_hist.txt").write_text("5\t0.01\n")
    rows, reading = read(tmp_path)
    assert len(rows) == 5
    assert reading.unread == 0
    (tmp_path / "url_urlid_hostid.txt").unlink()
    assert read(tmp_path)[0][0].url == "http://unknown.invalid/5"


KINDS = {
    ACCESS: ['h - - [14/Nov/2023:22:13:20 +0000] "GET http://a.b/ HTTP/1.1" 200 5 "-" "-"',
             r'h - - [14/Nov/2023:22:13:20 +0000] "\x16\x03\x01 \"" 400 150',
             'h - - [14/Nov/2023:22:13:20 +0000] "CONNECT a.b:443 HTTP/1.1" 200 5'],
    SQUID: ["1700000000.100 9 ::1 TCP_MISS/200 507 GET http://a.b/ - HIER_DIRECT/b text/html",
            "1700000000.100 9 ::1 TCP_TUNNEL/200 507 CONNECT a.b:443 - HIER_DIRECT/b -"],
    CDX: ["b,a)/ 20231114221320 http://a.b/ text/html 200 SHA 612"],
    JSON_LINES: ['{"url": "http://a.b/", "time": 1700000000, "status": 200}'],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0, 1, 3])
def test_a_kind_is_told_by_its_first_lines_not_the_first(tmp_path, kind, noise):
    """Broken lines at the head of a log don't hide what it is."""
    path = tmp_path / "log"
    path.write_text("\n".join([*["#! noise"] * noise, *KINDS[kind] * 4]) + "\n")
    rows, reading = read(path)
    assert reading.kinds == {str(path): kind}
    assert (len(rows), reading.bad) == (4, noise)
    assert rows[-1].url == "http://a.b/"


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("2024-01-01T10-20-30+00-00.jsonl", 1704104430), ("x_20240101_102030.csv", 1704104430),
        ("x-20240101T102030Z.csv", 1704104430), ("2024-01-01T10-20-30+02-00.json", 1704097230),
        ("items-2024-01-01-12.json", 1704067200), ("date=2024-01-01/part-0.parquet", 1704067200),
        ("2023-12-31/2024-01-01.csv", 1704067200), ("feed_1704067200.json", 1704067200),
        ("feed_1704067200123.json", 1704067200.123), ("items.json", None), ("2024.json", None),
        ("v1234567890123456.json", None), ("2024-13-41.json", None), ("99999999.csv", None),
    ],
)  # fmt: skip
def test_times_in_names(name, time):
    assert time_in(Path(name)) == time
