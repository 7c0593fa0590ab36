"""A name -> the policy that ranks the visits of a window."""

from __future__ import annotations

from recrawl.plan.policies.age import Age
from recrawl.plan.policies.article import ARTICLE, ARTICLE_AGE
from recrawl.plan.policies.backoff import NUTCH, Backoff
from recrawl.plan.policies.classes import Classes
from recrawl.plan.policies.events import Events
from recrawl.plan.policies.freshness import Freshness
from recrawl.plan.policies.harmonic import Harmonic
from recrawl.plan.policies.proportional import Proportional
from recrawl.plan.policies.uniform import Uniform
from recrawl.plan.policies.value_age import ValueAge
from recrawl.plan.view import Policy

_ALL: tuple[Policy, ...] = (
    Freshness(), Harmonic(), Age(), Events(),
    Uniform(), ValueAge(), Proportional(), ARTICLE, ARTICLE_AGE, Backoff(), NUTCH, Classes(),
)  # fmt: skip
_POLICIES = {p.name: p for p in _ALL}
GOALS = ("freshness", "harmonic", "age", "events")
"""What a project may want; the other policies are there to be compared with."""


def policy_names() -> list[str]:
    """The names that `get_policy` knows, the default first."""
    return list(_POLICIES)


def get_policy(name: str) -> Policy:
    """The policy of that name. Raises ValueError, which lists the names.

    >>> get_policy("freshness").goal
    'the share of pages whose copy matches, weighted by value'
    """
    if name not in _POLICIES:
        raise ValueError(f"no policy is called {name!r}; the policies are {', '.join(_POLICIES)}")
    return _POLICIES[name]
