#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many processes of one placement, each against its prediction.

Profiles and places examples/two_branches, executes it in --processes processes
one after the other, and compares the median of each with the prediction.  What
the scheduler does with the threads of a process stays for as long as the
process lives: more runs of one process do not show it.

With --launcher, as in 'mpirun -n 2', ranks are executed, and the limit is of the
median of all processes.  Exits 1 when a limit is missed."""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

from verdict import Verdicts

MOST_WORST, MOST_RANKS = 0.15, 0.25


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--example", default="examples/two_branches")
    parser.add_argument("--processes", type=int, default=40)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--anew", action="store_true",
                        help="profile and place before each of them")
    parser.add_argument("--launcher", default="")
    parser.add_argument("options", nargs="*", help="of moirai-exec, after --")
    return parser.parse_args()


class Example:
    def __init__(self, folder, work):
        self.model = os.path.join(folder, "model.xml")
        self.cluster = os.path.join(folder, "model.cluster.xml")
        self.profile = os.path.join(work, "profile.xml")
        self.solution = os.path.join(work, "model.sol")

    def place(self):
        if os.path.exists(self.profile):
            os.remove(self.profile)
        subprocess.run(["moirai-profile", "run", "-c", self.cluster, "-o",
                        self.profile, self.model], check=True)
        subprocess.run(["moirai-place", "-q", "-c", self.cluster, "-p",
                        self.profile, "-o", self.solution, self.model],
                       check=True, stdout=subprocess.DEVNULL)

    def execute(self, arguments):
        done = subprocess.run(
            [*shlex.split(arguments.launcher), "moirai-exec", "--json",
             "--runs", str(arguments.runs), "-g", self.model, "-c",
             self.cluster, "-p", self.profile, *arguments.options,
             self.solution],
            check=True, stdout=subprocess.PIPE,
        )
        return json.loads(done.stdout)


def print_report(number, report):
    devices = ", ".join(
        f"{d['id']} on {d.get('cpus', 'any')} waited {d['wait_us']:.1f} us"
        for d in report["by_device"]
    )
    print(
        f"      {number:3}: predicted {report['predicted_us']:.1f} us, measured"
        f" {report['measured_us']:.1f} us,"
        f" {report['measured_us'] / report['predicted_us'] - 1:+.1%}"
        f" (p95 {report['p95_us']:.1f}; {devices}"
        f"{'' if report['quiet'] else '; not quiet'})",
        flush=True,
    )


def main():
    arguments = read_arguments()
    verdicts, reports = Verdicts(), []
    with tempfile.TemporaryDirectory() as work:
        example = Example(arguments.example, work)
        for number in range(arguments.processes):
            if number == 0 or arguments.anew:
                example.place()
            reports.append(example.execute(arguments))
            print_report(number, reports[-1])
    off = [r["measured_us"] / r["predicted_us"] - 1 for r in reports]
    quiet = all(r["quiet"] for r in reports)
    verdicts.line("measured / predicted - 1, worst", max(off),
                  None if arguments.launcher else MOST_WORST, quiet=quiet)
    verdicts.line("measured / predicted - 1, median", statistics.median(off),
                  MOST_RANKS if arguments.launcher else None, quiet=quiet)
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
