"""What the tests share: the real program in a process of its own, in a home of its own."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[1]

# A background job ignores Ctrl-C, and one under nohup a hang-up: what is started here must not.
for _name in ("SIGINT", "SIGHUP"):
    if hasattr(signal, _name):
        signal.signal(getattr(signal, _name), signal.default_int_handler)


@dataclass(frozen=True)
class Ran:
    """One run of autodrill."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@dataclass
class Autodrill:
    """Runs the program as a person would, from a folder, with output in pipes."""

    folder: Path
    home: Path

    def environment(self, **extra):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
        kept |= {"AUTODRILL_HOME": str(self.home), "COLUMNS": "100", "TERM": "dumb"}
        return {k: v for k, v in (kept | extra).items() if v is not None}

    def run(self, *arguments, folder=None, stdin="", timeout=120, **extra):
        done = subprocess.run(
            [sys.executable, "-m", "autodrill", *map(str, arguments)],
            cwd=folder or self.folder,
            env=self.environment(**extra),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def check(self, *arguments, **options):
        return self.run("check", "--json", *arguments, **options)


@pytest.fixture
def autodrill(tmp_path):
    """The program, in an empty folder and with an empty home."""
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    return Autodrill(folder, home)


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    """A workspace as `start` makes it, to be copied: most tests are about what comes after."""
    program = Autodrill(tmp_path_factory.mktemp("started"), tmp_path_factory.mktemp("home"))
    assert program.run("start", "lab01").code == 0
    return program.folder / "lab01"


@pytest.fixture
def lab01(autodrill, started):
    """The program, in a workspace whose engine file is the finished one."""
    autodrill.folder = shutil.copytree(started, autodrill.folder / "lab01")
    engine = autodrill.folder / "exercise.py"
    engine.write_bytes((ROOT / "reference" / "lab01.py").read_bytes())
    return autodrill


@pytest.fixture
def without(tmp_path):
    """Make the environment in which a library can't be imported, as where it is not installed."""

    def hide(*libraries):
        folder = tmp_path / "hidden"
        folder.mkdir(exist_ok=True)
        names = ", ".join(f"{name!r}: None" for name in libraries)
        (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update({{{names}}})\n")
        return {"PYTHONPATH": str(folder)}

    return hide


@pytest.fixture
def retype(autodrill):
    """The program, in a fresh workspace of the timed track."""
    assert autodrill.run("start", "retype").code == 0
    autodrill.folder = autodrill.folder / "retype"
    return autodrill


@pytest.fixture
def timing(retype):
    """Start `autodrill time` in a pseudo-terminal, or another command there."""
    opened = []

    def start(*arguments, size=(30, 100), command=None, **extra):
        environment = retype.environment(TERM="xterm-256color", COLUMNS=None, **extra)
        command = command or [sys.executable, "-m", "autodrill", "time", *arguments]
        opened.append(Terminal(command, retype.folder, environment, size))
        return opened[-1]

    start.file = retype.folder / "attempts" / "autograd.py"
    start.retype = retype
    yield start
    for one in opened:
        one.close()


def pytest_collection_finish():
    """Have the collector pass over all that is imported: some engines ask it to look often."""
    gc.collect()
    gc.freeze()
