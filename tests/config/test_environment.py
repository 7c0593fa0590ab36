"""RECRAWL_SECTION__KEY overrides the file, and mistakes name the variable."""

from __future__ import annotations

import os
import subprocess
import sys

from recrawl.config import Cap
from recrawl.units import Unit


def test_overrides_reach_every_kind_of_value(read):
    s = read(
        '[budget]\nper_day = "1 MB"\n[tariff.Res]\nunit = "bytes"\n',
        {
            "RECRAWL_BUDGET__PER_DAY": "4 USD",
            "RECRAWL_BUDGET__RESERVES__DISCOVERY": "0.3",
            "RECRAWL_TARIFF__RES__PRICE": "8 USD/GB",
            "RECRAWL_LIMITS__DEPTH": "2",
            "RECRAWL_PROJECT__SEEDS": '["https://a.example/", "https://b.example/"]',
            "RECRAWL_PROJECT__ALLOW_PRIVATE": "true",
            "RECRAWL_URLS__TRACKING__ADD": "ref",
            "RECRAWL_POLITENESS__JITTER": "10 %",
        },
    )
    assert s.budget.per_day == (Cap(Unit.USD, 4_000_000),)
    assert s.budget.discovery == 0.3
    assert [(t.name, t.price_micro_usd) for t in s.tariffs] == [("Res", 8_000_000)]
    assert s.limits.depth == 2
    assert s.project.seeds == ("https://a.example/", "https://b.example/")
    assert s.project.allow_private
    assert s.urls.tracking_add == ("ref",)
    assert s.politeness.jitter == 0.1


def test_other_variables_are_none_of_ours(read):
    environ = {"RECRAWL_DEBUG": "1", "RECRAWL_X": "y", "XRECRAWL_BUDGET__PER_DAY": "x", "PATH": ""}
    assert read("", environ) == read()


def test_mistakes_name_the_variable(wrong):
    messages = wrong(
        '[limits]\ndepth = 3\n[[site]]\nmatch = "a.example"\n',
        {
            "RECRAWL_BUDGT__PER_DAY": "4 MB",
            "RECRAWL_BUDGET__PER_DYA": "4 MB",
            "RECRAWL_LIMITS__DEPTH": "deep",
            "RECRAWL_SITE__0__VALUE": "high",
            "RECRAWL_PROJECT__SEEDS": '["unclosed',
        },
    )
    assert sorted(messages) == [
        "$RECRAWL_BUDGET__PER_DYA: unknown key; did you mean 'per_day'?",
        "$RECRAWL_BUDGT__PER_DAY: unknown key; did you mean 'budget'?",
        "$RECRAWL_LIMITS__DEPTH: 'deep' is not a whole number; write it as in 5",
        '$RECRAWL_PROJECT__SEEDS: \'["unclosed\' is not a list; write ["...", "..."]',
        "$RECRAWL_SITE__0__VALUE: can't reach into a list; edit the file",
    ]


def test_a_right_override_does_not_hide_the_mistake_of_the_file(wrong):
    (message,) = wrong('[limits]\ndepth = "deep"\n', {"RECRAWL_LIMITS__PAGES": "3"})
    assert message.startswith("recrawl.toml:5: limits.depth: ")


def test_an_override_mends_a_mistake_of_the_file(read):
    assert read('[limits]\ndepth = "deep"\n', {"RECRAWL_LIMITS__DEPTH": "1"}).limits.depth == 1


def test_the_process_environment_counts(tmp_path):
    (tmp_path / "recrawl.toml").write_text('[project]\nseeds = ["http://127.0.0.1/"]\n')
    code = (
        "from pathlib import Path; from recrawl.config import load;"
        "print(load(Path('recrawl.toml')).limits.depth)"
    )
    environ = {**os.environ, "RECRAWL_LIMITS__DEPTH": "4"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("4\n", "")
