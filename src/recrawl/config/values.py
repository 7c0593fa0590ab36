"""The kinds of value in recrawl.toml: how each is checked, and how the JSON schema shows it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from recrawl.config import fields as f
from recrawl.config import places
from recrawl.config.settings import Cap
from recrawl.model import Verdict
from recrawl.units import Unit
from recrawl.urls.match import VALUE_TIERS

LIST = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
NUMBER = {"type": "number"}
BILLABLE = tuple(v.word for v in Verdict if v is not Verdict.UNKNOWN)


def schema(shown: dict[str, Any]) -> WithJsonSchema:
    """What the JSON schema says of a value."""
    return WithJsonSchema(shown, mode="validation")


def example(text: str) -> WithJsonSchema:
    """The schema of a text that is best shown by an example."""
    return schema({"type": "string", "examples": [text]})


def written(default: str | list[str]) -> Any:
    """A default as a user would write it, read as theirs would be."""
    return Field(default, validate_default=True)


def words(*allowed: str) -> tuple[Any, ...]:
    """One of these words."""
    return (PlainValidator(f.word(*allowed)), schema({"type": "string", "enum": list(allowed)}))


def cap(unit: Unit, sample: str) -> tuple[Any, ...]:
    """One cap of that unit."""
    kind = ["string", "integer"] if unit is Unit.FETCHES else "string"
    return (PlainValidator(f.cap_in(unit, sample)), schema({"type": kind, "examples": [sample]}))


def day_of_month() -> tuple[Any, ...]:
    """A whole number from 1 to 31."""
    return (PlainValidator(f.day), schema({"type": "integer", "minimum": 1, "maximum": 31}))


Text = Annotated[str, PlainValidator(f.text), schema({"type": "string"})]
Flag = Annotated[bool, PlainValidator(f.flag), schema({"type": "boolean"})]
Number = Annotated[float, PlainValidator(f.number), schema(NUMBER)]
Natural = Annotated[int, PlainValidator(f.count(0)), schema({"type": "integer", "minimum": 0})]
Positive = Annotated[int, PlainValidator(f.count(1)), schema({"type": "integer", "minimum": 1})]
Share = Annotated[
    float,
    PlainValidator(f.share),
    schema({"type": ["number", "string"], "examples": [0.1, "10 %"]}),
]
Worth = Annotated[
    float,
    PlainValidator(f.worth),
    schema({"anyOf": [NUMBER, {"type": "string", "enum": list(VALUE_TIERS)}]}),
]

Size = Annotated[int, PlainValidator(f.size), example("8 MB")]
Duration = Annotated[float, PlainValidator(f.duration), example("1.5 s")]
SomeTime = Annotated[float, PlainValidator(f.some_time), example("10 min")]
Times = Annotated[
    tuple[float, ...], PlainValidator(f.times), schema({**LIST, "examples": [["1 h", "1 d"]]})
]
Span = Annotated[
    tuple[float, float],
    PlainValidator(f.span),
    schema({"type": "array", "items": {"type": "string"}, "examples": [["10 min", "30 d"]]}),
]
Caps = Annotated[
    tuple[Cap, ...], PlainValidator(f.caps), schema({**LIST, "examples": ["4 USD", "500 MB"]})
]
Price = Annotated[tuple[int, Unit, int], PlainValidator(f.price), example("8 USD/GB")]
Verdicts = Annotated[
    tuple[str, ...],
    PlainValidator(f.words(*BILLABLE)),
    schema({"type": "array", "items": {"type": "string", "enum": list(BILLABLE)}}),
]

Seeds = Annotated[tuple[str, ...], PlainValidator(places.seeds), schema(LIST)]
Scope = Annotated[tuple[str, ...], PlainValidator(places.scope), schema(LIST)]
Contact = Annotated[str, PlainValidator(places.contact), schema({"type": "string"})]
Hosts = Annotated[tuple[str, ...], PlainValidator(places.hosts), schema(LIST)]
Patterns = Annotated[tuple[str, ...], PlainValidator(places.patterns), schema(LIST)]
Parameters = Annotated[tuple[str, ...], PlainValidator(places.tracking), schema(LIST)]
Proxy = Annotated[str, PlainValidator(places.proxy), example("http://host:port")]
Header = Annotated[tuple[str, str], PlainValidator(places.header), example("X-Render: true")]
Variable = Annotated[str, PlainValidator(places.env_name), schema({"type": "string"})]
SiteMatch = Annotated[str, PlainValidator(places.site_match), example("example.com/item/*")]
Selectors = Annotated[
    tuple[tuple[str, str], ...],
    PlainValidator(places.selectors),
    schema({"type": "object", "additionalProperties": {"type": "string"}}),
]
