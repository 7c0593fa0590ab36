"""Feeds broken sources to their readers: no crash, hang or growth, no answer that is luck.

    python benchmarks/fuzz_sources.py [--seconds 900] [--target sitemap --target robots] [--seed 1]

Inputs are the fixtures of the tests, mutated: bytes flipped, cut, doubled, spliced from another
fixture, tokens of the format thrown in, packed, packed and damaged. A new reader joins by one
entry in `targets`. What fails is written to `--keep` (default: fuzz-found/), named by its digest;
it exits 1 where something did.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recrawl.frontier.robots_rules import Robots
from recrawl.frontier.robots_text import parse_robots
from recrawl.sources import feed
from recrawl.sources.dates import read_date
from recrawl.sources.reading import Reading
from recrawl.sources.sitemap import Limits, read
from recrawl.sources.sitemap_walk import Walk

DATA = Path(__file__).parents[1] / "tests" / "data"
BASE, NOW = "http://e.com/sitemap.xml", 1_796_000_000.0
HANG = 10  # CPU seconds for one input, of at most a megabyte or so
SLOW = 0.3  # seconds; the slowest input beyond that is kept
GROWTH = 64 << 20  # bytes that the process may gain after its first thousand inputs
LARGEST = 1 << 20

Rng = random.Random


@dataclass(frozen=True)
class Target:
    """One reader under test: what it is fed, the words of its format, and the trial itself."""

    seeds: Sequence[bytes]
    words: Sequence[bytes]
    trial: Callable[[bytes, Rng], None]  # raises where the reader does what it must not


@dataclass
class Tally:
    """What happened so far."""

    inputs: int = 0
    bytes: int = 0
    slowest: float = 0.0
    found: dict[str, str] = field(default_factory=dict)  # last line of the traceback -> file


def cut_at_random(body: bytes, rng: Rng) -> list[bytes]:
    cuts = sorted(rng.randrange(len(body) + 1) for _ in range(rng.randrange(6)))
    return [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]


def check_reading(reader: Callable[..., object], body: bytes, rng: Rng, **more: object) -> None:
    """For every `read(chunks, base, now, reading)`: total, well-formed, the same however cut."""
    whole, parts = Reading(), Reading()
    hints = list(reader([body], BASE, NOW, whole, **more))
    again = list(reader(cut_at_random(body, rng), BASE, NOW, parts, **more))
    assert hints == again, "hints depend on how the bytes were cut"
    assert whole == parts, f"the reading depends on how the bytes were cut: {whole} {parts}"
    assert whole.hints == len(hints), "hints miscounted"
    assert not (whole.complete and (whole.failed or whole.shortened)), "complete, yet not"
    assert whole.complete or whole.failed or whole.shortened, "neither complete nor cut"
    assert not (whole.failed and hints), "failed, yet it gave hints"
    for hint in hints:
        assert hint.url.startswith(("http://", "https://")), hint.url
        hint.url.encode()
    for example in whole.examples:
        example.encode()


def try_sitemap(body: bytes, rng: Rng) -> None:
    limits = Limits(bytes=4 << 20, urls=rng.choice([3, 100_000]), maps=1_000)
    check_reading(read, body, rng, limits=limits)
    reading = Reading()
    list(read([body], BASE, NOW, reading))
    walk = Walk(BASE, named=reading.maps[:50])
    for _ in range(200):
        if (url := walk.take()) is None:
            return
        walk.found(url, reading.maps)
    assert walk.taken <= len(reading.maps) + 8, "a map was fetched twice"


def try_feed(body: bytes, rng: Rng) -> None:
    check_reading(feed.read, body, rng, limits=Limits(bytes=4 << 20, urls=rng.choice([3, 1_000])))


def try_robots(body: bytes, rng: Rng) -> None:
    text = parse_robots(body, rng.choice(["", "text/plain", "text/html"]))
    Walk(BASE, named=text.sitemaps)
    Robots(body, "FooBot").allows("http://e.com/a?b=c")


def try_dates(body: bytes, rng: Rng) -> None:
    stamp = read_date(body[:300].decode("utf-8", "replace"))
    assert stamp is None or stamp.span >= 0


def files(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(DATA.glob(pattern))]


def vectors() -> list[bytes]:
    lines = (DATA / "sources" / "sitemap_edge.jsonl").read_text().splitlines()
    return [base64.b64decode(json.loads(line)["content_b64"]) for line in lines]


def targets() -> dict[str, Target]:
    """Every reader of other people's bytes. Add yours here."""
    dates = (DATA / "sources" / "lastmod.jsonl").read_text().splitlines()
    sitemap_words = [
        b"<url>", b"</url>", b"<loc>", b"</loc>", b"<urlset>", b"</urlset>", b"<sitemapindex>",
        b"<sitemap>", b"<lastmod>", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?xml ", b"?>", b"&",
        b"&amp;", b"&#0;", b"&#xFFFF;", b"&x;", b"<!DOCTYPE x [", b"<!ENTITY a 'b'>", b"\x1f\x8b",
        b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\0",
        b"http://",
        b"<xhtml:link rel='alternate' href='/x'/>", b" xmlns='x'", b" xmlns:a='image'",
        b"2024-01-01", b" encoding='utf-16'", b" encoding='iso-2022-jp'", b" encoding='gb18030'",
        b"\n", b"<rss>",
    ]  # fmt: skip
    feed_words = [
        b"<item>", b"</item>", b"<link>", b"</link>", b"<link href='/a'/>", b"<guid>",
        b"<entry>", b"<updated>", b"<content type='html'>", b"<![CDATA[", b"]]>", b"&", b"&lt;",
        b"<pubDate>", b"<!DOCTYPE", b"<!ENTITY", b"\0", b"\xff\xfe", b"<rdf:RDF>",
        b'{"items": [', b'"url": ', b"xml:base='http://[' ", b" xmlns:a='b'",
        b"</rss>", b"<feed>", b"Mon, 06 Sep 2010", b"[",
    ]  # fmt: skip
    robots_words = [
        b"User-agent: *\n", b"Disallow: /", b"Allow: *$", b"Crawl-delay: 1e9\n", b"Sitemap: ",
        b"\r", b"\n", b"#", b"*", b"$", b"%", b"\xef\xbb\xbf", b"\xff\xfe", b"<html>", b"\0",
    ]  # fmt: skip
    return {
        "sitemap": Target(
            [*vectors(), *files("sources/sitemap_*.xml*"), *files("sources/*.rss")],
            sitemap_words, try_sitemap,
        ),
        "feed": Target(files("sources/*feed*"), feed_words, try_feed),
        "robots": Target(files("robots/*.txt"), robots_words, try_robots),
        "dates": Target(
            [json.loads(line)["input"].encode() for line in dates],
            [b"T", b"Z", b"+", b"-", b":", b" ", b"GMT", b"Jan", b"24:00", b"0000", b"9" * 20],
            try_dates,
        ),
    }  # fmt: skip


def mutated(target: Target, rng: Rng) -> bytes:
    body = bytearray(rng.choice(target.seeds))
    if body[:2] == b"\x1f\x8b" and rng.random() < 0.5:
        body = bytearray(gzip.decompress(bytes(body)))
    for _ in range(1 << rng.randrange(6)):
        mutate(body, target, rng)
        del body[LARGEST:]
    if rng.random() < 0.15:
        body = bytearray(gzip.compress(bytes(body), 1))
        if rng.random() < 0.5:
            mutate(body, target, rng)
    return bytes(body)


def mutate(body: bytearray, target: Target, rng: Rng) -> None:
    """One change in place."""
    at = rng.randrange(len(body) + 1)
    end = min(len(body), at + rng.choice([1, 2, 8, 64, 1024]))
    match rng.randrange(8):
        case 0:
            body[at:end] = b""
        case 1:
            body[at:at] = body[at:end] * rng.choice([1, 2, 50, 2000])
        case 2 | 3:
            body[at:at] = rng.choice(target.words) * rng.choice([1, 1, 1, 2, 300])
        case 4:
            body[at : at + 1] = bytes([rng.randrange(256)])
        case 5:
            other = rng.choice(target.seeds)
            start = rng.randrange(len(other) + 1)
            body[at:end] = other[start : start + rng.choice([8, 64, 4096])]
        case 6:
            del body[at:]
        case _:
            for i in range(at, end):
                body[i] ^= rng.choice([0, 0, 0, 1, 32, 128])


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def alarmed(number: int, frame: object) -> None:
    raise TimeoutError(f"one input took more than {HANG} CPU seconds")


def attempt(name: str, target: Target, body: bytes, rng: Rng, tally: Tally, keep: Path) -> None:
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        target.trial(body, rng)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{name}: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
        if what not in tally.found:
            keep.mkdir(parents=True, exist_ok=True)
            path = keep / f"{name}-{hashlib.sha256(body).hexdigest()[:12]}"
            path.write_bytes(body)
            tally.found[what] = str(path)
            print(f"FOUND {what}: {str(error)[:300]!r} -> {path}", flush=True)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    tally.inputs += 1
    tally.bytes += len(body)
    took = time.process_time() - began
    if took > max(tally.slowest, SLOW):
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}-slowest").write_bytes(body)
    tally.slowest = max(tally.slowest, took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--target", action="append", choices=sorted(targets()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"))
    options = parser.parse_args()
    rng = Rng(options.seed)
    chosen = {k: v for k, v in targets().items() if not options.target or k in options.target}
    tallies = {name: Tally() for name in chosen}
    signal.signal(signal.SIGPROF, alarmed)
    end, told = time.monotonic() + options.seconds, time.monotonic()
    total = 0
    base = 0
    while time.monotonic() < end:
        for name, target in chosen.items():
            attempt(name, target, mutated(target, rng), rng, tallies[name], options.keep)
        total += 1
        if total == 1_000:
            base = resident()
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(
                f"{end - told:.0f} s left: {sum(t.inputs for t in tallies.values())} inputs",
                flush=True,
            )
    grown = resident() - base if base else 0
    for name, tally in tallies.items():
        print(
            f"{name}: {tally.inputs} inputs, {tally.bytes / 1e6:.0f} MB, slowest "
            f"{tally.slowest:.2f} s, {len(tally.found)} findings"
        )
    print(f"memory grown since the first 1,000 inputs: {grown / 1e6:.1f} MB")
    sys.exit(1 if grown > GROWTH or any(t.found for t in tallies.values()) else 0)


if __name__ == "__main__":
    main()
