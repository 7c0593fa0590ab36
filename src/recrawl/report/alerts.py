"""What needs a person: one sentence each, and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from ipaddress import ip_address

from recrawl.model import Host, Verdict
from recrawl.plan.budget import exhaustion
from recrawl.plan.charges import Told
from recrawl.plan.tariff import Tariff
from recrawl.ports import Rollup
from recrawl.report.coverage import limits_reached
from recrawl.report.outcomes import site_name
from recrawl.units import DAY, MICRO, Unit, format_amount, format_duration, iso

UNREACHABLE_AFTER = 3  # faults of a host in a row
BLOCKED_SHARE = 0.2  # of a host's visits
BLOCKED_LEAST = 10  # visits that were blocked, before a share means anything


@dataclass(frozen=True, slots=True)
class Alert:
    """What is wrong with `subject`, and what to do about it."""

    kind: str  # one word: budget, unreachable, robots, throttled, charge, drift, unaffordable, ...
    subject: str
    sentence: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.sentence} {self.next_step}"

    def as_dict(self) -> dict[str, str]:
        """For --json."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Pace:
    """`spent` of `cap` (smallest parts of `unit`) by `now`, in a period from `start` to `end`."""

    key: str  # of the project file: 'budget.per_month'
    unit: Unit
    cap: int
    spent: int
    start: float
    now: float
    end: float

    @property
    def exhausted_at(self) -> float | None:
        """When the cap is used up at the pace so far; None = not before the period ends.

        In its first hundredth a period says nothing, unless all is spent already.
        """
        early = self.now - self.start < 0.01 * (self.end - self.start)
        if early and self.spent < self.cap:
            return None
        at = exhaustion(self.now, self.start, self.spent, self.cap)
        return at if at < self.end else None


def budget_alerts(paces: Iterable[Pace]) -> Iterator[Alert]:
    """Caps that are used up, or will be before their period ends."""
    for pace in paces:
        at = pace.exhausted_at
        if at is None:
            continue
        cap = format_amount(pace.unit, pace.cap)
        if pace.spent >= pace.cap:
            what = f"all of {cap} is spent; nothing more is bought before {iso(pace.end)}."
        else:
            what = (
                f"{format_amount(pace.unit, pace.spent)} of {cap} is spent; at this pace it is "
                f"used up at {iso(at)}, {format_duration(pace.end - at)} too early."
            )
        yield Alert("budget", pace.key, what, f"Raise {pace.key}, or crawl fewer pages.")


def host_alerts(hosts: Iterable[Host], now: float) -> Iterator[Alert]:
    """Hosts that don't answer, throttle, or hide their robots.txt."""
    for host in hosts:
        if host.fails >= UNREACHABLE_AFTER:
            yield Alert(
                "unreachable",
                host.origin,
                f"has failed {host.fails} times in a row; next try at "
                f"{iso(max(host.next_ok, host.throttled_until, now))}.",
                f"See why: recrawl ledger --site {_bare(host.origin)}",
            )
        elif host.throttled_until > now:
            yield Alert(
                "throttled",
                host.origin,
                f"asks us to stay away until {iso(host.throttled_until)}.",
                "Raise politeness.delay if this repeats.",
            )
        if host.robots_status == "unreachable":
            until = f" until {iso(host.robots_until)}" if host.robots_until > now else ""
            yield Alert(
                "robots",
                host.origin,
                f"its robots.txt can't be read, so nothing is fetched there{until} (RFC 9309).",
                f"Open {host.origin}/robots.txt and see what it answers.",
            )


def charge_alerts(told: Mapping[str, Told], tariffs: Mapping[str, Tariff]) -> Iterator[Alert]:
    """Tariffs whose vendor took more for a visit than was promised, until charge_max covers it."""
    for name, t in told.items():
        tariff = tariffs.get(name)
        if not t.over or tariff is None or tariff.charge_max * MICRO >= t.most:
            continue
        took, kept, most = (
            format_amount(Unit.CREDITS, n) for n in (t.charged, t.promised, t.most)
        )
        yield Alert(
            "charge",
            f"tariff.{name}",
            f"the vendor took {took} for a visit promised at {kept} ({t.over:,} such "
            f"{'visit' if t.over == 1 else 'visits'}, the last at {iso(t.at)}): a cap can be "
            "exceeded.",
            f"Write charge_max = {t.most / MICRO:g} ({most}) or more there.",
        )


def cap_alerts(pages: int, named: Iterable[tuple[str, str]]) -> Iterator[Alert]:
    """Pages that no cap can ever pay for. `named`: some of them, and what each needs."""
    if not pages:
        return
    first = "; ".join(f"{url} {need}" for url, need in named)
    yield Alert(
        "unaffordable",
        f"{pages:,} {'page' if pages == 1 else 'pages'}",
        f"can't be visited within the budget: {first}.",
        "Raise the cap, lower limits.body, or leave pages out with urls.exclude.",
    )


def limit_alerts(refused: Iterable[tuple[str, str, int]]) -> Iterator[Alert]:
    """Limits on entry that turned pages away."""
    for key, origin, n in limits_reached(refused):
        yield Alert(
            "limit",
            origin or key,
            f"{key} is reached: {n:,} addresses were turned away.",
            f"Raise {key}, or leave pages out with urls.exclude.",
        )


def blocked_alerts(rows: Iterable[Rollup], origins: Mapping[int, str]) -> Iterator[Alert]:
    """Hosts that answer many visits with a block page or an error in disguise."""
    visits: dict[int, int] = {}
    blocked: dict[int, int] = {}
    for row in rows:
        visits[row.host_id] = visits.get(row.host_id, 0) + row.n
        if row.verdict in (Verdict.BLOCKED, Verdict.SOFT_ERROR):
            blocked[row.host_id] = blocked.get(row.host_id, 0) + row.n
    for host_id, n in sorted(blocked.items()):
        share = n / visits[host_id]
        if n >= BLOCKED_LEAST and share >= BLOCKED_SHARE:
            yield Alert(
                "blocked",
                site_name(host_id, origins),
                f"{share:.0%} of its visits met a block page or a soft error.",
                "Slow down (politeness.delay), or ask the site for access.",
            )


def contact_alerts(contact: str, hosts: Iterable[Host]) -> Iterator[Alert]:
    """No contact, though hosts beyond this machine are crawled."""
    away = [h.origin for h in hosts if not _is_local(h.origin)]
    if not contact and away:
        yield Alert(
            "contact",
            "project.contact",
            f"is missing, yet {away[0]} is crawled; its owner can't reach you.",
            "Write a mail address or the URL of a page about your crawler.",
        )


def _bare(origin: str) -> str:
    return origin.partition("://")[2]


def _is_local(origin: str) -> bool:
    name = _bare(origin)
    name = name[1 : name.index("]")] if name.startswith("[") else name.partition(":")[0]
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def recent(rows: Iterable[Rollup], now: float, days: int = 7) -> list[Rollup]:
    """The lines of the last `days` days: old trouble is no alert."""
    first = int(now // DAY) - days + 1
    return [row for row in rows if row.day >= first]
