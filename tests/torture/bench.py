# SPDX-License-Identifier: Apache-2.0
"""One run of a command with a failing call, and the verdict on it."""
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
import xml.etree.ElementTree

CLASSES = ["alloc", "read", "write", "open", "close", "name", "sync", "stat",
           "process", "exec", "net", "map", "thread", "wait", "remove",
           "setting"]
ORIGINS = ["own", "parser", "other"]
ACTIONS = ["count", "fail", "fail-from", "kill", "less", "less-from",
           "interrupt"]
MAGIC, FRAMES, LOG = 0x4d6f4650, 16, 1 << 17
HEAD = 13                      # words before the stacks
COUNTS = HEAD + 2 * FRAMES + 16
WORDS = COUNTS + len(CLASSES) * len(ORIGINS)
LIMIT_S = 60
OLD = b"old\n"
# Reports of a solver that could not be run or read.
REASONS = "cannot|could not|killed|signal|memory|not found|failed|left no|" \
    "gave none"
# Sweeps folders of solvers, as every run does that has one.
SWEEPER = ["moirai-solve", "-q", "--command",
           "sh solver.sh {model} {solution}", "-o", "../swept.sol",
           "inception.lp"]
PR_SET_CHILD_SUBREAPER = 36


class State:
    """The file that is shared with the processes of a run."""

    def __init__(self, path):
        self.path = path

    def write(self, action, name="alloc", origin="own", nth=0, trace=0,
              log=0):
        head = [MAGIC, ACTIONS.index(action), CLASSES.index(name),
                ORIGINS.index(origin), nth, trace, log]
        with open(self.path, "wb") as file:
            file.write(struct.pack("<7Q", *head))
            file.truncate(8 * (WORDS + log))

    def read(self):
        with open(self.path, "rb") as file:
            data = file.read()
        words = struct.unpack(f"<{len(data) // 8}Q", data)
        stack = words[HEAD:HEAD + FRAMES]
        traced = words[HEAD + FRAMES:HEAD + 2 * FRAMES]
        image = data[8 * (HEAD + 2 * FRAMES):8 * COUNTS]
        self.fired, self.exits, self.leaked, self.left_open, \
            self.leaked_number, n_logged = words[7:13]
        self.stack = [f for f in stack if f]
        self.traced = [f for f in traced if f]
        self.image = image.split(b"\0")[0].decode()
        self.counts = words[COUNTS:WORDS]
        self.log = words[WORDS:WORDS + min(n_logged, LOG)]
        return self

    def count(self, name, origin):
        return self.counts[CLASSES.index(name) * len(ORIGINS) +
                           ORIGINS.index(origin)]


def is_whole(name, data):
    """Whether a result that holds measured times is complete."""
    try:
        if name.endswith(".json"):
            json.loads(data)
        if name.endswith(".xml"):
            xml.etree.ElementTree.fromstring(data)
    except (ValueError, xml.etree.ElementTree.ParseError):
        return False
    return data != OLD and (data.endswith((b"\n", b"}")) or not data)


def symbolize(image, addresses):
    """The innermost functions of a stack, 'file:line' each."""
    if not addresses or not shutil.which("addr2line"):
        return ""
    out = subprocess.run(
        ["addr2line", "-e", shutil.which(image) or image, "-s", "-f"] +
        [hex(a - 1) for a in addresses[:6]], capture_output=True, text=True)
    lines = out.stdout.splitlines()
    return " < ".join(f"{f} ({p.split(' ')[0]})"
                      for f, p in zip(lines[::2], lines[1::2]))


class Bench:
    """A folder in which one run after the other is made."""

    def __init__(self, options, number):
        self.options = options
        self.root = os.path.join(options.scratch, f"bench{number}")
        self.folder = os.path.join(self.root, "here")
        self.state = State(os.path.join(self.root, "state"))
        self.port = 20000 + os.getpid() % 8000 + number
        os.mkdir(self.root)
        shutil.copytree(os.path.join(options.scratch, "inputs"), self.folder)
        self.inputs = self.listing()
        self.reference = {}
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def path(self, name):
        return os.path.join(self.folder, name)

    def listing(self):
        return {os.path.relpath(os.path.join(d, f), self.folder)
                for d, folders, files in os.walk(self.folder)
                for f in files + folders}

    def bytes_of(self, name):
        try:
            with open(self.path(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def set_up(self, case, has_old, names=None):
        """Removes what runs have made, or these names only."""
        for name in names or self.listing() - self.inputs:
            path = self.path(name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.lexists(path):
                os.unlink(path)
        for name in case.outputs:
            if has_old and name not in case.read:
                with open(self.path(name), "wb") as file:
                    file.write(OLD)

    def environment(self, case, rank, hit):
        env = dict(os.environ, TMPDIR=self.path("tmp"), LC_ALL="C",
                   HOME=self.folder, MOIRAI_CUDA="", MOIRAI_NVML="",
                   MOIRAI_CACHE="none", OPENBLAS_NUM_THREADS="1",
                   MALLOC_PERTURB_="165", MOIRAI_PATIENCE="5")
        for name in "MOIRAI_CLUSTER", "MOIRAI_PATH", "MOIRAI_TRANSPORT":
            env.pop(name, None)
        if case.ranks > 1:
            env.update(MOIRAI_TRANSPORT="tcp", MOIRAI_RANK=str(rank),
                       MOIRAI_RANKS=str(case.ranks), MOIRAI_TOKEN="t" * 32,
                       MOIRAI_MASTER=f"127.0.0.1:{self.port}",
                       MOIRAI_NO_SHM="1")
        env.update(case.env)
        env = {name: value for name, value in env.items() if value is not None}
        if hit:
            env.update(LD_PRELOAD=self.options.preload,
                       FAILPOINT_STATE=self.state.path)
        return env

    def next_port(self):
        """A port that is free now."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def start(self, case, rank, hit):
        with open(self.path(f"../out{rank}"), "wb") as out, \
                open(self.path(f"../err{rank}"), "wb") as err:
            return subprocess.Popen(
                case.launcher + case.argv, cwd=self.folder, stdout=out,
                stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                env=self.environment(case, rank, hit))

    def run(self, case, injects):
        """Runs the command; returns status, stdout and stderr by rank."""
        if case.ranks > 1:
            self.next_port()
        jobs = [self.start(case, rank, injects and rank == case.hit)
                for rank in range(case.ranks)]
        end, status = time.monotonic() + LIMIT_S, []
        for job in jobs:
            try:
                status.append(job.wait(max(0.1, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                status.append("hang")
        out, err = [], []
        for rank in range(case.ranks):
            out.append(self.bytes_of(f"../out{rank}"))
            err.append(self.bytes_of(f"../err{rank}").decode("utf-8",
                                                             "replace"))
        return status, out, err

    def orphans(self):
        """Ends processes that the run has left; returns how many."""
        end, left = time.monotonic() + 5, 0
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return left
            if pid == 0 and time.monotonic() > end:
                me = str(os.getpid())
                for entry in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        with open(f"/proc/{entry}/stat") as file:
                            if file.read().rsplit(")", 1)[1].split()[1] == me:
                                os.kill(int(entry), signal.SIGKILL)
                                left += 1
                    except OSError:
                        pass
                end = time.monotonic() + 5
            elif pid == 0:
                time.sleep(0.005)

    def prepare(self, case):
        """The results without a failure; None when there are none."""
        if case.name not in self.reference:
            self.set_up(case, True)
            status, out, err = self.run(case, False)
            self.orphans()
            made = {n: self.bytes_of(n) for n in case.outputs}
            good = all(s == 0 for s in status) and None not in made.values()
            self.reference[case.name] = (out, err, made) if good else None
        return self.reference[case.name]

    def count(self, case):
        self.set_up(case, True)
        self.state.write("count", log=LOG)
        self.run(case, True)
        self.orphans()
        return self.state.read()

    # -------------------------------------------------------------- verdicts

    def same(self, case, name, got, wanted):
        if got == wanted or got is None:
            return got == wanted
        if case.solves and name.endswith(".sol"):
            return self.holds(name)
        if case.measured and not name.endswith(".npy"):
            return is_whole(name, got)
        return case.solves and name.endswith(".json") and is_whole(name, got)

    def holds(self, solution):
        """Whether a solution is whole and valid, by moirai-check."""
        done = subprocess.run(["moirai-check", "-q", solution],
                              cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def faults_of_files(self, case, made, done, has_old):
        """Outputs are old or new, and new when the run has succeeded."""
        for name in case.outputs:
            got = self.bytes_of(name)
            if self.same(case, name, got, made[name]):
                continue
            if done:
                yield f"differs: {name}"
            elif got != (OLD if has_old and name not in case.read else None):
                yield f"torn: {name}"

    def litter(self, case, below=""):
        left = self.listing() - self.inputs - set(case.outputs)
        return [f"litter: {name}" for name in sorted(left)
                if name.startswith(below)]

    def faults_of_status(self, case, job, status, err, result):
        _, name, origin, mode, _ = job
        out, quiet, _ = self.reference[case.name]
        for rank, code in enumerate(status):
            usual = quiet[rank].splitlines() if not case.launcher else []
            lines = [line for line in err[rank].splitlines()
                     if line not in usual and
                     (not case.launcher or line.startswith("moirai"))]
            if code == "hang":
                yield "hang"
            elif mode == "kill" and rank == case.hit:
                if code not in (0, 1, -9) and not case.launcher and \
                        not (code == 3 and case.solves):
                    yield f"status {code} after a kill"
            elif mode in ("less", "less-from", "interrupt"):
                # The library of a solver need not try again.
                if code != 0 and not (code == 3 and origin == "parser" and
                                      case.solves):
                    yield f"not transparent: status {code}: " + \
                        "".join(lines[:1])
            elif code == 0:
                exact = not (case.measured or case.timed) and not (
                    case.surveys and name != "alloc" and
                    b", missing" in result[rank])
                if exact and result[rank] != out[rank]:
                    yield "differs: standard output"
                if len(lines) > 1:
                    yield f"{len(lines)} lines"
            elif code == 3 and case.solves and \
                    re.search(REASONS, result[rank].decode()):
                pass
            elif code != 1 and not case.launcher:
                yield f"status {code}: " + " | ".join(
                    lines[:2] or result[rank].decode().splitlines()[:1])
            elif not lines or len(lines) > 1 + (2 if case.launcher else 0):
                yield f"{len(lines)} lines: " + " | ".join(lines[:4])
            elif name == "alloc" and rank == case.hit and \
                    not re.search("memory", lines[0]):
                yield "not said as out of memory: " + lines[0]

    def judge(self, case, job):
        """Makes one run; returns what is wrong with it, and its result."""
        _, name, origin, mode, nth = job
        made, has_old = self.reference[case.name][2], nth % 2 == 1
        self.set_up(case, has_old)
        self.state.write(mode, name, origin, nth)
        status, out, err = self.run(case, True)
        left, faults = self.orphans(), []
        state = self.state.read()
        if state.fired == 0:
            return [], "not reached", state
        done = all(s == 0 for s in status)
        faults += self.faults_of_status(case, job, status, err, out)
        faults += self.faults_of_files(case, made, done, has_old)
        if left:
            faults.append(f"orphans: {left}")
        if mode == "kill" or name == "remove" or \
                any(self.litter(case, "tmp")):
            # What could not be removed is removed by the next run.
            if case.once:
                self.set_up(case, False, set(case.outputs))
            status, _, err = self.run(case, False)
            self.orphans()
            if any(status):
                faults.append(f"the next run fails: {err}")
            if any(self.litter(case, "tmp")):
                subprocess.run(SWEEPER, cwd=self.folder,
                               stdout=subprocess.DEVNULL,
                               env=self.environment(case, 0, False))
        faults += self.litter(case)
        if origin != "other" and status[case.hit] != "hang":
            if state.leaked > self.usual_leaks.get(case.name, 0):
                faults.append(f"leak: {state.leaked} blocks, first is "
                              f"allocation {state.leaked_number}")
            if state.left_open:
                faults.append(f"open: {state.left_open} descriptors")
        if origin == "other":
            # A library that aborts is not the command's fault.
            faults = [f for f in faults if re.match("torn|orph|hang|litt", f)]
        return faults, "harmless" if done else "reported", state
