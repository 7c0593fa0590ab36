"""The store's rows -> a crawl in RAM: each start resumes, what was in flight is booked as lost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recrawl.engine.crawl import Crawl, hostname
from recrawl.engine.next_state import PERMANENT
from recrawl.engine.project import Project, Timing
from recrawl.frontier.politeness import clamp, ready_at
from recrawl.learn.prior import SPREAD_GROUP, SPREAD_VALIDATORS, GroupPrior
from recrawl.model import Columns, Entry, Host, Reservation, Table, Verdict, Writes
from recrawl.model.rows import NEVER
from recrawl.plan.charges import Charges, told_of
from recrawl.plan.sizes import SizeModel

LEARNED = "learned"  # the meta row that holds the groups' priors and sizes
TOLD = "charges"  # the meta row of the largest charges that vendors told
PASS = "pass_started"  # noqa: S105 - when the pass under way began


def rebuild(
    project: Project,
    hosts: Sequence[Host],
    hot: Table,
    meta: Mapping[str, str],
    reservations: Sequence[Reservation],
    now: float,
) -> tuple[Crawl, Writes]:
    """A crawl as the store remembers it, and the writes that book what was in flight.

    Lost visits are booked as UNKNOWN at the price that was reserved for them; their pages stand
    as they did, and their hosts wait as long as if the visits had been made.
    """
    learned = learned_of(meta)
    crawl = Crawl(
        project,
        hosts,
        hot,
        first_lease=int(now * 1000) << 10,
        prior=learned_prior(learned, "prior"),
        validators=learned_prior(learned, "validators"),
        sizes=SizeModel.from_dict(learned["sizes"]) if "sizes" in learned else None,
        charges=charges_of(meta, learned),
    )
    without_future(crawl.mirror.rows, project.timing, now)
    ready: dict[str, float] = {}  # origins of one hostname share its pace: the latest counts
    for host in crawl.hosts.values():
        clamp(host, now, project.pace)
        name = hostname(host.origin)
        ready[name] = max(ready_at(host), ready.get(name, 0.0))
    for host in crawl.hosts.values():
        crawl.queues.set_ready(host.host_id, ready[hostname(host.origin)])
    writes = Writes()
    for lost in reservations:
        writes.entries.append(unknown(lost))
        writes.settled.append(lost.lease)
    return crawl, writes


def without_future(rows: Columns, timing: Timing, now: float) -> None:
    """After the wall clock stepped back: no page was read later than now, none waits for longer
    than it could have been told to. Harmless at any other time.
    """
    last, retry_at = rows["last"], rows["retry_at"]
    last[last > now] = now - 1.0  # before a pass that begins now
    longest = max(timing.retry_cap, timing.recheck_cap, timing.recheck * PERMANENT)
    np.minimum(retry_at, np.uint32(min(now + longest, NEVER)), out=retry_at)


def unknown(lost: Reservation) -> Entry:
    """The ledger's line for a visit that was in flight when the process ended."""
    return Entry(
        t=lost.t,
        host_id=lost.host_id,
        key=lost.key,
        purpose=lost.purpose,
        verdict=Verdict.UNKNOWN,
        page_type=lost.page_type,
        status=0,
        kind="unknown",
        conditional=False,
        up=0,
        down=lost.reserved.bytes,
        spend=lost.reserved,
        source="reserved",
        route=lost.route,
        evidence="in flight when the process ended",
    )


def learned_of(meta: Mapping[str, str]) -> dict[str, Any]:
    """The inverse of `learned_meta`: empty where nothing was learned yet."""
    out: dict[str, Any] = json.loads(meta.get(LEARNED) or "{}")
    return out


def learned_prior(learned: Mapping[str, Any], name: str) -> GroupPrior:
    """The 'prior' of records or that of 'validators'; the default one before anything."""
    if name in learned:
        return GroupPrior.from_dict(learned[name])
    return GroupPrior(spread=SPREAD_VALIDATORS if name == "validators" else SPREAD_GROUP)


def charges_of(meta: Mapping[str, str], learned: Mapping[str, Any]) -> dict[str, Charges]:
    """What vendors told of their charges, by the tariff's name."""
    out = {name: Charges.from_dict(data) for name, data in learned.get("charges", {}).items()}
    for name, told in told_of(meta.get(TOLD)).items():
        out.setdefault(name, Charges()).told = told
    return out


def learned_meta(crawl: Crawl) -> str:
    """What the groups have taught, as the store's meta holds it."""
    return json.dumps(
        {
            "prior": crawl.prior.to_dict(),
            "validators": crawl.validators.to_dict(),
            "sizes": crawl.sizes.to_dict(),
            "charges": {name: c.to_dict() for name, c in crawl.charges.items()},
        }
    )
