"""Rollup lines, short."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recrawl.model import Purpose, Verdict
from recrawl.ports import Rollup
from recrawl.units import Spend


def make_line(
    verdict: Verdict = Verdict.SAME,
    purpose: Purpose = Purpose.BEST_BUY,
    *,
    n: int = 1,
    host: int = 1,
    kind: int = 0,
    day: int = 20_000,
    status: int = 200,
    micro_usd: int = 0,
    up: int = 100,
    down: int = 900,
    discovered: int = 0,
    sighted: int = 0,
) -> Rollup:
    spend = Spend(bytes=up + down, micro_usd=micro_usd, fetches=n, millis=10 * n)
    return Rollup(
        day, host, kind, purpose, verdict, status, verdict is Verdict.NOT_MODIFIED, n, up, down,
        spend, discovered, sighted,
    )  # fmt: skip


@pytest.fixture
def line() -> Callable[..., Rollup]:
    return make_line
