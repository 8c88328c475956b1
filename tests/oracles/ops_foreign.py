# SPDX-License-Identifier: Apache-2.0
"""Writes models of operators that OpenVINO lacks, for ops_oracle.py."""
from xml.sax.saxutils import quoteattr


def port(number, output):
    dims = "".join("<dim>%d</dim>" % d for d in output.get_shape())
    return '<port id="%d" precision="%s">%s</port>' % (
        number, precision(output), dims)


def precision(output):
    """The name of the element type in IR files."""
    name = output.get_element_type().get_type_name()
    return {"f32": "FP32", "f16": "FP16", "boolean": "BOOL"}.get(
        name, name.upper())


class Net:
    """Layers and edges, as texts."""

    def __init__(self):
        self.layers, self.edges = [], []

    def add(self, kind, attributes, inputs, sources, outputs):
        """A layer; its inputs come out of sources: layers and their ports.
        Ports are numbered through."""
        number = len(self.layers)
        text = '<layer id="%d" name="%s%d" type="%s" version="opset1">' % (
            number, kind, number, kind)
        text += "<data %s/>" % " ".join(
            "%s=%s" % (k, quoteattr(str(v))) for k, v in attributes.items())
        text += "<input>%s</input>" % "".join(
            port(i, x) for i, x in enumerate(inputs))
        text += "<output>%s</output>" % "".join(
            port(len(inputs) + i, x) for i, x in enumerate(outputs))
        self.layers.append(text + "</layer>")
        for i, source in enumerate(sources):
            self.edges.append(
                '<edge from-layer="%d" from-port="%d" to-layer="%d" '
                'to-port="%d"/>' % (*source, number, i))
        return number

    def text(self):
        return ('<?xml version="1.0"?>\n<net name="m" version="11"><layers>%s'
                "</layers><edges>%s</edges></net>\n" % (
                    "\n".join(self.layers), "\n".join(self.edges)))


def declare(output):
    """The attributes of an input."""
    return {"shape": ",".join(map(str, output.get_shape())),
            "element_type": output.get_element_type().get_type_name()}


def add_input(net, node):
    """The source of an input: a parameter of the network, maybe converted."""
    output = node.output(0)
    if node.get_type_name() == "Parameter":
        return net.known[node.get_name()], 0
    source = add_input(net, node.input_value(0).get_node())
    made = net.add("Convert", {"destination_type": "bf16"},
                   [node.input_value(0)], [source], [output])
    return made, 1


def add_case(net, made):
    kind, inputs, attributes = made.case.foreign
    sources = [add_input(net, node) for node in inputs]
    number = net.add(kind, attributes, [x.output(0) for x in inputs], sources,
                     made.outputs)
    for i, output in enumerate(made.outputs):
        source = number, len(inputs) + i
        wide = made.results[i].input_value(0)
        if wide.get_element_type() != output.get_element_type():
            source = net.add("Convert", {"destination_type": "f32"}, [output],
                             [source], [wide]), 1
        net.add("Result", {}, [wide], [source], [])


def write_ir(path, made):
    net = Net()
    net.known = {}
    for m in made:
        for parameter in m.case.parameters:
            output = parameter.output(0)
            net.known[parameter.get_name()] = net.add(
                "Parameter", declare(output), [], [], [output])
    for m in made:
        add_case(net, m)
    with open(path, "w", encoding="utf-8") as file:
        file.write(net.text())
