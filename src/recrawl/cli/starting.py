"""Setting up: `init` looks at a site and writes the project file; `demo` shows the whole thing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.errors import DONE, FAILURE, UsageError
from recrawl.cli.options import DEFAULT_CONFIG, Json
from recrawl.cli.output import emit, emit_json, say, show_table

if TYPE_CHECKING:
    from recrawl.model import Address, Outcome

USUAL_SITEMAPS = ("/sitemap.xml", "/sitemap_index.xml")


def add_to(app: typer.Typer) -> None:
    app.command()(demo)
    app.command()(init)


def init(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the site begins.")],
    config: Annotated[
        Path, typer.Option("--config", "-c", metavar="PATH", help="The file to write.")
    ] = DEFAULT_CONFIG,
    contact: Annotated[
        str, typer.Option(help="How the site can reach you: a mail address or a URL.")
    ] = "",
    budget: Annotated[
        list[str] | None, typer.Option(help="At most this a day: '500 MB', '4 USD'. Repeatable.")
    ] = None,
    price: Annotated[str, typer.Option(help="What you pay, as in '8 USD/GB'.")] = "",
    delay: Annotated[str, typer.Option(help="Between two requests to a host: '1.5 s'.")] = "",
    sample: Annotated[
        bool, typer.Option(help="Read up to 20 pages, to say what a crawl will cost.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> int:
    """Look at a site's robots.txt and sitemap, and write a commented recrawl.toml for it.

    Then reads up to 20 pages (booked in the ledger) and says, before more is spent, what a pass
    costs, which limit binds, and what the budget can keep fresh.
    """
    from recrawl.config import ConfigError, example_toml, load

    address = _address(url)
    if config.exists() and not force:
        raise UsageError(f"{config} exists already: choose another --config, or --force")
    if not contact and not _is_local(address.hostname):
        raise UsageError(
            "say how sites can reach you: --contact you@example.com (a crawler of the open web "
            "owes its hosts a name)"
        )
    found = asyncio.run(_look_at(address, contact))
    text = example_toml(
        [address.url], contact, name=address.hostname.strip("[]"), budget=budget or (),
        price=price, delay=delay, notes=found["notes"],
    )  # fmt: skip
    config.write_text(text, encoding="utf-8")
    try:
        settings = load(config)
    except ConfigError:
        config.unlink()  # what was asked for can't be a project: its mistakes are shown
        raise
    for note in found["notes"]:
        say(note)
    say(f"wrote {config}")
    return _forecast(settings, found, sample, as_json)


def _forecast(settings: Any, found: dict[str, Any], sample: bool, as_json: bool) -> int:
    from recrawl.cli.planning import look, show_forecast, take_sample

    if not sample:
        if as_json:
            emit_json({"config": str(settings.path), **found})
        return DONE
    take_sample(settings)
    _, forecast = look(settings, 0)
    if as_json:
        emit_json({"config": str(settings.path), **found, "forecast": forecast.as_dict()})
    else:
        for line in show_forecast(forecast):
            emit(line)
        say("next: recrawl plan, then recrawl run")
    return DONE if forecast.read else FAILURE


def _address(url: str) -> Address:
    from recrawl.model import Refusal
    from recrawl.urls.canonical import Normalizer

    text = url if "://" in url else f"https://{url}"
    found = Normalizer().normalize(text)
    if isinstance(found, Refusal):
        raise UsageError(f"{url!r} is no address to crawl: {found.reason}")
    if found.userinfo:
        raise UsageError("leave user and password out of the address: they don't belong in a file")
    return found


def _is_local(hostname: str) -> bool:
    return hostname in ("localhost", "[::1]") or hostname.startswith("127.")


async def _look_at(address: Address, contact: str) -> dict[str, Any]:
    """What robots.txt says and whether a sitemap is there: two or three requests."""
    from recrawl import __version__
    from recrawl.fetch.http import HttpFetcher
    from recrawl.frontier.robots import Robots
    from recrawl.model import Request

    about = f" (+{contact})" if contact else ""
    agent = f"recrawl/{__version__}{about}"
    fetcher = HttpFetcher({}, agent)
    local = _is_local(address.hostname)
    notes: list[str] = []
    spent = 0

    async def get(path: str) -> Outcome:
        nonlocal spent
        target = path if "://" in path else address.origin + path
        outcome = await fetcher.fetch(Request(target, private_ok=local))
        spent += outcome.cost.bytes
        return outcome

    try:
        answer = await get("/robots.txt")
        notes.append(_about_robots(answer))
        sitemaps: list[str] = []
        if answer.status == 200:
            robots = Robots(answer.body, agent, origin=address.origin)
            sitemaps = list(robots.sitemaps)
            if robots.crawl_delay:
                notes.append(f"robots.txt asks for {robots.crawl_delay:g} s between requests")
            if not robots.allows(address.path):
                notes.append(f"robots.txt forbids {address.path}: nothing will be fetched there")
        for path in () if sitemaps else USUAL_SITEMAPS:
            if (await get(path)).status == 200:
                sitemaps.append(address.origin + path)
                break
    finally:
        await fetcher.aclose()
    notes.append(
        f"sitemap: {', '.join(sitemaps[:3])}" if sitemaps else "no sitemap in the usual places"
    )
    return {"notes": notes, "sitemaps": sitemaps, "bytes": spent}


def _about_robots(answer: Outcome) -> str:
    if answer.status == 200:
        return "robots.txt: read"
    if answer.status:
        return f"robots.txt: answered {answer.status}"
    return f"robots.txt: {answer.kind} ({answer.detail})"


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Which made-up web.")] = 1,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the store in this folder.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Json = False,
) -> int:
    """Crawl a made-up web on this machine for 30 days of made-up time, in under a minute.

    The real engine, fetcher and store; nothing leaves the machine. The truth is known there, so
    the table at the end compares with the best possible and with even visits.
    """
    import tempfile

    from recrawl.sim.demo import DemoPlan, table, waste_table

    plan = DemoPlan(seed=seed)
    if not quiet:
        say(
            f"a made-up web of {plan.hosts} sites and {plan.pages:,} pages, {plan.days:g} days, "
            f"{plan.budget / 1e6:.0f} MB in all at 8 USD/GB ..."
        )
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "demo.db").exists():
            raise UsageError(f"{folder / 'demo.db'} exists: name an empty folder")
        result = asyncio.run(_play(plan, folder, quiet))
    if as_json:
        emit_json(result.as_json())
        return DONE
    show_table(("what", "figure", "beside"), table(result), right=("figure",))
    emit("")
    show_table(
        ("site", "page type", "visits", "spent", "finding nothing"),
        waste_table(result),
        title="Money by site and page type",
        right=("visits", "spent", "finding nothing"),
    )
    return DONE


async def _play(plan: Any, folder: Path, quiet: bool) -> Any:
    from recrawl.cli.progress import Days
    from recrawl.sim.play import play

    days = Days(plan.days, quiet=quiet)
    try:
        return await play(plan, folder, on_progress=days.at)
    finally:
        days.finish()
