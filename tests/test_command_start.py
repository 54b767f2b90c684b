"""`autodrill start`: a workspace is made whole, or nothing is."""

import ast

import pytest

from autodrill.catalog import load_track, track_ids


@pytest.mark.parametrize("track_id", track_ids())
def test_it_makes_the_engine_file_the_guide_the_graders_and_the_marker(autodrill, track_id):
    ran = autodrill.run("start", track_id)
    assert ran.code == 0
    track = load_track(track_id)
    made = {path.name for path in (autodrill.folder / track_id).iterdir()}
    graders = (*track.tests, *track.strict_tests, *track.scenarios)
    copied = {file.relative_to(track.folder) for file in graders}
    assert made == {
        track.engine_file,
        "README.md",
        "conftest.py",
        ".autodrill",
        *(file.parts[0] for file in copied),
    }
    assert all((autodrill.folder / track_id / file).is_file() for file in copied)
    assert f"cd {track_id}" in ran.out


def test_every_symbol_is_blank_and_what_is_given_is_whole(autodrill):
    autodrill.run("start", "lab01")
    text = (autodrill.folder / "lab01" / "exercise.py").read_text()
    ast.parse(text)
    for symbol in load_track("lab01").symbols:
        assert f'raise NotImplementedError("lab01: implement {symbol.split(".")[-1]}")' in text
    assert "Derivation" not in text
    assert "def train_spirals" in text
    assert "while stack:" in text  # _topological_order is given


def test_only_blanks_one_target_and_gives_the_rest(autodrill):
    autodrill.run("start", "lab01", "mm", "--only", "matmul")
    folder = autodrill.folder / "mm"
    assert (folder / "exercise.py").read_text().count("NotImplementedError(") == 1
    checked = autodrill.check("--all", folder=folder).json
    verdicts = {one["id"]: one["verdict"] for one in checked["targets"]}
    assert verdicts["matmul"] == "todo"
    assert verdicts["elementwise"] == "pass"
    assert verdicts["shape"] == "blocked"


def test_an_existing_workspace_is_refused_with_the_command_to_use(lab01):
    before = (lab01.folder / "exercise.py").read_bytes()
    ran = lab01.run("start", "lab01", lab01.folder)
    assert ran.code == 2
    assert "exists already" in ran.err
    assert "autodrill check" in ran.err
    assert (lab01.folder / "exercise.py").read_bytes() == before


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_anything_else_at_the_place_is_refused_and_left_alone(autodrill, kind):
    place = autodrill.folder / "taken"
    if kind == "file":
        place.write_text("mine")
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("nowhere")
    ran = autodrill.run("start", "lab01", "taken")
    assert ran.code == 2
    assert "nothing was changed" in ran.err
    assert [path.name for path in autodrill.folder.iterdir()] == ["taken"]


def test_a_mistyped_track_gets_the_nearest_name(autodrill):
    ran = autodrill.run("start", "lab1")
    assert ran.code == 2
    assert "did you mean `lab01`?" in ran.err


def test_json_names_what_was_made(autodrill):
    made = autodrill.run("start", "retype", "r", "--json").json
    assert made["schema"] == "autodrill.start/1"
    assert made["engine_file"] == str(autodrill.folder / "r" / "autograd.py")
    assert made["first"] == "unbroadcast"
