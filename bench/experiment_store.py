# SPDX-License-Identifier: Apache-2.0
"""What the experiment keeps in its folder, so that nothing is done twice.

A record tells what came of a step, what that was made from (the digest of its
inputs), and how (versions and options of the commands).  A step is done again
when either has changed; what is made from it asks for the inputs alone, so that
a placement that another machine found counts on this one.
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
    """The file appears whole or not at all."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def read_text(path):
    """None where there is nothing to read."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


class Busy(Exception):
    """Somebody else works in the folder."""


class Store:
    """A folder of records, and of the files they tell of.  With fresh, all that
    was not done by this one counts as not done."""

    def __init__(self, folder, fresh=False):
        self.folder, self.fresh = folder, fresh
        self.written = set()
        os.makedirs(folder, exist_ok=True)

    @contextlib.contextmanager
    def locked(self):
        """Nobody else writes meanwhile; self.scratch is a folder for files that
        nobody needs once this ends."""
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
        """For what a command writes before it counts."""
        return os.path.join(self.scratch, name.replace("/", "."))

    def record(self, name):
        """Empty where there is none."""
        try:
            return json.loads(read_text(self.path(name + ".json")) or "{}")
        except ValueError:
            return {}

    def usable(self, name):
        """The record, unless it is from before a fresh start."""
        stale = self.fresh and name not in self.written
        return {} if stale else self.record(name)

    def told(self, name, inputs):
        """What came of these inputs, however it was done, or None."""
        record = self.record(name)
        return record["told"] if record.get("inputs") == inputs else None

    def kept(self, name, inputs, how):
        """None where it is to be done."""
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
