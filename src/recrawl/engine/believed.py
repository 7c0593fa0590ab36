"""The pages of a crawl as a replay takes them: beliefs, values, and prices in one unit."""

from __future__ import annotations

import numpy as np

from recrawl.engine.crawl import Crawl
from recrawl.engine.scheme import price_book
from recrawl.model import HAS_VALIDATOR, State
from recrawl.plan.cost import PriceBook
from recrawl.plan.tariff import Tariff
from recrawl.replay.what_if import Believed
from recrawl.units import Unit

_KIND = 65_536  # page types a host can have


def believed_pages(crawl: Crawl, unit: Unit, tariff: Tariff | None = None) -> Believed:
    """All pages that are live or not read yet. `tariff`: in place of the project's own."""
    rows = crawl.mirror.rows
    rows = rows[np.isin(rows["state"], (State.NEW, State.LIVE))]
    modes = crawl.project.modes
    if tariff is None:
        book = price_book(crawl)
    else:  # a tariff that knows no such mode bills every visit alike
        known = modes if set(modes) <= set(tariff.credits) else ()
        book = PriceBook(crawl.sizes, (tariff,), modes=known, charges=crawl.charges)
    host, kind = rows["host_id"], rows["page_type"]
    quoted = book.quote(unit, host, kind, rows["body"].astype(np.float64))
    has = (rows["flags"] & HAS_VALIDATOR) > 0
    a, b = crawl.prior.complete(rows["a"], rows["b"], host, kind)
    va, vb = crawl.validators.complete(rows["va"], rows["vb"], host, kind)
    full = np.maximum(quoted.full, 1e-9)
    return Believed(
        group=host.astype(np.int64) * _KIND + kind,
        value=rows["value"].astype(np.float64),
        full=full,
        unchanged=np.where(has, np.minimum(quoted.unchanged, full), full),
        a=a,
        b=b,
        va=va,
        vb=vb,
    )
