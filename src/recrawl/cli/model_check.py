"""What the report says of the model and the reserves: read from the ledger, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.cli.project import Project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.learn.prior import GroupPrior
    from recrawl.model import Purpose
    from recrawl.ports import Rollup
    from recrawl.report import Calibration, Dispersion, Reserve

MOST_READINGS = 300_000  # of one purpose: the newest whole days that hold no more
HISTORY = 1000  # visits of one page


def group_prior(project: Project) -> GroupPrior:
    """What is known of pages without a belief of their own."""
    from recrawl.engine.boot import learned_of, learned_prior

    return learned_prior(learned_of(project.store.meta()), "prior")


def calibration(project: Project, rows: Sequence[Rollup]) -> Calibration:
    """Predicted against observed change, of the days that `rows` cover."""
    from recrawl.model import Purpose
    from recrawl.report import calibrate, sample_of

    prior, store = group_prior(project), project.store
    drawn, bought = (
        sample_of(store.entries(_newest(rows, purpose), purpose=purpose), prior.beliefs)
        for purpose in (Purpose.VERIFICATION, Purpose.BEST_BUY)
    )
    return calibrate(drawn, bought, project.settings.page_types)


def poisson_fit(project: Project, since: float) -> list[Dispersion]:
    """Whether changes come one by one, by page type."""
    from recrawl.report import dispersion, pages_to_ask

    store = project.store
    asked = pages_to_ask(store.changes(since))
    visits = ((kind, store.history(host, key, limit=HISTORY)) for kind, host, key in asked)
    return dispersion(
        ((kind, [e for e in found if e.t >= since]) for kind, found in visits),
        project.settings.page_types,
    )


def reserve_account(project: Project, rows: Sequence[Rollup]) -> list[Reserve]:
    """What the reserves cost and found, of the days that `rows` cover."""
    from recrawl.model import Purpose
    from recrawl.report import count_returns, reserves

    budget = project.settings.budget
    shares = {
        Purpose.DISCOVERY: budget.discovery,
        Purpose.REESTIMATION: budget.reestimation,
        Purpose.VERIFICATION: budget.verification,
    }
    back = Purpose.REESTIMATION  # no other purpose visits pages that were given up
    entries = project.store.entries(_newest(rows, back), purpose=back)
    return reserves(rows, shares, {back: count_returns(entries)})


def _newest(rows: Sequence[Rollup], purpose: Purpose) -> float:
    """Since when that purpose has at most MOST_READINGS visits; at least the newest day."""
    from recrawl.units import DAY

    by_day: dict[int, int] = {}
    for row in rows:
        if row.purpose is purpose:
            by_day[row.day] = by_day.get(row.day, 0) + row.n
    first, n = max(by_day, default=0), 0
    for day in sorted(by_day, reverse=True):
        n += by_day[day]
        if n > MOST_READINGS:
            break
        first = day
    return first * DAY


def as_dict(facts: dict[str, Any]) -> dict[str, Any]:
    """The three sections as plain values."""
    return {
        "reserves": [r.as_dict() for r in facts["reserves"]],
        "calibration": facts["calibration"].as_dict(),
        "poisson_fit": [d.as_dict() for d in facts["poisson_fit"]],
    }
