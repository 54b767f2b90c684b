"""A learner's file that can't be read, parsed or imported (rows 1 to 8 of the faults)."""

import os

import pytest
from planted import REFERENCE, engine, failures, grade, line_of, plant

BOM = b"\xef\xbb\xbf"
UTF8 = REFERENCE.encode()


def problem_of(program, content):
    plant(program, content)
    ran = program.check("relu")
    assert ran.code == 1
    assert ran.json["verdict"] == "error"
    return ran.json["problem"]


def test_a_missing_file_is_said_to_be_and_graded_when_it_is_back(lab01):
    file = lab01.folder / "exercise.py"
    file.rename(lab01.folder / "elsewhere.py")
    ran = lab01.run("check", "relu")
    assert ran.code == 1
    assert "`exercise.py` is not there" in ran.out
    assert "autodrill reset" in ran.out
    (lab01.folder / "elsewhere.py").rename(file)
    assert lab01.check("relu").json["verdict"] == "pass"


@pytest.mark.parametrize("content", [b"", b" \n\n"], ids=["no bytes", "blank lines"])
def test_an_empty_file_is_said_to_be(lab01, content):
    assert problem_of(lab01, content)["message"] == "`exercise.py` is empty"


def test_a_folder_in_the_place_of_the_file_is_said_to_be(lab01):
    (lab01.folder / "exercise.py").unlink()
    (lab01.folder / "exercise.py").mkdir()
    ran = lab01.check("relu")
    assert ran.code == 1
    assert ran.json["problem"]["message"] == "`exercise.py` is a folder"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(lab01):
    (lab01.folder / "exercise.py").unlink()
    os.mkfifo(lab01.folder / "exercise.py")
    ran = lab01.check("relu", timeout=60)
    assert ran.code == 1
    assert ran.json["problem"]["message"] == "`exercise.py` is not a file"


def test_a_syntax_error_shows_the_line_and_a_caret_and_nothing_of_pytest(lab01):
    plant(lab01, "x = 1\ny = (x +\nz = 2 2\n")
    ran = lab01.run("check")
    assert ran.code == 1
    assert "`exercise.py` is not valid Python: '(' was never closed" in ran.out
    place = ran.out.splitlines().index("  line 2")
    shown, caret = ran.out.splitlines()[place + 1 : place + 3]
    assert shown.strip() == "y = (x +"
    assert shown[caret.index("^")] == "("
    assert "pytest" not in ran.out + ran.err
    problem = lab01.check().json["problem"]
    assert (problem["line"], problem["column"]) == (2, 5)


@pytest.mark.parametrize(
    ("mark", "ends"),
    [(b"", b"\r\n"), (BOM, b"\n"), (BOM, b"\r")],
    ids=["CRLF", "BOM", "BOM and CR"],
)
def test_line_ends_and_a_byte_order_mark_are_no_matter_and_reset_keeps_them(lab01, mark, ends):
    content = mark + UTF8.replace(b"\n", ends)
    plant(lab01, content)
    assert lab01.check("relu").json["verdict"] == "pass"
    for target in ("relu", None):
        assert lab01.run("reset", *filter(None, [target])).code == 0
        reset = (lab01.folder / "exercise.py").read_bytes()
        assert b"implement relu" in reset
        assert reset.startswith(mark or b'"""')
        assert reset.count(ends) == max(reset.count(b"\n"), reset.count(b"\r"))
        assert lab01.run("undo").code == 0
        assert (lab01.folder / "exercise.py").read_bytes() == content


@pytest.mark.parametrize(
    ("content", "message", "line", "column"),
    [
        (b"# a\n# caf\xe9\n", "not UTF-8: byte 0xe9 at position 10 (line 2, column 6)", 2, 6),
        (b"x = 1\ny\0= 2\n", "has a null byte at line 2, column 2", 2, 2),
        ("x = 1\n".encode("utf-16"), "is UTF-16, not UTF-8", 1, None),
    ],
    ids=["Latin-1", "a null byte", "UTF-16"],
)
def test_what_is_not_utf8_is_named_with_its_place(lab01, content, message, line, column):
    problem = problem_of(lab01, content)
    assert message in problem["message"]
    assert (problem["line"], problem["column"]) == (line, column)


@pytest.mark.parametrize(
    ("source", "names", "column"),
    [
        ("x = “a”\n", 'U+201C, LEFT DOUBLE QUOTATION MARK; type " in its place', 5),
        ("x =\u00a01\n", "U+00A0, NO-BREAK SPACE; type a space in its place", 4),
        ("x\u200b = 1\n", "U+200B, ZERO WIDTH SPACE", 2),
    ],
    ids=["a smart quote", "a no-break space", "an invisible character"],
)
def test_a_character_that_hides_is_named_with_its_column(lab01, source, names, column):
    problem = problem_of(lab01, source)
    assert problem["column"] == column
    assert problem["hint"] == f"column {column} holds {names}"


def test_input_at_import_is_told_that_there_is_no_keyboard(lab01):
    problem = problem_of(lab01, engine(top="input('your name? ')"))
    assert problem["message"] == "your file asks for input at import"
    assert "no keyboard" in problem["hint"]


def test_input_and_breakpoint_in_a_function_fail_that_function_alone(lab01):
    result = grade(
        lab01, relu="return Tensor(float(input()))", exp="breakpoint()\nreturn self", also=["tanh"]
    )
    assert [one["verdict"] for one in result["targets"]] == ["fail", "fail", "pass"]
    reading, debugging, _ = failures(result)
    assert "`input()` needs a keyboard" in reading["message"]
    assert "`breakpoint()` needs a keyboard" in debugging["message"]
    assert reading["line"] == line_of(lab01, "float(input())")


def test_an_exception_at_import_is_reported_once(lab01):
    plant(lab01, engine(top="print('hello')\nthreshold = 1 / 0"))
    ran = lab01.run("check")
    assert ran.code == 1
    assert ran.out.count("ZeroDivisionError") == 1
    assert ran.out.count("threshold = 1 / 0") == 1
    assert ran.out.count("hello") == 1


def test_a_trace_shows_the_right_line_after_characters_that_only_some_count_as_line_ends(lab01):
    plant(lab01, '"""A form feed \x0c and a line separator \u2028 here."""\n\x0c\nwrong = 1 / 0\n')
    ran = lab01.run("check")
    assert "line 3, in <module>" in ran.out
    assert "wrong = 1 / 0" in ran.out


def test_sys_exit_at_import_is_never_a_pass(lab01):
    problem = problem_of(lab01, engine(top="import sys; sys.exit(0)"))
    assert problem["message"] == "your file exited at import"


def test_sys_exit_in_a_function_is_never_a_pass(lab01):
    result = grade(lab01, relu="import sys; sys.exit(0)", also=["exp"])
    assert [one["verdict"] for one in result["targets"]] == ["crash", "pass"]
    assert failures(result)[0]["message"] == "your file exited (it called sys.exit)"


def test_a_file_named_like_a_module_of_pythons_hides_none(lab01):
    file = lab01.folder / "json.py"
    file.write_text(REFERENCE)
    assert lab01.check("relu", "--file", file).json["verdict"] == "pass"
