"""Rows of pages -> what a visit to each is worth, costs, and is expected to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.model import HAS_VALIDATOR
from recrawl.plan.cost import Cost, PriceBook, attempt, chance_of_success
from recrawl.plan.gain import A_MAX, A_MIN, B_MAX, B_MIN, answer_shares, chance_changed
from recrawl.plan.tariff import Quote
from recrawl.plan.view import Policy, View
from recrawl.poisson import Floats
from recrawl.units import DAY, Unit

Ints = NDArray[np.integer[Any]]
Prior = Callable[[Ints, Ints], tuple[Floats, Floats]]
"""(host_id, page_type) -> the group's Gamma (a, b) for pages without a belief of their own."""

MAX_VALUE, MAX_BODY = 1e9, 1e12
MIN_PRICE = 1e-9  # of a visit that costs nothing in the unit of a cap


@dataclass(frozen=True, slots=True)
class Hosts:
    """What each host takes in this window: arrays indexed by host_id."""

    capacity: Ints  # visits at most (delay, health); 0 = the host rests
    success: Floats  # share of its visits that were answered, 0 to 1

    @classmethod
    def unlimited(cls, n: int, visits: int = 1 << 31) -> Hosts:
        """`n` hosts (ids 0 to n-1) without limits or failures."""
        return cls(np.full(n, visits, np.int64), np.ones(n))


@dataclass(frozen=True, slots=True)
class Scheme:
    """All that turns a row into numbers: goal, priors, prices and the caps' units."""

    policy: Policy
    prior: Prior  # of the record's rate
    validator_prior: Prior
    prices: PriceBook
    hosts: Hosts
    units: tuple[Unit, ...] = (Unit.BYTES,)
    horizon: float = 30 * DAY  # over which a first reading is worth what it keeps fresh


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Aligned arrays, one row a page."""

    gain: Floats  # worth of an attempt: chance of success x index x value
    costs: tuple[Cost, ...]  # by unit of the scheme
    ceiling: Floats  # the most the gain can reach, however long one waits
    fullest: tuple[Floats, ...]  # price of a visit that brings a full answer, by unit
    beliefs: tuple[Floats, Floats]
    tau: Floats  # seconds since the last reading, 0 = never read

    def chance_changed(self) -> Floats:
        """Predicted chance that the record changed since the last reading."""
        return chance_changed(*self.beliefs, self.tau)


def appraise(
    pages: np.ndarray, now: float, scheme: Scheme, dtype: type[np.floating[Any]]
) -> Appraisal:
    """Worth and price of visiting each of `pages` (rows of `model.HOT`) at `now`.

    `dtype` float32 ranks, float64 reports. Pages never read get the worth of a first reading.
    """
    host, kind = _column(pages, "host_id"), _column(pages, "page_type")
    last = _column(pages, "last")
    unread = ~(last > 0)
    tau = (np.fmax(now - last, 0.0) * ~unread).astype(dtype)
    own = _column(pages, "a").astype(dtype), _column(pages, "b").astype(dtype)
    a, b = _fill(*own, scheme.prior, host, kind)
    value = _clip(_column(pages, "value").astype(dtype), 0.0, MAX_VALUE)
    view = View(a, b, tau, value, _column(pages, "interval").astype(dtype))
    p = chance_of_success(scheme.hosts.success[host], _column(pages, "fails")).astype(dtype)
    worth, ceiling = _worth(view, unread, scheme)
    costs, fullest = _costs(pages, host, kind, tau, p, scheme)
    return Appraisal(
        gain=(p * worth).astype(dtype),
        costs=costs,
        ceiling=(p * ceiling).astype(dtype),
        fullest=fullest,
        beliefs=(a, b),
        tau=tau,
    )


def _column(pages: np.ndarray, name: str) -> Any:
    return np.ascontiguousarray(pages[name])


def _fill(
    a: Floats,
    b: Floats,
    prior: Prior,
    host: Ints,
    kind: Ints,
    asked: NDArray[np.bool_] | bool = True,
) -> tuple[Floats, Floats]:
    """Beliefs with the group's prior where a page that is asked about has none of its own."""
    missing = np.flatnonzero(~((a > 0) & (b > 0)) & asked)
    if missing.size:
        a[missing], b[missing] = prior(host[missing], kind[missing])
    return _clip(a, A_MIN, A_MAX), _clip(b, B_MIN, B_MAX)


def _clip(x: Floats, low: float, high: float) -> Floats:
    """In place; NaN becomes `low`, so that no row of a damaged store breaks a plan."""
    np.fmax(x, low, out=x)
    return np.fmin(x, high, out=x)


def _worth(view: View, unread: NDArray[np.bool_], scheme: Scheme) -> tuple[Floats, Floats]:
    worth, ceiling = scheme.policy.gain(view), scheme.policy.ceiling(view)
    rows = np.flatnonzero(unread)
    if rows.size:
        part = View(
            *(column[rows] for column in (view.a, view.b, view.tau, view.value, view.interval))
        )
        worth = np.array(worth)
        worth[rows] = scheme.policy.first(part, scheme.horizon)
    return worth, ceiling


def _costs(
    pages: np.ndarray, host: Ints, kind: Ints, tau: Floats, p: Floats, scheme: Scheme
) -> tuple[tuple[Cost, ...], tuple[Floats, ...]]:
    """Costs by unit, and the price that a visit comes to when every answer is a full one."""
    marginal, changed = _validator(pages, host, kind, tau, scheme)
    body = _clip(_column(pages, "body").astype(tau.dtype), 0.0, MAX_BODY)
    costs, fullest = [], []
    for unit in scheme.units:
        quoted = scheme.prices.quote(unit, host, kind, body)
        quoted = Quote(*(x.astype(tau.dtype) for x in quoted))
        cost = attempt(quoted, marginal, changed, p)
        costs.append(Cost(np.maximum(cost.price, MIN_PRICE), cost.expected))
        rest = p * (1.0 - marginal) * (quoted.full - quoted.unchanged)
        fullest.append(np.maximum(cost.price + rest, MIN_PRICE))
    return tuple(costs), tuple(fullest)


def _validator(
    pages: np.ndarray, host: Ints, kind: Ints, tau: Floats, scheme: Scheme
) -> tuple[Floats, Floats]:
    """Marginal and expected share of full answers; 1 where a visit carries no validator."""
    has = (_column(pages, "flags") & HAS_VALIDATOR).astype(np.bool_) & (tau > 0)
    if not has.any():
        return np.ones_like(tau), np.ones_like(tau)
    va, vb = _column(pages, "va").astype(tau.dtype), _column(pages, "vb").astype(tau.dtype)
    va, vb = _fill(va, vb, scheme.validator_prior, host, kind, has)
    marginal, changed = answer_shares(va, vb, tau)
    weight = has.astype(tau.dtype)  # a product costs a tenth of a branch a page
    return 1.0 - weight * (1.0 - marginal), 1.0 - weight * (1.0 - changed)
