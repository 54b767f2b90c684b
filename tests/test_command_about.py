"""`autodrill` alone, `tracks`, `where`, `doctor`, `verify`, and every `--help`."""

import re

import pytest
from conftest import ROOT

from autodrill.catalog import load_track, track_ids

COMMANDS = ["start", "check", "watch", "time", "next", "trace", "quiz", "hint", "show", "reset"]
COMMANDS += ["undo", "history", "stats", "export", "graph", "agree", "bench", "tracks", "where"]
COMMANDS += ["verify", "doctor"]


def test_alone_it_says_where_to_begin(autodrill):
    ran = autodrill.run()
    assert ran.code == 0
    assert "autodrill start" in ran.out


def test_alone_in_a_workspace_it_says_what_is_done_and_what_is_next(lab01):
    lab01.check("unbroadcast")
    ran = lab01.run()
    assert "1 of 6 targets green" in ran.out
    assert "autodrill check backward" in ran.out


def test_tracks_lists_every_track_and_its_targets(autodrill):
    listed = autodrill.run("tracks", "--json").json["tracks"]
    assert [one["id"] for one in listed] == list(track_ids())
    for one in listed:
        targets = [target.id for target in load_track(one["id"]).targets]
        assert [target["id"] for target in one["targets"]] == targets
        assert one["id"] in autodrill.run("tracks").out


def test_where_names_every_path(lab01):
    paths = lab01.run("where", "--json").json["paths"]
    assert paths["workspace"] == str(lab01.folder)
    assert paths["history"] == str(lab01.home / "history.db")


def test_doctor_tries_a_worker_and_is_well(autodrill):
    ran = autodrill.run("doctor", "--json")
    assert ran.code == 0
    findings = {one["name"]: one for one in ran.json["findings"]}
    assert findings["worker"]["state"] == "ok"
    assert "all is well" in autodrill.run("doctor").out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(autodrill, command):
    ran = autodrill.run(command, "--help")
    assert ran.code == 0
    assert f"Example: autodrill {command}" in ran.out


def test_the_commands_tested_here_are_all_that_there_are(autodrill):
    listed = autodrill.run("--help").out.partition("Commands:")[2]
    assert re.findall(r"^  (\w+)", listed, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_documents_every_command_in_the_words_of_its_help(autodrill, command):
    words = autodrill.run(command, "--help").out.split("\n\n")[1].strip()
    assert " ".join(words.split()) in (ROOT / "README.md").read_text()


def test_a_mistyped_command_gets_the_nearest(autodrill):
    ran = autodrill.run("chekc")
    assert ran.code == 2
    assert "check" in ran.err


def test_the_version_is_printed(autodrill):
    assert autodrill.run("--version").out.startswith("autodrill 0.")
