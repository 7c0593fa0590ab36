"""What was read of which log so far, and what was wrong with it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHOWN = 5  # bad rows and unread files that are told one by one
CONTROL = dict.fromkeys(range(32), " ")
INSTALL = "pip install 'recrawl[audit]'"


class LogError(ValueError):
    """A log that can't be read at all; the message says what to do."""


class DamageError(Exception):
    """The file is cut off or broken here; all that came before was given out."""


class MissingError(LogError):
    """A log that needs a package which isn't installed."""


def optional(module: str, why: str) -> Any:
    """A package of the `audit` extra. Raises MissingError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingError(f"{why}, which needs {package}: {INSTALL}") from None


@dataclass(slots=True)
class Account:
    """`host` owns paths without a host; `told` is what the user said of columns."""

    host: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)  # file -> what it was taken for
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)
    unread: int = 0  # files of no known kind among others that were read
    first_unread: list[str] = field(default_factory=list)

    def reject(self, path: Path, number: int, why: str, rows: int = 1) -> None:
        """Count bad rows; `number` is the line, record or row of the first."""
        self.bad += rows
        if len(self.first_bad) < SHOWN:
            self.first_bad.append(f"{path}:{number}: {why.translate(CONTROL)}")

    def breaks(self, path: Path, number: int, why: str) -> None:
        """Count where a file breaks off: told before any bad row, since more is lost by it."""
        self.bad += 1
        self.first_bad.insert(0, f"{path}:{number}: {why.translate(CONTROL)}")
        del self.first_bad[SHOWN:]

    def leave(self, error: LogError) -> None:
        """Count a file that can't be read."""
        self.unread += 1
        if len(self.first_unread) < SHOWN:
            self.first_unread.append(str(error).translate(CONTROL))
