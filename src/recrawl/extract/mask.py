"""What changes on a page that didn't change: dates, times, counters and tokens, masked in text.

Works on UTF-8 with single spaces. Each masked phrase becomes one `~`. Amounts, version numbers and
opening hours stay: a mask that hides a price is worse than one that lets a clock through.
"""

from __future__ import annotations

import re

MASK = b"~"
LONGEST_LOOK = 4096  # bytes of one word that are looked at
SHORTEST = 12  # bytes of a token: hexadecimal from 12, others from MIN_TOKEN alphanumerics on
MIN_TOKEN = 16

_KIND = bytes(
    48 if chr(i).isdecimal() and i < 128 else 119 if chr(i).isalpha() and i < 128 else
    45 if i in b"-_+/=" else 32 for i in range(256)
)  # fmt: skip
_HEX = re.compile(rb"(?=[a-f]*+[0-9])(?=[0-9]*+[a-f])[0-9a-f]{12,}\Z|[0-9A-F]{12,}\Z")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TURN = re.compile(rb"[0-9](?=[A-Za-z])|[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])")

_MONTHS = (
    b"january february march april may june july august september october november december "
    b"januar februar m\xc3\xa4rz mai juni juli oktober dezember "
    b"janvier f\xc3\xa9vrier mars avril juin juillet ao\xc3\xbbt septembre octobre novembre "
    b"d\xc3\xa9cembre enero febrero marzo abril mayo junio julio agosto septiembre octubre "
    b"noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
    b"janeiro fevereiro mar\xc3\xa7o maio junho julho setembro outubro novembro dezembro "
    b"januari februari maart mei augustus"
).split()
_SHORT = b"jan feb mar apr jun jul aug sep sept oct nov dec okt dez".split()
_DAYS = (
    b"monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
    b"montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi "
    b"vendredi samedi dimanche lunes martes jueves viernes domingo"
).split()
_BEFORE = frozenset(_MONTHS + _SHORT)
_LEADING = _BEFORE | frozenset(_DAYS)
_COUNTED = (
    rb"views?|visits?|visitors?|hits|reads|plays|downloads|likes|shares|followers|subscribers|"
    rb"clicks|impressions|online|watching|viewing|users online|"
    rb"people (?:are )?(?:viewing|watching)"
)
_LABELS = frozenset(
    b"views visits visitors hits reads plays downloads likes shares followers online".split()
)
_SINCE = frozenset((b"vor", b"hace", b"h\xc3\xa1"))  # 'vor 3 Stunden', 'il y a 3 heures'

_CLOCK = (
    rb"[0-2]?\d:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?![\d:])(?: ?[AaPp]\.?[Mm]\b\.?)?"
    rb"(?: ?(?:UTC|GMT|CES?T|[ECMP][SD]T|Z)\b)?(?: ?[+-]\d\d:?\d\d\b)?"
)
_FULL = b"|".join(sorted(_MONTHS, reverse=True))
_ABBR = b"|".join(sorted(_SHORT, reverse=True))
_MATCH = re.compile(
    rb"(?P<keep>[0-2]?\d[:.][0-5]\d ?(?:-|\xe2\x80\x93|to|bis) ?[0-2]?\d[:.][0-5]\d)"
    rb"|(?P<mask>(?:(?:19|20)\d\d(?P<s>[-/.])[01]?\d(?P=s)[0-3]?\d(?!\d|\.\d)"
    rb"|[0-3]?\d(?P<t>[-/.])[0-3]?\d(?P=t)(?:19|20)\d\d(?!\d)|[0-3]?\d/[0-3]?\d/\d\d(?!\d)"
    rb"|[0-3]?\d(?:st|nd|rd|th|\.)?(?: of| de)?[ -](?:(?:" + _FULL + rb")\b(?:(?: de| of)?,?"
    rb"[ -](?:19|20)\d\d\b)?|(?:" + _ABBR + rb")\.?,?[ -](?:19|20)?\d\d\b(?!:|\.\d)))"
    rb"(?:(?:T|,? (?:at |um |\xc3\xa0 )?)" + _CLOCK + rb")?"
    rb"|(?:19|20)\d{6}T\d{4,6}Z?|" + _CLOCK + rb"|1\d{9}(?:\d{3})?(?!\d|[.,]\d)"
    rb"|\d+\+? ?[a-z]{1,8} (?:ago|geleden|fa)\b|\d+[.,]\d+ ?(?:ms|sec|seconds?)\b"
    rb"|\d[\d,.]*[kKmM]? (?:" + _COUNTED + rb")\b)"
    rb"|(?P<num>\d+(?:[.,:/]\d+)*)(?P<tail>(?:st|nd|rd|th)?(?:,? (?:19|20)\d\d\b)?)",
    re.IGNORECASE,
)  # fmt: skip
_BEFORE_ALL = _BEFORE | _LABELS | _SINCE | {b"a"}
_AFTER = _BEFORE | _LABELS | frozenset(
    b"of de to bis ms sec second seconds view visit visitor subscribers clicks impressions "
    b"watching viewing users people".split()
)  # fmt: skip
_PLAIN = re.compile(
    rb"\d{1,9}(?:[.,]\d{1,9})?(?:\Z| (?:([A-Za-z]+)(?=[ .,;:!?)]|\Z)(?! ?(?:ago|geleden|fa))"
    rb"|(?![A-Za-z0-9\-\x80-\xff])))",
    re.IGNORECASE,
)
"""A number that only the words around it could make volatile, the one after it as the group."""
_VAGUE = re.compile(
    rb"(?:about |over |almost |less than )?\b(?:an?|one|a few|several|some) "
    rb"(?:moments?|seconds?|minutes?|hours?|days?|weeks?|months?|years?) ago\b"
    rb"|\bjust now\b|\bmoments? ago\b",
    re.IGNORECASE,
)


def masked(text: bytes) -> bytes:
    """The text with everything volatile masked.

    >>> masked(b"Updated Mon, 30 Nov 2026 18:04:10 GMT, 1,204 views: 129 EUR, open 9:00-17:00")
    b'Updated ~, ~: 129 EUR, open 9:00-17:00'
    >>> masked(b"nonce 9f86d081884c7d659a2f, version 3.11.12, posted 3 hours ago")
    b'nonce ~, version 3.11.12, posted ~'
    """
    if b" ago" in text or b"ust now" in text:
        text = _VAGUE.sub(MASK, text)
    kinds = text.translate(_KIND)
    parts: list[bytes] = []
    at, done = kinds.find(b"0"), 0
    while at >= 0:
        if end := _plain(text, kinds, at, done):
            at = kinds.find(b"0", end)
            continue
        start, end = _volatile(text, kinds, at, done)
        if start >= 0:
            parts += (text[done:start], MASK)
            done = end
        at = kinds.find(b"0", end)
    return b"".join(parts) + text[done:] if parts else text


def _plain(text: bytes, kinds: bytes, at: int, floor: int) -> int:
    """The end of what is a number and no more, as most are; 0 where `_volatile` has to look."""
    if at and kinds[at - 1] != 32:
        return 0
    m = _PLAIN.match(text, at)
    if m is None:
        return 0
    after = m[1]
    if after is not None and after.lower() in _AFTER:
        return 0
    word, _ = _word_before(text, at, floor)
    return 0 if word in _BEFORE_ALL else m.end(0) if after is None else m.start(1)


def _is_token(word: bytes) -> bool:
    word = word[:LONGEST_LOOK]
    if _UUID.search(word):
        return True
    for part in re.split(rb"[-_+/=]", word):
        if _HEX.match(part) and not part.isdigit() and not part.isalpha():
            return True
        # Letters and digits of a random string alternate; those of a name come in blocks.
        if len(part) >= MIN_TOKEN and 3 * len(_TURN.findall(part)) >= len(part):
            return not part.isalpha() or len(part) >= 2 * MIN_TOKEN
    return False


def _volatile(text: bytes, kinds: bytes, at: int, floor: int) -> tuple[int, int]:
    """(start, end) of what is volatile at the digit there; start -1: the text up to end stays."""
    space = kinds.find(b" ", at)
    end = len(kinds) if space < 0 else space
    if end - at >= SHORTEST or (at and kinds[at - 1] != 32):
        start = max(kinds.rfind(b" ", floor, at) + 1, floor)
        if end - start >= SHORTEST and _is_token(text[start:end]):
            return start, end
        if at and kinds[at - 1] == 119:  # within a word: a code, not a quantity
            return -1, end
    m = _MATCH.match(text, at)
    if m is None or m.lastgroup == "keep":
        return -1, m.end() if m else at + 1
    if m.lastgroup == "mask":
        return _with_names(text, at, floor), m.end()
    return _number(text, m, floor)


def _number(text: bytes, m: re.Match[bytes], floor: int) -> tuple[int, int]:
    """What a plain number is by the word before it: a counter, an age, a day, or just a number."""
    start, end = m.span("num")
    word, at = _word_before(text, start, floor)
    if word in _LABELS:
        return start, end
    if word in _SINCE or (word == b"a" and text[at - 5 : at] == b"il y "):
        space = text.find(b" ", end + 1)
        return start, len(text) if space < 0 else space
    if word in _BEFORE:
        number = m["num"]
        if number.isdigit() and (len(number) <= 2 or number[:2] in (b"19", b"20")):
            return _with_names(text, start, floor), m.end()
    return -1, end


def _with_names(text: bytes, start: int, floor: int) -> int:
    """Where a date begins, the names of day and month before it included."""
    word, at = _word_before(text, start, floor)
    while word in _LEADING:
        start = at
        word, at = _word_before(text, start, floor)
    return start


def _word_before(text: bytes, at: int, floor: int) -> tuple[bytes, int]:
    """The word that ends before `at`, punctuation aside, in lower case; and where it begins."""
    low = max(floor, at - 24)
    before = text[low:at].rstrip(b" ,.:")
    word = before.rpartition(b" ")[2].lstrip(b"([{\"'|")
    return word.lower(), low + len(before) - len(word)
