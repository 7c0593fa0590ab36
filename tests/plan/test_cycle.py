"""Whole plans: what is bought, in which order, for how much, and what is left out and why."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from recrawl.model import HAS_VALIDATOR, HOT, Purpose, State
from recrawl.plan.appraise import Hosts, Scheme, appraise
from recrawl.plan.cost import PriceBook
from recrawl.plan.cycle import plan_cycle
from recrawl.plan.policies import get_policy, policy_names
from recrawl.plan.reserves import Shares
from recrawl.plan.sizes import SizeModel
from recrawl.plan.standing import LeftOut, Rules
from recrawl.plan.tariff import Tariff
from recrawl.units import DAY, HOUR, Unit

NOW = 1.8e9
NONE = Shares(0.0, 0.0, 0.0)
B, N = Unit.BYTES, Unit.FETCHES


def prior(host, kind):
    return np.ones(host.size), np.full(host.size, 50 * DAY)


def pages(n=4000, hosts=8, seed=0, new=0.0):
    rng = Generator(PCG64(seed))
    hot = np.zeros(n, HOT)
    live = rng.random(n) >= new
    hot["host_id"] = np.sort(rng.integers(0, hosts, n))
    hot["key"] = np.arange(n)
    hot["state"] = np.where(live, State.LIVE, State.NEW)
    hot["last"] = np.where(live, NOW - HOUR - rng.exponential(10 * DAY, n), 0.0)
    hot["a"], hot["b"] = rng.gamma(2, 1, n) + 0.2, rng.lognormal(14, 1.5, n)
    hot["va"], hot["vb"] = hot["a"], hot["b"] / 3
    hot["flags"] = np.where(rng.random(n) < 0.5, HAS_VALIDATOR, 0)
    hot["value"] = rng.choice([1, 2, 4], n)
    hot["body"] = rng.lognormal(10, 1, n)
    for name in ("a", "b", "va", "vb", "body"):
        hot[name][~live] = 0
    return hot


def scheme(policy="freshness", hosts=8, units=(B,), capacity=10**9, success=1.0, **kw):
    return Scheme(
        get_policy(policy),
        prior,
        prior,
        PriceBook(SizeModel(), (Tariff("proxy", B, 0.004),)),
        Hosts(np.full(hosts, capacity), np.full(hosts, success)),
        units,
        **kw,
    )


def plan(hot, budget, s=None, rules=None, seed=1):
    return plan_cycle(
        hot,
        NOW,
        scheme=s or scheme(units=tuple(budget) or (B,)),
        budget=budget,
        rules=rules or Rules(NONE),
        rng=Generator(PCG64(seed)),
    )


def test_buys_the_best_scores_and_nothing_below_the_bar():
    hot, budget = pages(), 5e6
    result = plan(hot, {B: budget})
    seen = appraise(hot, NOW, scheme(), np.float64)
    score = seen.gain / seen.costs[0].price
    order = np.argsort(-score)
    affordable = int((np.cumsum(seen.costs[0].expected[order]) <= budget).sum())
    best = set(order[:affordable].tolist())
    assert best <= set(result.rows.tolist())
    assert len(result.rows) - affordable < 0.05 * affordable + 5  # small ones that still fitted
    assert result.bar == pytest.approx(score[order[affordable]], rel=1e-3)
    assert 0.99 * budget < result.expected[B] <= budget * (1 + 1e-6)
    assert (np.diff(result.scores[: affordable - 5]) <= 1e-6 * result.scores[0]).all()
    np.testing.assert_allclose(result.predicted, seen.chance_changed()[result.rows])
    np.testing.assert_allclose(result.prices, seen.costs[0].price[result.rows])


@pytest.mark.parametrize("policy", policy_names())
def test_every_policy_makes_a_plan_within_budget(policy):
    hot = pages(new=0.2)
    result = plan(hot, {B: 3e6}, scheme(policy), Rules())
    assert 0.9 * 3e6 < result.expected[B] <= 3e6 * (1 + 1e-6)
    assert len(set(result.rows.tolist())) == len(result.rows)
    assert np.isfinite(result.scores).all()


def test_uniform_takes_the_oldest_whatever_they_cost_or_are_worth():
    hot = pages()
    result = plan(hot, {N: 100}, scheme("uniform", units=(N,)))
    assert set(result.rows.tolist()) == set(np.argsort(hot["last"])[:100].tolist())


def test_policies_prefer_what_their_goal_says():
    """Ten-minute, daily and yearly pages, all read a day ago."""
    hot = pages(3, 1)
    hot["last"], hot["flags"], hot["value"], hot["body"] = NOW - DAY, 0, 1, 1e4
    hot["a"], hot["b"] = 50, 50 / np.array([144 / DAY, 1 / DAY, 1 / (365 * DAY)])
    first = {p: int(plan(hot, {N: 1}, scheme(p, 1, (N,))).rows[0]) for p in policy_names()}
    assert first["freshness"] == 1
    assert first["events"] == 0
    assert first["harmonic"] == 0


@given(st.lists(st.floats(1e4, 1e9), min_size=2, max_size=2), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_budget_never_exceeded_and_lambda_falls_as_it_grows(budgets, seed):
    hot = pages(1500, seed=seed, new=0.1)
    low, high = (plan(hot, {B: b}) for b in sorted(budgets))
    for result, budget in zip((low, high), sorted(budgets), strict=True):
        assert result.expected[B] <= budget * (1 + 1e-5)
    assert low.bars[B] >= high.bars[B] * (1 - 1e-6)
    assert low.gains.sum() <= high.gains.sum() * (1 + 1e-6)


def test_every_page_is_bought_or_left_out_for_a_counted_reason():
    hot = pages(new=0.1)
    hot["state"][:300] = State.GONE
    hot["last"][500:700] = NOW - 60
    hot["state"][500:700] = State.LIVE
    hot["retry_at"][800:900] = NOW + 1
    hot["a"][1000:1500], hot["b"][1000:1500] = 100, 100 * 60  # a change a minute
    capacity = np.full(8, 10**9)
    capacity[7], capacity[6] = 0, 5
    s = scheme()
    s = Scheme(s.policy, prior, prior, s.prices, Hosts(capacity, np.ones(8)))
    result = plan(hot, {B: 5e6}, s)
    assert len(result.rows) + sum(result.left_out.values()) == len(hot)
    assert result.left_out[LeftOut.NOT_LIVE] == 300
    assert result.left_out[LeftOut.TOO_SOON] == 200
    assert result.left_out[LeftOut.RETRY_LATER] == 100
    assert result.left_out[LeftOut.HOST_RESTING] == (hot["host_id"] == 7).sum()
    assert result.left_out[LeftOut.TOO_FAST] >= 400
    for reason in (LeftOut.HOST_FULL, LeftOut.TOO_FRESH, LeftOut.OVER_BUDGET):
        assert result.left_out[reason] > 0
    assert np.bincount(hot["host_id"][result.rows], minlength=8)[6] == 5


def test_a_full_host_leaves_its_share_to_the_others():
    hot = pages(seed=3)
    hot["value"][hot["host_id"] == 0] = 1000  # everything best is on one host
    result = plan(hot, {B: 2e6}, scheme(capacity=10))
    taken = np.bincount(hot["host_id"][result.rows], minlength=8)
    assert taken.max() <= 10
    assert taken.sum() > 70  # 8 hosts x 10, unless the money runs out
    mine = result.rows[hot["host_id"][result.rows] == 0]
    free = plan(hot, {B: 2e6}).rows
    assert set(mine.tolist()) <= set(free.tolist())


def test_pages_that_change_too_fast_for_the_price_are_never_bought():
    hot = pages(2000, 1)
    hot["a"][:200], hot["b"][:200] = 100, 100 * 600.0
    result = plan(hot, {B: 2e6}, scheme(hosts=1))
    assert not set(range(200)) & set(result.rows.tolist())
    assert set(range(200)) & set(plan(hot, {B: 2e6}, scheme("events", 1)).rows.tolist())


def test_cheap_304s_rank_a_page_above_its_twin():
    hot = pages(1000, 1)
    hot["a"], hot["b"], hot["va"], hot["vb"] = 2, 40 * DAY, 2, 40 * DAY
    hot["last"], hot["value"], hot["body"] = NOW - 5 * DAY, 1, 3e4
    flagged = hot["flags"] == HAS_VALIDATOR
    rows = plan(hot, {B: 1e6}, scheme(hosts=1)).rows
    assert flagged[rows].all()
    hot["vb"] = 10.0  # a validator that changes always: no better than none
    assert not flagged[plan(hot, {B: 1e6}, scheme(hosts=1)).rows].all()


def test_unhealthy_hosts_are_outbid():
    hot = pages(2000, 2)
    s = scheme(hosts=2)
    s = Scheme(s.policy, prior, prior, s.prices, Hosts(np.full(2, 10**9), np.array([1.0, 0.3])))
    taken = np.bincount(hot["host_id"][plan(hot, {B: 2e6}, s).rows], minlength=2)
    assert taken[0] > 1.2 * taken[1]
    failing = np.arange(2000) % 2 == 0
    hot["fails"][failing] = 5
    again = failing[plan(hot, {N: 200}, scheme(hosts=2, units=(N,))).rows]
    assert again.mean() < 0.3


def test_the_sample_is_uniform_over_live_pages_and_frozen_before_anything_else():
    hot = pages(2000, new=0.3)
    hot["last"][:200] = NOW - 60  # live, but not to be visited now
    hot["state"][:200] = State.LIVE
    hot["value"][hot["state"] == State.NEW] = 0.001
    rules = Rules(Shares(0.0, 0.0, 0.5))
    counts, missing = np.zeros(2000), 0
    for seed in range(60):
        result = plan(hot, {N: 200}, scheme(units=(N,)), rules, seed)
        drawn = result.purposes == Purpose.VERIFICATION
        assert drawn.sum() + result.missing_draws == 100
        assert drawn[: drawn.sum()].all()  # served first
        assert not result.unconditional[~drawn].any()
        counts[result.rows[drawn]] += 1
        missing += result.missing_draws
    live = hot["state"] == State.LIVE
    assert counts[~live].sum() == 0
    assert missing / 6000 == pytest.approx(200 / live.sum(), rel=0.25)
    expected = 6000 / live.sum()
    able = live & (np.arange(2000) >= 200)
    assert counts[able].mean() == pytest.approx(expected, rel=0.05)
    assert counts[able].var() == pytest.approx(expected, rel=0.3)  # no page is favoured
    assert 0 < result.unconditional[drawn].mean() < 0.5
    assert 0 < result.due[drawn].sum() < drawn.sum()


@pytest.mark.parametrize("bare", [0.0, 0.25, 1.0])
def test_verification_costs_its_share_with_the_draws_sent_bare_at_full_price(bare):
    hot = pages(2000, hosts=1)
    hot["flags"], hot["va"], hot["vb"] = HAS_VALIDATOR, 0.1, 1e8  # nearly all answer 304
    s, budget = scheme(hosts=1), 2e6
    cost = []
    for seed in range(60):
        result = plan(hot, {B: budget}, s, Rules(Shares(0.0, 0.0, 0.1, bare)), seed)
        seen = appraise(hot[result.rows], NOW, s, np.float64)
        paid = np.where(result.unconditional, seen.fullest[0], seen.costs[0].expected)
        cost.append(paid[result.purposes == Purpose.VERIFICATION].sum())
    assert np.mean(cost) == pytest.approx(0.1 * budget, rel=0.1)


def test_reserves_take_their_shares_and_flow_back():
    hot = pages(3000, new=0.3)
    hot["last"][:300], hot["state"][:300] = NOW - 400 * DAY, State.LIVE
    hot["a"][:300], hot["b"][:300] = 0.001, 1e12  # overdue, and not worth a visit by score
    hot["state"][300:330], hot["last"][300:330] = State.GONE, NOW - 50 * DAY
    result = plan(hot, {N: 400}, scheme(units=(N,)), Rules(Shares(0.25, 0.25, 0.05)))
    count = {p: int((result.purposes == p).sum()) for p in Purpose}
    assert count[Purpose.VERIFICATION] + result.missing_draws == 20
    assert count[Purpose.REESTIMATION] == 100
    returning = (hot["state"][result.rows] == State.GONE).sum()
    assert returning == 10
    assert count[Purpose.DISCOVERY] >= 100
    assert len(result.rows) == 400
    nothing_new = hot[hot["state"] != State.NEW]
    again = plan(nothing_new, {N: 400}, scheme(units=(N,)), Rules(Shares(0.25, 0.25, 0.05)))
    assert len(again.rows) == 400  # discovery had no use for its share


@given(
    st.tuples(*[st.floats(0.0, 0.33)] * 3),
    st.floats(30.0, 300.0),
    st.sampled_from(["nothing new", "nothing overdue", "nothing live", "anything"]),
    st.integers(0, 3),
)
@settings(max_examples=40, deadline=None)
def test_what_a_reserve_does_not_use_buys_in_the_same_window(shares, visits, what, seed):
    """The whole window is spent whatever the reserves find no use for."""
    hot = pages(1000, seed=seed, new=0.0 if what == "nothing new" else 0.3)
    if what == "nothing live":
        hot["state"], hot["last"] = State.NEW, 0.0
    if what == "anything":
        hot["last"][:40], hot["state"][:40] = NOW - 400 * DAY, State.LIVE
    result = plan(hot, {N: visits}, scheme(units=(N,)), Rules(Shares(*shares)), seed)
    assert len(result.rows) == int(visits)
    bought = {Purpose(int(p)) for p in np.unique(result.purposes)}
    if what == "nothing new":
        assert Purpose.DISCOVERY not in bought
    if what == "nothing overdue":
        assert Purpose.REESTIMATION not in bought
    if what == "nothing live":
        assert bought == {Purpose.DISCOVERY}


def test_overdue_pages_are_visited_longest_first():
    hot = pages(1000)
    hot["a"], hot["b"] = 0.001, 1e12
    hot["last"] = NOW - np.linspace(91, 900, 1000) * DAY
    result = plan(hot, {N: 100}, scheme(units=(N,)), Rules(Shares(0.0, 0.5, 0.0)))
    reserve = result.rows[result.purposes == Purpose.REESTIMATION]
    assert set(reserve.tolist()) == set(range(1000 - len(reserve), 1000))
    assert len(reserve) == 45


def test_new_pages_beyond_their_share_bid_with_the_same_currency():
    hot = pages(2000, new=0.5)
    rich = hot.copy()
    rich["value"][rich["state"] == State.NEW] = 1000
    share = Rules(Shares(0.1, 0.0, 0.0))
    few = (plan(hot, {N: 200}, scheme(units=(N,)), share).purposes == Purpose.DISCOVERY).sum()
    many = (plan(rich, {N: 200}, scheme(units=(N,)), share).purposes == Purpose.DISCOVERY).sum()
    assert few >= 20
    assert many == 200


def test_one_pass_visits_every_page_once():
    hot = pages(1000, new=0.3)
    hot["last"][:50] = NOW - 10
    hot["state"][:50] = State.LIVE
    hot["retry_at"][50:60] = NOW + 100
    hot["state"][60:70] = State.GONE
    result = plan(hot, {}, rules=Rules(pass_start=NOW - 60))
    assert set(result.rows.tolist()) == set(range(70, 1000))
    assert result.left_out[LeftOut.VISITED] == 50
    assert result.bar == 0.0
    assert set(np.unique(result.purposes)) == {Purpose.DISCOVERY, Purpose.BEST_BUY}
    capped = plan(hot, {N: 100}, rules=Rules(pass_start=NOW - 60))
    assert len(capped.rows) == 100


def test_several_caps_are_all_kept_and_priced():
    hot = pages(5000)
    for budget in ({B: 5e6, N: 1e9}, {B: 1e12, N: 300}, {B: 5e6, N: 450}):
        result = plan(hot, budget)
        assert all(result.expected[u] <= b * (1 + 1e-5) for u, b in budget.items())
    loose_bytes = plan(hot, {B: 1e12, N: 300})
    assert loose_bytes.bars[B] == 0
    assert loose_bytes.bars[N] > 0
    assert set(loose_bytes.rows.tolist()) == set(plan(hot, {N: 300}).rows.tolist())
    alone = plan(hot, {B: 5e6})
    both = plan(hot, {B: 5e6, N: len(alone.rows) * 0.7})
    assert both.bars[B] > 0
    assert both.bars[N] > 0
    assert both.gains.sum() > 0.7 * alone.gains.sum()
    assert both.expected[N] > 0.93 * len(alone.rows) * 0.7
    assert both.expected[B] > 0.93 * 5e6


def test_pages_without_a_belief_use_their_groups_prior():
    hot = pages(500, 2)
    hot["a"], hot["b"] = 0, 0

    def by_host(host, kind):
        return np.ones(host.size), np.where(host == 0, 5 * DAY, 5000 * DAY)

    s = scheme(hosts=2)
    s = Scheme(s.policy, by_host, prior, s.prices, Hosts.unlimited(2))
    taken = hot["host_id"][plan(hot, {B: 1e6}, s).rows]
    assert (taken == 0).mean() > 0.9


@pytest.mark.parametrize("budget", [{B: 0.0}, {B: 1.0}, {N: 0}, {}])
def test_nothing_to_spend_or_nothing_to_visit(budget):
    empty = plan(np.zeros(0, HOT), budget, rules=Rules())
    assert empty.rows.size == 0
    if budget:
        assert plan(pages(300), budget).rows.size == 0


def test_nasty_rows_never_break_a_plan():
    hot = pages(600, 2)
    nasty = np.array([0, -1, np.nan, np.inf, 1e30, 1e-30], "f4")
    for i, name in enumerate(("a", "b", "va", "vb", "body", "value")):
        hot[name][100 * i : 100 * i + 60] = np.tile(nasty, 10)
    hot["last"][-20:] = NOW + DAY  # a clock that went back
    for policy in policy_names():
        with np.errstate(all="raise", under="ignore"):
            result = plan(hot, {B: 1e6}, scheme(policy, 2), Rules())
        assert np.isfinite(result.gains).all()
        assert result.expected[B] <= 1e6 * (1 + 1e-5)


def test_an_unknown_policy_is_answered_with_the_names():
    with pytest.raises(ValueError, match=r"'random'.*freshness, harmonic, age, events, uniform"):
        get_policy("random")
    assert policy_names()[0] == "freshness"


@pytest.mark.parametrize(
    "shares", [(-0.1, 0, 0), (0.5, 0.4, 0.2), (1.1, 0, 0), (0, 0, float("nan"))]
)
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match=r"shares of the budget|reserves take"):
        Shares(*shares)
