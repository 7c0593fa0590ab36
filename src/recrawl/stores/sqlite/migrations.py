"""The schema's numbered files: each is applied with its version, in full or not at all."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.abc import Traversable
from importlib.resources import files
from pathlib import Path

from recrawl.ports import StoreError

FOLDER: Traversable = files("recrawl.stores") / "migrations"
_NAME = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True, slots=True)
class Step:
    """One migration: it leads from `version` - 1 to `version`."""

    version: int
    name: str
    sql: str


def load_steps(folder: Traversable | None = None) -> list[Step]:
    """A folder's migrations in order. Raises StoreError on a gap, a twin or a strange name."""
    steps = []
    for file in (folder or FOLDER).iterdir():
        if file.name.startswith("__"):
            continue
        named = _NAME.fullmatch(file.name)
        if named is None:
            raise StoreError(f"{file}: a migration is named like 0002_what_it_does.sql")
        steps.append(Step(int(named[1]), file.name, file.read_text("utf-8")))
    steps.sort(key=lambda step: step.version)
    if [step.version for step in steps] != list(range(1, len(steps) + 1)):
        raise StoreError(f"{folder or FOLDER}: migrations must be numbered 1, 2, 3, ... once each")
    return steps


def version_of(connection: sqlite3.Connection) -> int:
    """How many migrations a file has had."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def apply(connection: sqlite3.Connection, steps: list[Step]) -> None:
    """Apply the steps that a file has not had. After a failure the file is at the last version
    that was reached in full. Raises sqlite3.Error, its message naming the step.
    """
    for step in steps:
        if step.version > version_of(connection):
            _apply_one(connection, step)


def _apply_one(connection: sqlite3.Connection, step: Step) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(step.sql):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={step.version}")  # part of the transaction
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        error.args = (f"migration {step.name} failed and was undone: {error}",)
        raise


def statements(script: str) -> Iterator[str]:
    """The single statements of a script (`executescript` would commit before the first)."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if _has_sql(pending):
        yield pending


def _has_sql(script: str) -> bool:
    lines = (line.strip() for line in script.splitlines())
    return any(line and not line.startswith("--") for line in lines)


def back_up(connection: sqlite3.Connection, path: Path) -> Path:
    """Copy a whole store, as it stands, to `path`.v<version>.bak; complete or absent."""
    backup = path.with_name(f"{path.name}.v{version_of(connection)}.bak")
    part = backup.with_name(backup.name + ".part")
    part.unlink(missing_ok=True)
    copy = sqlite3.connect(part)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(backup)
    return backup
