"""Made-up time: seen by all who map it, jumped to, never backwards."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.sim.clock import SharedClock, VirtualClock

READER = """
import sys
from pathlib import Path
from recrawl.sim.clock import SharedClock
with SharedClock(Path(sys.argv[1])) as clock:
    for line in sys.stdin:
        print(repr(clock.now()), flush=True)
"""


def test_another_process_sees_the_time_at_once(tmp_path: Path) -> None:
    with SharedClock(tmp_path / "now", create=True) as clock:
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(clock.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert reader.stdin is not None
        assert reader.stdout is not None
        for t in (1.5, 1_767_225_600.123456, 0.0):
            clock.set(t)
            reader.stdin.write("\n")
            reader.stdin.flush()
            assert float(reader.stdout.readline()) == t
        reader.communicate()
        assert clock.path.exists()  # the reader did not make it, so it does not remove it
    assert not clock.path.exists()


def test_a_clock_that_nobody_made_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SharedClock(tmp_path / "absent")


def test_sleeping_jumps_and_never_goes_back(tmp_path: Path) -> None:
    with SharedClock(tmp_path / "now", create=True) as shared:
        clock = VirtualClock(shared, 100.0)
        assert clock.now() == shared.now() == 100.0
        asyncio.run(clock.sleep_until(5e6))
        assert clock.now() == 5e6
        asyncio.run(clock.sleep_until(7.0))
        assert clock.now() == 5e6


@pytest.mark.parametrize("never", [float("inf"), float("nan")])
def test_there_is_no_sleep_for_ever(tmp_path: Path, never: float) -> None:
    with SharedClock(tmp_path / "now", create=True) as shared:
        clock = VirtualClock(shared, 1.0)
        with pytest.raises(ValueError, match="cannot sleep until"):
            asyncio.run(clock.sleep_until(never))
        assert clock.now() == 1.0


def test_other_tasks_run_while_one_sleeps(tmp_path: Path) -> None:
    with SharedClock(tmp_path / "now", create=True) as shared:
        clock, order = VirtualClock(shared, 0.0), []

        async def sleeper(name: str, naps: int) -> None:
            for k in range(naps):
                await clock.sleep_until(clock.now() + 1)
                order.append((name, k))

        async def both() -> None:
            await asyncio.gather(sleeper("a", 3), sleeper("b", 3))

        asyncio.run(both())
        assert order[:4] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
