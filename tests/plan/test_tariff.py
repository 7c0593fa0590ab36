"""Tariffs, meters, learned sizes and the price of an attempt."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from recrawl.model import Verdict, WireCost
from recrawl.plan.cost import PriceBook, attempt, chance_of_success
from recrawl.plan.gain import answer_shares
from recrawl.plan.sizes import FULL, NOT_MODIFIED, Means, SizeModel
from recrawl.plan.tariff import SUCCESSES, Meter, Quote, Tariff, quote
from recrawl.units import Unit

PROXY = Tariff("proxy", Unit.BYTES, 0.004)  # 4 USD a GB
API = Tariff("api", Unit.CREDITS, 500.0, {"plain": 1.0, "browser": 5.0})
FAILURES = [Verdict.FAILED, Verdict.BLOCKED, Verdict.SOFT_ERROR]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_bytes_are_billed_whatever_came_of_them(verdict):
    spend = PROXY.spend(WireCost(up=1000, down=9000, seconds=1.5), verdict)
    assert (spend.bytes, spend.micro_usd, spend.fetches, spend.millis) == (10_000, 40, 1, 1500)
    assert spend.microcredits == 0


@pytest.mark.parametrize("verdict", list(Verdict))
def test_credits_are_billed_only_for_what_is_charged(verdict):
    spend = API.spend(WireCost(up=1000, down=9000), verdict)
    charged = verdict in SUCCESSES
    assert spend.microcredits == (1_000_000 if charged else 0)
    assert spend.micro_usd == (500 if charged else 0)
    assert (spend.bytes, spend.fetches) == (10_000, 1)


def test_vendors_differ_on_what_is_charged():
    vendor = Tariff("v", Unit.CREDITS, 1.0, charged=SUCCESSES | {Verdict.GONE})
    assert vendor.spend(WireCost(), Verdict.GONE).microcredits == 1_000_000
    assert API.spend(WireCost(), Verdict.GONE).microcredits == 0


def test_what_the_vendor_says_it_charged_is_believed():
    told = WireCost(microcredits=250_000)
    assert API.spend(told, Verdict.FAILED).microcredits == 250_000
    assert API.spend(WireCost(microcredits=0), Verdict.CHANGED).microcredits == 0
    assert API.spend(WireCost(), Verdict.CHANGED, "browser").microcredits == 5_000_000


@pytest.mark.parametrize(
    ("unit", "price", "money"), [(Unit.FETCHES, 7.0, 7), (Unit.SECONDS, 3.0, 6)]
)
def test_fetches_and_seconds(unit, price, money):
    spend = Tariff("t", unit, price).spend(WireCost(seconds=2.0), Verdict.FAILED)
    assert spend.micro_usd == money


@pytest.mark.parametrize("tariff", [PROXY, API, Tariff("direct")])
@pytest.mark.parametrize("verdict", list(Verdict))
@given(up=st.integers(0, 10**7), down=st.integers(0, 10**7), share=st.floats(0, 1))
def test_the_worst_case_covers_every_verdict(tariff, verdict, up, down, share):
    worst = tariff.worst(WireCost(up, down, 60.0))
    actual = tariff.spend(WireCost(int(up * share), int(down * share), 60.0 * share), verdict)
    for unit in Unit:
        assert actual.get(unit) <= worst.get(unit)


@given(st.lists(st.integers(0, 5000), max_size=60))
def test_a_meter_keeps_money_true_to_bytes(sizes):
    meter = Meter(PROXY)
    money = sum(meter.spend(WireCost(down=n), Verdict.SAME).micro_usd for n in sizes)
    assert 0 <= money - 0.004 * sum(sizes) < 1 + 1e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tariff("t", Unit.USD), "bills bytes, credits, fetches or seconds"),
        (lambda: Tariff("t", Unit.BYTES, -1.0), "0 or more"),
        (lambda: Tariff("t", Unit.BYTES, float("nan")), "0 or more"),
        (lambda: Tariff("t", Unit.CREDITS, 1.0, {}), "how many credits"),
        (lambda: API.spend(WireCost(), Verdict.SAME, "video"), "no charge for mode 'video'"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def sizes(full=30_000.0, unchanged=400.0, failed=400.0):
    return Quote(np.array([full]), np.array([unchanged]), np.array([failed]))


def test_a_304_is_cheap_in_bytes_and_dear_in_credits():
    millis = np.array([500.0])

    def ask(tariff, unit):
        return [float(x[0]) for x in quote(tariff, unit, sizes(), millis)]

    assert ask(PROXY, Unit.BYTES) == [30_000, 400, 400]
    assert ask(PROXY, Unit.USD) == pytest.approx([120, 1.6, 1.6])
    assert ask(PROXY, Unit.CREDITS) == [0, 0, 0]
    assert ask(API, Unit.CREDITS) == [1_000_000, 1_000_000, 0]
    assert ask(API, Unit.USD) == [500, 500, 0]
    assert ask(API, Unit.FETCHES) == [1, 1, 1]
    assert ask(API, Unit.SECONDS) == [500, 500, 500]


def test_the_price_is_marginal_and_the_debit_expected():
    one, shares = np.ones(1), answer_shares(np.ones(1), 100.0, np.array([100.0]))
    cost = attempt(sizes(), *shares, one)
    assert cost.price[0] == pytest.approx(400 + 29_600 * 0.25)
    assert cost.expected[0] == pytest.approx(400 + 29_600 * 0.5)
    assert attempt(sizes(), one, one, one).price[0] == 30_000  # no validator


def test_falling_health_raises_the_price_of_a_gain_on_every_tariff():
    for failed in (400.0, 0.0):  # failures billed, and not
        scores = []
        for p in (1.0, 0.7, 0.3):
            cost = attempt(sizes(failed=failed), np.ones(1), np.ones(1), np.array([p]))
            scores.append(p / float(cost.price[0]))
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > 1.01 * scores[1]


def test_chance_of_success_falls_with_failures_in_a_row_and_stays_a_chance():
    p = chance_of_success(np.array([0.0, 0.5, 1.0])[:, None], np.arange(256))
    assert ((p > 0) & (p <= 1)).all()
    assert (np.diff(p, axis=1) < 0).all()


def test_sizes_are_learned_by_page_group_type_and_default():
    model, one = SizeModel(), np.array([1])
    assert model.group_body(1, 0) == FULL
    for _ in range(50):
        model.observe(1, 0, WireCost(up=500, down=89_500), 0.0)
        model.observe_not_modified(1, WireCost(up=200, down=100), 0.0)
    known = model.expected(one, one * 0, np.zeros(1))
    assert known.full[0] == pytest.approx(90_000, rel=0.1)
    assert known.unchanged[0] == pytest.approx(300, rel=0.2)
    elsewhere = model.expected(one * 9, one * 0, np.zeros(1))
    assert elsewhere.full[0] == pytest.approx(90_000, rel=0.1)  # its page type is known
    assert elsewhere.unchanged[0] == pytest.approx(NOT_MODIFIED + 800)  # a new host's handshake
    own = model.expected(one, one * 0, np.array([5_000.0]))
    assert own.full[0] == pytest.approx(5_000, rel=0.05)
    assert model.page_body(0.0, 1000.0, 1, 0) < model.group_body(1, 0)
    assert model.page_body(1000.0, 1000.0, 1, 0) == 1000.0


def test_a_cold_connection_is_part_of_the_price():
    warm, cold = SizeModel(), SizeModel()
    for _ in range(50):
        warm.observe_not_modified(1, WireCost(down=300), 0.0)
        cold.observe_not_modified(1, WireCost(down=4600, connects=1), 4300.0)
    ask = np.array([1]), np.array([0]), np.array([20_000.0])
    gap = cold.expected(*ask).unchanged[0] - warm.expected(*ask).unchanged[0]
    assert gap == pytest.approx(4200, rel=0.1)


def test_sizes_survive_a_restart_and_arrays_equal_single_look_ups():
    rng = Generator(PCG64(0))
    model = SizeModel()
    for _ in range(300):
        host, kind = int(rng.integers(5)), int(rng.integers(3))
        n = int(rng.lognormal(9, 1))
        model.observe(host, kind, WireCost(down=n, seconds=0.2, connects=int(n % 2)), 900.0)
    again = SizeModel.from_dict(json.loads(json.dumps(model.to_dict())))
    host, kind = np.repeat(np.arange(7), 4), np.tile(np.arange(4), 7)
    ours, theirs = (m.expected(host, kind, np.zeros(28)) for m in (model, again))
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(x, y)
    bodies = [model.group_body(int(h), int(t)) for h, t in zip(host, kind, strict=True)]
    np.testing.assert_allclose(ours.full - model.connect_bytes(host), bodies)
    np.testing.assert_array_equal(model.millis(host), again.millis(host))


def test_means_are_shrunk_toward_their_parent():
    means = Means()
    means.add(1, 100.0)
    keys = np.array([1, 2])
    assert means.many(keys, 20.0).tolist() == [40.0, 20.0]
    assert means.many(keys, np.array([20.0, 8.0])).tolist() == [40.0, 8.0]


def test_each_host_is_priced_by_its_own_tariff():
    book = PriceBook(SizeModel(), (Tariff("direct"), PROXY, API), {2: 1, 3: 2})
    host = np.array([1, 2, 3])
    full = book.quote(Unit.USD, host, host * 0, np.full(3, 10_000.0)).full
    assert full[0] == 0
    assert full[1] == pytest.approx(0.004 * (10_000 + 800))
    assert full[2] == 500


@pytest.mark.parametrize("unit", [Unit.BYTES, Unit.FETCHES, Unit.SECONDS])
def test_verdicts_that_are_not_charged_cost_no_money_in_any_unit(unit):
    """Vendors who bill bytes may waive failures too; the bytes are counted all the same."""
    some = frozenset({Verdict.CHANGED, Verdict.SAME})
    tariff = Tariff("proxy", unit, 5.0, charged=some)
    cost = WireCost(up=100, down=900, seconds=2.0)
    meter = Meter(tariff)
    for bill in (tariff.spend, meter.spend):
        free = bill(cost, Verdict.FAILED)
        assert (free.micro_usd, free.bytes, free.fetches, free.millis) == (0, 1000, 1, 2000)
        assert bill(cost, Verdict.CHANGED).micro_usd > 0
        assert bill(cost, Verdict.UNKNOWN).micro_usd > 0, "lost in a crash: taken to be billed"
    assert tariff.worst(cost).micro_usd > 0
    assert 0 <= meter.ahead < 1, "what is booked ahead is a rounding, never a whole visit"
    sizes = Quote(*(np.array([x]) for x in (1000.0, 300.0, 200.0)))
    quoted = quote(tariff, Unit.USD, sizes, np.array([2000.0]))
    assert quoted.full[0] > 0
    assert quoted.unchanged[0] == quoted.failed[0] == 0


def test_unless_told_credits_are_for_answers_and_bytes_for_everything():
    assert Verdict.FAILED not in Tariff("api", Unit.CREDITS, 1.0).charged
    assert Tariff("proxy", Unit.BYTES, 1.0).charged == frozenset(Verdict)
