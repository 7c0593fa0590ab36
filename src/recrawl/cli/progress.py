"""One live line while a crawl runs: on a terminal redrawn in place, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from recrawl.units import format_bytes, format_usd

if TYPE_CHECKING:
    from recrawl.progress import Progress

ON_TERMINAL, ELSEWHERE, CALCULATING = 0.2, 10.0, 5.0  # seconds between two lines


class LiveLine:
    """Shows a run's progress on stderr; `finish` leaves the last state standing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._terminal = sys.stderr.isatty()
        self._every = ON_TERMINAL if self._terminal else ELSEWHERE
        self._shown = time.monotonic()
        self._quiet = quiet

    def __call__(self, progress: Progress) -> None:
        self._show(line(progress))

    def _show(self, text: str) -> None:
        now = time.monotonic()
        if self._quiet or now - self._shown < self._every:
            return
        self._shown = now
        end = "" if self._terminal else "\n"
        start = "\r\x1b[2K" if self._terminal else ""
        sys.stderr.write(start + text + end)
        sys.stderr.flush()

    def finish(self) -> None:
        """Clear the live line."""
        if self._terminal and not self._quiet:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def line(p: Progress) -> str:
    """The state of a run in one line."""
    money = f", {format_usd(p.spend.micro_usd)}" if p.spend.micro_usd else ""
    return (
        f"{p.visits:,} visits: {p.new:,} new, {p.changed:,} changed, {p.unchanged:,} unchanged, "
        f"{p.gone + p.moved:,} gone or moved, {p.failed:,} failed; "
        f"{format_bytes(p.spend.bytes)}{money}"
    )


def share(what: str) -> Callable[[float], None]:
    """Shows the share (0 to 1) of a long calculation that is done, a line now and then."""
    shown = [time.monotonic()]

    def show(done: float) -> None:
        if time.monotonic() - shown[0] > CALCULATING:
            shown[0] = time.monotonic()
            sys.stderr.write(f"{what} {done:.0%}\n")

    return show


class Days(LiveLine):
    """The demo's live line: made-up days beside what was done in them."""

    def __init__(self, days: float, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._days = days

    def at(self, progress: Progress, day: float) -> None:
        """Show the state of that day."""
        self._show(f"day {day:4.1f} of {self._days:g}: {line(progress)}")
