"""Projects on a scripted web, crawled by the real commands, or for made-up weeks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from recrawl.cli.app import run as command
from recrawl.cli.session import open_store, opened
from recrawl.config import load
from recrawl.stores import SqliteStore
from servers.lab import Lab

SCRIPTS = Path(__file__).parents[1] / "data" / "cases" / "scripts.json"
DAY = 86_400.0
START = 1_790_000_000.0  # 2026-09-21T14:13:20Z


def script(case: str) -> dict[str, Any]:
    """The script of a case, as its file keeps it."""
    return json.loads(SCRIPTS.read_text())[case]


class MadeUpClock:
    """`ports.Clock` that jumps; `skew` is what the crawler's own clock is wrong by."""

    jumps = True

    def __init__(self, start: float = START) -> None:
        self.t = start

    def now(self) -> float:
        return self.t

    async def sleep_until(self, t: float) -> None:
        self.t = max(self.t, t)
        await asyncio.sleep(0)


@dataclass
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Crawl:
    """A project folder, and the lab that its only route leads to."""

    folder: Path
    capsys: Any
    labs: list[Lab] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    clock: MadeUpClock = field(default_factory=MadeUpClock)
    monkeypatch: Any = None

    @property
    def lab(self) -> Lab:
        return self.labs[-1]

    def serve(self, script: dict[str, Any], **more: Any) -> Lab:
        """Play a script until the test ends."""
        lab = Lab(script, **more)
        lab.__enter__()
        self.labs.append(lab)
        return lab

    def project(
        self, *seeds: str, routed: bool = True, sites: str = "", more: str = "", **sections: str
    ) -> None:
        """Write recrawl.toml: `sections` are lines added to a section, `more` is added as is."""
        hosts = sorted({s.split("/")[2].partition(":")[0] for s in seeds})
        extra = {"project": "", "budget": "", "limits": "", "politeness": ""} | sections
        lines = [
            "[project]", 'contact = "owner@shop.example"', f"seeds = {json.dumps(list(seeds))}",
            extra["project"], "[limits]", extra["limits"],
            "[politeness]", extra["politeness"] or 'delay = "0 s"',
        ]  # fmt: skip
        if extra["budget"]:
            lines += ["[budget]", extra["budget"]]
        if routed:
            lines += ["[route.lab]", f'proxy = "http://127.0.0.1:{self.lab.port}"']
            if not sites:
                lines += [f'[[site]]\nmatch = "{h}"\nroute = "lab"' for h in hosts]
        (self.folder / "recrawl.toml").write_text("\n".join([*lines, sites, more, ""]))

    def cli(self, *arguments: object) -> Result:
        """Run a command in this process."""
        self.capsys.readouterr()
        code = command([str(a) for a in arguments])
        out, err = self.capsys.readouterr()
        assert "Traceback" not in out + err, out + err
        return Result(code, out, err)

    def run(self, times: int = 1, *options: str) -> dict[str, Any]:
        """`recrawl run`, several times; what the last one said."""
        for _ in range(times):
            result = self.cli("run", "--json", "--quiet", *options)
            assert result.code in (0, 3), result
        return result.rows[-1]

    def start(self, *arguments: str, **more: Any) -> subprocess.Popen[str]:
        """A command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "recrawl", *arguments],
            cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **self.env}, **more,
        )  # fmt: skip

    def days(self, days: float) -> None:
        """Crawl for made-up days, window after window."""
        self._crawl(days * DAY, keep_on=True)

    def passes(self, times: int = 1, gap: float = DAY) -> None:
        """Runs (one pass each, if there is no budget), with a made-up time between them."""
        for _ in range(times):
            self._crawl(float("inf"), keep_on=False)
            self.clock.t += gap

    def _crawl(self, seconds: float, *, keep_on: bool) -> None:
        async def main() -> None:
            settings = load(self.folder / "recrawl.toml")
            store = open_store(settings)
            try:
                async with opened(settings, store, clock=self.clock, seed=1) as worker:
                    await worker.run(until=self.clock.now() + seconds, keep_on=keep_on)
            finally:
                store.close()

        asyncio.run(main())

    def expected_bytes(self) -> float:
        """What the next pass would cost, as the planner sees it."""
        from recrawl.cli.session import make_engine
        from recrawl.config.build import project_of
        from recrawl.units import Unit

        with self.store() as store:
            settings = load(self.folder / "recrawl.toml")
            engine = make_engine(project_of(settings), store, self.clock.now())
            answer, _ = engine.plan(self.clock.now(), np.random.Generator(np.random.PCG64(1)))
        return answer.expected[Unit.BYTES]

    @contextmanager
    def store(self):
        """The store, to be looked at."""
        store = SqliteStore.open(self.folder / "recrawl.db", create=False)
        try:
            yield store
        finally:
            store.close()

    def page(self, path: str, host: str = "") -> Any:
        """The row of one page."""
        with self.store() as store:
            origins = {h.host_id: h.origin for h in store.load_hosts()}
            found = [
                p for p in store.iter_pages() if p.path == path and host in origins[p.host_id]
            ]
        assert len(found) == 1, (path, found)
        return found[0]

    def changes(self) -> list[Any]:
        """The changes told, but for first readings."""
        with self.store() as store:
            return [c for c in store.changes() if c.verdict.word != "new"]

    def verdicts(self, path: str) -> list[str]:
        """What each visit of a page said, oldest first."""
        row = self.page(path)
        with self.store() as store:
            return [e.verdict.word for e in reversed(store.history(row.host_id, row.key))]

    def refused(self) -> dict[str, int]:
        """reason -> how many addresses."""
        with self.store() as store:
            out: dict[str, int] = {}
            for _, reason, n in store.refused():
                out[reason] = out.get(reason, 0) + n
            return out


@pytest.fixture
def crawl(tmp_path, monkeypatch, capsys):
    """A project in an empty folder, its labs closed afterwards."""
    monkeypatch.chdir(tmp_path)
    made = Crawl(tmp_path, capsys, monkeypatch=monkeypatch)
    yield made
    for lab in made.labs:
        lab.__exit__()
