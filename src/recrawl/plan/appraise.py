"""Rows of pages -> what a visit to each is worth, costs, and is expected to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recrawl.model import HAS_VALIDATOR, Table
from recrawl.plan.cost import Cost, PriceBook, attempt, chance_of_success
from recrawl.plan.gain import (
    A_MAX,
    A_MIN,
    B_MAX,
    B_MIN,
    answer_shares,
    chance_changed,
    least_answer_share,
)
from recrawl.plan.groups import Groups
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
    fullest: tuple[Floats, ...]  # price of a visit that brings a full answer, by unit
    beliefs: tuple[Floats, Floats]
    tau: Floats  # seconds since the last reading, 0 = never read

    def chance_changed(self) -> Floats:
        """Predicted chance that the record changed since the last reading."""
        return chance_changed(*self.beliefs, self.tau)


def appraise(pages: Table, now: float, scheme: Scheme, dtype: type[np.floating[Any]]) -> Appraisal:
    """Worth and price of visiting each of `pages` (rows of `model.HOT`) at `now`.

    `dtype` float32 ranks, float64 reports. Pages never read get the worth of a first reading.
    """
    seen = look(pages, now, scheme, dtype)
    view, p = seen.view, seen.success
    # At most the bound, whatever digits the difference lost: a glance must never say less.
    bound = np.minimum(scheme.policy.bound(view), scheme.policy.ceiling(view))
    worth = with_first(np.minimum(scheme.policy.gain(view), bound), seen, scheme)
    marginal, changed = _answers(pages, seen, scheme)
    costs, fullest = [], []
    for quoted in seen.quotes:
        cost = attempt(quoted, marginal, changed, p)
        costs.append(Cost(np.maximum(cost.price, MIN_PRICE), cost.expected))
        rest = p * (1.0 - marginal) * (quoted.full - quoted.unchanged)
        fullest.append(np.maximum(cost.price + rest, MIN_PRICE))
    return Appraisal(
        gain=(p * worth).astype(dtype),
        costs=tuple(costs),
        fullest=tuple(fullest),
        beliefs=(view.a, view.b),
        tau=view.tau,
    )


def _answers(pages: Table, seen: Seen, scheme: Scheme) -> tuple[Floats, Floats]:
    """Marginal and expected share of full answers; 1 where a visit carries no validator."""
    tau = seen.view.tau
    if not seen.carries.any():
        return np.ones_like(tau), np.ones_like(tau)
    belief = validator_beliefs(pages, seen, scheme)
    marginal, changed = answer_shares(*belief, tau)
    marginal = np.maximum(marginal, least_answer_share(*belief, tau))  # as of the gain
    carries = seen.carries.astype(tau.dtype)  # a product costs a tenth of a branch a page
    return 1.0 - carries * (1.0 - marginal), 1.0 - carries * (1.0 - changed)


class Seen(NamedTuple):
    """What the columns of some pages say before anything is weighed; all within bounds."""

    groups: Groups
    view: View
    unread: Ints  # which rows were never read
    success: Floats  # chance that the visit is answered
    carries: NDArray[np.bool_]  # whether it carries a validator
    quotes: list[Quote]  # by unit


def look(pages: Table, now: float, scheme: Scheme, dtype: type[np.floating[Any]]) -> Seen:
    """Read the columns; no row of a damaged store breaks a plan."""
    groups = Groups(_column(pages, "host_id"), _column(pages, "page_type"))
    last = _column(pages, "last")
    tau = np.maximum((now - last).astype(dtype), 0.0)
    read = last > 0
    unread = np.zeros(0, np.intp) if read.all() else np.flatnonzero(~read)
    tau[unread] = 0.0
    a, b = (_column(pages, name).astype(dtype, copy=False) for name in ("a", "b"))
    a, b = _beliefs(a, b, scheme.prior, groups)
    value, body = (_column(pages, name).astype(dtype, copy=False) for name in ("value", "body"))
    interval = _column(pages, "interval").astype(dtype, copy=False)
    body = _tidy(body, 0.0, MAX_BODY)
    return Seen(
        groups,
        View(a, b, tau, _tidy(value, 0.0, MAX_VALUE), interval),
        unread,
        _success(groups, _column(pages, "fails"), scheme.hosts, dtype),
        (_column(pages, "flags") & HAS_VALIDATOR).astype(np.bool_) & (tau > 0),
        [scheme.prices.of_groups(unit, groups, body) for unit in scheme.units],
    )


def validator_beliefs(
    pages: Table, seen: Seen, scheme: Scheme, rows: Ints | None = None
) -> tuple[Floats, Floats]:
    """Beliefs of the rate at which validators change, of all pages or of some `rows`."""
    groups, asked, dtype = seen.groups, seen.carries, seen.view.tau.dtype
    va, vb = (_column(pages, name).astype(dtype, copy=False) for name in ("va", "vb"))
    if rows is not None:
        groups, asked = Groups(groups.host[rows], groups.kind[rows]), asked[rows]
        va, vb = va[rows], vb[rows]
    return _beliefs(va, vb, scheme.validator_prior, groups, asked)


def with_first(worth: Floats, seen: Seen, scheme: Scheme) -> Floats:
    """Never-read pages get the worth of a first reading."""
    rows, view = seen.unread, seen.view
    if rows.size:
        columns = (view.a, view.b, view.tau, view.value, view.interval)
        part = View(*(column[rows] for column in columns))
        worth[rows] = scheme.policy.first(part, scheme.horizon)
    return worth


def _column(pages: Table, name: str) -> Any:
    return np.ascontiguousarray(pages[name])


def _tidy(x: Floats, low: float, high: float) -> Floats:
    """A copy within the bounds; NaN becomes `low`."""
    y: Floats = np.clip(x, low, high)
    if np.isnan(y.min(initial=low)):
        np.fmax(y, low, out=y)
    return y


def _success(groups: Groups, fails: Ints, hosts: Hosts, dtype: type[np.floating[Any]]) -> Floats:
    never = groups.by_host(lambda host: chance_of_success(hosts.success[host], 0.0), dtype)
    return chance_of_success(never, fails.astype(dtype)) if fails.any() else never


def _beliefs(
    a: Floats, b: Floats, prior: Prior, groups: Groups, asked: NDArray[np.bool_] | None = None
) -> tuple[Floats, Floats]:
    """Beliefs; of a page that is asked about and showed no change yet (a = 0), its group's, with
    the seconds that it was seen unchanged (its b).
    """
    silent = ~((a > 0) & (b > 0))
    if asked is not None:
        silent &= asked
    a, b = _tidy(a, A_MIN, A_MAX), _tidy(b, B_MIN, B_MAX)
    if silent.any():
        shape, scale = groups.by_group(partial(_within, prior), a.dtype)
        weight = silent.astype(a.dtype)
        np.maximum(a, weight * shape, out=a)
        b += weight * scale
    return a, b


def _within(prior: Prior, host: Ints, kind: Ints) -> tuple[Floats, Floats]:
    a, b = prior(host, kind)
    return _tidy(a, A_MIN, A_MAX), _tidy(b, B_MIN, B_MAX)
