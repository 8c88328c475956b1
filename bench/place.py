# SPDX-License-Identifier: Apache-2.0
"""Makespans, gaps and scaling of moirai-place, taken from the PATH.

    place.py [authors] [scale] [exports]

All three unless some are named:

authors  The authors' networks from MOIRAI_DATA with their profiles: makespans
         in ms and gaps, each against the best known; 60 s each.  The
         Transformer is judged with MOIRAI_LONG=1, when it has 600 s.
scale    Stacks of 5 thousand to a million ops on the inter-server cluster.
         How seconds per op grow is measured up to the first bound, without
         the search behind it, which takes whatever it is given; what the
         search makes of a million is measured with 20 s for it.  Reading the
         graph counts.
exports  Networks exported by others, from MOIRAI_DATA, after cleaning, on both
         built-in clusters: printed, without limits; 10 s each, 60 with
         MOIRAI_LONG=1.

Exits 1 when a limit is missed, 77 when there is nothing to measure.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

from placing import Placing, milliseconds, percent
from verdict import Verdicts

LONG = bool(os.environ.get("MOIRAI_LONG"))
PORTS = ["--congestion", "port", "--tensors"]
OPEN = ["--congestion", "none", "--tensors", "per-edge"]

# A network, what is asked, the makespan in ms, the gap in percent; a gap of 0
# is a proof.
AUTHORS = (
    ("GoogLeNet", OPEN, 1.24132, 0),
    ("GoogLeNet", PORTS + ["once"], 1.27111, 0),
    ("GoogLeNet", PORTS + ["per-edge"], 1.307, None),
    ("inceptionv4", PORTS + ["per-edge"], 10.194, 2),
    ("inceptionv4", PORTS + ["once"], 10.07, 2),
    ("transformer", PORTS + ["per-edge"], 19.3, 1),
    ("transformer", PORTS + ["once"], 18.15, 1),
    ("transformer", OPEN, 17.4, 1),
)
SLOW = "transformer"
DIGITS = 5  # of ms, in which the known makespans are printed

STACK = "gpt3-330m"
LAYERS = (25, 246, 4927)
FIRST_BOUND = ["--gap", "0.5"]
SEARCH = ["--time", "20"]
MOST_GROWTH, MOST_SECONDS, MOST_MB = 2, 60, 4096


def data(*names):
    return sorted(
        path
        for name in names
        for path in glob.glob(
            os.path.join(os.environ.get("MOIRAI_DATA", ""), name)
        )
    )


def says(placing):
    """The placement, its reference, and the effort."""
    row = placing.best
    if not row:
        return placing.rows[0].get("why", "does not fit")
    single = milliseconds(row, "best_single_us")
    alone = "cannot" if single is None else f"{single:.6g}"
    return (
        f"{milliseconds(row):.6g} ms,"
        f" bound {milliseconds(row, 'bound_us'):.6g}, one device {alone},"
        f" {row['rounds']} rounds, {row['seconds']:.1f} s"
    )


def place_author(verdicts, graph, name, options, most_ms, most_gap):
    judged = name != SLOW or LONG
    seconds = 600 if name == SLOW and LONG else 60
    placing = Placing(options + ["--time", str(seconds), graph])
    row = placing.best
    what = f"{name}, {options[1]}, {options[3]}"
    verdicts.line(
        f"{what}: ms",
        row and round(milliseconds(row), DIGITS),
        most_ms if judged else None,
        detail=says(placing),
    )
    verdicts.line(
        f"{what}: gap, %",
        percent(row),
        most_gap if judged else None,
        detail="optimal" if row and row["optimal"] else "not proven optimal",
    )


def place_authors(verdicts):
    any_there = False
    for name, options, most_ms, most_gap in AUTHORS:
        for graph in data(f"authors/{name}.graphml"):
            place_author(verdicts, graph, name, options, most_ms, most_gap)
            any_there = True
    if not any_there:
        print("SKIP  authors: MOIRAI_DATA has none of their networks")
    return any_there


def stack(folder, layers):
    """Returns the graph's path and its number of ops."""
    path = os.path.join(folder, f"{layers}.graphml")
    command = ["moirai-zoo", "-v", STACK, "--layers", str(layers), "-o", path]
    said = subprocess.run(
        command, check=True, stderr=subprocess.PIPE, text=True
    ).stderr
    return path, int(said.split("built ")[1].split()[0])


def place_stack(path, options):
    common = ["-c", "inter-server", "--memory", "none"] + PORTS + ["once"]
    return Placing(common + options + [path])


def tell_growth(verdicts, first):
    """first: ops -> the run up to the first bound."""
    per_op = {n: run.processor_seconds / n for n, run in first.items()}
    least = min(per_op)
    for n, run in first.items():
        verdicts.line(
            f"{n} ops: us of the processor per op",
            1e6 * per_op[n],
            detail=f"{run.processor_seconds:.2f} s, by the clock"
            f" {run.seconds:.2f} s, {run.peak_mb:.0f} MB,"
            f" gap {percent(run.best) or 100:.1f} %",
        )
    for n in list(per_op)[1:]:
        verdicts.line(
            f"{n} ops: per op / of {least} ops",
            per_op[n] / per_op[least],
            MOST_GROWTH,
            detail="seconds of the processor",
            quiet=all(run.quiet for run in first.values()),
        )


def tell_largest(verdicts, n, run):
    verdicts.line(f"{n} ops: seconds", run.seconds, MOST_SECONDS, "<",
                  f"{run.processor_seconds:.1f} s of the processor",
                  quiet=run.quiet)
    verdicts.line(f"{n} ops: peak memory, MB", run.peak_mb, MOST_MB, "<")
    verdicts.line(f"{n} ops: gap, %", percent(run.best), 100, "<", says(run))


def place_stacks(verdicts):
    first = {}
    with tempfile.TemporaryDirectory() as folder:
        for layers in LAYERS:
            path, n = stack(folder, layers)
            first[n] = place_stack(path, FIRST_BOUND)
        tell_growth(verdicts, first)
        tell_largest(verdicts, n, place_stack(path, SEARCH))
    return True


def place_exports(verdicts):
    paths = data("openvino/*.xml", "neusight/*.graphml")
    seconds = "60" if LONG else "10"
    for path in paths:
        name = os.path.basename(path).rsplit(".", 1)[0]
        for cluster in ("inter-server", "intra-server"):
            placing = Placing(
                ["-c", cluster, "--fusion", "default", "--time", seconds]
                + PORTS + ["once", path]
            )
            verdicts.line(
                f"{name}, {cluster}: gap, %",
                percent(placing.best),
                detail=says(placing),
            )
    if not paths:
        print("SKIP  exports: MOIRAI_DATA has no openvino, no neusight")
    return bool(paths)


PARTS = {
    "authors": place_authors,
    "scale": place_stacks,
    "exports": place_exports,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART")
    parts = parser.parse_args().parts or list(PARTS)
    for part in parts:
        if part not in PARTS:
            parser.error(f"{part} is none of {', '.join(PARTS)}")
    verdicts = Verdicts()
    measured = [PARTS[part](verdicts) for part in parts]
    if not any(measured):
        return 77
    return 1 if verdicts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
