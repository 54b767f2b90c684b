"""The wheel works away from the checkout."""

import os
import subprocess
import sys
import venv
import zipfile

import pytest
from conftest import ROOT

from autodrill.catalog import load_track, track_ids
from autodrill.decks import deck_ids


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_it_holds_the_content_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for track_id in track_ids():
        track = load_track(track_id)
        for file in (*track.tests, *track.strict_tests, *track.scenarios, *track.guides):
            inside = file.relative_to(track.folder).as_posix()
            assert f"autodrill/drills/{track_id}/{inside}" in names
        assert f"autodrill/reference/{track.reference.name}" in names
    for deck_id in deck_ids():
        assert f"autodrill/drills/decks/{deck_id}.toml" in names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"autodrill"}
    assert not [name for name in names if "__pycache__" in name or "tests/" in name]


def test_it_starts_and_checks_in_an_environment_of_its_own(wheel, tmp_path):
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    install = [str(scripts / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    environment["AUTODRILL_HOME"] = str(tmp_path / "history")

    def autodrill(*arguments, folder=tmp_path):
        command = [str(scripts / "autodrill"), *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    assert autodrill("start", "lab01").returncode == 0
    todo = autodrill("check", folder=tmp_path / "lab01")
    assert todo.returncode == 1
    assert "`unbroadcast` is not written yet" in todo.stdout
    solution = autodrill("check", "--impl", "solution", "matmul", folder=tmp_path / "lab01")
    assert solution.returncode == 0, solution.stdout + solution.stderr
    assert autodrill("doctor").returncode == 0
    assert "vjps" in autodrill("quiz", "--list").stdout
    refused = autodrill("quiz", "--export", "cards.apkg")
    assert refused.returncode == 3
    assert "pip install genanki" in refused.stderr
