"""Ledger entries as rows: 17 columns in about 60 bytes, and their sums by day for the reports.

The six marks that explain a visit take two bytes each. `predicted`, a chance, is kept as a logit
(so that both p and 1 - p are right within 0.1 %), the others as a logarithm (0.07 %); 0, 1 and
infinity are exact, and the order of two values is never reversed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from recrawl.model import Entry, Purpose, Verdict
from recrawl.stores.sqlite.encode import DAY_MS, Row, spend_row, text, to_ms
from recrawl.units import Spend

MAX_OUTCOMES = 4096  # ways for a visit to end that are kept as a number; later ones in full

_STEPS = 510  # codes per doubling: 128 doublings from 2^-64 on, one code for 0, one for inf
_TOP = 65535
_LOGIT = 1638.0  # codes per nat, for logits of -20 to 20
_PREDICTED = 1  # which of the six marks is a chance
_PURPOSES = {p.value: p for p in Purpose}
_VERDICTS = {v.value: v for v in Verdict}

VISIT_COLUMNS = (
    "day", "host_id", "key", "at", "purpose", "outcome_id", "up", "down", "bytes", "micro_usd",
    "microcredits", "fetches", "millis", "marks", "discovered", "sighted", "evidence",
)  # fmt: skip
OUTCOME_COLUMNS = (
    "page_type", "verdict", "status", "conditional", "kind", "source", "route", "evidence",
)  # fmt: skip
ROLLUP_KEY = ("day", "host_id", "page_type", "purpose", "verdict", "status", "conditional")
ROLLUP_SUMS = (
    "n", "up", "down", "bytes", "micro_usd", "microcredits", "fetches", "millis", "discovered",
    "sighted",
)  # fmt: skip

Identity = tuple[int, int, int, int, int]  # day, host_id, key, at, purpose


def pack_marks(marks: np.ndarray) -> np.ndarray:
    """Marks (n x 6, not negative) -> codes (n x 6, uint16). NaN and negative values become 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        codes = np.clip(np.rint((np.log2(marks) + 64) * _STEPS) + 1, 1, _TOP - 1)
        codes = np.where(np.isposinf(marks), _TOP, np.where(marks > 0, codes, 0))
        p = marks[:, _PREDICTED]
        logit = np.clip(np.rint((np.log(p) - np.log1p(-p) + 20) * _LOGIT), 1, _TOP - 1)
        codes[:, _PREDICTED] = np.where(p >= 1, _TOP, np.where(p > 0, logit, 0))
    return codes.astype("<u2")


def unpack_marks(codes: np.ndarray) -> np.ndarray:
    """The inverse of `pack_marks`: float64, n x 6."""
    wide = codes.astype(np.float64)
    marks = np.exp2((wide - 1) / _STEPS - 64)
    marks[codes == 0] = 0.0
    marks[codes == _TOP] = np.inf
    p = codes[:, _PREDICTED]
    chance = 1 / (1 + np.exp(20 - wide[:, _PREDICTED] / _LOGIT))
    marks[:, _PREDICTED] = np.where(p == 0, 0.0, np.where(p == _TOP, 1.0, chance))
    return marks


class Outcomes:
    """The ways in which visits ended, each with its number; new ones are pending until kept."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self._known: dict[Row, int] = {tuple(rest): number for number, *rest in rows}
        self.pending: list[Row] = []  # rows to insert: number and OUTCOME_COLUMNS

    def number(self, e: Entry) -> tuple[int, str | None]:
        """The number of an entry's outcome, and its evidence where the outcome leaves it out.

        Evidence is a small vocabulary. Should it ever grow without bound, what comes after
        MAX_OUTCOMES stands in the visit itself, so that this table stays small.
        """
        key = (
            e.page_type, int(e.verdict), e.status, int(e.conditional), e.kind, e.source,
            text(e.route), text(e.evidence),
        )  # fmt: skip
        number = self._known.get(key)
        if number is not None:
            return number, None
        if len(self._known) < MAX_OUTCOMES:
            return self._add(key), None
        number = self._known.get((*key[:-1], ""))
        return self._add((*key[:-1], "")) if number is None else number, key[-1] or None

    def _add(self, key: Row) -> int:
        number = self._known[key] = len(self._known) + 1
        self.pending.append((number, *key))
        return number

    def keep(self) -> None:
        """What was pending is durable."""
        self.pending.clear()

    def forget(self) -> None:
        """What was pending is not."""
        for _, *key in self.pending:
            del self._known[tuple(key)]
        self.pending.clear()


def visit_rows(entries: Sequence[Entry], outcomes: Outcomes) -> dict[Identity, tuple[Row, Entry]]:
    """Entries as rows in the order of VISIT_COLUMNS, by identity; the first of each counts."""
    if not entries:
        return {}
    marks = np.array([(e.tau, e.predicted, e.gain, e.price, e.score, e.bar) for e in entries])
    packed = pack_marks(marks).tobytes()
    rows: dict[Identity, tuple[Row, Entry]] = {}
    for i, e in enumerate(entries):
        day, at = divmod(to_ms(e.t), DAY_MS)
        identity = (day, e.host_id, e.key, at, int(e.purpose))
        if identity in rows:
            continue
        number, evidence = outcomes.number(e)
        paid, *rest = spend_row(e.spend)
        mark = packed[12 * i : 12 * i + 12]
        rows[identity] = (
            (*identity, number, e.up, e.down, None if paid == e.up + e.down else paid, *rest,
             mark if any(mark) else None, e.discovered, e.sighted, evidence),
            e,
        )  # fmt: skip
    return rows


def rollup_rows(visits: Iterable[tuple[Row, Entry]]) -> list[Row]:
    """The sums that these visits add to the rollup: ROLLUP_KEY and ROLLUP_SUMS."""
    sums: dict[Row, list[int]] = {}
    for row, e in visits:
        key = (
            row[0],
            e.host_id,
            e.page_type,
            row[4],
            int(e.verdict),
            e.status,
            int(e.conditional),
        )
        adds = (1, e.up, e.down, *spend_row(e.spend), e.discovered, e.sighted)
        have = sums.get(key)
        sums[key] = (
            list(adds) if have is None else [x + y for x, y in zip(have, adds, strict=True)]
        )
    return [(*key, *values) for key, values in sums.items()]


_NO_MARKS = bytes(12)
_SELECTED = len(VISIT_COLUMNS)  # a row to decode: VISIT_COLUMNS, then OUTCOME_COLUMNS


def entries_of(rows: Sequence[Sequence[Any]]) -> Iterator[Entry]:
    """Visits joined with their outcomes (VISIT_COLUMNS, OUTCOME_COLUMNS) as entries."""
    codes = np.frombuffer(b"".join(r[13] or _NO_MARKS for r in rows), "<u2").reshape(-1, 6)
    for row, marks in zip(rows, unpack_marks(codes).tolist(), strict=True):
        (
            day, host_id, key, at, purpose, _, up, down, paid, usd, credit, fetches, millis, _,
            discovered, sighted, evidence,
        ) = row[:_SELECTED]  # fmt: skip
        page_type, verdict, status, conditional, kind, source, route, usual = row[_SELECTED:]
        tau, predicted, gain, price, score, bar = marks
        spend = Spend(up + down if paid is None else paid, usd, credit, fetches, millis)
        yield Entry(
            (day * DAY_MS + at) / 1000, host_id, key, _PURPOSES[purpose], _VERDICTS[verdict],
            page_type, status, kind, bool(conditional), up, down, spend, tau, predicted, gain,
            price, score, bar, source, route, discovered, sighted,
            usual if evidence is None else evidence,
        )  # fmt: skip
