"""`autodrill check`: verdicts, selection, exit codes, the JSON contract."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

LAB01 = (ROOT / "reference" / "lab01.py").read_text()


def broken(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def test_a_fresh_workspace_is_todo_with_a_clear_first_step(autodrill):
    autodrill.run("start", "lab01")
    ran = autodrill.run("check", folder=autodrill.folder / "lab01")
    assert ran.code == 1
    assert "`unbroadcast` is not written yet" in ran.out
    assert "autodrill hint unbroadcast" in ran.out
    assert "exercise.py:" in ran.out


def test_a_finished_file_is_green_with_all_its_tests(lab01):
    ran = lab01.check()
    assert ran.code == 0
    result = ran.json
    assert result["verdict"] == "pass"
    assert [one["passed"] for one in result["targets"]] == [6, 5, 5, 4, 12, 5]


def test_a_finished_retype_is_green_with_all_its_tests(autodrill):
    autodrill.run("start", "retype")
    folder = autodrill.folder / "retype"
    (folder / "autograd.py").write_bytes((ROOT / "reference" / "retype.py").read_bytes())
    result = autodrill.check(folder=folder).json
    assert result["verdict"] == "pass"
    assert result["targets"][-1]["passed"] == 18


@pytest.mark.parametrize(
    "name", ["matmul", "4", "Tensor.__matmul__", "__matmul__", "exp", "Tensor.sum", "sum"]
)
def test_a_target_a_step_or_a_symbol_can_be_named(lab01, name):
    result = lab01.check(name).json
    assert result["verdict"] == "pass"
    assert len(result["targets"]) == 1
    assert result["targets"][0]["passed"] == result["targets"][0]["total"] > 0


def test_a_symbol_is_graded_by_its_own_cases_whatever_else_is_wrong(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(broken(LAB01, 'lambda g: (g * y,), "exp"', 'lambda g: (g,), "exp"'))
    assert lab01.check("exp").json["verdict"] == "fail"
    assert lab01.check("tanh").json["verdict"] == "pass"
    assert lab01.check("elementwise").json["verdict"] == "fail"


def test_it_stops_at_the_first_target_that_is_not_green_and_all_goes_on(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(broken(LAB01, 'lambda g: (g / x,), "log"', 'lambda g: (g * x,), "log"'))
    verdicts = [one["verdict"] for one in lab01.check().json["targets"]]
    assert verdicts == ["pass", "pass", "fail", "blocked", "blocked", "blocked"]
    everything = {one["id"]: one for one in lab01.check("--all").json["targets"]}
    assert everything["matmul"]["verdict"] == "pass"
    assert everything["shape"]["verdict"] == "blocked"
    assert everything["shape"]["blocked_by"] == "elementwise"


def test_a_wrong_gradient_comes_with_the_smallest_input_and_both_gradients(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(broken(LAB01, "return da, db", "return da, None if db is None else -db"))
    (failure, *_) = lab01.check("matmul").json["targets"][0]["failures"]
    assert failure["what"] == "gradient"
    assert failure["of"] == "B"
    assert failure["symbol"] == "Tensor.__matmul__"
    assert failure["example"]["inputs"]["A"]["shape"] == [1, 1]
    yours, expected = failure["yours"]["values"][0][0], failure["expected"]["values"][0][0]
    assert yours == -expected
    assert failure["finite_differences"]["values"][0][0] == pytest.approx(expected, rel=1e-6)
    assert failure["max_abs_diff"] == 2 * expected


def test_the_snippet_reproduces_the_failure_in_a_python_prompt(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(broken(LAB01, "return da, db", "return da, None if db is None else -db"))
    (failure, *_) = lab01.check("matmul").json["targets"][0]["failures"]
    typed = failure["example"]["code"] + "\n"
    done = subprocess.run(
        [sys.executable, "-i", "-q"],
        cwd=lab01.folder,
        input=typed,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() == f"array({failure['yours']['values']})".replace(".0", ".")


def test_a_wrong_forward_is_never_reported_as_a_gradient(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(broken(LAB01, "y = np.tanh(self.data)", "y = np.sinh(self.data)"))
    (failure, *_) = lab01.check("tanh").json["targets"][0]["failures"]
    assert failure["what"] == "forward"
    assert failure["finite_differences"] is None


def test_a_file_from_elsewhere_is_graded_where_it_lies(autodrill):
    engine = autodrill.folder / "my engine.py"
    engine.write_text((ROOT / "reference" / "retype.py").read_text())
    result = autodrill.check("core", "--file", engine).json
    assert result["track"] == "retype"
    assert result["verdict"] == "pass"
    assert list(autodrill.folder.iterdir()) == [engine]


def test_the_track_of_a_file_is_asked_for_where_it_is_not_plain(autodrill):
    engine = autodrill.folder / "mine.py"
    engine.write_text("x = 1\n")
    ran = autodrill.check("--file", engine)
    assert ran.code == 2
    assert "--track" in ran.err
    assert autodrill.check("--file", engine, "--track", "lab01", "unbroadcast").code == 1


def test_a_symbol_that_is_gone_is_named(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(broken(LAB01, "    def tanh(self)", "    def tanhh(self)"))
    (failure, *_) = lab01.check("tanh").json["targets"][0]["failures"]
    assert failure["what"] == "missing"
    assert failure["message"] == "`Tensor.tanh` is missing"


def test_strict_adds_the_edge_cases_once_the_rest_is_green(lab01):
    result = lab01.check("--strict").json
    assert result["targets"][-1]["id"] == "strict"
    assert result["targets"][-1]["verdict"] == "pass"
    assert result["targets"][-1]["passed"] > 10


def test_the_solution_is_graded_on_request(autodrill):
    autodrill.run("start", "lab01")
    folder = autodrill.folder / "lab01"
    result = autodrill.check("--impl", "solution", "unbroadcast", folder=folder).json
    assert result["impl"] == "solution"
    assert result["verdict"] == "pass"


def test_live_torch_is_compared_when_asked(lab01):
    pytest.importorskip("torch")
    assert lab01.check("--torch", "matmul", "elementwise").json["verdict"] == "pass"


def test_an_unknown_name_exits_two_with_the_nearest(lab01):
    ran = lab01.run("check", "matmull")
    assert ran.code == 2
    assert ran.out == ""
    assert "did you mean `matmul`" in ran.err


def test_without_a_workspace_the_last_one_used_is_named(lab01):
    lab01.check("unbroadcast")
    ran = lab01.run("check", folder=lab01.folder.parent)
    assert ran.code == 2
    assert "there is no workspace here or above" in ran.err
    assert str(lab01.folder) in ran.err


def test_json_is_one_object_and_nothing_else(lab01):
    ran = lab01.check("unbroadcast")
    assert ran.out.count("\n") == 1
    assert ran.err == ""
    result = json.loads(ran.out)
    assert result["schema"] == "autodrill.check/1"
    assert set(result) >= {"track", "file", "impl", "verdict", "seconds", "targets", "problem"}


def test_a_file_that_is_named_and_not_there_is_a_wrong_call(lab01):
    for name, said in (("nope.py", "there is no file `nope.py`"), (".", "`.` is a folder")):
        ran = lab01.run("check", "--file", name)
        assert ran.code == 2
        assert said in ran.err


def test_an_error_of_syntax_leaves_the_verdicts_before_it(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(LAB01)
    assert lab01.run("check", "unbroadcast").code == 0
    file.write_text(LAB01 + "def (\n")
    assert lab01.run("check").code != 0
    shown = lab01.run().out
    assert "✓ 1 unbroadcast" in shown
    assert "not of the file as it is now" in shown
    assert "autodrill check --strict" not in shown


def test_what_stands_is_said_to_be_of_an_older_text_until_the_new_one_is_graded(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(LAB01)
    lab01.run("check")
    assert "not of the file as it is now" not in lab01.run().out
    file.write_text(LAB01 + "\n")
    assert "not of the file as it is now" in lab01.run().out
    lab01.run("check", "exp")
    assert "not of the file as it is now" in lab01.run().out
    lab01.run("check")
    assert "not of the file as it is now" not in lab01.run().out
    file.unlink()
    assert "not of the file as it is now" in lab01.run().out


def test_a_file_of_another_workspace_is_graded_by_its_own_contract(lab01, autodrill):
    assert autodrill.run("start", "retype").code == 0
    other = autodrill.folder / "retype" / "autograd.py"
    other.write_text((ROOT / "reference" / "retype.py").read_text())
    assert (
        lab01.run("check", "--file", str(other), "unbroadcast", "--json").json["track"] == "retype"
    )


def test_what_is_named_twice_is_graded_once(lab01):
    (lab01.folder / "exercise.py").write_text(LAB01)
    assert len(lab01.run("check", "tanh", "tanh", "--json").json["targets"]) == 1


def test_single_symbols_are_called_by_their_names_and_prove_no_target(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(LAB01.replace("y = np.tanh(self.data)", "y = np.sinh(self.data)"))
    assert lab01.run("check", "elementwise").code == 1
    ran = lab01.run("check", "exp", "log")
    assert ran.code == 0
    assert "✓ 3 exp 2" in ran.out
    assert "all 2 symbols are green" in ran.out
    assert "✗ 3 elementwise" in lab01.run().out
    both = lab01.run("check", "exp", "tanh", "--json").json["targets"]
    assert [(one["symbol"], one["verdict"]) for one in both] == [
        ("Tensor.exp", "pass"),
        ("Tensor.tanh", "fail"),
    ]


def test_a_question_to_the_keyboard_is_said_to_have_none(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(LAB01.replace("y = np.tanh(self.data)", "y = np.tanh(float(input()))"))
    assert "`input()` needs a keyboard" in lab01.run("check", "tanh").out


@pytest.mark.skipif(sys.platform != "linux", reason="a file that nobody can read")
def test_what_stands_is_shown_though_the_file_can_not_be_read(lab01):
    file = lab01.folder / "exercise.py"
    file.write_text(LAB01)
    lab01.run("check", "unbroadcast")
    file.unlink()
    file.symlink_to("/proc/self/mem")
    ran = lab01.run()
    assert ran.code == 0
    assert "not of the file as it is now" in ran.out
