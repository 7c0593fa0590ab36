"""A name -> the policy that ranks the visits of a window."""

from __future__ import annotations

from recrawl.plan.policies.events import Events
from recrawl.plan.policies.freshness import Freshness
from recrawl.plan.policies.harmonic import Harmonic
from recrawl.plan.policies.uniform import Uniform
from recrawl.plan.view import Policy

_POLICIES: dict[str, Policy] = {p.name: p for p in (Freshness(), Harmonic(), Events(), Uniform())}


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
