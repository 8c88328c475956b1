# SPDX-License-Identifier: Apache-2.0
"""Runs commands of Moirai, taken from the PATH, with a time limit, and stops
all of them together; budgets of time."""
import subprocess
import threading
import time

PATIENCE_SECONDS = 3  # between asking a command to end and ending it


class Failed(Exception):
    """A command failed; the text is one line."""


class OutOfTime(Exception):
    """The time was too short to finish."""


class Stopped(Exception):
    """The experiment was interrupted."""


def end(child):
    child.terminate()
    try:
        child.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def last_line(text):
    return (text.strip().splitlines() or ["says nothing"])[-1]


class Commands:
    """Running commands, perhaps in several threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running, self.stopping = set(), False
        self.versions = {}

    def begin(self, command):
        with self.lock:
            if self.stopping:
                raise Stopped
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
            )
            self.running.add(child)
            return child

    def run(self, command, seconds=None, accepted=(0,)):
        """Returns the status and the output."""
        try:
            child = self.begin(command)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from error
        try:
            out, said = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            end(child)
            raise OutOfTime from late
        except BaseException:
            end(child)
            raise
        finally:
            with self.lock:
                self.running.discard(child)
        # What one that was asked to end has written is not its answer.
        if self.stopping:
            raise Stopped
        if child.returncode not in accepted:
            raise Failed(last_line(said))
        return child.returncode, out

    def stop(self):
        with self.lock:
            self.stopping = True
            for child in self.running:
                child.terminate()

    def version(self, name):
        """The output of --version: the drivers it runs with, too."""
        if name not in self.versions:
            self.versions[name] = self.run([name, "--version"])[1]
        return self.versions[name]


class Budget:
    """Seconds that may be used; without a number, unlimited."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds if seconds else None

    def part(self, share):
        """A budget of its own."""
        return Budget(None if self.end is None else share * self.left())

    def left(self):
        return self.end - time.monotonic()

    def lasts(self, seconds):
        """Returns whether a step of about that duration fits."""
        return self.end is None or self.left() > max(seconds, 0)

    def limit(self, seconds):
        """The time limit of a step with a limit of its own."""
        if self.end is None:
            return seconds
        return max(0.1, min(seconds, self.left()))
