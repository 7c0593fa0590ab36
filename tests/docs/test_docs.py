"""The documentation says what there is: made pages are up to date, every word is explained."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from recrawl.cli.app import app
from recrawl.config import example_toml, json_schema, load
from recrawl.model import Blame, Kind, Purpose, Refused, State, Verdict
from recrawl.plan.policies import get_policy, policy_names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", *DOCS.rglob("*.md")])


def maker():
    spec = importlib.util.spec_from_file_location("docs_make", DOCS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands() -> dict[str, object]:
    """'config check' -> the command, of all that there are."""
    import typer

    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        inner = getattr(command, "commands", {})
        found |= {f"{name} {word}": one for word, one in inner.items()} or {name: command}
    return found


def keys(node: dict, defs: dict) -> set[str]:
    """Every key of a JSON schema, at whatever depth."""
    return {
        *node.get("properties", {}),
        *(k for d in defs.values() for k in d.get("properties", {})),
    }


@pytest.mark.parametrize("name", ["config.md", "cli.md", "lifecycle.md", "benchmark.md"])
def test_made_pages_are_up_to_date(name):
    made = maker().pages()
    assert (DOCS / name).read_text() == made[name], "run: python docs/make.py"


def test_every_page_that_is_made_is_checked():
    assert set(maker().pages()) == {"config.md", "cli.md", "lifecycle.md", "benchmark.md"}


def test_every_command_and_option_is_documented():
    text = (DOCS / "cli.md").read_text()
    for name, command in commands().items():
        section = text.partition(f"\n## `recrawl {name}")[2].partition("\n## ")[0]
        assert section, name
        for param in command.params:
            shown = param.opts[0] if param.param_type_name == "option" else param.metavar
            assert shown.replace("|", "\\|") in section, (name, shown)
            assert param.help, (name, shown)


def test_every_key_of_the_project_file_is_documented_and_described():
    schema = json_schema()
    text = (DOCS / "config.md").read_text()
    for name, section in schema["$defs"].items():
        for key, value in section.get("properties", {}).items():
            if "$ref" in str(value):
                assert re.search(rf"^## `\[+[\w.]*{key}\b", text, re.MULTILINE), f"{name}.{key}"
            else:
                assert value.get("description"), f"{name}.{key}"
                assert f"\n| `{key}` |" in text, f"{name}.{key}"
    for section in ("project", "budget", "limits", "politeness", "urls", "store"):
        assert f"\n## `[{section}]`" in text


def test_every_section_of_the_example_is_in_the_reference():
    """The keys that `init` writes, commented ones too, are keys that the reference knows."""
    text = (DOCS / "config.md").read_text()
    known = keys(json_schema(), json_schema()["$defs"])
    example = example_toml(["https://a.example/"])
    written = set(re.findall(r"^#? ?([a-z_]+) = ", example, re.MULTILINE))
    assert len(written) > 30
    assert written <= known
    assert all(f"`{key}`" in text or f".{key}]" in text for key in written)


@pytest.mark.parametrize("enum", [State, Purpose, Verdict, Refused])
def test_every_word_is_in_the_glossary(enum):
    text = (DOCS / "glossary.md").read_text()
    words = [member.word if hasattr(member, "word") else member.value for member in enum]
    rows = {line.split("|")[1].strip().strip("`") for line in text.splitlines() if "|" in line}
    assert [word for word in words if word not in rows] == []


def test_every_way_to_fail_is_documented():
    text = (DOCS / "faults.md").read_text()
    assert [kind.value for kind in Kind if f"\n| `{kind.value}` |" not in text] == []
    assert [blame.value for blame in Blame if f"`{blame.value}`" not in text] == []


@pytest.mark.parametrize("name", policy_names())
def test_every_policy_is_documented(name):
    text = (DOCS / "policies.md").read_text()
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert get_policy(name).name == name
    assert re.search(r"\d\.\d|\d %", section), "figures"
    if name != "uniform":
        assert "Loses when" in section


def test_every_command_of_the_readme_exists():
    shown = set(re.findall(r"recrawl ([a-z]+(?: check| schema)?)(?=[ `\n])", README))
    words = {name for command in commands() for name in (command, command.split()[0])}
    named = {word for word in shown if word in words}
    assert {"init", "plan", "run", "why", "changes", "report", "config check"} <= named
    table = re.search(r"^\| `run`.*$", README, re.MULTILINE)
    assert table
    listed = set(re.findall(r"`([a-z]+)`", table[0]))
    assert listed == {command.split()[0] for command in commands()}


def test_the_readmes_project_file_is_right(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "recrawl.toml").write_text(block)
    assert tomllib.loads(block)["project"]["name"] == "shop-watch"
    assert load(tmp_path / "recrawl.toml", {}).project.name == "shop-watch"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_page_is_linked():
    text = "".join(p.read_text() for p in PAGES)
    for page in DOCS.glob("*.md"):
        assert f"{page.name})" in text, page.name
