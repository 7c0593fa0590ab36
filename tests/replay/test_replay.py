"""Replays: exact shortcuts, budgets that hold, scores that agree with a plain account."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from recrawl.plan.allocate import Pages, optimal
from recrawl.plan.policies import get_policy, policy_names
from recrawl.replay import Events, Lane, Settings, World, replay
from recrawl.replay.score import clairvoyant, expected_freshness
from recrawl.units import DAY, HOUR

SPAN = 60 * DAY
SHORT = Settings(span=SPAN, since=10 * DAY, cycle=2 * HOUR)


def made(seed=1, n=80, validators=True, dies=True):
    rng = Generator(PCG64(seed))
    rate = rng.lognormal(np.log(1 / (4 * DAY)), 1.5, n)
    counts = rng.poisson(rate * SPAN)
    page = np.repeat(np.arange(n), counts)
    full = rng.lognormal(0, 0.7, n)
    world = World.of(
        Events.of(n, page, rng.uniform(0, SPAN, page.size)),
        group=np.arange(n) % 4,
        value=rng.choice([1.0, 2.0, 8.0], n),
        full=full,
        unchanged=np.where(validators & (np.arange(n) % 2 == 0), 0.05 * full, full),
        died=np.where(dies & (np.arange(n) % 10 == 0), rng.uniform(0, SPAN, n), np.inf),
        shown=Events.of(n, page, rng.uniform(0, SPAN, page.size)) if validators else None,
    )
    return world, rate


def lanes_of(world, *visits):
    return [Lane(world, v * float(world.full.sum()) / DAY) for v in visits]


@pytest.mark.parametrize("name", policy_names())
def test_few_looks_buy_what_full_looks_buy(name):
    lanes = lanes_of(made()[0], 0.05, 0.5)
    policy, outs = get_policy(name), []
    for look in (0.0, 12 * HOUR):
        terms = Settings(span=SPAN, since=10 * DAY, cycle=2 * HOUR, look=look, mean_gap=4 * DAY)
        outs.append(replay(lanes, policy, terms))
    for full, few in zip(*outs, strict=True):
        np.testing.assert_array_equal(few.readings.page, full.readings.page)
        np.testing.assert_array_equal(few.readings.time, full.readings.time)


@pytest.mark.parametrize("name", policy_names())
@pytest.mark.parametrize("visits", [0.05, 0.5])
def test_a_budget_is_spent_and_overdrawn_by_one_visit_at_most(name, visits):
    world, _ = made(dies=False)
    (lane,) = lanes_of(world, visits)
    (out,) = replay([lane], get_policy(name), Settings(span=SPAN, since=0.0, cycle=2 * HOUR))
    assert lane.budget * SPAN * 0.97 <= out.spend <= lane.budget * SPAN + world.full.max()
    assert out.spend_in_vain < out.spend


def test_lanes_do_not_disturb_each_other():
    a, b = made(1)[0], made(2)[0]
    policy = get_policy("freshness")
    together = replay([*lanes_of(a, 0.2), *lanes_of(b, 0.4)], policy, SHORT)
    alone = [*replay(lanes_of(a, 0.2), policy, SHORT), *replay(lanes_of(b, 0.4), policy, SHORT)]
    assert [o.freshness for o in together] == pytest.approx([o.freshness for o in alone], abs=1e-9)


def plainly(world, readings, since, until):
    """Freshness by walking along each page's life."""
    fresh = weight = 0.0
    for i in range(len(world)):
        end = min(world.died[i], until)
        times = [0.0, *readings.time[readings.page == i].tolist(), end]
        changes = world.changes.times[world.changes.start[i] : world.changes.start[i + 1]]
        for begin, following in pairwise(times):
            after = changes[changes > begin]
            wrong = min(after[0], following) if after.size else following
            fresh += world.value[i] * max(0.0, min(wrong, end) - max(begin, since))
        weight += world.value[i] * max(0.0, end - since)
    return fresh / weight


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), visits=st.floats(0.02, 1.0))
def test_the_score_is_a_walk_along_each_page(seed, visits):
    world, _ = made(seed, n=20)
    (out,) = replay(lanes_of(world, visits), get_policy("harmonic"), SHORT)
    assert out.freshness == pytest.approx(plainly(world, out.readings, 10 * DAY, SPAN), abs=1e-9)
    assert 0 <= out.captured <= 1
    assert out.changes_found <= out.visits
    bound = clairvoyant(world, visits * float(world.full.sum()) / DAY, 10 * DAY, SPAN)
    assert out.freshness <= bound + 0.1  # what was bought before `since` is not in the bound


def test_expected_freshness_is_the_mean_of_what_is_seen():
    seen, expected = [], []
    for seed in range(12):
        world, rate = made(seed, n=60, dies=False)
        (out,) = replay(lanes_of(world, 0.3), get_policy("freshness"), SHORT)
        seen.append(out.freshness)
        expected.append(expected_freshness(world, rate, out.readings, 10 * DAY, SPAN))
    assert np.mean(seen) == pytest.approx(np.mean(expected), abs=0.015)


def test_known_rates_come_to_the_convex_optimum():
    rng = Generator(PCG64(3))
    rate = rng.lognormal(np.log(1 / (5 * DAY)), 1.5, 400)
    page = np.repeat(np.arange(400), rng.poisson(rate * SPAN))
    world = World.of(Events.of(400, page, rng.uniform(0, SPAN, page.size)))
    lane = Lane(world, 0.3 * 400 / DAY, rate)
    (out,) = replay([lane], get_policy("freshness"), SHORT)
    best = optimal(Pages.of(rate), lane.budget).freshness
    got = expected_freshness(world, rate, out.readings, 10 * DAY, SPAN)
    assert got == pytest.approx(best, rel=0.01)


def test_a_restless_validator_priced_by_the_record_loses():
    """Every answer is a full one where the validator moves with each visit."""
    rng = Generator(PCG64(4))
    n = 200
    page = np.repeat(np.arange(n), rng.poisson(np.full(n, SPAN / (6 * DAY))))
    restless = np.repeat(np.arange(n // 2), 20 * 60)
    world = World.of(
        Events.of(n, page, rng.uniform(0, SPAN, page.size)),
        group=(np.arange(n) < n // 2).astype(int),
        unchanged=0.02,
        shown=Events.of(n, restless, rng.uniform(0, SPAN, restless.size)),
    )
    lane = Lane(world, 0.05 * n / DAY)
    right, wrong = (
        replay(
            [lane], get_policy("freshness"), Settings(SPAN, 10 * DAY, 2 * HOUR, price_by_record=p)
        )[0]
        for p in (False, True)
    )
    assert wrong.staleness > 1.05 * right.staleness


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_random_visits_take_their_share(share):
    world, _ = made(dies=False)
    terms = Settings(span=SPAN, since=0.0, cycle=2 * HOUR, random_share=share)
    rng = Generator(PCG64(1))
    (out,) = replay(lanes_of(world, 0.3), get_policy("freshness"), terms, rng=rng)
    assert out.visits > 0
    with pytest.raises(ValueError, match="generator"):
        replay(lanes_of(world, 0.3), get_policy("freshness"), terms)


@given(
    events=st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1e6)), max_size=40),
    asked=st.tuples(st.integers(0, 5), st.floats(0, 1e6)),
)
def test_the_event_that_follows(events, asked):
    pages, times = [e[0] for e in events], [e[1] for e in events]
    made_of = Events.of(6, pages, times)
    page, at = np.array([asked[0]]), np.array([asked[1]])
    later = sorted(t for p, t in events if p == asked[0] and t > asked[1] + 1e-3)
    got = made_of.following(page, made_of.position(page, at))[0]
    # keys on one axis are good to a few microseconds
    assert got == (later[0] if later else np.inf) or abs(got - asked[1]) < 1e-3
