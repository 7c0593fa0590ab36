"""How true is what `audit` says of other policies? Logs made of pages whose every change is known.

    python benchmarks/audit_truth.py --traces DIR [--json]

Pages of the real histories are read on a fixed cycle, each at a phase of its own; `audit` sees
those reads alone. What it says of the default policy is held against the same replay on the true
changes. Without DIR only made-up webs are read. Every draw has its seed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from policy_worlds import SPAN, WINDOWS, Traces, start_of

from recrawl.audit.histories import CHANGED, SAME, UNKNOWN, History
from recrawl.audit.policies import DEFAULT, compare, compare_in
from recrawl.audit.policies_world import Reads
from recrawl.audit.prices import FETCHES
from recrawl.replay import Events, World
from recrawl.units import DAY

Floats = NDArray[np.float64]
PAGES, PER_SOURCE = 400, 100
CYCLES = (1.0, 7.0, 30.0)  # days
NAMES = (DEFAULT, "uniform")


@dataclass(frozen=True)
class Page:
    """When it changed, and until when it lived; seconds from the start."""

    group: str
    changes: Floats
    lived: float


def made_up(rng: np.random.Generator) -> list[Page]:
    """Poisson pages, lognormal rates (standard deviation 2, median 30 days)."""
    rates = np.exp(rng.normal(0.0, 2.0, PAGES)) / (30 * DAY)
    return [Page("web", np.sort(rng.uniform(0, SPAN, rng.poisson(r * SPAN))), SPAN) for r in rates]


def real(folder: Path, window: str, rng: np.random.Generator) -> list[Page]:
    """Pages of the traces that lived in that window."""
    traces, t0 = Traces(folder), start_of(window)
    rows = rng.permutation(traces.drawn(window, 1, PER_SOURCE))[:PAGES]
    order = np.lexsort((traces._t, traces._page))
    page, t = traces._page[order], traces._t[order] - t0
    low, high = (np.searchsorted(page, traces._ids[rows], side) for side in ("left", "right"))
    return [
        Page(str(traces.group[r]), t[a:b][(t[a:b] > 0) & (t[a:b] < SPAN)], min(SPAN, end))
        for r, a, b, end in zip(rows, low, high, traces.end[rows] - t0, strict=True)
    ]


def read(pages: list[Page], cycle: float, rng: np.random.Generator) -> tuple[list[History], World]:
    """The log of a fixed cycle, and the world as it was."""
    sample, truth, kept = [], [], []
    for page in pages:
        times = np.arange(rng.uniform(0, cycle), page.lived, cycle)
        if times.size < 3:
            continue
        seen = np.diff(np.searchsorted(page.changes, times, side="right")) > 0
        found = [UNKNOWN, *np.where(seen, CHANGED, SAME).tolist()]
        reads = [(t, False, 1, f) for t, f in zip(times.tolist(), found, strict=True)]
        sample.append(History.of((page.group, "/"), reads))
        truth.append(page.changes[page.changes > times[0]] - times[0])
        kept.append(times[-1] - times[0])
    at = np.repeat(np.arange(len(sample)), [t.size for t in truth])
    reads_ = Reads.of(sample, FETCHES)
    events = Events.of(len(sample), at, np.concatenate(truth))
    return sample, World.of(events, group=reads_.group, died=np.array(kept))


def run(task: tuple[str, str, float]) -> dict[str, Any]:
    """One log: what is said, and what is true."""
    folder, window, days = task
    rng = np.random.default_rng([len(window), int(days)])  # noqa: TID251 - it draws its logs
    pages = real(Path(folder), window, rng) if folder else made_up(rng)
    sample, world = read(pages, days * DAY, rng)
    said = compare(sample, NAMES, FETCHES, rng)
    true = compare_in([world], Reads.of(sample, FETCHES), NAMES, FETCHES)
    assert said
    assert true
    out: dict[str, Any] = {"web": window or "made up", "cycle_days": days, "pages": said.pages}
    for name, found in (("said", said), ("true", true)):
        out[name] = {
            "own_freshness": round(found.freshness.mean, 4),
            **{f"{x.policy}_share": round(x.same_freshness.mean, 3) for x in found.lines},
            **{f"{x.policy}_fresh": round(dict(x.points)[1.0].mean, 4) for x in found.lines},
        }
    return out


def show(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A table."""
    yield f"{'':12}{'cycle':>6}{'pages':>6}   {'own fresh':>15}{'default, share':>17}{'fresh':>15}"
    for row in rows:
        pairs = [
            f"{row['said'][key]:.3f} / {row['true'][key]:.3f}"
            for key in ("own_freshness", f"{DEFAULT}_share", f"{DEFAULT}_fresh")
        ]
        yield f"{row['web']:12}{row['cycle_days']:5.0f}d{row['pages']:6}   " + "  ".join(
            f"{pair:>15}" for pair in pairs
        )


def main() -> int:
    """Prints said / true."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", default="", help="folder of pages.parquet and events.parquet")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    tasks = [("", "", days) for days in CYCLES]
    if args.traces:
        tasks += [(args.traces, window, days) for window in WINDOWS for days in CYCLES]
    with Pool(args.processes) as pool:
        rows = []
        for row in pool.imap(run, tasks):
            rows.append(row)
            print(f"\r{len(rows)} of {len(tasks)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(json.dumps(rows, indent=1) if args.json else "\n".join(show(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
