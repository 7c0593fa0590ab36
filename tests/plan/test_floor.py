"""The plan by a glance at most pages is the plan by a close look at all of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from recrawl.model import HAS_VALIDATOR, HOT, Columns, State
from recrawl.plan import candidates, cycle, floor, standing
from recrawl.plan.appraise import Hosts, Scheme, appraise
from recrawl.plan.cost import PriceBook
from recrawl.plan.cycle import plan_cycle
from recrawl.plan.glance import glance
from recrawl.plan.policies import get_policy, policy_names
from recrawl.plan.reserves import Shares
from recrawl.plan.select import TooHigh, buy
from recrawl.plan.sizes import SizeModel
from recrawl.plan.standing import Rules, Standings
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, Unit

NOW = 1.8e9
B, N, USD = Unit.BYTES, Unit.FETCHES, Unit.USD
HOSTS = 6


def prior(host, kind):
    return np.ones(host.size), (1.0 + host + 10.0 * kind) * DAY


def pages(n, seed, new, spread=2.0):
    """Pages of all states, some failing, some of no history, some that no answer was read of."""
    rng = Generator(PCG64(seed))
    hot = np.zeros(n, HOT)
    hot["host_id"], hot["key"] = np.sort(rng.integers(0, HOSTS, n)), np.arange(n)
    hot["page_type"] = rng.integers(0, 3, n)
    fresh = rng.random(n) < new
    hot["state"] = np.where(fresh, State.NEW, State.LIVE)
    hot["state"][rng.random(n) < 0.05] = State.GONE
    hot["last"] = np.where(fresh, 0.0, NOW - HOUR - rng.exponential(20 * DAY, n))
    for a, b in (("a", "b"), ("va", "vb")):
        hot[a] = rng.gamma(2, 1, n) + 0.2
        hot[b] = rng.lognormal(14, spread, n)
        hot[a][rng.random(n) < 0.4] = 0.0  # no change seen yet: b is the exposure
    hot["flags"] = np.where(rng.random(n) < 0.5, HAS_VALIDATOR, 0)
    hot["value"] = rng.choice([1, 2, 4, 8], n)
    hot["body"] = np.where(rng.random(n) < 0.8, rng.lognormal(10, 1, n), 0.0)
    hot["fails"] = rng.choice([0, 0, 0, 1, 5], n)
    hot["retry_at"] = np.where(rng.random(n) < 0.03, NOW + 60, 0)
    for name in ("a", "b", "va", "vb", "body", "flags"):
        hot[name][fresh] = 0
    return hot


def scheme(policy="freshness", units=(B,), capacity=10**9):
    return Scheme(
        get_policy(policy),
        prior,
        prior,
        PriceBook(SizeModel(), (Tariff("proxy", B, 0.004),)),
        Hosts(np.full(HOSTS, capacity), np.linspace(0.5, 1.0, HOSTS)),
        units,
    )


class Watched:
    """`plan_cycle` at a small sample, by a glance or (plain) with a close look at all pages."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(floor, "SAMPLED", 100)
        monkeypatch.setattr(standing, "CHUNK", 512)
        self.guess, self.survey = floor.Sample.floor, cycle.survey
        self.markets, self.plain = [], False

        def floored(*asked):
            found = self.guess(*asked)
            return replace(found, level=0.0, new=0.0) if self.plain else found

        def surveyed(*asked):
            found = self.survey(*asked)
            self.markets.append(found[0].rows.size)
            return found

        monkeypatch.setattr(floor.Sample, "floor", floored)
        monkeypatch.setattr(cycle, "survey", surveyed)

    def plan(self, hot, budget, s, rules, plain):
        self.plain, self.markets = plain, []
        rng = Generator(PCG64(3))
        return plan_cycle(hot, NOW, scheme=s, budget=budget, rules=rules, rng=rng)


@pytest.fixture
def watched(monkeypatch):
    return Watched(monkeypatch)


def same(one, other):
    for name in ("rows", "purposes", "scores", "gains", "prices", "due", "unconditional"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("bars", "bar", "expected", "left_out", "missing_draws"):
        assert getattr(one, name) == getattr(other, name), name


@given(
    seed=st.integers(0, 10**6),
    new=st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    budget=st.dictionaries(st.sampled_from([B, N, USD]), st.floats(-4, 0.5), min_size=1),
    capacity=st.sampled_from([0, 3, 40, 10**9]),
    policy=st.sampled_from(policy_names()),
    shares=st.sampled_from([Shares(), Shares(0.0, 0.0, 0.0), Shares(0.05, 0.6, 0.1)]),
    one_pass=st.sampled_from([False, False, False, True]),
)
@settings(max_examples=150, deadline=None)
def test_buys_what_a_close_look_at_all_pages_buys(
    seed, new, budget, capacity, policy, shares, one_pass
):
    """Any pages, budgets (from a few visits to more than all), caps, hosts, reserves, policies."""
    hot = pages(3000, seed, new)
    whole = {B: 3000 * 2e4, N: 3000.0, USD: 3000 * 80.0}
    budget = {unit: whole[unit] * 10.0**share for unit, share in budget.items()}
    s = scheme(policy, tuple(budget), capacity)
    rules = Rules(shares, pass_start=NOW - HOUR if one_pass else None)
    with pytest.MonkeyPatch.context() as patch:
        watched = Watched(patch)
        plain = watched.plan(hot, budget, s, rules, plain=True)
        assert watched.markets == [int(standing_open(hot, s, rules))]
        same(watched.plan(hot, budget, s, rules, plain=False), plain)
        same(watched.plan(Columns.of(hot), budget, s, rules, plain=False), plain)


def standing_open(hot, s, rules):
    counts = Standings(hot, NOW, s.hosts.capacity, rules).counts
    return counts[2:5].sum()


@pytest.mark.parametrize("budget", [{B: 2e5}, {B: 2e5, N: 8.0}, {N: 30.0, USD: 1500.0}])
def test_a_tight_budget_needs_a_close_look_at_few_pages(watched, budget, monkeypatch):
    monkeypatch.setattr(floor, "SAMPLED", 2000)
    hot = pages(20_000, 1, 0.0)
    watched.plan(hot, budget, scheme(units=tuple(budget)), Rules(), plain=False)
    assert len(watched.markets) == 1
    assert watched.markets[0] < 700


def test_where_hosts_are_full_the_market_is_widened_until_the_answer_is_sure(watched):
    """The guess can't see that one host holds all the best pages, and takes few of them."""
    hot = pages(3000, 1, 0.0)
    hot["host_id"][2500:], hot["value"][2500:] = HOSTS - 1, 1000
    s = scheme(units=(N,))
    s.hosts.capacity[-1] = 2
    rules = Rules(Shares(0.0, 0.0, 0.0))
    found = watched.plan(hot, {N: 40.0}, s, rules, plain=False)
    assert len(watched.markets) > 1
    assert watched.markets == sorted(watched.markets)
    same(found, watched.plan(hot, {N: 40.0}, s, rules, plain=True))


def test_every_score_is_below_what_the_glance_says():
    """Also at the second look, which knows more of validators."""
    hot, s = pages(20_000, 5, 0.2, spread=6.0), scheme(units=(B, N, USD))
    for policy in policy_names():
        s, bounds = replace(s, policy=get_policy(policy)), []

        def all_do(gain, prices, rows, bounds=bounds):
            bounds.append((gain, prices))
            return np.ones(gain.size, np.bool_)

        seen, (rows, _) = appraise(hot, NOW, s, np.float32), glance(hot, NOW, s, all_do)
        assert len(rows) == len(hot)
        assert len(bounds) == 2
        for gain, prices in bounds:
            for cost, price in zip(seen.costs, prices, strict=True):
                most = gain / np.maximum(price, 1e-30)
                assert (seen.gain / cost.price <= most * (1 + candidates.ROUNDING)).all()


@given(seed=st.integers(0, 10**6), budget=st.floats(0, 300), room=st.integers(0, 60))
@settings(max_examples=100, deadline=None)
def test_without_the_low_scores_a_purchase_is_the_same_or_refused(seed, budget, room):
    rng = Generator(PCG64(seed))
    score = rng.lognormal(0, 2, 400).astype(np.float32)
    cost = rng.lognormal(0, 1, 400).astype(np.float32)
    host, capacity = rng.integers(0, 3, 400), np.full(3, room)
    whole, bar = buy(score, [cost], [budget], host, capacity)
    high = np.flatnonzero(score >= 2.0)
    below = np.bincount(host[score < 2.0], minlength=3) > 0
    try:
        part, same_bar = buy(
            score[high], [cost[high]], [budget], host[high], capacity, 2.0, lambda: below
        )
    except TooHigh:
        assert bar < 2.0 * 1.07 or (np.bincount(host[whole], minlength=3) == room).any()
    else:
        assert (high[part].tolist(), same_bar) == (whole.tolist(), bar)
