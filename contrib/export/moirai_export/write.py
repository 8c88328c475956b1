# SPDX-License-Identifier: Apache-2.0
"""Writes a graph as GraphML, moirai-graph(5), with its weights beside it."""
import contextlib
import json
import os
import re
import tempfile
from xml.sax.saxutils import escape, quoteattr

from .graph import SIZES, ExportError, count

KEYS = (("o", "node", "op", "string"), ("s", "node", "shape", "string"),
        ("d", "node", "dtype", "string"), ("a", "node", "attrs", "string"),
        ("c", "node", "constant", "boolean"),
        ("w", "node", "weights", "string"),
        ("p", "edge", "src_port", "int"), ("q", "edge", "dst_port", "int"))
ALIGNMENT = 64  # of a constant in the weights file: a line of the cache
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def quoted(name):
    return quoteattr(NOT_XML.sub("?", name))


def data(key, text):
    return f'      <data key="{key}">{escape(NOT_XML.sub("?", text))}</data>\n'


def shape_text(shape):
    return ",".join(map(str, shape))


def header():
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for key, kind, name, type_ in KEYS:
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


def write_weights(file, name, nodes, progress):
    """Writes every constant once, if shared, too; returns their offsets.  Those
    without values have none."""
    begins, places = {}, {}
    nodes = [node for node in nodes if node.data and node.data.read]
    total, done = sum(map(size_of, nodes)), 0
    for node in nodes:
        size = size_of(node)
        if id(node.data) not in begins:
            file.write(bytes(-file.tell() % ALIGNMENT))
            begins[id(node.data)] = file.tell()
            written = file.write(node.data.read())
            if written != size:
                raise ExportError(f"constant '{node.name}' has {written} bytes "
                                  f"where its shape needs {size}")
        places[node.name] = f"{name}:{begins[id(node.data)]}:{size}"
        done += size
        progress("writing weights", done, total)
    return places


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


def write(graph, path, progress):
    """Writes the graph to path, its weights to the .bin beside it."""
    nodes = graph.needed()
    with new_files(weights_path(path), path) as (weights, text):
        places = write_weights(weights, os.path.basename(weights_path(path)),
                               nodes, progress)
        for line in header():
            text.write(line.encode())
        for node in nodes:
            for line in node_lines(node, places):
                text.write(line.encode("utf-8", "replace"))
        for node in nodes:
            for line in edge_lines(node):
                text.write(line.encode("utf-8", "replace"))
        text.write(b"  </graph>\n</graphml>\n")
    return nodes
