"""Which parameters say who came, not what is shown: tracking and session ids, by host.

The rules stand in `tracking.json` (the include / exclude / params schema of Brave's query filter,
with prefixes, value shapes and path forms beside it); a user adds names or keeps some.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

_COUNTRY = r"(?:[a-z]{2,}|(?:com?|org|net)\.[a-z]{2})"
_ENTRY = re.compile(r"([^\s&=#?*@]+)(\*?)(?:@([^\s@]+))?")
_SCOPE = re.compile(r"(?:[a-z0-9_\-]+\.)*(?:[a-z0-9_\-]+|\*)")
_CACHED_HOSTS = 65_536
_CACHED_NAMES = 4_096
_LONGEST_NAME = 64  # of those remembered
_KEEP, _DROP, _LOOK = "keep", "drop", "look at the value"


@dataclass(frozen=True, slots=True)
class Rule:
    """Names of parameters (or forms of a path) that are no part of a page's identity.

    Names are lower case. Scopes are `*`, a host with its subdomains, or `name.*`.
    """

    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    value_regex: str | None = None  # of the whole value
    unless_path: str | None = None  # not where the lower-cased path holds this
    together: bool = False  # only where all `params` are there
    path_regex: str | None = None  # cut out of the path

    def applies(self, host: str) -> bool:
        """True where the rule is meant for that host."""
        return any(_in_scope(host, s) for s in self.include) and not any(
            _in_scope(host, s) for s in self.exclude
        )


def _in_scope(host: str, scope: str) -> bool:
    if scope == "*":
        return True
    if scope.endswith(".*"):
        name = re.escape(scope[:-2])
        return re.search(rf"(?:\A|\.){name}\.{_COUNTRY}\Z", host) is not None
    return host == scope or host.endswith("." + scope)


class HostRules:
    """The rules of one host, compiled. Linear in the length of what it is given."""

    def __init__(self, rules: Iterable[Rule], keep: Iterable[Rule] = ()) -> None:
        self._verdicts: dict[str, str] = {}
        self._kept = frozenset(name for rule in keep for name in rule.params)
        self._kept_prefixes = tuple({p for rule in keep for p in rule.prefix})
        plain: set[str] = set()
        prefixes: set[str] = set()
        paths: list[str] = []
        self._shaped: list[tuple[Rule, re.Pattern[str]]] = []
        for rule in rules:
            if rule.path_regex:
                paths.append(rule.path_regex)
            elif rule.value_regex or rule.unless_path or rule.together:
                self._shaped.append((rule, re.compile(rule.value_regex or ".*", re.DOTALL)))
            else:
                plain.update(rule.params)
                prefixes.update(rule.prefix)
        self._plain = frozenset(plain)
        self._prefixes = tuple(sorted(prefixes))
        self._shaped_names = frozenset(n for rule, _ in self._shaped for n in rule.params)
        self._shaped_prefixes = tuple({p for rule, _ in self._shaped for p in rule.prefix})
        self._cut = (
            re.compile(rf"(?:{'|'.join(paths)})(?=[/;]|\Z)", re.IGNORECASE).sub if paths else None
        )

    def strip(self, pairs: Sequence[str], path: str) -> list[str]:
        """The pairs (`name=value`, canonical spelling) that are part of the page's identity."""
        kept: list[str] = []
        about: tuple[set[str], set[str]] | None = None  # made once: both may be megabytes long
        for pair in pairs:
            name, _, value = pair.partition("=")
            verdict = self._verdicts.get(name)
            if verdict is None:
                verdict = self._judge(name)
            if verdict is _LOOK:
                about = about or (self._texts_in(path.lower()), _names(pairs))
                verdict = _DROP if self._is_shaped(name.lower(), value, *about) else _KEEP
            if verdict is _KEEP:
                kept.append(pair)
        return kept

    def _judge(self, name: str) -> str:
        """What the name alone says; remembered, since sites use few names."""
        lower = name.lower()
        if self._keeps(lower):
            verdict = _KEEP
        elif lower in self._plain or lower.startswith(self._prefixes):
            verdict = _DROP
        elif lower in self._shaped_names or lower.startswith(self._shaped_prefixes):
            verdict = _LOOK
        else:
            verdict = _KEEP
        if len(name) <= _LONGEST_NAME:
            if len(self._verdicts) >= _CACHED_NAMES:
                self._verdicts.clear()
            self._verdicts[name] = verdict
        return verdict

    def strip_path(self, path: str) -> str:
        """The path without session ids."""
        return path if self._cut is None else self._cut("", path) or "/"

    def _keeps(self, name: str) -> bool:
        return name in self._kept or name.startswith(self._kept_prefixes)

    def _texts_in(self, path: str) -> set[str]:
        return {r.unless_path for r, _ in self._shaped if r.unless_path and r.unless_path in path}

    def _is_shaped(self, name: str, value: str, texts: set[str], names: set[str]) -> bool:
        """Whether a rule of that name is met by the value, the path and the other names."""
        return any(
            (name in rule.params or name.startswith(rule.prefix))
            and shape.fullmatch(value) is not None
            and rule.unless_path not in texts
            and (not rule.together or names.issuperset(rule.params))
            for rule, shape in self._shaped
        )


def _names(pairs: Sequence[str]) -> set[str]:
    return {pair.partition("=")[0].lower() for pair in pairs}


@dataclass(frozen=True)
class TrackingRules:
    """All rules, and what a user keeps in spite of them.

    >>> rules = TrackingRules.default().extended(add=["ref@shop.example"], keep=["utm_id"])
    >>> rules.for_host("www.shop.example").strip(["a=1", "ref=x", "utm_id=7", "utm_term=y"], "/")
    ['a=1', 'utm_id=7']
    """

    rules: tuple[Rule, ...]
    keep: tuple[Rule, ...] = ()
    _of_host: dict[str, HostRules] = field(default_factory=dict, compare=False, repr=False)
    _of_set: dict[tuple[Rule, ...], HostRules] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def default(cls) -> TrackingRules:
        """The rules of the data file that ships with the package."""
        return _default()

    @classmethod
    def none(cls) -> TrackingRules:
        """No rules: every parameter is part of a page's identity."""
        return cls(())

    @property
    def digest(self) -> str:
        """Eight hex digits of the rules, so that stored keys can be told apart."""
        text = repr((self.rules, self.keep)).encode()
        return blake2b(text, digest_size=4).hexdigest()

    def extended(self, add: Iterable[str] = (), keep: Iterable[str] = ()) -> TrackingRules:
        """These rules and the user's: `name`, `name@host`, `prefix_*`, `prefix_*@host`.

        A kept name is never removed, whatever rule names it. Raises ValueError naming the entry.
        """
        return TrackingRules(
            (*self.rules, *(_entry(e) for e in add)), (*self.keep, *(_entry(e) for e in keep))
        )

    def for_host(self, host: str) -> HostRules:
        """The rules of one host (ASCII, lower case, no port)."""
        found = self._of_host.get(host)
        if found is None:
            name = host.rstrip(".")
            # Nearly all hosts have the global rules alone: one object serves them all.
            rules = tuple(rule for rule in self.rules if rule.applies(name))
            keep = tuple(rule for rule in self.keep if rule.applies(name))
            found = self._of_set.get(rules + keep)
            if found is None:
                found = self._of_set[rules + keep] = HostRules(rules, keep)
            if len(self._of_host) >= _CACHED_HOSTS:
                self._of_host.clear()
            self._of_host[host] = found
        return found


def _entry(text: str) -> Rule:
    """One entry of a user as a rule."""
    m = _ENTRY.fullmatch(text) if isinstance(text, str) else None
    if m is None:
        raise ValueError(
            f"{text!r} names no parameter: write 'name', 'name@host', 'prefix_*' or "
            "'prefix_*@host' (a star only at the end of the name)"
        )
    name, star, scope = m[1].lower(), m[2], (m[3] or "*").lower().rstrip(".")
    if scope != "*" and (_SCOPE.fullmatch(scope) is None or scope.endswith("..")):
        raise ValueError(
            f"{text!r}: {m[3]!r} is no host; write it as in 'name@shop.example' "
            "(subdomains are included) or 'name@amazon.*'"
        )
    return (
        Rule(include=(scope,), prefix=(name,)) if star else Rule(include=(scope,), params=(name,))
    )


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a data file. Raises ValueError naming the rule that is none."""
    rules = []
    for i, row in enumerate(json.loads(text)["rules"]):
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in row.items()
        }
        try:
            rule = replace(Rule(), **values)
            re.compile(rule.value_regex or rule.path_regex or "")
        except (TypeError, re.error) as e:
            raise ValueError(f"tracking rule {i} {row!r}: {e}") from None
        rules.append(rule)
    return tuple(rules)


@cache
def _default() -> TrackingRules:
    path = files("recrawl.urls").joinpath("tracking.json")
    return TrackingRules(read_rules(path.read_text(encoding="utf-8")))
