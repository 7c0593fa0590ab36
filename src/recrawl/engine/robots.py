"""robots.txt in the engine: read before anything else of a host, priced like any visit."""

from __future__ import annotations

from recrawl.engine.crawl import Crawl, Flight, RobotsCheck
from recrawl.frontier.politeness import ready_at
from recrawl.frontier.queues import URGENT
from recrawl.frontier.robots import Access, access, next_hop, robots_due, settle_robots
from recrawl.model import Host, Kind, Observation, Outcome, Page, Refused, State, Verdict, Writes

UNREADABLE = "robots.txt can't be read"


def gate(crawl: Crawl, host: Host, now: float) -> Access:
    """What robots.txt lets us do with a host's pages now; ASK puts the question in its queue.

    A host that can't be asked is held in its queue until it may be asked again.
    """
    if not crawl.project.obey_robots:
        return Access.OPEN
    answer = access(host, now)
    if answer is Access.ASK or robots_due(host, now) or _due_in_window(crawl, host):
        crawl.queues.push(host.host_id, RobotsCheck(host.origin + "/robots.txt"), lane=URGENT)
        crawl.queues.close_gate(host.host_id)
        return Access.ASK
    if answer is Access.CLOSED:
        crawl.queues.hold(host.host_id, host.robots_until)
    return answer


def _due_in_window(crawl: Crawl, host: Host) -> bool:
    """Rules that expire within the window are read anew at its start, once.

    Later there may be no money left for that, and the host's pages would have to wait.
    """
    window = crawl.window
    if window is None or window.one_pass or host.robots_status == "unreachable":
        return False
    return host.robots_at < window.opened and host.robots_until <= window.ends


def refuse_by_robots(crawl: Crawl, host: Host, page: Page, now: float, writes: Writes) -> None:
    """Put a page aside that robots.txt forbids: remembered, counted, looked at again rarely."""
    page.state = State.REFUSED
    page.retry_at = now + crawl.project.timing.recheck
    writes.pages[page.host_id, page.key] = page
    writes.refused[host.origin, Refused.ROBOTS.value] += 1
    crawl.mirror.put(page)


def record_robots(
    crawl: Crawl, host: Host, flight: Flight, outcome: Outcome, now: float
) -> Observation:
    """Take in what a host's robots.txt said; redirects are followed as visits of their own."""
    check = flight.item
    assert isinstance(check, RobotsCheck)
    if outcome.kind is Kind.REDIRECT:
        target = next_hop(  # a seed's leave to be private is for its own host
            check.url, outcome.location, check.hops, private_ok=crawl.project.private_ok
        )
        if target is not None:
            crawl.queues.push(host.host_id, RobotsCheck(target, check.hops + 1), lane=URGENT)
            return Observation(Verdict.ROBOTS, target=target, evidence=("redirect",))
    said = settle_robots(host, outcome, now, agent=crawl.project.agent)
    crawl.forget_robots(host)
    crawl.queues.open_gate(host.host_id)
    if access(host, now) is Access.CLOSED:
        host.note = f"{UNREADABLE} ({outcome.kind}): nothing is fetched for now"
        crawl.queues.hold(host.host_id, max(host.robots_until, ready_at(host)))
        return Observation(Verdict.FAILED, evidence=said)
    if host.note.startswith(UNREADABLE):
        host.note = ""
    return Observation(Verdict.ROBOTS, evidence=said)
