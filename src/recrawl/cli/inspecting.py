"""`pages`, `hosts` and `frontier`: what is known of the web, and how it stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.options import DEFAULT_CONFIG, Config, Json, Limit, rows_wanted
from recrawl.cli.output import emit_json, plural, say, show_table
from recrawl.cli.project import Project, opened, when

if TYPE_CHECKING:
    from recrawl.model import Host, Page, State

Site = Annotated[
    str, typer.Option("--host", "--site", metavar="HOST", help="Only that host or origin.")
]
Type = Annotated[str, typer.Option("--type", metavar="NAME", help="Only that page type.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(pages)
    app.command()(hosts)
    app.command()(frontier)


def pages(
    host: Site = "",
    state: Annotated[
        str,
        typer.Option(
            metavar="STATE", help="Only that state: new, live, gone, inactive, alias, ..."
        ),
    ] = "",
    page_type: Type = "",
    limit: Limit = None,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """List pages: state, last visit, changes."""
    with opened(config) as project:
        found = _pages(project, host, _state(state), page_type)
        wanted = rows_wanted(limit, as_json)
        rows = [_page(project, page) for page in islice(found, wanted)] if not as_json else None
        if rows is None:
            for page in islice(found, wanted):
                emit_json(_page(project, page))
            return
        show_table(
            ["url", "state", "type", "visits", "changes", "last", "due"],
            (
                [
                    row["url"], row["state"], row["type"], str(row["visits"]),
                    str(row["changes"]), row["last"] or "never", row["due"] or "-",
                ]
                for row in rows
            ),
            right=["visits", "changes"],
        )  # fmt: skip
        if next(found, None) is not None:
            say(f"the first {plural(len(rows), 'page')}; --limit 0 shows all")


def _state(word: str) -> State | None:
    from recrawl.cli.errors import UsageError
    from recrawl.model import State

    if not word:
        return None
    try:
        return State[word.upper()]
    except KeyError:
        raise UsageError(f"--state {word!r}: write {', '.join(s.word for s in State)}") from None


def _pages(project: Project, host: str, state: State | None, page_type: str) -> Iterator[Page]:
    from recrawl.cli.errors import UsageError

    types = project.settings.page_types
    if page_type and page_type not in types:
        raise UsageError(f"--type {page_type!r}: write {', '.join(dict.fromkeys(types))}")
    ids: list[int | None] = [None]
    if host:
        ids = [*sorted(project.host_ids(host))]
    for host_id in ids:
        for page in project.store.iter_pages(host_id, state):
            if not page_type or project.type_of(page.page_type) == page_type:
                yield page


def _page(project: Project, page: Page) -> dict[str, Any]:
    return {
        "url": project.url(page),
        "key": f"{page.key & (2**64 - 1):016x}",
        "state": page.state.word,
        "type": project.type_of(page.page_type),
        "value": page.value,
        "depth": page.depth,
        "first_seen": when(page.first_seen),
        "last": when(page.last),
        "changed_at": when(page.changed_at),
        "due": when(page.due),
        "retry_at": when(page.retry_at),
        "visits": page.n_visits,
        "changes": page.n_changes,
        "not_modified": page.n_not_modified,
        "fails": page.fails,
        "etag": page.etag,
        "last_modified": page.last_modified,
        "target": page.target,
        "canonical": page.canonical,
    }


def hosts(config: Config = DEFAULT_CONFIG, as_json: Json = False) -> None:
    """List hosts: pages, delay, robots.txt, faults, validators."""
    now = time.time()
    with opened(config) as project:
        rows = [_host(host) for host in project.hosts.values()]
    if as_json:
        for row in rows:
            emit_json(row)
        return
    show_table(
        ["host", "pages", "delay", "next", "robots", "304", "faults", "latency", "note"],
        (
            [
                row["origin"], f"{row['pages']:,}", f"{row['delay']:g} s",
                _next(row, now), row["robots"] or "not read",
                f"{row['not_modified']}/{row['conditional']}", str(row["fails"]),
                f"{row['latency']:.2f} s", row["note"],
            ]
            for row in rows
        ),
        right=["pages", "delay", "304", "faults", "latency"],
    )  # fmt: skip


def _next(row: dict[str, Any], now: float) -> str:
    """When a host may be asked again; a pause is named by its cause."""
    ready, paused = row["next_ok"], row["throttled_until"]
    if paused and paused > (when(now) or ""):
        return f"{max(paused, ready or '')} ({'faults' if row['fails'] else 'throttled'})"
    return ready if ready and ready > (when(now) or "") else "now"


def _host(host: Host) -> dict[str, Any]:
    return {
        "origin": host.origin,
        "pages": host.n_pages,
        "delay": host.delay,
        "next_ok": when(host.next_ok),
        "crawl_delay": host.crawl_delay,
        "throttled_until": when(host.throttled_until),
        "robots": host.robots_status,
        "robots_until": when(host.robots_until),
        "fails": host.fails,
        "latency": host.latency,
        "handshake_bytes": host.handshake,
        "conditional": host.n_validator,
        "not_modified": host.n_304,
        "note": host.note,
    }


def frontier(config: Config = DEFAULT_CONFIG, as_json: Json = False) -> None:
    """Count pages by host and state, and refusals by reason."""
    from recrawl.model import State
    from recrawl.report import by_host, refused_by_reason

    with opened(config) as project:
        counts = by_host(project.store.state_counts(), project.origins)
        refused = refused_by_reason(project.store.refused())
    if as_json:
        for site, states in counts.items():
            emit_json({"host": site, "states": {s.word: n for s, n in states.items()}})
        emit_json({"host": None, "refused": refused})
        return
    shown = [s for s in State if any(s in states for states in counts.values())]
    show_table(
        ["host", *(s.word for s in shown)],
        ([site, *(f"{states.get(s, 0):,}" for s in shown)] for site, states in counts.items()),
        right=[s.word for s in shown],
    )
    if refused:
        show_table(
            ["refused because", "addresses"],
            ([reason, f"{n:,}"] for reason, n in refused.items()),
            right=["addresses"],
        )
