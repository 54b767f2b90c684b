"""`autodrill reset` and `autodrill undo`: nothing that was written is lost."""

import pytest
from conftest import ROOT

LAB01 = (ROOT / "reference" / "lab01.py").read_bytes()


def test_reset_blanks_one_target_and_leaves_the_rest_of_the_file(lab01):
    ran = lab01.run("reset", "matmul")
    assert ran.code == 0
    text = (lab01.folder / "exercise.py").read_text()
    assert text.count("NotImplementedError(") == 1
    assert lab01.check("matmul").json["verdict"] == "todo"
    assert lab01.check("elementwise").json["verdict"] == "pass"


def test_undo_brings_the_text_back_byte_for_byte(lab01):
    lab01.run("reset", "matmul")
    assert lab01.run("undo").code == 0
    assert (lab01.folder / "exercise.py").read_bytes() == LAB01


def test_undo_goes_back_one_reset_at_a_time(lab01):
    lab01.run("reset", "matmul")
    once = (lab01.folder / "exercise.py").read_bytes()
    lab01.run("reset", "exp")
    lab01.run("undo")
    assert (lab01.folder / "exercise.py").read_bytes() == once
    lab01.run("undo")
    assert (lab01.folder / "exercise.py").read_bytes() == LAB01
    ran = lab01.run("undo")
    assert ran.code == 1
    assert "no reset to undo" in ran.err


def test_reset_without_a_target_starts_the_file_again(lab01):
    assert lab01.run("reset").code == 0
    assert lab01.check().json["targets"][0]["verdict"] == "todo"
    lab01.run("undo")
    assert (lab01.folder / "exercise.py").read_bytes() == LAB01


def test_reset_brings_back_a_file_that_was_deleted(lab01):
    (lab01.folder / "exercise.py").unlink()
    assert lab01.run("reset").code == 0
    assert (lab01.folder / "exercise.py").exists()


@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
@pytest.mark.parametrize("target", [(), ("matmul",)])
def test_reset_keeps_the_line_ends_of_the_file(lab01, ends, target):
    file = lab01.folder / "exercise.py"
    file.write_bytes(LAB01.replace(b"\n", ends))
    lab01.run("reset", *target)
    data = file.read_bytes()
    assert b"NotImplementedError" in data
    assert data.replace(ends, b"").count(b"\n") == 0
    assert data.replace(ends, b"").count(b"\r") == 0


def test_a_syntax_error_keeps_a_target_from_being_reset_and_says_what_works(lab01):
    file = lab01.folder / "exercise.py"
    file.write_bytes(LAB01 + b"\ndef broken(:\n")
    before = file.read_bytes()
    ran = lab01.run("reset", "matmul")
    assert ran.code == 1
    assert "autodrill reset" in ran.err
    assert file.read_bytes() == before
    assert lab01.run("reset").code == 0


def test_json_names_the_symbols(lab01):
    changed = lab01.run("reset", "shape", "--json").json
    assert changed["schema"] == "autodrill.reset/1"
    assert "Tensor.sum" in changed["symbols"]
    assert lab01.run("undo", "--json").json["schema"] == "autodrill.undo/1"


def test_a_reset_of_a_file_that_is_gone_offers_no_undo(lab01):
    (lab01.folder / "exercise.py").unlink()
    ran = lab01.run("reset")
    assert ran.code == 0
    assert "there was no file" in ran.out
    assert "autodrill undo" not in ran.out
