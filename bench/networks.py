# SPDX-License-Identifier: Apache-2.0
"""Networks of network_models.py beside ONNX Runtime on the CPU.

    networks.py [--threads N] [--batch N] [--rounds N] [--keep FOLDER]
        [--random SEED...] [NETWORK...]

In every round both have as many timed runs as fit into a second, at least
three, after warm-up runs, one after the other; the fastest run of all rounds
counts, since background load makes none faster.  --keep writes the models and
their inputs to FOLDER.  --random adds the networks of network_random.py of
those seeds, alone unless some are named.  Prints the ratios of moirai-exec's
time to that of ONNX Runtime, the largest last.  Exits with 1 if a ratio is above
1.15, the median above 0.9, or a result differs.
"""
import argparse
import os
import statistics
import sys
import tempfile

from exec_contenders import execute
from network_models import NETWORKS, build
from network_random import network
from operators import Rival, write_case

MOST, MOST_MEDIAN, TOLERANCE = 1.15, 0.9, 1e-2
RUN_US = 1e6


class Case:
    def __init__(self, name, batch):
        self.model, self.inputs = build(name, batch)


def race(case, arguments, folder):
    """Both minima in us, and the difference of the outputs."""
    os.makedirs(folder, exist_ok=True)
    rival = Rival(case, arguments.threads)
    given = write_case(case, rival, folder)
    given += ["--threads", str(arguments.threads)]
    theirs, ours, error = [rival.run(1)], [], 0
    runs = str(int(min(50, max(3, RUN_US / theirs[0]))))
    for _ in range(arguments.rounds):
        row = execute(given + ["--runs", runs])
        ours.append(row["min_us"])
        theirs.append(rival.run(int(runs)))
        error = max(error, row["max_error"])
    return min(ours), min(theirs), error


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep")
    parser.add_argument("--random", type=int, nargs="+", default=[])
    parser.add_argument("networks", nargs="*", choices=[[], *NETWORKS])
    return parser.parse_args()


def main():
    arguments = parse()
    rows, failed = [], False
    names = arguments.networks + [f"random{i}" for i in arguments.random]
    NETWORKS.update((f"random{i}", network(i)) for i in arguments.random)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or NETWORKS:
            ours, theirs, error = race(
                Case(name, arguments.batch), arguments,
                os.path.join(arguments.keep or folder, name))
            rows.append((ours / theirs, name))
            print(f"{ours / theirs:6.2f}  {name}", file=sys.stderr, flush=True)
            if error > TOLERANCE:
                print(f"{name}: the outputs differ by {error}")
                failed = True
    rows.sort()
    for ratio, name in rows:
        print(f"{ratio:6.2f}  {name}")
    ratios = [ratio for ratio, _ in rows]
    median = statistics.median(ratios)
    print(f"{median:6.2f}  median of {len(rows)} networks")
    return failed or ratios[-1] > MOST or median > MOST_MEDIAN


if __name__ == "__main__":
    sys.exit(main())
