"""When a visit is next worth its price: the time at which a page's score reaches the bar."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from recrawl.poisson import Floats, g, not_negative

SOONEST, LATEST = 1.0, 1e10  # seconds: the range in which a due time is looked for
_SERIES_BELOW = 0.0902  # g(0.5)


def inverse_g(y: ArrayLike) -> Floats:
    """The x with `g(x) = y`, for y in [0, 1): `-1 - W_{-1}(-(1-y)/e)`, W the Lambert function.

    Solved by Newton's method, for small y on g itself, else on `x - log(1+x) = -log(1-y)`,
    so that neither end loses digits. y >= 1 gives inf.

    >>> round(float(inverse_g(0.2642411176571153)), 12)  # g(1) = 1 - 2/e
    1.0
    """
    target = not_negative(y)
    out = np.full(target.shape, np.inf)
    low = (target > 0) & (target < _SERIES_BELOW)
    high = (target >= _SERIES_BELOW) & (target < 1)
    out = np.where(target == 0, 0.0, out)
    t = np.where(low, target, 0.05)
    root = np.sqrt(2.0 * t)
    x = root * (1.0 + root / 3.0 + root * root * (11.0 / 72.0))
    for _ in range(5):
        x = x - (g(x) - t) / (x * np.exp(-x))
    out = np.where(low, x, out)
    c = -np.log1p(-np.where(high, target, 0.5))
    x = c + np.log1p(c) + np.sqrt(c) * 0.4
    for _ in range(7):
        x = x - (x - np.log1p(x) - c) * (1.0 + x) / x
    return np.where(high, x, out)


def due_known(
    rate: ArrayLike,
    value: ArrayLike,
    full: ArrayLike,
    bar: float,
    unchanged: ArrayLike | None = None,
) -> Floats:
    """Seconds between visits at which freshness per price equals `bar`, the rate being known.

    `tau* = [-1 - W_{-1}(-(1-y)/e)]/d` with `y = bar d c0/(w - bar d (c1 - c0))`; c1 = `full`,
    c0 = `unchanged` (a 304 at the same rate; None = no validator). inf = never worth it
    (the page changes too fast for the price of budget, or never).
    """
    d, w, c1 = not_negative(rate), not_negative(value), not_negative(full)
    c0 = c1 if unchanged is None else np.minimum(not_negative(unchanged), c1)
    room = w - bar * d * (c1 - c0)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(room > 0, bar * d * c0 / room, np.inf)
        return np.where((d > 0) & (y < 1), inverse_g(np.where(y < 1, y, 0.0)) / d, np.inf)


def due_time(score: Callable[[Floats], Floats], n: int, bar: float) -> Floats:
    """Seconds since the last visit at which `score(tau)` reaches `bar`, for n pages.

    `score` takes n ages and returns n scores, not falling in tau. Bisection in log tau between
    one second and 317 years, to 1e-9; inf where the bar is out of reach.
    """
    low, high = np.full(n, np.log(SOONEST)), np.full(n, np.log(LATEST))
    never = score(np.exp(high)) < bar
    at_once = score(np.exp(low)) >= bar
    for _ in range(36):
        middle = 0.5 * (low + high)
        reached = score(np.exp(middle)) >= bar
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    return np.where(never, np.inf, np.where(at_once, SOONEST, np.exp(high)))
