"""`report`: what was spent, on what, what it bought, and what needs a person."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from recrawl.cli.options import DEFAULT_CONFIG, Config, Json, Since
from recrawl.cli.output import emit_json
from recrawl.cli.project import Project, moment, opened, when

if TYPE_CHECKING:
    from recrawl.engine.unaffordable import Unaffordable
    from recrawl.ports import Rollup
    from recrawl.report import Alert, Freshness, Pace
    from recrawl.report.reconcile import ToldCharges


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(report)


def report(since: Since = "", config: Config = DEFAULT_CONFIG, as_json: Json = False) -> None:
    """Show where the budget went and what it bought."""
    from recrawl.cli.report_view import show

    now = time.time()
    with opened(config) as project:
        facts = gather(project, moment(since, now), now)
    if as_json:
        emit_json(as_dict(facts))
    else:
        show(facts)


def gather(project: Project, since: float, now: float) -> dict[str, Any]:
    """The figures of a report, as the objects of `recrawl.report`. Whole days of UTC."""
    from recrawl import report as r
    from recrawl.cli import model_check
    from recrawl.report.reconcile import told_alerts
    from recrawl.units import DAY

    store, origins, types = project.store, project.origins, project.settings.page_types
    rows = store.rollup(int(since // DAY))
    refused = store.refused()
    beyond = beyond_caps(project, now)
    told = charges(project, since // DAY * DAY)
    return {
        "project": project.settings.project.name,
        "since": since,
        "now": now,
        "total": r.total(rows),
        "by_site_and_type": r.by_site_and_type(rows, origins, types),
        "by_purpose": r.by_purpose(rows),
        "reserves": model_check.reserve_account(project, rows),
        "calibration": model_check.calibration(project, rows),
        "poisson_fit": model_check.poisson_fit(project, since),
        "freshness": freshness(project, now),
        "states": r.by_state(store.state_counts()),
        "discovery": r.discovery(rows),
        "discovery_by_day": r.discovery_by_day(rows),
        "status_by_host": r.status_by_host(rows, origins),
        "refused": r.refused_by_reason(refused),
        "limits_reached": r.limits_reached(refused),
        "charges": told,
        "unaffordable": beyond,
        "alerts": [
            *alerts(project, rows, now),
            *told_alerts(told),
            *r.cap_alerts(beyond.pages, [(url, str(need)) for url, need in beyond.named]),
        ],
    }


def as_dict(facts: dict[str, Any]) -> dict[str, Any]:
    """The report as plain values: ISO times, amounts in their smallest parts."""
    from recrawl.cli import model_check

    return {
        "project": facts["project"],
        "since": when(facts["since"]),
        "now": when(facts["now"]),
        "total": facts["total"].as_dict(),
        "by_site_and_type": [
            {"site": site, "type": kind, **tally.as_dict()}
            for (site, kind), tally in facts["by_site_and_type"].items()
        ],
        "by_purpose": {p.word: tally.as_dict() for p, tally in facts["by_purpose"].items()},
        **model_check.as_dict(facts),
        "freshness": facts["freshness"].as_dict(),
        "states": {state.word: n for state, n in facts["states"].items()},
        "discovery": facts["discovery"].as_dict(),
        "discovery_by_day": [day.as_dict() for day in facts["discovery_by_day"]],
        "status_by_host": facts["status_by_host"],
        "refused": facts["refused"],
        "limits_reached": [
            {"limit": key, "host": origin, "refused": n}
            for key, origin, n in facts["limits_reached"]
        ],
        "charges": {name: t.as_dict() for name, t in facts["charges"].items()},
        "unaffordable": facts["unaffordable"].as_dict(),
        "alerts": [alert.as_dict() for alert in facts["alerts"]],
    }


def freshness(project: Project, now: float) -> Freshness:
    """Expected freshness of the pages that are live or not read yet."""
    import numpy as np

    from recrawl.cli.model_check import group_prior
    from recrawl.model import State
    from recrawl.report import expected_freshness

    hot = project.store.scan_hot()
    hot = hot[np.isin(hot["state"], (State.NEW, State.LIVE))]
    a, b = group_prior(project).complete(hot["a"], hot["b"], hot["host_id"], hot["page_type"])
    return expected_freshness(a, b, hot["value"], hot["last"], now)


def alerts(project: Project, rows: list[Rollup], now: float) -> list[Alert]:
    """All alerts of a project, the budget's first."""
    from recrawl import report as r
    from recrawl.config.build import tariff_named
    from recrawl.engine.boot import TOLD
    from recrawl.plan.charges import told_of

    hosts = list(project.hosts.values())
    tariffs = {t.name: tariff_named(project.settings, t.name) for t in project.settings.tariffs}
    return [
        *r.budget_alerts(paces(project, now)),
        *r.charge_alerts(told_of(project.store.meta().get(TOLD)), tariffs),
        *r.host_alerts(hosts, now),
        *r.blocked_alerts(r.recent(rows, now), project.origins),
        *r.limit_alerts(project.store.refused()),
        *r.contact_alerts(project.settings.project.contact, hosts),
    ]


def charges(project: Project, since: float) -> dict[str, ToldCharges]:
    """What vendors told beside their lists, by tariff; nothing is read where none tells."""
    from recrawl.config.build import tariffs_of
    from recrawl.report.reconcile import told_charges

    tariffs = {r: t for r, t in tariffs_of(project.settings).items() if t.charge_header}
    if not tariffs:
        return {}
    return told_charges(project.store.entries(since), tariffs, project.mode_of)


def beyond_caps(project: Project, now: float) -> Unaffordable:
    """Pages that no cap can ever pay for."""
    from recrawl.cli.session import make_engine
    from recrawl.config.build import project_of
    from recrawl.engine.unaffordable import Unaffordable, unaffordable

    rules = project_of(project.settings)
    if not (rules.budget.caps or rules.totals):
        return Unaffordable()
    engine = make_engine(rules, project.store, now)
    return unaffordable(engine.crawl, project.store.load_pages)


def paces(project: Project, now: float) -> list[Pace]:
    """How each cap of the budget is used up in its present period."""
    from recrawl.plan.budget import Cap as PeriodCap
    from recrawl.report import Pace

    found = []
    reset_day = project.settings.budget.reset_day
    for period, caps in project.settings.budget.by_period().items():
        if period == "run":
            continue  # a run's own cap says nothing between runs
        for cap in caps:
            dated = PeriodCap(cap.unit, cap.amount, period, reset_day)  # type: ignore[arg-type]
            start, end = dated.start(now, now), dated.end(now)
            spent = project.store.spent(start, end).get(cap.unit)
            found.append(
                Pace(f"budget.per_{period}", cap.unit, cap.amount, spent, start, now, end)
            )
    return found
