"""Caps, windows, pacing, and an account that is never overdrawn."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from recrawl.plan.budget import Account, Budget, Cap, Overdrawn, exhaustion
from recrawl.units import DAY, HOUR, Spend, Unit

B, USD, N = Unit.BYTES, Unit.USD, Unit.FETCHES


def at(*ymdhms):
    return datetime(*ymdhms, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("period", "now", "start", "end"),
    [
        ("hour", at(2026, 11, 30, 18, 4), at(2026, 11, 30, 18), at(2026, 11, 30, 19)),
        ("day", at(2026, 11, 30, 18, 4), at(2026, 11, 30), at(2026, 12, 1)),
        ("week", at(2026, 11, 29, 23), at(2026, 11, 23), at(2026, 11, 30)),  # a Sunday
        ("week", at(2026, 11, 30), at(2026, 11, 30), at(2026, 12, 7)),  # a Monday
        ("month", at(2026, 2, 28, 23, 59), at(2026, 2, 1), at(2026, 3, 1)),
        ("month", at(2028, 2, 29), at(2028, 2, 1), at(2028, 3, 1)),
        ("month", at(2026, 12, 31, 23), at(2026, 12, 1), at(2027, 1, 1)),
    ],
)
def test_periods_are_aligned_to_utc(period, now, start, end):
    cap = Cap(B, 1, period)
    assert (cap.start(now, 5.0), cap.end(now)) == (start, end)


def test_a_run_begins_with_the_program_and_has_no_end():
    assert Cap(B, 1).start(100.0, 42.0) == 42.0
    assert Cap(B, 1).end(100.0) == float("inf")


def test_no_window_reaches_over_the_end_of_a_period():
    budget = Budget((Cap(B, 1, "month"),), window_seconds=7 * DAY)
    now = at(2026, 11, 29)
    start, end = budget.window(now)
    assert start <= now < end
    assert end == at(2026, 12, 1)
    assert budget.window(end)[0] == end
    assert Budget(window_seconds=HOUR).window(at(2026, 1, 1, 5, 30)) == (
        at(2026, 1, 1, 5),
        at(2026, 1, 1, 6),
    )


@pytest.mark.parametrize("amount", [10, 4_000_000, 7, 500_000_000_000])
@pytest.mark.parametrize("month", [2, 11])
def test_a_monthly_cap_lasts_the_month_and_is_used_up(amount, month):
    budget = Budget((Cap(USD, amount, "month"),), window_seconds=DAY)
    start = at(2026, month, 1)
    now, spent, by_day = start, 0, []
    while now < at(2026, month + 1, 1):
        allowed = budget.allowance(now, start, [spent])[0]
        spent += allowed
        by_day.append(allowed)
        now = budget.window(now)[1]
    assert spent == amount
    assert max(by_day) <= amount / 28 + 1


def test_what_was_not_spent_rolls_over_and_overspending_is_made_up():
    budget = Budget((Cap(B, 3000, "month"),), window_seconds=DAY)
    start = at(2026, 11, 1)
    tenth = start + 9 * DAY
    assert budget.allowance(tenth, start, [900])[0] == 100
    assert budget.allowance(tenth, start, [0])[0] == 1000
    assert budget.allowance(tenth, start, [1500])[0] == 0
    assert budget.allowance(start + 15 * DAY, start, [1500])[0] == 100


def test_a_project_that_begins_late_paces_over_what_is_left_of_the_period():
    budget = Budget((Cap(B, 1000, "month"),), window_seconds=DAY)
    first = at(2026, 11, 21)
    assert budget.allowance(first, first, [0])[0] == 100
    assert budget.allowance(first + 9 * DAY, first, [900])[0] == 100


def test_a_cap_for_the_run_is_not_paced_and_caps_are_kept_apart():
    budget = Budget((Cap(B, 1000), Cap(N, 240, "day"), Cap(B, 2400, "day")))
    allowed = budget.allowance(at(2026, 11, 1, 0, 10), at(2026, 11, 1), [400, 0, 0])
    assert allowed == [600, 10, 100]
    assert budget.by_unit(allowed) == {B: 100, N: 10}
    assert budget.left([400, 250, 0]) == [600, 0, 2400]


@given(
    amount=st.integers(0, 10**12),
    used=st.integers(0, 10**12),
    offset=st.floats(0, 400 * DAY),
    period=st.sampled_from(["run", "hour", "day", "week", "month"]),
    window=st.sampled_from([60.0, HOUR, DAY, 9 * DAY]),
)
def test_no_allowance_exceeds_what_is_left(amount, used, offset, period, window):
    budget = Budget((Cap(B, amount, period),), window)
    start = at(2026, 1, 10)
    allowed = budget.allowance(start + offset, start, [used])[0]
    assert 0 <= allowed <= max(amount - used, 0)


def test_exhaustion_is_where_the_pace_leads():
    assert exhaustion(10 * DAY, 0.0, 250, 1000) == 40 * DAY
    assert exhaustion(10 * DAY, 0.0, 0, 1000) == float("inf")
    assert exhaustion(10 * DAY, 0.0, 1000, 1000) == 10 * DAY


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cap(B, -1), "can't be negative"),
        (lambda: Cap(B, 1, "year"), "no period of a budget; use run, hour, day, week, month"),
        (lambda: Budget((), 0.0), "longer than 0 s"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_account_says_which_cap_stops_it():
    caps = (Cap(B, 100), Cap(N, 2))
    account = Account(caps, [100, 2], [100, 2])
    account.reserve(Spend(bytes=40, fetches=1))
    assert account.headroom(B) == 60
    assert account.headroom(USD) is None
    assert account.blocked_by(Spend(bytes=61, fetches=1)) == caps[0]
    account.settle(Spend(bytes=40, fetches=1), Spend(bytes=10, fetches=1))
    account.reserve(Spend(bytes=90, fetches=1))
    assert account.blocked_by(Spend(fetches=1)) == caps[1]
    with pytest.raises(Overdrawn, match="2 fetches per run"):
        account.reserve(Spend(fetches=1))


def test_nothing_starts_once_the_windows_share_is_spent():
    account = Account((Cap(B, 1000, "day"),), [1000], [100])
    account.reserve(Spend(bytes=900))  # the worst case may exceed the share, not the cap
    account.settle(Spend(bytes=900), Spend(bytes=120))
    assert not account.can_reserve(Spend(bytes=1))
    assert account.headroom(B) == 0


class Accounting(RuleBasedStateMachine):
    """Visits start and end in any order, at any cost up to their worst case."""

    def __init__(self):
        super().__init__()
        self.caps = (Cap(B, 1000), Cap(USD, 50), Cap(B, 700, "day"))
        self.account = Account(self.caps, [1000, 50, 700], [1000, 50, 500])
        self.open = []

    @rule(n=st.integers(0, 400), money=st.integers(0, 20))
    def start(self, n, money):
        worst = Spend(bytes=n, micro_usd=money, fetches=1)
        if self.account.can_reserve(worst):
            self.account.reserve(worst)
            self.open.append(worst)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 100), share=st.floats(0, 1))
    def end(self, which, share):
        worst = self.open.pop(which % len(self.open))
        actual = Spend(int(worst.bytes * share), int(worst.micro_usd * share), 0, 1, 7)
        self.account.settle(worst, actual)

    @invariant()
    def no_cap_is_exceeded(self):
        for cap in self.caps:
            promised = self.account.reserved.get(cap.unit)
            assert promised == sum(w.get(cap.unit) for w in self.open)
            assert self.account.spent.get(cap.unit) + promised <= cap.amount
            assert (self.account.headroom(cap.unit) or 0) >= 0


TestAccounting = Accounting.TestCase
TestAccounting.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)


@pytest.mark.parametrize(
    ("day", "now", "start", "end"),
    [
        (17, at(2026, 3, 17), at(2026, 3, 17), at(2026, 4, 17)),
        (17, at(2026, 3, 16, 23), at(2026, 2, 17), at(2026, 3, 17)),
        (17, at(2026, 1, 3), at(2025, 12, 17), at(2026, 1, 17)),
        (17, at(2026, 12, 20), at(2026, 12, 17), at(2027, 1, 17)),
        (31, at(2026, 2, 27), at(2026, 1, 31), at(2026, 2, 28)),
        (31, at(2026, 2, 28), at(2026, 2, 28), at(2026, 3, 31)),
        (30, at(2028, 2, 29), at(2028, 2, 29), at(2028, 3, 30)),
    ],
)
def test_a_month_may_begin_on_the_vendors_day(day, now, start, end):
    cap = Cap(B, 1, "month", day)
    assert (cap.start(now, 0.0), cap.end(now)) == (start, end)


@given(now=st.floats(0, 4e9), day=st.integers(1, 31))
def test_months_follow_each_other_without_a_gap(now, day):
    cap = Cap(B, 1, "month", day)
    start, end = cap.start(now, 0.0), cap.end(now)
    assert start <= now < end
    assert 28 * DAY <= end - start <= 31 * DAY
    assert cap.start(end, 0.0) == end
    assert cap.end(start) == end


@pytest.mark.parametrize("day", [0, 32])
def test_no_month_begins_on_such_a_day(day):
    with pytest.raises(ValueError, match="1 to 31"):
        Cap(B, 1, "month", day)
