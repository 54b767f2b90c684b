"""The graders under plain pytest: the learner's file in this process, for `--pdb`.

A workspace's conftest imports everything from here. The learner's exceptions are let
through, so that a debugger stops where they were raised.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autodrill.catalog import Track
from autodrill.engines.engine import LocalEngine
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.errors import AutodrillError
from autodrill.grading.failure import explain
from autodrill.grading.grade import Grade, NotGreen
from autodrill.workspace import Workspace, find_workspace

__all__ = ["grade", "pytest_addoption", "pytest_runtest_call"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--impl`, once however many workspaces are collected."""
    if "--impl" not in [
        name for group in parser._groups for o in group.options for name in o.names()
    ]:
        parser.addoption(
            "--impl",
            choices=("exercise", "solution"),
            default="exercise",
            help="grade your file, or the reference",
        )


@pytest.fixture(scope="module")
def grade(request: pytest.FixtureRequest) -> Grade:
    """Give the graders the learner's file, or with `--impl=solution` the reference."""
    workspace = _workspace(request.path)
    track = workspace.track
    if request.config.getoption("--impl", default="exercise") == "solution":
        engine = reference_engine(track)
    else:
        engine = _learners_engine(track, workspace.engine_file)
    strict = request.path.name in {file.name for file in track.strict_tests}
    return Grade(load_suite(track), engine, reference_engine(track), strict=strict)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Turn a finding into a failure that reads as in `autodrill check`."""
    __tracebackhide__ = True
    try:
        return (yield)
    except NotGreen as error:
        from autodrill.render.failure import text

        used: Grade = item.funcargs["grade"]  # type: ignore[attr-defined]  # every grader has it
        assert isinstance(used.engine, LocalEngine)
        file = Path(used.engine.file or "solution.py")
        safe = replace(used, engine=replace(used.engine, catch=True))
        track = _workspace(item.path).track
        failure = explain(track, safe, error.finding, item.name, file, list)
        reason = text(failure)
    except AutodrillError as error:
        reason = f"{error.message}\n{error.hint}"
    pytest.fail(reason, pytrace=False)


def _workspace(test_file: Path) -> Workspace:
    workspace = find_workspace(test_file.parent)
    if workspace is None:
        pytest.fail(f"{test_file.parent} is no autodrill workspace", pytrace=False)
    return workspace


def _learners_engine(track: Track, file: Path) -> LocalEngine:
    """Import the learner's file from its path, as `import` would."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return LocalEngine(load_suite(track), module, file=str(file), catch=False)
