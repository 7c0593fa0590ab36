"""Options of policies: read, defaulted, refused, and in the hands of the planner."""

from __future__ import annotations

import pytest

from recrawl.config.build import policy_of, project_of
from recrawl.plan.policies import get_policy, policy_names
from recrawl.plan.policies.backoff import Backoff
from recrawl.plan.policies.classes import Classes
from recrawl.units import DAY, HOUR

OPTIONS = """
policy = "backoff"
[policy.backoff]
start = "30 d"
longer = 1.4
shorter = 0.8
floor = "1 h"
ceiling = "90 d"
[policy.classes]
intervals = ["6 h", "2 d"]
"""


@pytest.mark.parametrize("name", policy_names())
def test_without_options_every_policy_is_as_it_is_by_name(read, name):
    assert policy_of(read(), name) == get_policy(name)


def test_options_reach_the_policies_that_they_are_for(read):
    settings = read(OPTIONS)
    backoff = project_of(settings).policy
    assert isinstance(backoff, Backoff)
    assert (backoff.start, backoff.longer, backoff.shorter) == (30 * DAY, 1.4, 0.8)
    assert (backoff.floor, backoff.ceiling_seconds) == (HOUR, 90 * DAY)
    classes = policy_of(settings, "classes")
    assert isinstance(classes, Classes)
    assert classes.intervals == (6 * HOUR, 2 * DAY)
    assert policy_of(settings, "backoff-nutch") == get_policy("backoff-nutch")


def test_the_environment_may_set_them(read):
    settings = read(environ={"RECRAWL_POLICY__CLASSES__INTERVALS": '["1 d", "3 d"]'})
    assert policy_of(settings, "classes") == Classes(intervals=(DAY, 3 * DAY))


@pytest.mark.parametrize("name", policy_names())
def test_every_name_is_a_goal_or_a_policy(read, name):
    key = "goal" if name in ("freshness", "harmonic", "age", "events") else "policy"
    assert project_of(read(f'{key} = "{name}"\n')).policy.name == name


def test_all_mistakes_are_named_at_once(wrong):
    messages = wrong("""
[policy.backoff]
start = "2 d"
longer = 1.0
shorter = 1.5
floor = "10 d"
ceiling = "5 d"
half = 2
[policy.class]
[policy.classes]
intervals = ["1 d", "soon", "3 weks"]
""")
    assert [m.split(": ", 1)[1] for m in messages] == [
        "policy.backoff.longer: 1 is no factor above 1; write one, such as 1.4",
        "policy.backoff.shorter: 1.5 is no factor below 1; write one, such as 0.8",
        "policy.backoff.floor: 10 d is longer than the ceiling (5 d); write a shorter one",
        "policy.backoff.half: unknown key; known here: start, longer, shorter, floor, ceiling",
        "policy.class: unknown key; did you mean 'classes'?",
        (
            "policy.classes.intervals: 'soon' is not a quantity; write a number and a unit, as in "
            "'10 min'; and '3 weks': 'weks' is no unit of time; use s, min, h, d or w"
        ),
    ]


def test_a_start_outside_its_bounds_is_a_mistake(wrong):
    (message,) = wrong('[policy.backoff]\nstart = "2 h"\n')
    assert "2 h is not between floor (1 d) and ceiling (365 d)" in message


@pytest.mark.parametrize("text", ["[]", '["0 s", "1 h"]', '["1 d", "1 h"]', '["1 d", "24 h"]'])
def test_classes_rise(wrong, text):
    (message,) = wrong(f"[policy.classes]\nintervals = {text}\n")
    assert 'is no rising list of times; write ["1 h", "1 d", "7 d"]' in message
