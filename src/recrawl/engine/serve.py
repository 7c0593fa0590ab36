"""next(now): the visit to make now, or when to ask again. Never blocks, never overspends."""

from __future__ import annotations

import math

from recrawl.engine.crawl import Crawl, Flight, Planned, RobotsCheck, lane_of, rank_of
from recrawl.engine.purse import window_budget
from recrawl.engine.request import affordable, build_request, mode_of, worst_cost
from recrawl.engine.robots import gate, refuse_by_robots
from recrawl.engine.scheme import units_of
from recrawl.frontier.politeness import ready_at, sent
from recrawl.frontier.queues import URGENT
from recrawl.frontier.robots import Access
from recrawl.model import (
    Host,
    Purpose,
    Request,
    Reservation,
    Visit,
    Wait,
    Writes,
)
from recrawl.units import Spend

ONE = Spend(bytes=1, micro_usd=1, microcredits=1, fetches=1, millis=1)  # less than any visit
LOOKS = 10_000  # items put aside in one call before the driver gets a breath


def next_visit(crawl: Crawl, now: float, u: float) -> tuple[Visit | Wait, Writes]:
    """The next visit whose host may be asked now and whose worst case the budget holds.

    `u`: a random number of [0, 1), for the jitter of the delay. The caller commits the writes
    (the reservation among them) before it sends the request.
    """
    writes = Writes()
    window = crawl.window
    if window is None or now >= window.ends:
        return Wait(math.inf, "the window is over"), writes
    for _ in range(LOOKS):
        popped = crawl.queues.pop(now)
        if popped is None:
            until = crawl.queues.wait_until(now)
            over = until >= window.ends  # what can't be had in this window isn't waited for
            return Wait(math.inf if over else until, "no host is ready"), writes
        host_id, item = popped
        host = crawl.hosts[host_id]
        visit = _buy(crawl, host, item, now, writes)
        if isinstance(visit, Wait):
            return visit, writes
        if visit is None:
            skip(crawl, host)
            continue
        sent(host, now, crawl.project.pace, u)
        crawl.queues.sent(host_id, ready_at(host))
        crawl.flights[visit.lease] = Flight(visit, item, host.next_ok - now)
        window.served += 1
        writes.hosts[host_id] = host
        writes.reserved.append(
            Reservation(
                visit.lease, host_id, visit.key, now, visit.purpose, visit.reserved,
                item.page.page_type if isinstance(item, Planned) else 0, visit.request.route,
            )
        )  # fmt: skip
        return visit, writes
    return Wait(now, "still looking"), writes


def _buy(
    crawl: Crawl, host: Host, item: Planned | RobotsCheck, now: float, writes: Writes
) -> Visit | Wait | None:
    """The visit for one item; None where it is refused or put aside; Wait where money is short."""
    if isinstance(item, RobotsCheck):
        return _reserve(crawl, host, item)
    if not item.expected and not _room_for_new(crawl):
        return None  # the store has it; the next window prices it against everything else
    may = gate(crawl, host, now)
    if may in (Access.ASK, Access.CLOSED):
        crawl.queues.push(host.host_id, item, lane=lane_of(item), rank=rank_of(item))
        return None
    if may is Access.RULES and not crawl.robots_of(host).allows(item.page.path):
        refuse_by_robots(crawl, host, item.page, now, writes)
        _forgo(crawl, item)
        return None
    return _reserve(crawl, host, item)


def _room_for_new(crawl: Crawl) -> bool:
    """May a page found in this very window be read in it? Only with what the plan leaves."""
    window = crawl.window
    assert window is not None
    if window.one_pass:
        return True
    room = window_budget(window.account).get(units_of(crawl)[0], 0)
    return room - max(0.0, window.promised) > 0


def launched(crawl: Crawl, lease: int, now: float) -> None:
    """A visit's request goes out only now, its promise having been made durable: its host's delay
    counts from here.
    """
    flight = crawl.flights[lease]
    host = crawl.hosts[flight.visit.host_id]
    if now + flight.pause > host.next_ok:  # of several that go out together, each asks the same
        host.next_ok = now + flight.pause
        crawl.queues.set_ready(host.host_id, ready_at(host))


def skip(crawl: Crawl, host: Host) -> None:
    """A popped item isn't sent after all: its slot keeps the time it had."""
    crawl.queues.sent(host.host_id, ready_at(host))
    crawl.queues.release(host.host_id, ready_at(host))


def _reserve(crawl: Crawl, host: Host, item: Planned | RobotsCheck) -> Visit | Wait | None:
    """Promise the worst case of a visit out of the window's account, or say that it can't be."""
    window = crawl.window
    assert window is not None  # next_visit looked
    if not window.account.can_reserve(ONE):
        _put_back(crawl, host, item)
        return Wait(math.inf, "the budget of this window is spent")
    widest = build_request(crawl, host, item)
    tariff = crawl.project.tariff_of(widest.route)
    mode, most = mode_of(crawl, item), crawl.most_told(tariff)
    for request in affordable(crawl, host, widest, item):
        reserved = tariff.worst(worst_cost(request), mode, most)
        if window.account.can_reserve(reserved):
            window.account.reserve(reserved)
            window.cap = request.limits.body
            return _visit(crawl, host, item, request, reserved)
    if crawl.flights:  # what they don't use comes back to the account
        _put_back(crawl, host, item)
        return Wait(math.inf, "the budget of this window is promised to visits under way")
    window.unaffordable += 1
    if isinstance(item, Planned):  # bought: else this window's next plan would choose it again
        crawl.mirror.buy(item.page.host_id, item.page.key)
        _forgo(crawl, item)
    else:  # its pages can't be had without it
        crawl.queues.push(host.host_id, item, lane=URGENT)
        crawl.queues.hold(host.host_id, window.ends)
    return None


def _visit(
    crawl: Crawl, host: Host, item: Planned | RobotsCheck, request: Request, reserved: Spend
) -> Visit:
    window = crawl.window
    assert window is not None
    if isinstance(item, RobotsCheck):
        return Visit(
            crawl.lease(), host.host_id, 0, Purpose.ROBOTS, request, reserved, bar=window.bar
        )
    _forgo(crawl, item)
    page = item.page
    crawl.mirror.buy(page.host_id, page.key)
    return Visit(
        crawl.lease(), host.host_id, page.key, item.purpose, request, reserved, item.tau,
        item.predicted, item.gain, item.price, item.score, window.bar,
    )  # fmt: skip


def _forgo(crawl: Crawl, item: Planned) -> None:
    """What the plan set aside for a visit that doesn't wait any more is there for others."""
    if crawl.window is not None:
        crawl.window.promised -= item.expected


def _put_back(crawl: Crawl, host: Host, item: Planned | RobotsCheck) -> None:
    if isinstance(item, RobotsCheck):
        crawl.queues.push(host.host_id, item, lane=URGENT)
    else:
        crawl.queues.push(host.host_id, item, lane=lane_of(item), rank=rank_of(item))
    skip(crawl, host)
