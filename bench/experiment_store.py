# SPDX-License-Identifier: Apache-2.0
"""Result store of the experiment: records in a folder; no step runs twice.

A record has the result of a step, the digest of its inputs, and the versions
and options of the commands.  A step is repeated when either has changed; later
steps check the inputs only, so that a placement found on another machine counts
on this one.
"""
import contextlib
import fcntl
import functools
import glob
import hashlib
import json
import os
import shutil
import tempfile


def digest(*parts):
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.lru_cache(maxsize=None)
def digest_of_bytes(path, _size, _time):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def digest_of_file(path):
    about = os.stat(path)
    return digest_of_bytes(path, about.st_size, about.st_mtime_ns)


def write_whole(path, text):
    """Writes atomically: temporary file and rename."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def read_text(path):
    """Returns None if there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


class Busy(Exception):
    """Another process works in the folder."""


class Store:
    """A folder of records, and of the files they refer to.  With fresh, only
    records of this process count."""

    def __init__(self, folder, fresh=False):
        self.folder, self.fresh = folder, fresh
        self.written = set()
        os.makedirs(folder, exist_ok=True)

    @contextlib.contextmanager
    def locked(self):
        """Excludes other writers; self.scratch is a temporary folder until the
        end."""
        with open(self.path("lock"), "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Busy(self.folder) from error
            for left in glob.glob(self.path("scratch-*")):
                shutil.rmtree(left, ignore_errors=True)
            self.scratch = tempfile.mkdtemp(prefix="scratch-", dir=self.folder)
            try:
                yield
            finally:
                shutil.rmtree(self.scratch, ignore_errors=True)

    def path(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def temporary(self, name):
        """A path for output of a command until it is complete."""
        return os.path.join(self.scratch, name.replace("/", "."))

    def record(self, name):
        """Empty if there is none."""
        try:
            return json.loads(read_text(self.path(name + ".json")) or "{}")
        except ValueError:
            return {}

    def usable(self, name):
        """The record, unless it is from before a fresh start."""
        stale = self.fresh and name not in self.written
        return {} if stale else self.record(name)

    def told(self, name, inputs):
        """Returns the result for these inputs, whatever the versions and
        options, or None."""
        record = self.record(name)
        return record["told"] if record.get("inputs") == inputs else None

    def kept(self, name, inputs, how):
        """Returns None if the step is to be run."""
        record = self.usable(name)
        same = (record.get("inputs"), record.get("how")) == (inputs, how)
        return record["told"] if same else None

    def forget(self, name):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path(name + ".json"))

    def keep(self, name, inputs, how, told):
        record = {"inputs": inputs, "how": how, "told": told}
        write_whole(self.path(name + ".json"), json.dumps(record, indent=1))
        self.written.add(name)
