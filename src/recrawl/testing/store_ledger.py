"""What every store must do with the ledger: entries, their sums, changes, and spans of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from recrawl.model import Entry, Purpose, Verdict, Writes
from recrawl.ports import Rollup, Store
from recrawl.testing.samples import NOON, a_change, a_robots_entry, an_entry
from recrawl.testing.verdicts import equal, require
from recrawl.units import DAY, Spend

Make = Callable[[], Store]
MIDNIGHT = NOON + DAY / 2
MARKS = ("tau", "predicted", "gain", "price", "score", "bar")
TOLERANCE = 1.5e-3  # of the marks, which explain a visit; all else is exact


def same_entries(got: Sequence[Entry], want: Sequence[Entry], sentence: str) -> None:
    """Equal in every field, the marks within TOLERANCE (0, 1 and inf exactly)."""
    equal(len(got), len(want), f"{sentence}: how many entries")
    for g, w in zip(got, want, strict=True):
        for name in MARKS:
            have, should = getattr(g, name), getattr(w, name)
            near = have == should or abs(have - should) <= TOLERANCE * abs(should)
            exact = should in (0.0, 1.0, np.inf)
            require(
                have == should if exact else near, f"{sentence}: {name} {have!r}, not {should!r}"
            )
        equal(replace(g, **{name: getattr(w, name) for name in MARKS}), w, sentence)


def entries_come_back_whole(make: Make) -> None:
    """Every field of an entry comes back: money and counts exactly, t to 1 ms."""
    store = make()
    variants: list[dict[str, Any]] = [
        {"purpose": purpose, "verdict": verdict} for purpose in Purpose for verdict in Verdict
    ]
    variants += [{"tau": 0.0}, {"predicted": 1.0}, {"predicted": 1e-6, "gain": 1e-12}]
    variants += [{"predicted": 0.9999}, {"score": np.inf, "bar": 1.0, "price": 1e12}]
    variants += [{"spend": Spend(5, 0, 0, 3, 0)}, {"spend": Spend(micro_usd=-4)}]
    variants += [{"source": "vendor", "route": "é"}, {"conditional": False, "kind": "odd"}]
    variants += [{"evidence": "x" * 500}, {"up": 2**40, "down": 2**41, "sighted": 70_000}]
    want = [replace(an_entry(NOON + i), **v) for i, v in enumerate(variants)]
    want.append(a_robots_entry(NOON + 1000))
    store.commit(Writes(entries=want))
    same_entries(list(store.entries()), want, "an entry comes back whole")
    for purpose in Purpose:
        mine = [e for e in want if e.purpose is purpose]
        same_entries(list(store.entries(purpose=purpose)), mine, f"entries for {purpose.word}")
    same_entries(store.history(1, 0), want[-1:], "robots.txt has a history, too")
    store.close()


def entries_count_once(make: Make) -> None:
    """An entry with the same (host, key, t, purpose) is ignored, in the sums as well."""
    store = make()
    first = an_entry()
    twin = replace(first, verdict=Verdict.SAME, spend=Spend(1, 1, 1, 1, 1))
    others = [
        an_entry(NOON + 1), an_entry(key=2), an_entry(host_id=2),
        replace(first, purpose=Purpose.VERIFICATION),
    ]  # fmt: skip
    store.commit(Writes(entries=[first, twin]))
    store.commit(Writes(entries=[others[0], twin, others[1]], meta={"later": "yes"}))
    store.commit(Writes(entries=[*others, first]))
    got = list(store.entries())
    equal(len(got), 5, "an entry counts once")
    require(twin not in got, "the first of two counts")
    equal(sum(r.n for r in store.rollup()), 5, "the rollup counts an entry once")
    total = sum((e.spend for e in (first, *others)), Spend())
    equal(store.spent(), total, "what was spent counts once")
    equal(store.meta(), {"later": "yes"}, "the rest of such a commit is kept")
    store.close()


def order_of_time(make: Make) -> None:
    """entries and changes come oldest first, history newest first, whatever order they came in."""
    store = make()
    times = [NOON + d * DAY + s for d in (3, -2, 0, 40) for s in (5.0, 1.5, -3.25)]
    for t in times:
        store.commit(Writes(entries=[an_entry(t), an_entry(t, key=2)], changes=[a_change(t)]))
    equal([e.t for e in store.entries()], sorted(times * 2), "entries: oldest first")
    equal([c.t for c in store.changes()], sorted(times), "changes: oldest first")
    newest = sorted(times, reverse=True)
    equal([e.t for e in store.history(1, 1)], newest, "history: newest first")
    equal([e.t for e in store.history(1, 2, limit=5)], newest[:5], "history: at most `limit`")
    equal(store.history(2, 1), [], "history: of this page only")
    store.close()


def spans_are_half_open(make: Make) -> None:
    """[since, until) for entries, changes and spent, within a day and over many."""
    store = make()
    edges = (MIDNIGHT - DAY, MIDNIGHT - 0.001, MIDNIGHT, MIDNIGHT + 0.001, MIDNIGHT + 9 * DAY)
    times = [0.0, *edges, NOON]
    entries = [replace(an_entry(t), spend=Spend(2**i)) for i, t in enumerate(times)]
    store.commit(Writes(entries=entries, changes=[a_change(t) for t in times]))
    for since in (0.0, *edges, NOON, np.inf):
        for until in (0.0, *edges, NOON, NOON + 0.5, np.inf):
            within = [e for e in entries if since <= e.t < until]
            span = f"of [{since}, {until})"
            equal(sorted(e.t for e in within), [e.t for e in store.entries(since, until)], span)
            equal(len(within), len(list(store.changes(since, until))), f"changes {span}")
            none = list(store.entries(since, until, Purpose.VERIFICATION))
            equal(none, [], f"of another purpose {span}")
            total = sum((e.spend for e in within), Spend())
            equal(store.spent(since, until), total, f"spent {span}")
    store.close()


def rollup_is_the_sum(make: Make) -> None:
    """The rollup sums the entries by day, host, type, purpose, verdict, status, conditional."""
    store = make()
    entries = [
        replace(
            an_entry(NOON + i * 7000.0, host_id=i % 2, key=i), page_type=i % 3,
            status=(200, 304)[i % 2], conditional=i % 5 > 0,
            purpose=Purpose(i % 4), verdict=Verdict(i % 7),
        )
        for i in range(60)
    ]  # fmt: skip
    for i in range(0, 60, 7):
        store.commit(Writes(entries=entries[i : i + 7]))
    want: dict[tuple[Any, ...], Rollup] = {}
    for e in entries:
        key = (
            int(e.t // DAY), e.host_id, e.page_type, e.purpose, e.verdict, e.status, e.conditional,
        )  # fmt: skip
        had = want.get(key) or Rollup(*key, 0, 0, 0, Spend(), 0, 0)
        want[key] = replace(
            had, n=had.n + 1, up=had.up + e.up, down=had.down + e.down, spend=had.spend + e.spend,
            discovered=had.discovered + e.discovered, sighted=had.sighted + e.sighted,
        )  # fmt: skip
    rows = store.rollup()
    equal(sorted(map(astuple, rows)), sorted(map(astuple, want.values())), "the rollup's sums")
    day = int(NOON // DAY) + 1
    some = [r for r in rows if day <= r.day < day + 2]
    equal(store.rollup(day, day + 2), some, "the rollup of [since_day, until_day)")
    require(0 < len(some) < len(rows), "these entries span more days than were asked for")
    store.close()


def changes_come_back_whole(make: Make) -> None:
    """Both records of a change come back; a first reading has no before, a gone page no after."""
    store = make()
    change = a_change()
    want = [change, replace(change, t=NOON + 1, before=None, t_before=0.0)]
    want += [replace(change, t=NOON + 2, after=None, verdict=Verdict.GONE)]
    store.commit(Writes(changes=want))
    equal(list(store.changes()), want, "a change comes back whole")
    equal(list(store.entries()), [], "a change is no entry")
    store.close()


def streams_do_not_block_the_writer(make: Make) -> None:
    """A stream that is being read shows its beginning's rows, and commits go on meanwhile."""
    store = make()
    store.commit(Writes(entries=[an_entry(NOON + i) for i in range(3000)]))
    stream = store.entries()
    next(stream)
    for i in range(3):
        store.commit(Writes(entries=[an_entry(NOON + 9000 + i)], meta={"i": str(i)}))
    equal(store.meta(), {"i": "2"}, "commits go on while a stream is read")
    require(len(list(stream)) in range(2999, 3003), "a stream goes on while commits are made")
    equal(len(list(store.entries())), 3003, "a new stream has all")
    store.close()


LEDGER_CHECKS: tuple[Callable[[Make], None], ...] = (
    entries_come_back_whole,
    entries_count_once,
    order_of_time,
    spans_are_half_open,
    rollup_is_the_sum,
    changes_come_back_whole,
    streams_do_not_block_the_writer,
)
