"""What a visit does to its page's comparison base: digests, validators, counters, times."""

from __future__ import annotations

from recrawl.model import Observation, Outcome, Page, Verdict

MAX_VALIDATOR = 1024
"""Characters: a longer ETag is a burden on every request and every row, not a validator."""


def advance(page: Page, obs: Observation, outcome: Outcome, now: float) -> None:
    """Take a verdict into the page's row, in place. `now` is when the outcome is recorded.

    A reading moves the base and stores the validators that came with it verbatim, also when the
    record is equal: else every later request would ask for the full page again. Only a reading
    does: after a failure the page is compared, and asked for, as before it. Belief, failures and
    state are not touched here.
    """
    page.n_visits += 1
    if not obs.verdict.is_reading:
        return
    page.last = now
    etag, modified = _validator(outcome, "etag"), _validator(outcome, "last-modified")
    if obs.verdict is Verdict.NOT_MODIFIED:
        page.n_not_modified += 1
        page.etag = etag or page.etag  # a 304 may renew them, or say nothing (RFC 9110, 15.4.5)
        page.last_modified = modified or page.last_modified
        return
    page.etag, page.last_modified = etag, modified
    page.canonical = obs.canonical
    if obs.record is not None:
        page.digest1, page.digest2 = obs.record.digest1, obs.record.digest2
    if obs.verdict is Verdict.CHANGED:
        page.n_changes += 1
        page.changed_at = now


def _validator(outcome: Outcome, name: str) -> str | None:
    value = outcome.header(name)
    return value if value and len(value) <= MAX_VALIDATOR else None
