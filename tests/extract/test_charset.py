"""The same page in any charset is the same text; no declaration can make decoding fail."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.charset import codec_of, declared, decode
from recrawl.extract.document import Document
from recrawl.extract.text import tiers

SPANISH = "El camión pequeño cuesta 12 € más en España, señor Muñoz"
LATIN = "El camión pequeño cuesta más en España, señor Muñoz"
RUSSIAN = "Съешь же ещё этих мягких французских булок"
JAPANESE = "いろはにほへと 漢字"


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (SPANISH, "utf-8", "UTF-8"),
        (SPANISH, "cp1252", "windows-1252"),
        (SPANISH, "cp1252", "iso-8859-1"),  # browsers read latin-1 as windows-1252: the euro sign
        (SPANISH, "cp1252", "us-ascii"),
        (LATIN, "iso8859-15", "ISO-8859-15"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (RUSSIAN, "utf-8", "utf8"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "euc_jp", "x-euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        ("漢字", "gb18030", "gb2312"),
        ("漢字", "big5", "Big5"),
        ("한글", "cp949", "ks_c_5601-1987"),
    ],
)
@pytest.mark.parametrize("where", ["header", "meta", "http-equiv"])
def test_a_declared_charset_gives_the_text(text: str, codec: str, label: str, where: str) -> None:
    meta = {
        "header": "",
        "meta": f'<meta charset="{label}">',
        "http-equiv": f"<META http-equiv=Content-Type content='text/html; charset={label}'>",
    }[where]
    header = f"text/html; charset={label}" if where == "header" else "text/html"
    decoded = decode(f"{meta}<p>{text}</p>".encode(codec), header)
    assert text in decoded.utf8.decode()
    assert not decoded.flags


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_wins_over_the_header_and_is_no_text(bom: bytes) -> None:
    codec = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le"}.get(bom, "utf-16-be")
    decoded = decode(bom + SPANISH.encode(codec), "text/html; charset=windows-1251")
    assert (decoded.utf8.decode(), decoded.charset) == (SPANISH, codec)


def test_the_header_wins_over_the_page() -> None:
    body = f'<meta charset="koi8-r">{RUSSIAN}'.encode("cp1251")
    assert RUSSIAN in decode(body, "text/html; charset=windows-1251").utf8.decode()


def test_nothing_declared_is_utf8_where_valid_else_windows_1252() -> None:
    assert decode(SPANISH.encode(), "text/html").charset == "utf-8"
    legacy = decode(SPANISH.encode("cp1252"), "text/html")
    assert (legacy.charset, legacy.utf8.decode()) == ("windows-1252", SPANISH)
    assert legacy.flags == {"guessed"}


@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=utf-8", None])
def test_one_broken_byte_does_not_turn_a_utf8_page_into_mojibake(content_type: str | None) -> None:
    body = (SPANISH * 20).encode() + b"\xff"
    decoded = decode(body, content_type)
    assert decoded.charset == "utf-8"
    assert decoded.utf8.decode() == SPANISH * 20 + "\ufffd"
    assert "undecodable" in decoded.flags


def test_latin_bytes_declared_utf8_are_read_as_what_they_are() -> None:
    decoded = decode(LATIN.encode("cp1252"), "text/html; charset=utf-8")
    assert (decoded.utf8.decode(), decoded.flags) == (LATIN, {"mislabelled"})


def test_utf8_bytes_declared_latin_are_read_as_what_they_are() -> None:
    decoded = decode(SPANISH.encode(), "text/html; charset=iso-8859-1")
    assert (decoded.utf8.decode(), decoded.flags) == (SPANISH, {"mislabelled"})


@pytest.mark.parametrize(
    "label", ["utf-7", "rot13", "base64", "idna", "unicode_escape", "zlib", "x" * 39, "hex", "bz2"]
)
def test_what_is_no_charset_of_the_web_is_refused(label: str) -> None:
    assert codec_of(label) is None
    decoded = decode(SPANISH.encode(), f"text/html; charset={label}")
    assert (decoded.utf8.decode(), decoded.flags) == (SPANISH, {"unknown"})


def test_every_label_leads_to_a_codec_that_python_has() -> None:
    labels = ["latin1", "ascii", "sjis", "gbk", "euc-kr", "tis-620", "x-sjis", "utf-16", "koi"]
    labels += [f"windows-125{n}" for n in range(9)] + [f"iso-8859-{n}" for n in (2, 5, 7, 9, 15)]
    for label in labels:
        codec = codec_of(label)
        assert codec is not None, label
        codecs.lookup(codec)


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b"<!-- <meta charset=koi8-r> --><meta charset=cp1251>", "cp1251"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b'<?xml version="1.0" encoding="ISO-8859-2"?><html/>', "iso8859-2"),
        (b"<metacharset=koi8-r>", None),
        (b"<meta name=x content='no charset here'>", None),
        (b" " * 5000 + b"<meta charset=koi8-r>", None),
    ],
)
def test_the_prescan(head: bytes, codec: str | None) -> None:
    assert declared(head, None)[0] == codec


def test_a_label_that_is_no_charset_leaves_the_page_its_say() -> None:
    assert declared(b"<meta charset=koi8-r>", "text/html; charset=none") == ("koi8-r", True)


def test_an_encoding_that_flips_between_visits_is_no_change() -> None:
    """CHG-04: latin-1 one day, UTF-8 the next, sometimes without a word about it."""
    page = f"<html><title>{LATIN}</title><body><main><p>{LATIN}</p></main></body></html>"
    served = [
        (page.encode(), "text/html; charset=utf-8"),
        (page.encode(), "text/html"),
        (page.encode(), "text/html; charset=ISO-8859-1"),
        (page.encode("latin-1"), "text/html; charset=ISO-8859-1"),
        (page.encode("latin-1"), "text/html"),
        (page.encode("latin-1"), "text/html; charset=utf-8"),
        (codecs.BOM_UTF8 + page.encode(), "text/html"),
        (
            page.replace("ó", "o\u0301").encode(),
            "text/html; charset=utf-8",
        ),  # the same, decomposed
    ]
    assert len({tiers(Document(body, kind, "https://e.com/")) for body, kind in served}) == 1


@given(st.binary(max_size=300), st.text(max_size=40) | st.none())
def test_any_bytes_decode_to_valid_utf8(body: bytes, content_type: str | None) -> None:
    decoded = decode(body, content_type)
    decoded.utf8.decode()
    codecs.lookup(decoded.charset)


@given(st.text(alphabet=st.characters(codec="cp1252"), min_size=1, max_size=200))
def test_windows_1252_and_utf8_agree(text: str) -> None:
    legacy = decode(text.encode("cp1252"), "text/html; charset=windows-1252")
    if "mislabelled" not in legacy.flags:  # its bytes may happen to be valid UTF-8
        assert legacy.utf8 == decode(text.encode(), "text/html; charset=utf-8").utf8
