"""What `simulate` answers: the project's pages and beliefs, replayed under what was asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.errors import UsageError
from recrawl.cli.output import say

if TYPE_CHECKING:
    from recrawl.config import Settings
    from recrawl.engine import Engine
    from recrawl.plan.budget import Cap
    from recrawl.replay.run import Settings as Replay
    from recrawl.units import Unit

BESIDE = ("freshness", "harmonic", "events", "value-age", "uniform")
TIMES = (0.5, 1.0, 2.0)  # of the present budget, where none is asked for
STEPS = 2500  # cycles of a simulation, at most
BURN_IN = 0.5  # of the time, before it is scored: all pages begin freshly read


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    policies: list[str]
    goals: list[str]
    budgets: list[str]
    tariff: str
    days: float
    seeds: int
    pages: int


def run(config: Path, asked: Asked) -> dict[str, Any]:
    """The whole answer as plain values. Raises UsageError, ConfigError, StoreError."""
    from recrawl.cli.project import store_to_read
    from recrawl.cli.session import make_engine
    from recrawl.config import load
    from recrawl.config.build import project_of

    settings = load(config)
    with store_to_read(settings) as store:
        engine = make_engine(project_of(settings), store, time.time())
    return _compared(engine, settings, asked)


def _compared(engine: Engine, settings: Settings, asked: Asked) -> dict[str, Any]:
    import numpy as np

    from recrawl.cli.progress import share
    from recrawl.config.build import policy_of
    from recrawl.engine.believed import believed_pages
    from recrawl.engine.forecast import per_day
    from recrawl.replay.what_if import bounds, compare
    from recrawl.units import DAY

    names = _policies(engine, asked)
    caps, now = _caps(engine, asked)
    known = believed_pages(engine.crawl, caps[0].unit, _tariff(settings, asked.tariff))
    total = len(known)
    if not total:
        raise UsageError("no page is known yet, so there is nothing to try: `recrawl run` first")
    rng = np.random.Generator(np.random.PCG64(0))
    if asked.pages < total:
        known = known.part(np.sort(rng.choice(total, asked.pages, replace=False)))
    how = _settings(engine, asked)
    worlds = [known.draw(how.span, rng) for _ in range(asked.seeds)]
    scale = len(known) / total
    a_second = [per_day(cap) / DAY * scale for cap in caps]
    policies = [policy_of(settings, name) for name in names]
    found = compare(worlds, known, policies, a_second, how, rng, share("simulated"))
    now = None if asked.tariff else now  # by another tariff, nothing is as it is now
    present, mean = names[0], float(known.value.mean())
    ends = zip(bounds(worlds, a_second), caps, strict=True)
    return {
        "pages": total,
        "simulated": len(known),
        "days": asked.days,
        "seeds": asked.seeds,
        "unit": caps[0].unit.value,
        "policies": [_line(x, caps, a_second, scale, present, now) for x in found],
        "budgets": [_bound(x, cap, now, mean) for x, cap in ends],
    }


def _settings(engine: Engine, asked: Asked) -> Replay:
    from recrawl.replay.run import Settings as Replay
    from recrawl.units import DAY

    span, project = asked.days * DAY, engine.crawl.project
    return Replay(
        span=span,
        since=BURN_IN * span,
        cycle=max(project.budget.window_seconds, span / STEPS),
        random_share=project.shares.verification,
    )


def _line(
    x: Any, caps: list[Cap], a_second: list[float], scale: float, present: str, now: Cap | None
) -> dict[str, Any]:
    cap = caps[a_second.index(x.budget)]
    return {
        "policy": x.policy,
        "budget": str(cap),
        "current": x.policy == present and cap == now,
        "freshness": x.freshness.value,
        "freshness_error": x.freshness.error,
        "spend_per_day": x.spend_per_day / scale,
        "visits_per_day": x.visits_per_day / scale,
        "changes_per_day": x.changes_per_day / scale,
        "cost_per_change": x.per_change,
        "spent_in_vain": x.in_vain,
    }


def _bound(x: Any, cap: Cap, now: Cap | None, value: float) -> dict[str, Any]:
    from recrawl.engine.forecast import per_day
    from recrawl.units import DAY

    return {
        "budget": str(cap),
        "per_day": per_day(cap),
        "current": cap == now,
        "best_possible": x.best,
        "even_visits": x.even,
        "one_more": _one_more(cap.unit)[0],
        "buys_fresh_page_days": x.one_more * _one_more(cap.unit)[1] / DAY / value,
    }


def _one_more(unit: Unit) -> tuple[str, float]:
    """What "one more" of a unit is called, and how many smallest parts it has."""
    from recrawl import units

    return {
        units.Unit.USD: ("dollar", float(units.MICRO)),
        units.Unit.BYTES: ("megabyte", float(units.MICRO)),
        units.Unit.CREDITS: ("credit", float(units.MICRO)),
        units.Unit.FETCHES: ("fetch", 1.0),
        units.Unit.SECONDS: ("second", 1000.0),
    }[unit]


def _policies(engine: Engine, asked: Asked) -> list[str]:
    from recrawl.plan.policies import GOALS, policy_names

    for given, known, what in (
        (asked.policies, policy_names(), "--policy"),
        (asked.goals, list(GOALS), "--goal"),
    ):
        for name in given:
            if name not in known:
                raise UsageError(f"{what} {name!r}: write {', '.join(known)}")
    chosen = [*asked.goals, *asked.policies] or list(BESIDE)
    return list(dict.fromkeys([engine.crawl.project.policy.name, *chosen]))


def _caps(engine: Engine, asked: Asked) -> tuple[list[Cap], Cap | None]:
    """The budgets to try, all in one unit, and the present one (None: none that comes again)."""
    from dataclasses import replace

    from recrawl.engine.forecast import tightest
    from recrawl.engine.scheme import price_book, units_of

    crawl = engine.crawl
    rows = crawl.mirror.rows
    columns = rows["host_id"], rows["page_type"], rows["body"].astype(float)
    book = price_book(crawl)
    whole = {u: float(book.quote(u, *columns).full.sum()) for u in units_of(crawl)}
    now = tightest(crawl, whole)
    if now is not None and len(crawl.project.budget.caps) > 1:
        say(f"of several caps the tightest is looked at: {now}")
    given = [_cap(text) for text in asked.budgets]
    if not given and now is None:
        raise UsageError(
            "the project has no budget per hour, day, week or month to begin from: "
            "write one, --budget '50 MB/day'"
        )
    if len({cap.unit for cap in given}) > 1:
        raise UsageError("--budget: all in one unit, or their lines could not be compared")
    if given:
        same = [] if now is None or now.unit is not given[0].unit else [now]
        return list(dict.fromkeys([*same, *given])), now
    assert now is not None
    return [replace(now, amount=round(now.amount * t)) for t in TIMES], now


def _cap(text: str) -> Cap:
    """'50 MB/day' or '50 MB per day'; a day where no period is given."""
    from recrawl.plan.budget import Cap
    from recrawl.units import UnitError, parse_amount

    amount, _, period = text.replace(" per ", "/").partition("/")
    try:
        unit, n = parse_amount(amount.strip())
        if n <= 0:
            raise UsageError(f"--budget {text!r}: write more than nothing")
        cap = Cap(unit, n, (period.strip() or "day"))  # type: ignore[arg-type] # checked by Cap
    except (UnitError, ValueError) as error:
        raise UsageError(f"--budget {text!r}: {error}") from None
    if cap.period == "run":
        raise UsageError(f"--budget {text!r}: write hour, day, week or month")
    return cap


def _tariff(settings: Settings, name: str) -> Any:
    from recrawl.config.build import tariff_named

    if not name:
        return None
    known = [t.name for t in settings.tariffs]
    if name not in known:
        raise UsageError(f"--tariff {name!r}: the file has {', '.join(known) or 'none'}")
    return tariff_named(settings, name)
