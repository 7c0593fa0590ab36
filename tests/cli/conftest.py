"""A small crawl on disk, and a way to run commands on it."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recrawl.cli.app import run
from recrawl.model import (
    Change,
    Entry,
    Host,
    Page,
    Purpose,
    Record,
    State,
    Verdict,
    Writes,
)
from recrawl.stores import SqliteStore
from recrawl.units import Spend

T0 = 1_790_000_000.0  # 2026-09-21T14:13:20Z
CONFIG = """\
[project]
name = "shops"
contact = "owner@shop.example"
seeds = ["https://shop.example/"]
[budget]
per_month = "4 USD"
[tariff.default]
unit = "bytes"
price = "8 USD/GB"
[urls]
exclude = ["/calendar/"]
tracking = { add = ["ref"] }
[[site]]
match = "shop.example/p/*"
type = "product"
"""


@dataclass
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Result]


@pytest.fixture
def recrawl(tmp_path, monkeypatch, capsys) -> Run:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def inner(*arguments: object, stdin: bytes | None = None) -> Result:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Result(code, out, err)

    return inner


def entry(t: float, key: int, purpose: Purpose, verdict: Verdict, **more: Any) -> Entry:
    known: dict[str, Any] = {
        "host_id": 1, "page_type": 1, "status": 200, "kind": "ok", "conditional": False,
        "up": 200, "down": 1000, "discovered": 1, "sighted": 5,
        "spend": Spend(bytes=1200, micro_usd=9600, fetches=1, millis=100),
    }  # fmt: skip
    return Entry(t=T0 + t, key=key, purpose=purpose, verdict=verdict, **{**known, **more})


def crawl() -> Writes:
    w = Writes()
    w.hosts[1] = Host(1, "https://shop.example", n_pages=3, delay=1.5, next_ok=T0 + 60,
                      robots_status="rules", n_validator=10, n_304=4)  # fmt: skip
    w.hosts[2] = Host(2, "http://down.example:8080", n_pages=1, fails=5)
    for i in (1, 2, 3):
        w.new_pages[1, i] = Page(
            1, i, f"/p/{i}", state=State.LIVE if i < 3 else State.GONE, page_type=1,
            first_seen=T0, last=T0 + i, a=1.0, b=86400.0, n_visits=i, n_changes=i - 1,
            etag='"x"' if i == 1 else None, due=T0 + 99,
        )  # fmt: skip
    w.new_pages[2, 1] = Page(2, 1, "/", first_seen=T0)
    w.records[1, 1] = Record({"price": "=1+1", "tags": ["a", "b"]}, b"12345678", b"12345678")
    w.records[1, 2] = Record({"name": 'caf\xe9, "best"'}, b"12345678", b"12345678")
    w.entries = [
        entry(0, 0, Purpose.ROBOTS, Verdict.ROBOTS, page_type=0),
        entry(1, 1, Purpose.DISCOVERY, Verdict.NEW),
        entry(2, 1, Purpose.BEST_BUY, Verdict.CHANGED, predicted=0.4, tau=1.0),
        entry(3, 2, Purpose.BEST_BUY, Verdict.SAME),
        entry(4, 2, Purpose.VERIFICATION, Verdict.NOT_MODIFIED, status=304, conditional=True),
        entry(86400, 1, Purpose.DISCOVERY, Verdict.FAILED, status=0, host_id=2, page_type=0),
    ]
    w.changes = [
        Change(T0 + 1, 0.0, 1, 1, 1, Verdict.NEW, None, {"price": "1"}),
        Change(T0 + 2, T0 + 1, 1, 1, 1, Verdict.CHANGED, {"price": "1", "x": 1},
               {"price": "\x1b[31m2", "x": 1}),
    ]  # fmt: skip
    w.refused["https://shop.example", "host is full"] = 7
    w.refused["https://shop.example", "already known"] = 70
    return w


@pytest.fixture(scope="session")
def crawled(tmp_path_factory) -> Path:
    """The folder of a project that has crawled two hosts."""
    folder = tmp_path_factory.mktemp("crawled")
    (folder / "recrawl.toml").write_text(CONFIG)
    store = SqliteStore.open(folder / "recrawl.db", create=True)
    store.commit(crawl())
    store.close()
    return folder


@pytest.fixture
def shop(recrawl, crawled: Path, tmp_path: Path) -> Run:
    """Run a command on a copy of that project."""
    shutil.copytree(crawled, tmp_path, dirs_exist_ok=True)
    return recrawl
