"""An interval of a Gamma belief, for people: between which rates the truth probably lies."""

from __future__ import annotations

from statistics import NormalDist


def gamma_interval(a: float, b: float, level: float = 0.9) -> tuple[float, float]:
    """The central interval of Gamma(shape a, inverse scale b), rates per second.

    Wilson and Hilferty's cube-root approximation (PNAS 17, 1931): within 2 % for a >= 1. Below
    that the lower end is 0 to all practical purposes, and is given as 0. (0, 0) where there is
    no belief.

    >>> low, high = gamma_interval(4.0, 4.0)
    >>> round(low, 2), round(high, 2)
    (0.34, 1.94)
    """
    if a <= 0 or b <= 0:
        return 0.0, 0.0
    z = NormalDist().inv_cdf(0.5 + level / 2)
    mean, step = 1.0 - 1.0 / (9.0 * a), z / (3.0 * a**0.5)
    low, high = mean - step, mean + step
    return (a * max(low, 0.0) ** 3 / b, a * high**3 / b)
