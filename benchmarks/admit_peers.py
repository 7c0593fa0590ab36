"""Discovered URLs admitted a second, nine in ten known: recrawl beside Scrapy's scheduler.

    python benchmarks/admit_peers.py [--known 1000000] [--n 300000]

Both load the known pages first, then take in the same list. Ours normalizes, looks up and
commits with fsync; Scrapy fingerprints, filters and writes its disk queue as JOBDIR has it do,
which a kill -9 loses. Both must find the same number of new pages.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from measured import Cost, machine, peers_python, run

HERE = Path(__file__).parent
MARK = 3.0  # times Scrapy


def contest(name: str, python: Path, known: int, n: int) -> Cost:
    """One contestant in an empty folder."""
    folder = Path(tempfile.mkdtemp())
    try:
        cost = run([python, HERE / f"admit_{name}.py", str(known), str(n), folder], folder)
    finally:
        shutil.rmtree(folder)
    told = cost.told
    print(
        f"{name:8} {told['per_second']:9.0f} URLs/s {told['per_cpu_second']:9.0f} URLs/CPU-s  "
        f"({told['new']} of {n} new; loading {told['load_per_second']:.0f}/s; "
        f"{cost.rss / 1e6:.0f} MB)",
        flush=True,
    )
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--n", type=int, default=300_000)
    options = parser.parse_args()
    peers = peers_python()
    print(machine())
    ours = contest("recrawl", Path(sys.executable), options.known, options.n)
    scrapy = contest("scrapy", peers, options.known, options.n)
    if ours.told["new"] != scrapy.told["new"]:
        raise SystemExit("they do not agree on what is new: no comparison")
    times = ours.told["per_second"] / scrapy.told["per_second"]
    met = times >= MARK
    print(f"{times:.1f} x scrapy; mark {MARK:.0f} x: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
