"""Rows of pages -> what a visit to each is worth, costs, and is expected to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from recrawl.plan.tariff import SLOT, Quote
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


@dataclass(frozen=True, slots=True)
class Glance:
    """What an appraisal can't exceed, found without a logarithm; aligned float32 arrays."""

    gain: Floats  # no less than the worth of an attempt that succeeds
    prices: tuple[Floats, ...]  # no more than its price, by unit of the scheme
    reach: tuple[Floats, ...]  # the best score the page can ever have; inf = never read yet


def appraise(pages: Table, now: float, scheme: Scheme, dtype: type[np.floating[Any]]) -> Appraisal:
    """Worth and price of visiting each of `pages` (rows of `model.HOT`) at `now`.

    `dtype` float32 ranks, float64 reports. Pages never read get the worth of a first reading.
    """
    seen = _look(pages, now, scheme, dtype)
    view, p = seen.view, seen.success
    # As bounds of the numbers, whatever digits they lost: a glance must never say less.
    worth = np.minimum(scheme.policy.gain(view), _bound(seen, scheme.policy.ceiling(view), scheme))
    worth = _with_first(worth, seen, scheme)
    marginal, changed = answer_shares(*seen.validator, view.tau)
    marginal = np.maximum(marginal, least_answer_share(*seen.validator, view.tau))
    marginal, changed = _answered(marginal, seen), _answered(changed, seen)
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


def glance(pages: Table, now: float, scheme: Scheme) -> Glance:
    """Bounds of what `appraise` would say: `gain <= p glance.gain`, `price >= p glance.price`
    with p the chance of success, so that no score exceeds what they come to.
    """
    seen = _look(pages, now, scheme, np.float32)
    view, ceiling = seen.view, scheme.policy.ceiling(seen.view)
    share = _answered(least_answer_share(*seen.validator, view.tau), seen)
    failures = (1.0 - seen.success) / seen.success  # for each success
    prices, reach = [], []
    for full, unchanged, failed in seen.quotes:
        least = np.minimum(unchanged + (full - unchanged) * share, full)
        prices.append(np.maximum(least, MIN_PRICE))
        dearest = np.maximum(full + failures * (failed + SLOT * full), MIN_PRICE)
        with np.errstate(over="ignore"):
            best = ceiling / dearest
        best[seen.unread] = np.inf
        reach.append(best)
    gain = _with_first(_bound(seen, ceiling, scheme), seen, scheme)
    return Glance(gain, tuple(prices), tuple(reach))


class _Seen(NamedTuple):
    """What the columns of some pages say before anything is weighed."""

    view: View
    unread: Ints  # which rows
    success: Floats
    validated: Floats | None  # 1 where a visit carries a validator, else 0; None = nowhere
    validator: tuple[Floats, Floats]  # beliefs of the validator's rate
    quotes: list[Quote]  # by unit


def _look(pages: Table, now: float, scheme: Scheme, dtype: type[np.floating[Any]]) -> _Seen:
    """Every number within its bounds: no row of a damaged store breaks a plan."""

    def column(name: str) -> Any:
        return np.ascontiguousarray(pages[name])

    def number(name: str, high: float) -> Floats:
        return _tidy(column(name).astype(dtype, copy=False), 0.0, high)

    host, kind, last = column("host_id"), column("page_type"), column("last")
    groups = Groups(host, kind)
    tau = np.maximum((now - last).astype(dtype), 0.0)
    read = last > 0
    unread = np.flatnonzero(~read) if not read.all() else np.zeros(0, np.intp)
    tau[unread] = 0.0
    has = (column("flags") & HAS_VALIDATOR).astype(np.bool_) & (tau > 0)
    own = column("a").astype(dtype, copy=False), column("b").astype(dtype, copy=False)
    a, b = _beliefs(*own, scheme.prior, groups)
    own = column("va").astype(dtype, copy=False), column("vb").astype(dtype, copy=False)
    validator = _beliefs(*own, scheme.validator_prior, groups, has)
    interval = column("interval").astype(dtype, copy=False)
    body = number("body", MAX_BODY)
    return _Seen(
        View(a, b, tau, number("value", MAX_VALUE), interval),
        unread,
        _success(groups, column("fails"), scheme.hosts, dtype),
        has.astype(dtype) if has.any() else None,
        validator,
        [scheme.prices.of_groups(unit, groups, body) for unit in scheme.units],
    )


def _tidy(x: Floats, low: float, high: float) -> Floats:
    """A copy within the bounds; NaN becomes `low`."""
    y: Floats = np.clip(x, low, high)
    if np.isnan(y.min(initial=low)):
        np.fmax(y, low, out=y)
    return y


def _success(groups: Groups, fails: Ints, hosts: Hosts, dtype: type[np.floating[Any]]) -> Floats:
    if not fails.any():
        return groups.by_host(lambda host: chance_of_success(hosts.success[host], 0), dtype)
    share = groups.by_host(lambda host: hosts.success[host])
    return chance_of_success(share, fails).astype(dtype)


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
        shape, scale = groups.by_group(prior, a.dtype)
        weight = silent.astype(a.dtype)  # a product costs a tenth of a branch a page
        np.maximum(a, weight * np.clip(shape, A_MIN, A_MAX), out=a)
        b += weight * np.clip(scale, B_MIN, B_MAX)
    return a, b


def _bound(seen: _Seen, ceiling: Floats, scheme: Scheme) -> Floats:
    return np.minimum(scheme.policy.bound(seen.view), ceiling)


def _with_first(worth: Floats, seen: _Seen, scheme: Scheme) -> Floats:
    """Never-read pages get the worth of a first reading."""
    rows, view = seen.unread, seen.view
    if not rows.size:
        return worth
    columns = (view.a, view.b, view.tau, view.value, view.interval)
    part = View(*(column[rows] for column in columns))
    worth = np.array(worth)
    worth[rows] = scheme.policy.first(part, scheme.horizon)
    return worth


def _answered(share: Floats, seen: _Seen) -> Floats:
    """Share of full answers; 1 where a visit carries no validator."""
    if seen.validated is None:
        return np.ones_like(share)
    return 1.0 - seen.validated * (1.0 - share)
