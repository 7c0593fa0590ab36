"""recrawl.toml and the environment -> Settings, or ConfigError with every mistake at once."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from recrawl.config.convert import convert
from recrawl.config.crosscheck import crosscheck
from recrawl.config.document import Document
from recrawl.config.lines import Path as KeyPath
from recrawl.config.lines import line_numbers, line_of
from recrawl.config.mistakes import Mistake, sentence, translate
from recrawl.config.settings import Settings

PREFIX = "RECRAWL_"


class ConfigError(Exception):
    """The project file can't be used; `messages` holds one line a mistake."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = messages


def load(path: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the project file; `RECRAWL_BUDGET__PER_DAY` and the like override its keys.

    Raises ConfigError with all mistakes, ordered by line.
    """
    text = _read(path)
    data = _parse(text, path.name)
    lines = line_numbers(text)
    variables, mistakes = _override(data, os.environ if environ is None else environ)
    doc, wrong = _check(data)
    mistakes += wrong
    pruned = [m.path for m in mistakes]
    mistakes += [m for m in crosscheck(doc) if not any(_related(m.path, p) for p in pruned)]
    if mistakes:
        mistakes.sort(key=lambda m: (line_of(m.path, lines) or 0, str(m.path)))
        raise ConfigError([sentence(m, path.name, lines, variables) for m in mistakes])
    return convert(doc, path.absolute())


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            [f"{path}: no such file; make one with `recrawl init URL`, or name it with --config"]
        ) from None
    except UnicodeDecodeError as e:
        line = e.object[: e.start].count(b"\n") + 1
        raise ConfigError([f"{path.name}:{line}: not UTF-8; save the file as UTF-8"]) from None
    except (OSError, ValueError) as e:
        reason = getattr(e, "strerror", None) or e
        raise ConfigError([f"{path}: can't be read: {reason}"]) from None


def _parse(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        m = re.match(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(e))
        what = m[1] if m else str(e)
        line = m[2] if m and m[2] else len(text.splitlines())
        hint = _syntax_hint(what)
        raise ConfigError([f"{name}:{line}: not TOML: {what}{hint}"]) from None
    except RecursionError:
        raise ConfigError([f"{name}: not TOML that can be read: nested too deeply"]) from None


def _syntax_hint(what: str) -> str:
    if "Invalid value" in what or "Expected newline" in what:
        return '; texts stand in quotes, as in per_day = "500 MB"'
    if "Cannot overwrite" in what or "twice" in what:
        return "; this key stands twice, keep one"
    return ""


def _override(
    data: dict[str, Any], environ: Mapping[str, str]
) -> tuple[dict[KeyPath, str], list[Mistake]]:
    """Put RECRAWL_SECTION__KEY variables into `data`; which path came from which variable."""
    variables: dict[KeyPath, str] = {}
    mistakes: list[Mistake] = []
    for variable in sorted(environ):
        name = variable.removeprefix(PREFIX)
        if name == variable or "__" not in name:
            continue
        parts = name.lower().split("__")
        table = data
        path: list[str] = []
        for part in parts[:-1]:
            key = _existing(table, part)
            path.append(key)
            if isinstance(table.get(key), list):
                variables[tuple(parts)] = variable
                mistakes.append(Mistake(tuple(parts), "can't reach into a list; edit the file"))
                break
            if not isinstance(table.get(key), dict):
                table[key] = {}
            table = table[key]
        else:
            key = _existing(table, parts[-1])
            table[key] = environ[variable]
            variables[*path, key] = variable
    return variables, mistakes


def _existing(table: dict[str, Any], key: str) -> str:
    """The key as the file spells it: variables are case-blind, names of tariffs are not."""
    return next((k for k in table if k.lower() == key), key)


def _check(data: dict[str, Any]) -> tuple[Document, list[Mistake]]:
    """The document without its wrong keys, and what is wrong with those."""
    try:
        return Document.model_validate(data), []
    except ValidationError as e:
        mistakes = translate(e.errors(include_url=False))
    for mistake in mistakes:
        _prune(data, mistake.path)
    return Document.model_validate(data), mistakes


def _prune(data: Any, path: KeyPath) -> None:
    """Take what stands at `path` away; an entry of a list is emptied, so that others stay put."""
    for part in path[:-1]:
        data = data[int(part)] if isinstance(data, list) else data.get(part, {})
    if isinstance(data, list):
        data[int(path[-1])] = {}
    else:
        data.pop(path[-1], None)


def _related(a: KeyPath, b: KeyPath) -> bool:
    n = min(len(a), len(b))
    return a[:n] == b[:n]
