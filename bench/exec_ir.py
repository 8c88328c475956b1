# SPDX-License-Identifier: Apache-2.0
"""OpenVINO models as files: reads them, and completes models without weights
with those of fill_weights."""
import collections
import os
import subprocess
import xml.etree.ElementTree as ElementTree

Port = collections.namedtuple("Port", "type shape")
TYPES = {"FP32": "f32", "I64": "i64", "I32": "i32", "BOOL": "boolean"}


class Layer:
    """sources are (layer, output port) for each input, in order."""

    def __init__(self, element):
        data = element.find("data")
        self.name = element.get("name")
        self.type = element.get("type")
        self.attributes = {} if data is None else dict(data.attrib)
        self.sources = []
        self.outputs = [
            Port(
                TYPES[port.get("precision")],
                [int(dim.text) for dim in port.findall("dim")],
            )
            for port in element.findall("output/port")
        ]


def ports(element, side):
    return [port.get("id") for port in element.findall(f"{side}/port")]


def read_layers(path):
    """Returns all layers in topological order."""
    net = ElementTree.parse(path).getroot()
    elements = {e.get("id"): e for e in net.find("layers")}
    edges = {
        (e.get("to-layer"), e.get("to-port")):
            (e.get("from-layer"), e.get("from-port"))
        for e in net.find("edges")
    }
    layers, order = {}, []

    def visit(number):
        """Layers are some hundred deep: an explicit stack instead of
        recursion."""
        stack = [(number, False)]
        while stack:
            number, ready = stack.pop()
            if number in layers:
                continue
            element = elements[number]
            sources = [edges[number, port] for port in ports(element, "input")]
            if not ready:
                stack.append((number, True))
                stack.extend((source, False) for source, _ in sources)
                continue
            layer = Layer(element)
            layer.sources = [
                (layers[source], ports(elements[source], "output").index(port))
                for source, port in sources
            ]
            layers[number] = layer
            order.append(layer)

    for number in elements:
        visit(number)
    return order


def moirai_names(elements):
    """Layers by their names in moirai-exec: equal names are distinguished by
    ids."""
    count = collections.Counter(e.get("name") for e in elements)
    return {
        e.get("name")
        if e.get("name") and count[e.get("name")] == 1
        else f"{e.get('name')}#{e.get('id')}": e
        for e in elements
    }


def make_constant(element, dtype, shape, offset, size):
    if len(ports(element, "output")) != 1:
        raise RuntimeError(f"{element.get('name')}: a constant of many outputs")
    for part in element.findall("data") + element.findall("input"):
        element.remove(part)
    element.set("type", "Const")
    element.set("version", "opset1")
    element.insert(
        0,
        ElementTree.Element(
            "data",
            {
                "element_type": dtype,
                "shape": "" if shape == "." else shape,
                "offset": offset,
                "size": size,
            },
        ),
    )


def prune(net):
    """Removes layers that no result depends on."""
    layers, edges = net.find("layers"), net.find("edges")
    inputs = {e.get("id"): set(ports(e, "input")) for e in layers}
    for edge in list(edges):
        if edge.get("to-port") not in inputs[edge.get("to-layer")]:
            edges.remove(edge)
    read = collections.defaultdict(list)
    for edge in edges:
        read[edge.get("to-layer")].append(edge.get("from-layer"))
    needed = set()
    found = [e.get("id") for e in layers if e.get("type") == "Result"]
    while found:
        number = found.pop()
        if number not in needed:
            needed.add(number)
            found.extend(read[number])
    for element in list(layers):
        if element.get("id") not in needed:
            layers.remove(element)
    for edge in list(edges):
        if edge.get("to-layer") not in needed:
            edges.remove(edge)


def complete(path, folder, fill_weights):
    """Writes the model at path with synthetic weights to folder; returns its
    path."""
    stem = os.path.splitext(os.path.basename(path))[0]
    whole = os.path.join(folder, f"{stem}.xml")
    said = subprocess.run(
        [fill_weights, path, "1", os.path.join(folder, f"{stem}.bin")],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    tree = ElementTree.parse(path)
    named = moirai_names(list(tree.getroot().find("layers")))
    for line in said.splitlines():
        offset, size, _, dtype, shape, name = line.split(" ", 5)
        make_constant(named[name], dtype, shape, offset, size)
    prune(tree.getroot())
    tree.write(whole)
    return whole
