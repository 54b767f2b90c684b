"""Histories, homes, workspaces and tracks that are damaged, full or unwritable.

Rows 27 to 30 and 38 to 41 of the faults, and the part of 31 that concerns `check`.
"""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from planted import REFERENCE, engine, plant

NO_CACHE = shutil.ignore_patterns("__pycache__")
COMMAND = [sys.executable, "-m", "autodrill"]
UTF8 = REFERENCE.encode()
unix = pytest.mark.skipif(os.name != "posix", reason="needs what only Unix has")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def checks_in(home):
    if not (home / "history.db").exists():
        return 0
    history = sqlite3.connect(home / "history.db")
    try:
        return history.execute("SELECT count(*) FROM checks").fetchone()[0]
    finally:
        history.close()


def files_in(folder):
    paths = sorted(folder.rglob("*"))
    return {path.relative_to(folder): path.read_bytes() for path in paths if path.is_file()}


# ---------------------------------------------------------------- 27 a damaged history


@pytest.fixture
def used(lab01):
    """A workspace with one check in its history."""
    assert lab01.check("relu").code == 0
    return lab01


DAMAGE = {
    "truncated": lambda data: data[:5000],
    "no database": lambda data: b"hello world" * 1000,
    "zeroed in part": lambda data: data[:4096] + bytes(len(data) - 4096),
}


@pytest.mark.parametrize(
    ("kind", "command"),
    [("truncated", "check"), ("no database", "hint"), ("zeroed in part", "hint")],
)
def test_a_damaged_history_is_set_aside_and_a_new_one_begun(used, kind, command):
    file = used.home / "history.db"
    damaged = DAMAGE[kind](file.read_bytes())
    file.write_bytes(damaged)
    ran = used.run(command, "relu")
    assert ran.code == 0
    assert "the history is damaged; it was set aside as" in ran.err
    (kept,) = used.home.glob("history.*.set-aside.db")
    assert kept.read_bytes() == damaged
    assert str(kept) in ran.err
    assert used.run(command, "relu").err == ""
    assert checks_in(used.home) == (2 if command == "check" else 0)


def test_a_database_of_another_program_is_set_aside(used):
    file = used.home / "history.db"
    file.unlink()
    other = sqlite3.connect(file)
    other.execute("PRAGMA user_version = 1")
    other.execute("CREATE TABLE notes (text)")
    other.close()
    ran = used.check("relu")
    assert ran.code == 0
    assert "the history is damaged; it was set aside as" in ran.err
    (kept,) = used.home.glob("history.*.set-aside.db")
    notes = sqlite3.connect(kept)
    assert notes.execute("SELECT count(*) FROM notes").fetchone() == (0,)
    notes.close()
    assert checks_in(used.home) == 1


def test_a_history_of_a_newer_version_is_set_aside(used):
    history = sqlite3.connect(used.home / "history.db")
    history.execute("PRAGMA user_version = 99")
    history.close()
    ran = used.check("relu")
    assert ran.code == 0
    assert "the history is of a newer version of autodrill; it was set aside as" in ran.err
    assert checks_in(used.home) == 1


# ---------------------------------------------------------------- 28 SIGKILL, 31 at once


@unix
def test_a_kill_during_start_leaves_a_whole_workspace_or_none(autodrill):
    autodrill.run("start", "lab01", "whole")
    whole = files_in(autodrill.folder / "whole")
    seen = set()
    for after_ms in range(60, 240, 18):
        folder = autodrill.folder / f"killed{after_ms}"
        killed = start_and_kill(autodrill, after_ms / 1000, "start", "lab01", folder)
        assert killed.returncode in (0, -signal.SIGKILL)
        seen.add(folder.exists())
        if folder.exists():
            assert files_in(folder).keys() == whole.keys()
            assert files_in(folder)[Path("exercise.py")] == whole[Path("exercise.py")]
    assert seen
    assert autodrill.run().code == 0


@unix
def test_a_kill_during_reset_leaves_the_old_text_or_the_new_one(lab01):
    lab01.run("reset")
    file = lab01.folder / "exercise.py"
    new = file.read_bytes()
    for after_ms in range(60, 240, 20):
        file.write_bytes(UTF8)
        start_and_kill(lab01, after_ms / 1000, "reset")
        assert file.read_bytes() in (UTF8, new)
        if file.read_bytes() == new:
            assert lab01.run("undo").code == 0
            assert file.read_bytes() == UTF8


def start_and_kill(program, after_s, *arguments):
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=program.folder,
        env=program.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    process.kill()
    process.wait()
    return process


def test_checks_at_once_lose_no_row_and_show_no_lock(lab01):
    assert run_at_once(lab01, 10, "check", "sgd_step") == [""] * 10
    assert checks_in(lab01.home) == 10


def test_of_commands_at_once_one_sets_a_damaged_history_aside(lab01):
    lab01.home.mkdir()
    (lab01.home / "history.db").write_bytes(b"hello world" * 1000)
    said = run_at_once(lab01, 10, "hint", "relu", "--level", "1")
    assert ["set aside" in one for one in said].count(True) == 1
    assert said.count("") == 9
    history = sqlite3.connect(lab01.home / "history.db")
    assert history.execute("SELECT count(*) FROM hints").fetchone() == (10,)
    history.close()


def run_at_once(program, count, *arguments):
    processes = [
        subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=program.folder,
            env=program.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    said = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * count
    return said


# ---------------------------------------------------------------- 29 a full disk


def run_on_a_full_disk(program, *arguments, largest=4096):
    """Run with a limit on the size of files, which fails a write as a full disk does."""
    import resource

    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        check=False,
        cwd=program.folder,
        env=program.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
    )


@unix
def test_a_disk_too_full_for_the_history_costs_the_history_alone(lab01):
    ran = run_on_a_full_disk(lab01, "check", "relu")
    assert ran.returncode == 0
    assert "progress is not saved" in ran.stderr
    assert "relu is green" in ran.stdout
    assert lab01.check("relu").err == ""


@unix
def test_a_disk_too_full_for_a_workspace_makes_none(autodrill):
    ran = run_on_a_full_disk(autodrill, "start", "lab01")
    assert ran.returncode == 1
    assert "can't be made: File too large" in ran.stderr
    assert list(autodrill.folder.iterdir()) == []


@unix
@pytest.mark.parametrize("largest", [4096, 20_000], ids=["for anything", "for the old text"])
def test_a_disk_too_full_for_a_reset_leaves_the_file_whole(lab01, largest):
    before = files_in(lab01.folder)
    ran = run_on_a_full_disk(lab01, "reset", largest=largest)
    assert ran.returncode == 1
    assert "can't be written: File too large; it is as it was" in ran.stderr
    assert files_in(lab01.folder) == before


# ---------------------------------------------------------------- 30 no home


@pytest.fixture
def homeless(lab01):
    """A workspace and a home that can't be made: a path below a file."""
    (lab01.folder.parent / "file").write_text("")
    lab01.home = lab01.folder.parent / "file" / "home"
    return lab01


def test_without_a_home_it_grades_and_says_that_progress_is_not_saved(homeless):
    for command in (["check", "relu"], ["hint", "relu"], []):
        ran = homeless.run(*command)
        assert ran.code == 0
        assert ran.err.count("progress is not saved") == 1
    ran = homeless.check("relu")
    assert ran.json["verdict"] == "pass"


def test_without_a_home_reset_keeps_the_text_beside_the_file_and_undo_finds_it(homeless):
    file = homeless.folder / "exercise.py"
    file.write_bytes(UTF8)
    ran = homeless.run("reset", "relu")
    assert ran.code == 0
    assert "the old text was kept as `exercise.py.before-reset-1`" in ran.err
    blanked = file.read_bytes()
    assert blanked != UTF8
    ran = homeless.run("undo")
    assert ran.code == 0
    assert file.read_bytes() == UTF8
    assert (homeless.folder / "exercise.py.before-undo-1").read_bytes() == blanked
    assert "no reset to undo" in homeless.run("undo").err


# ---------------------------------------------------------------- 38 folders


@pytest.mark.parametrize(
    "name",
    ["with spaces and 'quotes'", "中文 ñ 🙂", "n" * 200, "a\nb[1]{x}%s"],
    ids=["spaces", "unicode", "200 characters", "a line end"],
)
def test_a_folder_may_have_any_name(autodrill, name):
    folder = autodrill.folder / name
    assert autodrill.run("start", "lab01", folder).code == 0
    autodrill.folder = folder
    plant(autodrill, engine(exp="raise ValueError('here')"))
    relu, exp = autodrill.check("relu", "exp").json["targets"]
    assert relu["verdict"] == "pass"
    assert exp["failures"][0]["trace"]
    assert autodrill.run("reset", "relu").code == 0


@linux
def test_a_folder_may_have_a_name_that_is_no_text(autodrill):
    folder = autodrill.folder / os.fsdecode(b"latin-\xe9")
    assert autodrill.run("start", "lab01", folder).code == 0
    plant(autodrill, "")
    for command in (["check", "relu"], ["reset"], ["undo"], ["where"], []):
        ran = autodrill.run(*command, folder=folder)
        assert ran.code == (1 if command == ["check", "relu"] else 0), ran


@unix
def test_links_are_followed_and_stay_links(lab01):
    real = lab01.folder.parent / "elsewhere.py"
    (lab01.folder / "exercise.py").rename(real)
    (lab01.folder / "exercise.py").symlink_to(real)
    real.chmod(0o640)
    link = lab01.folder.parent / "link"
    link.symlink_to(lab01.folder)
    lab01.folder = link
    assert lab01.check("relu").json["verdict"] == "pass"
    assert lab01.run("reset", "relu").code == 0
    assert (link / "exercise.py").is_symlink()
    assert b"implement relu" in real.read_bytes()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert lab01.run("undo").code == 0
    assert real.read_bytes() == UTF8


@unix
def test_a_folder_that_is_gone_is_said_to_be(lab01):
    line = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m autodrill check"
    ran = subprocess.run(
        ["bash", "-c", line],
        check=False,
        cwd=lab01.folder,
        env=lab01.environment(),
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: the current folder is gone")


@linux
def test_a_read_only_workspace_is_graded_and_a_reset_of_it_says_why_not(lab01):
    for folder in (lab01.folder, lab01.home.parent):
        folder.chmod(0o555)
    try:
        graded, reset = (
            run_without_privilege(lab01, *command) for command in (["check", "relu"], ["reset"])
        )
    finally:
        for folder in (lab01.folder, lab01.home.parent):
            folder.chmod(0o755)
    assert graded.returncode == 0, graded
    assert "progress is not saved" in graded.stderr
    assert reset.returncode == 1
    assert "can't be written: Permission denied; it is as it was" in reset.stderr
    assert (lab01.folder / "exercise.py").read_bytes() == UTF8


def run_without_privilege(program, *arguments):
    """Run so that a read-only folder is one: to root, which tests may run as, it is none."""
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv, or not to be root")
    return subprocess.run(
        [*(drop if os.getuid() == 0 else []), *COMMAND, *arguments],
        check=False,
        cwd=program.folder,
        env=program.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


# ---------------------------------------------------------------- 39 markers, 40 start

MARKERS = {
    "newer": ('format = 2\ntrack = "lab01"\n', "was made by a newer autodrill", "upgrade"),
    "no TOML": ("format = \n", "can't be read", "--file"),
    "empty": ("", "does not say its format and its track", "--file"),
    "odd": ('format = inf\ntrack = ["a"]\n', "does not say its format and its track", "--file"),
    "track gone": (
        'format = 1\ntrack = "lab99"\n',
        "is for the track `lab99`, which this autodrill does not have",
        "`autodrill tracks`",
    ),
}


@pytest.mark.parametrize("kind", MARKERS)
def test_a_marker_that_does_not_serve_says_what_to_do_and_touches_nothing(lab01, kind):
    content, message, hint = MARKERS[kind]
    (lab01.folder / ".autodrill" / "workspace.toml").write_text(content)
    before = files_in(lab01.folder)
    for command in ("check", "reset", "time", "next"):
        ran = lab01.run(command)
        assert ran.code == 2
        assert message in ran.err
        assert hint in ran.err
    assert files_in(lab01.folder) == before


def test_a_folder_in_the_place_of_the_marker_is_a_damaged_marker(lab01):
    marker = lab01.folder / ".autodrill" / "workspace.toml"
    marker.unlink()
    marker.mkdir()
    assert "can't be read" in lab01.run("check").err


def make_a_file(path):
    path.write_text("mine")


def make_a_full_folder(path):
    path.mkdir()
    (path / "exercise.py").write_text("mine")


def make_a_dangling_link(path):
    path.symlink_to("nowhere")


def make_a_workspace(path):
    shutil.copytree(path.parent / "lab01", path)


@pytest.mark.parametrize(
    "make", [make_a_file, Path.mkdir, make_a_full_folder, make_a_dangling_link, make_a_workspace]
)
def test_start_refuses_what_is_there_and_changes_nothing(lab01, make):
    folder = lab01.folder.parent
    make(folder / "taken")
    before = files_in(folder)
    ran = lab01.run("start", "lab01", folder / "taken")
    assert ran.code == 2
    assert "exists already; nothing was changed" in ran.err
    assert files_in(folder) == before
    assert {path.name for path in folder.iterdir()} == {"lab01", "taken"}


@pytest.mark.parametrize("name", ["file/below", "n" * 300], ids=["below a file", "too long"])
def test_start_where_nothing_can_be_made_says_why(autodrill, name):
    (autodrill.folder / "file").write_text("")
    ran = autodrill.run("start", "lab01", name)
    assert ran.code == 1
    assert "can't be made: " in ran.err
    assert [path.name for path in autodrill.folder.iterdir()] == ["file"]


# ---------------------------------------------------------------- 41 a fault of ours


@pytest.fixture(scope="module")
def program_copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "autodrill", root / "autodrill", ignore=NO_CACHE)
    return root


@pytest.fixture
def copy(program_copy):
    """A copy of the program, with tracks that may be broken."""
    for name in ("drills", "reference"):
        shutil.rmtree(program_copy / name, ignore_errors=True)
        shutil.copytree(ROOT / name, program_copy / name, ignore=NO_CACHE)
    return program_copy


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


BREAK = {
    "bad TOML": lambda lab01: edit(lab01 / "track.toml", "format = 1", "format = "),
    "a test that is missing": lambda lab01: edit(
        lab01 / "test_lab01.py", "def test_diamond_graph", "def other_diamond_graph"
    ),
    "graders with a fault": lambda lab01: edit(lab01 / "test_lab01.py", "import pytest", "1 / 0"),
    "a test with a fault": lambda lab01: edit(
        lab01 / "test_lab01.py", "    shapes, shape = UNBROADCASTS[name]", "    1 / 0"
    ),
    "scenarios with a fault": lambda lab01: edit(
        lab01 / "scenarios.py", "import numpy as np", "1 / 0"
    ),
    "scenarios that are missing": lambda lab01: (lab01 / "scenarios.py").unlink(),
    "a reference with a fault": lambda lab01: edit(
        lab01.parents[1] / "reference" / "lab01.py", "import numpy as np", "1 / 0"
    ),
    "a reference that is wrong": lambda lab01: edit(
        lab01.parents[1] / "reference" / "lab01.py", "    return copied.reshape(shape)", "    1 / 0"
    ),
}


@pytest.mark.parametrize("kind", BREAK)
def test_a_fault_in_a_track_is_ours_and_never_counts_against_the_learner(lab01, copy, kind):
    BREAK[kind](copy / "drills" / "lab01")
    ran = run_copy(lab01, copy, "check", "unbroadcast", "backward")
    assert ran.returncode == 3, ran
    assert "autodrill's fault, not yours" in ran.stderr
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr
    assert checks_in(lab01.home) == 0


def test_a_bug_that_does_not_apply_is_ours(lab01, copy):
    bugs = copy / "drills" / "lab01" / "bugs.toml"
    edit(bugs, 'find = "g * (x > 0)"\nput = "g"', 'find = "no such text"\nput = "g"')
    wrong = 'return Tensor._make(np.maximum(self.data, 0.0), (self,), lambda g: (g,), "relu")'
    plant(lab01, engine(relu=wrong))
    ran = run_copy(lab01, copy, "check", "relu")
    assert ran.returncode == 3
    assert "does not apply" in ran.stderr
    assert "autodrill's fault, not yours" in ran.stderr
    assert checks_in(lab01.home) == 0


def test_a_fault_in_the_program_is_said_in_a_sentence(lab01, copy):
    module = copy / "autodrill" / "grading" / "failure.py"
    before = module.read_text()
    module.write_text(f"{before}\n\ndef explain(*_, **__):\n    raise ZeroDivisionError('ours')\n")
    plant(lab01, engine(relu="return self"))
    try:
        ran = run_copy(lab01, copy, "check", "relu")
    finally:
        module.write_text(before)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr.startswith("error: autodrill itself failed: ZeroDivisionError: ours\n")
    assert checks_in(lab01.home) == 0


def run_copy(program, copy, *arguments):
    code = f"import sys; sys.path.insert(0, {str(copy)!r}); from autodrill.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        cwd=program.folder,
        env=program.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
