"""Where a page stands after an answer, and when it may be asked again."""

from __future__ import annotations

from recrawl.engine.crawl import Crawl
from recrawl.frontier.lifecycle import move
from recrawl.model import (
    Blame,
    Host,
    Kind,
    Observation,
    Outcome,
    Page,
    State,
    Verdict,
)

MASS_ANSWERS = 10  # a host's answers in a window before a mass disappearance can be seen
MAX_DOUBLINGS = 30
PERMANENT = 4  # a permanent redirect is looked at again so many times more rarely than another


def settle_state(
    crawl: Crawl, host: Host, page: Page, observation: Observation, outcome: Outcome, now: float
) -> bool:
    """Move the page's state, its failure counters and `retry_at`.

    True where this answer deleted a page that had been read, or brought one back.
    """
    before = page.state
    page.last_attempt = now
    _count_answer(crawl, host, observation.verdict)
    verdict = observation.verdict
    if verdict.is_reading:
        page.fails, page.missing, page.retry_at, page.target = 0, 0, 0.0, None
        page.state = move(before, verdict)
        return before is State.GONE
    if verdict is Verdict.GONE:
        return _gone(crawl, host, page, outcome, now)
    page.state = move(before, verdict)
    timing = crawl.project.timing
    if verdict is Verdict.MOVED:
        page.fails = page.missing = 0
        page.target = observation.target
        permanent = outcome.status in (301, 308)
        page.retry_at = now + timing.recheck * (PERMANENT if permanent else 1)
    elif outcome.kind is Kind.THROTTLED:  # the host's doing, not the page's
        page.retry_at = max(page.retry_at, host.throttled_until)
        if crawl.mirror.put_off(page.host_id, page.key) and crawl.window is not None:
            crawl.window.again_at = min(crawl.window.again_at, page.retry_at)
    elif outcome.kind is Kind.POLICY:
        page.state = State.REFUSED
        page.retry_at = now + timing.recheck
    elif outcome.blame in (Blame.ROUTE, Blame.LOCAL):
        page.retry_at = now + timing.confirm
    else:
        page.retry_at = now + min(
            timing.retry_base * 2 ** min(page.fails, MAX_DOUBLINGS), timing.retry_cap
        )
        page.fails += 1
    return False


def _count_answer(crawl: Crawl, host: Host, verdict: Verdict) -> None:
    window = crawl.window
    if window is not None:
        window.answered[host.host_id] = window.answered.get(host.host_id, 0) + 1
        if verdict is Verdict.GONE:
            window.gone[host.host_id] = window.gone.get(host.host_id, 0) + 1


def _gone(crawl: Crawl, host: Host, page: Page, outcome: Outcome, now: float) -> bool:
    """404 or 410: believed once confirmed, and never while most of the host disappears at once."""
    timing = crawl.project.timing
    before = page.state
    page.missing += 1
    if before is State.LIVE and mass_disappearance(crawl, host):
        page.missing = 1
        page.retry_at = now + timing.confirm
        host.note = (
            "most of its pages answered 404 at once: not believed until they are asked again"
        )
        return False
    page.state = move(
        before,
        Verdict.GONE,
        status=outcome.status,
        missing=page.missing,
        confirmations=crawl.project.confirmations if page.last else 1,
    )
    if page.state is not State.GONE:
        page.retry_at = now + timing.confirm
        return False
    seen_gone = min(max(0, page.missing - crawl.project.confirmations), MAX_DOUBLINGS)
    page.retry_at = now + min(timing.recheck * 2**seen_gone, timing.recheck_cap)
    return before is not State.GONE and page.last > 0


def mass_disappearance(crawl: Crawl, host: Host) -> bool:
    """True where more than `mass_gone` of a host's answers in this window were 404."""
    window = crawl.window
    if window is None:
        return False
    answered = window.answered.get(host.host_id, 0)
    gone = window.gone.get(host.host_id, 0)
    return answered >= MASS_ANSWERS and gone > crawl.project.mass_gone * answered
