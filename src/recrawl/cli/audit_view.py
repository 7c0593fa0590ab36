"""What `audit` found: as plain values for --json, and as words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.cli.output import clean, emit, percent, plural, say, show_table

if TYPE_CHECKING:
    from recrawl.audit.files import Reading
    from recrawl.audit.histories import Histories
    from recrawl.audit.prices import Price
    from recrawl.audit.waste import Group, Waste

TOP = 20
ODD = 5  # page types whose changes are no Poisson process


def facts_of(reading: Reading, waste: Waste, price: Price, kept: Histories) -> dict[str, Any]:
    """All that --json prints, but the policies."""
    from recrawl.units import iso

    def line(name: tuple[str, str], g: Group) -> dict[str, Any]:
        return {
            "site": name[0], "page_type": name[1], "pages": g.pages, "fetches": g.fetches,
            "failed": g.failed, "judged": g.judged, "found_nothing": g.nothing,
            "bytes": g.bytes, "bytes_found_nothing": g.bytes_nothing,
            "usd_found_nothing": price.of(g.bytes_nothing, g.nothing),
        }  # fmt: skip

    groups = sorted((line(n, g) for n, g in waste.groups.items()), key=_order)
    keys = [k for k in groups[0] if k not in ("site", "page_type")] if groups else []
    return {
        "files": reading.kinds, "columns": reading.columns, "rows": reading.rows,
        "bad_rows": reading.bad, "first_bad_rows": reading.first_bad,
        "unread_files": reading.unread, "first_unread_files": reading.first_unread,
        "from": iso(waste.first), "to": iso(waste.last), "pages_read_once": waste.once,
        "judged_by": dict(sorted(waste.evidence.items())),
        "total": {k: sum(x[k] for x in groups) for k in keys}, "groups": groups,
        "poisson": [x.as_dict() for x in kept.dispersion()],
    }  # fmt: skip


def _order(line: dict[str, Any]) -> tuple[Any, ...]:
    return -line["bytes_found_nothing"], -line["found_nothing"], line["site"], line["page_type"]


def show(facts: dict[str, Any]) -> None:
    """Words on stderr, what was asked for on stdout."""
    _show_reading(facts)
    if not facts["total"]:
        emit("The log holds no fetches.")
        return
    _show_waste(facts)
    _show_poisson(facts["poisson"])
    if "policies" in facts:
        _show_policies(facts["policies"])


def _show_reading(facts: dict[str, Any]) -> None:
    for path, kind in list(facts["files"].items())[:TOP]:
        used = ", ".join(f"{k}={v}" for k, v in facts["columns"].get(path, {}).items())
        say(clean(f"{path}: {kind}{': ' + used if used else ''}"))
    if len(facts["files"]) > TOP:
        say(f"{len(facts['files']) - TOP:,} more files: --json lists them")
    for what, word in (("bad_rows", "bad row"), ("unread_files", "unread file")):
        if facts[what]:
            say(f"{plural(facts[what], word)} left out, the first:")
        for text in facts[f"first_{what}"]:
            say("  " + clean(text))


def _show_waste(facts: dict[str, Any]) -> None:
    from recrawl.units import format_bytes, format_usd

    total = facts["total"]
    money = f" ({format_usd(total['usd_found_nothing'] * 1e6)})"
    emit(
        f"{plural(total['fetches'], 'fetch', 'fetches')} of {plural(total['pages'], 'page')}, "
        f"{facts['from']} to {facts['to']}; {total['judged']:,} can be judged: "
        f"{total['found_nothing']:,} found nothing, "
        f"{format_bytes(total['bytes_found_nothing'])}{money}"
    )
    names = ["pages", "fetches", "failed", "judged", "found nothing", "bytes"]
    show_table(
        ["site", "page type", *names],
        (
            [
                x["site"], x["page_type"], f"{x['pages']:,}", f"{x['fetches']:,}",
                f"{x['failed']:,}", f"{x['judged']:,}",
                percent(x["found_nothing"] / x["judged"] if x["judged"] else None),
                format_bytes(x["bytes_found_nothing"]),
            ]
            for x in facts["groups"][:TOP]
        ),
        right=names,
    )  # fmt: skip
    by = ", ".join(f"{k} {n:,}" for k, n in facts["judged_by"].items()) or "nothing"
    emit(f"judged by: {by}; {plural(facts['pages_read_once'], 'page')} read once say nothing")
    if "14-week crawl data" in facts["files"].values():
        emit("The 14-week set leaves out pages that never changed: true waste is higher.")


def _show_poisson(types: list[dict[str, Any]]) -> None:
    known = [x for x in types if x["index"] is not None]
    odd = [x for x in known if "Poisson" not in x["sentence"]]
    if not known:
        return
    fit = "changes" if len(known) - len(odd) == 1 else "change"
    emit("")
    emit(
        f"{plural(len(known) - len(odd), 'page type')} of {len(known):,} with enough changes "
        f"{fit} about as a Poisson process does."
    )
    for x in sorted(odd, key=lambda x: -x["changes"])[:ODD]:
        emit(clean(f"{x['sentence']} (dispersion {x['index']:.1f})"))
    if len(odd) > ODD:
        emit(f"{len(odd) - ODD:,} more: --json lists them.")


def _show_policies(facts: dict[str, Any]) -> None:
    from recrawl.units import format_bytes

    emit("")
    for text in facts["says"]:
        emit(text)
    if not facts["policies"]:
        return

    def amount(x: float) -> str:
        return f"{x:,.0f}" if facts["unit"] == "fetches" else format_bytes(x)

    names = ["fresh for the same spend", "spend for the same freshness", facts["unit"]]
    own = percent(facts["own_freshness"]["mean"]), "100.0%", amount(facts["spend"])
    emit("")
    show_table(
        ["policy", *names],
        [
            ["(your log)", *own],
            *(
                [
                    x["policy"],
                    percent(x["same_spend_freshness"]["mean"]),
                    f"{x['same_freshness_share']['bound']} "
                    f"{percent(x['same_freshness_share']['mean'])}".strip(),
                    amount(x["same_freshness_spend"]),
                ]
                for x in facts["policies"]
            ),
        ],
        right=names,
    )
