"""What a visit cost -> the account, the ledger's line, and what the vendor's charge teaches."""

from __future__ import annotations

from dataclasses import replace

from recrawl.engine.admit import Admitted
from recrawl.engine.boot import TOLD
from recrawl.engine.crawl import Crawl, Flight, Planned, RobotsCheck
from recrawl.engine.request import mode_of
from recrawl.model import Entry, Observation, Outcome, Verdict, Visit, WireCost, Writes
from recrawl.plan.charges import FAILED, FULL, NOT_MODIFIED, Charges, told_text
from recrawl.units import Spend, Unit, format_amount


def settle(
    crawl: Crawl,
    flight: Flight,
    outcome: Outcome,
    observation: Observation,
    admitted: Admitted,
    now: float,
    writes: Writes,
) -> None:
    """Settle what was reserved with what it cost, and write the ledger's line."""
    visit = flight.visit
    meter = crawl.meter_of(visit.request.route)
    header = meter.tariff.charge_header
    cost = meter.tariff.told(outcome.cost, outcome.header(header)) if header else outcome.cost
    spend = meter.spend(cost, observation.verdict, mode_of(crawl, flight.item))
    if crawl.window is not None:
        crawl.window.account.settle(visit.reserved, spend)
    page_type = flight.item.page.page_type if isinstance(flight.item, Planned) else 0
    evidence = list(observation.evidence)
    if cost.microcredits is not None and meter.tariff.unit is Unit.CREDITS:
        evidence += _hear(crawl, meter.tariff.name, flight, observation, cost, now, writes)
    if isinstance(flight.item, RobotsCheck):
        now = _after_last(crawl, visit.host_id, now)
    told = replace(observation, evidence=tuple(evidence))
    writes.entries.append(entry(visit, outcome, told, cost, spend, page_type, admitted, now))


def _hear(
    crawl: Crawl,
    name: str,
    flight: Flight,
    observation: Observation,
    cost: WireCost,
    now: float,
    writes: Writes,
) -> list[str]:
    """Learn from a charge that the vendor told; a sentence where it is more than was promised.

    The largest charge bounds later promises, so it is written with the line that tells it.
    """
    charges = crawl.charges.setdefault(name, Charges())
    charge, visit = cost.microcredits or 0, flight.visit
    if isinstance(flight.item, Planned):
        page, verdict = flight.item.page, observation.verdict
        reading = FULL if verdict.is_reading else FAILED
        what = NOT_MODIFIED if verdict is Verdict.NOT_MODIFIED else reading
        charges.observe(what, page.host_id, page.page_type, charge)
    promised = visit.reserved.microcredits
    if charges.told.take(charge, promised, now):
        writes.meta[TOLD] = told_text(crawl.charges)
    if charge <= promised:
        return []
    took, kept = (format_amount(Unit.CREDITS, n) for n in (charge, promised))
    return [f"the vendor took {took}, more than the {kept} promised"]


def _after_last(crawl: Crawl, host_id: int, now: float) -> float:
    """The hops of one robots.txt may come within a millisecond (or while a made-up clock stands):
    each keeps a line of its own in the ledger.
    """
    t = max(now, crawl.robots_booked.get(host_id, 0.0) + 0.002)
    crawl.robots_booked[host_id] = t
    return t


def entry(
    visit: Visit,
    outcome: Outcome,
    observation: Observation,
    cost: WireCost,
    spend: Spend,
    page_type: int,
    admitted: Admitted,
    now: float,
) -> Entry:
    """One line of the ledger."""
    return Entry(
        t=now,
        host_id=visit.host_id,
        key=visit.key,
        purpose=visit.purpose,
        verdict=observation.verdict,
        page_type=page_type,
        status=outcome.status,
        kind=outcome.kind.value,
        conditional=visit.request.conditional,
        up=cost.up,
        down=cost.down,
        spend=spend,
        tau=visit.tau,
        predicted=visit.predicted,
        gain=visit.gain,
        price=visit.price,
        score=visit.score,
        bar=visit.bar,
        source=cost.source,
        route=visit.request.route,
        discovered=admitted.new,
        sighted=admitted.sighted,
        evidence="; ".join(observation.evidence),
    )
