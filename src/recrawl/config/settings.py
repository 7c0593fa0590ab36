"""What the project file says, as plain values in the units of the core: bytes, seconds, micro-USD.

No rule stands here: `document` checks the file, `convert` fills this, the driver turns it into
an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recrawl.model import Purpose, Verdict
from recrawl.units import Unit


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `amount` (in the smallest part of `unit`)."""

    unit: Unit
    amount: int


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """Who crawls what, and why."""

    name: str
    contact: str  # '' only where every seed is on this machine
    goal: str  # a name in plan.policies.GOALS
    policy: str  # index (the goal's own) or a name in plan.policies
    seeds: tuple[str, ...]
    scope: tuple[str, ...]  # host names; those of the seeds unless configured
    allow_private: bool
    order: str  # fifo | lifo | priority
    user_agent: str
    honour_nofollow: bool
    respect_robots: bool


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Caps by period, and how a window is shared. Times in seconds, shares of 1."""

    per_run: tuple[Cap, ...]
    per_hour: tuple[Cap, ...]
    per_day: tuple[Cap, ...]
    per_week: tuple[Cap, ...]
    per_month: tuple[Cap, ...]
    reset_day: int  # on which a month begins
    window: float
    min_gap: float
    max_gap: float
    discovery: float
    reestimation: float
    verification: float

    def by_period(self) -> dict[str, tuple[Cap, ...]]:
        """The caps of each period that has any: 'run', 'hour', 'day', 'week', 'month'."""
        periods = {
            "run": self.per_run,
            "hour": self.per_hour,
            "day": self.per_day,
            "week": self.per_week,
            "month": self.per_month,
        }
        return {name: caps for name, caps in periods.items() if caps}


@dataclass(frozen=True, slots=True)
class TariffSettings:
    """What a vendor bills: `price_micro_usd` for `price_per` smallest parts of `unit`."""

    name: str
    unit: Unit
    price_micro_usd: int  # 0 = free, or paid for already
    price_per: int
    plain: int  # what one plain visit is billed, smallest parts; 0 = as measured
    browser: int  # what one by browser is billed, microcredits; 0 = it has no such charge
    charge_header: str  # lower-case, '' = none
    charge_max: int  # microcredits, 0 = not known
    charged_on: tuple[Verdict, ...]  # UNKNOWN always: what was in flight at a crash is booked


@dataclass(frozen=True, slots=True)
class RouteSettings:
    """A way to the web."""

    name: str
    proxy: str | None  # without credentials; None = straight
    credentials_env: str | None  # the variable that holds 'user:password'
    tariff: str | None
    browser_header: tuple[str, str] | None  # asks the vendor for a browser


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Caps of the whole project, and of one exchange. None = no limit."""

    depth: int
    per_host: int | None
    pages: int | None
    caps: tuple[Cap, ...]  # bytes, money, credits, fetches, time: at most one each
    url_length: int
    body: int
    decoded: int
    connect_time: float
    first_byte_time: float
    total_time: float


@dataclass(frozen=True, slots=True)
class PolitenessSettings:
    """How gently hosts are asked. `jitter` is a share of the delay."""

    delay: float
    concurrency: int  # of one host
    total_concurrency: int
    jitter: float


@dataclass(frozen=True, slots=True)
class UrlSettings:
    """How addresses become pages, and which are left out."""

    profile: str  # safe | default | aggressive
    tracking_add: tuple[str, ...]
    tracking_keep: tuple[str, ...]
    unsorted_hosts: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """One [[site]]: what its pages are, what they are worth, and how they are reached."""

    match: str
    type: str | None
    value: float | None
    fields: tuple[tuple[str, str], ...]  # (name, selector)
    route: str | None
    routes: tuple[tuple[Purpose, str], ...]  # (purpose, route), stronger than `route`
    tariff: str | None
    mode: str  # plain | browser
    min_gap: float | None
    max_gap: float | None


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Options of policies by name. Times in seconds; None = the policy's own."""

    backoff_start: float
    backoff_longer: float | None
    backoff_shorter: float | None
    backoff_floor: float
    backoff_ceiling: float
    class_intervals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """One project file."""

    path: Path
    project: ProjectSettings
    budget: BudgetSettings
    tariffs: tuple[TariffSettings, ...]
    routes: tuple[RouteSettings, ...]
    limits: LimitSettings
    politeness: PolitenessSettings
    urls: UrlSettings
    sites: tuple[SiteSettings, ...]
    page_types: tuple[str, ...]  # names by `Page.page_type`, as `urls.match` numbers them
    page_modes: tuple[str, ...]  # aligned with page_types: how they are fetched
    policies: PolicySettings
    store: Path

    @property
    def default_tariff(self) -> TariffSettings | None:
        """What straight visits cost unless a route or a site says otherwise.

        The tariff called 'default', or the only one where nothing names it.
        """
        by_name = {t.name: t for t in self.tariffs}
        named = {r.tariff for r in self.routes} | {s.tariff for s in self.sites}
        if len(self.tariffs) == 1 and not named - {None}:
            return self.tariffs[0]
        return by_name.get("default")
