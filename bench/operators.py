# SPDX-License-Identifier: Apache-2.0
"""Every operator of the CPU backend alone beside ONNX Runtime.

    operators.py [--threads N] [--rounds N] [--runs N] [--pools] [OPERATOR...]

The ops are those of operator_cases.py, with inputs and outputs of a graph at
their ends; --pools: its pools in many shapes, types and layouts.  In every
round both have that many timed runs after warm-up runs, one after the other;
the fastest run of all rounds counts, since background load makes none faster.
Prints the times and their ratio, the slowest op last, and those that one of the
two cannot run.  Exits with 1 if a ratio is above 3, or 2 of a pool, the median
above 1.1, or a result differs.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx

from exec_contenders import WARM_UPS, execute
from operator_cases import CASES, Case, pool_cases

MOST, MOST_OF_POOL, MOST_MEDIAN = 3, 2, 1.1
TOLERANCE = 1e-2  # of halves; relative to the largest element


class Rival:
    """ONNX Runtime, without copies of inputs or outputs."""

    def __init__(self, case, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(
            case.model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        self.outputs = self.session.run(None, case.inputs)
        self.binding = self.session.io_binding()
        self.held = [onnxruntime.OrtValue.ortvalue_from_numpy(array)
                     for array in case.inputs.values()]
        for name, value in zip(case.inputs, self.held):
            self.binding.bind_ortvalue_input(name, value)
        for output, array in zip(self.session.get_outputs(), self.outputs):
            self.held.append(onnxruntime.OrtValue.ortvalue_from_numpy(array))
            self.binding.bind_ortvalue_output(output.name, self.held[-1])

    def run(self, runs):
        best = None
        for number in range(WARM_UPS + runs):
            begin = time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            us = 1e6 * (time.perf_counter() - begin)
            if number >= WARM_UPS and (best is None or us < best):
                best = us
        return best


def write_case(case, rival, folder):
    """The arguments of moirai-exec for it."""
    model = os.path.join(folder, "op.onnx")
    onnx.save(case.model, model)
    given = [model, "--reference", folder, "--tolerance", str(TOLERANCE)]
    for number, array in enumerate(case.inputs.values()):
        path = os.path.join(folder, f"input{number}.npy")
        numpy.save(path, array)
        given += ["-i", f"{number}={path}"]
    for number, array in enumerate(rival.outputs):
        numpy.save(os.path.join(folder, f"output{number}.npy"), array)
    return given


def race(text, arguments):
    """The best times of both in us; text of the first that cannot run it."""
    case = Case(text)
    try:
        rival = Rival(case, arguments.threads)
    except Exception as error:  # of many kinds
        return None, str(error).splitlines()[0]
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        given = write_case(case, rival, folder)
        given += ["--runs", str(arguments.runs),
                  "--threads", str(arguments.threads)]
        for _ in range(arguments.rounds):
            try:
                row = execute(given)
            except RuntimeError as error:
                return str(error).rpartition("op.onnx: ")[2], None
            ours.append(row["min_us"])
            theirs.append(rival.run(arguments.runs))
            if row["max_error"] is None or row["max_error"] > TOLERANCE:
                return "differs", min(theirs)
    return min(ours), min(theirs)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--pools", action="store_true")
    parser.add_argument("operators", nargs="*")
    return parser.parse_args()


def main():
    arguments = parse()
    lines = list(pool_cases()) if arguments.pools \
        else CASES.strip().splitlines()
    rows, other, failed = [], [], False
    for text in lines:
        name = text.split()[0]
        if arguments.operators and name not in arguments.operators:
            continue
        ours, theirs = race(text, arguments)
        if isinstance(ours, (int, float)) and ours > 0 and theirs:
            rows.append((ours / theirs, ours, theirs, text))
        else:
            other.append((text, ours, theirs))
        print(f"{len(rows) + len(other)} of {len(lines)}: {text}   ",
              end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)
    if not rows:
        return 77
    print(f"{'us':>10} {'ONNX RT':>10} {'ratio':>7}")
    for ratio, ours, theirs, text in sorted(rows):
        most = MOST_OF_POOL if "Pool" in text else MOST
        failed = failed or ratio > most
        print(f"{ours:10.1f} {theirs:10.1f} {ratio:7.2f}"
              f" {'>' if ratio > most else ' '} {text}")
    for text, ours, theirs in other:
        why = ours if ours is not None else f"ONNX Runtime: {theirs}"
        print(f"    {text}: {why}")
    median = statistics.median(row[0] for row in rows)
    print(f"{len(rows)} ops: median {median:.2f}, worst {max(rows)[0]:.2f},"
          f" {sum(row[0] > MOST for row in rows)} above {MOST}")
    return 1 if failed or median > MOST_MEDIAN else 0


if __name__ == "__main__":
    sys.exit(main())
