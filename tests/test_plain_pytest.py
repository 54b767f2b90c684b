"""The graders under plain pytest, in the folder that holds a workspace."""

import subprocess
import sys

import pytest
from conftest import ROOT

LAB01 = (ROOT / "reference" / "lab01.py").read_text()


@pytest.fixture
def plain(lab01):
    def run(*arguments, stdin=""):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            cwd=lab01.folder.parent,
            env=lab01.environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    run.file = lab01.folder / "exercise.py"
    return run


def test_the_whole_track_is_37_tests(plain):
    assert "37 passed" in plain("lab01")


def test_a_selection_runs(plain):
    assert "36 passed, 1 deselected" in plain("lab01", "-k", "not spirals")


def test_x_stops_at_the_first_failure_and_says_what_is_wrong(plain):
    plain.file.write_text(LAB01.replace("return grad\n", "return grad * 2\n", 1))
    shown = plain("lab01", "-x")
    assert "1 failed" in shown
    assert "smallest input that fails" in shown
    assert "autodrill/cases" not in shown


def test_the_reference_is_graded_with_impl_solution(plain):
    plain.file.write_text("nothing = None\n")
    assert "36 passed" in plain("lab01", "--impl=solution", "-k", "not spirals")


def test_a_debugger_stops_where_the_engine_raised(plain):
    plain.file.write_text(LAB01.replace("y = np.tanh(self.data)", "y = no_such(self.data)"))
    shown = plain("lab01", "-x", "-k", "unary", "--pdb", stdin="p self.data.shape\nq\n")
    assert "exercise.py" in shown
    assert "(3, 4)" in shown


def test_a_breakpoint_in_the_engine_works(plain):
    plain.file.write_text(
        LAB01.replace("y = np.tanh(self.data)", "breakpoint(); y = np.tanh(self.data)")
    )
    shown = plain("lab01", "-x", "-s", "-k", "unary", stdin="p 'here' + 'after'\nq\n")
    assert "hereafter" in shown


def test_the_edge_cases_run_by_name_of_their_file(plain):
    shown = plain("lab01/strict_lab01.py")
    assert " passed" in shown
    assert "failed" not in shown


@pytest.mark.parametrize(
    "selection",
    [
        "unbroadcast",
        "twice or diamond",
        "op_add or op_pow or op_matmul or batched",
        "op_sum or op_exp or op_relu or op_sigmoid",
        "op_softmax or op_log_softmax or op_reshape",
        "cross_entropy_helper",
    ],
)
def test_the_selections_that_people_know_select_real_tests(autodrill, selection):
    autodrill.run("start", "retype")
    folder = autodrill.folder / "retype"
    (folder / "autograd.py").write_bytes((ROOT / "reference" / "retype.py").read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "retype", "-k", selection],
        cwd=autodrill.folder,
        env=autodrill.environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
