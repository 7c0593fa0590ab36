"""Every policy on theory, on made-up webs and on the histories of real pages, side by side.

    python benchmarks/policies.py --traces DIR [--json] [--small] [--only NAMES] [--parts NAMES]

DIR holds `pages.parquet` and `events.parquet` (times at which pages changed). Without it only
theory and made-up webs are run. Deterministic: every draw has its seed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import Pool
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from policy_engine import compare
from policy_theory import theory
from policy_worlds import BUDGETS, PER_SOURCE, SPAN, Traces, trace_lanes, web

from recrawl.plan.policies import get_policy, policy_names
from recrawl.replay import Outcome, Settings, replay
from recrawl.replay.score import clairvoyant, expected_freshness
from recrawl.units import DAY, HOUR

SEEDS = (1, 2, 3, 4, 5)
DEFAULT, BASE = "freshness", "uniform"
WRONG = {"prior 200x too short": 1 / 200, "prior 200x too long": 200.0}
"""Default mean gaps that are wrong, as shares of the right one."""
VARIANTS = ("unit", "mixed", "not_modified", "restless")
T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}  # of Student's distribution, by sample size
MARKS = {"unit": 0.80, "mixed": 0.60, "not_modified": 0.62}
SYNTHETIC_MARKS = (0.95, 0.985, 0.995)
SINCE = 30 * DAY
ENGINE_VISITS = (0.2, 1.0)  # a page and day
COLUMNS = (11, 8, 8, 9, 8, 8)


@dataclass(frozen=True, order=True)
class Task:
    """One policy in one setting: `part` a variant of the traces, or a made-up web."""

    part: str
    policy: str
    seed: int
    mode: str = "learned"  # known: rates told | record: 304s priced by record's rate | of WRONG
    folder: str = ""
    small: bool = False


@lru_cache(maxsize=1)
def _traces(folder: str) -> Traces:
    return Traces(Path(folder))


Batch = list[Task]
"""Tasks that differ in their seeds alone: lanes of one replay, hardly slower than a single one."""


def run(batch: Batch) -> list[tuple[Task, dict[str, Any]]]:
    """Figures of each task; called in a process of its own."""
    parts = {"web": _synthetic, "fast web": _synthetic, "engine": _engine}
    return list(zip(batch, parts.get(batch[0].part, _on_traces)(batch), strict=True))


def _cycle(task: Task) -> float:
    return DAY / 4 if task.small else HOUR / 2


def _synthetic(batch: Batch) -> Iterator[dict[str, Any]]:
    task, budgets = batch[0], len(BUDGETS["synthetic"])
    pages = 100 if task.small else 2000
    made = [web(t.seed, fast=task.part == "fast web", pages=pages) for t in batch]
    gap = 50 * DAY * WRONG.get(task.mode, 1.0)
    out = replay(
        [lane for one in made for lane in one.lanes(known=task.mode == "known")],
        get_policy(task.policy),
        Settings(mean_gap=gap, cycle=_cycle(task)),
    )
    for i, one in enumerate(made):
        mine, best = out[i * budgets : (i + 1) * budgets], one.best()
        fresh = [expected_freshness(one.world, one.rate, o.readings, SINCE, SPAN) for o in mine]
        yield {"ratio": [f / b for f, b in zip(fresh, best, strict=True)], "best": best}


def _engine(batch: Batch) -> Iterator[dict[str, Any]]:
    for task in batch:
        made = web(task.seed, pages=40 if task.small else 300)
        days = 20.0 if task.small else 60.0
        pairs = [compare(made, task.policy, visits, days, task.seed) for visits in ENGINE_VISITS]
        yield {"ratio": [engine / simulated for engine, simulated in pairs]}


def _on_traces(batch: Batch) -> Iterator[dict[str, Any]]:
    task, traces = batch[0], _traces(batch[0].folder)
    windows = traces.windows()[:1] if task.small else traces.windows()
    most = 10 if task.small else PER_SOURCE
    drawn = [[traces.world(w, t.seed, t.part, most) for w in windows] for t in batch]
    lanes = [
        lane for one in drawn for world, _ in one for lane in trace_lanes(world, _knows(task))
    ]
    each = len(windows) * len(BUDGETS["traces"])
    if task.policy == "clairvoyant":
        fresh = [clairvoyant(x.world, x.budget, SINCE, SPAN) for x in lanes]
        yield from ({"fresh": fresh[i : i + each]} for i in range(0, len(fresh), each))
        return
    settings = Settings(price_by_record=task.mode == "record", cycle=_cycle(task))
    out = replay(lanes, get_policy(task.policy), settings)
    for i, one in enumerate(drawn):
        yield _figures(out[i * each : (i + 1) * each], [kind for _, kind in one])


def _knows(task: Task) -> bool:
    return task.mode == "known"


def _figures(out: list[Outcome], kinds: list[Any]) -> dict[str, Any]:
    """`kinds`: the classes of the pages, by window."""
    by_lane = [kind for kind in kinds for _ in BUDGETS["traces"]]
    return {
        "fresh": [o.freshness for o in out],
        "captured": [o.captured for o in out],
        "age": [o.age_days for o in out],
        "classes": _by_class(out, by_lane),
    }


def _by_class(out: list[Outcome], kinds: list[Any]) -> dict[str, float]:
    """Mean staleness of each source class, over all lanes."""
    stale: dict[str, float] = defaultdict(float)
    alive: dict[str, float] = defaultdict(float)
    for o, kind in zip(out, kinds, strict=True):
        for name in np.unique(kind).tolist():
            stale[name] += float(o.stale[kind == name].sum())
            alive[name] += float(o.alive[kind == name].sum())
    return {name: stale[name] / alive[name] for name in sorted(stale)}


def batches(folder: str, small: bool, n_seeds: int) -> list[Batch]:
    """What is run; the slow ones first, so that no core idles at the end.

    `n_seeds`: draws for all policies; 0 = five (small: two) where there is a mark, one elsewhere.
    """
    many = SEEDS[: n_seeds or (2 if small else len(SEEDS))]
    one = SEEDS[: n_seeds or 1]

    def of(part: str, policy: str, seeds: Iterable[int], mode: str = "learned") -> Batch:
        return [Task(part, policy, s, mode, folder, small) for s in seeds]

    found, names = [], policy_names()
    if folder:
        for part in VARIANTS[:3]:
            found += [of(part, name, many if name in (DEFAULT, BASE) else one) for name in names]
            found += [of(part, name, one[:1], "known") for name in (DEFAULT, "clairvoyant")]
        found += [of("restless", DEFAULT, one[:1], mode) for mode in ("learned", "record")]
        found.append(of("restless", BASE, one[:1]))
    marked = (DEFAULT, "harmonic", BASE)
    found += [of("web", name, many if name in marked else one) for name in names]
    found += [of("web", DEFAULT, many, mode) for mode in ("known", *WRONG)]
    found += [of("fast web", name, many) for name in marked]
    found += [of("engine", name, many[:2]) for name in (DEFAULT, BASE)]
    return found


def interval(numbers: list[float]) -> float:
    """Half the width of the 95 % interval of a mean."""
    n = len(numbers)
    return T95.get(n, 2.78) * stdev(numbers) / n**0.5 if n > 1 else 0.0


def relative(fresh: list[float], base: list[float]) -> float:
    """Staleness beside even visits': the geometric mean over windows and budgets."""
    ratios = [(1 - f) / (1 - b) for f, b in zip(fresh, base, strict=True)]
    return float(np.exp(np.mean(np.log(ratios))))


def gather(done: dict[Task, dict[str, Any]]) -> dict[str, Any]:
    """All figures, in the shape that --json prints."""
    out: dict[str, Any] = {
        "theory": theory(), "synthetic": {}, "fast_web": {}, "engine": {}, "traces": {}
    }  # fmt: skip
    groups: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task in sorted(done):
        name = task.policy if task.mode == "learned" else f"{task.policy} ({task.mode})"
        groups[task.part, name].append(task)
    for (part, name), members in groups.items():
        if part == "engine":
            for i, visits in enumerate(ENGINE_VISITS):
                ratio = mean(done[t]["ratio"][i] for t in members)
                out["engine"].setdefault(str(visits), {})[name] = round(ratio, 4)
        elif part in ("web", "fast web"):
            table = out["synthetic" if part == "web" else "fast_web"]
            for i, budget in enumerate(BUDGETS["synthetic"]):
                ratios = [done[t]["ratio"][i] for t in members]
                table.setdefault(str(budget), {})[name] = round(mean(ratios), 4)
                key = f"{part.replace(' ', '_')}_interval"
                out.setdefault(key, {}).setdefault(str(budget), {})[name] = round(
                    interval(ratios), 4
                )
        else:
            out["traces"].setdefault(part, {})[name] = _summary(done, members)
    return out


def _summary(done: dict[Task, dict[str, Any]], members: list[Task]) -> dict[str, Any]:
    base = [
        done[next(t for t in done if (t.part, t.policy, t.seed, t.mode) == key)]["fresh"]
        for key in ((m.part, BASE, m.seed, "learned") for m in members)
    ]
    rel = [relative(done[m]["fresh"], b) for m, b in zip(members, base, strict=True)]
    figures: dict[str, Any] = {
        "relative_staleness": round(mean(rel), 4),
        "interval_95": round(interval(rel), 4),
        "seeds": [m.seed for m in members],
        "by_seed": [round(r, 4) for r in rel],
        "freshness": round(mean(mean(done[m]["fresh"]) for m in members), 4),
    }
    if "captured" in done[members[0]]:
        figures["events_captured"] = round(mean(mean(done[m]["captured"]) for m in members), 4)
        figures["age_days"] = round(mean(mean(done[m]["age"]) for m in members), 4)
        classes = [done[m]["classes"] for m in members]
        figures["staleness_by_class"] = {
            k: round(mean(c[k] for c in classes if k in c), 4) for k in classes[0]
        }
    bound = [t for t in done if t.policy == "clairvoyant" and t.part == members[0].part]
    if bound and members[0].policy != "clairvoyant":
        mine, best = done[members[0]]["fresh"], done[bound[0]]["fresh"]
        figures["of_clairvoyant"] = round(mean(f / b for f, b in zip(mine, best, strict=True)), 4)
    return figures


def show(figures: dict[str, Any]) -> Iterator[str]:
    """The figures as tables."""
    titles = {
        "synthetic": "made-up webs: freshness as a share of the optimum",
        "fast_web": "with many fast pages: freshness as a share of the optimum",
        "engine": "the real engine's freshness as a share of the simulator's",
    }
    for part, title in titles.items():
        budgets = list(figures[part])
        yield f"{title}, by visits per page and day"
        yield f"{'policy':26}" + "".join(f"{b:>9}" for b in budgets)
        for name in figures[part][budgets[0]]:
            yield f"{name:26}" + "".join(f"{figures[part][b][name]:9.4f}" for b in budgets)
        yield ""
    for part, rows in figures["traces"].items():
        yield f"real histories, {part}; rel. stale = staleness beside even visits'"
        heads = zip(
            ("rel. stale", "+-", "fresh", "of best", "events", "age d"), COLUMNS, strict=True
        )
        yield f"{'policy':26}" + "".join(f"{head:>{w}}" for head, w in heads)
        for name, row in sorted(rows.items(), key=lambda kv: kv[1]["relative_staleness"]):
            rest = [row.get(k) for k in ("of_clairvoyant", "events_captured", "age_days")]
            yield (
                f"{name:26}{row['relative_staleness']:11.4f}{row['interval_95']:8.4f}"
                f"{row['freshness']:8.4f}"
                + "".join(
                    f"{x:{w}.4f}" if x is not None else " " * w
                    for x, w in zip(rest, (9, 8, 8), strict=True)
                )
            )
        yield ""


def missed(figures: dict[str, Any]) -> list[str]:
    """The marks that are not met."""
    wrong = [
        f"{budget}: {row[DEFAULT]} of the optimum, mark {mark}"
        for (budget, row), mark in zip(figures["synthetic"].items(), SYNTHETIC_MARKS, strict=True)
        if row[DEFAULT] < mark
    ]
    for part in ("synthetic", "fast_web"):
        wrong += [
            f"{part}, {budget}: not above even visits"
            for budget, row in figures[part].items()
            if row[DEFAULT] <= row[BASE]
        ]
    for budget, row in figures["synthetic"].items():
        if row[f"{DEFAULT} (known)"] < 0.999:
            wrong.append(f"{budget}: known rates reach {row[f'{DEFAULT} (known)']}, mark 0.999")
        wrong += [
            f"{budget}: a {mode} costs more than 7 %"
            for mode in WRONG
            if row[f"{DEFAULT} ({mode})"] < 0.93 * row[DEFAULT]
        ]
    for budget, row in figures["engine"].items():
        wrong += [
            f"{name} at {budget}: the engine comes to {ratio} of the simulator"
            for name, ratio in row.items()
            if abs(ratio - 1) > 0.01
        ]
    for part, mark in MARKS.items():
        got = figures["traces"].get(part, {}).get(DEFAULT, {}).get("relative_staleness", 0.0)
        if got >= mark:
            wrong.append(f"traces, {part}: {got}, mark {mark}")
    return wrong


def play(todo: list[Batch], processes: int) -> dict[Task, dict[str, Any]]:
    """Run all batches, saying how far it is."""
    done: dict[Task, dict[str, Any]] = {}
    with Pool(processes) as pool:
        for n, results in enumerate(pool.imap_unordered(run, todo), 1):
            done.update(results)
            task = results[0][0]
            print(
                f"\r{n} of {len(todo)}: {task.part}, {task.policy}        ",
                end="", file=sys.stderr, flush=True,
            )  # fmt: skip
    print(file=sys.stderr)
    return done


def main() -> int:
    """0 = all marks met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", default="", help="folder of pages.parquet and events.parquet")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--small", action="store_true", help="few pages, one window: for tests")
    parser.add_argument("--only", default="", metavar="NAMES", help="policies, as in a,b")
    parser.add_argument("--parts", default="", help="only these, as in unit,web")
    parser.add_argument(
        "--seeds", type=int, default=0, help="how many draws, 1 to 5 (5; small: 2)"
    )
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    if args.traces and not (Path(args.traces) / "pages.parquet").exists():
        parser.error(f"{args.traces}: no pages.parquet there")
    if args.traces:
        try:
            _traces(args.traces).windows()
        except (OSError, KeyError, ValueError) as error:  # pyarrow's own errors are of these
            parser.error(f"{args.traces}: {error}")
    if not 0 <= args.seeds <= len(SEEDS):
        parser.error(f"--seeds {args.seeds}: 1 to {len(SEEDS)}")
    todo = batches(args.traces, args.small, args.seeds)
    if args.only:
        names = {*args.only.split(","), DEFAULT, BASE, "clairvoyant"}
        todo = [batch for batch in todo if batch[0].policy in names]
    if args.parts:
        todo = [batch for batch in todo if batch[0].part in args.parts.split(",")]
    figures = gather(play(todo, args.processes))
    if args.json:
        print(json.dumps(figures, indent=1))
    else:
        print("\n".join(show(figures)))
    wrong = [] if args.small or args.parts else missed(figures)
    for line in wrong:
        print(f"MISSED: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
