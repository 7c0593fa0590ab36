"""Runs a command and says what it cost: wall clock, CPU seconds of all its processes, memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PEERS = ("scrapy", "crawlee[parsel,httpx]")


@dataclass(frozen=True)
class Cost:
    """What one run of a process took, start and imports included."""

    wall: float  # seconds
    cpu: float  # seconds, user and system, its children that it waited for included
    rss: int  # peak resident bytes
    told: dict[str, Any]  # the JSON object on its last line of output, {} if none


def run(command: Sequence[str | Path], cwd: Path) -> Cost:
    """Run it to its end. Raises SystemExit, with its words, where it fails."""
    before = time.perf_counter()
    with (cwd / "stdout").open("w+") as out, (cwd / "stderr").open("w+") as err:
        process = subprocess.Popen(
            [str(x) for x in command], stdout=out, stderr=err, cwd=cwd, env=_environment()
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        words, errors = out.read(), err.read()
    if process.returncode != 0:
        tail = (words + errors)[-3000:]
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{tail}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, _last_json(words))


def _environment() -> dict[str, str]:
    """Ours, but for what would make Python compile all modules anew at every start."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _last_json(words: str) -> dict[str, Any]:
    lines = words.strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        return {}
    told = json.loads(lines[-1])
    return told if isinstance(told, dict) else {}


def peers_python(venv: Path | None = None) -> Path:
    """The Python of a virtual environment that holds the peers, made at the first call."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    venv = venv or cache / "recrawl" / "peers"
    python = venv / "bin" / "python"
    ready = venv / "ready"
    if not ready.exists():
        print(f"installing {', '.join(PEERS)} into {venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
        ready.touch()
    return python


def machine() -> str:
    """One line on what the figures were measured on."""
    model = "unknown CPU"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [x for x in cpuinfo.read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{os.cpu_count()} x {model}, Python {sys.version.split()[0]}"
