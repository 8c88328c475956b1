# SPDX-License-Identifier: Apache-2.0
"""Throughput of placements with many requests in flight, as a picture.

    throughput.py [--time SECONDS] [--svg FILE] [--json FILE] [NAME...]

Runs moirai-place --objective period, from the PATH, on the paper authors'
instances (their own clusters) and on exported networks (inter-server and
intra-server), or on those named.  Each method's throughput is divided by that
of the best single device: dp-contiguous, moirai, its limit by the proven bound,
and a whole copy on each device (replicas), where these fit.  Writes the measured
rows as JSON and the picture as SVG; prints a table.
"""
import argparse
import json
import os
import subprocess
import sys

from bars import Bars

AUTHORS = ("GoogLeNet", "inceptionv4", "transformer")
EXPORTED = ("googlenet", "resnet50", "mobilenet_v3_large", "swin_t",
            "bert_base_128", "gpt2_512", "esmfold_trunk4_64")
CLUSTERS = ("inter-server", "intra-server")
SERIES = ("contiguous", "moirai", "bound", "replicas")


def place(graph, options, seconds):
    """Returns the rows of moirai-place by method; {}: no single device fits."""
    done = subprocess.run(
        ["moirai-place", "-q", "--json", "--objective", "period", "--fusion",
         "none", "--assist", "none", "--time", str(seconds), "--method",
         "moirai", "--method", "dp-contiguous", *options, graph],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )
    if done.returncode != 0:
        print(f"# {graph}: {done.stderr.decode().strip()}", file=sys.stderr)
        return {}
    return {row["method"]: row for row in json.loads(done.stdout)}


def ratios(rows):
    """Throughput over the best single device, by series."""
    moirai, split = rows.get("moirai", {}), rows.get("dp-contiguous", {})
    single = moirai.get("best_single_us")
    periods = {
        "contiguous": split.get("period_us") if split.get("fits") else None,
        "moirai": moirai.get("period_us") if moirai.get("fits") else None,
        "bound": moirai.get("bound_us"),
        "replicas": moirai.get("replicas_us"),
    }
    return {name: single / us for name, us in periods.items() if single and us}


def problems(data):
    for name in AUTHORS:
        yield "authors", name, f"{data}/authors/{name}.graphml", ()
    for cluster in CLUSTERS:
        for name in EXPORTED:
            yield cluster, name, f"{data}/openvino/{name}.xml", ("-c", cluster)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", type=float, default=30)
    parser.add_argument("--svg", default="throughput.svg")
    parser.add_argument("--json", default="throughput.json")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    panels, measured = {}, []
    print(f"{'':14} {'network':20} {'single/us':>12} {'contig.':>8} "
          f"{'moirai':>8} {'bound':>8} {'copies':>8} {'in flight':>10}")
    for panel, name, graph, more in problems(os.environ["MOIRAI_DATA"]):
        if options.names and name not in options.names:
            continue
        rows = place(graph, more, options.time)
        bars = ratios(rows)
        panels.setdefault(panel, {})[name] = bars
        measured.append({"cluster": panel, "network": name,
                         "rows": list(rows.values())})
        best = rows.get("moirai", {})
        cells = [f"{bars[one]:8.2f}" if one in bars else f"{'-':>8}"
                 for one in SERIES]
        print(f"{panel:14} {name:20} {best.get('best_single_us', 0):12.1f} "
              f"{' '.join(cells)} {best.get('in_flight', 0):10}", flush=True)
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(measured, file, indent=1)
    with open(options.svg, "w", encoding="utf-8") as file:
        file.write(Bars("Throughput over the best single device", panels,
                        SERIES, "does not fit").svg())


if __name__ == "__main__":
    main()
