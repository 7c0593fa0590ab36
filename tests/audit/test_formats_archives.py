"""Web archives as public ones are made (by warcio), and their indexes: what had changed."""

import functools
import gc
import gzip
import io
import itertools
import json
import re
import time
import warnings

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.timeutils import iso_date_to_timestamp
from warcio.warcwriter import WARCWriter

from recrawl.audit.files import Reading
from recrawl.cli.app import run

T = 1_700_000_000
PAGES = ("http://a.example/", "https://b.example/x?q=1")
BODIES = ("one", "one", "two", "one")  # what each page says, a day between
DIGEST = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


def quietly(make):
    """warcio's writer leaves temporary files to the collector, which warns of them."""

    @functools.wraps(make)
    def made(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            try:
                return make(*args, **kwargs)
            finally:
                gc.collect()

    return made


def date(i):
    return f"2024-01-0{i + 1}T12:00:00Z"


def http(body, *headers, status="200 OK"):
    fields = [("Content-Type", "text/html"), *headers]
    return {
        "payload": io.BytesIO(body),
        "http_headers": StatusAndHeaders(status, fields, protocol="HTTP/1.1"),
    }


def record(writer, url, kind, i, http_part, **headers):
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return writer.create_warc_record(
        url, kind, warc_headers_dict={"WARC-Date": date(i), **named}, **http_part
    )


@quietly
def archive_crawl(packed=True):
    """As an archiving crawler writes: requests, DNS, digests, copies as revisits by digest."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=packed)
    writer.write_record(writer.create_warcinfo_record("a.warc.gz", {"software": "a crawler"}))
    writer.write_record(writer.create_warc_record(
        "dns:a.example", "response", payload=io.BytesIO(b"20240101\na.example. 60 IN A 192.0.2.1"),
        warc_content_type="text/dns",
    ))  # fmt: skip
    for page in PAGES:
        seen = set()
        for i, text in enumerate(BODIES):
            body = text.encode() * 50
            answer = record(
                writer, page, "response", i, http(body, ("Content-Length", str(len(body))))
            )
            writer.ensure_digest(answer)
            digest = answer.rec_headers.get_header("WARC-Payload-Digest")
            if text in seen:
                answer = writer.create_revisit_record(
                    page, digest, page, date(0), http_headers=answer.http_headers,
                    warc_headers_dict={"WARC-Date": date(i)},
                )  # fmt: skip
            seen.add(text)
            asked = writer.create_warc_record(
                page, "request", http_headers=StatusAndHeaders("GET / HTTP/1.1", [],
                is_http_request=True),
            )  # fmt: skip
            writer.write_request_response_pair(asked, answer)
    writer.write_record(record(
        writer, "http://a.example/gone", "response", 0, http(b"", status="404 Not Found")
    ))  # fmt: skip
    return out.getvalue()


@quietly
def conditional_crawl(packed=True):
    """As a mirroring tool writes: no payload digests, chunks, gzip, 304s as revisits."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=packed, warc_version="WARC/1.1")
    for page in PAGES:
        for i, text in enumerate(BODIES):
            if i and text == BODIES[i - 1]:
                answer = record(
                    writer, page, "revisit", i, http(b"", status="304 Not Modified"),
                    WARC_Profile=NOT_MODIFIED, WARC_Refers_To_Target_URI=page,
                )  # fmt: skip
            else:
                packed_body = gzip.compress(text.encode() * 50, mtime=i)
                cut = 3 + i  # chunks differ from visit to visit, and so do the bytes of gzip
                chunks = [packed_body[:cut], packed_body[cut:], b""]
                body = b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks)
                answer = record(writer, page, "response", i, http(
                    body, ("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")
                ))  # fmt: skip
                answer.rec_headers.add_header("WARC-Payload-Digest", "")
            writer.write_record(answer)
    picture = record(
        writer, "http://a.example/p.png", "resource", 0, {"payload": io.BytesIO(b"x")}
    )
    writer.write_record(picture)
    text = out.getvalue()
    return strip_digests(text) if not packed else text


def strip_digests(plain):
    return b"".join(
        line for line in plain.splitlines(keepends=True)
        if not line.startswith((b"WARC-Payload-Digest", b"WARC-Block-Digest"))
    )  # fmt: skip


SAMPLES = {
    "by digest": archive_crawl(),
    "by digest, plain": archive_crawl(packed=False),
    "by digest, packed as one": gzip.compress(archive_crawl(packed=False)),
    "by 304": strip_digests(conditional_crawl(packed=False)),
    "by 304, packed as one": gzip.compress(strip_digests(conditional_crawl(packed=False))),
}


def index(warc, form="11"):
    """The CDX of a packed archive, as indexers write it."""
    lines = [] if form == "7" else [" CDX N b a m s k r M S V g"]
    records = ArchiveIterator(io.BytesIO(warc))
    for r in records:
        url = r.rec_headers.get_header("WARC-Target-URI") or ""
        if r.rec_type not in ("response", "revisit") or not url.startswith("http"):
            continue
        stamp = iso_date_to_timestamp(r.rec_headers.get_header("WARC-Date"))
        mime = "warc/revisit" if r.rec_type == "revisit" else "text/html"
        status = "-" if r.rec_type == "revisit" else r.http_headers.get_statuscode()
        digest = r.rec_headers.get_header("WARC-Payload-Digest").removeprefix("sha1:")
        size, at = records.get_record_length(), records.get_record_offset()
        host = ",".join(reversed(url.split("/")[2].split("."))) + ")/"
        line = {
            "7": f"{host} {stamp} {url} {mime} {status} {digest} {size}",
            "11": f"{host} {stamp} {url} {mime} {status} {digest} - - {size} {at} a.warc.gz",
            "cdxj": f"{host} {stamp} " + json.dumps({
                "url": url, "mime": mime, "digest": f"sha1:{digest}", "length": str(size),
                **({} if status == "-" else {"status": status}),
            }),
        }[form]  # fmt: skip
        lines.append(line)
    return "\n".join(lines) + "\n"


def read(tmp_path, data, name="a.warc"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    reading = Reading()
    return list(reading.read(path)), reading


def judged(tmp_path, capsys, data, name="a.warc"):
    """What `audit` says of it: judged, found nothing, by what."""
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    assert run(["audit", str(tmp_path / name), "--json", "--no-policies"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["bad_rows"] == 0
    total = facts["total"]
    return total["judged"], total["found_nothing"], facts["judged_by"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_archives_tell_what_changed(tmp_path, capsys, sample):
    """Each of two pages: the same, changed, changed back."""
    by = {"content hash": 6} if "digest" in sample else {"content hash": 4, "status 304": 2}
    assert judged(tmp_path, capsys, SAMPLES[sample]) == (6, 2, by)


@pytest.mark.parametrize("form", ["7", "11", "cdxj"])
def test_an_index_tells_the_same(tmp_path, capsys, form):
    found = judged(tmp_path, capsys, index(SAMPLES["by digest"], form), "a.cdx")
    assert found == (6, 2, {"content hash": 6})


def test_an_archive_and_its_index_of_another_crawl_agree(tmp_path):
    rows, _ = read(tmp_path, SAMPLES["by digest"])
    also, reading = read(tmp_path, index(SAMPLES["by digest"]), "a.cdx")
    assert reading.bad == 0
    assert [(r.url, r.time, r.digest) for r in rows] == [(r.url, r.time, r.digest) for r in also]


def test_bytes_are_those_on_the_wire(tmp_path):
    rows, _ = read(tmp_path, SAMPLES["by digest"])
    first, copy = rows[0], rows[1]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 150\r\n\r\n"
    assert (first.status, first.bytes, first.time) == (200, len(head) + 150, 1704110400)
    assert copy.bytes == first.bytes  # sent in full, though the archive kept the headers alone
    rows, _ = read(tmp_path, SAMPLES["by 304"])
    assert rows[1].bytes == len(b"HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n\r\n")
    assert (rows[1].status, rows[1].digest) == (304, None)
    assert (rows[-1].url, rows[-1].bytes) == ("http://a.example/p.png", 1)
    rows, _ = read(tmp_path, index(SAMPLES["by digest"]), "a.cdx")
    assert rows[1].bytes is None  # the index has the length of the note, not of what was sent


@quietly
def test_a_body_cut_off_at_random_has_no_digest(tmp_path):
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=False)
    for i, why in enumerate(["length", "time", "disconnect"]):
        writer.write_record(
            record(writer, PAGES[0], "response", i, http(b"x"), WARC_Truncated=why)
        )
    rows, _ = read(tmp_path, out.getvalue())
    assert [r.digest is None for r in rows] == [False, True, True]


@quietly
def test_a_revisit_without_a_digest_found_nothing(tmp_path):
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=False)
    writer.write_record(record(
        writer, PAGES[0], "revisit", 0, {"payload": io.BytesIO()}, WARC_Profile=DIGEST
    ))  # fmt: skip
    (row,), _ = read(tmp_path, strip_digests(out.getvalue()))
    assert (row.changed, row.bytes, row.status) == (False, None, None)


def test_arc_files_too(tmp_path):
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"
    version = b"1 0 X\nURL IP-address Archive-date Content-type Archive-length\n"
    head = b"filedesc://a.arc 192.0.2.1 20231114221320 text/plain %d\n%s\n" % (
        len(version), version,
    )  # fmt: skip
    data = head + b"http://a.example/ 192.0.2.1 20231114221320 text/html %d\n%s\n" % (
        len(body), body,
    )  # fmt: skip
    rows, _ = read(tmp_path, data, "a.arc")
    assert [(r.url, r.time, r.status, r.bytes) for r in rows] == [
        ("http://a.example/", T, 200, len(body))
    ]


def test_headings_say_what_the_fields_of_an_index_are(tmp_path):
    lines = " CDX a b s k S\nhttp://a.example/ 20231114221320 200 ABC 612\n"
    rows, reading = read(tmp_path, lines + "http://a.example/ 20231114221320\n", "a.cdx")
    assert [(r.url, r.status, r.digest, r.bytes) for r in rows] == [
        ("http://a.example/", 200, "ABC", 612)
    ]
    assert "2 fields, a CDX line has 5" in reading.first_bad[0]


@pytest.mark.parametrize("n", range(3))
def test_a_record_that_is_no_record_ends_the_file_but_not_the_audit(tmp_path, n):
    data = SAMPLES["by digest, plain"]
    ends = [i for i in range(len(data)) if data.startswith(b"\r\n\r\nWARC/1.0\r\n", i)]
    at = ends[3 * n + 3] + 4
    broken = [data[:at] + b"nonsense\r\n" + data[at:], data[:at] + b"\xff" * 99, data[: at + 40]]
    whole, _ = read(tmp_path, data)
    rows, reading = read(tmp_path, broken[n])
    assert rows == whole[: len(rows)]
    assert reading.bad == 1


@pytest.mark.parametrize("factor", [0.1, 3, -1])
def test_lengths_that_lie_are_told(tmp_path, factor):
    data = SAMPLES["by digest, plain"]
    whole, _ = read(tmp_path, data)
    length = re.findall(rb"Content-Length: (\d+)\r\n\r\nHTTP/1.1 200", data)[3]
    lie = b"%d" % (int(length) * factor)
    rows, reading = read(
        tmp_path, data.replace(b": %s\r\n\r\nHTTP" % length, b": %s\r\n\r\nHTTP" % lie)
    )
    assert reading.bad
    assert len(rows) < len(whole)
    assert {(r.url, r.time) for r in rows} < {(r.url, r.time) for r in whole}


@pytest.mark.parametrize("head", [b"WARC/1.0\r\n", b"WARC/1.0\r\nContent-Length: 9\r\n\r\n"])
def test_lines_without_an_end_take_no_time(tmp_path, head):
    began = time.process_time()
    rows, reading = read(tmp_path, head + bytes(60_000_000))
    assert (rows, reading.bad) == ([], 1)
    assert time.process_time() - began < 5


def test_every_cut_keeps_what_stands_before_it(tmp_path):
    for data in (SAMPLES["by digest, plain"], SAMPLES["by 304"]):
        whole, _ = read(tmp_path, data)
        rows = []
        for end in itertools.chain(range(10, len(data), 97), [len(data)]):
            some, reading = read(tmp_path, data[:end])
            assert some == whole[: len(some)]
            assert len(rows) <= len(some) <= len(rows) + 1
            between = data[end - 4 : end + 5] in (b"\r\n\r\nWARC/", b"\r\n\r\n")
            assert (reading.bad == 0) == between
            rows = some
        assert rows == whole
