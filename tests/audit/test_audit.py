"""A log in, the waste out: the same for any order of its rows, whatever else stands in it."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.audit.columns import LogError
from recrawl.audit.files import Reading
from recrawl.audit.rows import Row
from recrawl.audit.waste import Fetches, page_type
from recrawl.cli.app import run

T = 1_700_000_000
LOG = f"""link,ts,http_status,size,hash
http://a.example/p/1,{T},200,100,x
http://a.example/p/1,{T + 10},200,100,x
http://a.example/p/1,{T + 20},200,110,y
http://a.example/p/1,{T + 30},304,5,
http://a.example/p/1,{T + 40},503,7,
http://a.example/p/1,{T + 50},200,110,y
http://a.example/p/2,{T},200,50,z
http://a.example/p/2,yesterday,200,50,z
http://a.example/p/2,{T}
"""


def audit(tmp_path, text, name="log.csv", *options):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return run(["audit", str(path), "--json", *options])


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
def test_a_table_by_hand(tmp_path, capsys, name):
    assert audit(tmp_path, LOG, name, "--price", "1000") == 0
    facts = json.loads(capsys.readouterr().out)
    (group,) = facts["groups"]
    assert (group["site"], group["page_type"]) == ("a.example", "/p/*")
    # of p/1: same, changed, 304, (503), same; p/2 was read once
    assert (group["fetches"], group["failed"], group["judged"]) == (7, 1, 4)
    assert (group["found_nothing"], group["bytes_found_nothing"]) == (3, 100 + 5 + 110)
    assert group["usd_found_nothing"] == pytest.approx(215e-6)
    assert facts["judged_by"] == {"content hash": 3, "status 304": 1}
    assert facts["pages_read_once"] == 1
    assert facts["bad_rows"] == 2
    assert facts["first_bad_rows"][0].endswith(
        f"{name}:9: 'yesterday' is no time (epoch seconds, ISO 8601 or an HTTP date)"
    )
    assert f"{name}:10: 2 cells of 5" in facts["first_bad_rows"][1]


def test_columns_can_be_told_and_must_exist(tmp_path, capsys):
    text = f"where,whence,when\nhttp://a.example/,http://b.example/,{T}\n"
    assert audit(tmp_path, text) == 2
    assert "--column url=NAME; there are where, whence, when" in capsys.readouterr().err
    assert audit(tmp_path, text, "log.csv", "--column", "url=where", "--column", "time=when") == 0
    assert audit(tmp_path, text, "log.csv", "--column", "url=no", "--column", "time=when") == 2


def test_json_lines_and_the_14_week_set(tmp_path, capsys):
    lines = [{"url": "http://a.example/x", "time": T + i, "changed": i == 1} for i in range(3)]
    assert audit(tmp_path, "\n".join(map(json.dumps, lines)) + "\n[]\n", "log.jsonl") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["total"]["judged"], facts["total"]["found_nothing"]) == (2, 1)
    assert facts["bad_rows"] == 1
    assert audit(tmp_path, "5\t5.514\t[[1.104, 0], [1.473, 1]]\n", "hist.txt") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["total"]["judged"], facts["total"]["found_nothing"]) == (2, 1)


ROWS = st.builds(
    Row,
    url=st.sampled_from([f"http://{h}.b/{p}" for h in "xy" for p in ("", "1", "n/2.html")]),
    time=st.integers(T, T + 6).map(float),
    status=st.sampled_from([None, 200, 304, 404]),
    bytes=st.sampled_from([None, 1, 2]),
    digest=st.sampled_from([None, "a", "b"]),
    changed=st.sampled_from([None, True, False]),
    page_type=st.sampled_from([None, "t", "s"]),
)


def waste(folder, rows):
    (folder / "db").unlink(missing_ok=True)
    fetches = Fetches(folder / "db")
    list(fetches.add(rows))
    out = fetches.waste()
    fetches.close()
    return out


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, max_size=30).flatmap(lambda r: st.tuples(st.just(r), st.permutations(r))))
def test_any_order_of_rows_gives_the_same(tmp_path_factory, both):
    folder = tmp_path_factory.mktemp("audit")
    one, two = (waste(folder, rows) for rows in both)
    assert one == two
    assert sum(g.fetches for g in one.groups.values()) == len(both[0])
    assert all(g.nothing <= g.judged <= g.fetches - g.failed for g in one.groups.values())


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(lambda s: (LOG + s).encode("utf-8", "surrogatepass"))
    | st.integers(0, 120).map(lambda n: gzip.compress(LOG.encode())[:n])
)
def test_garbage_never_ends_in_another_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("audit") / "log"
    path.write_bytes(data)
    reading = Reading()
    try:
        rows = list(reading.read(path))
    except LogError as error:
        assert str(path) in str(error)
    else:
        assert len(rows) == reading.rows


def test_page_types_mask_ids():
    assert page_type("http://a.b/p/123-shoe") == page_type("http://a.b/p/hat") == "/p/*"
    assert page_type("http://a.b/library/os.html") == "/library/*.html"
