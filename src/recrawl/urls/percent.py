"""One spelling for each percent-encoded text (RFC 3986 6.2.2): what may be decoded is, no more.

Works on ASCII text with its octets escaped or not, never on decoded characters: `%E9` that is no
UTF-8 stays `%E9`, and an escaped delimiter stays escaped.
"""

from __future__ import annotations

import re

_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}|%")
_NOT_PATH = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+")
_NOT_QUERY = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]+")
# To know that nothing is to be escaped is three times faster than to search for what is.
_ALL_QUERY = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*").fullmatch
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# One entry for every spelling of a triplet: a look-up instead of arithmetic in the hot loop.
_SPELLED = {
    "%" + a + b: chr(int(a + b, 16)) if int(a + b, 16) in _UNRESERVED else ("%" + a + b).upper()
    for a in "0123456789abcdefABCDEF"
    for b in "0123456789abcdefABCDEF"
}
_SPELLED["%"] = "%25"  # a lone percent sign stands for itself


def _spell(m: re.Match[str]) -> str:
    return _SPELLED[m[0]]


def _escape(m: re.Match[str]) -> str:
    return escape_octets(m[0].encode("utf-8", "replace"))


def escape_octets(octets: bytes) -> str:
    """Every octet as a triplet.

    >>> escape_octets("é".encode())
    '%C3%A9'
    """
    return "".join([f"%{octet:02X}" for octet in octets])


def spell_path(path: str) -> str:
    """A path with unreserved triplets decoded, hex in capitals, non-URI characters escaped.

    >>> spell_path("/%7euser/caf%e9/a%2fb/50%")
    '/~user/caf%E9/a%2Fb/50%25'
    """
    if "%" in path:
        path = _TRIPLET.sub(_spell, path)
    return path if _ALL_QUERY(path) and "?" not in path else _NOT_PATH.sub(_escape, path)


def spell_query(query: str) -> str:
    """A query in the same spelling; `?` and `/` may stand in it.

    >>> spell_query("q=%c4%41&x[]=1")
    'q=%C4A&x%5B%5D=1'
    """
    if "%" in query:
        query = _TRIPLET.sub(_spell, query)
    return query if _ALL_QUERY(query) else _NOT_QUERY.sub(_escape, query)
