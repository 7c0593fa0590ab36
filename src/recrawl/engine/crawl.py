"""The crawl's state in RAM, shared by the use cases: hosts, pages, queues, beliefs, the window."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from recrawl.engine.mirror import Mirror
from recrawl.engine.project import Project
from recrawl.frontier.politeness import ready_at
from recrawl.frontier.queues import DISCOVERY, PLANNED, HostQueues
from recrawl.frontier.robots import Robots
from recrawl.learn.prior import SPREAD_VALIDATORS, GroupPrior
from recrawl.model import Host, Page, Purpose, Table, Visit
from recrawl.plan.budget import Account
from recrawl.plan.charges import Charges
from recrawl.plan.sizes import SizeModel
from recrawl.plan.tariff import Meter, Tariff
from recrawl.plan.view import KeepsInterval
from recrawl.units import Unit

QUEUED_PER_HOST = 5_000  # new pages held in RAM a host; the rest wait in the store
RESERVED = (Purpose.VERIFICATION, Purpose.REESTIMATION)
ROBOTS_CACHE = 4_096  # parsed robots.txt files held


@dataclass(slots=True)
class Planned:
    """A page with a reason to visit it, waiting in its host's queue."""

    page: Page
    purpose: Purpose
    tau: float = 0.0
    predicted: float = 0.0
    gain: float = 0.0
    price: float = 0.0
    score: float = 0.0
    expected: float = 0.0  # of the window's unit, what the budget is likely to be debited
    conditional: bool = True


def lane_of(item: Planned) -> int:
    """The lane of its host's queue that an item stands in."""
    return DISCOVERY if item.purpose is Purpose.DISCOVERY else PLANNED


def rank_of(item: Planned) -> float:
    """What an item is ordered by in its lane; higher first.

    Reserves go first: where a window runs short, what is served last is dropped, and the random
    sample would lose the very pages that score low, overdue pages would wait on.
    """
    if lane_of(item) == DISCOVERY:
        return float(item.page.score)
    return math.inf if item.purpose in RESERVED else item.score


@dataclass(slots=True)
class RobotsCheck:
    """A robots.txt to be read before anything else of its host; `url` differs after redirects."""

    url: str
    hops: int = 0


@dataclass(slots=True)
class Flight:
    """A visit under way."""

    visit: Visit
    item: Planned | RobotsCheck
    pause: float = 0.0  # seconds that its host is left alone after it


@dataclass(slots=True)
class Window:
    """One plan's life. `opened` bounds what counts as visited in it."""

    opened: float
    ends: float
    account: Account
    bar: float = 0.0  # lambda: the score of the last visit bought
    bars: dict[Unit, float] = field(default_factory=dict)  # the same in each cap's unit
    cap: float = math.inf  # the body cap that was affordable last
    promised: float = 0.0  # expected spend of planned visits not yet served
    one_pass: bool = False
    planned: bool = False
    again_at: float = math.inf  # when the first page that was put off may be asked again
    served: int = 0
    unaffordable: int = 0  # put aside: more than what is left could be needed
    gone: dict[int, int] = field(default_factory=dict)  # host -> 404s answered in this window
    answered: dict[int, int] = field(default_factory=dict)


class Crawl:
    """Everything the engine holds. Rebuilt from the store at every start."""

    def __init__(
        self,
        project: Project,
        hosts: Iterable[Host],
        hot: Table,
        *,
        first_lease: int,
        prior: GroupPrior | None = None,
        validators: GroupPrior | None = None,
        sizes: SizeModel | None = None,
        charges: dict[str, Charges] | None = None,
    ) -> None:
        self.project = project
        self.mirror = Mirror(hot)
        self.hosts = {h.host_id: h for h in hosts}
        self.by_origin = {h.origin: h for h in self.hosts.values()}
        self.queues: HostQueues[Planned | RobotsCheck] = HostQueues(
            project.order, project.pace.concurrency
        )
        self.flights: dict[int, Flight] = {}
        self.staged: dict[tuple[int, int], Planned] = {}  # planned, their rows not loaded yet
        # Asked once: whether an object meets a protocol takes longer than the rest of learning.
        self.keeper = project.policy if isinstance(project.policy, KeepsInterval) else None
        self.prior = prior or GroupPrior()
        self.validators = validators or GroupPrior(spread=SPREAD_VALIDATORS)
        self.sizes = sizes or SizeModel()
        self.charges = charges or {}  # what vendors told, by the tariff's name
        self.window: Window | None = None
        self.next_lease = first_lease
        self.href_cache: set[str] = set()
        self.seed_places: set[tuple[str, int]] = set()  # host and port that a seed names
        self.overflowed: set[int] = set()  # hosts whose new pages partly wait in the store
        self.robots_booked: dict[int, float] = {}  # when each host's robots.txt was last booked
        self._meters: dict[str, Meter] = {}
        self._robots: OrderedDict[int, Robots] = OrderedDict()
        for host in self.hosts.values():
            self._register(host)

    def add_host(self, origin: str, now: float) -> Host:
        """A host seen for the first time."""
        host = Host(max(self.hosts, default=0) + 1, origin, next_ok=now)
        self.hosts[host.host_id] = host
        self.by_origin[origin] = host
        self._register(host)
        return host

    def _register(self, host: Host) -> None:
        host.n_pages = self.mirror.seen.count(host.host_id)
        self.queues.add_host(host.host_id, hostname(host.origin), ready_at(host))

    def enqueue_new(self, page: Page, *, seed: bool = False) -> None:
        """Queue a page just admitted, unless its host's share of RAM is full: the store has it."""
        if self.window is None:
            return
        host_id = page.host_id
        if host_id in self.overflowed:
            return
        if self.queues.sizes(host_id)[DISCOVERY] >= QUEUED_PER_HOST and not seed:
            self.overflowed.add(host_id)
            return
        self.queues.push(
            host_id, Planned(page, Purpose.DISCOVERY), lane=DISCOVERY, rank=page.score
        )

    def robots_of(self, host: Host) -> Robots:
        """The parsed robots.txt last read from a host."""
        found = self._robots.get(host.host_id)
        if found is None:
            found = Robots(host.robots_body, self.project.agent, origin=host.origin)
            self._robots[host.host_id] = found
            if len(self._robots) > ROBOTS_CACHE:
                self._robots.popitem(last=False)
        return found

    def meter_of(self, route: str) -> Meter:
        """What bills a route; it carries fractions of a micro-USD from visit to visit."""
        meter = self._meters.get(route)
        if meter is None:
            meter = self._meters[route] = Meter(self.project.tariff_of(route))
        return meter

    def most_told(self, tariff: Tariff) -> int:
        """The largest charge that a tariff's vendor told so far, microcredits."""
        charges = self.charges.get(tariff.name) if tariff.charge_header else None
        return charges.told.most if charges else 0

    def forget_robots(self, host: Host) -> None:
        """Its robots.txt was read anew."""
        self._robots.pop(host.host_id, None)

    @property
    def resume_at(self) -> float:
        """When the present window is over; a pass has no end of its own."""
        return self.window.ends if self.window is not None else 0.0

    def lease(self) -> int:
        """A number for a visit, never given before."""
        self.next_lease += 1
        return self.next_lease


def hostname(origin: str) -> str:
    """'http://a.example:8080' -> 'a.example'; IPv6 keeps its brackets.

    >>> hostname("http://[::1]:8080"), hostname("https://a.example")
    ('[::1]', 'a.example')
    """
    rest = origin.partition("://")[2]
    return rest[: rest.index("]") + 1] if rest.startswith("[") else rest.partition(":")[0]
