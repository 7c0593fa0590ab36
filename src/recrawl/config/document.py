"""The shape of recrawl.toml: its sections, keys and defaults, each value checked alone.

What one key must know of another stands in `crosscheck`. Defaults are written as a user would
write them and checked like theirs.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from recrawl.config import fields as f
from recrawl.config import places
from recrawl.config.settings import Cap
from recrawl.model import Purpose, Verdict
from recrawl.units import Unit
from recrawl.urls.match import VALUE_TIERS

LIST = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
GOALS = ("freshness", "harmonic", "events")
POLICIES = ("index", "uniform")
ORDERS = ("fifo", "lifo", "priority")
PROFILES = ("safe", "default", "aggressive")
UNITS = {
    "bytes": Unit.BYTES,
    "credits": Unit.CREDITS,
    "fetches": Unit.FETCHES,
    "seconds": Unit.SECONDS,
}


def _json(schema: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema(schema, mode="validation")


def _written(default: str) -> Any:
    """A default as a user would write it, read as theirs would be."""
    return Field(default, validate_default=True)


def _words(*allowed: str) -> tuple[Any, ...]:
    return (PlainValidator(f.word(*allowed)), _json({"type": "string", "enum": list(allowed)}))


def _cap(unit: Unit, example: str) -> tuple[Any, ...]:
    schema = {"type": ["string", "integer"] if unit is Unit.FETCHES else "string"}
    return (PlainValidator(f.cap_in(unit, example)), _json({**schema, "examples": [example]}))


def _example(text: str) -> WithJsonSchema:
    return _json({"type": "string", "examples": [text]})


_NUMBER = {"type": "number"}
Text = Annotated[str, PlainValidator(f.text), _json({"type": "string"})]
Parameters = Annotated[tuple[str, ...], PlainValidator(places.tracking), _json(LIST)]
Flag = Annotated[bool, PlainValidator(f.flag), _json({"type": "boolean"})]
Number = Annotated[float, PlainValidator(f.number), _json(_NUMBER)]
Share = Annotated[
    float,
    PlainValidator(f.share),
    _json({"type": ["number", "string"], "examples": [0.1, "10 %"]}),
]
Natural = Annotated[int, PlainValidator(f.count(0)), _json({"type": "integer", "minimum": 0})]
Positive = Annotated[int, PlainValidator(f.count(1)), _json({"type": "integer", "minimum": 1})]
Size = Annotated[int, PlainValidator(f.size), _example("8 MB")]
Duration = Annotated[float, PlainValidator(f.duration), _example("1.5 s")]
SomeTime = Annotated[float, PlainValidator(f.some_time), _example("10 min")]
Caps = Annotated[
    tuple[Cap, ...], PlainValidator(f.caps), _json({**LIST, "examples": ["4 USD", "500 MB"]})
]
Hosts = Annotated[tuple[str, ...], PlainValidator(places.hosts), _json(LIST)]
Patterns = Annotated[tuple[str, ...], PlainValidator(places.patterns), _json(LIST)]


class Section(BaseModel):
    """A table of the file. Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Project(Section):
    """Who crawls what, and why."""

    name: Text = "crawl"
    contact: Annotated[str, PlainValidator(places.contact), _json({"type": "string"})] | None = (
        None
    )
    """A mail address or a page about your crawler: sites see it in the User-Agent."""
    goal: Annotated[str, *_words(*GOALS)] = "freshness"
    """What a visit is bought for: fresh copies, fair freshness, or every change."""
    policy: Annotated[str, *_words(*POLICIES)] = "index"
    """'uniform' visits all pages evenly, for comparison."""
    seeds: Annotated[tuple[str, ...], PlainValidator(places.seeds), _json(LIST)] = ()
    """The URLs to begin with."""
    scope: Annotated[tuple[str, ...], PlainValidator(places.scope), _json(LIST)] | None = None
    """Hosts whose pages are crawled; those of the seeds unless given."""
    allow_private: Flag = False
    """May links lead to private addresses (10.0.0.0/8, 127.0.0.1, ...)?"""
    order: Annotated[str, *_words(*ORDERS)] = "fifo"
    """Order of the first pass."""
    user_agent: Text | None = None
    honour_nofollow: Flag = True
    respect_robots: Flag = True


class Reserves(Section):
    """Shares of each window that are kept for more than the best buys."""

    discovery: Share = 0.10
    reestimation: Share = 0.05
    verification: Share = 0.03


class Budget(Section):
    """What may be spent in each period, in one unit or several."""

    per_run: Caps = ()
    per_hour: Caps = ()
    per_day: Caps = ()
    per_week: Caps = ()
    per_month: Caps = ()
    window: SomeTime = _written("1 h")
    """How often a plan is made."""
    min_gap: SomeTime = _written("10 min")
    """No page is visited again sooner."""
    max_gap: SomeTime = _written("90 d")
    """No page waits longer."""
    reserves: Reserves = Field(default_factory=Reserves)


class Each(Section):
    """What one visit is billed, by mode."""

    plain: Number = 1.0


class Tariff(Section):
    """What a vendor bills."""

    unit: Annotated[str, *_words(*UNITS)] | None = None
    """What is counted."""
    price: (
        Annotated[tuple[int, Unit, int], PlainValidator(f.price), _example("8 USD/GB")] | None
    ) = None
    each: Each | None = None
    charged_on: (
        Annotated[
            tuple[str, ...],
            PlainValidator(f.words(*(v.word for v in Verdict if v is not Verdict.UNKNOWN))),
            _json({"type": "array", "items": {"type": "string"}}),
        ]
        | None
    ) = None
    """Which verdicts are billed."""


class Route(Section):
    """A way to the web."""

    proxy: Annotated[str, PlainValidator(places.proxy), _example("http://host:port")] | None = None
    credentials_env: (
        Annotated[str, PlainValidator(places.env_name), _json({"type": "string"})] | None
    ) = None
    """Name of the environment variable that holds 'user:password'."""
    tariff: Text | None = None


class Limits(Section):
    """Where the crawl stops and says so."""

    depth: Natural = 6
    per_host: Positive | None = None
    """Pages of one host."""
    pages: Positive | None = None
    """Pages in all."""
    bytes: Annotated[Cap, *_cap(Unit.BYTES, "20 GB")] | None = None
    money: Annotated[Cap, *_cap(Unit.USD, "100 USD")] | None = None
    credits: Annotated[Cap, *_cap(Unit.CREDITS, "150000 credits")] | None = None
    fetches: Annotated[Cap, *_cap(Unit.FETCHES, "100000 fetches")] | None = None
    time: Annotated[Cap, *_cap(Unit.SECONDS, "12 h")] | None = None
    url_length: Positive = 2048
    """Characters of an address."""
    body: Size = _written("8 MB")
    """Of one answer, on the wire."""
    decoded: Size = _written("32 MB")
    """Of one answer, unpacked."""
    connect_time: SomeTime = _written("10 s")
    first_byte_time: SomeTime = _written("20 s")
    total_time: SomeTime = _written("60 s")


class Politeness(Section):
    """How gently hosts are asked."""

    delay: Duration = _written("1.5 s")
    """Between two requests to one host; a longer Crawl-delay is obeyed."""
    concurrency: Positive = 1
    """Requests to one host at once."""
    total_concurrency: Positive = 32
    """Requests at once in all."""
    jitter: Share = 0.1
    """Share of the delay that chance adds."""


class Tracking(Section):
    """Query parameters that only say where a visitor came from."""

    add: Parameters = ()
    """Dropped too: 'name', 'name@host', 'prefix_*'."""
    keep: Parameters = ()


class Urls(Section):
    """How addresses become pages, and which are left out."""

    profile: Annotated[str, *_words(*PROFILES)] = "default"
    tracking: Tracking = Field(default_factory=Tracking)
    unsorted_hosts: Hosts = ()
    """Hosts on which the order of query parameters matters."""
    include: Patterns = ()
    """Only these are crawled: robots syntax, or param:name."""
    exclude: Patterns = ()
    """These are not: '/calendar/', '/*?print=', 'param:sort'."""


_ROUTES = {"type": "object", "additionalProperties": {"type": "string"}}


class Site(Section):
    """What some pages are, what they are worth, and how they are reached."""

    match: (
        Annotated[str, PlainValidator(places.site_match), _example("example.com/item/*")] | None
    ) = None
    type: Text | None = None
    value: (
        Annotated[
            float,
            PlainValidator(f.worth),
            _json({"anyOf": [_NUMBER, {"type": "string", "enum": list(VALUE_TIERS)}]}),
        ]
        | None
    ) = None
    fields: Annotated[
        tuple[tuple[str, str], ...], PlainValidator(places.selectors), _json(_ROUTES)
    ] = ()
    """What a record is: {price = 'jsonld:offers.price', name = 'css:h1'}."""
    route: Text | None = None
    routes: dict[Annotated[str, *_words(*(p.word for p in Purpose))], Text] = {}
    """Route by purpose, stronger than `route`: {robots = 'direct'}."""
    between: (
        Annotated[tuple[float, float], PlainValidator(f.span), _json({"type": "array"})] | None
    ) = None
    """No sooner and no later than: ['10 min', '30 d']."""
    tariff: Text | None = None


class Store(Section):
    """Where the crawl is kept."""

    path: Text = "recrawl.db"
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
    store: Store = Field(default_factory=Store)
