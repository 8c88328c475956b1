# SPDX-License-Identifier: Apache-2.0
"""moirai-exec on the CPU, taken from the PATH, beside PyTorch.

    exec_torch.py [--threads N] [--rounds N] [--runs N] [NETWORK...]

The networks are the functions of exec_torch_models.py, exported by
moirai-export. Both run on the same processors, f32, alternately; the best
rounds are compared by their medians. Limits: the time over PyTorch's, and of
the outputs against PyTorch's; [T, 1, K] times a weight over [1, T, K]. Exits
1 when a limit is missed, 77 without PyTorch. """
import argparse
import os
import subprocess
import sys
import tempfile

from exec_contenders import execute, median_ms
from verdict import Load, Verdicts

NETWORKS = ["seq_first", "batch_first", "vit_b_32", "swin_t", "bert", "gpt2"]
MOST_SLOWER, MOST_ERROR, MOST_BY_LAYOUT = 1.1, 1e-4, 1.1


def export(name, folder):
    models = os.path.join(os.path.dirname(__file__), "exec_torch_models.py")
    graph = os.path.join(folder, "net.graphml")
    subprocess.run(
        ["moirai-export", "-q", f"{models}:{name}", "-o", graph], check=True
    )
    return graph


class Race:
    """One network: the best medians in ms, and the error of the outputs."""

    def __init__(self, name, folder, threads):
        import exec_torch_models
        import numpy

        self.net, self.inputs = getattr(exec_torch_models, name)()
        arguments = ["--threads", str(threads), "--reference", folder]
        for number, tensor in enumerate(self.inputs):
            path = os.path.join(folder, f"input{number}.npy")
            numpy.save(path, tensor.numpy())
            arguments += ["-i", f"{number}={path}"]
        numpy.save(
            os.path.join(folder, "output0.npy"), self.call().numpy()
        )
        self.arguments = arguments + [export(name, folder)]
        self.ours = self.theirs = float("inf")
        self.error = None

    def call(self):
        import torch

        with torch.inference_mode():
            return self.net(*self.inputs)

    def round(self, runs):
        report = execute(self.arguments + ["--runs", str(runs)])
        self.error = report["max_error"]
        self.ours = min(self.ours, report["measured_us"] / 1000)
        self.theirs = min(self.theirs, median_ms(self.call, runs))


def run_race(name, arguments):
    with tempfile.TemporaryDirectory() as folder:
        race = Race(name, folder, arguments.threads)
        load = Load()
        for _ in range(arguments.rounds):
            race.round(arguments.runs)
        race.quiet = load.quiet()
    return race


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    arguments = parser.parse_args()
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"{name} is none of {', '.join(NETWORKS)}")
    arguments.networks = arguments.networks or NETWORKS
    return arguments


def main():
    arguments = read_arguments()
    try:
        import torch
    except ImportError:
        print("SKIP  PyTorch is not installed")
        return 77
    processors = sorted(os.sched_getaffinity(0))[:arguments.threads]
    os.sched_setaffinity(0, processors)
    torch.set_num_threads(arguments.threads)
    verdicts, races = Verdicts(), {}
    for name in arguments.networks:
        race = races[name] = run_race(name, arguments)
        verdicts.line(
            f"{name}: time / PyTorch's", race.ours / race.theirs, MOST_SLOWER,
            detail=f"{race.ours:.4g} ms, PyTorch {race.theirs:.4g} ms",
            quiet=race.quiet,
        )
        verdicts.line(f"{name}: error", race.error, MOST_ERROR)
    if {"seq_first", "batch_first"} <= set(races):
        first, batch = races["seq_first"], races["batch_first"]
        verdicts.line(
            "[50,1,768] / [1,50,768]", first.ours / batch.ours, MOST_BY_LAYOUT,
            quiet=first.quiet and batch.quiet,
        )
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
