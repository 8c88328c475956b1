# SPDX-License-Identifier: Apache-2.0
"""What each mechanism of the search is worth: gaps of moirai-place without it.

    ablation.py [--time S | --work S] [--threads N] [--jobs N] [--set NAME,...]
                [--keep FOLDER] [--out FILE] [MECHANISM...]
    ablation.py --builds OLD NEW [the same options]

Each mechanism, a row of kind `search` of src/base/ablation.def, all unless some
are named, is switched off by MOIRAI_ABLATE; A,B are switched off together.  A
loss is a gap minus the gap with all of them, in percentage points.  With --builds the same problems are solved
with the moirai-place of two folders instead.

Sets: authors (the authors' networks, from MOIRAI_DATA), zoo (the networks of
moirai-zoo on both built-in clusters), capped (the same where memory is short),
decode (decode steps of Llama-like models), spread (few clean cuts, many equal
devices, little memory), small (random graphs of 16 to 60 ops on two to four
devices), period (throughput problems, three rounds each with --work).  --jobs
is how many searches run at a time.

Exits 77 where there is nothing to measure.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import memory_problems
import memory_zoo
import period_problems

ABLATIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                         "src", "base", "ablation.def")
ROW = re.compile(r"^MO_ABLATION\((\w+), (\w+)\)", re.M)
PORTS = ["--congestion", "port", "--tensors", "once"]
PERIODS = ("layers54-6", "layers54-6-dear", "layers54-training-4-dear",
           "branches-6", "branches-6-dear", "branches-training-6",
           "residual-3", "residual-6-dear", "residual-training-4-dear",
           "recurrent-6", "recurrent-6-dear", "recurrent-training-6-tight",
           "bert3-6", "bert3-6-dear", "bert3-3-tight-dear", "bert8-6",
           "bert8-6-dear", "bert8-4-dear", "bert24-6", "bert8-training-6")
DECODERS = 4  # clusters of each model
SPREADS = 12
SMALL = range(101, 117)  # seeds
PERIOD_ROUNDS = 3  # --work does not limit the search for the least period


def mechanisms(kind):
    with open(ABLATIONS, encoding="ascii") as rows:
        return [name for name, its_kind in ROW.findall(rows.read())
                if its_kind == kind]


def authors(_folder):
    pattern = os.path.join(os.environ.get("MOIRAI_DATA", ""), "authors",
                           "*.graphml")
    for path in sorted(glob.glob(pattern)):
        name = os.path.basename(path)[:-len(".graphml")]
        yield f"{name}", ["--congestion", "port", path]


def zoo_graphs(folder):
    models = re.findall(r"^\S+-\S+",
                        memory_zoo.output_of("moirai-zoo", "--list"), re.M)
    for model in models:
        yield (model, *memory_zoo.zoo_graph(folder, model))


def zoo(folder):
    for model, graph, _ in zoo_graphs(folder):
        for cluster in memory_zoo.BUILT_IN:
            yield (f"{model}, {cluster}",
                   ["--memory", "none", "-c", cluster] + PORTS + [graph])


def capped(folder):
    for model, graph, need in zoo_graphs(folder):
        for name in memory_zoo.BUILT_IN:
            path = os.path.join(folder, f"{model}-{name}.xml")
            memory_zoo.capped_cluster(path, name, need)
            yield f"{model}, {name}", ["-c", path, graph]


def decode(folder):
    for number, model in enumerate(memory_problems.MODELS):
        step = memory_problems.DecodeStep(*memory_problems.MODELS[model])
        graph = os.path.join(folder, f"{model}.graphml")
        step.write(graph)
        for i in range(8 * number, 8 * number + DECODERS):
            cluster = os.path.join(folder, f"{model}-{i}.xml")
            memory_problems.write_cluster(cluster, i, step.memory)
            yield f"{model}, {i}", ["-c", cluster, graph]


def spread(folder):
    for seed in range(1, SPREADS + 1):
        graph, cluster, _ = memory_zoo.spread_problem(folder, seed)
        yield f"{seed}", PORTS + ["-c", cluster, graph]


def small_graph(path, sketch, times, sizes, sent):
    devices = range(len(times))
    memory_zoo.write(
        path, '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(f'<key id="{key}" for="{where}" attr.name="{name}"'
          ' attr.type="double"/>' for key, where, name in
          [("w", "node", "weight_bytes"), ("b", "edge", "bytes")] +
          [(f"t{k}", "node", f"time_us.d{k}") for k in devices]),
        '<graph edgedefault="directed">',
        *(f'<node id="n{i}"><data key="w">{size}</data>' +
          "".join(f'<data key="t{k}">{times[k][i]:.3f}</data>'
                  for k in devices) + "</node>"
          for i, size in enumerate(sizes)),
        *(f'<edge source="n{j}" target="n{i}"><data key="b">{sent[j]}</data>'
          "</edge>" for i, reads in enumerate(sketch.reads) for j in reads),
        "</graph></graphml>")


def small(folder):
    for seed in SMALL:
        chance, sketch = random.Random(seed), memory_zoo.Sketch()
        memory_zoo.SKETCHES[(seed - 1) % len(memory_zoo.SKETCHES)](
            sketch, chance, chance.choice((16, 24, 36, 50)))
        devices = range(chance.choice((2, 3, 4)))
        base = [chance.lognormvariate(4, 0.8) * (1 if heavy else 0.3)
                for heavy in sketch.heavy]
        times = [[us * chance.uniform(0.6, 2) for us in base]
                 for _ in devices]
        sizes = [int(1e8 * chance.lognormvariate(0, 0.8)) for _ in base]
        dear = 1250 * chance.choice((0.3, 0.7, 1.5)) * sum(base) / len(base)
        sent = [int(dear * chance.lognormvariate(0, 0.7)) for _ in base]
        graph = os.path.join(folder, f"small{seed}.graphml")
        small_graph(graph, sketch, times, sizes, sent)
        room = int(sum(sizes) * (1.15 / len(devices) if seed % 2 else 2))
        cluster = os.path.join(folder, f"small{seed}.xml")
        memory_zoo.write(
            cluster, "<cluster>",
            *(f'<device id="d{k}" model="d{k}" memory_bytes="{room}"/>'
              for k in devices),
            *(f'<link between="d{a} d{b}" gbps="{chance.choice((5, 10, 20))}"'
              ' latency_us="5"/>' for a in devices for b in range(a)),
            "</cluster>")
        yield f"{seed}", (PORTS if seed % 3 else []) + ["-c", cluster, graph]


def period(folder):
    for name in PERIODS:
        graph = next(g for g in sorted(period_problems.GRAPHS, key=len,
                                       reverse=True)
                     if name.startswith(g + "-"))
        paths = period_problems.write_problem(folder, graph,
                                              name[len(graph) + 1:])
        yield name, ["--objective", "period", "--assist", "none", "--tensors",
                     "once", "-c", paths[1], paths[0]]


SETS = {"authors": authors, "zoo": zoo, "capped": capped, "decode": decode,
        "spread": spread, "small": small, "period": period}


def limit_of(name, options):
    if options.work and name.startswith("period:"):
        return ["--time", "0", "--rounds", str(PERIOD_ROUNDS)]
    if options.work:
        return ["--time", "0", "--work", str(options.work)]
    return ["--time", str(options.time)]


def gap_of(place, problem, options, without):
    """The gap in percent and the makespan or period in us."""
    name, arguments = problem
    environment = dict(os.environ, MOIRAI_ABLATE=without)
    done = subprocess.run(
        [place, "--json", "--fusion", "none", *limit_of(name, options), "--threads",
         str(options.threads)] + arguments,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment, check=False)
    if done.returncode not in (0, 3):
        return 100.0, 0.0
    row = json.loads(done.stdout)[0]
    if not row.get("fits"):
        return 100.0, 0.0
    return 100 * row["gap"], row.get("period_us") or row["makespan_us"]


def solve_all(problems, variants, options):
    """(problem, variant) -> gap, makespan; variants: (place, without)."""
    keys = [(name, variant) for name in problems for variant in variants]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(
            lambda key: gap_of(key[1][0], (key[0], problems[key[0]]),
                               options, key[1][1]), keys)
        return dict(zip(keys, results))


def print_builds(problems, variants, results, out):
    old, new = variants
    sums = {}
    print("problem | old gap | new gap | difference | makespan new/old",
          file=out)
    for name in problems:
        (a, a_us), (b, b_us) = results[name, old], results[name, new]
        total = sums.setdefault(name.split(":")[0], [0, 0, 0])
        for i, value in enumerate((a, b, 1)):
            total[i] += value
        ratio = b_us / a_us if a_us and b_us else float("nan")
        print(f"{name} | {a:.3f} | {b:.3f} | {b - a:+.3f} | {ratio:.4f}",
              file=out)
    for name, (a, b, n) in sums.items():
        print(f"mean of {name} ({n}) | {a / n:.3f} | {b / n:.3f} |"
              f" {(b - a) / n:+.3f} |", file=out)


def print_losses(problems, variants, results, out):
    print("without | largest loss | on | mean loss | problems above 0.3",
          file=out)
    for variant in variants[1:]:
        losses = {name: results[name, variant][0] - results[name,
                                                            variants[0]][0]
                  for name in problems}
        worst = max(losses, key=losses.get)
        above = sum(loss > 0.3 for loss in losses.values())
        print(f"{variant[1]} | {losses[worst]:.2f} | {worst} |"
              f" {sum(losses.values()) / len(losses):+.3f} | {above}",
              file=out)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--work", type=float,
                        help="counted work instead")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--set", default=",".join(SETS))
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="every Nth problem of a set")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--builds", nargs=2, metavar=("OLD", "NEW"))
    parser.add_argument("names", nargs="*", metavar="MECHANISM")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        problems = {
            f"{part}: {name}": arguments for part in options.set.split(",")
            for name, arguments in list(SETS[part](folder))[::options.every]}
        if options.builds:
            variants = [(os.path.join(build, "moirai-place"), "")
                        for build in options.builds]
        else:
            names = options.names or mechanisms("search")
            variants = [("moirai-place", "")] + [("moirai-place", name)
                                                 for name in names]
        results = solve_all(problems, variants, options)
    if not problems or len(variants) < 2:
        return 77
    tell = print_builds if options.builds else print_losses
    with open(options.out, "w", encoding="ascii") if options.out else \
            os.fdopen(os.dup(1), "w") as out:
        tell(problems, variants, results, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
