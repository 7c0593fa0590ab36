"""The commented project file that `recrawl init` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence


def example_toml(
    seeds: Sequence[str],
    contact: str = "",
    *,
    name: str = "",
    budget: Sequence[str] = (),
    price: str = "",
    delay: str = "",
    exclude: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The text of a recrawl.toml, every key shown once: set, or commented with its default.

    `budget` are caps per day ('500 MB', '4 USD'); `price` is what a GB or a credit costs, as in
    '8 USD/GB'; `notes` are what was seen on the site, one line each. An empty contact is left as
    a commented line that must be filled in.
    """
    reach = f"contact = {_toml(contact)}" if contact else '# contact = "you@example.com"'
    daily = f"per_day = {_toml(list(budget))}" if budget else '# per_day = ["500 MB"]'
    unit = "credits" if "credit" in price else "bytes"
    tariff = f'[tariff.default]\nunit = "{unit}"\nprice = {_toml(price)}' if price else _NO_TARIFF
    return _TEXT.format(
        name=_toml(name or "crawl"),
        contact=reach,
        seeds=_toml(list(seeds)),
        notes="".join(f"# {note}\n" for note in _one_line(notes)),
        daily=daily,
        tariff=tariff,
        delay=f"delay = {_toml(delay)}" if delay else '# delay = "1.5 s"',
        exclude=f"exclude = {_toml(list(exclude))}" if exclude else "# exclude = []",
    )


def _toml(value: str | list[str]) -> str:
    """A JSON text or list of texts is TOML too, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(notes: Sequence[str]) -> list[str]:
    return ["".join(c if c.isprintable() else " " for c in note) for note in notes]


_NO_TARIFF = """\
# [tariff.default]
# unit = "bytes"
# price = "8 USD/GB\""""

_TEXT = """\
# A recrawl project. Commented keys show their defaults. Check this file: recrawl config check
# Any key can be overridden by the environment: RECRAWL_BUDGET__PER_DAY="100 MB"
{notes}
[project]
name = {name}
# How sites can reach you: a mail address or a page about your crawler. Needed for the open web.
{contact}
seeds = {seeds}
# freshness: copies as fresh as the budget allows. harmonic: no page is left behind.
# age: no error grows old. events: see every change.
goal = "freshness"
# policy = "index"            # the goal's own; for comparison, one of docs/policies.md: "uniform"
# order = "fifo"              # first pass: fifo, lifo or priority
# honour_nofollow = true
# respect_robots = true
# allow_private = false       # may links lead to private addresses?

[budget]
# At most this much, in one unit or several: "500 MB", "4 USD", "2000 credits", "10000 fetches",
# "2 h". Also per_run, per_hour, per_week and per_month. Without any, a run is one pass.
{daily}
# window = "1 h"              # how often a plan is made
# min_gap = "10 min"          # no page again sooner
# max_gap = "90 d"            # no page waits longer
# reserves = {{ discovery = 0.10, reestimation = 0.05, verification = 0.03 }}

# What traffic costs. Without a tariff, bytes are counted but have no price.
{tariff}

# A proxy, its 'user:password' in an environment variable. Sites name it: route = "proxy"
# [route.proxy]
# proxy = "http://proxy.example:8000"
# credentials_env = "PROXY_LOGIN"

[politeness]
{delay}
# concurrency = 1             # requests to one host at once
# total_concurrency = 32
# jitter = 0.1

[limits]
# depth = 6                   # links from a seed
# per_host = 50000            # pages; no limit unless set
# pages = 1000000             # in all
# bytes = "20 GB"             # of the whole project; also money, credits, fetches, time
# body = "8 MB"               # of one answer
# total_time = "60 s"         # for one answer

[urls]
# profile = "default"         # or safe, aggressive: how boldly addresses are merged
# include = []                # only these, in robots syntax
{exclude}
# Leave out pages with a parameter: exclude = ["/calendar/", "param:sort"]
# unsorted_hosts = []         # where the order of parameters matters
# tracking = {{ add = [], keep = [] }}

# What pages are and are worth, by host and path.
# [[site]]
# match = "example.com/item/*"
# type = "item"
# value = "high"              # critical, high, normal, low, or a number
# fields = {{ price = "jsonld:offers.price", name = "css:h1" }}
# between = ["10 min", "30 d"]

# Options of policies that are there to be compared with.
# [policy]
# backoff = {{ start = "7 d", floor = "1 d", ceiling = "365 d" }}
# classes = {{ intervals = ["1 h", "1 d", "7 d", "30 d"] }}

# [store]
# path = "recrawl.db"
"""
