"""The commands that spend, on a real site of this machine: run, plan, why, init, demo."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recrawl.cli.crawling import exit_code
from recrawl.config import load
from recrawl.progress import Ended, Progress
from recrawl.stores import SqliteStore
from servers.site import Site, linked

DONE, FAILURE, USAGE, NOTHING_DUE, INTERRUPTED = 0, 1, 2, 3, 130
RULES = "User-agent: *\nDisallow: /secret\nSitemap: /map.xml\n"


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {**linked(12), "/robots.txt": RULES}
    pages["/"] += '<a href="/secret">s</a><a href="https://elsewhere.example/">e</a>'
    with Site(pages) as running:
        yield running


def toml(site: Site, *more: str, delay: str = "0 s", per_day: str = "") -> str:
    budget = f'[budget]\nper_day = "{per_day}"\n' if per_day else ""
    return (
        f'[project]\nname = "site"\nseeds = ["{site.origin}/"]\n{budget}'
        f'[politeness]\ndelay = "{delay}"\nconcurrency = 4\n' + "\n".join(more)
    )


@pytest.fixture
def ready(site: Site, recrawl: Any, tmp_path: Path) -> Any:
    """Run commands in a folder whose project is that site, without a budget."""
    (tmp_path / "recrawl.toml").write_text(toml(site))
    return recrawl


# run


def test_run_reads_the_site_and_says_what_it_did(ready: Any, site: Site) -> None:
    done = ready("run", "--json")
    assert done.code == DONE
    (row,) = done.rows
    assert (row["ended"], row["visits"], row["new"], row["robots"]) == ("done", 14, 13, 1)
    assert row["discovered"] == 13 and row["failed"] == 0
    assert row["spend"]["bytes"] > 14 * 100 and row["spend"]["fetches"] == 14
    assert Counter(site.asked) == dict.fromkeys(
        ["/robots.txt", "/", *map("/{}".format, range(12))], 1
    )


def test_run_again_compares(ready: Any, site: Site) -> None:
    ready("run")
    site.pages["/4"] = "<p>another text</p>"
    (row,) = ready("run", "--json").rows
    assert (row["changed"], row["unchanged"], row["new"]) == (1, 12, 0)
    changes = ready("changes", "--json").rows
    assert any(c["url"] == f"{site.origin}/4" for c in changes)


def test_run_says_in_words_what_it_says_in_json(ready: Any) -> None:
    done = ready("run")
    assert done.out == "", "words go to stderr"
    assert "14 visits" in done.err.replace(",", "") and "done" in done.err


def test_nothing_due_exits_three_and_says_when(recrawl: Any, site: Site, tmp_path: Path) -> None:
    (tmp_path / "recrawl.toml").write_text(toml(site, per_day="50 MB"))
    assert recrawl("run").code == DONE
    again = recrawl("run", "--json")
    assert again.code == NOTHING_DUE
    (row,) = again.rows
    assert row["ended"] == "nothing due" and row["next_due"] and row["reason"]


def test_every_mistake_of_the_file_is_told_and_exits_two(recrawl: Any, tmp_path: Path) -> None:
    (tmp_path / "recrawl.toml").write_text('[project]\nname = 3\nseeds = ["ftp://x/"]\n[what]\n')
    done = recrawl("run")
    assert done.code == USAGE
    assert done.err.count("recrawl.toml") >= 3
    assert not (tmp_path / "recrawl.db").exists()


def test_no_file_and_bad_durations_exit_two(recrawl: Any, ready: Any) -> None:
    assert recrawl("run", "--config", "nowhere.toml").code == USAGE
    said = ready("run", "--for", "soon")
    assert said.code == USAGE and "--for" in said.err


def test_run_for_a_time_goes_on_that_long(ready: Any) -> None:
    began = time.monotonic()
    done = ready("run", "--for", "1 s", "--json")
    assert done.code == DONE and 0.9 < time.monotonic() - began < 5
    assert done.rows[0]["ended"] == "time is up"


@pytest.mark.parametrize(
    ("ended", "code"),
    [(Ended.DONE, DONE), (Ended.LIMIT, DONE), (Ended.TIME, DONE), (Ended.NOTHING_DUE, NOTHING_DUE),
     (Ended.INTERRUPTED, INTERRUPTED)],
)  # fmt: skip
def test_how_a_run_ended_is_its_exit_code(ended: Ended, code: int) -> None:
    assert exit_code(Progress(ended=ended)) == code


def test_a_site_that_is_not_there_is_no_crash(recrawl: Any, tmp_path: Path) -> None:
    with Site({}) as gone:
        text = toml(gone)
    (tmp_path / "recrawl.toml").write_text(text)
    done = recrawl("run", "--json")
    assert done.code in (DONE, FAILURE, NOTHING_DUE)
    assert done.rows[0]["failed"] >= 1


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_finishes_what_is_in_flight_and_exits_130(
    tmp_path: Path, signum: signal.Signals
) -> None:
    pages = linked(40)
    with Site(pages, delay=0.05) as site:
        (tmp_path / "recrawl.toml").write_text(toml(site, delay="100 ms"))
        process = subprocess.Popen(
            [sys.executable, "-m", "recrawl", "run", "--json", "--quiet"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "COLUMNS": "200"},
        )  # fmt: skip
        try:
            deadline = time.monotonic() + 20
            while len(site.asked) < 5 and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signum)
            out, err = process.communicate(timeout=10)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == INTERRUPTED, err
        assert "Traceback" not in err
        row = json.loads(out)
        assert row["ended"] == "interrupted" and 4 <= row["visits"] < 42
        store = SqliteStore.open(tmp_path / "recrawl.db", create=False, read_only=True)
        assert store.open_reservations() == []
        assert len(list(store.entries())) == row["visits"] == len(site.asked)
        store.close()


# plan


def test_plan_without_a_sample_fetches_nothing(ready: Any, site: Site) -> None:
    ready("run")
    before = len(site.asked)
    done = ready("plan", "--no-sample", "--json")
    assert len(site.asked) == before
    assert done.code == DONE
    *rows, summary = done.rows
    assert len(rows) == 13 == summary["visits"]
    assert {r["url"] for r in rows} == {
        f"{site.origin}/",
        *(f"{site.origin}/{i}" for i in range(12)),
    }
    assert [r["score"] for r in rows] == sorted((r["score"] for r in rows), reverse=True)
    assert all(r["score"] == pytest.approx(r["gain"] / r["price"]) for r in rows)
    assert summary["forecast"]["pages"] == 13
    again = ready("plan", "--no-sample", "--json")
    assert {r["url"] for r in again.rows[:-1]} == {r["url"] for r in rows}, "nothing was written"


def test_plan_reads_a_sample_first_where_little_is_known(ready: Any, site: Site) -> None:
    done = ready("plan", "--json")
    assert 1 <= len(site.asked) <= 21
    assert done.rows[-1]["forecast"]["read"] >= 12
    assert len(ready("ledger", "--json").rows) == len(site.asked), "booked like any visit"


def test_plan_shows_as_many_as_asked_for(ready: Any) -> None:
    ready("run")
    assert len(ready("plan", "--no-sample", "--limit", "3", "--json").rows) == 4
    text = ready("plan", "--no-sample", "--limit", "2")
    assert "13 visits" in text.out and "pages known" in text.out


def test_plan_before_anything_was_crawled_says_what_to_do(ready: Any) -> None:
    done = ready("plan", "--no-sample")
    assert done.code in (DONE, FAILURE, NOTHING_DUE)
    assert done.out + done.err


def test_plan_says_what_a_budget_can_keep_fresh(recrawl: Any, site: Site, tmp_path: Path) -> None:
    (tmp_path / "recrawl.toml").write_text(toml(site, per_day="50 MB"))
    recrawl("run")
    told = recrawl("plan", "--no-sample", "--json")
    assert told.code == NOTHING_DUE
    forecast = told.rows[-1]["forecast"]
    assert [f["times"] for f in forecast["fresh"]] == [0.5, 1.0, 2.0]
    assert all(0 <= f["even"] <= f["best"] + 1e-9 <= 1 + 1e-8 for f in forecast["fresh"])
    assert "x the budget" in recrawl("plan", "--no-sample").out


# why


def test_why_tells_the_story_of_a_page(ready: Any, site: Site) -> None:
    ready("run")
    done = ready("why", f"{site.origin}/3")
    assert done.code == DONE
    for words in (
        "state",
        "live",
        "chance stale now",
        "a visit costs",
        "score",
        "robots.txt: allowed",
    ):
        assert words in done.out
    (row,) = ready("why", f"{site.origin}/3", "--json").rows
    assert row["known"] and row["state"] == "live" and row["visits"] == 1
    assert row["history"][0]["verdict"] == "new"


def test_why_of_what_is_no_page(ready: Any, site: Site) -> None:
    ready("run")
    unknown = ready("why", f"{site.origin}/never")
    assert unknown.code == FAILURE and "not known yet" in unknown.out
    outside = ready("why", "https://elsewhere.example/")
    assert outside.code == FAILURE and "outside the project's sites" in outside.out
    bad = ready("why", "ftp://x.example/", "--json")
    assert bad.code == FAILURE and "no page can have this address" in bad.rows[0]["answer"]
    forbidden = ready("why", f"{site.origin}/secret")
    assert forbidden.code == DONE and "robots.txt forbids it" in forbidden.out


def test_why_before_the_first_run_says_to_run(ready: Any, site: Site) -> None:
    done = ready("why", f"{site.origin}/")
    assert done.code == FAILURE and "recrawl run" in done.err


# init


def test_init_writes_a_file_that_is_a_project(recrawl: Any, site: Site, tmp_path: Path) -> None:
    done = recrawl(
        "init",
        site.origin,
        "--budget",
        "50 MB",
        "--price",
        "8 USD/GB",
        "--delay",
        "10 ms",
        "--json",
    )
    assert done.code == DONE, done.err
    (row,) = done.rows
    assert row["sitemaps"] and row["bytes"] > 0
    assert row["forecast"]["read"] == 13 and row["forecast"]["pass_micro_usd"] > 0
    text = (tmp_path / "recrawl.toml").read_text()
    settings = load(tmp_path / "recrawl.toml")
    assert settings.project.seeds == (f"{site.origin}/",)
    assert text.count("#") > 10, "it is commented"
    assert settings.politeness.delay == 0.01
    assert recrawl("config", "check").code == DONE
    assert recrawl("run").code in (DONE, NOTHING_DUE)


def test_init_says_what_a_pass_costs_and_what_binds(recrawl: Any, site: Site) -> None:
    done = recrawl("init", site.origin, "--budget", "50 MB", "--delay", "0 s")
    assert done.code == DONE
    for words in ("pages known", "one pass over them", "what binds is", "x the budget"):
        assert words in done.out
    assert "wrote recrawl.toml" in done.err and "robots.txt: read" in done.err


def test_init_refuses_to_overwrite(recrawl: Any, site: Site, tmp_path: Path) -> None:
    (tmp_path / "recrawl.toml").write_text("mine")
    done = recrawl("init", site.origin, "--no-sample")
    assert done.code == USAGE and "--force" in done.err
    assert (tmp_path / "recrawl.toml").read_text() == "mine"
    assert site.asked == []
    assert recrawl("init", site.origin, "--no-sample", "--force").code == DONE
    assert load(tmp_path / "recrawl.toml").project.seeds


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("https://shop.example/",), "--contact"),
        (("ftp://x.example/", "--contact", "a@b.example"), "no address to crawl"),
        (("https://u:p@x.example/", "--contact", "a@b.example"), "user and password"),
    ],
)
def test_init_refuses_what_can_be_no_project(
    recrawl: Any, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = recrawl("init", *arguments, "--no-sample")
    assert done.code == USAGE and words in done.err
    assert list(tmp_path.iterdir()) == []


def test_init_leaves_nothing_behind_of_a_budget_that_is_none(
    recrawl: Any, site: Site, tmp_path: Path
) -> None:
    done = recrawl("init", site.origin, "--budget", "lots", "--no-sample")
    assert done.code == USAGE and "lots" in done.err
    assert list(tmp_path.iterdir()) == []


# demo


def test_demo_refuses_a_folder_that_holds_one(recrawl: Any, tmp_path: Path) -> None:
    (tmp_path / "demo.db").write_bytes(b"")
    done = recrawl("demo", "--keep", tmp_path, "--quiet")
    assert done.code == USAGE and "empty folder" in done.err


@pytest.mark.slow
def test_demo_prints_its_figures(recrawl: Any) -> None:
    done = recrawl("demo", "--seed", "2", "--quiet", "--json")
    assert done.code == DONE
    (row,) = done.rows
    assert set(row["freshness"]) == {"now", "best", "even"}
    assert all(0 < x < 1 for x in row["freshness"].values())
    assert set(row["usd_per_change"]) == {"ours", "even"}
    assert row["visits"] > 2000 and row["changes"] > 1000 and 0 < row["seconds"] < 300
