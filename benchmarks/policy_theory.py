"""Figures that papers print, recomputed: the ground that the other parts stand on."""

from __future__ import annotations

from typing import Any

import numpy as np

from recrawl.plan.allocate import Pages, optimal
from recrawl.poisson import freshness, freshness_gain
from recrawl.units import DAY

ARTICLE_RATES = (96.0, 24.0, 4.0, 1.0, 1 / 7, 1 / 30, 1 / 365)  # a day
ARTICLE_GAINS = (0.010, 0.042, 0.241, 0.400, 0.124, 0.032, 0.003)
CHO_VISITS = (1.150, 1.358, 1.354, 1.138, 0.000)  # rates 1 to 5 a day, five visits a day


def theory() -> dict[str, Any]:
    """Each table beside what we compute, and the largest difference."""
    gains = [float(freshness_gain(r, 1.0, 1.0)) for r in ARTICLE_RATES]
    rates = np.arange(1.0, 6.0)
    best = optimal(Pages.of(rates / DAY), 5.0 / DAY)
    visits = best.frequency * DAY
    return {
        "article": [round(g, 3) for g in gains],
        "article_difference": float(np.abs(np.subtract(gains, ARTICLE_GAINS)).max()),
        "cho_garcia_molina": [round(float(v), 3) for v in visits],
        "cho_difference": float(np.abs(visits - CHO_VISITS).max()),
        "freshness": {
            "optimal": round(best.freshness, 4),
            "uniform": round(float(np.mean(freshness(rates, np.ones(5)))), 4),
            "proportional": round(float(np.mean(freshness(rates, rates / 3.0))), 4),
        },
    }
