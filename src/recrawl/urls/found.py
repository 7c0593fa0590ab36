"""What was found, before it is an address: bytes, junk, legacy queries; and why it is none."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import ada_url

from recrawl.model import Refusal, Refused
from recrawl.urls.percent import escape_octets

_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_HIGH_OCTETS = re.compile(rb"[\x80-\xff]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_TAIL_PORT = re.compile(r":([^:\[\]]*)\Z")
_CREDENTIALS = re.compile(r"([/\\]{2,})[^/\\?#]*@")
_SHOWN = 2048  # characters of a refused address that are kept; junk may be megabytes long

# Python's name of a codec -> the codec that browsers mean by it (WHATWG Encoding, section 4.2).
_MEANT = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "shift_jis": "cp932", "euc_kr": "cp949", "gb2312": "gbk",
    "big5": "big5hkscs",
}  # fmt: skip
_LEGACY = frozenset(
    {
        *(f"cp125{n}" for n in range(9)), *(f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10)),
        *(f"iso8859-{n}" for n in (13, 14, 15, 16)), "koi8-r", "koi8-u", "mac-roman",
        "mac-cyrillic", "cp866", "cp874", "cp932", "cp949", "gbk", "gb18030", "big5hkscs",
        "euc_jp", "iso2022_jp",
    }
)  # fmt: skip


@lru_cache(maxsize=256)
def legacy_codec(charset: str) -> str | None:
    """The codec in which pages of that charset encode queries, or None where that is UTF-8.

    >>> legacy_codec("ISO-8859-1"), legacy_codec("Shift_JIS"), legacy_codec("utf-16")
    ('cp1252', 'cp932', None)
    """
    try:
        name = codecs.lookup(charset.strip()).name
    except (LookupError, ValueError, UnicodeError):
        return None
    name = _MEANT.get(name, name)
    return name if name in _LEGACY else None


def _encode_char(char: str, codec: str) -> bytes:
    try:
        return char.encode(codec)
    except UnicodeEncodeError:
        return b"&#%d;" % ord(char)


def _encode_run(run: str, codec: str) -> str:
    """Percent-encode after encoding (WHATWG URL, section 1.3): ASCII octets stay as they are."""
    try:
        octets = run.encode(codec)
    except UnicodeEncodeError:
        parts = [_encode_char(char, codec) for char in run]
        # What the codec lacks is sent as an escaped character reference.
        return "".join(
            "%26%23" + p[2:-1].decode() + "%3B" if p.startswith(b"&#") else _keep_ascii(p)
            for p in parts
        )
    return _keep_ascii(octets)


def _keep_ascii(octets: bytes) -> str:
    return "".join(
        chr(octet)
        if 0x20 < octet < 0x7F and octet not in b"\"#<>'"
        else escape_octets(bytes([octet]))
        for octet in octets
    )


def encode_query(url: str, charset: str) -> str:
    """The URL with the non-ASCII characters of its query encoded in the page's charset.

    >>> encode_query("/s?q=ソ&k=é#é", "shift_jis")
    '/s?q=%83\\\\&k=%26%23233%3B#é'
    """
    codec = legacy_codec(charset)
    if codec is None or url.isascii():
        return url
    head, hash_, fragment = url.partition("#")
    path, mark, query = head.partition("?")
    if not mark or query.isascii():
        return url
    query = _NON_ASCII.sub(lambda m: _encode_run(m[0], codec), query)
    return f"{path}?{query}{hash_}{fragment}"


def as_text(url: object) -> str | None:
    """A URL as text; octets that are no UTF-8 become triplets. None where it is no text at all.

    >>> as_text(b"/caf\\xe9"), as_text(None)
    ('/caf%E9', None)
    """
    if isinstance(url, str):
        return url
    if not isinstance(url, (bytes, bytearray)):
        return None
    try:
        return url.decode()
    except UnicodeDecodeError:
        return _HIGH_OCTETS.sub(lambda m: escape_octets(m[0]).encode(), url).decode("ascii")


def refusal(url: object, base: str | None = None, scheme: str | None = None) -> Refusal:
    """Why `url` is no address. `url` is what was found, of any type; its text is cut to 2 kB,
    user names and passwords hidden.

    `scheme` is what it resolved to where that is the reason; else the parser refused it.
    """
    text = as_text(url)
    if text is None:
        return Refusal(repr(url)[:_SHOWN], Refused.INVALID, f"{type(url).__name__} is no URL")
    shown = _CREDENTIALS.sub(r"\1***@", text[:_SHOWN]).encode("utf-8", "replace").decode()
    if scheme is not None:
        return Refusal(shown, Refused.SCHEME, f"the scheme is {scheme[:40]!r}")
    return Refusal(shown, *_diagnose(text, base))


def _diagnose(text: str, base: str | None) -> tuple[Refused, str]:
    """The reason why the WHATWG parser failed: it tells only that it did."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return Refused.INVALID, "it holds half a character (a lone surrogate)"
    text = re.sub(r"[\t\n\r]", "", text).strip("".join(map(chr, range(33))))
    m = _SCHEME.match(text)
    if m is not None and m[1].lower() not in ("http", "https"):
        return Refused.SCHEME, f"the scheme is {m[1].lower()[:40]!r}"
    if m is None and not (base and text[:2].replace("\\", "/") == "//"):
        why = "it does not resolve against its base" if base else "it is relative, without a base"
        return Refused.INVALID, why
    rest = (text[m.end() :] if m is not None else text).lstrip("/\\")
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if not authority:
        return Refused.BAD_HOST, "the host is missing"
    port = _TAIL_PORT.search(authority)
    if port is not None and ada_url.check_url(f"http://{authority[: port.start()]}/"):
        return Refused.BAD_PORT, f"{port[1][:40]!r} is no port"
    return Refused.BAD_HOST, f"{authority[:80]!r} is no host"
