"""What `why URL` tells: all numbers of one page, and its answer in a sentence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from recrawl.model import Host, Page, State


@dataclass(slots=True)
class Why:
    """What is known and decided of one URL. Times in epoch seconds, rates per day."""

    url: str
    canonical: str
    known: bool
    answer: str  # one sentence: visit now, wait, never, or why it is no page
    state: str = ""
    page_type: str = ""
    value: float = 1.0
    depth: int = 0
    last_read: float | None = None
    last_attempt: float | None = None
    retry_at: float | None = None
    visits: int = 0
    changes: int = 0
    not_modified: int = 0
    fails: int = 0
    shape: float = 0.0  # Gamma(shape, scale) of the change rate, per second
    scale: float = 0.0
    rate_per_day: float = 0.0
    rate_low: float = 0.0
    rate_high: float = 0.0
    group_rate_per_day: float = 0.0
    interval: float = 0.0  # seconds, kept by policies that keep one; 0 = none yet
    horizon: float = 0.0  # seconds over which a first reading is worth what it keeps fresh
    policy: str = ""
    tau: float = 0.0
    chance_stale: float = 0.0
    gain: float = 0.0
    validator_shape: float = 0.0  # 0: a visit carries no validator
    validator_scale: float = 0.0
    unit: str = ""  # of the cap that binds most; prices and costs are in it
    weights: dict[str, float] = field(default_factory=dict)  # of each cap's unit in the price
    caps: list[dict[str, Any]] = field(default_factory=list)  # each unit's own quotes and price
    price: float = 0.0
    expected_cost: float = 0.0
    full_cost: float = 0.0
    not_modified_cost: float = 0.0
    failed_cost: float = 0.0
    chance_success: float = 1.0
    score: float = 0.0
    bar: float = 0.0
    due: float | None = None
    too_fast: bool = False  # the bar is out of its reach, however long one waits
    host_ready: float | None = None
    robots: str = ""
    unaffordable: str = ""  # what a visit needs that no cap can ever cover
    target: str | None = None
    history: list[dict[str, Any]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For --json; infinities become None."""
        out = asdict(self)
        return {
            k: (None if isinstance(v, float) and not math.isfinite(v) else v)
            for k, v in out.items()
        }


def answer(why: Why, host: Host, page: Page, now: float) -> str:
    """One sentence: visit now, wait and for what, or never."""
    barred = _barred(why, host, page, now)
    if barred:
        return barred
    if page.retry_at > now:
        return f"resting: {_rest_reason(why, page)}"
    if page.state is State.NEW:
        return "waiting for its first visit"
    if page.state is not State.LIVE:
        return f"{page.state.word}: looked at again now and then, from the re-estimation reserve"
    if why.due is None:
        return "due in the next pass"
    if now >= why.due:
        return "worth its price: visited as soon as its host may be asked"
    if why.too_fast:
        return "changes too fast for the price of budget: only the floor (max_gap) visits it"
    return "fresh enough: not worth its price yet"


def _barred(why: Why, host: Host, page: Page, now: float) -> str:
    """What keeps it from any visit, whatever it is worth: robots.txt, or a host that rests."""
    if why.robots == "forbidden":
        return "not visited: robots.txt forbids it"
    if why.robots.startswith("can't"):
        return "not visited: its robots.txt can't be read, so nothing is fetched there (RFC 9309)"
    if page.state is State.TRAPPED:
        return "not visited: it belongs to a generated space"
    if why.unaffordable:
        return f"not visited: it {why.unaffordable}"
    if host.throttled_until <= now:
        return ""
    if host.fails:
        return f"its host rests: {_count(host.fails, 'fault')} in a row"
    return "its host rests: it asked to be left alone"


def _rest_reason(why: Why, page: Page) -> str:
    if page.state is State.ALIAS:
        return f"it redirects to {page.target}"
    if page.fails and page.state in (State.NEW, State.LIVE):
        return f"{_count(page.fails, 'failure')} in a row{_last(why)}"
    if page.missing and page.state is not State.GONE:
        return "not found: asked once more before it is gone"
    return f"it is {page.state.word}"


def _last(why: Why) -> str:
    if not why.history:
        return ""
    last = why.history[0]
    return f", the last one {last['verdict']} ({last['status'] or 'no answer'})"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
