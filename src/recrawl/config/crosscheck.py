"""What one key of the project file must know of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from recrawl.config.document import MODES, UNITS, Document, Site, Tariff
from recrawl.config.fields import suggestion
from recrawl.config.lines import Path
from recrawl.config.mistakes import Mistake
from recrawl.config.places import is_loopback
from recrawl.units import Unit, format_duration

PERIODS = ("per_run", "per_hour", "per_day", "per_week", "per_month")


def crosscheck(doc: Document) -> list[Mistake]:
    """All mistakes between keys that are right alone."""
    checks = (_project, _budget, _tariffs, _caps, _limits, _names, _sites, _modes, _policies)
    return [mistake for check in checks for mistake in check(doc)]


def _project(doc: Document) -> Iterator[Mistake]:
    p = doc.project
    if not p.seeds:
        yield Mistake(("project", "seeds"), 'missing; write seeds = ["https://example.com/"]')
    elif p.contact is None and not all(is_loopback(seed) for seed in p.seeds):
        yield Mistake(
            ("project", "contact"),
            "missing; sites must be able to reach you: write a mail address or the URL of a page "
            "about your crawler (only a crawl of this machine, 127.0.0.1, needs none)",
        )


def _budget(doc: Document) -> Iterator[Mistake]:
    b, r = doc.budget, doc.budget.reserves
    if b.min_gap > b.max_gap:
        yield Mistake(
            ("budget", "min_gap"),
            f"{format_duration(b.min_gap)} is longer than max_gap "
            f"({format_duration(b.max_gap)}); write a shorter one",
        )
    total = r.discovery + r.reestimation + r.verification
    if total > 0.9:
        yield Mistake(
            ("budget", "reserves"),
            f"together {total:.0%} of the budget, which leaves too little for the best visits; "
            "write shares whose sum is at most 0.9",
        )


def _tariffs(doc: Document) -> Iterator[Mistake]:
    for name, tariff in doc.tariff.items():
        at: Path = ("tariff", name)
        if tariff.unit is None:
            yield Mistake((*at, "unit"), f"missing; write one of {', '.join(UNITS)}")
            continue
        unit = UNITS[tariff.unit]
        if tariff.price and tariff.price[1] is not unit:
            yield Mistake(
                (*at, "price"),
                f"is for another unit than {tariff.unit!r}; write a price for {tariff.unit}",
            )
        if tariff.each and unit is not Unit.CREDITS:
            yield Mistake(
                (*at, "each"),
                f"says credits, but {tariff.unit} are measured by visit; remove it, or write "
                'unit = "credits"',
            )
        if tariff.charge_header and unit is not Unit.CREDITS:
            yield Mistake(
                (*at, "charge_header"),
                f'tells credits, but this tariff counts {tariff.unit}; write unit = "credits"',
            )
        if tariff.charge_max is not None:
            yield from _charge_max(at, tariff, tariff.charge_max)
        for mode in MODES if tariff.each else ():
            amount = getattr(tariff.each, mode)
            if amount is not None and not 0 < amount <= 1e6:
                yield Mistake((*at, "each", mode), "write a number above 0")


def _charge_max(at: Path, tariff: Tariff, most: float) -> Iterator[Mistake]:
    each = tariff.each
    listed = max(each.plain, each.browser or 0.0) if each else 1.0
    if not tariff.charge_header:
        yield Mistake(
            (*at, "charge_max"),
            "bounds what charge_header tells, but there is none; name the header, or remove it",
        )
    elif not listed <= most <= 1e6:
        yield Mistake(
            (*at, "charge_max"),
            f"is the most that a visit takes, so it can't be below the list charge; "
            f"write {listed:g} or more (at most 1000000)",
        )


def _counted(tariffs: dict[str, Tariff]) -> set[Unit]:
    """The units in which some visit can cost something."""
    units = {Unit.BYTES, Unit.FETCHES, Unit.SECONDS}
    units |= {UNITS[t.unit] for t in tariffs.values() if t.unit}
    return units | {Unit.USD for t in tariffs.values() if t.price and t.price[0]}


def _caps(doc: Document) -> Iterator[Mistake]:
    """Caps in a unit that nothing is billed in would never bind."""
    counted = _counted(doc.tariff)
    caps: list[tuple[Path, Unit]] = [
        (("budget", period), cap.unit) for period in PERIODS for cap in getattr(doc.budget, period)
    ]
    caps += [
        (("limits", key), cap.unit)
        for key in ("money", "credits")
        if (cap := getattr(doc.limits, key)) is not None
    ]
    for path, unit in caps:
        if unit not in counted and unit is Unit.USD:
            yield Mistake(path, 'caps money, but no tariff has a price; add [tariff.default] with '
                          'unit = "bytes" and price = "8 USD/GB", or cap bytes')  # fmt: skip
        elif unit not in counted:
            yield Mistake(path, "caps credits, but no tariff counts them; add a [tariff.NAME] "
                          'with unit = "credits", or cap bytes')  # fmt: skip


def _limits(doc: Document) -> Iterator[Mistake]:
    limits = doc.limits
    if limits.decoded < limits.body:
        yield Mistake(
            ("limits", "decoded"), "is less than limits.body; an unpacked body is no smaller"
        )
    for key in ("connect_time", "first_byte_time"):
        if getattr(limits, key) > limits.total_time:
            yield Mistake(("limits", key), "is longer than limits.total_time; write a shorter one")
    if doc.politeness.concurrency > doc.politeness.total_concurrency:
        yield Mistake(
            ("politeness", "concurrency"),
            "is more than politeness.total_concurrency; write a smaller number",
        )


def _names(doc: Document) -> Iterator[Mistake]:
    """Tariffs and routes that are named must exist, and those that exist must be named."""
    tariffs, routes = list(doc.tariff), ["direct", *doc.route]
    used: Counter[str] = Counter()
    wanted: list[tuple[Path, str, str | None, list[str]]] = [
        (("route", name, "tariff"), "tariff", route.tariff, tariffs)
        for name, route in doc.route.items()
    ]
    for i, site in enumerate(doc.site):
        wanted.append((("site", i, "tariff"), "tariff", site.tariff, tariffs))
        wanted.append((("site", i, "route"), "route", site.route, routes))
        wanted += [
            (("site", i, "routes", purpose), "route", route, routes)
            for purpose, route in site.routes.items()
        ]
    for path, kind, name, known in wanted:
        if name is None:
            continue
        used[f"{kind}.{name}"] += 1
        if name not in known:
            hint = suggestion(name, known) or f"; add [{kind}.{name}]"
            yield Mistake(path, f"there is no {kind} {name!r}{hint}")
    for name in tariffs:
        if len(tariffs) > 1 and name != "default" and not used[f"tariff.{name}"]:
            yield Mistake(
                ("tariff", name),
                "is used by no route and no site; name it there, call it [tariff.default], or "
                "remove it",
            )


def _sites(doc: Document) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    for i, site in enumerate(doc.site):
        if site.route and site.tariff:
            yield Mistake(
                ("site", i, "tariff"),
                f"a route is billed by its own tariff; write it in [route.{site.route}]",
            )
        if site.match is None:
            yield Mistake(("site", i, "match"), 'missing; write match = "example.com/item/*"')
        elif site.match in seen:
            yield Mistake(
                ("site", i, "match"),
                f"the same pattern as site[{seen[site.match]}]; put all keys into one [[site]]",
            )
        else:
            seen[site.match] = i
    for name, route in doc.route.items():
        if route.credentials_env and route.proxy is None:
            yield Mistake(
                ("route", name, "proxy"), "missing, but credentials_env is given; write the proxy"
            )
        elif name != "direct" and route.proxy is None:
            yield Mistake(("route", name, "proxy"), 'missing; write proxy = "http://host:port"')
        elif name == "direct" and route.proxy is not None:
            yield Mistake(
                ("route", name, "proxy"),
                "'direct' is the way without a proxy; give the route another name",
            )


def _modes(doc: Document) -> Iterator[Mistake]:
    """A mode needs a route that hands it on, and a tariff that has a charge for it."""
    for i, site in enumerate(doc.site):
        if site.mode == "plain":
            continue
        for name in sorted(_routes_of_pages(site)):
            route = doc.route.get(name)
            if route is None or not route.browser_header:
                yield Mistake(
                    ("site", i, "mode"),
                    f"the route {name!r} can't hand a browser on; name a route whose "
                    'vendor renders pages, with browser_header = "X-Render: true" in it',
                )
                continue
            tariff = doc.tariff.get(route.tariff or "default")
            counted = tariff is not None and tariff.unit == "credits"
            if tariff and counted and not (tariff.each and tariff.each.browser):
                yield Mistake(
                    ("site", i, "mode"),
                    f"the tariff of route {name!r} has no charge for a browser; "
                    "write each = { plain = 1, browser = 5 } in it",
                )


def _routes_of_pages(site: Site) -> set[str]:
    """The routes that visits to a site's pages may take."""
    of_pages = {route for purpose, route in site.routes.items() if purpose != "robots"}
    return of_pages | {site.route or "direct"}


def _policies(doc: Document) -> Iterator[Mistake]:
    b = doc.policy.backoff
    at: Path = ("policy", "backoff")
    if b.longer is not None and not 1 < b.longer <= 1000:
        yield Mistake(
            (*at, "longer"), f"{b.longer:g} is no factor above 1; write one, such as 1.4"
        )
    if b.shorter is not None and not 0.001 <= b.shorter < 1:
        yield Mistake(
            (*at, "shorter"), f"{b.shorter:g} is no factor below 1; write one, such as 0.8"
        )
    if b.floor > b.ceiling:
        yield Mistake(
            (*at, "floor"),
            f"{format_duration(b.floor)} is longer than the ceiling "
            f"({format_duration(b.ceiling)}); write a shorter one",
        )
    elif not b.floor <= b.start <= b.ceiling:
        yield Mistake(
            (*at, "start"),
            f"{format_duration(b.start)} is not between floor ({format_duration(b.floor)}) and "
            f"ceiling ({format_duration(b.ceiling)}); write a time between them",
        )
