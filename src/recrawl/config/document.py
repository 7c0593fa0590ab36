"""The shape of recrawl.toml: its sections, keys and defaults, each value checked alone.

What one key must know of another stands in `crosscheck`. Defaults are written as a user would
write them and checked like theirs. Every key's text is its description in the JSON schema and
in docs/config.md.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from recrawl.config import values as v
from recrawl.config.settings import Cap
from recrawl.model import Purpose
from recrawl.plan.policies import GOALS, policy_names
from recrawl.units import Unit

POLICIES = ("index", *(name for name in policy_names() if name not in GOALS))
ORDERS = ("fifo", "lifo", "priority")
PROFILES = ("safe", "default", "aggressive")
MODES = ("plain", "browser")
UNITS = {
    "bytes": Unit.BYTES,
    "credits": Unit.CREDITS,
    "fetches": Unit.FETCHES,
    "seconds": Unit.SECONDS,
}


class Section(BaseModel):
    """A table of the file. Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Project(Section):
    """Who crawls what, and why."""

    name: v.Text = "crawl"
    """What the project is called in reports."""
    contact: v.Contact | None = None
    """A mail address or a page about your crawler: sites see it in the User-Agent."""
    goal: Annotated[str, *v.words(*GOALS)] = "freshness"
    """What a visit is bought for: fresh copies, fair freshness, young errors, or every change."""
    policy: Annotated[str, *v.words(*POLICIES)] = "index"
    """'index' serves the goal; the others are what is used elsewhere, for comparison."""
    seeds: v.Seeds = ()
    """The URLs to begin with."""
    scope: v.Scope | None = None
    """Hosts whose pages are crawled; those of the seeds unless given."""
    allow_private: v.Flag = False
    """May links lead to private addresses (10.0.0.0/8, 127.0.0.1, ...)?"""
    order: Annotated[str, *v.words(*ORDERS)] = "fifo"
    """Order of the first pass."""
    user_agent: v.Text | None = None
    """Sent in place of 'recrawl/VERSION (+CONTACT)'."""
    honour_nofollow: v.Flag = True
    """Leave out links that the page marks nofollow; they are counted."""
    respect_robots: v.Flag = True
    """Read robots.txt first and obey it. Turn it off for your own sites only."""


class Reserves(Section):
    """Shares of each window that are kept for more than the best buys."""

    discovery: v.Share = 0.10
    """For pages never read."""
    reestimation: v.Share = 0.05
    """For pages past max_gap; a tenth of it for pages that were given up."""
    verification: v.Share = 0.03
    """For pages drawn at random, which keep the model honest."""


class Budget(Section):
    """What may be spent in each period, in one unit or several. Without any, a run is one pass."""

    per_run: v.Caps = ()
    """At most this in one run, however long it lasts."""
    per_hour: v.Caps = ()
    """At most this in an hour."""
    per_day: v.Caps = ()
    """At most this in a day (UTC)."""
    per_week: v.Caps = ()
    """At most this in a week (from Monday, UTC)."""
    per_month: v.Caps = ()
    """At most this in a month (UTC)."""
    reset_day: Annotated[int, *v.day_of_month()] = 1
    """The day on which a month begins, as your vendor's plan renews; 31 = the last day."""
    window: v.SomeTime = v.written("1 h")
    """How often a plan is made."""
    min_gap: v.Duration = v.written("10 min")
    """No page is visited again sooner."""
    max_gap: v.SomeTime = v.written("90 d")
    """No page waits longer."""
    reserves: Reserves = Field(default_factory=Reserves)


class Each(Section):
    """What one visit is billed, by mode."""

    plain: v.Number = 1.0
    """A plain visit, without a browser."""
    browser: v.Number | None = None
    """A visit of a [[site]] with mode = 'browser'."""


class Tariff(Section):
    """What a vendor bills. The tariff called 'default' is that of direct visits."""

    unit: Annotated[str, *v.words(*UNITS)] | None = None
    """What is counted."""
    price: v.Price | None = None
    """What so much of it costs. Without it, it is counted but has no price."""
    each: Each | None = None
    """How many credits one visit takes: {plain = 1, browser = 5}."""
    charge_header: v.Text = ""
    """The answer's header in which the vendor tells how many credits a visit took: what is booked,
    and what later visits to such pages are expected to cost."""
    charge_max: v.Number | None = None
    """The most credits that the vendor takes for one visit, reserved before each: caps hold under
    any charge up to it. Unless given, the largest charge told so far is reserved."""
    charged_on: v.Verdicts | None = None
    """Which verdicts are billed. Unless given: credits for all but blocked, soft_error and failed;
    bytes, fetches and seconds for every visit."""


class Route(Section):
    """A way to the web. 'direct' is always there."""

    proxy: v.Proxy | None = None
    """An HTTP or SOCKS proxy, without its password."""
    credentials_env: v.Variable | None = None
    """Name of the environment variable that holds 'user:password'."""
    tariff: v.Text | None = None
    """Name of the tariff that it is billed by."""
    browser_header: v.Header | None = None
    """The header that asks the vendor for a browser, as in 'X-Render: true'."""


class Limits(Section):
    """Where the crawl stops and says so. Caps of the project count over all runs."""

    depth: v.Natural = 6
    """Links from a seed."""
    per_host: v.Positive | None = None
    """Pages of one host."""
    pages: v.Positive | None = None
    """Pages in all."""
    bytes: Annotated[Cap, *v.cap(Unit.BYTES, "20 GB")] | None = None
    """Of the whole project, up and down."""
    money: Annotated[Cap, *v.cap(Unit.USD, "100 USD")] | None = None
    """Of the whole project."""
    credits: Annotated[Cap, *v.cap(Unit.CREDITS, "150000 credits")] | None = None
    """Of the whole project."""
    fetches: Annotated[Cap, *v.cap(Unit.FETCHES, "100000 fetches")] | None = None
    """Of the whole project, robots.txt included."""
    time: Annotated[Cap, *v.cap(Unit.SECONDS, "12 h")] | None = None
    """Of the whole project: the exchanges' durations added up."""
    url_length: v.Positive = 2048
    """Characters of an address."""
    body: v.Size = v.written("8 MB")
    """Of one answer, on the wire."""
    decoded: v.Size = v.written("32 MB")
    """Of one answer, unpacked."""
    connect_time: v.SomeTime = v.written("10 s")
    """Until the connection stands."""
    first_byte_time: v.SomeTime = v.written("20 s")
    """Until the answer begins."""
    total_time: v.SomeTime = v.written("60 s")
    """For the whole answer."""


class Politeness(Section):
    """How gently hosts are asked."""

    delay: v.Duration = v.written("1.5 s")
    """Between two requests to one host; a longer Crawl-delay is obeyed."""
    concurrency: v.Positive = 1
    """Requests to one host at once."""
    total_concurrency: v.Positive = 32
    """Requests at once in all."""
    jitter: v.Share = 0.1
    """Share of the delay that chance adds."""


class Tracking(Section):
    """Query parameters that only say where a visitor came from."""

    add: v.Parameters = ()
    """Dropped too: 'name', 'name@host', 'prefix_*'."""
    keep: v.Parameters = ()
    """Not dropped, though the list that comes with recrawl says so."""


class Urls(Section):
    """How addresses become pages, and which are left out."""

    profile: Annotated[str, *v.words(*PROFILES)] = "default"
    """How boldly addresses are merged (docs/decisions/0002-url-normalization.md)."""
    tracking: Tracking = Field(default_factory=Tracking)
    unsorted_hosts: v.Hosts = ()
    """Hosts on which the order of query parameters matters."""
    include: v.Patterns = ()
    """Only these are crawled: robots syntax, or param:name."""
    exclude: v.Patterns = ()
    """These are not: '/calendar/', '/*?print=', 'param:sort'."""


class Site(Section):
    """What some pages are, what they are worth, and how they are reached."""

    match: v.SiteMatch | None = None
    """Host and path of the pages; the first entry that meets a page speaks for it."""
    type: v.Text | None = None
    """The name of their page type, for reports and shared beliefs."""
    value: v.Worth | None = None
    """What their freshness is worth: critical 4, high 2, normal 1, low 0.5, or a number."""
    fields: v.Selectors = ()
    """What a record is: {price = 'jsonld:offers.price', name = 'css:h1'}."""
    route: v.Text | None = None
    """Name of the route that visits to them take."""
    routes: dict[Annotated[str, *v.words(*(p.word for p in Purpose))], v.Text] = {}
    """Route by purpose, stronger than `route`: {robots = 'direct'}."""
    between: v.Span | None = None
    """No sooner and no later than: ['10 min', '30 d']."""
    tariff: v.Text | None = None
    """Name of their tariff, where they are visited directly."""
    mode: Annotated[str, *v.words(*MODES)] = "plain"
    """How they are fetched: 'browser' only by a route whose vendor renders pages."""


class Backoff(Section):
    """Options of the policy 'backoff': each page at an interval of its own."""

    start: v.SomeTime = v.written("7 d")
    """The interval of a page that has none yet."""
    longer: v.Number | None = None
    """Multiplies it after a visit in vain; unless given, ten of them double it."""
    shorter: v.Number | None = None
    """Multiplies it after a change; unless given, three of them halve it."""
    floor: v.SomeTime = v.written("1 d")
    """No interval is shorter."""
    ceiling: v.SomeTime = v.written("365 d")
    """No interval is longer."""


class Classes(Section):
    """Options of the policy 'classes': a few intervals, by how often pages change."""

    intervals: v.Times = v.written(["1 h", "1 d", "7 d", "30 d"])
    """Between the visits of a class; a page is of the one nearest to its time between changes."""


class Policy(Section):
    """Options of policies, for `project.policy` and for `recrawl simulate`."""

    backoff: Backoff = Field(default_factory=Backoff)
    classes: Classes = Field(default_factory=Classes)


class Store(Section):
    """Where the crawl is kept."""

    path: v.Text = "recrawl.db"
    """Beside this file unless absolute."""


class Document(Section):
    """recrawl.toml"""

    project: Project = Field(default_factory=Project)
    budget: Budget = Field(default_factory=Budget)
    tariff: dict[str, Tariff] = {}
    route: dict[str, Route] = {}
    limits: Limits = Field(default_factory=Limits)
    politeness: Politeness = Field(default_factory=Politeness)
    urls: Urls = Field(default_factory=Urls)
    site: list[Site] = []
    policy: Policy = Field(default_factory=Policy)
    store: Store = Field(default_factory=Store)
