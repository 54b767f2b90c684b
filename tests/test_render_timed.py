"""The screen of a timed run: whole at every width, and with every sign in ASCII."""

import io
from dataclasses import replace

import pytest

from autodrill.practice.timed_view import LastVerdict, Row, ShownHint, View
from autodrill.render.console import Screen
from autodrill.render.splits import splits
from autodrill.render.timed import flowing, show_event, whole_screen

ROWS = (
    Row("unbroadcast", 1, "sum back", 300.0, 200.0, 192.44, 1, "passed"),
    Row("core", 2, "the tensor and its graph", 600.0, 580.0),
    Row("cross_entropy", 3, "the loss", 180.0, None),
)


def view(**changed):
    usual = {
        "event": "tick",
        "attempt": 7,
        "track": "a_track",
        "kind": "ladder",
        "state": "open",
        "file": "attempts/engine.py",
        "current": ROWS[1],
        "rows": ROWS,
        "run_s": 222.0,
        "leg_s": 29.6,
        "paused_s": 0.0,
        "slept_s": 0.0,
        "par_s": 1080.0,
        "best_s": None,
    }
    return View(**usual | changed)


def shown(one, width=100, height=40):
    stream = io.StringIO()
    Screen(stream, width).write(whole_screen(one, width, height))
    return stream.getvalue()


HINT = ShownHint(2, "Rule", "\n".join(f"A sentence of the hint, number {n}.\n" for n in range(20)))
FAILED = LastVerdict(
    "fail", "core", 1, 2, "your gradient of x is wrong; the forward is right", "visits twice", 21.25
)


def test_ahead_is_minus_and_behind_is_plus():
    text = " ".join(shown(view()).split())
    assert "✓ 1 unbroadcast 3:12.4 5:00 -1:47.6 3:20.0 -0:07.6 1 hint" in text
    slower = Row("unbroadcast", 1, "sum back", 300.0, 200.0, 310.0, 0, "passed")
    assert "+0:10.0" in shown(view(rows=(slower, *ROWS[1:])))


def test_a_track_without_minutes_has_no_column_for_them():
    rows = tuple(Row(one.id, one.step, one.title, None, one.best_s) for one in ROWS)
    assert "target" not in shown(view(rows=rows, current=rows[1])).splitlines()[4]


@pytest.mark.parametrize("width", range(20, 101, 5))
def test_no_line_is_wider_than_the_screen(width):
    text = shown(view(hint=HINT, verdict=FAILED, slept_s=3600.0), width)
    long = [one for one in text.splitlines() if len(one) > width and "autodrill" not in one]
    assert long == []


@pytest.mark.parametrize("height", [14, 20, 30])
@pytest.mark.parametrize("width", [60, 100])
def test_what_there_is_no_room_for_is_said(width, height):
    text = shown(view(hint=HINT, verdict=FAILED), width, height)
    assert len(text.splitlines()) <= height
    assert "… more: autodrill hint core --level 2" in text
    assert "g give up" in text


def test_a_sleep_and_a_pause_are_shown():
    assert "asleep for 1:00:00, not counted" in shown(view(slept_s=3600.0))
    assert "paused  3:42" in shown(view(is_paused=True))


def test_the_last_verdict_is_on_one_line():
    text = shown(view(verdict=FAILED))
    assert (
        "✗ core 1/2  your gradient of x is wrong; the forward is right (visits twice)  at 0:21.3"
        in text
    )


def test_what_raised_is_told_with_its_line():
    raised = replace(FAILED, message="NameError: name 'p' is not defined", bug=None, line=171)
    text = shown(view(verdict=raised))
    assert "✗ core 1/2  line 171: NameError: name 'p' is not defined  at 0:21.3" in text


def test_a_target_under_way_is_behind_once_it_is_late():
    assert "+0:33" not in shown(view(leg_s=599.0))
    late = shown(view(leg_s=633.0))
    assert "10:33    10:00    +0:33   9:40.0    +0:53" in late
    assert "10:33 of 10:00" in shown(view(leg_s=633.0), 40)


def test_the_minutes_of_a_whole_run_stand_beside_its_time():
    assert shown(view()).splitlines()[0].endswith("3:42 of 18:00")
    assert shown(view(kind="target")).splitlines()[0].endswith(" 3:42")


def test_it_says_what_to_do_at_the_start_and_with_a_fresh_file():
    green = LastVerdict("pass", "unbroadcast", 1, 1, "", None, 192.4)
    assert "each save is graded; the clock stops at green" in shown(view())
    assert "the file is a fresh one: reload it in your editor" in shown(view(verdict=green))
    assert "reload it" not in shown(view(verdict=green, kind="full"))
    assert "reload it" not in shown(view(verdict=FAILED))


def test_no_difference_has_no_sign():
    same = Row("unbroadcast", 1, "sum back", 300.0, 200.0, 200.0, 0, "passed")
    assert shown(view(rows=(same, *ROWS[1:]))).count("   0:00.0") == 1


def test_a_stream_in_ascii_gets_signs_in_ascii():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    show_event(Screen(stream, 80), view(event="end", state="passed"))
    stream.flush()
    assert b"ok 1 unbroadcast" in raw.getvalue()


def test_a_narrow_screen_stacks_the_splits():
    stream = io.StringIO()
    Screen(stream, 40).write(splits(view(), 40))
    assert "-1:47.6 to the target" in stream.getvalue()


def test_paragraphs_flow_and_code_and_items_stay():
    text = "One sentence\nthat goes on.\n\n- an item\n  of two lines\n- another\n\n```\na\nb\n```"
    assert flowing(text).splitlines() == [
        "One sentence that goes on.",
        "",
        "- an item of two lines",
        "- another",
        "",
        "```",
        "a",
        "b",
        "```",
    ]


def test_minutes_that_are_estimates_are_marked_as_such():
    assert "about" in shown(view(estimates=True)).splitlines()[4]
    assert "-1:47.6 to the estimate" in shown(view(estimates=True), width=50)
    passed = view(estimates=True, state="passed", event="ended", kind="ladder")
    assert "within the 18:00 that we estimate" in shown(passed)
