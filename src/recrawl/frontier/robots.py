"""May a host's pages be asked for? What fetching its robots.txt said, by RFC 9309 section 2.3.

On `model.Host`: `robots_status` is '', 'rules', 'none', 'html' or 'unreachable'; `robots_at` is
when it was read (for 'unreachable': since when it can't be); `robots_until` is when to ask again;
`robots_body` is the last copy that held rules.
"""

from __future__ import annotations

from enum import StrEnum

import ada_url

from recrawl.frontier.private import is_private_literal
from recrawl.frontier.robots_rules import Robots
from recrawl.frontier.robots_text import MAX_BYTES, RobotsText, parse_robots
from recrawl.model import Host, Kind, Outcome
from recrawl.units import DAY, MINUTE

__all__ = [
    "MAX_BYTES",
    "MAX_REDIRECTS",
    "Access",
    "Robots",
    "RobotsText",
    "access",
    "next_hop",
    "parse_robots",
    "robots_due",
    "settle_robots",
]

MAX_REDIRECTS = 5  # RFC 9309 2.3.1.2
TTL = DAY  # 2.4: a copy isn't used for more than 24 hours
STALE_FOR = DAY  # so long into an outage the last copy still rules
ABSENT_AFTER = 30 * DAY  # 2.3.1.4: then the file may be taken as not there
_FIRST_RETRY = MINUTE
_LONGEST_RETRY = DAY
_PARTIAL = frozenset({Kind.INCOMPLETE, Kind.TIMEOUT, Kind.DECODE_ERROR, Kind.PROTOCOL_ERROR})


class Access(StrEnum):
    """What robots.txt lets us do with a host now."""

    ASK = "ask"  # it has to be read first
    RULES = "rules"  # judge each page by `Robots(host.robots_body, agent)`
    OPEN = "open"  # no rules: everything is allowed
    CLOSED = "closed"  # it can't be read: nothing is allowed for now


def access(host: Host, now: float) -> Access:
    """The gate of a host. Pages pass on RULES and OPEN only."""
    status = host.robots_status
    if status == "unreachable":
        down = now - host.robots_at
        if down >= ABSENT_AFTER:
            return Access.OPEN
        return Access.RULES if host.robots_body and down < STALE_FOR else Access.CLOSED
    if not status or robots_due(host, now):
        return Access.ASK
    return Access.RULES if status == "rules" else Access.OPEN


def robots_due(host: Host, now: float) -> bool:
    """True where robots.txt should be asked for (again).

    A moment further away than any could have been set shows that the clock stepped back.
    """
    return now >= host.robots_until or host.robots_until - now > max(TTL, _LONGEST_RETRY)


def next_hop(url: str, location: str | None, hops: int, *, private_ok: bool = False) -> str | None:
    """The URL that a redirected robots.txt is to be read from, or None where it isn't followed.

    `hops` redirects were followed before (at most `MAX_REDIRECTS`). Any public host may be led
    to, its file then speaks for the asking host only; another host that is private may not.
    """
    if hops >= MAX_REDIRECTS or not location:
        return None
    try:
        target = ada_url.URL(ada_url.join_url(url, location))
        asking = ada_url.URL(url).hostname
    except ValueError:
        return None
    if target.protocol not in ("http:", "https:") or target.username or target.password:
        return None
    if not private_ok and target.hostname != asking and is_private_literal(target.hostname):
        return None
    return target.href.partition("#")[0]


def settle_robots(
    host: Host,
    outcome: Outcome,
    now: float,
    *,
    agent: str,
    denied_closes: bool = False,
) -> tuple[str, ...]:
    """Write onto `host` what the (last hop's) answer to its robots.txt says.

    2xx: its rules, for 24 h. 4xx, and redirects that lead nowhere: there are none, for 24 h;
    401 and 403 close the host instead where `denied_closes`. 429, 5xx and everything without an
    answer: unreachable; asked again after 1, 1, 2, 4 ... minutes (as long as it has been down, at
    most a day, at least Retry-After). Returns the new status, then the flags of the reading.
    """
    status = _status(outcome, denied_closes)
    if status == "unreachable":
        _unreachable(host, outcome, now)
        return (status,)
    flags: tuple[str, ...] = ()
    host.robots_body = b""
    host.crawl_delay = None
    if status == "rules":
        body = _whole_lines(outcome)
        robots = Robots(body, agent, content_type=outcome.header("content-type") or "")
        flags = tuple(sorted(robots.flags))
        if "html" in robots.flags:
            status = "html"
        else:
            host.robots_body = body
            host.crawl_delay = robots.crawl_delay
    elif outcome.status < 400:
        flags = ("redirect",)
    host.robots_status = status
    host.robots_at = now
    host.robots_until = now + TTL
    return (status, *flags)


def _status(outcome: Outcome, denied_closes: bool) -> str:
    """RFC 9309 2.3.1.1-4. A body that arrived in part only can't be trusted to hold all rules."""
    status = outcome.status
    if 200 <= status < 300:
        unread = outcome.kind is Kind.CAPPED and not outcome.body  # refused by its declared length
        return "unreachable" if outcome.kind in _PARTIAL or unread else "rules"
    if 300 <= status < 400:
        return "none" if status != 304 else "unreachable"
    if status == 429 or (status in (401, 403) and denied_closes):
        return "unreachable"
    return "none" if 400 <= status < 500 else "unreachable"


def _unreachable(host: Host, outcome: Outcome, now: float) -> None:
    """Keep the last copy if it is a recent one; ask again later and later."""
    if host.robots_status != "unreachable":
        if now - host.robots_at > TTL + STALE_FOR:
            host.robots_body = b""
        host.robots_status = "unreachable"
        host.robots_at = now
    wait = min(max(now - host.robots_at, _FIRST_RETRY), _LONGEST_RETRY)
    host.robots_until = now + max(wait, min(outcome.retry_after or 0.0, _LONGEST_RETRY))


def _whole_lines(outcome: Outcome) -> bytes:
    """The body as it is kept. A line that a cap cut off would forbid or allow too much.

    One byte more than `MAX_BYTES` is kept, so that a later parse sees that it was longer.
    """
    body = outcome.body[: MAX_BYTES + 1]
    if outcome.kind is Kind.CAPPED and len(body) <= MAX_BYTES:
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    return body
