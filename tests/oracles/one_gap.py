# SPDX-License-Identifier: Apache-2.0
"""One gap: moirai-place, moirai-check, moirai-report, the library and its
report have the same bound and gap for the same solution.

    one_gap.py FOLDER SEED COUNT

Random graphs in all regimes: rules of schedules, groups, pins, little memory,
workloads, both objectives, limits in flight, copies, effort; and solutions of a
solver with the certificate of its model.  The commands are on the PATH, the
library is MOIRAI_LIBRARY, without which it is left out.  Prints each
disagreement; exits 1 if there is one.
"""
import json
import os
import random
import subprocess
import sys
import xml.sax.saxutils as sax


class Case:
    """A graph, a cluster, and the options of a placement."""

    def __init__(self, folder, seed):
        self.r = random.Random(seed)
        self.folder, self.seed = folder, seed
        self.devices = "ABCD"[:self.r.randint(1, 4)]
        self.total = 0
        self.graph = self._write_graph()
        self.cluster = self._write("cluster.xml", self._cluster())

    def _write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def _write_graph(self):
        r = self.r
        n = r.choice([2, 4, 7, 12, 30])
        names = [f"n{i}" for i in range(n)]
        self.groups, self.pins = r.random() < .3, r.random() < .2
        graphs = [self._graph(names)]
        if r.random() < .25:
            graphs.append(self._graph(names))
        for i, text in enumerate(graphs):
            path = self._write(f"g{i}.graphml", text)
        self.phases = len(graphs)
        if self.phases == 1:
            return path
        return self._write(
            "w.xml", "<workload name=\"w\">\n"
            + "".join(f"  <phase graph=\"g{i}.graphml\" weight=\""
                      f"{r.randint(1, 5)}\"/>\n" for i in range(self.phases))
            + "</workload>\n")

    def _graph(self, names):
        r = self.r
        keys = [("op", "node", "op", "string"),
                ("bytes", "node", "weight_bytes", "double"),
                ("out", "node", "output_bytes", "double"),
                ("group", "node", "colocate", "string"),
                ("pin", "node", "pin", "string"),
                ("size", "edge", "bytes", "double")]
        keys += [(f"t{d}", "node", f"time_us.{d}", "double")
                 for d in self.devices]
        lines = ["<graphml>"]
        lines += [f"<key id=\"{i}\" for=\"{w}\" attr.name=\"{name}\" "
                  f"attr.type=\"{kind}\"/>" for i, w, name, kind in keys]
        lines.append("<graph id=\"g\" edgedefault=\"directed\">")
        chain = r.random() < .4
        for i, name in enumerate(names):
            size = r.randint(1, 9) << 20
            self.total += size
            data = {"op": "MatMul", "bytes": size,
                    "out": r.choice([1000, 100000, 1000000])}
            data.update({f"t{d}": r.randint(1, 50) for d in self.devices})
            if self.groups and r.random() < .4:
                data["group"] = f"c{i % 3}"
            elif self.pins and r.random() < .2:
                data["pin"] = self.devices[i % len(self.devices)]
            lines.append(f"<node id=\"{name}\">" + "".join(
                f"<data key=\"{key}\">{sax.escape(str(value))}</data>"
                for key, value in data.items()) + "</node>")
        for i in range(1, len(names)):
            sources = {i - 1} if chain else set()
            sources |= {r.randrange(max(0, i - 6), i)
                        for _ in range(r.randint(0, 2))}
            for source in sorted(sources):
                lines.append(
                    f"<edge source=\"{names[source]}\" target=\"{names[i]}\">"
                    f"<data key=\"size\">{r.choice([1000, 200000, 1000000])}"
                    "</data></edge>")
        return "\n".join(lines + ["</graph>", "</graphml>", ""])

    def _cluster(self):
        r = self.r
        part = r.choice([10, 10, .8, .6])
        room = part * self.total / len(self.devices) / 2**30
        lines = ["<cluster name=\"c\">"]
        lines += [f"  <device id=\"{d}\" model=\"t4\" memory_gib=\""
                  f"{room * r.uniform(.8, 1.6):.6f}\"/>" for d in self.devices]
        lines += [f"  <link from=\"{a}\" to=\"{b}\" gbps=\"{r.randint(20, 400)}"
                  f"\" latency_us=\"{r.randint(0, 9)}\"/>"
                  for a in self.devices for b in self.devices if a != b]
        return "\n".join(lines + ["</cluster>", ""])

    def options(self):
        """Options of moirai-place, and whether a model is solved instead."""
        r = self.r
        objective = r.choice(["latency", "latency", "period"])
        o = ["--congestion", r.choice(["none", "link", "channel", "port"]),
             "--tensors", r.choice(["per-edge", "once"]),
             "--memory", r.choice(["static", "static", "live"]),
             "--objective", objective, "--fusion",
             r.choice(["none", "default"])]
        self.replicated = False
        if objective == "latency" and r.random() < .2:
            return o, True
        if objective == "period" and "live" not in o and r.random() < .3:
            self.replicated = True
            o += ["--replicas", r.choice(["auto", str(len(self.devices))])]
        elif objective == "period" and r.random() < .3:
            o += ["--in-flight", str(r.randint(1, 3))]
        effort = r.choice([["--rounds", "1"],
                           ["--work", "0.05"], ["--work", "0.3"],
                           ["--method", "heft"]])
        if self.replicated:
            effort = ["--rounds", "1"]
        return o + effort, False


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def placed(case, options, solution):
    ended = run(["moirai-place", "-q", "--json", "--threads", "1", "-c",
                 case.cluster, case.graph, "-o", solution] + options)
    if ended.returncode == 3:
        return None
    assert ended.returncode == 0, (ended.returncode, ended.stderr)
    best = json.loads(ended.stdout)[0]
    copies = best.get("replicas", {})
    if copies.get("copies") and ("auto" not in options or copies["period_us"] <
                                 best.get("period_us", float("inf"))):
        best = copies
    if not best.get("fits", True) or "gap" not in best:
        return None
    return best["bound_us"], best["gap"]


def solved(case, options, solution):
    """A solver's solution without a certificate, and the model that has it."""
    model = os.path.join(case.folder, "model.lp")
    ended = run(["moirai-emit", "-q", "-c", case.cluster, case.graph, "-o",
                 model] + options)
    if ended.returncode == 3:
        return None
    assert ended.returncode == 0, ended.stderr
    ended = run(["moirai-solve", "-q", "--solver", "highs", "--time", "5",
                 model, "-o", solution])
    if ended.returncode != 0:
        return None
    with open(solution, encoding="ascii") as file:
        lines = [line for line in file if not line.startswith("# proof")]
    with open(solution, "w", encoding="ascii") as file:
        file.writelines(lines)
    with open(model, encoding="ascii") as file:
        return model if " proof begin" in file.read() else None


def reported(command, paths):
    ended = run(command + paths)
    assert ended.returncode == 0, (command, ended.returncode, ended.stderr)
    made = json.loads(ended.stdout)
    made = made["placements"][0] if "placements" in made else made
    return made["bound_us"], made["gap"], made["bound_by"]


def check(case):
    """Returns what the five have, by name."""
    options, is_model = case.options()
    solution = os.path.join(case.folder, "s.sol")
    found, proof = {}, []
    if os.path.exists(solution):
        os.remove(solution)
    if is_model:
        model = solved(case, options, solution)
        if not model:
            return None, options
        proof = ["--proof", model]
    else:
        first = placed(case, options, solution)
        if not first or not os.path.exists(solution):
            return None, options
        found["place"] = first
    found["check"] = reported(["moirai-check", "--json"] + proof, [solution])
    if not case.replicated:
        found["report"] = reported(
            ["moirai-report", "--no-compare", "--no-ablation", "--format",
             "json"] + proof, [solution])
    if os.environ.get("MOIRAI_LIBRARY"):
        import moirai
        opened = moirai.open(solution, **({"proof": proof[1]} if proof else {}))
        found["library"] = opened.bound_us, opened.gap
        if not case.replicated:
            page = json.loads(opened.report(format="json", report_method="none",
                                            no_ablation=True))
            page = page["placements"][0]
            found["page"] = page["bound_us"], page["gap"], page["bound_by"]
    return found, options


def agree(found):
    bounds = [value[0] for value in found.values()]
    gaps = [value[1] for value in found.values()]
    names = {value[2] for value in found.values() if len(value) > 2}
    return (max(bounds) - min(bounds) < 1e-4 and
            max(gaps) - min(gaps) < 1e-7 and len(names) <= 1)


def main():
    folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong = done = 0
    by = {}
    for i in range(seed, seed + count):
        case = Case(folder, i)
        found, options = check(case)
        if not found:
            continue
        done += 1
        name = found["check"][2]
        by[name] = by.get(name, 0) + 1
        if not agree(found):
            wrong += 1
            print("seed", i, *options, found, flush=True)
    print(f"{done} solutions of {count}, {wrong} wrong;", by)
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main())
