"""`recrawl plan` and `why`: the next plan looked at, without spending on it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.cli.output import plural, say
from recrawl.cli.session import make_engine, open_store, run_worker
from recrawl.config.build import project_of
from recrawl.engine import Engine
from recrawl.engine.forecast import Forecast, forecast
from recrawl.engine.unaffordable import Unaffordable, unaffordable
from recrawl.model import Page, State
from recrawl.units import format_amount, format_bytes, format_duration, format_usd

if TYPE_CHECKING:
    from recrawl.config import Settings
    from recrawl.ports import Store

SAMPLE = 20  # pages read, priced and booked before anything is promised
COLUMNS = ("#", "score", "page", "stale", "cost", "why")


@dataclass(slots=True)
class Seen:
    """A plan as it would be carried out now."""

    columns: tuple[str, ...] = COLUMNS
    rows: list[dict[str, Any]] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)


def take_sample(settings: Settings) -> None:
    """Read up to SAMPLE pages where fewer were read so far; they are ordinary, booked visits."""
    store = open_store(settings)
    try:
        read = sum(n for (_, state), n in store.state_counts().items() if state == State.LIVE)
        if read >= SAMPLE:
            return
        say(f"reading up to {SAMPLE - read} pages first (booked like any visit) ...")
        done = run_worker(settings, store, seconds=None, keep_on=False, max_visits=SAMPLE - read)
        say(
            f"{done.visits} visits, {format_bytes(done.spend.bytes)}"
            + (f", {format_usd(done.spend.micro_usd)}" if done.spend.micro_usd else "")
        )
    finally:
        store.close()


def look(settings: Settings, limit: int) -> tuple[Seen, Forecast]:
    """Make the next plan on a copy in RAM: nothing is written, nothing is fetched."""
    from recrawl.stores import SqliteStore

    now = time.time()
    store = SqliteStore.open(settings.store, create=False, read_only=True)
    try:
        engine = make_engine(project_of(settings), store, now)
        spent = [store.spent(t) for t in engine.spent_since(now)]
        engine.start(now, spent, float(store.meta().get("since") or now))
        answer, _ = engine.plan(now, np.random.Generator(np.random.PCG64(0)))
        seen = _seen(engine, store, limit)
        _summarize(seen, engine, answer)
        _beyond(seen, unaffordable(engine.crawl, store.load_pages))
        return seen, forecast(engine.crawl)
    finally:
        store.close()


def _seen(engine: Engine, store: Store, limit: int) -> Seen:
    staged = sorted(engine.crawl.staged.values(), key=lambda i: -i.score)[:limit]
    pages = {(p.host_id, p.key): p for p in store.load_pages([_key(i.page) for i in staged])}
    seen = Seen()
    for n, item in enumerate(staged, 1):
        page = pages.get(_key(item.page))
        if page is None:
            continue
        url = engine.crawl.hosts[page.host_id].origin + page.path
        seen.rows.append(
            {
                "n": n, "url": url, "purpose": item.purpose.word, "score": item.score,
                "chance_stale": item.predicted, "gain": item.gain, "price": item.price,
            }
        )  # fmt: skip
        seen.cells.append(
            [
                str(n), f"{item.score:.3g}", url, f"{item.predicted:.0%}",
                f"{item.price:,.0f}", item.purpose.word.replace("_", " "),
            ]
        )  # fmt: skip
    return seen


def _key(page: Page) -> tuple[int, int]:
    return page.host_id, page.key


def _summarize(seen: Seen, engine: Engine, answer: Any) -> None:
    visits = len(engine.crawl.staged)
    seen.summary = {
        "visits": visits,
        "bar": answer.bar,
        "expected": {u.value: round(x) for u, x in answer.expected.items()},
        "budget": {u.value: x for u, x in answer.budget.items()},
        "purposes": {p.word: n for p, n in answer.purposes.items()},
        "left_out": dict(answer.left_out),
        "reason": answer.reason,
    }
    costs = ", ".join(format_amount(u, x) for u, x in answer.expected.items())
    split = ", ".join(f"{n:,} {p.word.replace('_', ' ')}" for p, n in answer.purposes.items())
    seen.words.append(f"{visits:,} visits" + (f" for about {costs}: {split}" if visits else ""))
    left = ", ".join(f"{n:,} {why}" for why, n in answer.left_out.items())
    if left:
        seen.words.append(f"left out: {left}")
    if answer.reason:
        seen.words.append(answer.reason)


def _beyond(seen: Seen, found: Unaffordable) -> None:
    """Pages that no cap can ever pay for."""
    seen.summary["unaffordable"] = found.as_dict()
    if found.pages:
        seen.words.append(f"{plural(found.pages, 'page')} beyond every budget: raise the cap")
    seen.words += [f"  {url} {need}" for url, need in found.named]


def show_forecast(f: Forecast) -> list[str]:
    """The forecast in sentences."""
    if not f.pages:
        return ["no page is known yet"]
    money = f", {format_usd(f.pass_micro_usd)}" if f.pass_micro_usd else ""
    lines = [
        f"{f.pages:,} pages known, {f.read:,} read; about {format_bytes(f.bytes_a_page)} a page",
        (
            f"one pass over them: {format_bytes(f.pass_bytes)}{money}, "
            f"{format_duration(f.pass_seconds)} by politeness"
        ),
        f"what binds is {f.binds}",
    ]
    lines += [
        f"at {at.times:g} x the budget: {at.best:.0%} fresh at best, {at.even:.0%} by even visits"
        for at in f.fresh
    ]
    return lines
