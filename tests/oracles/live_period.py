# SPDX-License-Identifier: Apache-2.0
"""Compares the periods of small random problems with live memory.

    live_period.py FOLDER FIRST COUNT

moirai-place places each problem for the latency and for the period, with 1, 2
and 3 requests in flight and with as many as memory holds.  All or none of them
fit; a larger limit never has a longer period, no bound is above a period, and
moirai-check finds the solution valid, with the period that was claimed and the
same best single device for all.  FOLDER takes the files.  Prints every problem
that differs, and the counts.

Exit status: 0 all agree, 1 some differ.
"""
import concurrent.futures
import json
import os
import random
import subprocess
import sys

AT_A_TIME = 2
NONE, INVALID = 3, 4  # exit statuses: no placement fits; not valid
KINDS = (
    ("--objective", "latency"),
    ("--objective", "period", "--in-flight", "1"),
    ("--objective", "period", "--in-flight", "2"),
    ("--objective", "period", "--in-flight", "3"),
    ("--objective", "period"),
)
NODE_KEYS = ("op", "weight_bytes", "workspace_bytes", "output_bytes", "pin",
             "colocate")


def data(key, value):
    return f'<data key="{key}">{value}</data>'


def write_problem(stem, seed):
    """Returns the options of the regime."""
    r = random.Random(seed)
    n, names = r.randint(3, 7), "ABC"[: r.randint(2, 3)]
    keys = [("node", k) for k in (*NODE_KEYS, *(f"time_us.{d}" for d in names))]
    lines = ['<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for what, key in (*keys, ("edge", "bytes")):
        kind = ("double" if "time" in key else
                "long" if "bytes" in key else "string")
        lines.append(f'<key id="{key}" for="{what}" attr.name="{key}" '
                     f'attr.type="{kind}"/>')
    lines.append('<graph edgedefault="directed">')
    need = 0
    for i in range(n):
        memory = r.choice([0, r.randint(1, 100), r.randint(1, 1000)])
        weights = r.randint(0, memory)
        need += weights + (memory - weights) // 3
        values = {"op": "Foo", "weight_bytes": weights,
                  "workspace_bytes": memory - weights,
                  "output_bytes": r.randint(0, 50)}
        if r.random() < 0.1:
            values["pin"] = r.choice(names)
        if r.random() < 0.25:
            values["colocate"] = r.choice("xy")
        for d in names:
            values[f"time_us.{d}"] = r.randint(1, r.choice([20, 100]))
        lines.append(f'<node id="o{i}">' +
                     "".join(data(*item) for item in values.items()) +
                     "</node>")
    for i in range(n):
        for j in range(i + 1, n):
            if r.random() < 0.4:
                size = r.choice([0, r.randint(1, 500), r.randint(1, 50)])
                need += size // 3
                lines.append(f'<edge source="o{i}" target="o{j}">' +
                             data("bytes", size) + "</edge>")
    lines.append("</graph></graphml>")
    need *= r.choice([1, 1.2, 1.5, 2, 3, 4])
    shares = [1] * len(names)
    if r.random() < 0.7:
        shares = [r.random() + 0.2 for _ in names]
        need /= sum(shares)
    cluster = ["<cluster>"]
    for d, share in zip(names, shares):
        size = max(1, round(need * share))
        cluster.append(f'<device id="{d}" memory_bytes="{size}"/>')
    for a, d in enumerate(names):
        for e in names[a + 1:]:
            cluster.append(f'<link between="{d} {e}" '
                           f'gbps="{r.choice([0.008, 0.08, 0.8])}" '
                           f'latency_us="{r.choice([0, 1, 10])}"/>')
    cluster.append("</cluster>")
    for name, text in (("graphml", lines), ("cluster.xml", cluster)):
        with open(f"{stem}.{name}", "w", encoding="utf-8") as out:
            out.write("\n".join(text) + "\n")
    return ("--memory", "live",
            "--congestion", r.choice(["port", "channel", "link", "none"]),
            "--tensors", r.choice(["per-edge", "once"]))


def command(*words):
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode not in (0, NONE, INVALID):
        raise ValueError(f"{' '.join(words)}: {done.stderr.decode()}")
    return done.returncode, done.stdout.decode()


def check(row, claimed_us, solution):
    """Returns what moirai-check has against a period, and the best single."""
    found = json.loads(command("moirai-check", "--json", solution)[1])
    single_us = found.get("best_single_us")
    if found["status"] != "valid":
        return [f"{row}: invalid: {found['violations']}"], single_us
    period_us = found.get("period_us", found.get("makespan_us"))
    if abs(period_us - claimed_us) > 1e-3:
        return [f"{row}: placed {claimed_us}, checked {period_us}"], single_us
    return [], single_us


def compare(seed, folder):
    """Returns what is wrong, and whether a placement fits."""
    stem = f"{folder}/{seed}"
    regime = write_problem(stem, seed)
    wrong, periods, bounds, singles = [], [], [], set()
    for kind in KINDS:
        row = " ".join((*regime, *kind))
        rc, text = command(
            "moirai-place", "-q", "--json", "--assist", "none", "--threads",
            "1", "--fusion", "none", "--method", "moirai", *regime, *kind,
            "-o", f"{stem}.sol",
            f"{stem}.graphml",
        )
        if rc == NONE:
            periods.append(None)
            continue
        placed = json.loads(text)[0]
        periods.append(placed.get("period_us", placed.get("makespan_us")))
        bounds.append(placed["bound_us"])
        against, single_us = check(row, periods[-1], f"{stem}.sol")
        wrong += against
        singles.add(single_us)
    fits = None not in periods
    if not fits and any(p is not None for p in periods):
        wrong.append(f"{' '.join(regime)}: only some fit: {periods}")
    if fits and any(b > a + 1e-3 for a, b in zip(periods, periods[1:])):
        wrong.append(f"{' '.join(regime)}: not monotone: {periods}")
    if fits and any(b > p + 1e-3 for i, b in enumerate(bounds)
                    for p in periods[: i + 1]):
        wrong.append(f"{' '.join(regime)}: {bounds} do not bound {periods}")
    if len(singles) > 1:
        wrong.append(f"{' '.join(regime)}: best single devices: {singles}")
    for name in (f"{stem}.graphml", f"{stem}.cluster.xml", f"{stem}.sol"):
        if os.path.exists(name) and not wrong:
            os.remove(name)
    return wrong, fits


def main():
    folder, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    n_wrong, n_fit = 0, 0
    with concurrent.futures.ProcessPoolExecutor(AT_A_TIME) as pool:
        seeds = range(first, first + count)
        found = pool.map(compare, seeds, [folder] * count, chunksize=4)
        for seed, (wrong, fits) in zip(seeds, found):
            for line in wrong:
                print(f"# {seed}: {line}", flush=True)
            n_wrong += bool(wrong)
            n_fit += fits
    print(f"# {count} problems, {n_fit} with a placement: {n_wrong} differ")
    sys.exit(n_wrong > 0 or n_fit == 0)


if __name__ == "__main__":
    main()
