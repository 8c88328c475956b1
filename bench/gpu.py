# SPDX-License-Identifier: Apache-2.0
"""moirai-exec on a GPU, taken from the PATH, beside PyTorch on the same one.

    gpu.py [--rounds N] [--runs N] [--ways W,W] [--precision P] [--work DIR]
           [--csv FILE] [MODEL...]

The networks are those of gpu_models.py, exported here by moirai-export; batch
1, TF32 for all, the same inputs.  PyTorch runs eager, from a CUDA graph,
and by torch.compile(mode="reduce-overhead") without and with freezing; channels
last for convolutional networks.  Contenders take turns: in every round each has
so many timed runs, and the median of all of its runs counts.  Outputs are
compared with PyTorch's in full precision.

Printed for each network: the ten longest calls and their roofline: bytes over
the bandwidth, operations over the rate, both measured here.

Limits: faster than the best of PyTorch; outputs within 1e-2 of the largest.
Exits 1 when a limit is missed, 77 without a GPU or PyTorch.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

from verdict import Load, Verdicts

MOST_RATIO, MOST_ERROR = 1.0, 1e-2
CONVOLUTIONAL = ("resnet50", "inception_v3", "googlenet")
LARGEST = 10


def run(command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["says nothing"]
        raise RuntimeError(f"{' '.join(command)}: {last[0]}")
    return ran.stdout


class Moirai:
    name = "moirai"

    def __init__(self, model, make, folder, precision):
        import numpy

        self.folder = folder
        self.graph = os.path.join(folder, model + ".graphml")
        if not os.path.exists(self.graph):
            here = os.path.dirname(os.path.abspath(__file__))
            run(["moirai-export", "-q", "-o", self.graph,
                 os.path.join(here, "gpu_models.py") + ":" + model])
        inputs = make()[1]
        inputs = inputs.values() if isinstance(inputs, dict) else inputs
        self.command = ["moirai-exec", "-q", "--backend", "cuda",
                        "--precision", precision]
        for number, x in enumerate(inputs):
            path = os.path.join(folder, f"{model}.input{number}.npy")
            numpy.save(path, x.numpy())
            self.command += ["--input", f"{number}={path}"]

    def path(self, name):
        return self.graph.replace(".graphml", "." + name)

    def run(self, runs):
        """Returns the lower quartile, median and upper quartile of the runs in
        ms; the quartiles are estimated from their distance."""
        told = json.loads(run(self.command + ["--json", "--runs", str(runs),
                                              self.graph]))
        median, spread = told["measured_us"], told["measured_spread_us"]
        return [us / 1000 for us in (median - spread / 2, median,
                                     median + spread / 2)]

    def outputs(self):
        import numpy

        folder = self.path("outputs")
        run(self.command + ["--runs", "1", "--output", folder, self.graph])
        names = sorted(os.listdir(folder), key=lambda n: int(n[6:-4]))
        return [numpy.load(os.path.join(folder, name)) for name in names]

    def calls(self):
        """(name, kind, us, bytes, operations) of each call."""
        plan, trace = self.path("plan"), self.path("trace")
        run(self.command + ["--runs", "20", "--plan", plan, "--trace", trace,
                            self.graph])
        with open(plan, encoding="utf-8") as file:
            plan = json.load(file)
        with open(trace, encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"]
                      if event["ph"] == "X" and "call" in event["args"]]
        return [
            (event["name"], call["kind"], event["dur"], *work(plan, call))
            for event, call in zip(events, plan["calls"])
        ]


BYTES = {"f64": 8, "i64": 8, "u64": 8, "f32": 4, "i32": 4, "u32": 4, "f16": 2,
         "bf16": 2, "i16": 2, "u16": 2}


def elements(value):
    count = 1
    for size in value["shape"]:
        count *= size
    return count


def work(plan, call):
    """Bytes that must move, and operations of products."""
    values = [plan["values"][number] for number in call["in"] + call["out"]]
    size = sum(elements(v) * BYTES.get(v["type"], 1) for v in values)
    first, out = values[0], plan["values"][call["out"][0]]
    if call["kind"] == "conv":
        per_output = elements(values[1]) // max(1, values[1]["shape"][0])
        return size, 2 * elements(out) * per_output
    if call["kind"] == "matmul" and elements(out):
        return size, 2 * elements(first) * out["shape"][-1]
    return size, 0


def ceilings():
    """Measured bytes and TF32 operations per second of this GPU."""
    import torch
    from gpu_torch import allow_tf32
    from triton.testing import do_bench

    allow_tf32()
    a = torch.rand(1 << 28, device="cuda")
    b = torch.empty_like(a)
    copy_ms = do_bench(lambda: b.copy_(a), return_mode="median")
    del a, b
    m = torch.rand(8192, 8192, device="cuda")
    product_ms = do_bench(lambda: m @ m, return_mode="median")
    return 2 * (1 << 30) / copy_ms * 1e3, 2 * 8192**3 / product_ms * 1e3


def tell_largest(name, calls, limits):
    total = sum(call[2] for call in calls)
    print(f"      {name}: {len(calls)} calls, {total:.0f} us one by one")
    for what, kind, us, size, operations in sorted(
        calls, key=lambda call: -call[2]
    )[:LARGEST]:
        floor = 1e6 * max(size / limits[0], operations / limits[1])
        print(f"      {100 * us / total:5.1f} %  {us:7.2f} us, hardware"
              f" {floor:6.2f}  {kind:9} {what}")


def furthest(outputs, wanted):
    import numpy

    if len(outputs) != len(wanted):
        return float("inf")
    return max(
        float(numpy.abs(is_ - should).max() / max(1e-30, numpy.abs(should).max()))
        for is_, should in zip(outputs, wanted)
    )


def race(name, arguments):
    """Competitors and their times."""
    from gpu_models import MODELS
    from gpu_torch import WAYS, allow_tf32, on_gpu, reference

    wanted = reference(MODELS[name])
    ours = Moirai(name, MODELS[name], arguments.work, arguments.precision)
    error = furthest(ours.outputs(), wanted)
    allow_tf32()
    contenders = [ours]
    for way in arguments.ways.split(","):
        net, inputs = on_gpu(MODELS[name], name in CONVOLUTIONAL)
        contenders.append(WAYS[way](net, inputs))
    times = {contender.name: [] for contender in contenders}
    for _ in range(arguments.rounds):
        for contender in contenders:
            times[contender.name] += contender.run(arguments.runs)
    return ours, times, error


def quartiles(times):
    if len(times) < 2:
        return times[0], times[0]
    low, _, high = statistics.quantiles(times, n=4)
    return low, high


def tell_race(verdicts, name, times, error, quiet):
    medians = {who: statistics.median(ms) for who, ms in times.items()}
    for who, ms in times.items():
        low, high = quartiles(ms)
        verdicts.line(f"{name}, {who}: ms", medians[who],
                      detail=f"quartiles {low:.4g} to {high:.4g}")
    ours = medians.pop("moirai")
    if medians:
        best = min(medians, key=medians.get)
        verdicts.line(f"{name}: time / of PyTorch's best", ours / medians[best],
                      MOST_RATIO, "<", detail=best, quiet=quiet)
    verdicts.line(f"{name}: error", error, MOST_ERROR)


def read_arguments():
    from gpu_models import MODELS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--ways", default="eager,graph,compile,freeze")
    parser.add_argument("--precision", default="tf32")
    parser.add_argument("--work", default="")
    parser.add_argument("--csv", default="gpu.csv")
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        default=list(MODELS))
    return parser.parse_args()


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "contender", "run", "ms"])
        for name, times in rows.items():
            for who, ms in times.items():
                for number, x in enumerate(ms):
                    writer.writerow([name, who, number, f"{x:.6g}"])


def main():
    try:
        import torch
    except ImportError:
        print("SKIP  there is no PyTorch")
        return 77
    if not torch.cuda.is_available():
        print("SKIP  there is no GPU")
        return 77
    arguments = read_arguments()
    verdicts, rows = Verdicts(), {}
    limits = ceilings()
    print(f"      {torch.cuda.get_device_name()}: {limits[0] / 1e12:.2f} TB/s,"
          f" {limits[1] / 1e12:.0f} TFLOP/s in TF32; PyTorch"
          f" {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        arguments.work = arguments.work or folder
        os.makedirs(arguments.work, exist_ok=True)
        for name in arguments.models:
            load = Load()
            ours, rows[name], error = race(name, arguments)
            tell_race(verdicts, name, rows[name], error, load.quiet())
            tell_largest(name, ours.calls(), limits)
    write_csv(arguments.csv, rows)
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
