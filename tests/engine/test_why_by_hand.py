"""Every number that `why` prints, worked out again from the others by formulas written here.

Expectations under a belief are integrals over the Gamma density, taken numerically: none of the
closed forms of the code is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

from engine.harness import ORIGIN, Play, answer, no_robots, ok, project
from recrawl.engine.explain import bars_of, explain, find_page
from recrawl.engine.why import Why
from recrawl.model import Kind, Outcome, Visit
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.policies import get_policy, policy_names
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, Unit

SLOT = 0.1  # of a full visit: what a failure costs at least
ROUNDED = 2e-5  # beliefs are kept in float32
PAGES = tuple(f"/{i}" for i in range(30))


def mean_over(a: float, b: float, f: Callable[[float], float]) -> float:
    """E[f(rate)], rate ~ Gamma(a, b), integrated over the logarithm of the rate."""
    belief = stats.gamma(a, scale=1 / b)
    ends = math.log(belief.ppf(1e-13)), math.log(belief.isf(1e-13))

    def at(x: float) -> float:
        r = math.exp(x)
        return f(r) * math.exp(a * (x + math.log(b)) - b * r - math.lgamma(a))

    whole, _ = quad(at, *ends, epsabs=0, epsrel=1e-9, limit=400)
    return float(whole)


def g(x: float) -> float:
    return -math.expm1(-x) - x * math.exp(-x) if x > 1e-3 else x * x / 2 - x**3 / 3 + x**4 / 8


def stale(x: float) -> float:
    """x - (1 - e^-x)"""
    return x + math.expm1(-x) if x > 1e-3 else x * x / 2 - x**3 / 6 + x**4 / 24


def aged(x: float) -> float:
    """x^2/2 + x e^-x - (1 - e^-x)"""
    if x > 1e-2:
        return x * x / 2 + x * math.exp(-x) + math.expm1(-x)
    return x**3 / 3 - x**4 / 8 + x**5 / 30 - x**6 / 144


def class_of(mean_gap: float) -> float:
    """The interval that is nearest in log time."""
    return min((HOUR, DAY, 7 * DAY, 30 * DAY), key=lambda i: abs(math.log(i / mean_gap)))


def worth(w: Why, t: float) -> float:
    """The gain of an answered visit `t` seconds after the last, by the printed belief."""
    a, b, v = w.shape, w.scale, w.value
    m = a / b
    return {
        "freshness": lambda: v * mean_over(a, b, lambda r: g(r * t) / r),
        "harmonic": lambda: v * mean_over(a, b, lambda r: stale(r * t) / r),
        "age": lambda: v * mean_over(a, b, lambda r: aged(r * t) / r**2),
        "events": lambda: v * mean_over(a, b, lambda r: g(r * t)),
        "uniform": lambda: t,
        "value-age": lambda: v * t,
        "proportional": lambda: m * t,
        "article": lambda: v * -math.expm1(-m * t) * -math.expm1(-m * DAY) / m,
        "article-age": lambda: v * math.expm1(-m * t) ** 2 / m,
        "backoff": lambda: t / (w.interval or 7 * DAY),
        "backoff-nutch": lambda: t / (w.interval or 30 * DAY),
        "classes": lambda: t / class_of(b / a),
    }[w.policy]()


def first_worth(w: Why) -> float:
    """The gain of a first reading, over the printed horizon."""
    m, h, v = w.shape / w.scale, w.horizon, w.value
    fresh = v * -math.expm1(-m * h) / m
    return {
        "freshness": fresh,
        "harmonic": fresh,
        "age": v * h * h / 2,
        "events": v * -math.expm1(-m * h),
        "uniform": h,
        "value-age": v * h,
        "proportional": m * h,
        "article": v * -math.expm1(-m * h) * -math.expm1(-m * DAY) / m,
        "article-age": v * math.expm1(-m * h) ** 2 / m,
        "backoff": h / (w.interval or 7 * DAY),
        "backoff-nutch": h / (w.interval or 30 * DAY),
        "classes": h / class_of(w.scale / w.shape),
    }[w.policy]


def shares(w: Why, t: float) -> tuple[float, float]:
    """Of full answers: the marginal one, E[g], and the expected one, P(the validator changed)."""
    if not w.validator_shape:
        return 1.0, 1.0
    belief = w.validator_shape, w.validator_scale
    changed = mean_over(*belief, lambda r: -math.expm1(-r * t))
    return mean_over(*belief, lambda r: g(r * t)), changed


def price(w: Why, cap: dict[str, Any], t: float) -> float:
    p, c0, c1 = w.chance_success, cap["not_modified"], cap["full"]
    return p * (c0 + (c1 - c0) * shares(w, t)[0]) + (1 - p) * (cap["failed"] + SLOT * c1)


def score(w: Why, t: float) -> float:
    gain = w.chance_success * (worth(w, t) if w.last_read else first_worth(w))
    if not get_policy(w.policy).per_price:
        return gain
    return gain / sum(cap["weight"] * price(w, cap, t) for cap in w.caps)


def site() -> Callable[[str, Visit], Outcome]:
    """A third changes at each visit, a third sends validators that hold, a tenth fails."""
    n = iter(range(10**6))

    def ask(url: str, visit: Visit) -> Outcome:
        path = "/" + url.split("/", 3)[3]
        if path == "/":
            return ok("home", *PAGES, "/down")
        if path == "/down" or (path in PAGES[::10] and visit.tau):
            return answer(Kind.SERVER_ERROR, 500)
        if path not in PAGES:
            return no_robots()
        kind = int(path[1:]) % 3
        if visit.request.conditional and kind == 1 and next(n) % 5:
            return answer(Kind.NOT_MODIFIED, 304)
        text = next(n) if kind == 0 else path
        return ok(f"text {text}", etag=f'"{n}"' if kind else "", cost=9_000 + 700 * kind)

    return ask


def crawled(policy: str, *caps: Cap, **changes: Any) -> Play:
    rules = project(policy=get_policy(policy), budget=Budget(caps, HOUR), **changes)
    play, ask = Play(rules, checked=False), site()
    for _ in range(24):
        play.crawl_once(ask)
        play.now += 7 * HOUR
    play.admit(f"{ORIGIN}/fresh")
    play.plan()
    play.now += 13 * HOUR
    return play


def why(play: Play, path: str) -> Why:
    key = find_page(play.crawl, ORIGIN + path)
    page = play.store.get_page(*key)
    return explain(play.crawl, ORIGIN + path, page, [], bars_of(play.store.meta()), play.now)


def check(play: Play, w: Why) -> None:
    """All printed numbers of one page."""
    t = w.tau
    assert w.rate_per_day == pytest.approx(w.shape / w.scale * DAY)
    belief = stats.gamma(w.shape, scale=1 / w.scale)
    assert belief.cdf(w.rate_low / DAY) == pytest.approx(0.05, rel=1e-6)
    assert belief.cdf(w.rate_high / DAY) == pytest.approx(0.95, rel=1e-6)
    if w.last_read:
        assert t == pytest.approx(play.now - w.last_read)
        chance = mean_over(w.shape, w.scale, lambda r: -math.expm1(-r * t))
        assert w.chance_stale == pytest.approx(chance, rel=ROUNDED)
    p = w.chance_success
    for cap in w.caps:
        c0, c1 = cap["not_modified"], cap["full"]
        expected = p * (c0 + (c1 - c0) * shares(w, t)[1]) + (1 - p) * cap["failed"]
        assert cap["expected"] == pytest.approx(expected, rel=ROUNDED)
        assert cap["price"] == pytest.approx(price(w, cap, t), rel=ROUNDED)
    gain = p * (worth(w, t) if w.last_read else first_worth(w))
    assert w.gain == pytest.approx(gain, rel=ROUNDED)
    assert w.price == pytest.approx(sum(c["weight"] * c["price"] for c in w.caps))
    assert w.score == pytest.approx(score(w, t), rel=2 * ROUNDED)
    if w.last_read:
        check_due(play, w)


def check_due(play: Play, w: Why) -> None:
    """The due time is where the score, worked out by hand, comes up to the bar."""
    timing = play.rules.timing
    if w.bar == 0 or score(w, 1.0) >= w.bar:
        wait = timing.min_gap
    elif score(w, 1e9) < w.bar:
        wait = math.inf
        assert w.too_fast or score(w, 1e10) == pytest.approx(w.bar, rel=1e-2)
    else:
        wait = brentq(lambda x: math.log(score(w, math.exp(x)) / w.bar), 0.0, math.log(1e9))
        wait = math.exp(wait)
    wait = min(max(wait, timing.min_gap), timing.max_gap)
    due = max(w.last_read + wait, w.retry_at or 0.0)
    assert w.due - w.last_read == pytest.approx(due - w.last_read, rel=1e-3)


@pytest.mark.parametrize("policy", policy_names())
def test_every_number_of_every_policy(policy: str) -> None:
    play = crawled(policy, Cap(Unit.BYTES, 300_000, "day"))
    told = {path: why(play, path) for path in ("/0", "/1", "/2", "/10", "/down", "/fresh")}
    assert told["/1"].validator_shape and told["/1"].not_modified_cost < told["/1"].full_cost
    assert not told["/0"].validator_shape
    assert told["/10"].fails and told["/10"].chance_success < told["/1"].chance_success
    assert told["/down"].fails and not told["/down"].last_read
    assert not told["/fresh"].last_read and not told["/fresh"].visits
    assert told["/1"].bar > 0, "the budget must bind"
    for w in told.values():
        assert w.policy == policy
        check(play, w)


def test_several_caps_at_once() -> None:
    """Bytes, fetches and money on a tariff of credits: all priced, those that bind weighed."""
    caps = (
        Cap(Unit.BYTES, 260_000, "day"),
        Cap(Unit.FETCHES, 36, "day"),
        Cap(Unit.CREDITS, 40_000_000, "day"),
    )
    play = crawled("freshness", *caps, tariffs={"direct": Tariff("api", Unit.CREDITS, 500.0)})
    both = 0
    for path in ("/0", "/1", "/2", "/10", "/fresh"):
        w = why(play, path)
        assert [c["unit"] for c in w.caps] == [c.unit.value for c in caps]
        both = max(both, sum(c["weight"] > 0 for c in w.caps))
        assert max(c["weight"] for c in w.caps) == 1.0
        check(play, w)
    assert both >= 1
    bars = {Unit.BYTES: 0.5, Unit.FETCHES: 900.0, Unit.CREDITS: 0.0}
    key = find_page(play.crawl, f"{ORIGIN}/1")
    w = explain(play.crawl, f"{ORIGIN}/1", play.store.get_page(*key), [], bars, play.now)
    assert w.unit == "fetches" and w.bar == 900.0
    assert [c["weight"] for c in w.caps] == [0.5 / 900, 1.0, 0.0]
    check(play, w)


def test_money_on_bytes() -> None:
    tariffs = {"direct": Tariff("proxy", Unit.BYTES, 0.008)}
    play = crawled("freshness", Cap(Unit.USD, 2_400, "day"), tariffs=tariffs)
    for path in ("/0", "/1", "/10"):
        w = why(play, path)
        assert w.unit == "micro_usd"
        check(play, w)


def test_the_integrals_are_exact_where_there_is_a_closed_form() -> None:
    """So that a wrong ruler doesn't pass a wrong number."""
    assert mean_over(2.0, 10.0, lambda r: r) == pytest.approx(0.2, rel=1e-8)
    survival = mean_over(3.0, 100.0, lambda r: math.exp(-50 * r))
    assert survival == pytest.approx((100 / 150) ** 3, rel=1e-8)
    for f, low in ((g, 1e-3), (stale, 1e-3), (aged, 1e-2)):
        assert f(low * (1 - 1e-9)) == pytest.approx(f(low * (1 + 1e-9)), rel=1e-7)
    assert np.isclose(class_of(2.5 * DAY), DAY) and np.isclose(class_of(3 * DAY), 7 * DAY)
