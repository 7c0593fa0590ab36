"""Mistakes of a project file as sentences: where, what, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel

from recrawl.config.document import Document
from recrawl.config.fields import shown, suggestion
from recrawl.config.lines import Path, line_of


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake at a key path; `site.1.value` is the second [[site]]."""

    path: Path
    message: str


def dotted(path: Path) -> str:
    """('site', 1, 'value') -> 'site[1].value'."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def sentence(
    mistake: Mistake, name: str, lines: dict[Path, int], environment: dict[Path, str]
) -> str:
    """'recrawl.toml:3: budget.per_day: ...', or '$RECRAWL_BUDGET__PER_DAY: ...'."""
    for path, variable in environment.items():
        n = min(len(path), len(mistake.path))
        if path[:n] == mistake.path[:n] and line_of(mistake.path, lines) is None:
            return f"${variable}: {mistake.message}"
        if path == mistake.path:
            return f"${variable}: {mistake.message}"
    line = line_of(mistake.path, lines)
    where = f"{name}:{line}" if line else name
    return f"{where}: {dotted(mistake.path)}: {mistake.message}"


def translate(errors: Iterable[Any]) -> list[Mistake]:
    """pydantic's errors as mistakes."""
    return [_translate(error) for error in errors]


def _translate(error: dict[str, Any]) -> Mistake:
    path: Path = tuple(part for part in error["loc"] if part != "[key]")
    kind, value = error["type"], error["input"]
    if kind == "value_error":
        return Mistake(path, str(error["ctx"]["error"]))
    if kind == "extra_forbidden":
        return Mistake(path, _unknown(path))
    if path == ("site",):
        return Mistake(path, "is a list of tables; write [[site]] with two brackets")
    name = dotted(path[:1]) if path[0] == "site" else dotted(path)
    example = f"[[{name}]]" if path[0] == "site" else f"[{name}]"
    return Mistake(path, f"{shown(value)} is no table; write {example} and its keys below it")


def _unknown(path: Path) -> str:
    """What to do about an unknown key: the closest known one, or the section it belongs to."""
    key = str(path[-1])
    siblings = list(_model_at(path[:-1]).model_fields)
    if hint := suggestion(key, siblings):
        return f"unknown key{hint}"
    homes = [
        f"[[{name}]]" if name == "site" else f"[{name}]"
        for name in Document.model_fields
        if key in _model_at((name, "x")).model_fields or key in _model_at((name,)).model_fields
    ]
    if homes:
        return f"unknown key here; {key!r} belongs in {' or '.join(homes)}"
    return f"unknown key; known here: {', '.join(siblings)}"


def _model_at(path: Path) -> type[BaseModel]:
    """The model that describes the table at that path (the last one on the way, at least)."""
    model: type[BaseModel] = Document
    for part in path:
        info = model.model_fields.get(str(part))
        if info is not None:
            inner = [info.annotation, *get_args(info.annotation)]
            models = [t for t in inner if isinstance(t, type) and issubclass(t, BaseModel)]
            model = models[0] if models else model
    return model
