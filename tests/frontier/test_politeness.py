"""The pace of a host: never faster than asked, slower when told, and back again."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.politeness import (
    PaceRules,
    answered,
    clamp,
    effective_delay,
    fault_hold,
    ready_at,
    sent,
)
from recrawl.model import Blame, Host, Kind, Outcome, WireCost
from recrawl.units import DAY, HOUR

RULES = PaceRules()
T0 = 1_700_000_000.0


def host(**fields: object) -> Host:
    return Host(1, "https://h.example", **fields)  # type: ignore[arg-type]


def outcome(
    kind: Kind = Kind.OK,
    status: int = 200,
    retry_after: float | None = None,
    blame: Blame = Blame.NOBODY,
    seconds: float = 0.0,
) -> Outcome:
    return Outcome(
        kind,
        WireCost(),
        started=T0,
        finished=T0 + seconds,
        status=status,
        retry_after=retry_after,
        blame=blame,
    )


def fault(kind: Kind = Kind.DNS_ERROR, blame: Blame = Blame.TARGET) -> Outcome:
    return outcome(kind, 0, blame=blame)


OK = outcome()
THROTTLED = outcome(Kind.THROTTLED, 429)


# delay


def test_the_longest_of_what_is_asked() -> None:
    assert effective_delay(host(), RULES) == 1.5
    assert effective_delay(host(crawl_delay=8.0), RULES) == 8.0
    assert effective_delay(host(crawl_delay=0.5), RULES) == 1.5
    assert effective_delay(host(crawl_delay=8.0, penalty=30.0), RULES) == 30.0


def test_a_crawl_delay_longer_than_ours_is_the_pace_and_only_absurd_ones_are_cut() -> None:
    """ROB-15: 120 s are 120 s; the host is neither dropped nor hurried."""
    assert effective_delay(host(crawl_delay=120.0), RULES) == 120.0
    assert effective_delay(host(crawl_delay=86_400_000.0), RULES) == DAY


def test_slow_answers_count_as_capacity() -> None:
    assert effective_delay(host(latency=10.0), RULES) == 10.0
    assert effective_delay(host(latency=10.0), PaceRules(concurrency=4)) == 2.5


def test_sent_moves_what_is_persisted() -> None:
    h = host()
    sent(h, T0, RULES, 0.0)
    assert (h.delay, h.next_ok, ready_at(h)) == (1.5, T0 + 1.5, T0 + 1.5)
    sent(h, T0 + 2.0, RULES, 0.5)
    assert h.next_ok == pytest.approx(T0 + 2.0 + 1.5 * 1.05)


@given(
    u=st.floats(0, 1, exclude_max=True),
    jitter=st.floats(0, 1),
    crawl_delay=st.one_of(st.none(), st.floats(0, 1e9)),
    penalty=st.floats(0, 3600),
)
def test_jitter_only_lengthens(
    u: float, jitter: float, crawl_delay: float | None, penalty: float
) -> None:
    rules = PaceRules(jitter=jitter)
    h = host(crawl_delay=crawl_delay, penalty=penalty)
    delay = effective_delay(h, rules)
    sent(h, 0.0, rules, u)
    assert delay <= h.next_ok <= delay * (1 + jitter)
    assert delay >= min(crawl_delay or 0, DAY)


# throttling


def test_retry_after_is_honoured() -> None:
    h = host()
    answered(h, outcome(Kind.THROTTLED, 429, retry_after=30.0), T0, RULES)
    assert ready_at(h) == T0 + 30.0
    assert h.penalty == 3.0


def test_retry_after_is_capped_and_never_negative() -> None:
    h = host()
    answered(h, outcome(Kind.THROTTLED, 503, retry_after=1e12), T0, RULES)
    assert h.throttled_until == T0 + DAY
    h = host()
    answered(h, outcome(Kind.THROTTLED, 503, retry_after=-50.0), T0, RULES)
    assert h.throttled_until == T0


@pytest.mark.parametrize("status", [403, 500, 502])
def test_any_error_that_names_a_time_throttles(status: int) -> None:
    h = host()
    answered(h, outcome(Kind.SERVER_ERROR, status, retry_after=60.0), T0, RULES)
    assert h.throttled_until == T0 + 60.0


def test_retry_after_of_an_answer_that_is_no_error_says_nothing() -> None:
    h = host()
    answered(h, outcome(Kind.OK, 200, retry_after=600.0), T0, RULES)
    assert ready_at(h) == 0.0


def test_the_penalty_doubles_and_is_capped() -> None:
    h, now, seen = host(), T0, []
    for _ in range(14):
        answered(h, THROTTLED, now, RULES)
        seen.append(h.penalty)
        now = h.throttled_until
    assert seen[:4] == [3.0, 6.0, 12.0, 24.0]
    assert seen[-1] == RULES.max_penalty == HOUR
    assert h.delay == HOUR


def test_without_delay_the_penalty_starts_from_a_second() -> None:
    h, rules = host(), PaceRules(delay=0.0)
    answered(h, THROTTLED, T0, rules)
    assert h.penalty == 2.0


def test_throttled_answers_in_flight_are_one_complaint() -> None:
    """Eight requests in flight, all answered 429: the delay doubles once."""
    h = host()
    for i in range(8):
        answered(h, outcome(Kind.THROTTLED, 429, retry_after=10.0 + i), T0 + 0.01 * i, RULES)
    assert h.penalty == 3.0
    assert h.throttled_until == pytest.approx(T0 + 17.07)


def test_the_penalty_halves_over_twenty_answers_and_ends() -> None:
    h = host(penalty=48.0)
    for _ in range(RULES.recovery):
        answered(h, OK, T0, RULES)
    assert h.penalty == pytest.approx(24.0)
    for _ in range(5 * RULES.recovery):
        answered(h, OK, T0, RULES)
    assert h.penalty == 0.0
    assert h.delay == RULES.delay


def test_the_penalty_ends_without_a_configured_delay_too() -> None:
    h, rules = host(penalty=2.0), PaceRules(delay=0.0, recovery=1)
    for _ in range(10):
        answered(h, OK, T0, rules)
    assert h.penalty == 0.0


@pytest.mark.parametrize("kind", [Kind.DENIED, Kind.SERVER_ERROR, Kind.CLIENT_ERROR])
def test_errors_are_no_recovery(kind: Kind) -> None:
    h = host(penalty=48.0)
    answered(h, outcome(kind, 500), T0, RULES)
    assert h.penalty == 48.0


def test_a_server_with_a_limit_is_rarely_bothered() -> None:
    """One request per 5 s allowed: once the pace is found, under a tenth is answered 429."""
    h, now, last, throttled = host(), T0, -100.0, 0
    n = 400
    for i in range(n):
        sent(h, now, RULES, 0.5)
        if now - last < 5.0:
            answered(h, THROTTLED, now, RULES)
            throttled += i >= 50
        else:
            last = now
            answered(h, OK, now, RULES)
        now = ready_at(h)
    assert 0 < throttled < n / 10
    assert (now - T0) / n < 12  # and it isn't crawled at a snail's pace either


# faults


def test_faults_of_the_host_rest_it_longer_and_longer() -> None:
    """FRO-13, FRO-15: a name that doesn't resolve costs few tries and no slot."""
    h, now, tries = host(), T0, 0
    while now < T0 + DAY:
        answered(h, fault(), now, RULES)
        tries += 1
        now = ready_at(h)
    assert tries <= 11
    assert h.fails == tries


@pytest.mark.parametrize(
    "kind", [Kind.DNS_ERROR, Kind.CONNECT_ERROR, Kind.TLS_ERROR, Kind.TIMEOUT]
)
def test_each_kind_of_fault_counts_alike(kind: Kind) -> None:
    h = host()
    answered(h, fault(kind), T0, RULES)
    # A reset or a time-out alone may be one bad page's: only the next one speaks of the host.
    alone = 2 * RULES.delay if kind in (Kind.CONNECT_ERROR, Kind.TIMEOUT) else 60.0
    assert (h.fails, h.throttled_until) == (1, T0 + alone)
    answered(h, fault(kind), T0 + 60.0, RULES)
    assert (h.fails, h.throttled_until) == (2, T0 + 60.0 + 120.0)


def test_faults_in_flight_are_one_fault() -> None:
    h = host()
    for i in range(4):
        answered(h, fault(), T0 + i, RULES)
    assert h.fails == 1


def test_any_answer_ends_a_row_of_faults() -> None:
    for sign_of_life in (OK, THROTTLED, outcome(Kind.SERVER_ERROR, 500)):
        h = host(fails=5)
        answered(h, sign_of_life, T0, RULES)
        assert h.fails == 0


def test_a_body_that_dries_up_is_no_fault_of_the_host() -> None:
    h = host()
    answered(h, outcome(Kind.TIMEOUT, 200, blame=Blame.TARGET), T0, RULES)
    assert (h.fails, ready_at(h)) == (0, 0.0)


@pytest.mark.parametrize("blame", [Blame.ROUTE, Blame.LOCAL])
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("status", [0, 407, 429, 503])
def test_faults_of_ours_leave_the_host_untouched(blame: Blame, kind: Kind, status: int) -> None:
    h = host(fails=2, penalty=9.0, latency=1.0, next_ok=5.0, throttled_until=6.0, delay=9.0)
    before = copy.copy(h)
    answered(h, outcome(kind, status, retry_after=99.0, blame=blame, seconds=3.0), T0, RULES)
    assert h == before


def test_a_fault_that_is_nobodys_is_not_the_hosts() -> None:
    h = host()
    answered(h, fault(blame=Blame.NOBODY), T0, RULES)
    assert (h.fails, ready_at(h)) == (0, 0.0)


@pytest.mark.parametrize("kind", [Kind.POLICY, Kind.INTERNAL])
def test_what_was_never_sent_says_nothing(kind: Kind) -> None:
    h = host(fails=2, penalty=9.0)
    answered(h, outcome(kind, 0), T0, RULES)
    assert (h.fails, h.penalty, ready_at(h)) == (2, 9.0, 0.0)


@given(st.integers(1, 10_000))
def test_fault_hold_grows_to_its_cap(fails: int) -> None:
    hold = fault_hold(fails, RULES)
    assert RULES.fault_hold <= hold <= RULES.max_fault_hold
    assert hold <= fault_hold(fails + 1, RULES)


# latency


def test_latency_is_a_moving_average_of_answers() -> None:
    h = host()
    answered(h, outcome(seconds=2.0), T0, RULES)
    assert h.latency == pytest.approx(2.0)
    answered(h, outcome(seconds=4.0), T0, RULES)
    assert h.latency == pytest.approx(2.4)
    answered(h, fault(), T0, RULES)
    assert h.latency == pytest.approx(2.4)


def test_a_clock_that_stepped_back_during_a_fetch_gives_no_latency() -> None:
    h = host(latency=1.0)
    answered(h, outcome(seconds=-120.0), T0, RULES)
    assert h.latency == 1.0


# clock steps (SCH-14) and restarts


@given(
    step=st.floats(-1e7, 1e7),
    u=st.floats(0, 1, exclude_max=True),
    crawl_delay=st.one_of(st.none(), st.floats(0, 600)),
)
def test_no_step_of_the_clock_stalls_a_host_longer_than_its_delay(
    step: float, u: float, crawl_delay: float | None
) -> None:
    h = host(crawl_delay=crawl_delay)
    sent(h, T0, RULES, u)
    now = T0 + step
    clamp(h, now, RULES)
    assert ready_at(h) - now <= h.delay * (1 + RULES.jitter) + 1e-6
    if step >= 0:
        assert h.next_ok >= T0 + h.delay  # and never shortens where the clock didn't step back


def test_pauses_are_bounded_after_a_step_back() -> None:
    year = 365 * DAY
    h = host()
    answered(h, fault(), T0, RULES)
    clamp(h, T0 - year, RULES)
    assert ready_at(h) == T0 - year + 60.0
    h = host()
    answered(h, outcome(Kind.THROTTLED, 429, retry_after=1e9), T0, RULES)
    clamp(h, T0 - year, RULES)
    assert ready_at(h) == T0 - year + DAY


@given(st.floats(0, 1e5), st.sampled_from([OK, THROTTLED, fault()]))
def test_clamp_changes_nothing_while_time_goes_forward(later: float, seen: Outcome) -> None:
    h = host()
    sent(h, T0, RULES, 0.999)
    answered(h, seen, T0 + 1.0, RULES)
    before = copy.copy(h)
    clamp(h, T0 + 1.0 + later, RULES)
    assert h == before


def test_the_pace_holds_across_a_restart() -> None:
    """Everything that `ready_at` reads stands in the row that is persisted."""
    h = host(crawl_delay=8.0)
    sent(h, T0, RULES, 0.0)
    again = Host(**{name: getattr(h, name) for name in Host.__slots__})
    assert ready_at(again) == T0 + 8.0


def test_the_next_request_waits_for_what_was_asked_not_for_the_answering_time() -> None:
    h = host(latency=10.0)
    sent(h, T0, PaceRules(delay=1.0, jitter=0.0), 0.0)
    assert h.next_ok == T0 + 1.0
    assert h.delay == 10.0  # what a plan may count on, with one request in flight at a time
    h.crawl_delay = 3.0
    sent(h, T0, PaceRules(delay=1.0, jitter=0.0), 0.0)
    assert h.next_ok == T0 + 3.0
