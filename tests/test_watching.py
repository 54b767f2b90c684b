"""Which target is graded alone at the next save."""

import pytest
from conftest import ROOT

from autodrill.engines.standby import Standby
from autodrill.practice.check import CheckRequest, Grader
from autodrill.practice.watching import Watching
from autodrill.watch import Saved
from autodrill.workspace import stub_source

REFERENCE = (ROOT / "reference" / "beyond.py").read_text()


@pytest.fixture
def see(autodrill, monkeypatch):
    """Save a text of a track whose targets may come in any order, and say what was graded."""
    assert autodrill.run("start", "beyond").code == 0
    file = autodrill.folder / "beyond" / "engine.py"
    monkeypatch.setenv("AUTODRILL_HOME", str(autodrill.home))
    grader = Grader(CheckRequest(file=file))
    standby = Standby(grader.subject.track.scenarios)
    watching = Watching(grader, standby)

    def save(text):
        file.write_text(text)
        *_, seen = watching.see(Saved(text.encode(), 0.0, 0.0))
        return {one.id: one.verdict for one in seen.checked.result.targets}

    save.track = grader.subject.track
    yield save
    standby.close()


def test_where_the_order_is_free_a_wrong_target_is_graded_alone_and_no_blank_one(see):
    blank = stub_source(see.track)
    assert set(see(blank).values()) == {"todo"}
    assert len(see(blank)) == len(see.track.targets)

    wrong = REFERENCE.replace("return node.is_leaf or node._retains_grad", "return True")
    assert see(wrong)["leaf_grad"] == "fail"
    assert see(wrong) == {"leaf_grad": "fail"}
    assert set(see(REFERENCE).values()) == {"pass"}
