"""How sure a belief is: the interval that holds most of a Gamma distribution."""

from __future__ import annotations

import math
from statistics import NormalDist

HALVINGS = 100  # of the range in which a quantile is looked for: to the last digit
_TERMS = 10_000
_TINY = 1e-300
_NORMAL_FROM = 1e6  # shape; above it Wilson and Hilferty's form is right to 1e-9


def gamma_interval(a: float, b: float, level: float = 0.9) -> tuple[float, float]:
    """Central interval of a rate ~ Gamma(a, b): per second, b in seconds; (0, 0) without a belief.

    >>> low, high = gamma_interval(1.0, 100.0)  # -log(0.95)/100, -log(0.05)/100
    >>> round(low, 9), round(high, 9)
    (0.000512933, 0.029957323)
    """
    if a <= 0 or b <= 0:
        return 0.0, 0.0
    tail = (1.0 - level) / 2.0
    return gamma_quantile(a, tail) / b, gamma_quantile(a, 1.0 - tail) / b


def gamma_quantile(a: float, p: float) -> float:
    """The x that a Gamma(a, 1) variable stays below with chance p, 0 < p < 1."""
    if a > _NORMAL_FROM:
        return _wilson_hilferty(a, p)
    # P(a, x) <= x^a / Gamma(a+1), so the quantile is not below this
    low = (math.log(p) + math.lgamma(a + 1.0)) / a
    high = max(low, math.log(a + 50.0 + 10.0 * math.sqrt(a))) + 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gamma_chance(a, middle) < p else (low, middle)
    return math.exp(0.5 * (low + high))


def gamma_chance(a: float, log_x: float) -> float:
    """P(a, x): chance that a Gamma(a, 1) variable is below x = e^log_x.

    Series below a + 1, Lentz's continued fraction above (Numerical Recipes, 6.2).

    >>> round(gamma_chance(1.0, math.log(2.0)), 12)  # 1 - e^-2
    0.864664716763
    """
    x = math.exp(log_x)
    front = a * log_x - x - math.lgamma(a + 1.0)
    if x < a + 1.0:
        term = total = 1.0
        for n in range(1, _TERMS):
            term *= x / (a + n)
            total += term
            if term < total * 1e-16:
                break
        return math.exp(front) * total
    return 1.0 - a * math.exp(front) * _fraction(a, x)


def _fraction(a: float, x: float) -> float:
    step = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / step
    out = d
    for n in range(1, _TERMS):
        factor = -n * (n - a)
        step += 2.0
        d = 1.0 / (_away(factor * d + step))
        c = _away(step + factor / c)
        out *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return out


def _away(x: float) -> float:
    """Kept off zero."""
    return x if abs(x) > _TINY else _TINY


def _wilson_hilferty(a: float, p: float) -> float:
    z = NormalDist().inv_cdf(p)
    return a * (1.0 - 1.0 / (9.0 * a) + z / (3.0 * math.sqrt(a))) ** 3
