"""One window's plan over 1M and 10M pages: seconds and memory.

    python benchmarks/plan_scale.py [--pages 1000000 --pages 10000000]

Beliefs, validators, values, ages and sizes all differ from page to page; half of the pages can
answer 304. Each size runs in a process of its own, so that its peak memory is its own. Seconds
are the median of the later plans: the first pays for fresh memory.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from measured import machine

from recrawl.model import HAS_VALIDATOR, HOT, State
from recrawl.plan.appraise import Hosts, Ints, Scheme
from recrawl.plan.cost import PriceBook
from recrawl.plan.cycle import plan_cycle
from recrawl.plan.policies import get_policy
from recrawl.plan.sizes import SizeModel
from recrawl.plan.standing import Rules
from recrawl.poisson import Floats
from recrawl.units import DAY, Unit

HOSTS, REPEATS = 1000, 5
NOW = 1_767_225_600.0
BYTES_A_PAGE = 20.0  # of the window's budget: six pages in a thousand are visited


def resident() -> int:
    """Bytes of this process in RAM."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def prior(host: Ints, kind: Ints) -> tuple[Floats, Floats]:
    """One change a week, hardly believed."""
    return np.ones(len(host)), np.full(len(host), 7 * DAY)


def pages(n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows as the store's scan gives them: sorted by host and key."""
    hot = np.zeros(n, dtype=HOT)
    hot["host_id"] = np.sort(rng.integers(0, HOSTS, n))
    hot["key"] = np.arange(n)
    hot["state"] = State.LIVE
    for start in range(0, n, 1_000_000):  # by parts: the draws must not be the peak
        part = hot[start : start + 1_000_000]
        m = len(part)
        part["last"] = NOW - rng.exponential(10 * DAY, m)
        part["value"] = rng.choice([1.0, 2.0, 4.0, 8.0], m)
        for shape, scale in (("a", "b"), ("va", "vb")):
            part[shape] = 0.5 + rng.exponential(2.0, m)
            part[scale] = part[shape] * np.exp(rng.normal(np.log(7 * DAY), 2.0, m))
        part["body"] = np.exp(rng.normal(9.5, 0.7, m))
        part["flags"] = np.where(rng.random(m) < 0.5, HAS_VALIDATOR, 0)
    return hot


def measure(n: int) -> None:
    """Plan `n` pages some times; prints seconds, the rows' bytes, the peak beside them, visits."""
    rng = np.random.Generator(np.random.PCG64(1))
    hot = pages(n, rng)
    before = resident()
    scheme = Scheme(
        get_policy("freshness"), prior, prior, PriceBook(SizeModel()), Hosts.unlimited(HOSTS)
    )
    budget = {Unit.BYTES: BYTES_A_PAGE * n}
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        plan = plan_cycle(hot, NOW, scheme=scheme, budget=budget, rules=Rules(), rng=rng)
        seconds.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(statistics.median(seconds[1:]), hot.nbytes, peak, len(plan.rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, action="append")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    print(machine())
    for n in options.pages or [1_000_000, 10_000_000]:
        command = [sys.executable, __file__, "--measure", str(n)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, rows, peak, visits = (float(x) for x in out.split())
        print(
            f"{n:>11,} pages: {seconds:6.2f} s a plan, {visits:,.0f} visits; "
            f"{rows / 1e6:,.0f} MB of rows, {peak / n:.0f} B a page more while planning",
            flush=True,
        )


if __name__ == "__main__":
    main()
