"""Patterns on paths and queries: which pages a project wants, and which it leaves out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recrawl.model import Address, Refused
from recrawl.urls.percent import spell_path, spell_query

_PARAM = re.compile(r"param:([^\s&=#?*]+)(\*?)")
_FACET = re.compile(r"/?\*{0,2}[?&]\*?([^\s&=#?*$]+)=?\*?")
_UNUSABLE = re.compile(r"[\x00-\x20\x7f#]")


class PatternError(ValueError):
    """Text that is no pattern; the message says what to write instead."""


def hint(text: str) -> str | None:
    """A `param:` pattern that says what `/*?sort=` seems to mean, or None.

    In robots syntax it meets `sort` only as the first parameter, and `/?filter=` the home page
    only; `param:` meets the parameter wherever it stands.

    >>> hint("/*?sort="), hint("/?filter="), hint("/calendar/")
    ('param:sort', 'param:filter', None)
    """
    m = _FACET.fullmatch(text.strip())
    return f"param:{m[1]}" if m is not None else None


class PathPattern:
    """A pattern on path and query: robots syntax (RFC 9309 2.2.3), or `param:NAME`.

    `*` is any run of characters, `$` at the end anchors there; without it a pattern is a
    beginning. `param:sort` is any address with that parameter, `param:utm_*` any that so begins.
    Case counts. Matching takes time linear in the address. Raises PatternError.

    >>> PathPattern("/*/print$").matches("/a/b/print")
    True
    >>> PathPattern("param:sort").matches("/a?b=1&sort=x")
    True
    """

    __slots__ = ("_anchored", "_first", "_middle", "_param", "_prefix", "text")

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self._param, self._prefix = _param_of(self.text)
        pattern = "" if self._param else _spelled(_checked(self.text))
        self._anchored = pattern.endswith("$")
        # What stands between the stars; doubled stars are one.
        first, *middle = re.sub(r"\*+", "*", pattern.removesuffix("$")).split("*")
        self._first, self._middle = first, tuple(middle)

    def matches(self, path: str) -> bool:
        """Whether `path` (path and query, begins with `/`) is met."""
        if self._param:
            return self._has_param(path)
        if not self._middle:
            return path == self._first if self._anchored else path.startswith(self._first)
        if not path.startswith(self._first):
            return False
        # Each piece at its earliest place: if any assignment matches, this one does.
        at = len(self._first)
        pieces = self._middle[:-1] if self._anchored else self._middle
        for piece in pieces:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        if not self._anchored:
            return True
        last = self._middle[-1]
        return len(path) - len(last) >= at and path.endswith(last)

    def _has_param(self, path: str) -> bool:
        query = path.partition("?")[2]
        if self._param not in query:
            return False
        for pair in query.split("&"):
            name = pair.partition("=")[0]
            if name == self._param or (self._prefix and name.startswith(self._param)):
                return True
        return False

    def __repr__(self) -> str:
        return f"PathPattern({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PathPattern) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def _param_of(text: str) -> tuple[str, bool]:
    """(name, is it a beginning) of `param:NAME`, ('', False) of a path pattern."""
    if not text.startswith("param:"):
        return "", False
    m = _PARAM.fullmatch(text)
    if m is None:
        name = re.split(r"[=&#?*\s]", text[6:].strip(), maxsplit=1)[0] or "sort"
        raise PatternError(f"{text!r} names no parameter: write 'param:{name}' or 'param:{name}*'")
    return spell_query(m[1]), bool(m[2])


def _checked(text: str) -> str:
    if not text:
        raise PatternError("an empty pattern meets nothing: write '/' to meet every page")
    if "://" in text.partition("?")[0] and not text.startswith(("/", "*")):
        path = "/" + text.partition("://")[2].partition("/")[2]
        raise PatternError(f"{text!r} names a site: a pattern is a path; write {path!r}")
    if not text.startswith(("/", "*")):
        fix = f"/*{text}" if text.startswith(("?", "&")) else f"/{text}"
        raise PatternError(f"{text!r} begins with neither '/' nor '*': write {fix!r}")
    bad = _UNUSABLE.search(text)
    if bad is not None:
        raise PatternError(
            f"{text!r} holds {bad[0]!r}, which no address holds: leave it out, or escape it "
            f"as '%{ord(bad[0]):02X}'"
        )
    return text


def _spelled(pattern: str) -> str:
    """The pattern in the spelling of canonical paths; it is tried on these and on fetched ones."""
    path, mark, query = pattern.partition("?")
    return f"{spell_path(path)}?{spell_query(query)}" if mark else spell_path(path)


class PatternSet:
    """Include and exclude patterns of a project. Exclude wins; no include pattern means all.

    Each is tried on the path as fetched and on the canonical one. Raises PatternError.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self.include = tuple(PathPattern(text) for text in include)
        self.exclude = tuple(PathPattern(text) for text in exclude)

    def refuses(self, address: Address) -> tuple[Refused, str] | None:
        """(reason, pattern) where the address is to be left out, None where it is welcome."""
        if not self.exclude and not self.include:
            return None
        for pattern in self.exclude:
            if meets(pattern, address):
                return Refused.EXCLUDED, pattern.text
        if self.include and not any(meets(p, address) for p in self.include):
            return Refused.NOT_INCLUDED, ""
        return None


def meets(pattern: PathPattern, address: Address) -> bool:
    """Whether the pattern meets the address in either of its two forms."""
    return pattern.matches(address.key_path) or (
        address.path != address.key_path and pattern.matches(address.path)
    )
