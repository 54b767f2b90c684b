"""Errors and notices on stderr."""

import io

from autodrill.errors import AutodrillError
from autodrill.render.errors import show, warn


def shown(error):
    stream = io.StringIO()
    show(stream, error)
    return stream.getvalue()


def test_an_error_and_its_hint_have_a_blank_line_between_them():
    error = AutodrillError("there is no track `lba`", hint="did you mean `lab`?")
    assert shown(error) == "error: there is no track `lba`\n\nhint: did you mean `lab`?\n"


def test_an_error_may_have_no_hint():
    assert shown(AutodrillError("no")) == "error: no\n"


def test_a_long_sentence_stays_on_one_line_where_there_is_no_terminal():
    message = " ".join(["word"] * 60)
    assert shown(AutodrillError(message)) == f"error: {message}\n"


def test_the_lines_of_a_message_stand_below_each_other():
    assert shown(AutodrillError("one\ntwo")) == "error: one\n       two\n"


def test_names_in_an_error_are_inert():
    assert shown(AutodrillError("no `\x1b[31m`")) == "error: no `\\x1b[31m`\n"


def test_a_notice_is_a_warning():
    stream = io.StringIO()
    warn(stream, "progress is not saved")
    assert stream.getvalue() == "warning: progress is not saved\n"
