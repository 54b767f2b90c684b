"""What the tests of timed attempts share: engines to save, and the program in a pipe."""

import os
import subprocess
import sys
import time

from conftest import ROOT

RETYPE = (ROOT / "reference" / "retype.py").read_text()
WRONG = RETYPE.replace("copied: Array = grad.sum(", "copied: Array = grad.mean(")
TARGETS = ["unbroadcast", "core", "arithmetic", "elementwise", "softmax", "cross_entropy"]


def save(file, text):
    """Save as editors do, and return when it was written."""
    beside = file.with_name(".autograd.py.swp")
    beside.write_text(text)
    written = time.monotonic()
    os.replace(beside, file)
    return written


def attempt(retype, number=1):
    """Return an attempt with its splits and saves, as the history shows it."""
    return retype.run("history", "show", str(number), "--json").json


class InAPipe:
    """`autodrill time` with its output in a pipe; `lines` holds its first line."""

    def __init__(self, retype, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autodrill", "time", *arguments],
            cwd=retype.folder,
            env=retype.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self.lines = [self.process.stdout.readline()]

    def says(self):
        """Return the next line."""
        return self.process.stdout.readline()

    def rest(self):
        """Return what it says until it ends."""
        with self.process.stdout:
            return self.process.stdout.read()

    def kill(self):
        """Kill it and wait until it is gone."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
