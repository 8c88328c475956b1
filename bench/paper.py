# SPDX-License-Identifier: Apache-2.0
"""The paper's comparison, run again: its eleven models on both of its clusters,
as they are and coarsened, placed by every method.

    paper.py [OPTION]... [MODEL]...

A generator is a script that writes a model as "SCRIPT MODEL [--coarse]" and a
cluster as "SCRIPT --cluster inter|intra" with times of its own, so that two
programs can be compared on the same numbers.  It is named
by --generator, else by MOIRAI_ZOO22, else it is tools/zoo22.py beside
MOIRAI_DATA.  Where there is none, or with --zoo, the models are moirai-zoo's,
coarsened by moirai-place, on the built-in clusters; those have weights, and
some do not fit into a cluster's memory, which is reported.

A line for each instance and method goes to the CSV file; the picture shows how
many times as fast the placements of `moirai` are as those of the others, as
the paper's does.  moirai-place is taken from the PATH.

In the end the worst of all instances is checked against limits: `moirai` is
never behind another method, and ahead of all of them after a hundredth of the
time that the paper's own program took; given 10 s and 120 s, its makespans are
within 2 % of and at the best known before, and given 120 s the gap is 2 %.
Exits 1 when one is missed.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

from bars import Bars
from paper_figures import CLUSTERS, GRAPHS, MODELS, known_ms, paper_seconds
from placing import Placing, milliseconds
from verdict import Verdicts

SOON_SECONDS, LATE_SECONDS = 10, 120
COLUMNS = (
    "model", "cluster", "graph", "method", "why", "fits", "makespan_ms",
    "moirai_is_faster_by", "bound_ms", "gap_percent", "seconds",
    "seconds_to_lead", "paper_seconds", "soon_ms", "known_ms",
)


class Instance:
    def __init__(self, model, cluster, graph):
        self.model, self.cluster, self.graph = model, cluster, graph

    def __str__(self):
        return f"{self.model} {self.cluster} {self.graph}"


class Files:
    """Graphs and clusters, each written once into a folder."""

    def __init__(self, folder, generator):
        self.folder, self.generator = folder, generator

    def written(self, name, command):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            with open(path, "wb") as out:
                subprocess.run(command, stdout=out, check=True)
        return path

    def arguments(self, instance):
        """Arguments of moirai-place."""
        if not self.generator:
            path = self.written(
                f"{instance.model}.graphml", ["moirai-zoo", instance.model]
            )
            fusion = "default" if instance.graph == "coarsened" else "none"
            cluster = f"{instance.cluster}-server"
            return ["-c", cluster, "--fusion", fusion, path]
        coarse = ["--coarse"] if instance.graph == "coarsened" else []
        run = [sys.executable, self.generator]
        cluster = self.written(
            f"{instance.cluster}.cluster.xml",
            run + ["--cluster", instance.cluster],
        )
        path = self.written(
            f"{instance.model}.{instance.graph}.graphml",
            run + [instance.model] + coarse,
        )
        return ["-c", cluster, "--fusion", "none", path]


class Result:
    """Result of an instance; ours is None if moirai found nothing."""

    def __init__(self, instance, given_seconds, placing, others, known):
        self.instance, self.steps = instance, placing.steps
        self.given_seconds = given_seconds
        row = placing.rows[0]
        self.ours = row if row.get("fits") else None
        self.why = row.get("why", "does not fit")
        self.known_ms = known
        self.rows = [row] + others
        self.bound_us = max(one.get("bound_us", 0) for one in self.rows)
        self.rival = min(
            (other for other in others if other.get("fits")),
            key=lambda other: other["makespan_us"],
            default=None,
        )

    def gap_percent(self, row):
        """By the best bound known.  A placement that exceeds memory may be
        below it."""
        if not row.get("fits") or not row["makespan_us"]:
            return None
        return 100 * (1 - self.bound_us / row["makespan_us"])

    def seconds_to_lead(self):
        """When moirai first was shorter than all of the others."""
        if not self.rival:
            return None
        return min(
            (
                seconds
                for makespan, seconds in self.steps
                if makespan < self.rival["makespan_us"]
            ),
            default=None,
        )

    def soon_ms(self):
        """Makespan of moirai after SOON_SECONDS; a solution written just after
        the end of its time counts."""
        if self.ours and self.given_seconds <= SOON_SECONDS:
            return milliseconds(self.ours)
        return min(
            (
                makespan / 1000
                for makespan, seconds in self.steps
                if seconds <= SOON_SECONDS
            ),
            default=None,
        )

    def faster_by(self, row):
        if not self.ours or not row.get("fits"):
            return None
        return row["makespan_us"] / self.ours["makespan_us"]

    def line(self, row):
        """Of the CSV file."""
        instance, is_ours = self.instance, row["method"] == "moirai"
        return {
            "model": instance.model,
            "cluster": instance.cluster,
            "graph": instance.graph,
            "method": row["method"],
            "why": row.get("why"),
            "fits": row.get("fits"),
            "makespan_ms": milliseconds(row),
            "moirai_is_faster_by": self.faster_by(row),
            "bound_ms": self.bound_us / 1000,
            "gap_percent": self.gap_percent(row),
            "seconds": row["seconds"],
            "seconds_to_lead": self.seconds_to_lead() if is_ours else None,
            "paper_seconds": paper_seconds(
                instance.model, instance.graph, row["method"]
            ),
            "soon_ms": self.soon_ms() if is_ours else None,
            "known_ms": self.known_ms if is_ours else None,
        }

    def lead_ratio(self):
        """Of the paper's time."""
        lead = self.seconds_to_lead()
        if lead is None:
            return None
        return lead / paper_seconds(
            self.instance.model, self.instance.graph, "moirai"
        )


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def gap_text(percent):
    """Only 0 is printed as 0.00."""
    return "<0.01" if 0 < percent < 0.01 else f"{percent:.2f}"


def tell_heading():
    print(
        f"{'instance':36} {'ms':>9} {'bound':>9} {'gap/%':>6}"
        f"  {'next best':18} {'known/ms':>9} {'leads/s':>8} {'paper/s':>8}"
    )


def tell(result):
    ours, rival = result.ours, result.rival
    name = f"{str(result.instance):36}"
    if not ours:
        print(f"{name} {'-':>9} {result.why}", flush=True)
        return
    against = (
        f"{rival['method']:8} {result.faster_by(rival):7.3f} x"
        if rival
        else "nothing fits"
    )
    lead = result.seconds_to_lead()
    model, graph = result.instance.model, result.instance.graph
    print(
        f"{name} {milliseconds(ours):9.3f} {result.bound_us / 1000:9.3f}"
        f" {gap_text(result.gap_percent(ours)):>6}  {against:18}"
        f" {text(result.known_ms) or '-':>9}"
        f" {'-' if lead is None else f'{lead:.1f}':>8}"
        f" {paper_seconds(model, graph, 'moirai'):8.0f}",
        flush=True,
    )


def judge_worst(verdicts, what, results, figure, limit):
    """Judges the largest of the known figures."""
    figures = [(figure(result), str(result.instance)) for result in results]
    figures = [pair for pair in figures if pair[0] is not None]
    if figures:
        worst, instance = max(figures)
        verdicts.line(what, worst, limit, "<=", instance)


def judge(results, seconds):
    """Some limits apply to runs with enough time only."""
    verdicts = Verdicts()
    soon = 1.02 if seconds >= SOON_SECONDS else None
    late = 1 if seconds >= LATE_SECONDS else None
    placed = [result for result in results if result.ours]
    known = [result for result in placed if result.known_ms]
    rivals = [result for result in results if result.rival]
    judge_worst(verdicts, "moirai / the best of the others", rivals,
                lambda r: r.ours and 1 / r.faster_by(r.rival), 1)
    judge_worst(verdicts, "seconds to lead / the paper's", rivals,
                lambda r: r.lead_ratio(), 0.01)
    never = [r for r in rivals if r.seconds_to_lead() is None]
    verdicts.line("instances without a lead", len(never), 0, "<=",
                  ", ".join(str(r.instance) for r in never) or "all lead")
    judge_worst(verdicts, f"after {SOON_SECONDS} s / known before", known,
                lambda r: r.soon_ms() and r.soon_ms() / r.known_ms, soon)
    judge_worst(verdicts, "in the end / known before", known,
                lambda r: milliseconds(r.ours) / r.known_ms, late)
    judge_worst(verdicts, "gap, %", placed, lambda r: r.gap_percent(r.ours),
                2 if late else None)
    return not verdicts.failed


def picture(results, methods):
    panels = {}
    for result in results:
        instance = result.instance
        title = f"{instance.cluster}-server, {instance.graph} graphs"
        bars = {
            row["method"]: result.faster_by(row)
            for row in result.rows
            if row["method"] != "moirai" and result.faster_by(row)
        }
        panels.setdefault(title, {})[instance.model] = bars
    others = [method for method in methods if method != "moirai"]
    return Bars("How many times as fast moirai's placements are", panels,
                others, "does not fit").svg()


def default_generator():
    named = os.environ.get("MOIRAI_ZOO22")
    if named:
        return named
    beside = os.path.join(
        os.environ.get("MOIRAI_DATA", ""), os.pardir, "tools", "zoo22.py"
    )
    return beside if os.path.exists(beside) else None


def chosen(parser, values, known):
    for value in values:
        if value not in known:
            parser.error(f"{value} is none of {', '.join(known)}")
    return values


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("models", nargs="*", metavar="MODEL", help="all of them unless given")
    add("--generator", default=default_generator(),
        help="a script that writes models and clusters")
    add("--zoo", action="store_true", help="no generator")
    add("--clusters", default=",".join(CLUSTERS))
    add("--graphs", default=",".join(GRAPHS))
    add("--methods", default="m-sct,getf,heft,peft,cpop,m-etf,m-topo,single,"
        "pesto,hare,placeto,hrl", help="to hold against moirai")
    add("--time", type=float, default=10, help="seconds for moirai")
    add("--method-time", type=float, default=60,
        help="seconds for each other method; most need none of it")
    add("--gap", type=float, default=0, help="that is enough, as 0.02")
    add("--threads", type=int, default=0)
    add("--seed", type=int, default=1)
    add("--csv", default="paper.csv")
    add("--svg", default="paper.svg")
    options = parser.parse_args()
    options.generator = None if options.zoo else options.generator
    chosen(parser, options.models, MODELS)
    options.clusters = chosen(parser, options.clusters.split(","), CLUSTERS)
    options.graphs = chosen(parser, options.graphs.split(","), GRAPHS)
    options.methods = options.methods.split(",")
    return options


def place(options, instance, files):
    common = ["--tensors", "once", "--congestion", "port"]
    common += ["--threads", str(options.threads), "--seed", str(options.seed)]
    common += files.arguments(instance)
    placing = Placing(
        ["--method", "moirai", "--time", str(options.time)]
        + ["--gap", str(options.gap)] + common
    )
    others = Placing(
        ["--method", ",".join(options.methods)]
        + ["--time", str(options.method_time)] + common
    )
    known = None
    if options.generator:
        known = known_ms(instance.model, instance.cluster, instance.graph)
    return Result(instance, options.time, placing, others.rows, known)


def place_all(options, files, writer):
    for cluster in options.clusters:
        for graph in options.graphs:
            for model in options.models or MODELS:
                result = place(options, Instance(model, cluster, graph), files)
                for row in result.rows:
                    line = result.line(row)
                    writer.writerow([text(line[name]) for name in COLUMNS])
                tell(result)
                yield result


def run(options):
    tell_heading()
    with tempfile.TemporaryDirectory() as folder, open(
        options.csv, "w", newline=""
    ) as table, open(options.svg, "w", encoding="utf-8") as drawn:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(COLUMNS)
        results = list(
            place_all(options, Files(folder, options.generator), writer)
        )
        drawn.write(picture(results, options.methods))
    return 0 if judge(results, options.time) else 1


def main():
    options = parse()
    try:
        return run(options)
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"paper.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
