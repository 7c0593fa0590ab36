"""`recrawl why URL`: every number behind a page's next visit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli.errors import DONE, FAILURE
from recrawl.cli.options import DEFAULT_CONFIG, Config, Json
from recrawl.cli.output import clean, emit, emit_json

if TYPE_CHECKING:
    from recrawl.config import Settings
    from recrawl.engine.why import Why


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(why)


def why(
    url: Annotated[str, typer.Argument(metavar="URL", help="A page of the project.")],
    config: Config = DEFAULT_CONFIG,
    visits: Annotated[int, typer.Option(min=0, metavar="N", help="Show the last N visits.")] = 5,
    as_json: Json = False,
) -> int:
    """Show every number behind a page's next visit.

    Its rate, what a visit buys and costs, and when it is due. For a URL that is no page of the
    project, the reason. Exits 1 where the URL isn't known.
    """
    from recrawl.config import load

    now = time.time()
    told = explain_url(load(config), url, visits, now)
    if as_json:
        emit_json(told.as_dict())
    else:
        for line in lines(told, now):
            emit(clean(line))
    return DONE if told.known else FAILURE


def explain_url(settings: Settings, url: str, visits: int, now: float) -> Why:
    """Ask a copy of the engine, made from the store. Nothing is written."""
    from recrawl.cli.project import store_to_read
    from recrawl.cli.session import make_engine
    from recrawl.config.build import project_of
    from recrawl.engine.explain import bars_of, explain, find_page

    with store_to_read(settings) as store:
        engine = make_engine(project_of(settings), store, now)
        key = find_page(engine.crawl, url)
        page = store.get_page(*key) if key is not None else None
        history = store.history(*key, limit=visits) if key is not None and page else []
        return explain(engine.crawl, url, page, history, bars_of(store.meta()), now)


def lines(w: Why, now: float) -> list[str]:
    """The story of one page, a fact a line."""
    if not w.known:
        return [w.canonical or w.url, f"  {w.answer}"]
    out = [w.canonical, f"  {w.answer}", _state(w)]
    out += [*_believed(w), *_priced(w)]
    out += _times(w, now)
    out += [_visit(v) for v in w.history]
    return out


def _row(name: str, text: str) -> str:
    return f"{name:<18} {text}"


def _state(w: Why) -> str:
    return _row(
        "state",
        f"{w.state}, {w.page_type}, value {w.value:g}, {w.depth} links from a seed; "
        f"robots.txt: {w.robots}",
    )


def _believed(w: Why) -> list[str]:
    """The belief with its interval, and the validator's."""
    seen = f"{w.changes} changes in {w.visits} visits, {w.not_modified} of them 304; "
    out = [
        _row(
            "changes",
            f"{w.rate_per_day:.3g} a day ({w.rate_low:.2g} to {w.rate_high:.2g}), Gamma("
            f"{w.shape:.6g}, {w.scale:.6g} s)   {seen if w.visits else ''}"
            f"pages like it {w.group_rate_per_day:.2g}",
        )
    ]
    if w.validator_shape:
        out.append(
            _row(
                "its validator",
                f"{w.validator_shape / w.validator_scale * 86400:.3g} changes a day, Gamma("
                f"{w.validator_shape:.6g}, {w.validator_scale:.6g} s)",
            )
        )
    return out


def _priced(w: Why) -> list[str]:
    from recrawl.units import format_duration

    if w.last_read:
        stale = f"{w.chance_stale:.1%}   read {format_duration(w.tau)} ago"
        buys = f"{w.gain:.4g}   (policy {w.policy}, value and chance of success in)"
    else:
        stale = "never read"
        buys = f"{w.gain:.4g}   (policy {w.policy}, a first reading over "
        buys += f"{format_duration(w.horizon)}, value and chance of success in)"
    return [
        _row("chance stale now", stale),
        _row("a visit buys", buys),
        *_costs(w),
        _row("score", f"{w.score:.4g}   the bar of the last plan: {w.bar:.4g}"),
    ]


def _costs(w: Why) -> list[str]:
    """What a visit costs by each cap that binds, and by which price its gain is divided."""
    from recrawl.units import Unit, format_amount

    out: list[str] = []
    for cap in w.caps:
        if not cap["weight"]:
            continue
        unit = Unit(cap["unit"])
        full, part, failed, expected, price = (
            format_amount(unit, cap[name])
            for name in ("full", "not_modified", "failed", "expected", "price")
        )
        weight = "" if cap["unit"] == w.unit else f", weighed {cap['weight']:.4g}"
        out.append(
            _row(
                "a visit costs" if not out else "and",
                f"{expected} expected   ({full} in full, {part} unchanged, {failed} failed); "
                f"marginal price {price}{weight}; succeeds {w.chance_success:.0%}",
            )
        )
    return out


def _times(w: Why, now: float) -> list[str]:
    from recrawl.units import iso

    out = []
    if w.due is not None and w.due < 1e11:
        out.append(_row("due", iso(w.due)))
    if w.retry_at:
        out.append(_row("not before", iso(w.retry_at)))
    if w.host_ready and w.host_ready > now:
        out.append(_row("host ready", iso(w.host_ready)))
    if w.target:
        out.append(_row("leads to", w.target))
    return out


def _visit(v: dict[str, object]) -> str:
    from recrawl.units import format_bytes, iso

    said = f"; {v['evidence']}" if v["evidence"] else ""
    return _row(
        f"  {iso(float(str(v['t'])))[:19]}",
        f"{v['verdict']} ({v['status']}), {v['purpose']}, {format_bytes(float(str(v['bytes'])))}"
        f"{said}",
    )
