"""Writes the pages of this folder that can be read off the code: config.md, cli.md, lifecycle.md.

`python docs/make.py` writes them; a test fails where one is out of date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from recrawl.cli.app import app
from recrawl.config import json_schema
from recrawl.frontier.lifecycle import MOVES, diagram
from recrawl.model import State, Verdict

HERE = Path(__file__).parent
FIGURES = HERE.parent / "benchmarks" / "policies.json"
MADE = "<!-- Made by docs/make.py: edit there, or the texts in the code that it reads. -->\n\n"

CONFIG = """\
# recrawl.toml

`recrawl init URL` writes one with every key in it; `recrawl config check` reports all mistakes at
once, each with its line and the fix; `recrawl config schema` prints the JSON schema for editors.

- **Units.** Amounts: `"50 MB"`, `"2 GiB"`, `"4 USD"`, `"2000 credits"`, `"10000 fetches"`,
  `"2 h"`. Times: `"1.5 s"`, `"10 min"`, `"12 h"`, `"90 d"`. Shares: `0.1` or `"10 %"`. 1 kB is
  1000 bytes, 1 KiB 1024.
- **Lists.** Where a list of texts is wanted, one text will do.
- **Environment.** `RECRAWL_SECTION__KEY` overrides a key: `RECRAWL_BUDGET__PER_DAY='100 MB'`.
- **Passwords** never stand in this file: `credentials_env` names the variable that holds them.
- **Budgets.** Several caps may bind at once, in different periods and units. A cap is spread
  evenly over what is left of its period; what a window does not use rolls over.
- **Patterns.** `include` and `exclude` are read as in robots.txt (`*` is anything, a last `$` the
  end), matched with path and query; `param:NAME` is any page with that query parameter.
- **Sites.** The first `[[site]]` whose `match` meets a page says what it is.

Only `project.seeds` is needed, and `project.contact` unless all seeds are on this machine.
"""

CLI = """\
# Commands

Data goes to stdout, words to stderr. `--json` prints one JSON object a line. Exit codes: 0 done,
1 failure, 2 usage or configuration, 3 nothing due, 4 alerts, 130 interrupted. `NO_COLOR` is
honoured; `RECRAWL_DEBUG=1` shows where an error came from.
"""

BENCHMARK = """\
# Policies side by side

Recorded by `python benchmarks/policies.py --traces DIR --json > benchmarks/policies.json`; every
draw has its seed. All policies but those named otherwise learn from cold, by the code that the
engine uses. Real histories are the times at which 37,001 public pages changed, in four windows of
a year, scored from day 30, at 0.03, 0.1 and 0.4 visits per page and day. **Relative staleness** is
the share of time in which copies are wrong beside even visits' (1 = the same, lower is better):
the geometric mean over windows and budgets. ± is the 95 % interval of the mean over five draws of
the pages. Rows without ± are of the first draw alone, with all their other figures: compare them
by the column `draw 1`. `seen` is the share of all changes that a visit found. `clairvoyant` has no
relative staleness: where it leaves nothing stale, a geometric mean says nothing.

The part with the real engine was recorded in a run of its own. All rows are of the learner before
the mend of its prior ([decision 8](decisions/0008-policies.md)), which took a hundredth off the
staleness of `freshness`.
"""

NOTES = {
    "synthetic": """\
Freshness as a share of the optimum for known rates (`plan.allocate`), by visits per page and day;
2,000 pages in 20 groups, lognormal rates, mixed values and costs. `wrong prior`: the default mean
gap is 200 times too short.""",
    "fast_web": "Half of the pages change twice a day to four times an hour.",
    "engine": """\
Engine, worker and store with made-up time and no network: freshness as a share of the simulator's
at the same budget.""",
    "unit": "All values and costs are 1.",
    "mixed": "Values of 1, 2, 4, 8; costs lognormal by group and page.",
    "not_modified": "Half of the groups answer an unchanged visit at 2 % of the cost.",
    "restless": """\
The same with validators that change 20 times as often as the records. `record`: 304s priced as if
validators changed with the records.""",
}

LIFECYCLE = """\
# The life of a URL

What each answer does to a page's state. Answers that say nothing of the page (a failure, a block,
robots.txt, what was lost in a crash) leave it as it is. GONE is believed after a 410, or after two
404s in a row, and never while most of a host disappears at once: then it is asked again first.
"""


def pages() -> dict[str, str]:
    """File name -> text of every page that is made."""
    return {
        "config.md": config(),
        "cli.md": cli(),
        "lifecycle.md": lifecycle(),
        "benchmark.md": benchmark(json.loads(FIGURES.read_text())),
    }


def benchmark(figures: dict[str, Any]) -> str:
    """The tables of `benchmarks/policies.py`, as its last recorded run printed them."""
    out = [MADE, BENCHMARK]
    for part, title in (
        ("synthetic", "Made-up webs"),
        ("fast_web", "Made-up webs, half of the pages fast"),
        ("engine", "The real engine beside the simulator"),
    ):
        budgets = list(figures[part])
        out.append(f"\n## {title}\n{NOTES[part]}\n\n| policy | {' | '.join(budgets)} |\n")
        out.append("|---" * (len(budgets) + 1) + "|\n")
        for name in figures[part][budgets[0]]:
            cells = " | ".join(f"{figures[part][b][name]:.4f}" for b in budgets)
            out.append(f"| `{name}` | {cells} |\n")
    for variant, rows in figures["traces"].items():
        out.append(f"\n## Real histories: {variant}\n{NOTES[variant]}\n\n")
        out += _histories(rows)
    return "".join(out)


COLUMNS = ("freshness", "of_clairvoyant", "events_captured", "age_days")


def _histories(rows: dict[str, Any]) -> Iterator[str]:
    yield "| policy | relative staleness | draw 1 | freshness | of clairvoyant "
    yield "| seen | age, days |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for name, row in sorted(rows.items(), key=lambda kv: kv[1]["relative_staleness"]):
        cells = " | ".join(f"{row[c]:.4f}" if c in row else "" for c in COLUMNS)
        mean, first = f"{row['relative_staleness']:.4f}", f"{row['by_seed'][0]:.4f}"
        if len(row["seeds"]) > 1:
            mean += f" ± {row['interval_95']:.4f}"
        if row["relative_staleness"] == 0.0:
            mean = first = ""
        yield f"| `{name}` | {mean} | {first} | {cells} |\n"
    kinds = rows["freshness"].get("staleness_by_class", {})
    if kinds:
        yield f"\n| staleness of | {' | '.join(kinds)} |\n{'|---' * (len(kinds) + 1)}|\n"
        for name in ("freshness", "harmonic", "uniform"):
            if name in rows:
                cells = " | ".join(f"{x:.3f}" for x in rows[name]["staleness_by_class"].values())
                yield f"| `{name}` | {cells} |\n"


def config() -> str:
    """The reference of the project file, from its JSON schema."""
    schema = json_schema()
    return MADE + CONFIG + "".join(_section("", schema, schema["$defs"]))


def _section(path: str, section: dict[str, Any], defs: dict[str, Any]) -> Iterator[str]:
    """The keys of a section as a table, then the sections within it."""
    rows, inner = [], []
    for key, value in section["properties"].items():
        name, table = _table(f"{path}.{key}".lstrip("."), value, defs)
        if table is None:
            rows.append(f"| `{key}` | {_default(value)} | {_meaning(value)} |\n")
        else:
            inner.append((name, table))
    if path:
        heading = f"[[{path}]]" if path == "site" else f"[{path}]"
        yield f"\n## `{heading}`\n{section['description']}\n"
    if rows:
        yield "\n| key | default | what it is |\n|---|---|---|\n"
        yield from rows
    for name, table in inner:
        yield from _section(name, table, defs)


def _table(
    path: str, value: dict[str, Any], defs: dict[str, Any]
) -> tuple[str, dict[str, Any] | None]:
    """The section that stands at a key, if one does; tables by name get NAME into their path."""
    shapes = [value, *value.get("anyOf", ())]
    for shape in shapes:
        for name, holder in (
            (path, shape),
            (path, shape.get("items")),
            (f"{path}.NAME", shape.get("additionalProperties")),
        ):
            if isinstance(holder, dict) and "$ref" in holder:
                return name, defs[holder["$ref"].rpartition("/")[2]]
    return path, None


def _default(value: dict[str, Any]) -> str:
    default = value.get("default")
    if default in (None, [], {}, ""):
        return ""
    return f"`{str(default).lower()}`" if isinstance(default, bool) else f"`{default}`"


def _meaning(value: dict[str, Any]) -> str:
    """A key's description, the words it may be, and an example where neither tells."""
    shapes = [value, *value.get("anyOf", ())]
    text = str(value["description"])
    free = any(s.get("type") == "number" for s in shapes)
    enum = next((s["enum"] for s in shapes if "enum" in s and not free), None)
    if enum:
        text += f" One of {', '.join(f'`{word}`' for word in enum)}."
    example = next((s["examples"][0] for s in shapes if "examples" in s), None)
    if example is not None and not value.get("default"):
        text += f" Example: `{example}`."
    return text.replace("|", "\\|").replace("\n", " ")


def cli() -> str:
    """Every command with its arguments and options, as its `--help` says them."""
    group = typer.main.get_command(app)
    return MADE + CLI + "".join(_command("recrawl", group))


def _command(name: str, command: Any) -> Iterator[str]:
    """A command's texts and a table of what it takes; a group is its commands."""
    inner = getattr(command, "commands", {})
    for word, one in inner.items():
        yield from _command(f"{name} {word}", one)
    if inner:
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    takes = "".join(f" {p.metavar}{'...' if p.nargs == -1 else ''}" for p in arguments)
    yield f"\n## `{name}{takes}`\n{command.help}\n"
    yield "\n| takes | default | what it is |\n|---|---|---|\n"
    for param in command.params:
        yield f"| {_names(param)} | {_start(param)} | {param.help} |\n"


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar}`".replace("|", "\\|")
    value = f" {param.metavar}" if param.metavar else ""
    return ", ".join(f"`{name}{value}`" for name in (*param.opts, *param.secondary_opts))


def _start(param: Any) -> str:
    """The default where there is one to know of: flags are off unless they have an opposite."""
    if param.default in (None, "", False):
        return ""
    return f"`{param.opts[0]}`" if param.default is True else f"`{param.default}`"


def lifecycle() -> str:
    """The table of moves as a picture and as a table."""
    return MADE + LIFECYCLE + f"\n```mermaid\n{diagram()}```\n" + _moves()


def _moves() -> str:
    """One row a state, one column an answer that can move it."""
    answers = {"read": Verdict.CHANGED, "gone, confirmed": Verdict.GONE, "moved": Verdict.MOVED}
    rows = [
        f"| {state.word} | "
        + " | ".join(MOVES[state, verdict, True].word for verdict in answers.values())
        + f" | {MOVES[state, Verdict.FAILED, True].word} |\n"
        for state in State
    ]
    head = f"\n| state | {' | '.join(answers)} | anything else |\n|---|---|---|---|---|\n"
    return head + "".join(rows)


if __name__ == "__main__":
    for file, content in pages().items():
        (HERE / file).write_text(content, encoding="utf-8")
        print(f"docs/{file}")
