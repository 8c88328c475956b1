# SPDX-License-Identifier: Apache-2.0
"""Oracle: compares a graph of moirai-zoo with zoo22.py, an independent builder.

    zoo_oracle.py ZOO22 MODEL LAYERS < model.graphml

Both must have the same ops and the same edges with the same bytes, and every
op the flops and the traffic of zoo22's formulas.  Prints the differences.
"""
import contextlib
import io
import runpy
import sys
import xml.etree.ElementTree as xml

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def read(file):
    """Ops as name -> {attribute: text}, edges as a sorted list."""
    root = xml.parse(file).getroot()
    keys = {k.get("id"): k.get("attr.name") for k in root.iter(GRAPHML + "key")}

    def data(element):
        return {keys[d.get("key")]: d.text for d in element}

    ops = {n.get("id"): data(n) for n in root.iter(GRAPHML + "node")}
    edges = sorted(
        (
            e.get("source"),
            e.get("target"),
            float(data(e).get("bytes") or ops[e.get("source")]["output_bytes"]),
        )
        for e in root.iter(GRAPHML + "edge")
    )
    return ops, edges


def run(path, *arguments):
    """What zoo22.py prints, and its globals."""
    sys.argv = [path, *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        names = runpy.run_path(path)
    return printed.getvalue(), names


def main():
    zoo22, model, layers = sys.argv[1:]
    ops, edges = read(sys.stdin)
    text, names = run(zoo22, model, "--layers", layers)
    wanted_ops, wanted_edges = read(io.StringIO(text))

    faults = [f"op {n} is missing" for n in wanted_ops.keys() - ops.keys()]
    faults += [f"op {n} is too much" for n in ops.keys() - wanted_ops.keys()]
    faults += [f"edge {e} differs" for e in set(edges) ^ set(wanted_edges)]
    if len(edges) != len(wanted_edges):
        faults.append(f"{len(edges)} edges, not {len(wanted_edges)}")

    _, hidden, heads = names["MODELS"][model]
    for part, flops, traffic, size, _ in names["layer"](hidden, heads, False):
        for layer in range(int(layers)):
            op = ops.get(f"l{layer}_{part}", {})
            for key, value in (
                ("flops", flops),
                ("bytes", traffic),
                ("output_bytes", size),
            ):
                if float(op.get(key, "nan")) != value:
                    faults.append(f"l{layer}_{part} {key}: {op.get(key)}, not {value}")
    print("\n".join(sorted(faults)), end="")


main()
