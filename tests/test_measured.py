"""Memory that is measured: how it is counted, and that people see it, pass or fail."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

from autodrill.cases import Suite, memory_of
from autodrill.cases.run import Request, run
from autodrill.render.layout import plain
from autodrill.render.measured import size, table
from autodrill.results import Measure

REFERENCE = (ROOT / "reference" / "beyond.py").read_text()
KEPT = "kept by a forward that is recorded"


def test_what_a_result_keeps_is_counted_and_what_was_freed_is_in_the_peak_alone():
    def work():
        large = np.ones(100_000)
        return large[:1000].copy()

    memory = memory_of(work)
    assert 8_000 <= memory.kept < 12_000
    assert memory.peak >= 808_000


def test_garbage_in_a_cycle_is_not_counted_as_kept():
    def work():
        cycle = [np.ones(100_000)]
        cycle.append(cycle)

    assert memory_of(work).kept < 10_000


def test_a_measured_value_is_set_apart_from_the_graded_ones():
    suite = Suite()

    @suite.scenario(measures={"kept": "kept by nothing"})
    def one(lib):
        return {"kept": 12, "right": True}

    outcome = run(suite, SimpleNamespace(), Request("one"))
    assert (outcome.measured, outcome.values) == ({"kept": 12.0}, {"right": True})


def test_a_table_shows_each_size_and_its_share():
    measures = [Measure("before", 2_097_152.0), Measure("after it", 512.0, 0.25)]
    assert plain(table(measures), 80).splitlines() == [
        "  memory",
        "    before        2 MiB",
        "    after it  512 bytes  25.0%",
    ]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1536, "1.5 KiB"), (1e7, "9.54 MiB")]
)
def test_a_size_has_three_digits(count, text):
    assert size(count) == text


@pytest.fixture
def beyond(autodrill):
    assert autodrill.run("start", "beyond").code == 0
    autodrill.folder /= "beyond"

    def write(text):
        (autodrill.folder / "engine.py").write_text(text)
        return autodrill

    return write


def test_a_check_shows_what_was_measured_where_it_passes(beyond):
    program = beyond(REFERENCE)
    ran = program.run("check", "no_grad")
    assert ran.code == 0
    assert KEPT in ran.out
    (target,) = program.check("no_grad").json["targets"]
    recorded, unrecorded = target["measured"]
    assert (recorded["label"], recorded["share"]) == (KEPT, None)
    assert unrecorded["share"] == unrecorded["bytes"] / recorded["bytes"] < 0.25


def test_a_check_shows_what_was_measured_where_it_fails(beyond):
    wrong = REFERENCE.replace("    return _recording\n", "    return True\n")
    ran = beyond(wrong).run("check", "no_grad")
    assert ran.code == 1
    assert KEPT in ran.out
    assert "likely bug: the block changes nothing" in ran.out


def test_the_full_size_is_measured_when_it_is_asked_for(beyond):
    program = beyond(REFERENCE)
    small, large = (
        program.check("no_grad", *more).json["targets"][0]["measured"][0]["bytes"]
        for more in ((), ("--full",))
    )
    assert large > 10 * small


def test_all_is_graded_where_the_order_is_free(beyond):
    program = beyond(REFERENCE.replace("return node.is_leaf or node._retains_grad", "return True"))
    program.run("reset", "max")
    ran = program.run("check", "--json")
    verdicts = {one["id"]: one["verdict"] for one in json.loads(ran.out)["targets"]}
    assert verdicts["max"] == "todo"
    assert verdicts["leaf_grad"] == "fail"
    assert verdicts["hooks"] == "pass"


def test_the_minutes_of_a_target_read_as_estimates(beyond):
    assert "(about 12 min)" in beyond(REFERENCE).run().out
