"""An outcome -> what it says, what it cost, what is believed now, and where its links lead."""

from __future__ import annotations

from dataclasses import replace

from recrawl.engine.admit import Admitted, admit, admit_links
from recrawl.engine.crawl import Crawl, Flight, Planned, RobotsCheck
from recrawl.engine.learn import learn
from recrawl.engine.next_state import settle_state
from recrawl.engine.robots import record_robots
from recrawl.engine.scope import widen_scope
from recrawl.engine.settle import settle
from recrawl.frontier.politeness import answered, ready_at
from recrawl.model import (
    RETURNED,
    Change,
    Hint,
    Host,
    Observation,
    Outcome,
    Page,
    State,
    Verdict,
    Writes,
)
from recrawl.observe.base import advance
from recrawl.observe.verdict import observe


def record(crawl: Crawl, lease: int, outcome: Outcome, now: float) -> tuple[Observation, Writes]:
    """Take in the outcome of the visit with that lease. Raises KeyError for an unknown lease.

    Everything it changes is in the writes; the visit is acknowledged once they are committed.
    """
    flight = crawl.flights.pop(lease)
    host = crawl.hosts[flight.visit.host_id]
    writes = Writes(settled=[lease])
    writes.hosts[host.host_id] = host
    answered(host, outcome, now, crawl.project.pace)
    if isinstance(flight.item, RobotsCheck):
        observation = record_robots(crawl, host, flight, outcome, now)
        admitted = Admitted()
    else:
        observation, admitted = _record_page(crawl, host, flight, outcome, now, writes)
    settle(crawl, flight, outcome, observation, admitted, now, writes)
    crawl.queues.release(host.host_id, ready_at(host))
    return observation, writes


def _record_page(
    crawl: Crawl, host: Host, flight: Flight, outcome: Outcome, now: float, writes: Writes
) -> tuple[Observation, Admitted]:
    assert isinstance(flight.item, Planned)
    page, request = flight.item.page, flight.visit.request
    project = crawl.project
    observation = observe(
        outcome,
        page,
        request,
        specs=project.specs[page.page_type],
        honour_nofollow=project.honour_nofollow,
        agent=project.agent,
    )
    observation = _no_loop(crawl, host, page, observation)
    before = _held(page, observation)
    learn(crawl, host, page, flight.visit, observation, outcome, now)
    last, state = page.last, page.state
    advance(page, observation, outcome, now)
    deleted = settle_state(crawl, host, page, observation, outcome, now)
    if page.state is State.LIVE and state not in (State.NEW, State.LIVE):
        said = (*observation.evidence, f"{RETURNED}: it was {state.word}")
        observation = replace(observation, evidence=said)
    admitted = _follow(crawl, page, observation, now, writes)
    if observation.record is not None and not before:
        writes.records[page.host_id, page.key] = observation.record
    if deleted or observation.verdict in (Verdict.NEW, Verdict.CHANGED):
        after = observation.record.fields if observation.record is not None else None
        writes.changes.append(
            Change(
                now, last, page.host_id, page.key, page.page_type, observation.verdict, None, after
            )
        )
    writes.pages[page.host_id, page.key] = page
    crawl.mirror.put(page)
    return observation, admitted


def _held(page: Page, observation: Observation) -> bool:
    """True where the record that the store holds already says the same."""
    record = observation.record
    return record is None or observation.verdict is Verdict.SAME


def _no_loop(crawl: Crawl, host: Host, page: Page, observation: Observation) -> Observation:
    """A redirect to the page itself leads nowhere: a failure, with the attempts counted."""
    if observation.verdict is not Verdict.MOVED or observation.target is None:
        return observation
    found = crawl.project.normalizer.normalize(observation.target)
    same = getattr(found, "key", None) == page.key and getattr(found, "origin", "") == host.origin
    if not same:
        return observation
    return replace(
        observation,
        verdict=Verdict.FAILED,
        evidence=(*observation.evidence, "it redirects to itself"),
    )


def _follow(
    crawl: Crawl, page: Page, observation: Observation, now: float, writes: Writes
) -> Admitted:
    """Where the page leads: its links, or the target of its redirect, through the gate."""
    if observation.verdict is Verdict.MOVED and observation.target:
        if not page.depth:
            widen_scope(crawl, crawl.hosts[page.host_id].origin + page.path, observation.target)
        hint = Hint(observation.target, "redirect", depth=page.depth, hops=page.hops + 1)
        admitted, more = admit(crawl, [hint], now)
    elif observation.links is not None:
        admitted, more = admit_links(crawl, observation.links, now)
    else:
        return Admitted()
    writes.merge(more)
    return admitted
