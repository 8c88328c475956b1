# SPDX-License-Identifier: Apache-2.0
"""moirai-exec, taken from the PATH, beside OpenVINO and ONNX Runtime.

    exec.py [--threads N] [--rounds N] [--runs N] [--csv FILE] [MODEL...]

The models are those of MODELS unless some are named, from MOIRAI_DATA; where
one has no weights, synthetic ones are used by all runtimes. All run on the
same processors, f32, one request at a time, alternately: in every round each
has that many timed runs after five warm-up runs, and their median counts. The
best rounds are compared, since background load makes none faster.

Limits: the time over that of the faster one of the others; on one device, the
makespan over the time in kernels; outputs against theirs. Exits 1 when a limit
is missed, 77 when there is nothing to measure. """
import argparse
import csv
import os
import statistics
import sys
import tempfile
import time

from exec_contenders import Moirai, others
from exec_ir import complete, read_layers
from exec_models import find, read_arguments
from verdict import Load, Verdicts

MODELS = {
    "squeezenet1_1": "runnable/squeezenet1_1/model.xml",
    "resnet50": "openvino/resnet50.xml",
    "bert_base_128": "openvino/bert_base_128.xml",
    "gpt2_512": "openvino/gpt2_512.xml",
}
MOST_SLOWER, MOST_OVERHEAD, MOST_ERROR = 1.5, 1.05, 1e-4
IDS = 1000  # integers are words, of which all of these models know more
CALM_S = 0.1  # until threads that wait awake have gone to sleep


def whole(path, folder, fill_weights):
    if os.path.exists(os.path.splitext(path)[0] + ".bin"):
        return path
    return complete(path, folder, fill_weights)


def make_inputs(model):
    """Returns an array for each input."""
    import numpy

    random = numpy.random.default_rng(1)
    ports = [
        layer.outputs[0]
        for layer in read_layers(model)
        if layer.type == "Parameter"
    ]
    return [
        random.standard_normal(port.shape, numpy.float32)
        if port.type == "f32"
        else random.integers(0, IDS, port.shape, numpy.int64)
        for port in ports
    ]


def share_inputs(ours, rivals, model, folder):
    """The same inputs for all; the outputs of the first competitor are the
    reference."""
    import numpy

    arrays = make_inputs(model)
    for number, array in enumerate(arrays):
        ours.inputs.append(os.path.join(folder, f"input{number}.npy"))
        numpy.save(ours.inputs[-1], array)
    for rival in rivals:
        rival.give(arrays)
        rival.run(1)
    os.mkdir(ours.reference)
    for number, array in enumerate(rivals[0].outputs()):
        numpy.save(os.path.join(ours.reference, f"output{number}.npy"), array)


class Race:
    """times are the medians of the rounds in ms, by competitor."""

    def __init__(self, model, folder, threads):
        self.ours = Moirai(model, folder, threads)
        self.rivals = others(model, folder, threads)
        if self.rivals:
            share_inputs(self.ours, self.rivals, model, folder)
        self.contenders = [self.ours] + self.rivals
        self.times = {contender.name: [] for contender in self.contenders}

    def round(self, runs):
        for contender in self.contenders:
            time.sleep(CALM_S)
            self.times[contender.name].append(contender.run(runs))

    def best(self, contender):
        return min(self.times[contender.name])

    def ratio(self):
        """None without a competitor."""
        if not self.rivals:
            return None
        return self.best(self.ours) / min(map(self.best, self.rivals))


def tell_race(verdicts, name, race):
    for contender in race.contenders:
        rounds = race.times[contender.name]
        verdicts.line(
            f"{name}, {contender.name}: ms",
            min(rounds),
            detail=f"median of rounds {statistics.median(rounds):.4g},"
            f" worst {max(rounds):.4g}",
        )
    if race.rivals:
        verdicts.line(f"{name}: time / of the faster one", race.ratio(),
                      MOST_SLOWER, quiet=race.quiet)
        verdicts.line(f"{name}: error", race.ours.error(), MOST_ERROR,
                      detail=f"against {race.rivals[0].name}")
    verdicts.line(f"{name}: makespan / kernels", race.ours.overhead(),
                  MOST_OVERHEAD, quiet=race.quiet)


def run_race(path, arguments):
    with tempfile.TemporaryDirectory() as folder:
        model = whole(path, folder, arguments.fill_weights)
        race = Race(model, folder, arguments.threads)
        load = Load()
        for _ in range(arguments.rounds):
            race.round(arguments.runs)
        race.quiet = load.quiet()
    return race


def write_csv(path, races):
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "contender", "round", "median_ms"])
        for name, race in races.items():
            for contender, times in race.times.items():
                for number, ms in enumerate(times):
                    writer.writerow([name, contender, number, f"{ms:.6g}"])


def share_processors(threads):
    """Pins all competitors to the same processors."""
    there = sorted(os.sched_getaffinity(0))
    if len(there) < threads:
        print(f"      {len(there)} processors for {threads} threads")
    os.sched_setaffinity(0, there[:threads])


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--csv", default="exec.csv")
    parser.add_argument("--fill-weights", default="./bench/fill_weights")
    return parser


def main():
    arguments = read_arguments(make_parser(), MODELS)
    share_processors(arguments.threads)
    verdicts, races = Verdicts(), {}
    for name in arguments.models:
        path = find(name, MODELS)
        if not path:
            continue
        races[name] = run_race(path, arguments)
        tell_race(verdicts, name, races[name])
    if not races:
        return 77
    write_csv(arguments.csv, races)
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
