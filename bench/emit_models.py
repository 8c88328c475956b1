# SPDX-License-Identifier: Apache-2.0
"""Default models of large networks, and what solvers make of them.

    emit_models.py [--limit SECONDS] [--sample N] [NAME...]

moirai-emit and moirai-zoo, on the PATH, write the default model of each network
of the zoo on both built-in clusters, fused and not, and of those of the folder
MOIRAI_DATA. highspy and pyscipopt, where they are installed, solve it on one
thread without a start. A line has the processor seconds of moirai-emit as part
of 6 s, the size as part of 60 MB, and the makespan of each solver relative to
the known schedule. NAME selects networks by the beginning of their names, N
every Nth of them. Exits 1 when a limit is missed.
"""
import argparse
import glob
import os
import re
import resource
import subprocess
import sys
import tempfile

CPU_SECONDS = 6
BYTES = 60e6
TOLERANCE = 1e-6


def networks(folder):
    """Yields name, graph, cluster, fusion."""
    listed = subprocess.run(["moirai-zoo", "--list"], check=True,
                            capture_output=True, text=True).stdout
    for name in [line.split()[0] for line in listed.splitlines()[1:]]:
        graph = os.path.join(folder, name + ".graphml")
        for cluster in "inter-server", "intra-server":
            for fusion in "default", "none":
                yield name, graph, cluster, fusion
    data = os.environ.get("MOIRAI_DATA", "")
    for graph in sorted(glob.glob(data + "/authors/transformer.graphml") +
                        glob.glob(data + "/neusight/*.graphml")):
        cluster = graph.replace(".graphml", ".cluster.xml")
        name = os.path.basename(graph).replace(".graphml", "")
        for fusion in "default", "none":
            yield name, graph, cluster, fusion


def emit(graph, cluster, fusion, model):
    """Returns processor seconds, the known makespan in units of the model, and
    the formulation; None where no placement fits into memory."""
    if not os.path.exists(graph):
        subprocess.run(["moirai-zoo", os.path.basename(graph)[:-8], "-o",
                        graph], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(["moirai-emit", "-q", "-c", cluster, "--fusion",
                            fusion, graph, "-o", model])
    if ended.returncode == 3:
        return None
    ended.check_returncode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(model, encoding="ascii") as file:
        head = file.read(4096)
    known = re.search(r"is a schedule of ([0-9.]+) us", head)
    form = re.search(r"formulation: (\S+)", head)
    unit = re.search(r"time unit: (\d+) (\S+)", head)
    unit_us = int(unit[1]) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[unit[2]]
    seconds = (after.ru_utime + after.ru_stime - before.ru_utime -
               before.ru_stime)
    return seconds, float(known[1]) / unit_us if known else None, form[1]


def solve_highs(model, limit):
    import highspy
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("time_limit", limit)
    highs.readModel(model)
    highs.run()
    return highs.getInfo().objective_function_value


def solve_scip(model, limit):
    import pyscipopt
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.setParam("limits/time", limit)
    scip.readProblem(model)
    scip.optimize()
    return scip.getObjVal() if scip.getNSols() else float("inf")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    solvers = {"highs": solve_highs, "scip": solve_scip}
    missed = 0
    print("network cluster fusion formulation cpu/6s size/60MB "
          + " ".join(name + "/known" for name in solvers))
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.lp")
        chosen = [n for n in networks(folder) if not options.names or
                  any(n[0].startswith(name) for name in options.names)]
        for name, graph, cluster, fusion in chosen[::options.sample]:
            made = emit(graph, cluster, fusion, model)
            if not made:
                print(name, os.path.basename(cluster), fusion, "infeasible")
                continue
            cpu, known, form = made
            size = os.path.getsize(model)
            ratios = [cpu / CPU_SECONDS, size / BYTES]
            for solve in solvers.values():
                try:
                    ratios.append(solve(model, options.limit) / known)
                except ImportError:
                    ratios.append(float("nan"))
            missed += ratios[0] > 1 or ratios[1] > 1 or any(
                r > 1 + TOLERANCE for r in ratios[2:])
            print(name, os.path.basename(cluster), fusion, form,
                  *["%.4f" % r for r in ratios], flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
