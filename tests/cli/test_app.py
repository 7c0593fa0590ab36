"""The way in: help, exit codes, streams, and no tracebacks whatever comes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl import __version__
from recrawl.cli import app as entry
from recrawl.cli.errors import UsageError, explain
from recrawl.cli.output import clean, json_line
from recrawl.ports import StoreError
from recrawl.units import UnitError

COMMANDS = [
    "demo", "init", "run", "plan", "why", "report", "reconcile", "simulate", "pages", "hosts",
    "frontier", "ledger", "changes", "export", "url", "robots", "audit", "config", "sources",
]  # fmt: skip
READING = ["report", "pages", "hosts", "frontier", "ledger", "changes"]


def python(*arguments: str, **more) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, timeout=60, **more)


def test_help_names_every_command(recrawl):
    result = recrawl("--help")
    assert result.code == 0
    for command in COMMANDS:
        assert recrawl(command, "--help").code == 0
    listed = re.findall(r"^  (\w+) ", result.out.partition("Commands:")[2], re.MULTILINE)
    assert listed == COMMANDS


def test_no_line_of_the_list_of_commands_is_cut(recrawl):
    """A summary has some 60 characters."""
    assert "..." not in recrawl("--help").out.partition("Commands:")[2]


def test_no_command_shows_help_and_is_a_usage_error(recrawl):
    result = recrawl()
    assert result.code == 2
    assert "Commands:" in result.out + result.err


def test_version(recrawl):
    result = recrawl("--version")
    assert (result.code, result.out) == (0, f"recrawl {__version__}\n")


@pytest.mark.parametrize(
    "arguments", [["rport"], ["--nope"], ["pages", "extra"], ["robots"], ["config", "chekc"]]
)
def test_usage_errors_are_2_and_on_stderr(recrawl, arguments):
    result = recrawl(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Usage: recrawl" in result.err
    assert "Error: " in result.err


@pytest.mark.parametrize("command", [*READING, "export records"])
def test_without_a_project_file_the_way_out_is_named(recrawl, command):
    result = recrawl(*command.split())
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "recrawl.toml: no such file; make one with `recrawl init URL`, or name it with --config\n"
    )


@pytest.mark.parametrize("command", [*READING, "export records"])
def test_without_a_store_nothing_was_crawled_yet(shop, tmp_path, command):
    for path in tmp_path.glob("recrawl.db*"):
        path.unlink()
    result = shop(*command.split())
    assert (result.code, result.out) == (1, "")
    assert "nothing was crawled yet; start with `recrawl run`" in result.err
    assert not (tmp_path / "recrawl.db").exists()


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("content", [b"", b"junk" * 500, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_store_that_is_none_is_named(shop, tmp_path, command, content):
    for path in tmp_path.glob("recrawl.db*"):
        path.unlink()
    (tmp_path / "recrawl.db").write_bytes(content)
    result = shop(command)
    assert (result.code, result.out) == (1, "")
    assert "recrawl.db" in result.err
    assert len(result.err.splitlines()) == 1


def test_every_mistake_of_the_project_file_is_reported(shop, tmp_path):
    (tmp_path / "recrawl.toml").write_text("[project]\nnme = 1\n[limits]\ndepth = -1\n")
    result = shop("report")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        'recrawl.toml:1: project.seeds: missing; write seeds = ["https://example.com/"]',
        "recrawl.toml:2: project.nme: unknown key; did you mean 'name'?",
        "recrawl.toml:4: limits.depth: -1 is out of range; write 0 or more",
        "3 mistakes",
    ]


def test_config_check(shop, tmp_path):
    result = shop("config", "check")
    assert result.code == 0
    assert result.out == "recrawl.toml: no mistakes (1 seed, 1 site entry, goal freshness)\n"
    (row,) = shop("config", "check", "--json").rows
    assert row == {"file": "recrawl.toml", "ok": True, "mistakes": [], "advice": []}
    (tmp_path / "bad.toml").write_text("[project\n")
    assert shop("config", "check", "-c", "bad.toml").code == 2
    bad = shop("config", "check", "-c", "bad.toml", "--json")
    assert bad.code == 2
    assert bad.rows[0]["ok"] is False
    assert bad.rows[0]["mistakes"][0].startswith("bad.toml:1: not TOML")


def test_config_check_gives_advice_on_stderr(shop, tmp_path):
    text = (tmp_path / "recrawl.toml").read_text().replace("/calendar/", "/*?sort=")
    (tmp_path / "recrawl.toml").write_text(text)
    result = shop("config", "check")
    assert result.code == 0
    assert "note: urls.exclude: '/*?sort='" in result.err


def test_config_schema(recrawl):
    assert "project" in json.loads(recrawl("config", "schema").out)["properties"]
    line = recrawl("config", "schema", "--json").out
    assert line.count("\n") == 1 and "project" in json.loads(line)["properties"]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("write x"), 2, "Error: write x"),
        (UnitError("no unit"), 2, "Error: no unit"),
        (StoreError("store.db: damaged"), 1, "Error: store.db: damaged"),
        (PermissionError(13, "Permission denied", "f.db"), 1, "Error: f.db: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("odd \x1b[31m"), 1, "Error: ValueError: odd \\x1b[31m"),
        (RecursionError("deep"), 1, "Error: RecursionError: deep"),
        (MemoryError(), 1, "Error: MemoryError: "),
    ],
)
def test_every_error_is_one_clear_line(error, code, line, capsys):
    assert explain(error) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == line


def test_an_unforeseen_error_says_how_to_see_more(monkeypatch, capsys):
    explain(ValueError("odd"))
    err = capsys.readouterr().err
    assert "RECRAWL_DEBUG=1" in err
    assert "Traceback" not in err
    monkeypatch.setenv("RECRAWL_DEBUG", "1")
    explain(ValueError("odd"))
    assert "ValueError: odd" in capsys.readouterr().err


def test_an_error_inside_a_command_reaches_no_user_as_traceback(shop, monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("recrawl.report.by_host", broken)
    result = shop("frontier")
    assert result.code == 1
    assert result.err.startswith("Error: ZeroDivisionError: division by zero\n")


def test_exit_codes_of_commands_pass_through(monkeypatch, capsys):
    for code in (0, 3, 4):
        monkeypatch.setattr(entry, "app", lambda *a, code=code, **k: code)
        assert entry.run([]) == code


def test_the_module_runs_as_a_program():
    done = python("-m", "recrawl", "url", "http://a.example/../b")
    assert done.returncode == 0
    assert done.stdout.startswith(b"http://a.example/b\t")
    assert python("-m", "recrawl", "nonsense").returncode == 2


HEAVY = "numpy pydantic rich sqlite3 pycurl ada_url protego selectolax asyncio ssl http logging"


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from recrawl.cli.app import run; run(['--help']);"
        f"print([m for m in {HEAVY.split()} if m in sys.modules], file=sys.stderr)"
    )
    assert python("-c", code).stderr.decode().strip() == "[]"


def test_a_closed_pipe_is_no_error(shop, tmp_path):
    many = "".join(f"http://a.example/{i}\n" for i in range(50_000))
    (tmp_path / "urls").write_text(many)
    command = '"$0" -m recrawl url < urls | head -1; echo ${PIPESTATUS[0]}'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable],
        capture_output=True, cwd=tmp_path, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"


def test_an_interrupt_exits_130(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-u", "-m", "recrawl", "url"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"http://a.example/\n")
    child.stdin.flush()
    assert child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_encoding_will_do(tmp_path, encoding):
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = python("-m", "recrawl", "url", "--json", "http://é☃.example/", "x\udcff", env=environ)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line.decode(encoding)) for line in done.stdout.splitlines()]
    assert rows[0]["input"] == "http://é☃.example/"
    assert rows[1]["refused"] == "invalid URL"


def test_no_colour_off_a_terminal(shop):
    assert "\x1b" not in shop("pages").out + shop("report").out


@pytest.mark.skipif(not Path("/usr/bin/script").exists(), reason="needs script(1)")
@pytest.mark.parametrize("no_color", ["", "1"])
def test_no_color_is_honoured_on_a_terminal(shop, tmp_path, no_color):
    environ = {**os.environ, "NO_COLOR": no_color, "TERM": "xterm-256color", "COLUMNS": "120"}
    done = subprocess.run(
        ["script", "-qec", f"{sys.executable} -m recrawl frontier", "/dev/null"],
        capture_output=True, cwd=tmp_path, env=environ, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert b"shop.example" in done.stdout
    assert b"\x1b[1m" in done.stdout  # a terminal gets its bold headings
    if no_color:
        assert not re.search(rb"\x1b\[[0-9;]*(?:3[0-8]|9[0-7])m", done.stdout)


def test_clean_and_json_line():
    assert clean("plain é☃") == "plain é☃"
    assert clean("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\\n"
    line = json_line({"x": float("nan"), "y": [float("inf"), b"\xff"], 1: (1,)})
    assert json.loads(line) == {"x": None, "y": [None, "ff"], "1": [1]}
