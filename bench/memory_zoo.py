# SPDX-License-Identifier: Apache-2.0
"""Gaps where memory is short, by moirai-place and moirai-zoo from the PATH.

    memory_zoo.py [--time SECONDS] [--keep FOLDER] [capped] [spread] [scale]

All three unless some are named:

capped  The networks of moirai-zoo on both built-in clusters, whose devices have
        0.4, 0.3, 0.2 and 0.1 of 1.05 times the memory that is needed.
spread  Graphs of 60 to 250 ops with few clean cuts, random ones and those of
        networks, on 10 to 15 equal accelerators, each of which holds a ninth
        to a twelfth of the memory, and a host that holds all and is 20 times
        slower; transfers take about as long as ops.  The same seed gives the
        same problems everywhere.
scale   Stacks of 5,000 to 200,000 ops on the capped inter-server cluster, for
        one round: seconds of the processor and memory by ops.

Prints makespan, bound, gap and seconds of each.  Exits 1 where a gap of capped
is above 3 % or seconds or memory per op of scale grow more than twofold, 77
when there is nothing to measure.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

from placing import Placing, milliseconds, percent
from verdict import Verdicts

SHARES = (0.4, 0.3, 0.2, 0.1)
SPARE = 1.05
BUILT_IN = {
    "inter-server": (
        ("rtx2080ti", "t4", "p4", "rtx3060ti"), 10,
        ((0, 44.26, 32.92, 44.28), (42.39, 0, 35.32, 44.51),
         (33.2, 35.31, 0, 32.95), (42.08, 43.22, 33.28, 0)),
    ),
    "intra-server": (
        ("v100", "v100", "p100", "p100"), 5,
        ((0, 1170.04, 626.10, 610.56), (1148.16, 0, 618.98, 581.09),
         (630.43, 609.82, 0, 571.96), (622.67, 575.08, 581.35, 0)),
    ),
}
MOST_GAP, MOST_GROWTH = 3, 2
STACK, LAYERS = "gpt3-330m", (25, 100, 400, 1000)
SPREAD = 16


def output_of(*command):
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def write(path, *lines):
    with open(path, "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")
    return path


def capped_cluster(path, name, need):
    models, latency_us, gbps = BUILT_IN[name]
    devices = [
        f'<device id="{id_}" model="{model}"'
        f' memory_bytes="{int(SPARE * share * need)}"/>'
        for id_, model, share in zip("ABCD", models, SHARES)
    ]
    links = [
        f'<link from="{a}" to="{b}" gbps="{gbps[i][j]}"'
        f' latency_us="{latency_us}"/>'
        for i, a in enumerate("ABCD") for j, b in enumerate("ABCD") if i != j
    ]
    return write(path, "<cluster>", *devices, *links, "</cluster>")


def zoo_graph(folder, model, *options):
    """The path of the graph and the memory that it needs."""
    path = os.path.join(folder, f"{model}{''.join(options)}.graphml")
    output_of("moirai-zoo", model, *options, "-o", path)
    said = output_of("moirai-info", "--instance", "--json", "--fusion", "none",
                     "-c", "inter-server", path)
    return path, int(re.search(r'"memory_bytes": (\d+)', said)[1])


def tell(verdicts, what, placing, most=None):
    row = placing.best
    bound = milliseconds(row, "bound_us")
    verdicts.line(
        f"{what}: gap, %", percent(row), most,
        detail="no placement" if not row else
        f"{milliseconds(row):.6g} ms, bound {bound:.6g},"
        f" {row['rounds']} rounds, {placing.processor_seconds:.0f} s of the"
        " processor",
        quiet=placing.quiet,
    )


def measure_capped(verdicts, folder, options):
    models = re.findall(r"^\S+-\S+", output_of("moirai-zoo", "--list"), re.M)
    for model in models:
        graph, need = zoo_graph(folder, model)
        for name in BUILT_IN:
            path = os.path.join(folder, f"{model}-{name}.xml")
            capped_cluster(path, name, need)
            placing = Placing(["--time", options.time, "-c", path, graph])
            tell(verdicts, f"{model}, {name}", placing, MOST_GAP)
    return bool(models)


class Sketch:
    """A graph as it grows: readers and whether ops have weights."""

    def __init__(self):
        self.reads, self.heavy = [], []

    def op(self, *reads, heavy=True):
        self.reads.append(sorted(set(reads)))
        self.heavy.append(heavy)
        return len(self.reads) - 1

    def chain(self, n, *reads, **kind):
        for _ in range(n):
            reads = (self.op(*reads, **kind),)
        return reads[0]


def sketch_random(s, chance, n):
    """Each op reads one to three of the ops shortly before it."""
    reach = 2 * chance.choice((3, 5, 8))
    s.op()
    for i in range(1, n):
        s.op(*(chance.randint(max(0, i - reach), i - 1)
               for _ in range(chance.choice((1, 2, 2, 3)))))


def sketch_layered(s, chance, n):
    """Each op reads one to three of the layer before it."""
    width = chance.choice((4, 6, 10))
    last = [s.op() for _ in range(width)]
    while len(s.reads) < n:
        last = [s.op(*chance.sample(last, chance.choice((1, 2, 2, 3))))
                for _ in range(width)]


def sketch_inception(s, _chance, n):
    """Branches of one to four convolutions between concatenations."""
    end = s.chain(3)
    while len(s.reads) < n:
        ends = [s.chain(k, end) for k in (1, 2, 3, 4)]
        end = s.op(*ends, s.op(s.op(end, heavy=False)), heavy=False)


def sketch_nasnet(s, _chance, n):
    """Cells of five sums that read the two cells before."""
    before, last = s.op(), s.op(0)
    while len(s.reads) < n:
        a, b = s.op(before), s.op(last)
        sums = []
        for left, right in ((a, b), (a, b), (b, a), (a, a), (b, b)):
            sums.append(s.op(s.chain(2, left), s.op(right), heavy=False))
        before, last = last, s.op(*sums, a, heavy=False)


def sketch_gnmt(s, chance, n):
    """A grid of recurrent cells by layer and step, with attention."""
    steps = chance.choice((6, 10))
    row = [s.op(heavy=False) for _ in range(steps)]
    encoder = n // 2
    while len(s.reads) < n:
        next_row, left = [], []
        if len(s.reads) > encoder and encoder:
            encoder, look = 0, s.op(*row)
            row = [s.op(look, x) for x in row]
        for x in row:
            cell = s.op(x, *left)
            left = [cell]
            next_row.append(s.op(cell, x, heavy=False))
        row = next_row


def sketch_transformer(s, _chance, n):
    """Attention by heads, and branches of a product each."""
    end = s.op()
    while len(s.reads) < n:
        heads = []
        for _ in range(4):
            q, k, v = s.op(end), s.op(end), s.op(end)
            score = s.chain(2, q, k, heavy=False)
            heads.append(s.op(score, v, heavy=False))
        end = s.op(s.op(*heads), end, heavy=False)
        end = s.op(s.chain(2, end), end, heavy=False)


def sketch_training(s, chance, n):
    """A step forward of random blocks, and back over all of them."""
    sketch_random(s, chance, n // 2)
    readers = [[] for _ in s.reads]
    for i, reads in enumerate(s.reads):
        for j in reads:
            readers[j].append(i)
    back = {}
    for i in range(len(readers) - 1, -1, -1):
        back[i] = s.op(i, *(back[j] for j in readers[i]), heavy=False)


def sketch_unet(s, _chance, n):
    """Two U-Nets after each other: what goes down is read on the way up."""
    depth = max(2, n // 20)
    end = s.op()
    for _ in range(2):
        skips = []
        for _ in range(depth):
            end = s.chain(4, end)
            skips.append(s.op(end))
        for skip in reversed(skips):
            end = s.op(s.op(end, skip, heavy=False), s.op(end))
            end = s.chain(2, end)


SKETCHES = (sketch_random, sketch_layered, sketch_inception, sketch_nasnet,
            sketch_gnmt, sketch_transformer, sketch_training, sketch_unet)


def spread_problem(folder, seed):
    """A graph and a cluster; its numbers in words."""
    chance = random.Random(seed)
    n_devices, part = chance.randint(10, 15), chance.uniform(9, 12)
    sketch, draw = Sketch(), SKETCHES[(seed - 1) % len(SKETCHES)]
    draw(sketch, chance, chance.choice((60, 120, 250)))
    n = len(sketch.reads)
    ops = [(chance.lognormvariate(4, 0.8) * (1 if heavy else 0.3),
            1e8 * chance.lognormvariate(0, 0.8) * (1 if heavy else 0.02))
           for heavy in sketch.heavy]
    mean_us = sum(us for us, _ in ops) / n
    dear = chance.choice((0.5, 1, 2, 3))
    keys = [
        f'<key id="{key}" for="{where}" attr.name="{name}"'
        ' attr.type="double"/>'
        for key, where, name in (("w", "node", "weight_bytes"),
                                 ("g", "node", "time_us.gpu"),
                                 ("h", "node", "time_us.host"),
                                 ("b", "edge", "bytes"))
    ]
    nodes = [
        f'<node id="n{i}"><data key="w">{int(size)}</data>'
        f'<data key="g">{us:.3f}</data><data key="h">{20 * us:.3f}</data>'
        "</node>"
        for i, (us, size) in enumerate(ops)
    ]
    sent = [int(1250 * dear * mean_us * chance.lognormvariate(0, 0.7))
            for _ in ops]
    edges = [
        f'<edge source="n{j}" target="n{i}"><data key="b">{sent[j]}</data>'
        "</edge>"
        for i, reads in enumerate(sketch.reads) for j in reads
    ]
    graph = write(os.path.join(folder, f"spread{seed}.graphml"),
                  '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
                  *keys, '<graph edgedefault="directed">', *nodes, *edges,
                  "</graph></graphml>")
    need = sum(size for _, size in ops)
    ids = [f"g{k}" for k in range(n_devices)] + ["host"]
    sizes = [need / part] * n_devices + [2 * need]
    devices = [
        f'<device id="{id_}" model="{id_.rstrip("0123456789")}"'
        f' memory_bytes="{int(size)}"/>'.replace('"g"', '"gpu"')
        for id_, size in zip(ids, sizes)
    ]
    links = [f'<link between="{a} {b}" gbps="10" latency_us="5"/>'
             for k, a in enumerate(ids) for b in ids[k + 1:]]
    cluster = write(os.path.join(folder, f"spread{seed}.xml"), "<cluster>",
                    *devices, *links, "</cluster>")
    return graph, cluster, (f"{draw.__name__[7:]}, {n} ops, {n_devices}"
                            f" devices, transfers x {dear}")


def measure_spread(verdicts, folder, options):
    for seed in range(1, SPREAD + 1):
        graph, cluster, what = spread_problem(folder, seed)
        placing = Placing(["--time", options.time, "-c", cluster, graph])
        tell(verdicts, f"spread {seed}, {what}", placing)
    return True


def measure_scale(verdicts, folder, _options):
    runs = {}
    for layers in LAYERS:
        graph, need = zoo_graph(folder, STACK, "--layers", str(layers))
        path = capped_cluster(os.path.join(folder, f"{layers}.xml"),
                              "inter-server", need)
        runs[layers] = Placing(["--time", "0", "--rounds", "1", "--threads",
                                "1", "-c", path, graph])
        tell(verdicts, f"{layers} layers", runs[layers])
    first = runs[LAYERS[0]]
    for layers, run in list(runs.items())[1:]:
        factor = layers / LAYERS[0]
        for what, value, of in (
            ("seconds", run.processor_seconds, first.processor_seconds),
            ("memory", run.peak_mb, first.peak_mb),
        ):
            verdicts.line(f"{layers} layers: {what} per op / of {LAYERS[0]}",
                          value / factor / of, MOST_GROWTH,
                          detail=f"{value:.4g}")
    return True


PARTS = {
    "capped": measure_capped,
    "spread": measure_spread,
    "scale": measure_scale,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--time", default="60")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    parts = options.parts or list(PARTS)
    for part in parts:
        if part not in PARTS:
            parser.error(f"{part} is none of {', '.join(PARTS)}")
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        measured = [PARTS[part](verdicts, folder, options) for part in parts]
    if not any(measured):
        return 77
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
