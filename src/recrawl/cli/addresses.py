"""`url` and `robots`: what an address and a robots.txt come to. Nothing is fetched."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli.options import Json
from recrawl.cli.output import clean, emit, emit_json, say

if TYPE_CHECKING:
    from recrawl.urls.canonical import Normalizer
    from recrawl.urls.patterns import PatternSet


def add_to(app: typer.Typer) -> None:
    """Register the commands of this file."""
    app.command()(url)
    app.command()(robots)


def url(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Else one a line from stdin.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="URL", help="What relative ones resolve against.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="PROFILE", help="safe, default or aggressive: how boldly to merge."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="PATH", help="Also apply that project's rules."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the address and key of each URL, or why it is refused."""
    normalizer, patterns = _rules(profile, config)
    for found in urls or _lines():
        row = _judge(found, base, normalizer, patterns)
        if as_json:
            emit_json(row)
        elif row["refused"]:
            emit(f"refused: {row['refused']}: {clean(row['detail'])}\t{clean(row['input'])}")
        else:
            emit(f"{row['url']}\t{row['key']}")


def _rules(profile: str | None, config: Path | None) -> tuple[Normalizer, PatternSet | None]:
    from recrawl.cli.errors import UsageError
    from recrawl.urls.canonical import Normalizer, Profile
    from recrawl.urls.patterns import PatternSet
    from recrawl.urls.tracking import TrackingRules

    if profile is not None and profile not in list(Profile):
        raise UsageError(f"--profile {profile!r}: write {', '.join(Profile)}")
    if config is None:
        return Normalizer(Profile(profile or "default")), None
    from recrawl.config import load

    urls = load(config).urls
    tracking = TrackingRules.default().extended(urls.tracking_add, urls.tracking_keep)
    return (
        Normalizer(Profile(profile or urls.profile), tracking, frozenset(urls.unsorted_hosts)),
        PatternSet(urls.include, urls.exclude),
    )


def _judge(
    found: str | bytes, base: str | None, normalizer: Normalizer, patterns: PatternSet | None
) -> dict[str, Any]:
    from recrawl.model import Refusal

    shown = found.decode(errors="backslashreplace") if isinstance(found, bytes) else found
    row: dict[str, Any] = dict.fromkeys(("input", "url", "fetch", "key", "refused", "detail"))
    row["input"] = shown
    address = normalizer.normalize(found, base)
    if isinstance(address, Refusal):
        return {**row, "refused": str(address.reason), "detail": address.detail}
    if patterns is not None and (refused := patterns.refuses(address)):
        return {**row, "refused": str(refused[0]), "detail": refused[1]}
    return {
        **row,
        "url": address.canonical,
        "fetch": address.url,
        "key": _global_key(address.origin, address.key),
    }


def _global_key(origin: str, key: int) -> str:
    """32 hex digits: the origin's hash, then the page's key within it as the store has it."""
    from hashlib import blake2b

    return blake2b(origin.encode(), digest_size=8).hexdigest() + f"{key & (2**64 - 1):016x}"


def _lines() -> Iterator[str | bytes]:
    """The lines of stdin, empty ones left out; those that are no UTF-8 as octets."""
    if sys.stdin.isatty():
        say("reading URLs from the terminal, one a line; end with Ctrl-D")
    for line in sys.stdin.buffer:
        octets = line.rstrip(b"\r\n")
        if octets.strip():
            try:
                yield octets.decode()
            except UnicodeDecodeError:
                yield octets


def robots(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A robots.txt; - is stdin.")],
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="URLs or paths.")],
    agent: Annotated[str, typer.Option(metavar="NAME", help="The crawler that asks.")] = "recrawl",
    as_json: Json = False,
) -> None:
    """Say which URLs a robots.txt allows (RFC 9309)."""
    from recrawl.frontier.robots import MAX_BYTES, Robots

    with _binary(file) as stream:
        rules = Robots(stream.read(MAX_BYTES + 1), agent)
    for found in urls:
        allowed = rules.allows(found)
        if as_json:
            emit_json(
                {
                    "url": found,
                    "allowed": allowed,
                    "agent": agent,
                    "crawl_delay": rules.crawl_delay,
                    "sitemaps": rules.sitemaps,
                    "flags": sorted(rules.flags),
                }
            )
        else:
            emit(f"{'allowed' if allowed else 'disallowed'}\t{clean(found)}")
    _remarks(rules.crawl_delay, rules.flags)


def _binary(file: str) -> Any:
    if file == "-":
        from contextlib import nullcontext

        return nullcontext(sys.stdin.buffer)
    return Path(file).open("rb")


def _remarks(delay: float | None, flags: Iterable[str]) -> None:
    if delay is not None:
        say(f"crawl-delay: {delay:g} s")
    if flags:
        say(f"remarks: {', '.join(sorted(flags))}")
