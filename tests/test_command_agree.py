"""`autodrill agree`: random graphs on an engine and on live torch."""

import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from planted import engine, line_of, plant
from terminal import Terminal

from autodrill.cases.grammar import operations
from autodrill.cases.random_graph import random_graph, smaller
from autodrill.catalog import load_track, track_ids
from autodrill.engines.reference import reference_engine
from autodrill.practice.agree import AgreeRequest, agree
from autodrill.render.agree import lines
from autodrill.render.layout import plain

MINE = ("agree", "--file", "exercise.py")
TANH = """
y = np.tanh(self.data)
return Tensor._make(y, (self,), lambda g: (g * (1.0 - y),), "tanh")
"""


def wrong(tmp_path, text):
    file = tmp_path / "exercise.py"
    file.write_text(text)
    return agree(AgreeRequest(graphs=40, file=file, track="lab01"))


# ---------------------------------------------------------------- random graphs


@pytest.mark.parametrize("track_id", track_ids())
def test_a_seed_gives_the_same_graph_again_and_every_graph_can_be_computed(track_id):
    track = load_track(track_id)
    known = operations(track.reference.read_text())
    for seed in range(60):
        graph = random_graph(known, seed)
        assert graph == random_graph(known, seed)
        outcome = reference_engine(track).run(graph.probe().request(), 10.0)
        assert outcome.raised is None, (graph.code, outcome.raised)
        assert outcome.values["out"].size == 1
        assert all(np.isfinite(value).all() for value in outcome.values.values())


def test_a_graph_is_made_smaller_one_operation_at_a_time():
    known = operations(load_track("lab01").reference.read_text())
    graph = random_graph(known, 1)
    found = {one.code for one in smaller(graph)}
    assert len(found) > 10
    assert graph.code not in found
    assert max(map(len, found)) <= len(graph.code) + 2


# ---------------------------------------------------------------- beside torch


@pytest.mark.parametrize("track_id", track_ids())
def test_a_reference_and_torch_are_never_apart_by_more_than_rounding(track_id):
    found = agree(AgreeRequest(track=track_id))
    assert found.passes
    assert len(found.apart) == 200
    assert found.largest < 1e-14
    assert sum(count for _, count in found.histogram) == 200


@pytest.mark.parametrize("name", ["lab01_einsum", "retype_classes"])
def test_right_engines_written_differently_agree(name):
    file = ROOT / "tests" / "engines" / f"{name}.py"
    found = agree(AgreeRequest(graphs=30, file=file, track=name.partition("_")[0]))
    assert found.problem is None
    assert found.failure is None


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("return (g * (1.0 - y * y),)", "", ".tanh().sum()"),
        ("total = grad_part if earlier is None else earlier + grad_part", "total = grad_part", ""),
        ("return da, db", "return da, None if db is None else -db", "(x @ w1).sum()"),
        ("np.exp(self.data)", "np.exp(self.data) + 1.0", ".exp().sum()"),
    ],
)
def test_the_smallest_graph_that_disagrees_has_the_wrong_operation_alone(tmp_path, old, new, code):
    text = engine(tanh=TANH) if not new else engine().replace(old, new)
    assert text != engine()
    found = wrong(tmp_path, text)
    assert not found.passes
    lines_of_code = found.failure.example.code.splitlines()
    (out,) = [one for one in lines_of_code if one.startswith("out = ")]
    assert len(out) <= 40, out
    assert code in out
    assert all(value.size <= 4 for value in found.failure.example.inputs.values())


def test_an_operation_that_raises_is_shown_with_its_line(tmp_path):
    found = wrong(tmp_path, engine(tanh="return self.data[99999]"))
    assert found.failure.message.startswith("IndexError")
    assert "in tanh" in found.failure.trace[0]
    assert ".tanh().sum()\nout.backward()" in found.failure.example.code


def test_the_screen_shows_the_histogram_and_the_graph(tmp_path):
    found = wrong(tmp_path, engine(tanh=TANH))
    assert re.match(r"autodrill graph '(\w+)\.tanh\(\)\.sum\(\)' '\1=\[.*\]' --file ", found.look)
    found = replace(found, engine="exercise.py", look="autodrill graph")
    for width in (100, 60, 40):
        text = plain(lines(found, 1e-9, width), width)
        assert max(map(len, text.splitlines())) <= max(width, 64)  # code is never wrapped
        assert "of 40 graphs disagree" in " ".join(text.split())
        assert ".tanh().sum()" in text
        assert "…\n" in text  # a long run of empty powers
        assert "likely" not in text


# ---------------------------------------------------------------- the program


def test_a_wrong_engine_exits_one_with_a_graph_that_can_be_pasted(lab01):
    plant(lab01, engine(tanh=TANH))
    ran = lab01.run(*MINE, "--graphs", "12", "--json")
    assert (ran.code, ran.err, ran.out.count("\n")) == (1, "", 1)
    found = ran.json
    assert (found["schema"], found["verdict"], found["graphs"]) == ("autodrill.agree/1", "fail", 12)
    assert found["failing"]
    failure = found["failure"]
    pasted = subprocess.run(
        [sys.executable, "-i", "-q"],
        cwd=lab01.folder,
        input=failure["example"]["code"] + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback" not in pasted.stderr
    shown = eval(pasted.stdout, {"array": np.array})
    np.testing.assert_allclose(shown, failure["yours"]["values"])
    program, *look = shlex.split(found["look"])
    assert program == "autodrill"
    drawn = lab01.run(*look, "--json").json["nodes"]
    (gradient,) = [one["gradient"] for one in drawn if one["name"] == failure["of"]]
    assert gradient["values"] == failure["yours"]["values"]
    assert failure["max_abs_diff"] > 0


def test_the_reference_passes_on_a_terminal_and_its_histogram_is_drawn(autodrill):
    arguments = ["agree", "--graphs", "15", "--seed", "3", "--plot", "apart.svg"]
    command = [sys.executable, "-m", "autodrill", *arguments]
    environment = autodrill.environment(TERM="xterm-256color", COLUMNS=None, NO_COLOR=None)
    terminal = Terminal(command, autodrill.folder, environment, (40, 60))
    try:
        assert terminal.ends() == 0
        assert "lab01 · the reference beside torch" in terminal.text
        assert "✓ the largest disagreement is" in terminal.text
        assert "█" in terminal.text
    finally:
        terminal.close()
    assert "of 15 random graphs" in (autodrill.folder / "apart.svg").read_text()


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ({"__matmul__": "while True: pass  # here"}, "your engine hangs"),
        ({"__matmul__": "raise NotImplementedError('x: implement matmul')  # here"}, "not written"),
    ],
)
def test_an_engine_that_gives_no_answer_is_told_in_a_sentence(lab01, bodies, words):
    plant(lab01, engine(**bodies))
    ran = lab01.run(*MINE, AUTODRILL_LIMIT_S="1")
    assert (ran.code, ran.err) == (1, "")
    assert words in ran.out
    assert f"line {line_of(lab01, '# here')}" in ran.out


def test_what_is_not_installed_is_named_with_how_to_get_it(autodrill, without):
    ran = autodrill.run("agree", **without("torch"))
    assert (ran.code, ran.out) == (3, "")
    assert "pip install torch" in ran.err
    ran = autodrill.run("agree", "--plot", "apart.png", **without("matplotlib"))
    assert (ran.code, ran.out) == (3, "")
    assert "pip install matplotlib" in ran.err
    assert autodrill.run("agree", "--plot", "exercise.py").code == 2


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's /proc")
def test_ctrl_c_in_the_midst_of_torch_s_import_ends_it_as_ever(autodrill):
    started = subprocess.Popen(
        [sys.executable, "-m", "autodrill", "agree"],
        cwd=autodrill.folder,
        env=autodrill.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    maps = Path(f"/proc/{started.pid}/maps")
    while "libtorch" not in maps.read_text():
        assert started.poll() is None
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out, err.strip()) == (130, "", "")
