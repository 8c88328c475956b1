# SPDX-License-Identifier: Apache-2.0
"""What each mechanism of moirai-exec, taken from the PATH, is worth.

    ablation_exec.py [--kind plan|cpu|cuda] [--backend cpu|cuda] [--runs N]
                     [--rounds N] [--threads N] [--only NAME,...] NETWORK...

The mechanisms are the rows of that kind in src/base/ablation.def. A network is
anything that moirai-exec runs: a graph, a solution or a bundle; weights that it
does not have are random. In every round each network runs with all mechanisms
and with each of them off in turn (MOIRAI_ABLATE). The fastest of that many
timed runs counts, since background load makes none faster; on CPUs the
processor time where a run is too long to be undisturbed. A loss is the median
over the rounds of the time without the mechanism over the time with it.
Bytes on the devices, weights included, count as well. A mechanism of the plan
that leaves a network's plan as it is loses nothing there and is not timed.

The networks are those below MOIRAI_DATA unless some are given. Exits 77 when
there is none, 1 when a run fails. """
import argparse
import glob
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

DEFINITIONS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../src/base/ablation.def"
)
LONG_US = 10000  # runs that hardly ever have a processor to themselves
DATA = ["runnable/*/model.xml", "openvino/*.xml"]


def mechanisms(kind):
    """Returns the names of a kind."""
    with open(DEFINITIONS, encoding="ascii") as file:
        rows = re.findall(r"^MO_ABLATION\((\w+), (\w+)\)", file.read(), re.M)
    return [name for name, of in rows if of == kind]


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def short_name(path):
    """The folder of a model.xml, else the file without its suffix."""
    folder, name = os.path.split(os.path.abspath(path))
    name = name.split(".")[0]
    return os.path.basename(folder) if name == "model" else name


class Network:
    """times and bytes are by the mechanism that is off, None for none of them:
    a list of the times of a run in us, one for every round, and the bytes on
    the devices."""

    def __init__(self, path, arguments):
        self.name = short_name(path)
        self.command = [
            "moirai-exec", "-q", "--random-weights=1", "--seed=1",
            f"--backend={arguments.backend}", path,
        ]
        if arguments.threads:
            self.command.append(f"--threads={arguments.threads}")
        self.on_cpu = arguments.backend == "cpu"
        self.runs = arguments.runs
        self.times = {}
        self.bytes = {}

    def execute(self, off, options):
        environment = dict(os.environ, MOIRAI_ABLATE=off or "")
        ran = subprocess.run(
            self.command + options, env=environment, capture_output=True,
            text=True, check=False,
        )
        if ran.returncode != 0:
            last = ran.stderr.strip().splitlines()[-1:] or ["no message"]
            sys.exit(f"{self.name} without {off or 'nothing'}: {last[0]}")
        return ran.stdout

    def plan(self, off):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            self.execute(off, ["--dry-run", f"--plan={path}"])
            with open(path, encoding="utf-8") as file:
                return file.read()

    def measure(self, off):
        before = cpu_seconds()
        report = json.loads(
            self.execute(off, ["--json", f"--runs={self.runs}"])
        )
        used_us = 1e6 * (cpu_seconds() - before)
        time_us = report["min_us"]
        if self.on_cpu and time_us > LONG_US:
            time_us = used_us / (report["warm_ups"] + self.runs)
        self.times.setdefault(off, []).append(time_us)
        self.bytes[off] = sum(
            device["weight_bytes"] + device["allocated_bytes"]
            for device in report["by_device"]
        )

    def loss(self, off):
        """Time lost without a mechanism in %, or None: not timed."""
        if off not in self.times:
            return None
        ratios = [
            without / everything
            for without, everything in zip(self.times[off], self.times[None])
        ]
        return 100 * (statistics.median(ratios) - 1)

    def byte_loss(self, off):
        if off not in self.bytes or not self.bytes[None]:
            return None
        return 100 * (self.bytes[off] / self.bytes[None] - 1)


def measure_network(network, names, arguments):
    if arguments.kind == "plan":
        everything = network.plan(None)
        names = [name for name in names if network.plan(name) != everything]
    for number in range(arguments.rounds):
        order = [None] + names
        for off in order if number % 2 == 0 else reversed(order):
            network.measure(off)


def worst(networks, loss):
    """Returns the largest loss, its network and the mean; 0 where a network
    was not timed."""
    losses = [(loss(network) or 0, network.name) for network in networks]
    most = max(losses)
    return most[0], most[1], statistics.mean(value for value, _ in losses)


def print_table(networks, names):
    print(f"{'mechanism':20} | {'worst network':18} | {'loss %':>8} |"
          f" {'mean %':>8} | {'bytes %':>8} | all")
    for name in names:
        loss, where, mean = worst(networks, lambda n: n.loss(name))
        memory = worst(networks, lambda n: n.byte_loss(name))[0]
        every = " ".join(
            "-" if n.loss(name) is None else f"{n.loss(name):.1f}"
            for n in networks
        )
        print(f"{name:20} | {where if loss > 0 else '-':18} | {loss:8.2f} |"
              f" {mean:8.2f} | {memory:8.2f} | {every}", flush=True)


def read_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--kind", default="plan", choices=["plan", "cpu", "cuda"])
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    arguments = parser.parse_args()
    data = os.environ.get("MOIRAI_DATA", "")
    if data and not arguments.networks:
        for pattern in DATA:
            arguments.networks += sorted(glob.glob(os.path.join(data, pattern)))
    return arguments


def main():
    arguments = read_arguments()
    names = mechanisms(arguments.kind)
    if arguments.only:
        names = [n for n in names if n in arguments.only.split(",")]
    if not arguments.networks or not names:
        print("SKIP  no network, or no mechanism of this kind")
        return 77
    networks = [Network(path, arguments) for path in arguments.networks]
    for network in networks:
        measure_network(network, names, arguments)
    print("networks: " + " ".join(network.name for network in networks))
    print_table(networks, names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
