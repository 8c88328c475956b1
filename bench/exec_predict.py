# SPDX-License-Identifier: Apache-2.0
"""Measured against predicted makespans on two unequal devices.

    exec_predict.py [--runs N] [--time SECONDS] [--csv FILE] [MODEL...]

The processors of this machine are split in two devices, two thirds and one
third of them. Each of MODELS, from MOIRAI_DATA, is measured there by
moirai-profile run, placed by moirai-place with the measured times, and run by
moirai-exec, all from the PATH. Limit: the measured makespan is not further
from the predicted one than MOST_OFF of it. Exits 1 when a limit is missed, 77
when there is nothing to measure. """
import argparse
import csv
import os
import subprocess
import sys
import tempfile

from exec_contenders import execute
from exec_models import find, read_arguments
from verdict import Verdicts

MODELS = {
    "squeezenet1_1": "runnable/squeezenet1_1/model.xml",
    "resnet50": "openvino/resnet50.xml",
    "bert_base_128": "openvino/bert_base_128.xml",
    "swin_t": "openvino/swin_t.xml",
}
FUSION = ["--fusion", "default"]
SEED = "1"
MOST_OFF = 0.10
# Of devices whose times are measured only what is not measured needs these.
CLUSTER = """<cluster name="two-parts">
  <device id="large" kind="cpu" gflops="{large_gflops}" launch_us="1"
    memory_bandwidth_gbs="10" memory_gib="{gib}" cpus="{large}"/>
  <device id="small" kind="cpu" gflops="{small_gflops}" launch_us="1"
    memory_bandwidth_gbs="10" memory_gib="{gib}" cpus="{small}"/>
  <link between="large small" gbps="40" latency_us="5"/>
</cluster>
"""
GFLOPS = 40  # of one processor


def split_processors():
    """Returns the larger part and the smaller one."""
    there = sorted(os.sched_getaffinity(0))
    if len(there) < 2:
        return None
    small = max(1, len(there) // 3)
    return there[:-small], there[-small:]


def machine_gib():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


def write_cluster(path, large, small):
    with open(path, "w", encoding="ascii") as file:
        file.write(
            CLUSTER.format(
                large=",".join(map(str, large)),
                small=",".join(map(str, small)),
                large_gflops=GFLOPS * len(large),
                small_gflops=GFLOPS * len(small),
                gib=f"{machine_gib() / 4:.3f}",
            )
        )


class Prediction:
    """One model, measured, placed and run; row is the report of moirai-exec.
    """

    def __init__(self, model, folder, cluster, arguments):
        profile = os.path.join(folder, "profile.xml")
        solution = os.path.join(folder, "placed.sol")
        common = ["-q", "-c", cluster] + FUSION
        subprocess.run(
            ["moirai-profile", "run", "--random-weights", SEED, "-o", profile,
             *common, model],
            check=True,
        )
        subprocess.run(
            ["moirai-place", "--time", str(arguments.time), "-p", profile,
             "-o", solution, *common, model],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.row = execute(
            ["--runs", str(arguments.runs), "--random-weights", SEED, "-g",
             model, "-p", profile, "-c", cluster, *FUSION, solution]
        )

    def off(self):
        return abs(self.row["measured_us"] / self.row["predicted_us"] - 1)


def tell(verdicts, name, prediction):
    row = prediction.row
    shares = ", ".join(
        f"{d['id']} {d['ops']} ops in {d['busy_us'] / 1000:.4g} ms"
        for d in row["by_device"]
    )
    verdicts.line(
        f"{name}: |measured / predicted - 1|",
        prediction.off(),
        MOST_OFF,
        detail=f"{row['measured_us'] / 1000:.4g} ms"
        f" +- {row['measured_spread_us'] / 2000:.2g},"
        f" predicted {row['predicted_us'] / 1000:.4g};"
        f" {shares}; {row['transfers']} transfers",
        quiet=row.get("quiet", True),
    )
    for part in row["by_class"]:
        if part["measured_us"] > 0.05 * row["measured_us"]:
            verdicts.line(
                f"{name}, {part['class']}: measured / predicted",
                part["measured_us"] / part["predicted_us"]
                if part.get("predicted_us") else None,
                detail=f"{part['ops']} ops",
            )


def write_csv(path, predictions):
    keys = ["measured_us", "measured_spread_us", "predicted_us", "transfers"]
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(["model"] + keys)
        for name, prediction in predictions.items():
            writer.writerow([name] + [prediction.row[key] for key in keys])


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--time", type=int, default=10)
    parser.add_argument("--csv", default="predict.csv")
    return parser


def predict(name, parts, arguments):
    """Returns None if the model does not exist."""
    model = find(name, MODELS)
    if not model:
        return None
    with tempfile.TemporaryDirectory() as folder:
        cluster = os.path.join(folder, "cluster.xml")
        write_cluster(cluster, *parts)
        return Prediction(model, folder, cluster, arguments)


def main():
    arguments = read_arguments(make_parser(), MODELS)
    verdicts, predictions = Verdicts(), {}
    parts = split_processors()
    if not parts:
        print("SKIP  there is one processor, and two devices are needed")
        return 77
    large, small = map(len, parts)
    equal = ": two equal devices" if large == small else ""
    print(f"      {large} and {small} processors{equal}")
    for name in arguments.models:
        prediction = predict(name, parts, arguments)
        if prediction:
            predictions[name] = prediction
            tell(verdicts, name, prediction)
    if not predictions:
        return 77
    write_csv(arguments.csv, predictions)
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
