"""What a visit now is worth when a page's change rate is only known as a belief Gamma(a, b).

Under a Gamma belief (shape `a`, `b` in seconds, mean a/b) the time to the next change is Lomax:
`S(t) = (b/(b+t))^a` is the chance that the copy still matches after t seconds, and
`J(t) = int_0^t S` its expected fresh time. The expectation of every index is a closed form of
these (derived from Cho & Garcia-Molina 2003 and Olston & Pandey, WWW 2008, eq. 4):

    freshness  J - tau S            harmonic  tau - J
    events     1 - S - a tau S/(b+tau)       age  tau^2/2 - tau J + int_0^tau J

All arguments are arrays (or scalars) that broadcast; tau is in seconds. float32 stays float32,
because ten million pages are ranked in it; everything else is computed in float64. Results are
finite and not negative for any input: a negative or missing (NaN) number counts as 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from recrawl.poisson import Floats, g, not_negative

A_MIN, A_MAX = 1e-6, 1e9  # shapes: from "certainly never" to "certain to 0.003 %"
B_MIN, B_MAX = 1e-3, 1e15  # seconds
TAU_MAX = 1e13  # seconds, 300,000 years
SERIES = 0.02  # below (a+1) tau/b the closed forms lose digits to cancellation
TERMS = 9


class _Lomax(NamedTuple):
    a: Floats
    b: Floats
    tau: Floats
    z: Floats  # tau / b
    log: Floats  # log(1 + tau/b)
    s: Floats  # survival


def _floats(x: ArrayLike) -> Floats:
    y = np.asarray(x)
    return y if y.dtype.kind == "f" and y.dtype.itemsize >= 4 else y.astype(np.float64)


def _clip(x: ArrayLike, low: float, high: float) -> Floats:
    y: Floats = np.fmin(np.fmax(_floats(x), low), high)  # fmax turns NaN into `low`
    return y


def _lomax(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> _Lomax:
    a, b, tau = np.broadcast_arrays(
        _clip(a, A_MIN, A_MAX), _clip(b, B_MIN, B_MAX), _clip(tau, 0.0, TAU_MAX)
    )
    z = tau / b
    log = np.log1p(z)
    return _Lomax(a, b, tau, z, log, np.exp(-a * log))


_TINY = 1e-30  # added to x in f(x)/x: gives the limit at 0, without a branch a page


def exprel(y: Floats) -> Floats:
    """`(e^y - 1)/y`, 1 at y = 0."""
    near = y + _TINY
    out: Floats = np.expm1(near) / near
    return out


def _near_zero(k: _Lomax, direct: Floats, weights: tuple[float, ...]) -> Floats:
    """`direct`, and where (a+1) tau/b is small the sum over j >= 1 of
    `(-1)^(j+1) (a)_j/j! weights[j-1] (tau/b)^j`, which keeps all digits.
    """
    small = np.flatnonzero(np.ravel((k.a + 1.0) * k.z < SERIES))
    if not small.size:
        return direct
    a, z = np.ravel(k.a)[small], np.ravel(k.z)[small]
    total = np.zeros_like(z)
    for j in range(len(weights), 0, -1):
        total = (a + (j - 1.0)) * z / j * (weights[j - 1] - total)
    out = np.array(direct)
    out.reshape(-1)[small] = total
    return out


_ORDERS = range(1, 9)  # 0.02^8 is below the last digit
_FRESHNESS = tuple(j / (j + 1.0) for j in _ORDERS)
_HARMONIC = tuple(1.0 / (j + 1.0) for j in _ORDERS)
_EVENTS = tuple(1.0 - j for j in _ORDERS)
_AGE = tuple(1.0 / (j + 2.0) for j in _ORDERS)


def chance_changed(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """`1 - S(tau)`: chance that at least one change came within tau.

    >>> round(float(chance_changed(1.0, 100.0, 100.0)), 6)
    0.5
    """
    k = _lomax(a, b, tau)
    out: Floats = -np.expm1(-k.a * k.log)
    return out


def expected_fresh_time(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """`J(tau)`, seconds: how long a copy read now is expected to stay right within tau.

    >>> round(float(expected_fresh_time(1.0, 100.0, 100.0)), 4)  # 100 ln 2
    69.3147
    """
    k = _lomax(a, b, tau)
    out: Floats = k.b * k.log * exprel((1.0 - k.a) * k.log)
    return out


def freshness_index(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """`E[g(rate tau)/rate] = J - tau S`, seconds of freshness that a visit now buys.

    >>> round(float(freshness_index(1.0, 100.0, 100.0)), 4)  # 100 ln 2 - 50
    19.3147
    """
    k = _lomax(a, b, tau)
    per_tau = _near_zero(k, _mean_survival(k) - k.s, _FRESHNESS)
    return np.fmax(k.tau * per_tau, 0.0)


def harmonic_index(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """`tau - J`, seconds: expected stale time so far. Grows without bound, so no page starves.

    Kolobov et al., NeurIPS 2019 (the harmonic penalty), as a deterministic index.

    >>> round(float(harmonic_index(1.0, 100.0, 100.0)), 4)
    30.6853
    """
    k = _lomax(a, b, tau)
    per_tau = _near_zero(k, 1.0 - _mean_survival(k), _HARMONIC)
    return np.fmax(k.tau * per_tau, 0.0)


def events_index(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """`E[g(rate tau)]`, from 0 to 1: for goals in which every detected change counts.

    >>> round(float(events_index(1.0, 100.0, 100.0)), 4)
    0.25
    """
    k = _lomax(a, b, tau)
    direct = 1.0 - k.s - k.a * (k.z / (1.0 + k.z)) * k.s
    return np.fmax(_near_zero(k, direct, _EVENTS), 0.0)


def answer_shares(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> tuple[Floats, Floats]:
    """Of conditional visits under the *validator's* belief: the marginal share of full answers,
    `E[g(rate tau)]`, which prices a visit, and the expected one, `1 - S`, which it takes.

    >>> [round(float(x), 4) for x in answer_shares(1.0, 100.0, 100.0)]
    [0.25, 0.5]
    """
    k = _lomax(a, b, tau)
    expected = 1.0 - k.s
    return np.fmax(expected - k.a * (k.z / (1.0 + k.z)) * k.s, 0.0), expected


def least_answer_share(a: Floats, b: Floats, tau: Floats) -> Floats:
    """No more than the marginal share of `answer_shares`, without a logarithm; beliefs in bounds.

    With w = tau/(b + tau) that share is `a(a+1) int_0^w v (1-v)^(a-1) dv`, and up to a = 1 at
    least `y = a(a+1)/2 w^2`; beyond, `y/((1+t)(1+t/2))` with t = (a-1)w. The same at a = 1.
    """
    w = tau / (b + tau)
    t = np.maximum(a - 1.0, 0.0) * w
    w *= w
    least: Floats = 0.5 * a * (a + 1.0) * w / ((1.0 + t) * (1.0 + 0.5 * t))
    return least


def freshness_bound(a: Floats, b: Floats, tau: Floats) -> Floats:
    """No less than `freshness_index`, without a logarithm; beliefs in bounds.

    The index is `a b int_0^w v (1-v)^(a-2) dv`. The power is at most that of a = 0, which gives
    `a b (z - log(1+z))`, and at most that of a = 1 times `(1+z)^(1-a)` where a < 1, which gives
    `a b (log(1+z) - w)`; `2z/(2+z) <= log(1+z) <= z/sqrt(1+z)`. Twice the index at most, nearly.
    """
    z = tau / b
    s = 1.0 + z
    slower = s * (1.0 + np.sqrt(s))
    if a.min(initial=1.0) < 1.0:
        slower = np.maximum(slower / (1.0 + np.maximum(1.0 - a, 0.0) * z), 1.0 + s)
    most: Floats = a * tau * (z / slower)
    return most


def age_index(a: ArrayLike, b: ArrayLike, tau: ArrayLike) -> Floats:
    """`tau^2/2 - tau J + int J`, seconds squared: for goals that count the age of stale copies.

    Computed as `tau^2/2 - int_0^tau t S(t) dt`, the integral being a divided difference of
    `exprel`: one form for every shape, 1 and 2 included. Always float64.

    >>> round(float(age_index(1.0, 100.0, 100.0)), 2)
    1931.47
    """
    k = _lomax(*(np.asarray(x, dtype=np.float64) for x in (a, b, tau)))
    ratio = (k.log + _TINY) / (k.z + _TINY)
    per_square = _near_zero(k, 0.5 - ratio * ratio * _exprel_slope(k), _AGE)
    return np.fmax(k.tau * k.tau * per_square, 0.0)


def freshness_known(rate: ArrayLike, tau: ArrayLike) -> Floats:
    """`g(rate tau)/rate`, seconds: the freshness index where the rate (per second) is known.

    >>> round(float(freshness_known(1.0, 1.0)), 6), float(freshness_known(0.0, 1.0))
    (0.264241, 0.0)
    """
    d, t = not_negative(rate), not_negative(tau)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(d > 0, g(d * t) / d, 0.0)


def _mean_survival(k: _Lomax) -> Floats:
    """`J/tau`, 1 at tau = 0."""
    ratio = (k.log + _TINY) / (k.z + _TINY)
    out: Floats = ratio * exprel((1.0 - k.a) * k.log)
    return out


def _exprel_slope(k: _Lomax) -> Floats:
    """`(exprel((2-a) L) - exprel((1-a) L)) / L` with L = log(1 + tau/b), also for tiny L."""
    low = (1.0 - k.a) * k.log
    middle = low + 0.5 * k.log
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = (exprel(low + k.log) - exprel(low)) / k.log
        derivative = g(-middle) / (middle * middle)  # of exprel, for negative arguments
    series = 0.5 + middle / 3.0 + middle * middle / 8.0
    derivative = np.where(middle < -1e-4, derivative, series)
    return np.where(k.log < 1e-4, derivative, difference)
