"""Why the pages that a window did not buy were left out: every one is counted."""

from __future__ import annotations

from collections import Counter

import numpy as np

from recrawl.plan.candidates import Float32s
from recrawl.plan.sale import Sale
from recrawl.plan.standing import REASONS, LeftOut, Standing, Standings


def count_left_out(sale: Sale, standings: Standings, reach: list[Float32s]) -> Counter[LeftOut]:
    """The pages that were not bought, by reason. `reach`: by unit the best score that each row can
    ever have, inf of those that are no candidates or never read.
    """
    m, w, bar = sale.market, sale.window, sale.bar
    taken = w.rows()
    left = standings.counts - np.bincount(standings.of(taken), minlength=len(Standing))
    new, old = int(left[Standing.NEW]), int(left[Standing.LIVE] + left[Standing.OVERDUE])
    rest, has_room = m.free(taken), w.capacity[m.host] > 0
    above = rest & (sale.score >= bar)
    over = above & has_room & ~m.new & (sale.score > 0)
    full = above & ~has_room
    full_new, full_old = int(np.count_nonzero(full & m.new)), int(np.count_nonzero(full & ~m.new))
    if bar == 0.0:  # all is affordable: what isn't even in the market is on hosts that are full
        full_new += new - int(np.count_nonzero(rest & m.new))
        full_old += old - int(np.count_nonzero(rest & ~m.new))
    low = old - full_old - int(np.count_nonzero(over))
    k = max(range(len(sale.lambdas)), key=sale.lambdas.__getitem__)
    others = np.concatenate([taken, m.rows[(full | over) & ~m.new]])
    level = bar * sale.lambdas[k]
    fast = int(np.count_nonzero(reach[k] < level) - np.count_nonzero(reach[k][others] < level))
    counts = {
        LeftOut.HOST_FULL: full_new + full_old,
        LeftOut.OVER_BUDGET: new - full_new + old - full_old - low,
        LeftOut.TOO_FAST: fast,
        LeftOut.TOO_FRESH: low - fast,
    }
    out = Counter({reason: n for reason, n in counts.items() if n})
    for standing, reason in REASONS.items():
        if left[standing]:
            out[reason] += int(left[standing])
    return out
