"""Bytes as they came -> blocks of UTF-8, and mended markup: the same however they were cut."""

import gzip
import zlib
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from recrawl.sources.reading import Reading, Warned
from recrawl.sources.sitemap import read
from recrawl.sources.sitemap_bytes import BLOCK, Limits, blocks, charset, plain, utf8
from recrawl.sources.sitemap_sniff import Mender, sniff


@given(st.lists(st.binary(max_size=50)), st.integers(1, 40))
def test_blocks_hold_the_same_bytes(chunks, size):
    got = list(blocks(chunks, size))
    assert b"".join(got) == b"".join(chunks)
    assert all(len(block) == size for block in got[:-1])
    assert all(got)


def unpacked(body, limits=None):
    reading = Reading()
    return b"".join(plain([body], limits or Limits(), reading)), reading


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=6), st.integers(0, 2))
def test_gzip_members_join(parts, junk):
    body = b"".join(gzip.compress(part) for part in parts) + b"\0" * junk
    text = b"".join(parts)
    if not text.startswith(b"\x1f\x8b"):
        assert unpacked(body)[0] == text


@pytest.mark.parametrize("size", [4_090, 4_095, 4_096, 4_097, 8_191, 8_192])
def test_a_member_may_end_anywhere_in_a_block(size):
    """Stored, not deflated: the length of the first member is chosen to the byte."""
    engine = zlib.compressobj(0, zlib.DEFLATED, 31)
    first = engine.compress(b"a" * (size - 23)) + engine.flush()
    assert len(first) == size
    got, reading = unpacked(first + gzip.compress(b"tail"))
    assert got == b"a" * (size - 23) + b"tail"
    assert not reading.shortened


@given(st.binary(min_size=200, max_size=400), st.data())
def test_a_cut_member_gives_a_beginning(text, data):
    body = gzip.compress(text)
    cut = data.draw(st.integers(2, len(body) - 1))
    got, reading = unpacked(body[:cut])
    assert text.startswith(got)
    assert reading.warnings == {Warned.TRUNCATED: 1}


def test_a_bomb_in_a_bomb_stops_at_the_limit():
    bomb = gzip.compress(gzip.compress(b" " * 50_000_000))
    got, reading = unpacked(bomb, Limits(bytes=3_000_000))
    assert len(got) == 3_000_000
    assert reading.warnings == {Warned.OVER_LIMIT: 1}
    assert reading.shortened


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b"", "utf-8"),
        (b"<", "utf-8"),
        (b"<\0", "utf-16-le"),
        (b"\0<", "utf-16-be"),
        (b"\0\0", "utf-8"),
        (b"\xff\xfe<\0", "utf-16-le"),
        (b"<?xml version='1.0' encoding='windows-1251'?>", "cp1251"),
        (b"junk <?xml version='1.0' encoding=\"Shift_JIS\"?>", "cp932"),
        (b"<?xml version='1.0' encoding='utf-7'?>", "utf-8"),
        (b"<?xml version='1.0' encoding='UTF-16LE'?>", "utf-8"),
    ],
)
def test_charset(head, codec):
    assert charset(head)[0] == codec


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_survives(text, codec):
    text = text.lstrip("\ufeff\0")
    reading = Reading()
    got = b"".join(utf8(blocks([text.encode(codec)], 16), reading)).decode()
    if codec != "utf-8" or text[1:2] != "\0":  # else it looks like UTF-16
        assert got == text
        assert not reading.warnings


@given(st.binary(max_size=200))
def test_any_octets_become_utf8(body):
    b"".join(utf8(blocks([body], 16), Reading())).decode()


FRAGMENTS = st.sampled_from(
    [b"&", b"&amp;", b"&eacute;", b"&#38;", b"&#x26;", b"&nosuch;", b"<![CDATA[", b"]]>", b"]]",
     b"<loc>", b"a", b"=", b";", b"\x08", b"\n",
     b"&" + b"a" * 40 + b";", "é".encode()]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=40), st.lists(st.integers(0, 60), max_size=6))
def test_mending_never_depends_on_where_a_block_ends(fragments, sizes):
    text = b"".join(fragments)
    whole = Mender()
    wanted = whole.feed(text, last=True)
    parts, got = Mender(), b""
    for size in sizes:
        got += parts.feed(text[:size])
        text = text[size:]
    got += parts.feed(text) + parts.feed(b"", last=True)
    assert got == wanted
    assert parts.mended == whole.mended


@given(st.lists(FRAGMENTS, max_size=40))
def test_mending_twice_changes_nothing(fragments):
    once = Mender().feed(b"".join(fragments), last=True)
    again = Mender()
    assert again.feed(once, last=True) == once
    assert again.mended == 0


LETTERS = st.characters(
    codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
)
XML_TEXT = st.text(LETTERS, max_size=60)


@given(XML_TEXT, st.booleans())
def test_sound_xml_is_left_as_it_is(text, literal):
    text = text.replace("]]>", "")
    inner = f"<![CDATA[{text}]]>" if literal else escape(text)
    body = f"<loc>{inner}</loc>".encode()
    mender = Mender()
    assert mender.feed(body, last=True) == body
    assert mender.mended == 0
    assert (etree.fromstring(body).text or "") == text


PATHS = st.lists(
    st.text("abcdefghijklmnopqrstuvwxyz0123456789/-_.~?=&%+!$'()*,;:@", max_size=40), max_size=30
)


@settings(deadline=None)
@given(PATHS, st.sampled_from(["utf-8", "utf-16", "latin-1"]), st.booleans(), st.booleans())
def test_what_a_correct_writer_wrote_is_what_is_read(paths, codec, packed, literal):
    urls = [f"http://e.com/{path}" for path in paths]
    written = [f"<![CDATA[{url}]]>" if literal else escape(url) for url in urls]
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in written)
    text = f"<?xml version='1.0' encoding='{codec}'?>\n"
    text += f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>"
    body = gzip.compress(text.encode(codec)) if packed else text.encode(codec)
    reading = Reading()
    assert [h.url for h in read([body], "http://e.com/s", 1e9, reading)] == urls
    assert reading.complete
    assert not set(reading.warnings) - {Warned.NOTHING_LISTED}


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_sniffing_ends_in_a_kind_or_a_reason(head):
    found = sniff(head)
    assert bool(found.kind) != bool(found.why)
    assert 0 <= found.at <= len(head)


@pytest.mark.parametrize(
    "unit", [b"<?", b"<!--", b"<!DOCTYPE", b"<a", b"<", b"<![CDATA[", b"\n", b"[", b"http://"]
)
def test_a_whole_block_of_one_thing_is_understood(unit):
    """What made patterns go back over the block for each of its bytes."""
    found = sniff(unit * (BLOCK // len(unit)))
    assert found.why or found.kind == "text"
