# SPDX-License-Identifier: Apache-2.0
"""Gaps where memory decides the placement: decode steps of Llama-like models on
random clusters, by moirai-place from the PATH.

    memory_problems.py [--time SECONDS] [--clusters N] [--memory static|live]
                       [--keep FOLDER] [MODEL...]

Each of 7b, 13b, 34b, 70b and 405b, unless some are named, on N clusters (8) of
2 to 8 devices: GPUs of different models and a host that holds all.  The GPUs
together have 0.7 to 1.0 of the memory that is needed.  The same seed gives the
same clusters everywhere.

Prints makespan, bound, gap and seconds of each.  Exits 1 unless 95 % of the
gaps are at most 2 % and none is above 5 %, 77 when there is nothing to measure.
"""
import argparse
import os
import random
import sys
import tempfile

from placing import Placing, milliseconds, percent

# Layers, hidden, feed-forward, key and value sizes; bytes of a weight.
MODELS = {
    "7b": (32, 4096, 11008, 4096, 2),
    "13b": (40, 5120, 13824, 5120, 2),
    "34b": (48, 8192, 22016, 1024, 0.56),
    "70b": (80, 8192, 28672, 1024, 0.56),
    "405b": (126, 16384, 53248, 1024, 0.56),
}
CONTEXT, VOCABULARY = 4096, 32000
GPUS = ("rtx4090", "rtx3090", "rtx3060ti", "rtx2080ti", "t4", "v100", "a100",
        "h100")
GIB = 2**30
MOST_PERCENT, RARELY_PERCENT, OFTEN = 2, 5, 0.95


class DecodeStep:
    """Ops with type, memory, FLOPs, bytes moved and bytes of output."""

    def __init__(self, layers, hidden, feed, key_value, weight_bytes):
        self.ops, self.edges = {}, []
        self.weight_bytes = weight_bytes
        self._op("embedding", "Gather", [], hidden * VOCABULARY, 2 * hidden,
                 moves_weights=False)
        last = "embedding"
        for layer in range(layers):
            last = self._layer(f"l{layer}", last, hidden, feed, key_value)
        self._op("head", "MatMul", [last], hidden * VOCABULARY,
                 2 * VOCABULARY)

    def _op(self, name, kind, inputs, weights, output, cache=0,
            moves_weights=True):
        size = weights * self.weight_bytes
        flops = 2 * weights if kind == "MatMul" else output / 2
        moved = (size if moves_weights else 0) + cache + 2 * output
        self.ops[name] = (kind, size + cache, flops, moved, output)
        self.edges += [(source, name) for source in inputs]
        return name

    def _layer(self, name, last, hidden, feed, key_value):
        act = 2 * hidden
        cache = 2 * key_value * CONTEXT * 2
        norm = self._op(f"{name}_norm1", "RMS", [last], hidden, act)
        qkv = self._op(f"{name}_qkv", "MatMul", [norm],
                       hidden * (hidden + 2 * key_value),
                       2 * (hidden + 2 * key_value))
        attention = self._op(f"{name}_attention", "ScaledDotProductAttention",
                             [qkv], 0, act, cache)
        out = self._op(f"{name}_out", "MatMul", [attention], hidden * hidden,
                       act)
        add = self._op(f"{name}_add1", "Add", [out, last], 0, act)
        norm = self._op(f"{name}_norm2", "RMS", [add], hidden, act)
        up = self._op(f"{name}_up", "MatMul", [norm], 2 * hidden * feed,
                      4 * feed)
        swish = self._op(f"{name}_swish", "Swish", [up], 0, 2 * feed)
        down = self._op(f"{name}_down", "MatMul", [swish], hidden * feed, act)
        return self._op(f"{name}_add2", "Add", [down, add], 0, act)

    @property
    def memory(self):
        return sum(op[1] for op in self.ops.values())

    def write(self, path):
        keys = ("op", "memory", "flops", "bytes", "output_bytes")
        with open(path, "w", encoding="ascii") as out:
            out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
            for key in keys:
                kind = "string" if key == "op" else "double"
                out.write(f'<key id="{key}" for="node" attr.name="{key}" '
                          f'attr.type="{kind}"/>')
            out.write('<key id="size" for="edge" attr.name="bytes" '
                      'attr.type="double"/><graph edgedefault="directed">')
            for name, values in self.ops.items():
                data = "".join(f'<data key="{key}">{value}</data>'
                               for key, value in zip(keys, values))
                out.write(f'<node id="{name}">{data}</node>\n')
            for source, target in self.edges:
                out.write(f'<edge source="{source}" target="{target}">'
                          f'<data key="size">{self.ops[source][4]}</data>'
                          "</edge>\n")
            out.write("</graph></graphml>\n")


def write_cluster(path, number, memory):
    """1 to 7 GPUs, whose memory is a share of what is needed, and a host."""
    chance = random.Random(number)
    gpus = [chance.choice(GPUS) for _ in range(1 + number % 7)]
    parts = [chance.uniform(0.5, 1.5) for _ in gpus]
    room = memory * chance.uniform(0.7, 1.0) / GIB
    ids = [chr(ord("A") + k) for k in range(len(gpus))] + ["H"]
    with open(path, "w", encoding="ascii") as out:
        out.write("<cluster>\n")
        for name, model, part in zip(ids, gpus, parts):
            out.write(f'<device id="{name}" model="{model}" '
                      f'memory_gib="{room * part / sum(parts):.3f}"/>\n')
        out.write('<device id="H" kind="cpu" gflops="1500" '
                  'memory_bandwidth_gbs="80" launch_us="1" '
                  f'memory_gib="{2 * memory / GIB:.0f}"/>\n')
        for k, name in enumerate(ids):
            for other in ids[k + 1:]:
                out.write(f'<link between="{name} {other}" '
                          f'gbps="{chance.choice((50, 100, 200, 400))}" '
                          'latency_us="8"/>\n')
        out.write("</cluster>\n")


def measure(model, number, options, folder):
    step = DecodeStep(*MODELS[model])
    graph = os.path.join(folder, f"{model}.graphml")
    cluster = os.path.join(folder, f"{model}-{number}.xml")
    step.write(graph)
    write_cluster(cluster, number, step.memory)
    placing = Placing(["--time", str(options.time), "--memory", options.memory,
                       "--cluster", cluster, graph])
    best = placing.best
    if not best:
        print(f"{model:6} {number:3} no placement")
        return 100
    print(f"{model:6} {number:3} {2 + number % 7:7} "
          f"{milliseconds(best):12.3f} {milliseconds(best, 'bound_us'):12.3f} "
          f"{percent(best):8.3f} {placing.seconds:8.1f}", flush=True)
    return percent(best)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", type=float, default=30)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--memory", default="static")
    parser.add_argument("--keep")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    options = parser.parse_args()
    models = options.models or list(MODELS)
    print("model  cluster devices  makespan/ms     bound/ms    gap/%  seconds")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        gaps = [measure(model, 8 * list(MODELS).index(model) + i, options,
                        folder)
                for model in models for i in range(options.clusters)]
    if not gaps:
        return 77
    within = sum(gap <= MOST_PERCENT for gap in gaps)
    print(f"{within} of {len(gaps)} within {MOST_PERCENT} %, "
          f"largest {max(gaps):.3f} %")
    return int(within < OFTEN * len(gaps) or max(gaps) > RARELY_PERCENT)


if __name__ == "__main__":
    sys.exit(main())
