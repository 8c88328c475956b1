# SPDX-License-Identifier: Apache-2.0
"""Problems that every solver can solve to proven optimality, but not at once.

Synthetic, the same everywhere for the same seed, or subgraphs of what the
paper's authors published.
"""
import functools
import math
import os
import random
import xml.etree.ElementTree as ElementTree

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"

# How the made-up ones look, on how many devices, with which seeds; chosen so
# that the paper's model takes a solver from half a second to some minutes.
MADE_UP = (
    ("cell-3", 3, (1, 4, 13, 15, 17)),
    ("block-1-2-2-2", 3, (0, 1, 2)),
    ("block-2-2-2-2", 2, (0, 1)),
    ("block-2-2-2-2", 3, (0, 1)),
    ("random-10", 3, (1,)),
    ("tight-7", 3, (0,)),
    ("tight-8", 3, (0, 2)),
    ("tight-10", 3, (1,)),
)

# Blocks of the authors' GoogLeNet: first op and end, on how many devices.
BLOCKS = ((8, 23, 2), (65, 80, 2), (122, 137, 2))


class Problem:
    """Ops in topological order, devices, and times and sizes of both."""

    def __init__(self, times, memory, edges, capacity):
        self.times = times  # [op][device], microseconds
        self.memory = memory  # [op], bytes
        self.edges = edges  # (from, to) -> [device][device], microseconds
        self.capacity = capacity  # [device], bytes; None: enough
        self.devices = [chr(ord("A") + k) for k in range(len(capacity))]

    def graphml(self):
        root = ElementTree.Element(
            "graphml", xmlns="http://graphml.graphdrawing.org/xmlns"
        )
        self._keys(root)
        graph = ElementTree.SubElement(
            root, "graph", id="bench", edgedefault="directed"
        )
        for op, times in enumerate(self.times):
            node = ElementTree.SubElement(graph, "node", id=f"n{op}")
            _data(node, "op", "op")
            _data(node, "memory", self.memory[op])
            for device, duration in zip(self.devices, times):
                _data(node, f"time_us.{device}", duration)
        for (tail, head), delays in self.edges.items():
            edge = ElementTree.SubElement(
                graph, "edge", source=f"n{tail}", target=f"n{head}"
            )
            for key, a, b in self._channels():
                _data(edge, key, delays[a][b])
        return ElementTree.tostring(root)

    def cluster(self):
        root = ElementTree.Element("cluster", name="bench")
        for device, capacity in zip(self.devices, self.capacity):
            memory = 2**40 if capacity is None else capacity
            ElementTree.SubElement(
                root, "device", id=device, memory_bytes=str(memory)
            )
        return ElementTree.tostring(root)

    def _channels(self):
        for a, source in enumerate(self.devices):
            for b, target in enumerate(self.devices):
                if a != b:
                    yield f"comm_us.{source}.{target}", a, b

    def _keys(self, root):
        _key(root, "op", "node", "string")
        _key(root, "memory", "node", "double")
        for device in self.devices:
            _key(root, f"time_us.{device}", "node", "double")
        for key, _, _ in self._channels():
            _key(root, key, "edge", "double")


def _key(root, name, kind, form):
    ElementTree.SubElement(
        root,
        "key",
        {"id": name, "for": kind, "attr.name": name, "attr.type": form},
    )


def _data(element, key, value):
    ElementTree.SubElement(element, "data", key=key).text = str(value)


def furnish(edges, n_ops, n_devices, chance, tight):
    """Adds times, sizes and devices to a graph.  Ops suit devices unequally;
    tight: little more memory than needed."""
    speeds = [chance.uniform(1, 2) for _ in range(n_devices)]
    works = [chance.randint(2, 20) for _ in range(n_ops)]
    times = [
        [
            max(1, round(work * speed * chance.uniform(0.8, 1.25)))
            for speed in speeds
        ]
        for work in works
    ]
    memory = [chance.randint(1, 6) for _ in range(n_ops)]
    share = math.ceil(sum(memory) / n_devices) + 2
    links = [
        [chance.uniform(0.5, 1.5) for _ in range(n_devices)]
        for _ in range(n_devices)
    ]
    delays = {}
    for edge in edges:
        size = chance.randint(1, 10)
        delays[edge] = [
            [max(1, round(size * factor)) for factor in row] for row in links
        ]
    return Problem(times, memory, delays, [share if tight else None] * n_devices)


def random_graph(n_ops, chance):
    """Each op but the first reads one or two of the few before it."""
    edges = []
    for op in range(1, n_ops):
        near = range(max(0, op - 4), op)
        for source in chance.sample(near, min(len(near), chance.randint(1, 2))):
            edges.append((source, op))
    return edges, n_ops


def block(branches):
    """An inception block: branches of so many ops between a split and a join."""
    n_ops = sum(branches) + 2
    edges, op = [], 1
    for length in branches:
        edges.append((0, op))
        edges += [(at, at + 1) for at in range(op, op + length - 1)]
        op += length
        edges.append((op - 1, n_ops - 1))
    return edges, n_ops


def cell(n_nodes, chance):
    """A NASNet cell: each of n_nodes adds two of what was there before it,
    either through an op of its own; a join takes the sums no other took."""
    edges, sums, used, op = [], [0], set(), 1
    for _ in range(n_nodes):
        inputs = [chance.choice(sums), chance.choice(sums)]
        for at in range(2):
            edges += [(inputs[at], op + at), (op + at, op + 2)]
        used.update(inputs)
        sums.append(op + 2)
        op += 3
    edges += [(end, op) for end in sums if end not in used]
    return edges, op + 1


SHAPES = {
    "block": lambda lengths, chance: block(lengths),
    "cell": lambda numbers, chance: cell(numbers[0], chance),
    "random": lambda numbers, chance: random_graph(numbers[0], chance),
    "tight": lambda numbers, chance: random_graph(numbers[0], chance),
}


def make_up(name, n_devices, seed):
    chance = random.Random(seed)
    shape, *numbers = name.split("-")
    edges, n_ops = SHAPES[shape](list(map(int, numbers)), chance)
    return furnish(edges, n_ops, n_devices, chance, shape == "tight")


class Published:
    """A graph with its cluster as the authors published them."""

    def __init__(self, folder, name):
        self.stem = os.path.join(folder or "", "authors", name)

    def exists(self):
        return os.path.exists(self.stem + ".graphml")

    def read(self):
        root = ElementTree.parse(self.stem + ".graphml").getroot()
        graph = root.find(GRAPHML + "graph")
        cluster = ElementTree.parse(self.stem + ".cluster.xml").getroot()
        devices = [d.get("id") for d in cluster.iter("device")]
        nodes = [(n.get("id"), _values(n)) for n in graph.iter(GRAPHML + "node")]
        number = {node[0]: at for at, node in enumerate(nodes)}
        edges = {}
        for edge in graph.iter(GRAPHML + "edge"):
            values = _values(edge)
            edges[number[edge.get("source")], number[edge.get("target")]] = [
                [float(values.get(f"c{a}{b}", 0)) for b in devices]
                for a in devices
            ]
        return Problem(
            [[float(v["t" + d]) for d in devices] for _, v in nodes],
            [float(v["mem"]) for _, v in nodes],
            edges,
            [int(d.get("memory_bytes")) for d in cluster.iter("device")],
        )


def _values(element):
    return {d.get("key"): d.text for d in element.iter(GRAPHML + "data")}


def cut_out(problem, first, end, n_devices):
    """The ops first to end - 1, on the first devices."""
    edges = {
        (a - first, b - first): [row[:n_devices] for row in delays[:n_devices]]
        for (a, b), delays in problem.edges.items()
        if first <= a and b < end
    }
    return Problem(
        [times[:n_devices] for times in problem.times[first:end]],
        problem.memory[first:end],
        edges,
        problem.capacity[:n_devices],
    )


def read_block(network, first, end, n_devices):
    return cut_out(network.read(), first, end, n_devices)


def problems(data):
    """(name, function that makes it, options of moirai-emit), one by one; data
    is the folder of what was published, or None."""
    for shape, n_devices, seeds in MADE_UP:
        for seed in seeds:
            yield (
                f"{shape} x {n_devices}, seed {seed}",
                functools.partial(make_up, shape, n_devices, seed),
                [],
            )
    example = Published(data, "example-1")
    if example.exists():
        yield "example-1", example.read, []
        yield "example-1, any memory", example.read, ["--memory", "none"]
        yield (
            "example-1 x 2, any memory",
            functools.partial(read_block, example, 0, 14, 2),
            ["--memory", "none"],
        )
    network = Published(data, "GoogLeNet")
    for first, end, n_devices in BLOCKS if network.exists() else ():
        yield (
            f"GoogLeNet {first} to {end - 1} x {n_devices}",
            functools.partial(read_block, network, first, end, n_devices),
            [],
        )
