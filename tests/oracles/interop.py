# SPDX-License-Identifier: Apache-2.0
"""GraphML files written by networkx and igraph, for interop.sh.

    interop.py write DIR           writes NAME.graphml, and NAME.json with what
                                   is in it; DIR/list has the names and counts
    interop.py same DIR            compares each NAME.json with NAME.back, a
                                   GraphML file, as networkx reads it, and
                                   leaves what differs in NAME.wrong
"""

import json
import random
import sys

import igraph
import networkx

OPS = ["conv", "bn", "relu", "add", "pool"]
NAMES = ["op%d", "a<b>%d", "R&D %d", "\u00fc%d", '"%d"']


def random_dag(seed, parallel):
    """Ops and edges: names that XML must escape, values of mixed types."""
    dice = random.Random(seed)
    count = dice.randrange(1, 30)
    ops = []
    for i in range(count):
        values = {"op": dice.choice(OPS)}
        if dice.random() < 0.7:
            values["memory"] = dice.choice([dice.randrange(10**6), 0.5, 2.0**40])
        if dice.random() < 0.5:
            values["time_us.A"] = round(dice.random() * 100, 3)
        if dice.random() < 0.3:
            values["color"] = "#ff0000"
        ops.append((dice.choice(NAMES) % i, values))
    edges = []
    for i in range(count):
        for k in range(i + 1, min(i + 4, count)):
            for _ in range(dice.randrange(1, 3) if parallel else 1):
                edges.append((i, k, dice.randrange(10**9)))
    return ops, edges


def networkx_graph(kind, ops, edges):
    graph = kind()
    graph.add_nodes_from(ops)
    graph.add_edges_from((ops[a][0], ops[b][0], {"bytes": size})
                         for a, b, size in edges)
    return graph


def write_networkx(graph, path, way):
    if way == "edge ids":
        for number, edge in enumerate(graph.edges):
            graph.edges[edge]["id"] = "e%d" % number
    networkx.write_graphml_xml(graph, path, **{
        "plain": {},
        "key ids": {"named_key_ids": True},
        "one type": {"infer_numeric_types": True},
        "edge ids": {"edge_id_from_attribute": "id"},
    }[way])


def write_igraph(ops, edges, named, path):
    """Every vertex has every attribute, as igraph wants it."""
    graph = igraph.Graph(n=len(ops), directed=True,
                         edges=[(a, b) for a, b, _ in edges])
    graph["title"] = "a graph"
    graph.vs["op"] = [values["op"] for _, values in ops]
    graph.vs["memory"] = [float(values.get("memory", 0)) for _, values in ops]
    graph.vs["pin"] = ["" for _ in ops]
    graph.vs["attrs"] = [None if i % 2 else "{}" for i in range(len(ops))]
    graph.vs["dtype"] = [None for _ in ops]
    graph.vs["color"] = ["red" for _ in ops]
    if named:
        graph.vs["name"] = [name for name, _ in ops]
    graph.es["bytes"] = [size for _, _, size in edges]
    graph.es["dst_port"] = [None if i else "in" for i in range(len(edges))]
    graph.write_graphml(path)


def rounded(size):
    return int(size + 0.5)


def note(folder, name, ids, ops, edges):
    """What is in the graph, under the ids it has in the file."""
    nodes = {i: [values["op"], rounded(values.get("memory", 0))]
             for i, (_, values) in zip(ids, ops)}
    lines = sorted([ids[a], ids[b], size] for a, b, size in edges)
    with open("%s/%s.json" % (folder, name), "w") as file:
        json.dump([nodes, lines], file)
    with open("%s/list" % folder, "a") as file:
        file.write("%s %d %d\n" % (name, len(nodes), len(lines)))


def write_all(folder):
    for seed in range(5):
        for kind in networkx.DiGraph, networkx.MultiDiGraph:
            for way in "plain", "key ids", "one type", "edge ids":
                name = "nx-%s-%s-%d" % (kind.__name__, way.replace(" ", "-"),
                                        seed)
                ops, edges = random_dag(seed, kind is networkx.MultiDiGraph)
                write_networkx(networkx_graph(kind, ops, edges),
                               "%s/%s.graphml" % (folder, name), way)
                note(folder, name, [i for i, _ in ops], ops, edges)
        for named in False, True:
            name = "ig-%s-%d" % ("named" if named else "unnamed", seed)
            ops, edges = random_dag(seed, True)
            write_igraph(ops, edges, named, "%s/%s.graphml" % (folder, name))
            note(folder, name, ["n%d" % i for i in range(len(ops))], ops, edges)


def content(path):
    """The same of a GraphML file; memory is 0 by default."""
    graph = networkx.read_graphml(path, force_multigraph=True)
    nodes = {i: [values["op"], rounded(values.get("memory", 0))]
             for i, values in graph.nodes(data=True)}
    lines = sorted([a, b, rounded(values["bytes"])]
                   for a, b, values in graph.edges(data=True))
    return nodes, lines


def compare(stem):
    with open(stem + ".json") as file:
        nodes, lines = json.load(file)
    got = content(stem + ".back")
    if got != (nodes, lines):
        raise ValueError("wanted %r\ngot    %r" % ((nodes, lines), got))


def compare_all(folder):
    with open("%s/list" % folder) as file:
        names = [line.split()[0] for line in file]
    for name in names:
        try:
            compare("%s/%s" % (folder, name))
        except Exception as error:  # any error of the reader
            with open("%s/%s.wrong" % (folder, name), "w") as file:
                file.write("%s: %s\n" % (type(error).__name__, error))


if __name__ == "__main__":
    {"write": write_all, "same": compare_all}[sys.argv[1]](sys.argv[2])
