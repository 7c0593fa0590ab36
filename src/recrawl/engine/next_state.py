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

MASS_ANSWERS = 10  # answers about known pages in a window that show a mass disappearance,
FEWEST_ANSWERS = 3  # on a small host half as many as it has pages, but at least these
MASS_NOTE = "most of its pages answered 404 at once: not believed until they are asked again"
MASS_DOUBLINGS = 6  # asked again after 1, 2, 4 ... 32 hours, what is still 404 then is gone
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
    verdict = observation.verdict
    if before is State.LIVE:
        _count_answer(crawl, host, page, verdict)
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


def _count_answer(crawl: Crawl, host: Host, page: Page, verdict: Verdict) -> None:
    """Keep count of what becomes of a host's known pages in this window.

    A suspicion outlives the window and a restart (`host.note`). Only the pages under it can lift
    it, by coming back: they are asked more rarely than the others.
    """
    window = crawl.window
    suspicious = host.note == MASS_NOTE
    if window is None or not (verdict.is_reading or verdict is Verdict.GONE):
        return
    if suspicious and not page.missing:
        return
    gone = window.gone.get(host.host_id, 0) + (verdict is Verdict.GONE)
    answered = window.answered.get(host.host_id, 0) + 1
    window.gone[host.host_id], window.answered[host.host_id] = gone, answered
    enough = max(FEWEST_ANSWERS, min(MASS_ANSWERS, host.n_pages / 2))
    if not suspicious and answered >= enough and gone > crawl.project.mass_gone * answered:
        host.note = MASS_NOTE
    elif (
        suspicious
        and gone <= crawl.project.mass_gone * answered
        and answered >= min(FEWEST_ANSWERS, host.n_pages / 4)
    ):
        host.note = ""


def _gone(crawl: Crawl, host: Host, page: Page, outcome: Outcome, now: float) -> bool:
    """404 or 410: believed once confirmed, and while most of the host disappears at once only
    after days of asking ever more rarely.
    """
    timing = crawl.project.timing
    before = page.state
    page.missing += 1
    if before is State.LIVE and host.note == MASS_NOTE and page.fails < MASS_DOUBLINGS:
        page.missing = 1
        page.retry_at = now + timing.confirm * 2**page.fails
        page.fails += 1
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
    if host.note == MASS_NOTE and page.fails >= MASS_DOUBLINGS:
        host.note = ""  # it was no accident
    seen_gone = min(max(0, page.missing - crawl.project.confirmations), MAX_DOUBLINGS)
    page.retry_at = now + min(timing.recheck * 2**seen_gone, timing.recheck_cap)
    return before is not State.GONE and page.last > 0
