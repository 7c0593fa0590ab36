"""Where keys stand in a TOML text."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from recrawl.config.lines import line_numbers, line_of

TEXT = '''\
# a comment with x = 1
top = 1
[a]
b = """
c = 2
[d]
"""
e.f = 3
"quoted key" = 4
list = [
  "x = y",
  5,
]
[a.sub]  # remark
g = 'not """ open'
h = 6
[[site]]
k = { inner = 1 }
[[site]]
k = 2
'''


def test_tables_keys_and_entries_of_arrays():
    lines = line_numbers(TEXT)
    assert lines[("top",)] == 2
    assert lines[("a",)] == 3
    assert lines["a", "b"] == 4
    assert lines["a", "e", "f"] == 8
    assert lines["a", "quoted key"] == 9
    assert lines["a", "list"] == 10
    assert lines["a", "sub"] == 14
    assert lines["a", "sub", "g"] == 15
    assert lines[("site",)] == 17
    assert (lines["site", 0, "k"], lines["site", 1, "k"]) == (18, 20)
    assert lines["site", 1] == 19


def test_what_stands_in_a_text_is_no_key():
    lines = line_numbers(TEXT)
    assert ("a", "c") not in lines
    assert ("d",) not in lines


def test_the_closest_thing_around_serves():
    lines = line_numbers(TEXT)
    assert line_of(("site", 0, "k", "inner"), lines) == 18
    assert line_of(("a", "nowhere"), lines) == 3
    assert line_of(("elsewhere", "x"), lines) is None


KEYS = st.text("abc_-XY09", min_size=1, max_size=5)


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, st.integers(), max_size=4), max_size=4))
def test_every_key_is_found_on_its_line(tables):
    text = ""
    for table, keys in tables.items():
        text += f"\n[{table}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items())
    assert tomllib.loads(text) == tables
    lines, rows = line_numbers(text), text.splitlines()
    for table, keys in tables.items():
        assert rows[lines[(table,)] - 1] == f"[{table}]"
        for key, value in keys.items():
            assert rows[lines[table, key] - 1] == f"{key} = {value}"


@given(st.text())
def test_no_text_breaks_it(text):
    line_numbers(text)
