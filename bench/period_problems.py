# SPDX-License-Identifier: Apache-2.0
"""Gaps of moirai-place --objective period, taken from the PATH, on problems as
throughput partitioners take them (Tarnawski et al., NeurIPS 2020): equal
accelerators with 16 GB beside a CPU, layer and operator graphs.

    period_problems.py [--time SECONDS] [--keep FOLDER] [--write] [NAME...]

Names are GRAPH-CLUSTER, all unless some are given.  Graphs: chains of 32 and 54
layers, blocks of branches, residual blocks, a recurrent encoder and decoder,
operators of transformers, and training graphs, whose backward ops share the
device of their forward op.  Clusters: 2 to 6 accelerators and a CPU that is 10
to 50 times slower, with dear transfers (dear), and with memory for little more
than all weights (tight).

Prints period, bound, gap and seconds of each; --write only writes the files.
Exits 1 when a gap is above 2 %, 77 when there is nothing to measure.
"""
import argparse
import os
import random
import sys
import tempfile

from placing import Placing, milliseconds, percent

GIB = 2**30
MOST_PERCENT = 2


class Graph:
    """Ops: time on an accelerator and on a CPU in us, bytes of memory and of
    output, and the op whose device is shared."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.ops, self.edges = {}, []

    def op(self, name, inputs, time, memory=0, output=1e6, share=None):
        slower = self.chance.uniform(10, 50)
        self.ops[name] = (time, time * slower, memory, output, share or name)
        self.edges += [(source, name) for source in inputs]
        return name

    def add_backward(self):
        """A training step: gradients in reverse order, with the activations."""
        forward, edges = list(self.ops.items()), list(self.edges)
        outputs = {}
        for source, target in edges:
            outputs.setdefault(source, []).append(target)
        for name, (time, _, memory, output, share) in reversed(forward):
            inputs = [f"{name}'" for name in outputs.get(name, [])]
            self.op(f"{name}'", inputs + [name],
                    2 * time * self.chance.uniform(0.9, 1.1), memory, output,
                    share)
        return self

    def scale_memory(self, total):
        """All ops together have that many bytes."""
        factor = total / sum(op[2] for op in self.ops.values())
        self.ops = {name: (a, b, memory * factor, out, share)
                    for name, (a, b, memory, out, share) in self.ops.items()}

    def write(self, path):
        keys = ("time_us.acc", "time_us.host", "memory", "colocate")
        with open(path, "w", encoding="ascii") as out:
            out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
            for key in keys:
                kind = "string" if key == "colocate" else "double"
                out.write(f'<key id="{key}" for="node" attr.name="{key}" '
                          f'attr.type="{kind}"/>')
            out.write('<key id="size" for="edge" attr.name="bytes" '
                      'attr.type="double"/><graph edgedefault="directed">\n')
            for name, (acc, host, memory, _, share) in self.ops.items():
                values = f"{acc:.3f}", f"{host:.3f}", f"{memory:.0f}", share
                data = "".join(f'<data key="{key}">{value}</data>'
                               for key, value in zip(keys, values))
                out.write(f'<node id="{name}">{data}</node>\n')
            for source, target in self.edges:
                out.write(f'<edge source="{source}" target="{target}">'
                          f'<data key="size">{self.ops[source][3]:.0f}</data>'
                          "</edge>\n")
            out.write("</graph></graphml>\n")


def chain_of_layers(n, equal):
    """Layers of one size, or growing narrower and deeper as in a CNN."""
    g = Graph(n)
    last, before = None, None
    for i in range(n):
        time = 9000 if equal else g.chance.uniform(1000, 9000)
        inputs = [last] if last else []
        if not equal and before and i % 3 == 0:
            inputs.append(before)
        name = g.op(f"layer{i}", inputs, time, g.chance.uniform(50e6, 300e6),
                    4e6 if equal else 16e6 / (1 + i / 10))
        last, before = name, last
    if equal:
        g.op("head", [last], 3100, 400e6, 1e5)
    return g


def blocks_of_branches(blocks):
    """Four branches of two to five ops, joined: Inception."""
    g = Graph(blocks)
    last = g.op("stem", [], 900, 1e6, 3e6)
    for b in range(blocks):
        ends = []
        for branch in range(4):
            at = last
            for i in range(2 + branch):
                at = g.op(f"b{b}_{branch}_{i}", [at],
                          g.chance.uniform(50, 900), g.chance.uniform(0, 9e6),
                          g.chance.uniform(2e5, 2e6))
            ends.append(at)
        last = g.op(f"b{b}_join", ends, 60, 0, 3e6)
    return g


def residual_blocks(stages):
    """Three convolutions with norms in a block, and a shortcut: ResNet."""
    g = Graph(len(stages))
    last = g.op("stem", [], 1500, 1e5, 25e6)
    for s, blocks in enumerate(stages):
        size = 25e6 / 2**s
        for b in range(blocks):
            at, shortcut = last, last
            for i, part in enumerate((0.25, 0.25, 1)):
                at = g.op(f"s{s}_{b}_conv{i}", [at],
                          g.chance.uniform(500, 1100), 2e5 * 4**s, size * part)
                at = g.op(f"s{s}_{b}_norm{i}", [at], 150 * part + 20, 1e3,
                          size * part)
                if i < 2:
                    at = g.op(f"s{s}_{b}_relu{i}", [at], 20, 0, size * part)
            if b == 0:
                shortcut = g.op(f"s{s}_down", [last], 700, 2e5 * 4**s, size)
            at = g.op(f"s{s}_{b}_add", [at, shortcut], 150, 0, size)
            last = g.op(f"s{s}_{b}_relu", [at], 120, 0, size)
    last = g.op("pool", [last], 60, 0, 1e5)
    g.op("head", [last], 100, 8e6, 1e5)
    return g


def recurrent_layers(layers):
    """Encoder and decoder with attention over the encoder's states: GNMT."""
    g = Graph(layers)
    last, before = g.op("embed", [], 200, 130e6, 6e6), None
    for i in range(layers):
        inputs = [last] + ([before] if before else [])
        at = g.op(f"e{i}", inputs, g.chance.uniform(4000, 6000), 33e6, 6e6)
        last, before = g.op(f"e{i}_drop", [at], 90, 0, 6e6), last
    states, context = last, None
    last, before = g.op("target", [], 200, 130e6, 6e6), None
    for i in range(layers):
        inputs = [last] + ([before] if before else [])
        if context:
            inputs.append(context)
        at = g.op(f"d{i}", inputs, g.chance.uniform(5000, 7000), 42e6, 6e6)
        if i == 0:
            context = g.op("attention", [at, states], 1800, 8e6, 6e6)
        last, before = g.op(f"d{i}_drop", [at], 90, 0, 6e6), last
    g.op("head", [last, context], 9000, 130e6, 1e6)
    return g


def transformer_ops(layers):
    """Operators of an exported BERT, with a mask that all layers read."""
    g = Graph(layers)
    mask = g.op("mask", [], 15, 0, 5e5)
    last = g.op("embedding", [], 300, 9e7, 2e6)
    for l in range(layers):
        def op(name, inputs, time, memory=0, output=2e6, l=l):
            return g.op(f"l{l}_{name}", inputs,
                        time * g.chance.uniform(0.9, 1.1), memory, output)

        heads = []
        for s in "qkv":
            at = op(s, [last], 210, 2.4e6)
            at = op(f"{s}_bias", [at], 35, 3e3)
            at = op(f"{s}_reshape", [at], 4)
            heads.append(op(f"{s}_transpose", [at], 30))
        at = op("scores", heads[:2], 190, 0, 6e6)
        at = op("scale", [at], 60, 0, 6e6)
        at = op("masked", [at, mask], 70, 0, 6e6)
        at = op("softmax", [at], 95, 0, 6e6)
        at = op("context", [at, heads[2]], 180)
        at = op("merge", [at], 30)
        at = op("out", [at], 215, 2.4e6)
        at = op("add1", [at, last], 45)
        norm = at
        for i in range(4):
            at = op(f"norm1_{i}", [at] + ([norm] if i == 3 else []), 30)
        norm = at
        at = op("up", [at], 800, 9.4e6, 8e6)
        at = op("gelu", [at], 140, 0, 8e6)
        at = op("down", [at], 820, 9.4e6)
        at = op("add2", [at, norm], 45)
        norm = at
        for i in range(4):
            at = op(f"norm2_{i}", [at] + ([norm] if i == 3 else []), 30)
        last = at
    g.op("head", [last], 600, 9e7, 1e5)
    return g


GRAPHS = {
    "layers32": lambda: chain_of_layers(31, True),
    "layers54": lambda: chain_of_layers(54, False),
    "layers54-training": lambda: chain_of_layers(54, False).add_backward(),
    "branches": lambda: blocks_of_branches(20),
    "branches-training": lambda: blocks_of_branches(20).add_backward(),
    "residual": lambda: residual_blocks((3, 4, 6, 3)),
    "residual-training": lambda: residual_blocks((3, 4, 6, 3)).add_backward(),
    "recurrent": lambda: recurrent_layers(8),
    "recurrent-training": lambda: recurrent_layers(8).add_backward(),
    "bert3": lambda: transformer_ops(3),
    "bert8": lambda: transformer_ops(8),
    "bert24": lambda: transformer_ops(24),
    "bert8-training": lambda: transformer_ops(8).add_backward(),
}
# Accelerators, Gbit/s of their links, memory needed of all 16 GB.
CLUSTERS = {
    "2": (2, 100, 0.4),
    "3": (3, 100, 0.3),
    "4-dear": (4, 25, 0.5),
    "6": (6, 100, 0.3),
    "6-dear": (6, 12, 0.3),
    "6-tight": (6, 100, 0.93),
    "3-tight-dear": (3, 20, 0.9),
}


def write_cluster(path, n, gbps):
    ids = [f"A{k}" for k in range(n)] + ["H"]
    with open(path, "w", encoding="ascii") as out:
        out.write("<cluster>\n")
        for name in ids[:n]:
            out.write(f'<device id="{name}" model="acc" memory_gib="16"/>\n')
        out.write('<device id="H" model="host" memory_gib="1024"/>\n')
        for k, name in enumerate(ids):
            for other in ids[k + 1:]:
                out.write(f'<link between="{name} {other}" gbps="{gbps}" '
                          'latency_us="5"/>\n')
        out.write("</cluster>\n")


def write_problem(folder, graph, cluster):
    n, gbps, share = CLUSTERS[cluster]
    paths = (os.path.join(folder, f"{graph}-{cluster}.graphml"),
             os.path.join(folder, f"{n}-{gbps}.xml"))
    made = GRAPHS[graph]()
    made.scale_memory(share * n * 16 * GIB)
    made.write(paths[0])
    write_cluster(paths[1], n, gbps)
    return paths


def measure(name, graph, cluster, seconds):
    placing = Placing(["--objective", "period", "--assist", "none", "--time",
                       str(seconds), "--tensors", "once", "--cluster", cluster,
                       graph])
    best = placing.best
    if not best:
        print(f"{name:32} no placement", flush=True)
        return 100
    gap = percent(best)
    print(f"{name:32} {milliseconds(best, 'period_us'):12.3f} ms, bound "
          f"{milliseconds(best, 'bound_us'):12.3f}, gap {gap:6.2f} %, "
          f"{placing.seconds:5.1f} s", flush=True)
    return gap


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=30)
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    gaps = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        for graph in GRAPHS:
            for cluster in CLUSTERS:
                name = f"{graph}-{cluster}"
                if options.names and name not in options.names:
                    continue
                paths = write_problem(folder, graph, cluster)
                if not options.write:
                    gaps.append(measure(name, *paths, options.time))
    if not gaps:
        return 0 if options.write else 77
    print(f"{len(gaps)} problems, largest gap {max(gaps):.2f} %")
    return 1 if max(gaps) > MOST_PERCENT else 0


if __name__ == "__main__":
    sys.exit(main())
