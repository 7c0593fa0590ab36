"""The rules of the house, checked on every file: sizes, first lines, docstrings, layers."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from recrawl import ports

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recrawl"
MODULES = sorted(SOURCE.rglob("*.py"))
TRACKED = sorted(
    path
    for folder in ("src", "tests", "docs", "benchmarks", ".ci")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and path.suffix in {".py", ".md", ".toml", ".sql", ".json", ""}
    if "__pycache__" not in path.parts and "data" not in path.parts
) + [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "Makefile", "pyproject.toml")]
MODULE_LINES, FUNCTION_LINES = 300, 40
LONG: dict[str, str] = {}  # 'file:function' -> why it may be longer; none so far

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def every_module(test):
    return pytest.mark.parametrize("path", MODULES, ids=name_of)(test)


def functions(node: ast.AST) -> Iterator[Function]:
    return (n for n in ast.walk(node) if isinstance(n, Function))


def test_there_is_something_to_check():
    assert len(MODULES) > 150
    assert len(TRACKED) > 300


@every_module
def test_modules_are_short(path):
    assert len(path.read_text().splitlines()) <= MODULE_LINES


@every_module
def test_functions_are_short(path):
    long = {
        f"{name_of(path)}:{f.name}": f.end_lineno - f.lineno + 1
        for f in functions(tree(path))
        if f.end_lineno - f.lineno >= FUNCTION_LINES
    }
    assert {key: lines for key, lines in long.items() if key not in LONG} == {}


def test_no_exception_outlives_its_reason():
    found = {
        f"{name_of(path)}:{f.name}"
        for path in MODULES
        for f in functions(tree(path))
        if f.end_lineno - f.lineno >= FUNCTION_LINES
    }
    assert set(LONG) <= found


@every_module
def test_a_module_begins_by_saying_what_it_is_for(path):
    doc = ast.get_docstring(tree(path), clean=False)
    assert doc
    assert not doc.startswith("\n")
    assert doc.splitlines()[0].rstrip().endswith((".", ":", "?")) or "->" in doc


@pytest.mark.parametrize(
    "path", [p for p in MODULES if p.name == "__init__.py" and p.parent != SOURCE], ids=name_of
)
def test_a_package_says_what_goes_in_and_comes_out(path):
    doc = ast.get_docstring(tree(path))
    assert doc
    assert " -> " in doc.splitlines()[0]


DOCUMENTED_ELSEWHERE = {
    name
    for port in (ports.Store, ports.Fetcher, ports.Clock)
    for name, member in vars(port).items()
    if callable(member) and member.__doc__
} | {"connection_made", "connection_lost", "data_received"}  # asyncio.Protocol's


def undocumented(node: ast.AST) -> Iterator[str]:
    """Public classes and functions without a docstring; not what stands inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.If, ast.Try)):
            yield from undocumented(child)
        if not isinstance(child, Function | ast.ClassDef) or child.name[0] == "_":
            continue
        wants = child.name not in DOCUMENTED_ELSEWHERE and not child.name.startswith("test_")
        overload = any("overload" in ast.dump(d) for d in child.decorator_list)
        if wants and not overload and not ast.get_docstring(child):
            yield f"{child.name} (line {child.lineno})"
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child)


@every_module
def test_what_is_public_is_documented(path):
    assert list(undocumented(tree(path))) == []


UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b")


@every_module
def test_nothing_is_unfinished(path):
    assert UNFINISHED.findall(path.read_text()) == []
    stubs = [f.name for f in functions(tree(path)) if all(isinstance(x, ast.Pass) for x in f.body)]
    assert stubs == []


MACHINE = re.compile(r"(?<![\w.:/])/(?:work|home|root|tmp/venv|Users)/\w")


@pytest.mark.parametrize("path", TRACKED, ids=name_of)
def test_no_file_names_a_machine(path):
    assert MACHINE.findall(path.read_text(encoding="utf-8", errors="replace")) == []


def test_the_patterns_see_what_they_are_for():
    assert UNFINISHED.search("x = 1  # TODO: later")
    assert MACHINE.search("open('{}')".format("/".join(("", "work", "main", "x"))))
    assert not MACHINE.search("https://example.com/work/x")


def tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / name), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_imports_keep_to_the_layers():
    done = tool("lint-imports", "--no-cache")
    assert done.returncode == 0, done.stdout


def test_a_forbidden_import_is_seen(tmp_path):
    """The contracts bind every package there is: none was forgotten."""
    text = (ROOT / "pyproject.toml").read_text()
    layers = re.search(r"layers = \[(.*?)\]", text, re.DOTALL)
    assert layers
    named = set(re.findall(r"\w+", layers[1]))
    there = {p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert there - {"__init__"} == named
