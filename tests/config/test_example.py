"""The text that `init` writes, the schema, and advice."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from recrawl.config import advice, example_toml, json_schema
from recrawl.config.build import tariff_named
from recrawl.config.document import Document
from recrawl.units import Unit

COMMENTED = re.compile(r"^# (\[.*\]|[a-z_]+ = .*)$", re.MULTILINE)


def uncommented(text: str) -> str:
    return COMMENTED.sub(lambda m: m[1], text)


def test_it_loads_as_written(read):
    s = read(base=example_toml(["https://shop.example/"], "me@shop.example", name="mine"))
    assert (s.project.name, s.project.seeds) == ("mine", ("https://shop.example/",))
    assert s.budget.by_period() == {}


def test_what_init_knows_is_set(read):
    s = read(
        base=example_toml(
            ["https://a.example/", "https://b.example/x"],
            "https://bot.example/",
            budget=["4 USD", "500 MB"],
            price="49 USD / 150000 credits",
            delay="3 s",
            exclude=["param:sort"],
            notes=["robots.txt: 3 rules", "sitemap:\nnone \x1b[31m"],
        )
    )
    assert [c.unit for c in s.budget.per_day] == [Unit.USD, Unit.BYTES]
    assert s.default_tariff.unit is Unit.CREDITS
    assert (s.politeness.delay, s.urls.exclude) == (3.0, ("param:sort",))


def test_every_commented_key_is_right_and_shows_its_default(read):
    text = example_toml(["https://shop.example/"], "me@shop.example")
    bare, full = read(base=text), read(base=uncommented(text))
    assert full.budget.window == bare.budget.window
    assert full.budget.min_gap == bare.budget.min_gap
    assert full.budget.max_gap == bare.budget.max_gap
    assert full.budget.discovery == bare.budget.discovery
    assert full.budget.verification == bare.budget.verification
    assert full.politeness == bare.politeness
    assert full.project == bare.project
    assert full.urls == bare.urls
    assert full.limits.body == bare.limits.body
    assert full.limits.total_time == bare.limits.total_time
    assert full.store == bare.store
    assert [c.unit for c in full.budget.per_day] == [Unit.BYTES]
    assert full.sites[0].type == "item"
    assert full.routes[0].credentials_env == "PROXY_LOGIN"


def test_every_section_is_shown():
    shown = uncommented(example_toml(["https://shop.example/"], "me@shop.example"))
    assert set(tomllib.loads(shown)) == set(Document.model_fields)


def test_an_empty_contact_is_the_one_thing_to_fill_in(wrong):
    (message,) = wrong(base=example_toml(["https://shop.example/"]))
    assert ": project.contact: missing" in message


@pytest.mark.parametrize("text", ['a"b', "a\\b", "é☃", "a\x7fb", "tab\there", "a\u2028b"])
def test_any_text_is_quoted_as_toml(text):
    written = example_toml([text], text, name=text, notes=[text])
    assert tomllib.loads(written)["project"]["seeds"] == [text]
    assert tomllib.loads(written)["project"]["name"] == text


def test_schema_describes_every_key_and_forbids_others():
    schema = json_schema()
    json.dumps(schema)
    assert set(schema["properties"]) == set(Document.model_fields)
    assert schema["$schema"].startswith("https://json-schema.org/")
    for name, part in schema["$defs"].items():
        assert part["additionalProperties"] is False, name
    budget = schema["$defs"]["Budget"]["properties"]
    assert budget["window"]["type"] == "string"
    assert budget["window"]["default"] == "1 h"
    assert schema["$defs"]["Project"]["properties"]["goal"]["enum"] == [
        "freshness", "harmonic", "age", "events",
    ]  # fmt: skip


def test_schema_says_of_every_key_what_stands_below_it():
    parts = json_schema()
    for name, part in (("Document", parts), *parts["$defs"].items()):
        for key, about in part["properties"].items():
            said = about.get("description") or "$ref" in str(about)  # sections describe themselves
            assert said, f"{name}.{key} has no text below it"
    assert parts["$defs"]["Budget"]["properties"]["per_run"]["description"].startswith("At most")


def test_advice_proposes_the_param_form_and_a_budget(read):
    found = advice(read('[urls]\nexclude = ["/*?sort=", "/calendar/"]\n'))
    assert len(found) == 2
    assert "'param:sort'" in found[0]
    assert "no cap is set" in found[1]
    assert advice(read('[budget]\nper_day = "1 MB"\n')) == []


def test_advice_asks_for_the_most_that_a_told_charge_can_be(read):
    api = '[budget]\nper_day = "9 credits"\n[tariff.default]\nunit = "credits"\n'
    (line,) = advice(read(api + 'charge_header = "X-Credits"\n'))
    assert line.startswith("tariff.default: ") and "charge_max" in line
    settings = read(api + 'charge_header = "X-Credits"\ncharge_max = 12.5\n')
    assert advice(settings) == []
    tariff = tariff_named(settings, "default")
    assert (tariff.charge_header, tariff.charge_max) == ("x-credits", 12.5)
