"""What vendors tell of their charges: promises, prices, and what survives."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.model import WireCost
from recrawl.plan.charges import FAILED, FULL, NOT_MODIFIED, Charges, Told, told_of, told_text
from recrawl.plan.cost import PriceBook
from recrawl.plan.sizes import STRENGTH, SizeModel
from recrawl.plan.tariff import Tariff
from recrawl.units import MICRO, Unit

API = Tariff("api", Unit.CREDITS, 200.0, {"plain": 2.0}, charge_header="x-credits")
HOSTS, TYPES = np.array([1, 1, 2]), np.array([0, 3, 0])


def book(charges: Charges, tariff: Tariff = API) -> PriceBook:
    return PriceBook(SizeModel(), (tariff,), charges={"api": charges})


def quoted(charges: Charges, unit: Unit = Unit.CREDITS, tariff: Tariff = API):
    return book(charges, tariff).quote(unit, HOSTS, TYPES, np.zeros(3))


def test_before_any_charge_is_told_the_list_speaks():
    full, unchanged, failed = quoted(Charges())
    assert full.tolist() == unchanged.tolist() == [2e6] * 3
    assert failed.tolist() == [0.0] * 3


def test_a_told_charge_moves_its_group_most_and_its_type_by_a_shrunk_mean():
    charges = Charges()
    for _ in range(3):
        charges.observe(FULL, 1, 0, 20 * MICRO)
    kind = (STRENGTH * 2 + 3 * 20) / (STRENGTH + 3)  # of page type 0, any host
    group = (STRENGTH * kind + 3 * 20) / (STRENGTH + 3)
    assert (quoted(charges).full / MICRO).tolist() == pytest.approx([group, 2.0, kind])
    money = quoted(charges, Unit.USD).full
    assert money.tolist() == pytest.approx([group * 200, 400.0, kind * 200])


def test_what_304s_and_failures_are_told_to_cost_is_learned_by_host():
    charges = Charges()
    charges.observe(NOT_MODIFIED, 1, 0, 0)
    charges.observe(FAILED, 1, 0, 4 * MICRO)
    _, unchanged, failed = quoted(charges)
    assert (unchanged / MICRO).tolist() == pytest.approx([1.5, 1.5, 2.0])
    assert (failed / MICRO).tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert quoted(charges, Unit.USD).failed.tolist() == pytest.approx([200.0, 200.0, 0.0])


def test_a_tariff_without_the_header_keeps_to_its_list():
    charges = Charges()
    charges.observe(FULL, 1, 0, 20 * MICRO)
    silent = Tariff("api", Unit.CREDITS, 200.0, {"plain": 2.0})
    assert quoted(charges, tariff=silent).full.tolist() == [2e6] * 3


@pytest.mark.parametrize(
    ("charge_max", "most_told", "promised"),
    [(0.0, 0, 2.0), (0.0, 1, 2.0), (0.0, 7, 7.0), (25.0, 0, 25.0), (25.0, 40, 25.0)],
)
def test_what_is_promised(charge_max: float, most_told: int, promised: float):
    """The list, else the largest told; charge_max settles it, so that one odd header can't."""
    tariff = Tariff(
        "api", Unit.CREDITS, 200.0, {"plain": 2.0}, charge_header="x", charge_max=charge_max
    )
    worst = tariff.worst(WireCost(down=9), most_told=most_told * MICRO)
    assert worst.microcredits == promised * MICRO
    assert worst.micro_usd == promised * 200


def test_only_news_is_told_to_the_store():
    told = Told()
    assert told.take(5, 10, 1.0) and not told.take(5, 10, 2.0) and told.over == 0
    assert told.take(30, 10, 3.0) and told.take(12, 10, 4.0)
    assert told == Told(most=30, over=2, promised=10, charged=30, at=4.0)


def test_all_of_it_comes_back():
    charges = Charges()
    charges.observe(FULL, 1, 3, 7)
    charges.observe(NOT_MODIFIED, 1, 3, 2)
    charges.observe(FAILED, 2, 3, 1)
    again = Charges.from_dict(charges.to_dict())
    assert all(np.array_equal(a, b) for a, b in zip(quoted(again), quoted(charges), strict=True))
    charges.told.take(9, 3, 5.0)
    assert told_of(told_text({"api": charges})) == {"api": charges.told}
    assert told_of(None) == {}
