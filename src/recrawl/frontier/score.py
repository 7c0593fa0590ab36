"""The small integer priority of a URL at enqueue: depth and value, higher first."""

from __future__ import annotations

import math

DEPTH_STEP = 10  # one level of depth weighs as much as a value 2**(10/8) times smaller


def enqueue_score(depth: int, value: float) -> int:
    """Priority of a page never read: near the seeds and valuable first (article B: Priorización).

    Between -1000 and 1000; a level of depth costs DEPTH_STEP, each doubling of value adds 8.

    >>> enqueue_score(0, 1.0), enqueue_score(1, 1.0), enqueue_score(1, 8.0)
    (0, -10, 14)
    """
    bonus = 8 * math.log2(value) if value > 0 else -1000.0
    return round(max(-1000.0, min(1000.0, bonus - DEPTH_STEP * depth)))
