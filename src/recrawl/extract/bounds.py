"""What keeps a hostile page from costing seconds or gigabytes: limits put on it before parsing.

Three constructs make HTML parsing quadratic: deep nesting (each block start walks the stack of
open elements), unclosed formatting elements (each block start re-creates all of them), and
thousands of attributes on one tag (each is compared with all others). Small pages can't do harm;
a page with many tags is walked once, and is cut or flattened if it would.
"""

from __future__ import annotations

import re

MAX_BYTES = 8_000_000
MAX_TAGS = 400_000
MAX_DEPTH = 1000  # browsers stop at 512
MAX_COPIES = 1_000_000  # formatting elements that the parser would re-create
MAX_ATTRIBUTES = 300  # of one tag
FEW_TAGS = 2000  # below this even the worst nesting takes well under a second
SOME_TAGS = 10_000
FEW_BYTES = 30_000  # no room for enough attributes to matter
LONG = 4000  # bytes of a tag, likewise

_FORMATTING = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_STYLED = re.compile(rf"<(?:{_FORMATTING})[\s/][^>]*".encode(), re.IGNORECASE)
_FLAT = re.compile(rf"</?(?:{_FORMATTING})(?=[\s/>])[^>]*>".encode(), re.IGNORECASE)
_TOKEN = re.compile(
    rb"<(?:!--(?:.*?(?:--!?>|\Z))"
    rb"|(/?)([a-zA-Z][^\s/>]*)(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"?|'[^']*+'?|[^\s>]*+))?+")
_RAW = frozenset(b"script style textarea title xmp iframe noembed noframes".split())
_FORMATS = frozenset(_FORMATTING.encode().split(b"|"))
_FLAT_KINDS = frozenset(
    b"area base br col embed hr img input link meta param source track wbr a p li dt dd td th tr "
    b"tbody thead tfoot option optgroup colgroup rt rp path circle rect line use g html head "
    b"body".split()
)  # empty, or closed by the next of their kind: they don't nest by being left open
_SCOPE = frozenset(b"table template td th caption marquee object applet".split())
_FOREIGN = frozenset((b"svg", b"math"))
_OUT_OF_FOREIGN = _FORMATS | frozenset(
    b"blockquote br center dd div dl dt embed h1 h2 h3 h4 h5 h6 hr img li menu meta ol p pre ruby "
    b"span sub sup table ul var".split()
)  # HTML standard, "the rules for parsing tokens in foreign content"


def bounded(html: bytes) -> tuple[bytes, frozenset[str]]:
    """The part of a page that is safe to parse, and what was done to it.

    Flags: `cut` (too long, or too many tags), `too-deep` (cut where the nesting passed MAX_DEPTH),
    `crowded` (cut at a tag with more than MAX_ATTRIBUTES), `flattened` (formatting tags taken
    out, the text kept).
    """
    flags: set[str] = set()
    if len(html) > MAX_BYTES:
        html = html[:MAX_BYTES]
        flags.add("cut")
    n = html.count(b"<")
    if n > MAX_TAGS:
        html = html[: len(html) - len(html.split(b"<", MAX_TAGS)[-1]) - 1]
        flags.add("cut")
    if not (_may_nest(html, n) or _may_crowd(html, n)):
        return html, frozenset(flags)
    end, copies, why = _walk(html)
    if why:
        html = html[:end]
        flags.add(why)
    if copies > MAX_COPIES:
        html = _FLAT.sub(b"", html)
        flags.add("flattened")
    return html, frozenset(flags)


def _may_nest(html: bytes, n: int) -> bool:
    """Could n tags be nested so that it matters?

    At most three formatting elements of each name and attributes are open at once: HTML standard,
    "push onto the list of active formatting elements" (the Noah's Ark clause).
    """
    if n <= FEW_TAGS:
        return False
    if n > SOME_TAGS:
        return True
    return 3 * n * (len(_FORMATS) + len(set(_STYLED.findall(html)))) > MAX_COPIES


def _may_crowd(html: bytes, n: int) -> bool:
    """Could one tag hold very many attributes? It would be long, or full of quoted brackets."""
    if len(html) <= FEW_BYTES:
        return False
    at = 0
    while at + LONG < len(html):  # a few steps back from each 4 kB: far fewer than all brackets
        at = html.rfind(b">", at, at + LONG) + 1
        if at == 0:
            return True
    return html.count(b">") > 2 * n + FEW_TAGS


def _walk(html: bytes) -> tuple[int, int, str]:
    """(where it gets too bad, how many formatting elements are re-created till there, why)."""
    stack: list[bytes] = []
    formats = copies = at = 0
    drawn = False
    while (m := _TOKEN.search(html, at)) is not None:
        start, at = m.span()
        closing, name = m.groups()
        if name is None:
            continue
        if at - start > LONG and len(_ATTRIBUTE.findall(m[0])) > MAX_ATTRIBUTES:
            return start, copies, "crowded"
        name = name.lower()
        if closing:
            if name not in _FLAT_KINDS:
                formats -= _close(stack, name)
                if name in _FOREIGN:
                    drawn = not _FOREIGN.isdisjoint(stack)
            continue
        if name in _FORMATS:
            formats += 1
        else:
            copies += formats
        drawn = drawn or name in _FOREIGN
        foreign = drawn and _foreign(stack, name)
        if name in _RAW and not foreign:
            at = _end_of_raw(html, name, at)
        elif name not in _FLAT_KINDS and not (foreign and m[0].endswith(b"/")):
            stack.append(name)
            if len(stack) > MAX_DEPTH:
                return start, copies, "too-deep"
    return len(html), copies, ""


def _foreign(stack: list[bytes], name: bytes) -> bool:
    """Does the tag stand in a drawing or formula? One that can't ends it."""
    for i in range(len(stack) - 1, max(-1, len(stack) - 20), -1):
        if stack[i] in _FOREIGN:
            if name in _OUT_OF_FOREIGN:
                del stack[i:]
                return False
            return True
        if stack[i] in (b"foreignobject", b"desc", b"div", b"body"):
            return False
    return False


def _close(stack: list[bytes], name: bytes) -> int:
    """Pop to the open element of that name in scope; returns whether it was a formatting one."""
    if stack and stack[-1] == name:
        stack.pop()
        return name in _FORMATS
    for i in range(len(stack) - 1, max(-1, len(stack) - 60), -1):
        if stack[i] == name:
            del stack[i:]
            return name in _FORMATS
        if stack[i] in _SCOPE:
            return 0
    return 0


def _end_of_raw(html: bytes, name: bytes, at: int) -> int:
    m = re.compile(b"</" + name + rb"(?=[\s/>])", re.IGNORECASE).search(html, at)
    return m.start() if m else len(html)
