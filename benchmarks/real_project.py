"""A recrawl project for the real site, run by the command line or in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONFIG = """\
[project]
contact = "benchmark@example.org"
seeds = ["{origin}/"]
policy = "{policy}"

[budget]
{budget}
min_gap = "1 s"
{reserves}

[politeness]
delay = "{delay}"
concurrency = {concurrency}
jitter = 0

[limits]
depth = 100
"""


def write_project(
    folder: Path,
    origin: str,
    *,
    policy: str = "index",
    per_run: int = 0,
    delay: str = "0 s",
    concurrency: int = 8,
    reserves: str = "",
) -> Path:
    """Write recrawl.toml. `per_run`: bytes, 0 = no budget: a run is one pass."""
    path = folder / "recrawl.toml"
    path.write_text(
        CONFIG.format(
            origin=origin,
            policy=policy,
            budget=f'per_run = ["{per_run} B"]' if per_run else "",
            reserves=f"reserves = {reserves}" if reserves else "",
            delay=delay,
            concurrency=concurrency,
        )
    )
    return path


class Crawl:
    """The project, by its command line."""

    def __init__(self, config: Path, environment: Mapping[str, str] | None = None) -> None:
        self.config = config
        self.environment = {**os.environ, **(environment or {})}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "recrawl", *words, "--config", str(self.config)]

    def start(self) -> subprocess.Popen[bytes]:
        """`recrawl run`, not waited for."""
        return subprocess.Popen(
            self.command("run", "--quiet"),
            env=self.environment,
            cwd=self.config.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self) -> None:
        """`recrawl run` to its end. Raises SystemExit where it fails."""
        self._call("run", "--quiet", "--json")

    def ledger(self) -> list[dict[str, Any]]:
        """Every visit so far, as `recrawl ledger --json` tells it."""
        if not (self.config.parent / "recrawl.db").exists():
            return []
        return [json.loads(line) for line in self._call("ledger", "--json").splitlines()]

    def _call(self, *words: str) -> str:
        done = subprocess.run(
            self.command(*words),
            env=self.environment,
            cwd=self.config.parent,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"recrawl {words[0]}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout
