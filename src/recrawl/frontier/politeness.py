"""When a host may be asked next: its pace, what throttling and faults add, and how it recovers.

Everything is written onto `model.Host`, so that the pace holds across a restart. Call `sent` when
a request goes out (and persist the host before it does), `answered` when its outcome is in.
"""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model import Blame, Host, Kind, Outcome
from recrawl.units import DAY, HOUR, MINUTE

_HOST_FAULTS = frozenset({Kind.DNS_ERROR, Kind.CONNECT_ERROR, Kind.TLS_ERROR, Kind.TIMEOUT})
_PERHAPS_THE_PAGES = frozenset({Kind.CONNECT_ERROR, Kind.TIMEOUT})
"""One of these alone may be one bad page: only a second in a row speaks of the host."""
_SUCCESSES = frozenset({Kind.OK, Kind.NOT_MODIFIED, Kind.REDIRECT, Kind.GONE})
_MAX_DOUBLINGS = 40  # 2**40 minutes is past every cap; keeps the power a small number
_NEGLIGIBLE = 0.05  # seconds; a penalty below it is over


@dataclass(frozen=True, slots=True)
class PaceRules:
    """How gently a host is asked. Seconds, unless said otherwise."""

    delay: float = 1.5  # between two requests
    concurrency: int = 1  # requests in flight to one hostname
    jitter: float = 0.1  # a delay is lengthened by up to this share, never shortened
    max_crawl_delay: float = DAY  # longer ones in robots.txt are taken as this
    max_retry_after: float = DAY
    max_penalty: float = HOUR  # extra delay that throttling can build up
    recovery: int = 20  # answers that halve the penalty again
    fault_hold: float = MINUTE  # first pause after a fault of the host; doubles
    max_fault_hold: float = DAY
    latency_weight: float = 0.2  # of the newest answer in the moving average


def effective_delay(host: Host, rules: PaceRules) -> float:
    """Seconds between two requests: the longest of what we chose, robots.txt and throttling ask.

    The answering time counts too: more than `concurrency` requests in one latency can't be had,
    so 1 / effective_delay is the capacity that a plan may count on.
    """
    return max(_asked_delay(host, rules), host.latency / rules.concurrency)


def _asked_delay(host: Host, rules: PaceRules) -> float:
    """The pause between two requests that we, robots.txt and throttling ask for.

    Not the answering time: `concurrency` itself bounds what is in flight, and our own waits,
    which are in it, would slow a host that isn't slow.
    """
    return max(rules.delay, min(host.crawl_delay or 0.0, rules.max_crawl_delay), host.penalty)


def ready_at(host: Host) -> float:
    """The first moment at which the host may be asked."""
    return max(host.next_ok, host.throttled_until)


def sent(host: Host, now: float, rules: PaceRules, u: float) -> None:
    """A request goes out at `now`: moves `next_ok`. `u` is the jitter, random in [0, 1)."""
    host.delay = effective_delay(host, rules)
    host.next_ok = now + _asked_delay(host, rules) * (1.0 + rules.jitter * u)


def answered(host: Host, outcome: Outcome, now: float, rules: PaceRules) -> None:
    """What an outcome asks of the host's pace.

    429, 503 and Retry-After pause the host and double its delay; faults of the host itself (DNS,
    connect, TLS, silence) pause it for 1, 2, 4 ... minutes, so that a dead host holds no slot.
    Faults of our route or our machine, and exchanges never sent, leave it untouched. A host
    already paused isn't punished again for requests that were in flight when the pause began.
    """
    if outcome.blame in (Blame.ROUTE, Blame.LOCAL):
        return
    paused = now < host.throttled_until
    if _throttles(outcome):
        host.fails = 0
        if not paused:
            doubled = 2.0 * max(effective_delay(host, rules), 1.0)
            host.penalty = min(doubled, rules.max_penalty)
        hold = host.penalty if outcome.retry_after is None else outcome.retry_after
        _pause(host, now + min(max(hold, 0.0), rules.max_retry_after))
    elif outcome.kind in _HOST_FAULTS and not outcome.status:
        if outcome.blame is Blame.TARGET and not paused:
            host.fails += 1
            of_page = host.fails == 1 and outcome.kind in _PERHAPS_THE_PAGES
            hold = max(1.0, 2 * effective_delay(host, rules)) if of_page else 0.0
            _pause(host, now + (hold or fault_hold(host.fails, rules)))
    elif outcome.status:
        host.fails = 0
        if outcome.kind in _SUCCESSES:
            _recover(host, rules)
        if outcome.finished > outcome.started:
            _time(host, outcome.finished - outcome.started, rules)
    host.delay = effective_delay(host, rules)


def fault_hold(fails: int, rules: PaceRules) -> float:
    """How long a host rests after that many faults in a row (1 or more).

    >>> [fault_hold(n, PaceRules()) for n in (1, 2, 3, 20)]
    [60.0, 120.0, 240.0, 86400.0]
    """
    doublings = min(fails - 1, _MAX_DOUBLINGS)
    return float(min(rules.fault_hold * 2**doublings, rules.max_fault_hold))


def clamp(host: Host, now: float, rules: PaceRules) -> None:
    """After the wall clock stepped back: no pause may last longer than it could have been set.

    `next_ok` is at most one (jittered) delay away and a pause at most the longest lawful one.
    Harmless at any other time.
    """
    longest = effective_delay(host, rules) * (1.0 + rules.jitter)
    host.next_ok = min(host.next_ok, now + longest)
    if host.fails:
        pause = max(fault_hold(host.fails, rules), host.penalty)
    else:
        pause = rules.max_retry_after
    host.throttled_until = min(host.throttled_until, now + pause)


def _throttles(outcome: Outcome) -> bool:
    """429 and 503 always; any other error where it names a time to come back."""
    if outcome.kind is Kind.THROTTLED or outcome.status in (429, 503):
        return True
    return outcome.status >= 400 and outcome.retry_after is not None


def _pause(host: Host, until: float) -> None:
    host.throttled_until = max(host.throttled_until, until)


def _recover(host: Host, rules: PaceRules) -> None:
    """Halve the penalty over `recovery` answers.

    Halving at each one would run into the same limit at every second request.
    """
    host.penalty *= 0.5 ** (1.0 / max(rules.recovery, 1))
    if host.penalty <= max(rules.delay, _NEGLIGIBLE):
        host.penalty = 0.0


def _time(host: Host, seconds: float, rules: PaceRules) -> None:
    """Exponentially weighted moving average of the answering time."""
    if host.latency:
        host.latency += rules.latency_weight * (seconds - host.latency)
    else:
        host.latency = seconds
