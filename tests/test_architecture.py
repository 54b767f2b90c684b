"""The shape of the program: arrows go down, and each library has one home."""

import ast
import re
from pathlib import Path

import pytest

from autodrill.catalog import track_ids

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autodrill"

# From low to high; a module may import from its own row and from the rows before it.
ROWS = [
    {"errors", "results"},
    {"catalog", "places", "stubs", "bugs", "decks"},
    {"workspace"},
    {"cases"},
    {"worker"},
    {"engines"},
    {"shrink", "patterns", "diagnose", "trace"},
    {"grading"},
    {"schedule"},
    {"history"},
    {"watch", "clock", "keys"},
    {"practice"},
    {"render"},
    {"cli", "pytest_plugin"},
    {"__main__"},
]
RANK = {name: rank for rank, row in enumerate(ROWS) for name in row}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "drills" not in path.parts)


def modules_imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_go_down(path):
    if room(path) == "__init__":
        return
    for module in modules_imported(path):
        if module.startswith("autodrill."):
            imported = module.split(".")[1]
            assert RANK[imported] <= RANK[room(path)], f"{path} imports {module}"


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("rich", {"render"}),
        ("typer", {"cli"}),
        ("pytest", {"grading", "pytest_plugin"}),
        ("matplotlib", {"render"}),
        ("torch", {"engines"}),
    ],
)
def test_a_library_has_one_home(library, homes):
    users = {
        room(path)
        for path in FILES
        for module in modules_imported(path)
        if module.split(".")[0] == library
    }
    assert users == homes


def test_the_command_line_holds_no_arrays():
    for path in (PACKAGE / "cli").glob("*.py"):
        assert not {"numpy", "torch"} & {name.split(".")[0] for name in modules_imported(path)}


def test_the_program_knows_no_drill_by_name():
    ids = "|".join(track_ids())  # an id may be a word of plain English as well
    names = re.compile(rf"[`'\"/]({ids})\b|\b({ids})[`'\"/.]")
    for path in FILES:
        found = names.search(path.read_text())
        assert found is None, f"{path} names {found}"


def test_the_module_map_of_the_contributors_names_every_module():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in RANK:
        assert f"`{name}" in text, name
