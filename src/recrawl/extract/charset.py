"""Which charset a body is in, so that the same page in two charsets is the same text.

Order of evidence: byte-order mark, HTTP header, declaration in the first bytes (WHATWG Encoding
and HTML standards, "determining the character encoding"), then UTF-8 where it is valid, else
windows-1252. A declaration that the bytes contradict is overruled and flagged.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

PRESCAN = 4096  # browsers look at 1024 bytes, then reload at a later declaration
SAMPLE = 1 << 20  # bytes that are looked at to see whether a declaration is a lie

_SUPERSET = {  # what browsers read under a label, as Python codecs
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "cp1252": "windows-1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "euc_jp": "euc_jp",
    "iso2022_jp": "iso2022_jp",
    "utf-8": "utf-8",
    "utf-16": "utf-16-le",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "cp866": "cp866",
    "cp874": "cp874",
    "mac-roman": "mac-roman",
    "mac-cyrillic": "mac-cyrillic",
    **{f"iso8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"cp125{n}": f"cp125{n}" for n in (0, 1, 3, 4, 5, 6, 7, 8)},
}
_ALIAS = {
    "unicode-1-1-utf-8": "utf-8",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "x-gbk": "gbk",
    "x-sjis": "shift_jis",
    "x-x-big5": "big5",
    "x-euc-jp": "euc_jp",
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "visual": "iso8859-8",
    "logical": "iso8859-8",
    "unicode": "utf-16-le",
    "koi": "koi8-r",
}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*?charset\s*=\s*[\"']?\s*([\w:.+-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w:.+-]{2,40})", re.IGNORECASE)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.+-]{2,40})", re.IGNORECASE)


class Decoded(NamedTuple):
    """A body as text: UTF-8 bytes without byte-order mark, the charset it was in, and flags.

    Flags: `mislabelled` (bytes contradict the declaration), `unknown` (declared, but no charset),
    `undecodable` (some bytes had to be replaced), `guessed` (nothing was declared, not UTF-8).
    """

    utf8: bytes
    charset: str  # a name that Python's codecs know
    flags: frozenset[str]


def codec_of(label: str) -> str | None:
    """The codec for a charset label, or None where no browser would accept it.

    >>> codec_of("Latin1"), codec_of("GB2312"), codec_of("utf-7"), codec_of("rot13")
    ('windows-1252', 'gb18030', None, None)
    """
    label = label.strip().lower()
    try:
        return _SUPERSET.get(codecs.lookup(_ALIAS.get(label, label)).name)
    except (LookupError, ValueError):
        return None


def declared(body: bytes, content_type: str | None) -> tuple[str | None, bool]:
    """(codec, whether a label was there that is no charset), from header or first bytes."""
    unknown = False
    if content_type and (m := _HEADER.search(content_type)):
        if codec := codec_of(m[1]):
            return codec, False
        unknown = True
    head = body[:PRESCAN]
    found = _XML.match(head) or _META.search(_COMMENT.sub(b"", head))
    if found is None:
        return None, unknown
    codec = codec_of(found[1].decode("ascii", "replace"))
    if codec is None:
        return None, True
    # A declaration that could be read as ASCII can't stand in UTF-16 (HTML standard).
    return ("utf-8" if codec.startswith("utf-16") else codec), unknown


def decode(body: bytes, content_type: str | None) -> Decoded:
    """The body as UTF-8, by the best evidence there is. Never raises.

    >>> a = decode("Café".encode(), "text/html; charset=utf-8")
    >>> b = decode("Café".encode("cp1252"), "text/html")
    >>> a.utf8 == b.utf8, b.charset
    (True, 'windows-1252')
    """
    for bom, marked in _BOMS:
        if body.startswith(bom):
            return _as(body[len(bom) :], marked, frozenset())
    codec, unknown = declared(body, content_type)
    flags = frozenset({"unknown"}) if unknown else frozenset()
    if codec in (None, "utf-8"):
        if _is_utf8(body):
            return Decoded(body, "utf-8", flags)
        if not _mostly_utf8(body):
            return _as(body, "windows-1252", flags | {"mislabelled" if codec else "guessed"})
    elif codec == "windows-1252":
        if body.isascii():
            return Decoded(body, codec, flags)
        if _is_utf8(body):
            return Decoded(body, "utf-8", flags | {"mislabelled"})
    return _as(body, codec or "utf-8", flags)


def _as(body: bytes, codec: str, flags: frozenset[str]) -> Decoded:
    try:
        text = body.decode(codec)
    except UnicodeDecodeError:
        text, flags = body.decode(codec, "replace"), flags | {"undecodable"}
    return Decoded(text.encode("utf-8", "replace"), codec, flags)


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _mostly_utf8(body: bytes) -> bool:
    """Is a body that isn't quite UTF-8 still far more likely UTF-8 than a legacy charset?"""
    text = body[:SAMPLE].decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) > 4 * broken
