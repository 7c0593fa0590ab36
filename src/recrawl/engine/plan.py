"""plan(now): open a window where none is open, and choose the visits that it buys."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.engine.crawl import Crawl, Planned, RobotsCheck, Window, lane_of, rank_of
from recrawl.engine.purse import Purse, window_budget
from recrawl.engine.scheme import gaps_of, scheme_of, units_of
from recrawl.model import Page, Purpose, State, Writes
from recrawl.plan.budget import Account
from recrawl.plan.cycle import PlanResult, plan_cycle
from recrawl.plan.standing import Rules
from recrawl.units import Unit

LEFTOVER = 0.1  # of a window's allowance
GIVEN_UP = (State.GONE, State.INACTIVE, State.ALIAS, State.REFUSED)


@dataclass(slots=True)
class PlanAnswer:
    """What the driver is to load and queue, and the plan's figures for people."""

    keys: list[tuple[int, int]] = field(default_factory=list)
    queued: int = 0  # items that wait in the queues already
    bar: float = 0.0
    bars: dict[Unit, float] = field(default_factory=dict)
    expected: dict[Unit, float] = field(default_factory=dict)
    budget: dict[Unit, int] = field(default_factory=dict)
    purposes: Counter[Purpose] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    missing_draws: int = 0
    limit_reached: bool = False
    reason: str = ""
    next_due: float = math.inf  # when there may be something to do, where there is nothing now


def plan(
    crawl: Crawl, purse: Purse, now: float, rng: np.random.Generator, pass_started: float
) -> tuple[PlanAnswer, Writes]:
    """Choose what the present window buys. Called again in one window, it adds what is left.

    `pass_started`: when the pass that was interrupted began, 0 = none.
    """
    window = crawl.window
    if window is None or now >= window.ends:
        window = _open(crawl, purse, now, pass_started)
    answer = PlanAnswer(queued=len(crawl.queues), budget=window_budget(window.account))
    reached = purse.reached()
    if reached is not None:
        answer.limit_reached = True
        answer.reason = f"the project's limit of {reached} is reached"
    elif window.planned and not window.one_pass and _nearly_spent(window, answer.budget):
        answer.reason = "the budget of this window is spent"
        answer.next_due = window.ends
    elif not answer.queued:
        result = _choose(crawl, window, answer.budget, now, rng)
        _describe(answer, result)
        _stage(crawl, window, result, now)
        answer.keys = list(crawl.staged)
        if not answer.keys:
            _nothing(crawl, window, answer, now)
    return answer, Writes(meta=_meta(window, now))


def _nearly_spent(window: Window, budget: dict[Unit, int]) -> bool:
    """What is left of a window isn't worth another plan: it rolls over to a better one."""
    account = window.account
    return any(
        budget[cap.unit] <= LEFTOVER * min(allowed, left)
        for cap, allowed, left in zip(account.caps, account.allowance, account.left, strict=True)
    )


def _meta(window: Window, now: float) -> dict[str, str]:
    bars = {unit.value: bar for unit, bar in window.bars.items()}
    return {"bar": repr(window.bar), "bars": json.dumps(bars), "planned_at": repr(now)}


def _open(crawl: Crawl, purse: Purse, now: float, pass_started: float) -> Window:
    """A new window. What the old one left in the queues waits for the new plan."""
    crawl.queues.clear()
    _reopen_gates(crawl)
    crawl.staged.clear()
    crawl.overflowed.clear()
    crawl.mirror.open_window()
    account = purse.account(now)
    one_pass = not crawl.project.budget.caps
    if one_pass:
        window = Window(pass_started or now, math.inf, account, one_pass=True)
    else:
        window = Window(now, crawl.project.budget.window(now)[1], account)
    _carry(crawl, account)
    crawl.window = window
    return window


def _reopen_gates(crawl: Crawl) -> None:
    """The old window's questions for robots.txt went with its queues: ask them anew."""
    asking = {f.visit.host_id for f in crawl.flights.values() if isinstance(f.item, RobotsCheck)}
    for host_id in crawl.hosts:
        if crawl.queues.gate_closed(host_id) and host_id not in asking:
            crawl.queues.open_gate(host_id)
        crawl.queues.hold(host_id, -math.inf)


def _carry(crawl: Crawl, account: Account) -> None:
    """Visits still under way keep their promises, and their pages aren't bought once more."""
    for flight in crawl.flights.values():
        account.reserved += flight.visit.reserved
        if isinstance(flight.item, Planned):
            crawl.mirror.buy(flight.visit.host_id, flight.visit.key)


def _choose(
    crawl: Crawl, window: Window, budget: dict[Unit, int], now: float, rng: np.random.Generator
) -> PlanResult:
    shares = crawl.project.shares
    if window.planned:  # the reserves were drawn by this window's first plan
        shares = replace(shares, reestimation=0.0, verification=0.0)
    window.planned = True
    low, high = gaps_of(crawl.project)
    rules = Rules(shares, low, high, window.opened if window.one_pass else None)
    with crawl.mirror.without_bought():
        return plan_cycle(
            crawl.mirror.rows,
            now,
            scheme=scheme_of(crawl, units_of(crawl), now, window.ends),
            budget={unit: float(amount) for unit, amount in budget.items()},
            rules=rules,
            rng=rng,
        )


def _describe(answer: PlanAnswer, result: PlanResult) -> None:
    answer.bar, answer.bars, answer.expected = result.bar, result.bars, result.expected
    answer.missing_draws = result.missing_draws
    answer.left_out = Counter({reason.value: n for reason, n in result.left_out.items()})
    for purpose, n in zip(*np.unique(result.purposes, return_counts=True), strict=True):
        answer.purposes[Purpose(int(purpose))] += int(n)


def _stage(crawl: Crawl, window: Window, result: PlanResult, now: float) -> None:
    """Turn the chosen rows into items that wait for their pages to be loaded."""
    window.bar, window.bars = result.bar, result.bars
    rows = crawl.mirror.rows
    each = next(iter(result.expected.values()), 0.0) / max(result.rows.size, 1)
    for i, row in enumerate(result.rows.tolist()):
        last = float(rows["last"][row])
        key = int(rows["host_id"][row]), int(rows["key"][row])
        crawl.staged[key] = Planned(
            Page(*key, path=""),
            Purpose(int(result.purposes[i])),
            tau=max(0.0, now - last) if last else 0.0,
            predicted=float(result.predicted[i]) if last else 1.0,
            gain=float(result.gains[i]),
            price=float(result.prices[i]),
            score=float(result.scores[i]),
            expected=each,
            conditional=not result.unconditional[i],
        )
        window.promised += each
    if window.one_pass:
        _stage_given_up(crawl, now)


def _stage_given_up(crawl: Crawl, now: float) -> None:
    """A pass has no reserves: pages given up are looked at again when their time comes."""
    rows = crawl.mirror.rows
    due = np.isin(rows["state"], GIVEN_UP) & (rows["retry_at"] <= now) & ~crawl.mirror.bought
    for row in np.flatnonzero(due).tolist():
        key = int(rows["host_id"][row]), int(rows["key"][row])
        crawl.staged[key] = Planned(Page(*key, path=""), Purpose.REESTIMATION, expected=1.0)


def stock(crawl: Crawl, pages: Iterable[Page]) -> None:
    """Queue the staged items whose rows the driver has loaded; the others are dropped."""
    for page in pages:
        item = crawl.staged.pop((page.host_id, page.key), None)
        if item is None:
            continue
        item.page = page
        crawl.queues.push(page.host_id, item, lane=lane_of(item), rank=rank_of(item))
    if crawl.window is not None:
        crawl.window.promised -= sum(item.expected for item in crawl.staged.values())
    crawl.staged.clear()


def _nothing(crawl: Crawl, window: Window, answer: PlanAnswer, now: float) -> None:
    """Say why there is nothing to do, and when there may be."""
    rows = crawl.mirror.rows
    if not len(rows):
        answer.reason = "no page is known: add `seeds` to the project file"
        return
    times = [window.again_at]
    waiting = rows["retry_at"][rows["retry_at"] > now]
    if waiting.size:
        times.append(float(waiting.min()))
    if window.one_pass:
        live = rows["last"][rows["state"] == State.LIVE]
        if live.size:
            times.append(float(live.min()) + crawl.project.timing.min_gap)
    else:
        times.append(window.ends)
    answer.next_due = min(t for t in times if t > now) if any(t > now for t in times) else math.inf
    answer.reason = "the budget of this window is spent" if _spent(answer) else _why_nothing(crawl)


def _why_nothing(crawl: Crawl) -> str:
    rows = crawl.mirror.rows
    if not (rows["last"] > 0).any():
        return "no page could be read yet: `recrawl hosts` and `recrawl ledger` say why"
    return "all are fresh enough"


def _spent(answer: PlanAnswer) -> bool:
    return any(amount <= 0 for amount in answer.budget.values())
