"""All pages as the planner's columns, at little more than a microsecond a page.

SQLite hands over a row in 0.2 microseconds; what costs is each Python object made of it. So SQLite
joins the small columns into three integers, which NumPy takes apart again, and the two columns
that nearly always hold their default are read for the exceptions only, as is what HOT clips.
"""

# ruff: noqa: S608 - statements are put together from our own constants

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice

import numpy as np

from recrawl.model import HAS_VALIDATOR, HOT, Columns
from recrawl.model.rows import NEVER
from recrawl.stores.sqlite.encode import FOREVER

# Not the defaults, or too large for their place in HOT. (Operators: SQLite's functions cost more.)
_ODD_ONES = """(
    (((depth | fails) >> 8) | ((score + 32768) >> 16) | retry_at) <> 0 OR value <> 1.0
)"""
_ALL = f"""
SELECT host_id | (state << 32) | ((depth & 255) << 40) | ((fails & 255) << 48),
       key,
       last | (page_type << 47),
       ((score & 65535) << 2) | ({_ODD_ONES} << 1)
               | iif(etag > '' OR last_modified > '', 1, 0),
       belief
FROM page ORDER BY host_id, key
"""
_ODD = f"""
SELECT min(retry_at / 1000, {NEVER}), value, min(depth, 255), min(fails, 255),
       max(-32768, min(score, 32767))
FROM page WHERE {_ODD_ONES} ORDER BY host_id, key
"""
_PART = 1 << 17  # rows taken apart at once
_ROW = np.dtype(
    [("head", "<i8"), ("key", "<i8"), ("last_type", "<i8"), ("tail", "<i8"), ("belief", "S24")]
)
_ODD_ROW = np.dtype(
    [("retry_at", "<u4"), ("value", "<f8"), ("depth", "u1"), ("fails", "u1"), ("score", "<i2")]
)


def scan_hot(connection: sqlite3.Connection) -> Columns:
    """All pages by the columns of `model.HOT`, sorted by (host_id, key). Raises sqlite3.Error."""
    connection.execute("BEGIN")  # both statements see the same state
    try:
        return Columns.joined(_parts(connection))
    finally:
        connection.execute("ROLLBACK")


def _parts(connection: sqlite3.Connection) -> Iterator[np.ndarray]:
    every, odd_ones = connection.execute(_ALL), None
    while len(rows := np.fromiter(islice(every, _PART), _ROW)):
        exceptions = np.flatnonzero((rows["tail"] >> 1) & 1)
        if len(exceptions) and odd_ones is None:
            odd_ones = connection.execute(_ODD)
        odd = np.fromiter(islice(odd_ones or (), len(exceptions)), _ODD_ROW)
        yield _hot(rows, exceptions, odd)


def _hot(rows: np.ndarray, exceptions: np.ndarray, odd: np.ndarray) -> np.ndarray:
    hot = np.empty(len(rows), HOT)
    head, tail, last_type = rows["head"], rows["tail"], rows["last_type"]
    hot["key"] = rows["key"]
    hot["host_id"] = head & 0xFFFFFFFF
    for shift, name in ((32, "state"), (40, "depth"), (48, "fails")):
        hot[name] = (head >> shift) & 0xFF
    last = last_type & FOREVER
    hot["last"] = np.where(last == FOREVER, np.inf, last / 1000.0)
    hot["page_type"] = last_type >> 47
    hot["flags"] = (tail & 1) * HAS_VALIDATOR
    hot["score"] = ((tail >> 2) & 0xFFFF).astype(np.uint16).view(np.int16)
    belief = np.ascontiguousarray(rows["belief"]).view("<f4").reshape(-1, 6)
    for i, name in enumerate(("a", "b", "va", "vb", "body", "interval")):
        hot[name] = belief[:, i]
    hot["value"], hot["retry_at"] = 1.0, 0
    for name in odd.dtype.names or ():
        hot[name][exceptions] = odd[name]
    return hot
