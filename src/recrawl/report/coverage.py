"""How far the crawl has come: the frontier, what it still discovers, and what it turned away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recrawl.model import Purpose, Refused, State
from recrawl.ports import Rollup
from recrawl.report.outcomes import site_name

LIMITS = {
    Refused.HOST_FULL: "limits.per_host",
    Refused.PROJECT_FULL: "limits.pages",
}
"""Refusals that mean a limit of the project was reached, and the key that holds it."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What visits discovered in one day, or in all."""

    day: int | None  # days since the epoch, UTC; None = the whole time
    visits: int
    discovered: int  # new pages admitted
    sighted: int  # URLs seen, known ones included

    @property
    def ratio(self) -> float | None:
        """New pages for each page fetched (M2); on a finite site it falls to 0."""
        return self.discovered / self.visits if self.visits else None

    @property
    def duplicates(self) -> float | None:
        """Share of the URLs seen that were known already or refused (M4)."""
        return 1 - self.discovered / self.sighted if self.sighted else None

    def as_dict(self) -> dict[str, Any]:
        """For --json, the two shares included."""
        return {**asdict(self), "ratio": self.ratio, "duplicates": self.duplicates}


def by_state(counts: Mapping[tuple[int, int], int]) -> dict[State, int]:
    """State -> pages, from (host_id, state) -> pages."""
    found: Counter[State] = Counter()
    for (_, state), n in counts.items():
        found[State(state)] += n
    return {state: found[state] for state in State if found[state]}


def by_host(
    counts: Mapping[tuple[int, int], int], origins: Mapping[int, str]
) -> dict[str, dict[State, int]]:
    """Origin -> state -> pages, the largest host first."""
    found: dict[str, dict[State, int]] = {}
    for (host_id, state), n in sorted(counts.items()):
        found.setdefault(site_name(host_id, origins), {})[State(state)] = n
    return dict(sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0])))


def discovery_by_day(rows: Iterable[Rollup]) -> list[Discovery]:
    """One entry a day with page visits, oldest first."""
    sums: dict[int, list[int]] = {}
    for row in rows:
        if row.purpose is not Purpose.ROBOTS:
            day = sums.setdefault(row.day, [0, 0, 0])
            day[0] += row.n
            day[1] += row.discovered
            day[2] += row.sighted
    return [Discovery(day, *sums[day]) for day in sorted(sums)]


def discovery(rows: Iterable[Rollup]) -> Discovery:
    """The whole time in one."""
    days = discovery_by_day(rows)
    return Discovery(
        None,
        sum(d.visits for d in days),
        sum(d.discovered for d in days),
        sum(d.sighted for d in days),
    )


def status_by_host(
    rows: Iterable[Rollup], origins: Mapping[int, str]
) -> dict[str, dict[int, int]]:
    """Origin -> HTTP status -> answers; status 0 = no answer (M3)."""
    found: dict[str, Counter[int]] = {}
    for row in rows:
        found.setdefault(site_name(row.host_id, origins), Counter())[row.status] += row.n
    return {site: dict(sorted(found[site].items())) for site in sorted(found)}


def refused_by_reason(refused: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """Reason -> how many addresses, the commonest first."""
    found: Counter[str] = Counter()
    for _, reason, n in refused:
        found[reason] += n
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def limits_reached(refused: Iterable[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """(key of the project file, origin, addresses turned away) for each limit reached."""
    keys = {str(reason): key for reason, key in LIMITS.items()}
    return sorted((keys[why], origin, n) for origin, why, n in refused if why in keys and n)
