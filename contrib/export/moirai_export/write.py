# SPDX-License-Identifier: Apache-2.0
"""Writes a graph as GraphML, moirai-graph(5), with its weights beside it."""
import contextlib
import hashlib
import json
import os
import re
import tempfile
from xml.sax.saxutils import escape, quoteattr

from .graph import SIZES, ExportError, count

KEYS = (("o", "node", "op", "string"), ("s", "node", "shape", "string"),
        ("d", "node", "dtype", "string"), ("a", "node", "attrs", "string"),
        ("c", "node", "constant", "boolean"),
        ("w", "node", "weights", "string"), ("t", "node", "state", "string"),
        ("p", "edge", "src_port", "int"), ("q", "edge", "dst_port", "int"))
ALIGNMENT = 64  # of a constant in the weights file: a line of the cache
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def quoted(name):
    return quoteattr(NOT_XML.sub("?", name))


def data(key, text):
    return f'      <data key="{key}">{escape(NOT_XML.sub("?", text))}</data>\n'


def shape_text(shape):
    return ",".join(map(str, shape))


def header(states):
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for key, kind, name, type_ in KEYS:
        if name == "state" and not states:
            continue
        yield (f'  <key id="{key}" for="{kind}" attr.name="{name}" '
               f'attr.type="{type_}"/>\n')
    yield '  <graph edgedefault="directed">\n'


def node_lines(node, places):
    yield f"    <node id={quoted(node.name)}>\n"
    yield data("o", node.op)
    yield data("s", ";".join(shape_text(shape) for shape, _ in node.outputs))
    yield data("d", ";".join(dtype for _, dtype in node.outputs))
    if node.attrs:
        yield data("a", json.dumps(node.attrs, allow_nan=False))
    if node.data:
        yield data("c", "true")
    if node.state:
        yield data("t", node.state)
    if node.name in places:
        yield data("w", f"{places[node.name]}:{node.outputs[0][1]}:"
                        f"{shape_text(node.outputs[0][0])}")
    yield "    </node>\n"


def edge_lines(node):
    for port, value in enumerate(node.inputs):
        yield (f"    <edge source={quoted(value.node.name)} "
               f"target={quoted(node.name)}>"
               f'<data key="p">{value.port}</data>'
               f'<data key="q">{port}</data></edge>\n')


def write_weights(file, name, nodes, progress, known=None):
    """Writes every constant once, if shared, too; returns their offsets.  Those
    without values have none.  known: the offsets of what other graphs have
    written to the file, by digest."""
    begins, places = {}, {}
    nodes = [node for node in nodes if node.data and node.data.read]
    total, done = sum(map(size_of, nodes)), 0
    for node in nodes:
        size = size_of(node)
        if id(node.data) not in begins:
            values = node.data.read()
            written = memoryview(values).nbytes
            if written != size:
                raise ExportError(f"constant '{node.name}' has {written} bytes "
                                  f"where its shape needs {size}")
            begins[id(node.data)] = place_of(values, file, known)
        places[node.name] = f"{name}:{begins[id(node.data)]}:{size}"
        done += size
        progress("writing weights", done, total)
    return places


def place_of(values, file, known):
    """The offset of bytes that are written unless they are known."""
    digest = hashlib.sha256(values).digest() if known is not None else None
    if known and digest in known:
        return known[digest]
    file.write(bytes(-file.tell() % ALIGNMENT))
    begin = file.tell()
    file.write(values)
    if known is not None:
        known[digest] = begin
    return begin


def size_of(node):
    """Bytes of a constant."""
    return count(node.outputs[0][0]) * SIZES[node.outputs[0][1]]


@contextlib.contextmanager
def new_files(*paths):
    """Files that appear complete and together, or not at all."""
    made = []
    try:
        for path in paths:
            made.append(tempfile.NamedTemporaryFile(
                dir=os.path.dirname(path) or ".", prefix=".moirai-export.",
                delete=False))
        yield made
        mask = os.umask(0)
        os.umask(mask)
        for file, path in zip(made, paths):
            file.close()
            os.chmod(file.name, 0o666 & ~mask)
        for file, path in zip(made, paths):
            os.replace(file.name, path)
    finally:
        for file in made:
            file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file.name)


def weights_path(path):
    return os.path.splitext(path)[0] + ".bin"


def is_same_file(a, b):
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False  # one of them does not exist


def check_sources(path, sources):
    """Raises if the graph or its weights would replace one of the files
    sources."""
    for made in filter(os.path.isfile, (path, weights_path(path))):
        for source in sources:
            if is_same_file(made, source):
                raise ExportError(f"--output would replace {source}, which is "
                                  "read; name another file", 2)


def check_path(path):
    """Raises if nothing can be written there."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ExportError(f"{path}: there is no folder '{folder}' to write "
                          "to; make it first")
    if os.path.isdir(path):
        raise ExportError(f"{path}: is a folder; name a file in it with -o")
    if not os.access(folder, os.W_OK):
        raise ExportError(f"{path}: the folder '{folder}' cannot be written "
                          "to; name another with -o")
    if weights_path(path) == path:
        raise ExportError(f"{path}: is where the weights would go; call the "
                          "graph something.graphml")


def write_graph(nodes, places, text):
    for line in header(any(node.state for node in nodes)):
        text.write(line.encode())
    for node in nodes:
        for line in node_lines(node, places):
            text.write(line.encode("utf-8", "replace"))
    for node in nodes:
        for line in edge_lines(node):
            text.write(line.encode("utf-8", "replace"))
    text.write(b"  </graph>\n</graphml>\n")


def write(graph, path, progress):
    """Writes the graph to path, its weights to the .bin beside it."""
    nodes = graph.needed()
    with new_files(weights_path(path), path) as (weights, text):
        places = write_weights(weights, os.path.basename(weights_path(path)),
                               nodes, progress)
        write_graph(nodes, places, text)
    return nodes


def phase_path(path, phase):
    return f"{os.path.splitext(path)[0]}.{phase}.graphml"


def write_workload(phases, path, progress):
    """Writes a workload to path, and beside it a graph for each phase and one
    .bin with the weights of all.  phases: graphs and their weights in the
    objective, by name."""
    name = os.path.splitext(os.path.basename(path))[0]
    paths = [phase_path(path, phase) for phase in phases]
    nodes = [graph.needed() for graph, _ in phases.values()]
    with new_files(weights_path(path), *paths, path) as files:
        weights, *texts, workload = files
        known = {}
        for its, text in zip(nodes, texts):
            places = write_weights(weights, os.path.basename(
                weights_path(path)), its, progress, known)
            write_graph(its, places, text)
        workload.write(f"<workload name={quoted(name)}>\n".encode())
        for (phase, (_, weight)), its in zip(phases.items(), paths):
            workload.write((f"  <phase name={quoted(phase)} graph="
                            f"{quoted(os.path.basename(its))} "
                            f'weight="{weight}"/>\n').encode())
        workload.write(b"</workload>\n")
    return [node for its in nodes for node in its]
