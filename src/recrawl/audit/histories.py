"""Pages' judged reads, one page after the other -> the sample that policies are tried on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from recrawl.model import Entry, Purpose, Verdict
from recrawl.poisson import Floats
from recrawl.report.dispersion import FEWEST_CHANGES, PAGES, VISITS, Dispersion, dispersion
from recrawl.units import Spend

SAMPLE = 2000  # pages that policies are tried on
SAMPLE_READS = 1_000_000  # of all of them together: memory, and the time of a replay
PAGE_READS = 20_000  # of one page
FEWEST_JUDGED = 2  # reads of a page beside its first one
UNKNOWN, SAME, CHANGED = -1, 0, 1
NO_SIZE = -1

Read = tuple[float, bool, int, int]
"""Time, whether the answer was a 304, bytes (NO_SIZE = not told), UNKNOWN | SAME | CHANGED."""


@dataclass(frozen=True, slots=True)
class History:
    """The reads of one page: aligned arrays, times in seconds since its first read."""

    name: tuple[str, str]  # site, page type
    time: Floats
    unmodified: NDArray[np.bool_]  # the answer was a 304
    size: NDArray[np.int64]
    found: NDArray[np.int8]

    @classmethod
    def of(cls, name: tuple[str, str], reads: Sequence[Read]) -> History:
        """Cut after the last read that could be judged: what came later is not known."""
        time, unmodified, size, found = zip(*reads, strict=True)
        verdicts = np.array(found, np.int8)
        end = int(np.flatnonzero(verdicts != UNKNOWN)[-1]) + 1
        seconds = np.array(time[:end], np.float64)
        return cls(
            name,
            seconds - seconds[0],
            np.array(unmodified[:end], np.bool_),
            np.array(size[:end], np.int64),
            verdicts[:end],
        )

    @property
    def lived(self) -> float:
        """Seconds between the first read and the last."""
        return float(self.time[-1])

    @property
    def hits(self) -> float:
        """The share of judged reads that found a change."""
        return float((self.found == CHANGED).sum() / (self.found != UNKNOWN).sum())


@dataclass(slots=True)
class Histories:
    """What is kept of a log's pages, told one by one in the order of their URLs' hashes.

    That order makes the first pages a random choice which is the same in every run.
    """

    sample: list[History] = field(default_factory=list)
    enough: int = 0  # pages read often enough, kept or not
    too_few: int = 0  # pages that aren't
    _reads: int = 0
    _spread: dict[tuple[str, str], list[History]] = field(default_factory=dict)
    _spread_reads: int = 0

    def add(self, name: tuple[str, str], reads: Sequence[Read]) -> None:
        """Take in one page: its successful reads by time."""
        judged = [read for read in reads if read[3] != UNKNOWN]
        if len(judged) < FEWEST_JUDGED or judged[-1][0] <= reads[0][0]:
            self.too_few += 1
            return
        self.enough += 1
        room = len(self.sample) < SAMPLE and self._reads < SAMPLE_READS
        spread = self._wanted(name, judged)
        if not room and not spread:
            return
        history = History.of(name, reads)
        if room:
            self.sample.append(history)
            self._reads += history.time.size
        if spread:
            self._spread.setdefault(name, []).append(history)
            self._spread_reads += history.time.size

    def _wanted(self, name: tuple[str, str], judged: Sequence[Read]) -> bool:
        """Whether the page is to be asked how its changes are spread."""
        changes = sum(read[3] == CHANGED for read in judged[:VISITS])
        return (
            changes >= FEWEST_CHANGES
            and len(self._spread.get(name, ())) < PAGES
            and self._spread_reads < SAMPLE_READS
        )

    def dispersion(self) -> list[Dispersion]:
        """How the changes of each site and page type are spread over time."""
        names = sorted(self._spread)
        pages = (
            (i, list(islice(_entries(history), VISITS)))
            for i, name in enumerate(names)
            for history in self._spread[name]
        )
        return dispersion(pages, ["".join(name) for name in names])


def _entries(history: History) -> Iterator[Entry]:
    last = 0.0
    for t, found in zip(history.time.tolist(), history.found.tolist(), strict=True):
        if found == UNKNOWN:
            continue
        verdict = Verdict.CHANGED if found == CHANGED else Verdict.SAME
        yield Entry(
            t=t, host_id=0, key=0, purpose=Purpose.BEST_BUY, verdict=verdict, page_type=0,
            status=200, kind="", conditional=False, up=0, down=0, spend=Spend(), tau=t - last,
        )  # fmt: skip
        last = t
