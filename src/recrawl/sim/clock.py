"""Made-up time: thirty days pass as fast as a crawl can make its visits."""

from __future__ import annotations

import asyncio
import math
import mmap
from pathlib import Path
from types import TracebackType
from typing import Self


class SharedClock:
    """A time that several processes read and one sets: a double in a mapped file.

    The file is 8 bytes; the process that creates it removes it. An aligned double is stored by
    one instruction, so that readers never see half of one.
    """

    def __init__(self, path: Path, create: bool = False) -> None:
        """Map `path`. Raises FileNotFoundError where it is absent and `create` is false."""
        self.path = path
        self._owner = create
        if create:
            path.write_bytes(bytes(8))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8)
        self._cell = memoryview(self._map).cast("d")

    def now(self) -> float:
        """UTC epoch seconds."""
        return self._cell[0]

    def set(self, t: float) -> None:
        """Make it `t` for every process that maps the file."""
        self._cell[0] = t

    def close(self) -> None:
        """Unmap, and remove the file if this side created it."""
        self._cell.release()
        self._map.close()
        if self._owner:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class VirtualClock:
    """The port `Clock` over a shared one: sleeping jumps there at once, never backwards."""

    jumps = True

    def __init__(self, shared: SharedClock, start: float) -> None:
        self.shared = shared
        shared.set(start)

    def now(self) -> float:
        """UTC epoch seconds."""
        return self.shared.now()

    async def sleep_until(self, t: float) -> None:
        """Jump to `t` (a time already past changes nothing) and let the other tasks run.

        Raises ValueError for a time that never comes: a jump there could not be undone.
        """
        if not math.isfinite(t):
            raise ValueError(f"cannot sleep until {t}: the caller has nothing left to wait for")
        if t > self.shared.now():
            self.shared.set(t)
        await asyncio.sleep(0)
