"""Pages a CPU-second of a whole crawl: recrawl beside Scrapy and Crawlee, one site, one run.

    python benchmarks/crawl_peers.py [--pages 4000] [--repeat 3]

Ours runs as a user runs it: the command line, SQLite with every visit durable, robots.txt read
and obeyed, links, records and ledger on. Scrapy and Crawlee run bare (robots.txt off, memory
only), and Scrapy a second time with JOBDIR, the nearest that it has to a store.
CPU seconds are those of the crawler's whole process, start and imports included.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from measured import Cost, machine, peers_python, run

HERE = Path(__file__).parent
NAMES = ("recrawl", "scrapy", "scrapy, JOBDIR", "crawlee")
MARK = 5.0  # times Scrapy
CONFIG = """\
[project]
contact = "benchmark@example.org"
seeds = ["{start}"]

[politeness]
delay = "0 s"
concurrency = 32
jitter = 0

[limits]
depth = 100
"""


def recrawl(start: str, folder: Path) -> list[str | Path]:
    """One pass over the site; without a budget a run is one pass."""
    (folder / "recrawl.toml").write_text(CONFIG.format(start=start))
    return [sys.executable, "-m", "recrawl", "run", "--config", folder / "recrawl.toml"]


def commands(start: str, folder: Path, peers: Path) -> dict[str, list[str | Path]]:
    job = folder / "job"
    return {
        "recrawl": recrawl(start, folder),
        "scrapy": [peers, HERE / "peer_scrapy.py", start, "64"],
        "scrapy, JOBDIR": [peers, HERE / "peer_scrapy.py", start, "64", job],
        "crawlee": [peers, HERE / "peer_crawlee.py", start, "64"],
    }


def count(start: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{start.rstrip('/')}/_count") as answer:
        return dict(json.load(answer))


def crawl(name: str, start: str, pages: int, peers: Path) -> tuple[Cost, float]:
    """One crawl in an empty folder -> its cost and pages a CPU-second."""
    folder = Path(tempfile.mkdtemp())
    try:
        count(start)
        cost = run(commands(start, folder, peers)[name], folder)
        seen = count(start)
        if seen["pages"] < pages:
            raise SystemExit(f"{name} fetched {seen['pages']} of {pages} pages: no comparison")
        return cost, seen["answers"] / cost.cpu
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", help="a name of the table's first column")
    options = parser.parse_args()
    peers = peers_python()
    site = subprocess.Popen(
        [sys.executable, HERE / "site.py", "--pages", str(options.pages)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert site.stdout is not None
    start = f"http://127.0.0.1:{int(site.stdout.readline())}/"
    try:
        names = options.only or NAMES
        rates: dict[str, list[float]] = {}
        print(machine())
        for _ in range(options.repeat):  # interleaved, so that a slow minute hits all alike
            for name in names:
                cost, rate = crawl(name, start, options.pages + 1, peers)
                rates.setdefault(name, []).append(rate)
                print(
                    f"{name:16} {rate:8.0f} pages/CPU-s  {cost.cpu:6.2f} CPU-s "
                    f"{cost.wall:6.2f} s  {cost.rss / 1e6:5.0f} MB",
                    flush=True,
                )
    finally:
        site.communicate()
    report(rates)


def report(rates: dict[str, list[float]]) -> None:
    medians = {name: statistics.median(x) for name, x in rates.items()}
    base = medians.get("scrapy")
    for name, rate in medians.items():
        times = f"{rate / base:6.2f} x scrapy" if base else ""
        print(f"median {name:16} {rate:8.0f} pages/CPU-s {times}")
    if base and "recrawl" in medians:
        met = medians["recrawl"] / base >= MARK
        print(f"mark {MARK:.0f} x scrapy: {'met' if met else 'MISSED'}")
        sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
