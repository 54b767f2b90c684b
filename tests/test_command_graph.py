"""`autodrill graph`: what an expression builds, on the reference and on the learner's engine."""

import re
import shlex
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from conftest import ROOT
from planted import engine, line_of, plant
from terminal import Terminal

from autodrill.errors import AutodrillError
from autodrill.practice.graph import GraphRequest, graph

PUBLISHED = ["(x*w + b).relu().sum()", "x=[1, -2, 3]", "w=2", "b=0.5"]
DIAMOND = ["h = x @ w; (h*h + h).sum()", "x=[[1, 2]]", "w=[[1], [2]]"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MINE = ("graph", "--file", "exercise.py")


def by_title(ran):
    return {one["name"] or one["op"]: one for one in ran.json["nodes"]}


def values(node):
    return node["value"]["values"], node["gradient"]["values"]


# ---------------------------------------------------------------- the graph


def test_the_readme_shows_what_the_terminal_shows(autodrill):
    block = README.partition("$ autodrill graph")[2].partition("```")[0]
    command, _, shown = block.partition("\n")
    assert shlex.split(command) == PUBLISHED
    assert autodrill.run("graph", *PUBLISHED).out == shown


def test_the_picture_in_the_readme_is_what_the_command_draws(autodrill):
    autodrill.run("graph", *PUBLISHED, "--out", "graph.svg")
    drawn = structure(autodrill.folder / "graph.svg")
    assert drawn == structure(ROOT / "docs" / "graph.svg")
    assert "docs/graph.svg" in README
    assert drawn["edges"] == ["1 3", "2 3", "3 5", "4 5", "5 6", "6 7"]
    assert drawn["texts"].count("relu  (3,)") == 1


def structure(path):
    root = ElementTree.parse(path).getroot()
    marks = [one.get("id", "") for one in root.iter()]
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    kinds = {
        kind: sorted(mark[5:] for mark in marks if mark.startswith(kind))
        for kind in ("node ", "edge ")
    }
    return {"nodes": kinds["node "], "edges": kinds["edge "], "texts": sorted(texts)}


@pytest.mark.parametrize("track", ["lab01", "retype"])
def test_every_track_has_the_same_nodes_values_and_gradients(autodrill, track):
    nodes = autodrill.run("graph", *PUBLISHED, "--track", track, "--json").json["nodes"]
    assert [one["parents"] for one in nodes] == [[], [], [1, 2], [], [3, 4], [5], [6]]
    assert [one["name"] for one in nodes] == ["x", "w", None, "b", None, None, None]
    assert [values(one) for one in nodes] == [
        ([1.0, -2.0, 3.0], [2.0, 0.0, 2.0]),
        (2.0, 4.0),
        ([2.0, -4.0, 6.0], [1.0, 0.0, 1.0]),
        (0.5, 2.0),
        ([2.5, -3.5, 6.5], [1.0, 0.0, 1.0]),
        ([2.5, 0.0, 6.5], [1.0, 1.0, 1.0]),
        (9.0, 1.0),
    ]


def test_a_part_with_a_name_is_one_node_however_often_it_is_used(autodrill):
    nodes = by_title(autodrill.run("graph", *DIAMOND, "--json"))
    assert nodes["mul"]["parents"] == [3, 3]
    assert values(nodes["matmul"]) == ([[5.0]], [[11.0]])


def test_in_a_workspace_it_is_the_reference_of_its_track(autodrill):
    autodrill.run("start", "retype")
    found = autodrill.run("graph", *PUBLISHED, "--json", folder=autodrill.folder / "retype").json
    assert (found["track"], found["engine"]) == ("retype", "the reference")


def test_a_constant_has_no_gradient_and_is_called_one(autodrill):
    ran = autodrill.run("graph", "(x + [1, 2]).sum()", "x=3")
    assert re.search(r"2  constant +\(2,\) +\[1.0, 2.0\]  none", ran.out)


def test_a_result_that_is_no_number_asks_for_its_upstream(autodrill):
    asked = ["x * w", "x=[1, 2]", "w=[3, 4]"]
    ran = autodrill.run("graph", *asked)
    assert ran.code == 2
    assert "the result has shape (2,)" in ran.err
    assert "--upstream" in ran.err
    retype = autodrill.run("graph", *asked, "--upstream", "[1, 10]", "--json", "--track", "retype")
    assert values(by_title(retype)["w"]) == ([3.0, 4.0], [1.0, 20.0])
    wrong = autodrill.run("graph", *asked, "--upstream", "[1, 10, 100]")
    assert (wrong.code, "shape (3,)" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x", "x=1", "y=2"], "`y` has a value and is not in the expression"),
        (["x", "x=[[1], [2, 3]]"], "the value of `x` can't be read"),
        (["x @ w", "x=[[1, 2]]", "w=[[1, 2]]"], "can't be computed: matmul"),
        (["x", "x"], "`x` is no NAME=VALUE"),
        (["x", "x=1", "x=2"], "`x` has two values"),
        (["x", "x='a'"], "is no number"),
        (["log_softmax", "log_softmax=1"], "is a function of the engine"),
    ],
)
def test_what_can_not_be_drawn_is_a_usage_error(arguments, words):
    expression, *given = arguments
    with pytest.raises(AutodrillError) as caught:
        graph(GraphRequest(expression, given))
    assert caught.value.exit_code == 2
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x + y", "x=1"], "column 5 of the expression: `y` has no value"),
        (["x", "x=1", "--format", "png"], "a png can't be printed"),
        (["x", "x=1", "--out", "exercise.py"], "does not name a file to write"),
    ],
)
def test_a_usage_error_prints_no_graph_and_writes_nothing(autodrill, arguments, words):
    ran = autodrill.run("graph", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert list(autodrill.folder.iterdir()) == []


# ---------------------------------------------------------------- the learner's engine


def test_a_wrong_engine_is_drawn_as_it_is(lab01):
    relu = """
x = self.data
return Tensor._make(np.maximum(x, 0.0), (self,), lambda g: (g,), "relu")
"""
    plant(lab01, engine(relu=relu))
    ran = lab01.run(*MINE, *PUBLISHED, "--json")
    assert ran.code == 0
    assert ran.json["engine"] == "exercise.py"
    assert values(by_title(ran)["x"]) == ([1.0, -2.0, 3.0], [2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ({"relu": "while True: pass  # here"}, "your engine hangs: no end after 1 s; it was at"),
        ({"relu": "import os; os._exit(0)  # here"}, "your file ended the process (exit code 0)"),
        ({"relu": 'raise NotImplementedError("lab01: implement relu")  # here'}, "not written yet"),
        ({"relu": "return [][1]  # here"}, "IndexError: list index out of range"),
        ({"top": "import os; os._exit(0)  # here"}, "can't be imported: your file ended the"),
    ],
)
def test_an_engine_that_gives_no_graph_is_told_in_a_sentence(lab01, bodies, words):
    plant(lab01, engine(**bodies))
    ran = lab01.run(*MINE, *PUBLISHED, "--json", AUTODRILL_LIMIT_S="1")
    assert (ran.code, ran.err) == (1, "")
    assert ran.json["nodes"] == []
    assert words in ran.json["problem"]["message"]
    assert ran.json["problem"]["line"] == line_of(lab01, "# here")


def test_the_sentence_stands_on_the_screen_with_its_line(lab01):
    plant(lab01, engine(relu="return [][1]  # here"))
    ran = lab01.run(*MINE, *PUBLISHED)
    assert ran.code == 1
    assert "✗ IndexError: list index out of range" in ran.out
    assert f"line {line_of(lab01, '# here')}, in relu" in ran.out


def test_an_engine_without_parents_has_no_graph(lab01):
    plant(lab01, engine().replace("_parents", "_sources"))
    ran = lab01.run(*MINE, *PUBLISHED)
    assert ran.code == 1
    assert "knows no parents" in ran.out


def test_ctrl_c_ends_it_and_its_worker(lab01):
    plant(lab01, engine(relu="print(flush=True)\nwhile True: pass"))
    started = subprocess.Popen(
        [sys.executable, "-m", "autodrill", *MINE, *PUBLISHED],
        cwd=lab01.folder,
        env=lab01.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        started.communicate(timeout=1.5)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err.strip()) == (130, "", "")


# ---------------------------------------------------------------- forms and screens


def test_a_file_s_name_says_what_is_written_to_it(autodrill):
    for name, start in (("g.png", b"\x89PNG"), ("g.txt", b"h = x @ w")):
        ran = autodrill.run("graph", *DIAMOND, "--out", name)
        assert (ran.code, ran.out, ran.err) == (0, "", "")
        assert (autodrill.folder / name).read_bytes().startswith(start)


def test_without_matplotlib_a_picture_says_how_to_get_it(autodrill, without):
    hidden = without("matplotlib")
    ran = autodrill.run("graph", *PUBLISHED, "--out", "graph.svg", **hidden)
    assert (ran.code, ran.out) == (3, "")
    assert "pip install matplotlib" in ran.err
    assert not (autodrill.folder / "graph.svg").exists()
    assert autodrill.run("graph", *PUBLISHED, **hidden).code == 0


def test_on_a_narrow_terminal_each_node_is_a_block_and_no_number_is_cut(autodrill):
    command = [sys.executable, "-m", "autodrill", "graph", *PUBLISHED]
    environment = autodrill.environment(TERM="xterm-256color", COLUMNS=None, NO_COLOR=None)
    terminal = Terminal(command, autodrill.folder, environment, (50, 40))
    try:
        assert terminal.ends() == 0
        assert terminal.text.count("[2.5, -3.5, 6.5]") == 1
        assert terminal.text.count("gradient") == 7
    finally:
        terminal.close()


def test_a_plain_place_gets_plain_text_and_a_long_array_its_first_numbers(autodrill):
    values = f"x={list(range(30))}"
    ran = autodrill.run("graph", "(x*x).sum()", values, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "[0.0, 1.0, 2.0, 3.0, .. 26 more]" in ran.out


def test_help_imports_nothing_heavy(autodrill):
    code = (
        "import os, sys\n"
        "from autodrill.cli import main\n"
        "exit = os._exit\n"
        "os._exit = lambda code: (print(*sys.modules, file=sys.stderr, flush=True), exit(code))\n"
        "sys.argv = ['autodrill', '--help']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "torch", "matplotlib", "pytest"} & set(done.stderr.split())
