# SPDX-License-Identifier: Apache-2.0
"""Oracle: compares the instance of moirai-info with its graph and cluster.

    instance_oracle.py GRAPH CLUSTER INSTANCE.json

Reads the GraphML and the cluster with an XML parser only and computes the
instance again: every op's time on every device, every edge's time between every
two, the sums of both, memory, and the time of each tensor when it is sent once.
Every time must be in the graph or follow from a direct link.  Prints the
differences.
"""
import json
import sys
import xml.etree.ElementTree as xml
from decimal import ROUND_HALF_UP, Decimal

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def read_graph(file):
    """Ops as name -> {attribute: text}, edges as (from, to, {attribute: text})."""
    root = xml.parse(file).getroot()
    keys = {k.get("id"): k.get("attr.name") for k in root.iter(GRAPHML + "key")}

    def data(element):
        return {keys[d.get("key")]: d.text for d in element}

    ops = {n.get("id"): data(n) for n in root.iter(GRAPHML + "node")}
    edges = [
        (e.get("source"), e.get("target"), data(e))
        for e in root.iter(GRAPHML + "edge")
    ]
    return ops, edges


def read_cluster(file):
    """Devices in order as (id, bytes or None), links as (from, to) -> speed."""
    root = xml.parse(file).getroot()
    devices = []
    for device in root.iter("device"):
        room = device.get("memory_bytes")
        if device.get("memory_gib"):
            room = Decimal(device.get("memory_gib")) * 2**30
        devices.append((device.get("id"), None if room is None else int(room)))
    links = {
        (link.get("from"), link.get("to")): (
            float(link.get("gbps")),
            float(link.get("latency_us", 0)),
        )
        for link in root.iter("link")
    }
    return devices, links


def rounded(us):
    return us.quantize(Decimal("0.001"), ROUND_HALF_UP)


def edge_us(edge, ops, links, a, b):
    """Returns the transfer time of the edge's tensor from device a to b."""
    source, _, data = edge
    own = data.get(f"comm_us.{a}.{b}")
    if a == b:
        return Decimal(0)
    if own is not None:
        return rounded(Decimal(own))
    size = float(data.get("bytes") or ops[source]["output_bytes"])
    gbps, latency_us = links[a, b]
    return rounded(Decimal(latency_us * 1000 + size * 8 / gbps) / 1000)


def tensor_of(edge):
    source, _, data = edge
    return source, data.get("tensor"), data.get("src_port")


def memory_of(data):
    parts = data.get("weight_bytes", 0), data.get("workspace_bytes", 0)
    return int(data["memory"]) if "memory" in data else sum(map(int, parts))


class Report:
    """Counts differences, and prints the first few of them."""

    def __init__(self):
        self.wrong = 0

    def equal(self, what, got, wanted):
        if got != wanted:
            self.wrong += 1
            if self.wrong <= 10:
                print(f"{what}: {got}, not {wanted}")


def check_ops(report, got, ops, devices):
    names = [op["op"] for op in got["instance"]["ops"]]
    report.equal("ops", sorted(names), sorted(ops))
    for op in got["instance"]["ops"]:
        data = ops[op["op"]]
        report.equal(op["op"], op["memory_bytes"], memory_of(data))
        wanted = [rounded(Decimal(data[f"time_us.{d}"])) for d in devices]
        report.equal(op["op"], op["time_us"], wanted)
    for k, device in enumerate(devices):
        wanted = sum(rounded(Decimal(op[f"time_us.{device}"])) for op in ops.values())
        report.equal(device, got["devices"][k]["time_us"], wanted)


def slowest(table, key, us):
    """Raises the entry of key, a matrix by device, to us."""
    before = table.get(key, us)
    table[key] = [list(map(max, *rows)) for rows in zip(before, us)]


def check_edges(report, got, ops, edges, links, devices):
    flows, tensors, readers = {}, {}, {}
    for edge in edges:
        us = [[edge_us(edge, ops, links, a, b) for b in devices] for a in devices]
        slowest(flows, edge[:2], us)
        slowest(tensors, tensor_of(edge), us)
        readers.setdefault(tensor_of(edge), set()).add(edge[1])
    instance = got["instance"]

    def times(transfer):
        row = instance["transfers_us"][transfer]
        return [[row[kind] for kind in kinds] for kinds in instance["pair_kinds"]]

    edge_times, tensor_times = {}, {}
    for tensor in instance["tensors"]:
        ends = tensor["from"], *sorted(to["op"] for to in tensor["to"])
        tensor_times[ends] = times(tensor["transfer"])
        for to in tensor["to"]:
            edge_times[tensor["from"], to["op"]] = times(to["transfer"])
    report.equal("flows", got["flows"], len(flows))
    report.equal("tensors", got["tensors"], len(tensors))
    report.equal("edges", sorted(edge_times), sorted(flows))
    for ends, us in flows.items():
        report.equal("%s -> %s" % ends, edge_times.get(ends), us)
    for tensor, us in tensors.items():
        ends = tensor[0], *sorted(readers[tensor])
        report.equal("tensor " + " ".join(ends), tensor_times.get(ends), us)
    n = range(len(devices))
    sums = [[sum(us[a][b] for us in flows.values()) for b in n] for a in n]
    report.equal("transfer_us", got["transfer_us"], sums)


def main(graph, cluster, instance):
    ops, edges = read_graph(graph)
    devices, links = read_cluster(cluster)
    with open(instance, encoding="utf-8") as file:
        got = json.load(file, parse_float=Decimal)
    report = Report()
    ids = [device for device, _ in devices]
    report.equal(
        "devices", [(d["id"], d["memory_bytes"]) for d in got["devices"]], devices
    )
    report.equal("ops", got["ops"], len(ops))
    check_ops(report, got, ops, ids)
    check_edges(report, got, ops, edges, links, ids)
    if report.wrong:
        sys.exit(f"{report.wrong} differences")


if __name__ == "__main__":
    main(*sys.argv[1:])
