"""`autodrill bench`: a training step beside torch, by operation, and in memory."""

import sys
from dataclasses import replace

import pytest
from conftest import ROOT
from planted import engine, line_of, plant
from terminal import Terminal

from autodrill.cases.network import profile
from autodrill.catalog import load_track, track_ids
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.practice.bench import REST, WALK, Bench, BenchRequest, OperationCost, bench
from autodrill.render.bench import lines
from autodrill.render.layout import plain

MINE = ("bench", "--file", "exercise.py")


def test_it_is_timed_beside_torch_and_taken_apart(lab01):
    ran = lab01.run(*MINE, "--steps", "3", "--json")
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 1)
    found = ran.json
    assert (found["schema"], found["track"], found["engine"]) == (
        "autodrill.bench/1",
        "lab01",
        "exercise.py",
    )
    assert found["ratio"] == pytest.approx(found["step_s"] / found["torch_s"])
    costs = {one["name"]: one for one in found["operations"]}
    assert costs["matmul"]["calls"] == 3
    assert costs["relu"]["calls"] == 2
    assert {WALK, REST} < set(costs)
    for one in costs.values():
        both_ways = one["forward_s"] + one["backward_s"]
        assert one["numpy_s"] + one["overhead_s"] == pytest.approx(both_ways)
    memory = found["memory"]
    assert 0 < memory["leaves_only"] < memory["all_nodes"] <= memory["peak"]
    assert 0 < memory["inner"] < memory["nodes"]


def test_without_torch_the_rest_is_shown_on_a_terminal(autodrill, without):
    arguments = ["bench", "--steps", "3", "--track", "retype"]
    command = [sys.executable, "-m", "autodrill", *arguments]
    environment = autodrill.environment(
        TERM="xterm-256color", COLUMNS=None, NO_COLOR=None, **without("torch")
    )
    terminal = Terminal(command, autodrill.folder, environment, (60, 60))
    try:
        assert terminal.ends() == 0
        text = " ".join(terminal.text.split())
        assert "warning: torch is not installed" in text
        assert "pip install torch" in text
        assert "ratio" not in text
        assert "log_softmax 1 call" in text
        assert "gradients of leaves only" in text
    finally:
        terminal.close()
    ran = autodrill.run(*arguments, "--json", **without("torch"))
    assert ran.code == 0
    assert (ran.json["torch"], ran.json["torch_s"], ran.json["ratio"]) == (None, None, None)
    assert ran.json["operations"]


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ({"relu": "while True: pass  # here"}, "your engine hangs"),
        ({"relu": 'raise NotImplementedError("lab01: implement relu")  # here'}, "not written yet"),
        ({"relu": "return [][1]  # here"}, "IndexError"),
    ],
)
def test_an_engine_that_can_not_be_trained_is_told_in_a_sentence(lab01, bodies, words):
    plant(lab01, engine(**bodies))
    ran = lab01.run(*MINE, "--json", AUTODRILL_LIMIT_S="0.5")
    assert (ran.code, ran.err) == (1, "")
    assert words in ran.json["problem"]["message"]
    assert ran.json["problem"]["line"] == line_of(lab01, "# here")
    assert (ran.json["step_s"], ran.json["operations"]) == (None, [])


@pytest.mark.parametrize("name", ["lab01_classes", "retype_lambdas"])
def test_engines_written_differently_can_be_taken_apart(name):
    file = ROOT / "tests" / "engines" / f"{name}.py"
    found = bench(BenchRequest(steps=2, file=file, track=name.partition("_")[0]))
    assert found.problem is None
    assert {"matmul", "relu"} < {one.name for one in found.operations}
    assert found.memory.inner > 0


@pytest.mark.parametrize("track_id", track_ids())
def test_an_engine_is_left_as_it_was(track_id):
    track = load_track(track_id)
    lib = reference_engine(track).lib
    before = dict(vars(lib.Tensor))
    found = profile(load_suite(track), lib, count=2, tiny=True)
    assert dict(vars(lib.Tensor)) == before
    assert found["matmul"][2] > 0  # its part of backward was seen


@pytest.mark.parametrize("width", [100, 60, 40])
def test_it_fits_the_screen(width):
    costs = tuple(OperationCost(one, 12, 1e-3, 2e-3, 1e-3, 2e-3) for one in ("log_softmax", WALK))
    found = Bench("retype", "autograd.py", 100, step_s=0.012, operations=costs)
    torch = replace(found, torch_s=0.01, torch="2.13.0+cpu")
    assert torch.ratio == pytest.approx(1.2)
    for one in (found, torch):
        text = plain(lines(one, width), width)
        assert max(map(len, text.splitlines())) <= width
        assert ("1.20" in text) == (one is torch)
        assert text.count("2000.0") == 4
