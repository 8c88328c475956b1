# SPDX-License-Identifier: Apache-2.0
"""Compares four ways to the least period of small random problems.

    period.py FOLDER FIRST COUNT

tests/oracles/print_periods enumerates all placements, moirai-place searches,
and HiGHS and SCIP solve the model that moirai-emit writes, as LP and MPS in
turn.  FOLDER takes the files.  Prints every problem on which they differ, and
the counts.  Where HiGHS differs, it solves the model again without presolve,
which is counted apart: version 1.15.1 has false optima with it.  Solvers that
are not installed are left out.

Exit status: 0 all agree, 1 some differ.
"""
import concurrent.futures
import ctypes
import json
import math
import os
import re
import subprocess
import sys

import agree

AT_A_TIME = 2
BATCH = 50
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
NONE = 3  # exit status: no placement fits
TOOLS = os.environ.get("top_builddir", ".")


class PlainHighs(agree.Highs):
    """HiGHS without presolve."""

    def _read(self, path):
        highs = super()._read(path)
        self.lib.Highs_setStringOptionValue(
            highs, b"presolve", ctypes.c_char_p(b"off")
        )
        return highs


def command(*words):
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode not in (0, NONE):
        raise ValueError(f"{' '.join(words)}: {done.stderr.decode()}")
    return done


def place(graph, options):
    done = command(
        "moirai-place", "-q", "--json", "--assist", "none", "--threads", "1",
        "--fusion", "none", "--method", "moirai", *options, graph,
    )
    if done.returncode == NONE:
        return math.inf
    row = json.loads(done.stdout)[0]
    if not row["optimal"]:
        return f"{row['period_us']} us, not proven"
    return row["period_us"] * 1e3


def emit(graph, options, path):
    """Returns the unit of the model in ns; None: no placement fits."""
    done = command("moirai-emit", "-q", "--fusion", "none", *options, "-o",
                   path, graph)
    if done.returncode == NONE:
        return None
    with open(path, encoding="utf-8") as model:
        found = re.search(r"time unit: (\d+) (\w+)", model.read(4096))
    return int(found.group(1)) * UNITS[found.group(2)]


def solve(kind, path, unit_ns):
    if unit_ns is None:
        return math.inf
    try:
        return kind().optimum(path) * unit_ns
    except ValueError as error:
        return str(error)


def compare(line, folder, kinds):
    """Returns the results that differ from enumeration, by name."""
    seed, congestion, tensors, memory, least = line.split()
    wanted = math.inf if int(least) < 0 else float(least)
    graph = f"{folder}/{seed}.graphml"
    path = f"{folder}/{seed}.{'mps' if int(seed) % 2 else 'lp'}"
    options = (
        "--objective", "period", "--congestion", congestion,
        "--tensors", tensors, "--memory", memory,
    )
    unit_ns = emit(graph, options, path)
    results = {"moirai-place": place(graph, options)}
    for kind in kinds:
        results[kind.name] = solve(kind, path, unit_ns)
    if agree.Highs in kinds and not equal(results["HiGHS"], wanted):
        results["HiGHS without presolve"] = solve(PlainHighs, path, unit_ns)
    for name in (graph, f"{folder}/{seed}.cluster.xml", path):
        if os.path.exists(name):
            os.remove(name)
    odd = {k: r for k, r in results.items() if not equal(r, wanted)}
    return f"{' '.join(options[2:])}, enumeration {wanted} ns", odd


def equal(one, wanted):
    """Within the tolerance of solvers, and a nanosecond."""
    if isinstance(one, str):
        return False
    if math.isinf(one) or math.isinf(wanted):
        return one == wanted
    return abs(one - wanted) <= 1 + 1e-6 * wanted


def run_batch(folder, first, count, kinds):
    command(f"{TOOLS}/tests/support/write_problems", folder, str(first),
            str(count))
    lines = command(f"{TOOLS}/tests/oracles/print_periods", str(first),
                    str(count)).stdout.decode().splitlines()
    return [(line.split()[0], *compare(line, folder, kinds)) for line in lines]


def main():
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kinds = [k for k in agree.available() if k in (agree.Highs, agree.Scip)]
    wrong, false_optima, done = 0, 0, 0
    with concurrent.futures.ProcessPoolExecutor(AT_A_TIME) as pool:
        batches = [
            pool.submit(run_batch, folder, at, min(BATCH, first + count - at),
                        kinds)
            for at in range(first, first + count, BATCH)
        ]
        for batch in batches:
            for seed, what, odd in batch.result():
                done += 1
                for name, result in odd.items():
                    print(f"# {seed}: {what}, {name} {result}", flush=True)
                if list(odd) == ["HiGHS"]:
                    false_optima += 1
                elif odd:
                    wrong += 1
    names = ", ".join(["moirai-place", *(kind.name for kind in kinds)])
    print(f"# {done} problems by enumeration, {names}: {wrong} differ, "
          f"{false_optima} false optima of HiGHS with presolve")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
