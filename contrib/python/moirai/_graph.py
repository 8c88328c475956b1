# SPDX-License-Identifier: Apache-2.0
"""Graphs: networks that are read, or made of networkx graphs and modules."""
from __future__ import annotations

import ctypes
import html
import importlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
from ctypes import byref, c_int, c_int64
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List,
                    NamedTuple, Optional, Sequence, Tuple, overload)
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from ._cluster import Cluster
from ._library import (PACKAGE, PREFIX, Handle, MissingFileError, MoiraiError,
                       Options, Path, Shape, Status, Values, create, encode,
                       encode_text, output, query, text_of)

if TYPE_CHECKING:
    import networkx

TEXTS = ("label", "type", "shape", "dtype", "attrs", "pin", "colocate")
ONNX = b"\x08"  # the tag of ir_version, which serialized models begin with
NUMBERS = ("flops", "bytes", "memory_bytes", "weight_bytes",
           "workspace_bytes", "output_bytes")


class Op(NamedTuple):
    """An operator; what is unknown is None.

    shape: of the first output; shapes: of all of them.  dtype: of the outputs,
    separated by ";" where they differ.  members: the names of the operators
    that one of a coarse graph stands for.
    """

    name: str
    type: Optional[str]
    label: Optional[str]
    shape: Optional[Tuple[int, ...]]
    dtype: Optional[str]
    attrs: Dict[str, Any]
    pin: Optional[str]
    colocate: Optional[str]
    members: List[str]
    flops: Optional[float]
    bytes: Optional[int]
    memory_bytes: Optional[int]
    weight_bytes: Optional[int]
    workspace_bytes: Optional[int]
    output_bytes: Optional[int]
    shapes: Tuple[Optional[Tuple[int, ...]], ...]


class Edge(NamedTuple):
    """A data dependency: producer and consumer, by number, and its bytes."""

    source: int
    target: int
    bytes: Optional[int]


class Ops(Sequence[Op]):
    """The operators of a graph, in topological order."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __len__(self) -> int:
        return int(query("graph_n_ops", self._graph))

    @overload
    def __getitem__(self, key: int) -> Op: ...

    @overload
    def __getitem__(self, key: slice) -> List[Op]: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        i = key + len(self) if key < 0 else key
        if not 0 <= i < len(self):
            raise IndexError(f"there is no op {key}")

        def text(name: str) -> Optional[str]:
            return text_of(query("graph_op_text", self._graph, i,
                                 name.encode()))

        def number(name: str) -> Optional[float]:
            value = query("graph_op_number", self._graph, i, name.encode())
            if value < 0:
                return None
            return float(value) if name == "flops" else int(value)

        values: Dict[str, Any] = {"name": text("name")}
        values.update((name, text(name)) for name in TEXTS)
        values.update((name, number(name)) for name in NUMBERS)
        values["attrs"] = json.loads(values["attrs"] or "{}")
        values["members"] = json.loads(text("members") or "[]")
        shapes = values["shape"]
        values["shapes"] = (() if shapes is None
                            else tuple(map(shape_of, shapes.split(";"))))
        values["shape"] = values["shapes"][0] if values["shapes"] else None
        return Op(**values)


def shape_of(text: str) -> Optional[Tuple[int, ...]]:
    """One shape in the notations of moirai-graph(5); None: no static one."""
    found = re.fullmatch(
        r"\s*(?:torch\.Size)?[\s(\[]*((?:\d[\d\s,x]*)?)[\s)\]]*", text)
    return tuple(map(int, re.findall(r"\d+", found[1]))) if found else None


class Graph(Handle):
    """A network as a graph of operators; immutable, for any thread.

    ops: its operators.  edges: producer, consumer and bytes of each.  fine: the
    graph that this one was coarsened from, or None.
    """

    def __init__(self, handle: int, fine: Optional[Graph] = None,
                 folder: Any = None) -> None:
        super().__init__("graph", handle)
        self.fine = fine
        self._folder = folder

    @property
    def ops(self) -> Ops:
        return Ops(self)

    @property
    def edges(self) -> List[Edge]:
        source, target, size = c_int(), c_int(), c_int64()
        edges = []
        for i in range(query("graph_n_edges", self)):
            query("graph_edge", self, i, byref(source), byref(target),
                  byref(size))
            edges.append(Edge(source.value, target.value,
                              None if size.value < 0 else size.value))
        return edges

    def find(self, name: str) -> int:
        """Returns the number of the op of that name; raises KeyError."""
        op = int(query("graph_find", self, encode_text(name)))
        if op < 0:
            raise KeyError(name)
        return op

    def coarsen(self, cluster: Optional[Cluster] = None, *,
                fusion: str = "default") -> Graph:
        """Returns a coarse graph: cleaned, operators fused by a set of rules.

        A graph with measured times needs the cluster.  See moirai-coarsen(1).
        """
        options = Options({"fusion": fusion})
        return Graph(create("graph_coarsen", self, cluster, options), self)

    def coarse_op(self, op: int) -> Optional[int]:
        """Returns the op of this coarse graph that contains op of its fine
        graph; None: it was removed."""
        if self.fine is not None and not 0 <= op < len(self.fine.ops):
            raise IndexError(f"there is no op {op}")
        coarse = int(query("graph_coarse_op", self, op))
        return None if coarse < 0 else coarse

    def write(self, path: Path) -> None:
        """Writes the graph as GraphML."""
        output("graph_write", path, self)

    def graphml(self) -> str:
        """Returns the graph as GraphML."""
        return output("graph_write", None, self).decode()

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """Returns a networkx graph with the attributes of moirai-graph(5)."""
        import networkx as nx

        text = self.graphml()
        made: networkx.MultiDiGraph[str] = nx.MultiDiGraph(
            nx.parse_graphml(text, force_multigraph=True))
        # networkx does not keep the id of a graph.
        for _, element in ElementTree.iterparse(io.StringIO(text)):
            if element.tag.endswith("}graph"):
                made.graph["name"] = element.get("id", "")
        return made

    def __repr__(self) -> str:
        return (f"<moirai.Graph: {len(self.ops)} ops, "
                f"{query('graph_n_edges', self)} edges>")

    def _repr_html_(self) -> str:
        counts: Dict[str, int] = {}
        for i in range(len(self.ops)):
            kind = text_of(query("graph_op_text", self, i, b"type"))
            kind = kind or "unknown"
            counts[kind] = counts.get(kind, 0) + 1
        rows = "".join(f"<tr><td>{html.escape(kind)}</td><td>{n}</td></tr>"
                       for kind, n in sorted(counts.items(),
                                             key=lambda one: (-one[1], one)))
        return (f"<p>{html.escape(repr(self)[1:-1])}</p><table><tr><th>type"
                f"</th><th>ops</th></tr>{rows}</table>")


def value_text(key: str, value: Any) -> str:
    """An attribute of a networkx graph as GraphML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if key in ("attrs", "members"):
        return value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    return str(value)


def flat(attributes: Dict[Any, Any]) -> Iterator[Any]:
    """Attributes of a node or edge, with time_us={"A": 3.0} as time_us.A and
    comm_us={("A", "B"): 1.0} as comm_us.A.B."""
    for key, value in attributes.items():
        if key in ("time_us", "comm_us") and isinstance(value, dict):
            for device, one in value.items():
                pair = (device if isinstance(device, str)
                        else ".".join(map(str, device)))
                yield f"{key}.{pair}", str(one)
        elif value is not None:
            yield str(key), value_text(str(key), value)


def networkx_graphml(graph: Any) -> bytes:
    """A directed networkx graph as GraphML; values of any type are allowed."""
    if not graph.is_directed():
        raise MoiraiError(Status.INPUT, "the networkx graph is not directed; "
                          "make it a DiGraph")
    keys: Dict[Any, str] = {}
    body: List[str] = []

    def data(kind: str, attributes: Dict[Any, Any]) -> None:
        for name, text in flat(attributes):
            key = keys.setdefault((kind, name), f"k{len(keys)}")
            body.append(f'<data key="{key}">{escape(text)}</data>')

    for node, attributes in graph.nodes(data=True):
        body.append(f"<node id={quoteattr(str(node))}>")
        data("node", attributes)
        body.append("</node>\n")
    for source, target, attributes in graph.edges(data=True):
        body.append(f"<edge source={quoteattr(str(source))} "
                    f"target={quoteattr(str(target))}>")
        data("edge", attributes)
        body.append("</edge>\n")
    declared = "".join(
        f'<key id="{key}" for="{kind}" attr.name={quoteattr(name)} '
        'attr.type="string"/>\n' for (kind, name), key in keys.items())
    name = graph.graph.get("name")
    name = f" id={quoteattr(str(name))}" if name else ""
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            f'{declared}<graph{name} edgedefault="directed">\n{"".join(body)}'
            '</graph>\n</graphml>\n').encode()


def exporter() -> Callable[..., Any]:
    """The function export of moirai-export: of a package moirai_export, or of
    the modules in the wheel, or in the tree or prefix that this package is
    in."""
    folders = [str(PREFIX / "share" / "moirai" / "export"),
               str(PACKAGE.parents[1] / "export")]
    sys.path.extend(folders)
    try:
        exporting = importlib.import_module("moirai_export")
    except ImportError:
        raise MoiraiError(Status.SUPPORT, "the modules of moirai-export, which "
                          "read PyTorch, are not installed") from None
    finally:
        for folder in folders:
            sys.path.remove(folder)
    function: Callable[..., Any] = exporting.export
    return function


def read_exported(source: Any, inputs: Any, options: Options) -> Graph:
    """A module or program of PyTorch, through a graph in a folder of its own,
    which is removed with the graph."""
    export = exporter()
    folder = tempfile.TemporaryDirectory(prefix="moirai-")
    path = os.path.join(folder.name, "model.graphml")
    if inputs is not None and not isinstance(inputs, (tuple, dict)):
        inputs = tuple(inputs) if isinstance(inputs, list) else (inputs,)
    try:
        export(source, inputs, path)
    except Exception as error:
        if type(error).__name__ != "ExportError":
            raise
        raise MoiraiError(Status.INPUT, str(error)) from error
    return Graph(create("graph_read", encode(path), options), folder=folder)


def read_serialized(data: bytes, options: Options) -> Graph:
    """An ONNX model, through a file in a folder of its own, which is removed
    with the graph: executors read the weights where they lie in the file."""
    folder = tempfile.TemporaryDirectory(prefix="moirai-")
    path = os.path.join(folder.name, "model.onnx")
    with open(path, "wb") as file:
        file.write(data)
    return Graph(create("graph_read", encode(path), options), folder=folder)


def read(model: Any, *, example_inputs: Any = None, name: str = "graph",
         shape: Optional[Shape] = None, value: Optional[Values] = None,
         precision: Optional[str] = None,
         weights: Optional[str] = None,
         message: Optional[Callable[[str], None]] = None) -> Graph:
    """Reads a network.

    model: the path of a file of GraphML, OpenVINO or ONNX, maybe compressed,
    or of a torch.export program .pt2; bytes of such a file (name stands for its
    path in errors, and weights are looked for in its folder); a directed
    networkx graph with the attributes of moirai-graph(5), where time_us and
    comm_us may be dicts by device; an onnx.ModelProto; a torch.nn.Module, with
    example_inputs, a tuple or a dict, or a torch.export.ExportedProgram.

    shape: of inputs with dynamic dimensions, {"ids": (1, 128)}.  value: numbers
    in place of inputs, {"rate": 16000}.  precision, weights: formats
    that sizes and predicted times refer to, see moirai-place(1).  message
    is called with each warning.  Raises MoiraiError.
    """
    if isinstance(model, Graph):
        return model
    chosen = Options({"shape": shape, "value": value, "precision": precision,
                      "weights": weights}, message)
    if isinstance(model, (str, os.PathLike)):
        if pathlib.PurePath(model).suffix == ".pt2":
            if not os.path.exists(model):
                raise MissingFileError(Status.IO, "no such file",
                                       os.fspath(model))
            return read_exported(model, None, chosen)
        return Graph(create("graph_read", encode(model), chosen))
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        if data.startswith(ONNX) and name == "graph":
            return read_serialized(data, chosen)
    elif hasattr(model, "nodes") and hasattr(model, "is_directed"):
        data = networkx_graphml(model)
    elif hasattr(model, "SerializeToString"):
        return read_serialized(model.SerializeToString(), chosen)
    elif hasattr(model, "state_dict"):
        return read_exported(model, example_inputs, chosen)
    else:
        raise TypeError(f"a {type(model).__name__} is no network; see "
                        "help(moirai.read)")
    return Graph(create("graph_read_memory", encode(name),
                        ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p),
                        len(data), chosen))
