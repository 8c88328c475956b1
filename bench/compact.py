# SPDX-License-Identifier: Apache-2.0
"""Speed-up of a solver by the compact model over the paper's.

    compact.py [--limit SECONDS] [NAME...]

moirai-emit, on the PATH, writes both models of each problem (problems.py), a
transfer per edge, over ports; HiGHS, loaded from MOIRAI_HIGHS_LIB, solves one
after the other, on one thread and without a warm start. Seconds are the
processor's. NAME selects the problems whose names begin with it; then the mean
is printed without a limit. Exits 1 when two optima differ or a limit is
missed, 77 when there is no HiGHS. """
import argparse
import ctypes
import math
import os
import re
import subprocess
import sys
import tempfile
import time

from problems import problems

LEAST_SPEEDUP = 5
LEAST_PROBLEMS = 20
LIMIT_SECONDS = 600
TOLERANCE = 1e-6


class Highs:
    OPTIMAL, TIME_LIMIT = 7, 13

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.Highs_create.restype = ctypes.c_void_p
        self.lib.Highs_getObjectiveValue.restype = ctypes.c_double

    def solve(self, model, limit):
        """Returns the optimum, None when out of time, and the seconds it took.
        """
        lib, highs = self.lib, ctypes.c_void_p(self.lib.Highs_create())
        lib.Highs_setBoolOptionValue(highs, b"output_flag", 0)
        lib.Highs_setIntOptionValue(highs, b"threads", 1)
        for option, value in ((b"mip_rel_gap", 0), (b"time_limit", limit)):
            lib.Highs_setDoubleOptionValue(
                highs, option, ctypes.c_double(value)
            )
        if lib.Highs_readModel(highs, model.encode()) != 0:
            raise ValueError(f"HiGHS cannot read {model}")
        begin = time.process_time()
        lib.Highs_run(highs)
        seconds = time.process_time() - begin
        status = lib.Highs_getModelStatus(highs)
        value = lib.Highs_getObjectiveValue(highs)
        lib.Highs_destroy(highs)
        if status not in (self.OPTIMAL, self.TIME_LIMIT):
            raise ValueError(f"HiGHS ends with status {status}")
        return (value if status == self.OPTIMAL else None), seconds


class Race:
    """Both models of one problem."""

    def __init__(self, work, problem, options):
        self.work = work
        self.options = options
        self.write("graph.graphml", problem.graphml())
        self.write("cluster.xml", problem.cluster())

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text)

    def emit(self, formulation, *more):
        command = ["moirai-emit", "-q", "--no-strengthen", "--fusion", "none"]
        command += ["-c", self.path("cluster.xml")]
        command += ["--formulation", formulation, "--tensors", "per-edge"]
        command += self.options + list(more) + [self.path("graph.graphml")]
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def rows(self, formulation):
        stats = self.emit(formulation, "--stats")
        return int(re.search(r"^rows +(\d+)$", stats, re.M).group(1))

    def run(self, formulation, highs, limit):
        """Returns rows, optimum, seconds."""
        model = self.path("model.lp")
        self.emit(formulation, "-o", model)
        return (self.rows(formulation), *highs.solve(model, limit))


def differ(a, b):
    return abs(a - b) > TOLERANCE * max(1, abs(a))


def tell(name, paper, compact):
    """Prints one line; returns the ratio of seconds, or None if the paper's
    model has no answer in time."""
    verdict, ratio = "", None
    if compact[1] is None:
        verdict = "compact out of time"
    elif paper[1] is None:
        verdict = "paper out of time"
    elif differ(paper[1], compact[1]):
        verdict = f"optima differ: {paper[1]}, {compact[1]}"
    else:
        ratio = paper[2] / max(compact[2], 1e-3)
        verdict = f"{ratio:8.1f}"
    print(
        f"{name:28} {paper[0]:6} {compact[0]:6} {compact[0] / paper[0]:6.2f}"
        f" {paper[2]:9.2f} {compact[2]:8.2f} {verdict}",
        flush=True,
    )
    return ratio


def race_all(highs, chosen, limit):
    """Returns the ratios of all problems that both solved, and whether all
    checks passed."""
    ratios, good = [], True
    print(f"{'':28} {'rows':^20} {'seconds':^18}")
    print(
        f"{'':28} {'paper':>6} {'compct':>6} {'ratio':>6}"
        f" {'paper':>9} {'compact':>8} {'ratio':>8}"
    )
    for name, make, options in chosen:
        with tempfile.TemporaryDirectory() as work:
            race = Race(work, make(), options)
            paper = race.run("paper", highs, limit)
            compact = race.run("compact", highs, limit)
        ratio = tell(name, paper, compact)
        if ratio is not None:
            ratios.append(ratio)
        elif paper[1] is not None:
            good = False
    return ratios, good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS)
    parser.add_argument("name", nargs="*", default=[])
    options = parser.parse_args()
    library = os.environ.get("MOIRAI_HIGHS_LIB")
    if not library:
        print("MOIRAI_HIGHS_LIB names no library", file=sys.stderr)
        return 77
    chosen = [
        problem
        for problem in problems(os.environ.get("MOIRAI_DATA"))
        if not options.name or problem[0].startswith(tuple(options.name))
    ]
    ratios, good = race_all(Highs(library), chosen, options.limit)
    if not ratios:
        return 1
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} problems, {mean:.1f} times as fast in geometric mean")
    if not options.name:
        good = good and len(ratios) >= LEAST_PROBLEMS and mean >= LEAST_SPEEDUP
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
