"""A program in a pseudo-terminal, for the tests of the live screens."""

import time

import pexpect
import pyte

WAIT_S = 60


class Terminal:
    """A program in a pseudo-terminal, and the screen that a person would see."""

    def __init__(self, command, folder, environment, size=(30, 100)):
        self.screen = pyte.Screen(size[1], size[0])
        self.stream = pyte.Stream(self.screen)
        self.child = pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(folder),
            env=environment,
            dimensions=size,
            encoding="utf-8",
            codec_errors="replace",
            timeout=WAIT_S,
        )

    @property
    def text(self):
        return "\n".join(self.screen.display)

    def shows(self, *words, within=WAIT_S):
        """Wait until all the words are on the screen at once."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            self.take()
            if all(word in self.text for word in words):
                return True
        raise AssertionError(f"{words} never stood on the screen:\n{self.text}")

    def take(self, seconds=0.05):
        try:
            self.stream.feed(self.child.read_nonblocking(65536, timeout=seconds))
        except (pexpect.TIMEOUT, pexpect.EOF):
            time.sleep(0.01)

    def press(self, keys):
        self.child.send(keys)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def ends(self):
        """Wait for the end and return the exit code."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self.child.isalive():
            self.take()
        self.take()
        return self.child.exitstatus

    def close(self):
        self.child.close(force=True)
