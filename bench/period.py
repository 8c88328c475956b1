#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many requests in flight: periods as predicted and as measured.

Profiles each network with several requests in flight, places it by single,
dp-contiguous and the search with --objective period, and executes a stream of
requests.  On two CPU devices of a thread each, or with --emulate 64,32,16,8 on
parts of a GPU.  Prints for each network the error of the prediction, and the
throughput over the best single device and over dp-contiguous; then medians.
Networks are folders with model.xml and input0.npy, ..., or model files, which
get random weights and inputs; without any those of MOIRAI_DATA/runnable and
examples/two_branches, and on parts of a GPU also some of MOIRAI_DATA/openvino:
they compute long enough to be split."""
import argparse
import glob
import json
import math
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
import xml.etree.ElementTree

METHODS = ("single", "dp-contiguous", "moirai")
LARGE = ("googlenet", "resnet50", "swin_t")


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--emulate", default="", help="parts of a GPU")
    parser.add_argument("--in-flight", help="of the profile; else 4, or 8 on "
                        "parts of a GPU")
    parser.add_argument("--seconds", type=float, default=3, help="of a stream")
    parser.add_argument("--rounds", type=int, default=3,
                        help="streams of each placement, by turns")
    parser.add_argument("--examples", default="examples")
    parser.add_argument("networks", nargs="*")
    arguments = parser.parse_args()
    if not arguments.in_flight:
        arguments.in_flight = "8" if arguments.emulate else "4"
    return arguments


def write_cluster(path, parts):
    """Devices by SMs, all linked; without parts two of one thread each."""
    rows = [
        f'gflops="{sms * 200}" memory_bandwidth_gbs="{sms * 20}" '
        'launch_us="2" memory_gib="16"' for sms in parts
    ] or ['kind="cpu" threads="1" gflops="30" memory_bandwidth_gbs="10" '
          'launch_us="2" memory_gib="2"'] * 2
    with open(path, "w", encoding="utf-8") as out:
        out.write("<cluster>\n")
        for i, row in enumerate(rows):
            out.write(f'<device id="D{i + 1}" {row}/>\n')
            for j in range(i):
                out.write(f'<link between="D{j + 1} D{i + 1}" gbps="100" '
                          'latency_us="5"/>\n')
        out.write("</cluster>\n")


class Network:
    def __init__(self, path, work, arguments):
        self.name = os.path.basename(path.rstrip("/")).removesuffix(".xml")
        self.work, self.arguments = work, arguments
        if os.path.isdir(path):
            self.model, self.weights = os.path.join(path, "model.xml"), []
            inputs = os.path.join(work, self.name + ".inputs")
            self.inputs = ["--inputs", inputs]
            os.mkdir(inputs)
            for tensor in glob.glob(os.path.join(path, "input*.npy")):
                shutil.copy(tensor, inputs)
        else:
            self.model, self.inputs = path, []
            self.weights = ["--random-weights", "1"]
            self.fill_inputs()
        parts = [int(p) for p in arguments.emulate.split(",") if p]
        self.cluster = os.path.join(work, "cluster.xml")
        write_cluster(self.cluster, parts)
        self.profile = os.path.join(work, self.name + ".profile.xml")
        self.on = ["-c", self.cluster]
        if parts:
            self.on += ["--emulate", arguments.emulate]

    def fill_inputs(self):
        """Zeros for each f32 input; random ones for every request would be
        measured, too."""
        layers = xml.etree.ElementTree.parse(self.model).iter("layer")
        shapes = [layer.find("data").get("shape") for layer in layers
                  if layer.get("type") == "Parameter" and
                  layer.find("data").get("element_type") == "f32"]
        folder = os.path.join(self.work, self.name + ".inputs")
        os.mkdir(folder)
        for i, text in enumerate(shapes):
            shape = [int(size) for size in text.split(",")]
            head = ("{'descr': '<f4', 'fortran_order': False, 'shape': "
                    f"({', '.join(map(str, shape))},), }}")
            head = head.ljust((len(head) + 11 + 63) // 64 * 64 - 11) + "\n"
            with open(os.path.join(folder, f"input{i}.npy"), "wb") as out:
                out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
                          head.encode() + bytes(4 * math.prod(shape)))
        if shapes:
            self.inputs = ["--inputs", folder]

    def prepare(self):
        subprocess.run(["moirai-profile", "run", "-q", *self.on, *self.weights,
                        "--in-flight", self.arguments.in_flight, "-o",
                        self.profile, self.model], check=True)
        for method in METHODS:
            subprocess.run(
                ["moirai-place", "-q", "--objective", "period", "--time", "5",
                 "--method", method, "-c", self.cluster, "-p", self.profile,
                 "-o", self.solution(method), self.model],
                check=True, stdout=subprocess.DEVNULL)

    def solution(self, method):
        return os.path.join(self.work, f"{self.name}.{method}.sol")

    def execute(self, method, requests):
        done = subprocess.run(
            ["moirai-exec", "-q", "--json", *self.on, *self.weights, "-p",
             self.profile, "--requests", str(requests), *self.inputs, "-g",
             self.model, self.solution(method)],
            check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def measure(self):
        """The report with the median period, by method."""
        reports = {method: [] for method in METHODS}
        n = {method: 20 for method in METHODS}
        for turn in range(self.arguments.rounds + 1):
            for method in METHODS:
                report = self.execute(method, n[method])
                if turn > 0:
                    reports[method].append(report)
                n[method] = int(min(max(
                    self.arguments.seconds * 1e6 / report["period_us"], 40),
                    100000))
        return {method: sorted(found, key=lambda r: r["period_us"])
                [len(found) // 2] for method, found in reports.items()}


def main():
    arguments = read_arguments()
    data = os.environ.get("MOIRAI_DATA", "")
    networks = arguments.networks or [
        os.path.join(arguments.examples, "two_branches"),
        *sorted(glob.glob(os.path.join(data, "runnable", "*")))]
    if arguments.emulate and not arguments.networks:
        networks += [os.path.join(data, "openvino", name + ".xml")
                     for name in LARGE]
    errors, over_single, over_contiguous = [], [], []
    print(f"{'network':16}{'method':15}{'in flight':>10}{'predicted':>12}"
          f"{'measured':>12}{'error':>9}{'over single':>13}  bottleneck",
          flush=True)
    with tempfile.TemporaryDirectory() as work:
        for path in networks:
            network = Network(path, work, arguments)
            network.prepare()
            found = network.measure()
            single = found["single"]["period_us"]
            for method, report in found.items():
                error = report["period_us"] / report["predicted_period_us"] - 1
                errors.append(abs(error))
                print(f"{network.name:16}{method:15}{report['in_flight']:10}"
                      f"{report['predicted_period_us']:9.1f} us"
                      f"{report['period_us']:9.1f} us{error:+9.1%}"
                      f"{single / report['period_us']:12.2f}x"
                      f"  {report['bottleneck']}"
                      f"{'' if report['quiet'] else '; not quiet'}", flush=True)
            over_single.append(single / found["moirai"]["period_us"])
            over_contiguous.append(found["dp-contiguous"]["period_us"] /
                                   found["moirai"]["period_us"])
    print(f"median error {statistics.median(errors):.1%}, throughput over the "
          f"best single device {statistics.median(over_single):.2f}x, over "
          f"dp-contiguous {statistics.median(over_contiguous):.2f}x")


main()
