"""The group prior: finds a group's mean, survives a wrong default, shrinks what it barely saw."""

import json

import numpy as np
import pytest
from numpy.random import PCG64, Generator

from recrawl.learn.prior import MEAN_GAP, GroupPrior
from recrawl.learn.rate import update
from recrawl.units import DAY


def feed(prior, host, kind, mean_gap, rng, pages=100, visits=3, interval=7 * DAY):
    """Pages of rate ~ Gamma(1, mean_gap), each visited a few times."""
    for rate in rng.exponential(1 / mean_gap, pages):
        for k in range(visits):
            tau = float(interval * rng.lognormal(0, 0.5))
            changed = bool(rng.random() < -np.expm1(-rate * tau))
            prior.observe(host, kind, tau, changed, intervals=k)


def test_before_any_visit_the_mean_gap_is_the_default():
    a, b = GroupPrior().belief(5, 2)
    assert a == 1.0
    assert b == pytest.approx(MEAN_GAP)


@pytest.mark.parametrize("factor", [1 / 200, 1 / 10, 1.0, 10.0, 200.0])
def test_a_default_200_times_wrong_is_overcome(factor):
    rng = Generator(PCG64(1))
    truth = 20 * DAY
    prior = GroupPrior(truth * factor)
    feed(prior, 1, 0, truth, rng)
    assert prior.belief(1, 0)[1] == pytest.approx(truth, rel=0.5)
    assert prior.belief(9, 0)[1] == pytest.approx(truth, rel=0.7)  # a host never seen
    assert prior.belief(9, 7)[1] == pytest.approx(truth, rel=0.9)  # nor its page type


@pytest.mark.parametrize("factor", [1 / 200, 200.0])
def test_a_few_visits_already_move_a_wrong_default_most_of_the_way(factor):
    rng = Generator(PCG64(2))
    prior = GroupPrior(20 * DAY * factor)
    feed(prior, 1, 0, 20 * DAY, rng, pages=20, visits=1)
    assert abs(np.log(prior.belief(1, 0)[1] / (20 * DAY))) < np.log(4)


def test_groups_differ_and_types_carry_over_to_new_hosts():
    """A group is believed as fast as it shows itself, but never slower than all pages are."""
    rng = Generator(PCG64(3))
    prior = GroupPrior()
    for host in range(6):
        feed(prior, host, 0, 2 * DAY, rng, interval=2 * DAY)
        feed(prior, host, 1, 200 * DAY, rng, interval=60 * DAY)
    whole = prior.belief(99, 7)[1]  # nothing is known of that host nor of that type
    assert prior.belief(0, 0)[1] == pytest.approx(2 * DAY, rel=0.6)
    assert prior.belief(99, 0)[1] < 6 * DAY < whole  # a new host of the fast type
    assert prior.belief(0, 1)[1] == prior.belief(99, 1)[1] == whole


def test_a_page_without_a_change_is_believed_what_its_group_does_by_now():
    """Whatever the group learned in between, and in whichever order the visits came."""
    prior, group = GroupPrior(), (1, 0)
    a, b = 0.0, 0.0  # as stored of a page that was read once
    for tau in (DAY, 3 * DAY):
        a, b = prior.after(a, b, group, tau, False)
        prior.observe(*group, tau, False)
    assert (a, b) == (0.0, 4 * DAY)
    for _ in range(30):
        prior.observe(*group, DAY / 24, True)
    assert prior.of_page(a, b, *group) == (1.0, prior.belief(*group)[1] + 4 * DAY)
    own = prior.after(a, b, group, DAY, True)
    assert own == update(1.0, prior.belief(*group)[1] + 4 * DAY, DAY, True)
    prior.observe(*group, 99 * DAY, False)
    assert prior.of_page(*own, *group) == own  # its own by now
    columns = [np.array(x) for x in ([a, own[0], 0.0], [b, own[1], 0.0], [1, 1, 2], [0, 0, 0])]
    for got, row in zip(
        np.transpose(prior.complete(*columns)), np.transpose(columns), strict=True
    ):
        assert tuple(got) == prior.of_page(*row[:2], int(row[2]), int(row[3]))


def test_one_odd_page_does_not_decide_its_group():
    rng = Generator(PCG64(4))
    prior = GroupPrior()
    feed(prior, 1, 0, 30 * DAY, rng)
    before = prior.belief(1, 0)[1]
    for k in range(2000):  # one page that changes at each of very many visits
        prior.observe(1, 0, 3600.0, True, intervals=k)
    assert prior.belief(1, 0)[1] > before / 5


@pytest.mark.parametrize("tau", [0.0, -1.0, float("nan"), float("inf")])
def test_no_time_says_nothing(tau):
    prior = GroupPrior()
    prior.observe(1, 0, tau, True)
    assert prior.belief(1, 0) == GroupPrior().belief(1, 0)


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("tau", [1e-3, 1.0, 1e9])
def test_surprises_without_end_stay_finite(changed, tau):
    prior = GroupPrior()
    for _ in range(500):
        prior.observe(1, 0, tau, changed)
    _, b = prior.belief(1, 0)
    assert np.isfinite(b)
    assert b > 0
    assert (b < tau) if changed else (b > tau)


def test_more_evidence_of_change_never_makes_a_group_slower():
    prior = GroupPrior()
    last = np.inf
    for _ in range(50):
        prior.observe(1, 0, DAY, True)
        b = prior.belief(1, 0)[1]
        assert b < last
        last = b


def test_arrays_do_what_single_look_ups_do():
    rng = Generator(PCG64(6))
    prior = GroupPrior()
    hosts, kinds = rng.integers(0, 12, 300), rng.integers(0, 4, 300)
    empty = prior.beliefs(hosts, kinds)[1]
    np.testing.assert_allclose(empty, MEAN_GAP)
    for host, kind in [(1, 0), (3, 2), (11, 3)]:
        feed(prior, host, kind, 5 * DAY, rng, pages=10)
    a, b = prior.beliefs(hosts.astype(np.int32), kinds.astype(np.int16))
    assert (a == 1).all()
    np.testing.assert_allclose(
        b, [prior.belief(int(h), int(t))[1] for h, t in zip(hosts, kinds, strict=True)]
    )


def test_survives_a_restart_as_json():
    rng = Generator(PCG64(7))
    prior = GroupPrior(3 * DAY)
    feed(prior, 4, 1, 9 * DAY, rng)
    again = GroupPrior.from_dict(json.loads(json.dumps(prior.to_dict())))
    for group in [(4, 1), (4, 0), (5, 1), (8, 8)]:
        assert again.belief(*group) == prior.belief(*group)
    again.observe(4, 1, DAY, True)
    prior.observe(4, 1, DAY, True)
    assert again.belief(4, 1) == prior.belief(4, 1)


@pytest.mark.parametrize("gap", [0.0, -1.0, float("nan"), float("inf")])
def test_a_default_that_is_no_time_is_refused(gap):
    with pytest.raises(ValueError, match="must be positive"):
        GroupPrior(gap)
