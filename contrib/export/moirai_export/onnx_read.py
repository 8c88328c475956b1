# SPDX-License-Identifier: Apache-2.0
"""Reads an ONNX model, with the package onnx and nothing else.

A name of the model refers to a Value of the graph, or to an array if it is
constant: weights, and all that depends on them and on shapes only.  Such ops
are folded here, by ONNX's own reference implementation.
"""
import onnx
import onnx.defs
import onnx.helper
import onnx.inliner
import onnx.numpy_helper
import onnx.reference
import numpy

from . import onnx_compute, onnx_move, onnx_point, onnx_quantize
from .graph import ExportError, Graph, Unsupported, Value
from .onnx_types import NAMES, dtype_of, type_of

ONNX_DOMAINS = ("", "ai.onnx")
# What translators meet in nodes with wrong attributes, ranks or inputs.
BROKEN = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "Bernoulli",
          "RandomUniformLike", "Multinomial"}
TABLE = {**onnx_point.TABLE, **onnx_move.TABLE, **onnx_compute.TABLE,
         **onnx_quantize.TABLE}


def title(node):
    """The name of a node: many have none."""
    return node.name or next(filter(None, node.output), node.op_type)


def check_dims(tensor):
    """numpy takes a negative dimension for one that follows from the size."""
    if any(size < 0 for size in tensor.dims):
        raise ValueError(f"the shape {list(tensor.dims)} has a negative "
                         "dimension")


def array_of(tensor):
    check_dims(tensor)
    return onnx.numpy_helper.to_array(tensor)


class Op:
    """One node of the model, as its translator accesses it."""

    def __init__(self, reader, node, version):
        self.reader = reader
        self.g = reader.graph
        self.node = node
        self.version = version
        self.attrs = {a.name: onnx.helper.get_attribute_value(a)
                      for a in node.attribute}
        for attribute in node.attribute:
            check_dims(attribute.t)

    def attr(self, name, default=None):
        value = self.attrs.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    @property
    def n_inputs(self):
        return len(self.node.input)

    @property
    def n_outputs(self):
        return len(self.node.output)

    def has(self, i):
        return i < self.n_inputs and self.node.input[i] != ""

    def uses(self, i):
        return i < self.n_outputs and self.node.output[i] != ""

    def array(self, i):
        """Input i if it is constant, else None; None if it is absent."""
        known = self.reader.names[self.node.input[i]] if self.has(i) else None
        return None if isinstance(known, Value) else known

    def value(self, i):
        return self.reader.value(self.node.input[i]) if self.has(i) else None

    def values(self):
        return [self.value(i) for i in range(self.n_inputs) if self.has(i)]

    def lift(self, array, what="constant"):
        """An array of the translator's own, as a constant."""
        return self.reader.lift(numpy.asarray(array), what)

    def known(self, i, what):
        """Input i, which must be constant; None if it is absent."""
        if self.has(i) and self.array(i) is None:
            raise Unsupported(f"{what} is not known before it runs")
        return self.array(i)

    def numbers(self, i, what):
        """Input i as a list of Python's numbers."""
        known = self.known(i, what)
        return None if known is None else known.ravel().tolist()

    def number(self, i, what, default=None):
        numbers = self.numbers(i, what)
        if numbers is None:
            return default
        if len(numbers) != 1:
            raise Unsupported(f"{what} is not one number")
        return numbers[0]

    def list(self, name, i, since, what):
        """A list that was an attribute before a version, then an input."""
        if self.version < since:
            return self.attr(name)
        return self.numbers(i, what)


class Reader:
    """Traverses the model and builds the graph."""

    def __init__(self, model, shapes):
        self.graph = Graph()
        self.model = model
        self.shapes = shapes
        self.names = {}
        self.lifted = {}
        self.missing = []
        self.lost = set()
        self.versions = {entry.domain or "": entry.version
                         for entry in model.opset_import}

    # Names, arrays and values.

    def value(self, name):
        known = self.names[name]
        return known if isinstance(known, Value) else self.lift(known, name)

    def lift(self, array, name):
        """An array as a constant of the graph; the same one only once."""
        if id(array) not in self.lifted:
            dtype = NAMES.get(array.dtype.name)
            if dtype is None:
                raise Unsupported(f"'{name}' has elements of type "
                                  f"{array.dtype.name}")
            little = array.dtype.newbyteorder("<")
            value = self.graph.constant(
                lambda: numpy.ascontiguousarray(array, little).tobytes(),
                array.shape, dtype, name)
            self.lifted[id(array)] = (array, value)
        return self.lifted[id(array)][1]

    # Inputs.

    def input_shape(self, entry, number):
        """As given by the user, by name or number, else as in the model."""
        for key in (entry.name, str(number)):
            if key in self.shapes:
                return self.shapes.pop(key)
        sizes = [dim.dim_value
                 if dim.HasField("dim_value") and dim.dim_value >= 0 else None
                 for dim in entry.type.tensor_type.shape.dim]
        if None in sizes or not entry.type.tensor_type.HasField("shape"):
            raise ExportError(f"input '{entry.name}' has no fixed shape; give "
                              f"it one with --shape '{entry.name}=1,...'")
        return sizes

    def read_inputs(self, graph):
        weights = {tensor.name for tensor in graph.initializer}
        inputs = [entry for entry in graph.input if entry.name not in weights]
        self.graph.reserve([entry.name for entry in inputs])
        self.graph.reserve([entry.name for entry in graph.output])
        for number, entry in enumerate(inputs):
            if not entry.type.HasField("tensor_type"):
                raise ExportError(f"input '{entry.name}' is no tensor")
            shape = self.input_shape(entry, number)
            try:
                dtype = dtype_of(entry.type.tensor_type.elem_type)
            except Unsupported as error:
                raise ExportError(f"input '{entry.name}' {error}") from None
            self.names[entry.name] = self.graph.parameter(entry.name, shape,
                                                          dtype)
        if self.shapes:
            raise ExportError(f"there is no input '{next(iter(self.shapes))}' "
                              "to give a shape")

    def read_weights(self, graph):
        if graph.sparse_initializer:
            raise ExportError("weights are sparse; export the model with "
                              "dense ones")
        for tensor in graph.initializer:
            try:
                self.names[tensor.name] = array_of(tensor)
            except BROKEN as error:
                raise ExportError(f"weights '{tensor.name}' are not as their "
                                  f"shape and type say: {error}") from None

    # Ops.

    def read(self):
        graph = self.model.graph
        self.read_inputs(graph)
        self.read_weights(graph)
        self.read_nodes(graph.node)
        if self.missing:
            raise ExportError("cannot export " + "; ".join(self.missing))
        for output in graph.output:
            if output.name not in self.names:
                raise ExportError(f"nobody makes output '{output.name}'")
            try:
                self.graph.result(output.name, self.value(output.name))
            except Unsupported as error:
                raise ExportError(f"output {error}") from None
        return self.graph

    def read_nodes(self, nodes):
        """Translates all nodes, so that everything unsupported is reported at
        once."""
        for node in nodes:
            why = None
            if self.lost.isdisjoint(node.input):
                why = self.fault(node)
            for name in node.output:
                if name not in self.names:
                    self.lost.add(name)
            if why:
                self.missing.append(f"{node.op_type} '{title(node)}': {why}")

    def fault(self, node):
        """Returns why the node cannot be exported, or None."""
        unknown = [name for name in node.input if name
                   and name not in self.names]
        if unknown:
            return f"nobody makes its input '{unknown[0]}'"
        try:
            self.read_node(node)
        except Unsupported as error:
            return str(error)
        except BROKEN as error:
            return f"is not as ONNX has it ({type(error).__name__}: {error})"
        return None

    def read_node(self, node):
        version = self.versions.get(
            "" if node.domain in ONNX_DOMAINS else node.domain, 1)
        op = Op(self, node, version)
        if self.is_known(op):
            self.compute(op)
        elif node.op_type == "If" and op.array(0) is not None:
            self.choose(op)
        elif node.domain in ONNX_DOMAINS and node.op_type in TABLE:
            self.graph.begin(title(node))
            self.keep(node, TABLE[node.op_type](op))
        else:
            self.expand(op)

    def keep(self, node, results):
        if not isinstance(results, (list, tuple)):
            results = [results]
        for name, result in zip(node.output, results):
            if name:
                self.names[name] = result

    def is_known(self, op):
        if op.node.op_type in ("Shape", "Size"):
            return False  # known whatever they are of; see onnx_move
        return (op.node.op_type not in RANDOM | {"If", "Loop", "Scan"}
                and op.node.domain in ONNX_DOMAINS
                and all(op.array(i) is not None
                        for i in range(op.n_inputs) if op.has(i)))

    def compute(self, op):
        """Folds an op of constant arrays."""
        feeds = {name: self.names[name] for name in op.node.input if name}
        wanted = [name for name in op.node.output if name]
        graph = onnx.helper.make_graph(
            [op.node], "one",
            [onnx.helper.make_value_info(name, onnx.TypeProto())
             for name in feeds],
            [onnx.helper.make_value_info(name, onnx.TypeProto())
             for name in wanted])
        try:
            run = onnx.reference.ReferenceEvaluator(
                graph, opsets={"": self.versions.get("", 1)})
            results = run.run(wanted, feeds)
        except MemoryError:
            raise
        except Exception as error:  # whatever the reference cannot do
            reason = str(error).strip().split("\n")[0][:80]
            raise Unsupported(f"cannot be computed: {reason}") from None
        for name, result in zip(wanted, results):
            self.names[name] = numpy.asarray(result)

    def choose(self, op):
        """An If with a constant condition is replaced by its branch."""
        branch = op.attrs["then_branch" if op.array(0).item()
                          else "else_branch"]
        outer = dict(self.names)
        self.read_weights(branch)
        self.read_nodes(branch.node)
        results = [self.names.get(output.name) for output in branch.output]
        self.names = outer
        if all(result is not None for result in results):
            self.keep(op.node, results)

    def expand(self, op):
        """Inlines an op that ONNX defines as a function, with names of its
        own."""
        body = function_of(op, self.versions) \
            if op.node.domain in ONNX_DOMAINS else None
        if body is None:
            raise Unsupported("there is no such operator to run")
        outer = self.names, self.versions, self.lost, self.missing
        self.names = {formal: self.names[actual] for formal, actual
                      in zip(body.input, op.node.input) if actual}
        self.versions = {entry.domain or "": entry.version
                         for entry in body.opset_import} or self.versions
        self.lost, self.missing = set(), []
        self.read_nodes(with_attributes(body, op))
        results = [self.names.get(name) for name in body.output]
        failed = self.missing
        self.names, self.versions, self.lost, self.missing = outer
        if failed:
            raise Unsupported(f"what it is made of cannot all be run; not "
                              f"{failed[0]}")
        self.keep(op.node, results)


def function_of(op, versions):
    """Returns the function that defines an op, or None."""
    version = versions.get("", 1)
    if not onnx.defs.has(op.node.op_type):
        return None
    try:
        schema = onnx.defs.get_schema(op.node.op_type, version, "")
    except onnx.defs.SchemaError:
        return None
    if schema.has_function:
        return schema.function_body
    if not schema.has_context_dependent_function:
        return None
    types = [type_of(op.reader.names[name]).SerializeToString() if name else b""
             for name in op.node.input]
    body = schema.get_context_dependent_function_with_opset_version(
        version, op.node.SerializeToString(), types)
    function = onnx.FunctionProto()
    function.ParseFromString(body)
    return function if function.node else None


def with_attributes(body, op):
    """Nodes of a function, with the attributes of the calling op, named after
    it, and without omitted inputs."""
    there = {formal for formal, actual in zip(body.input, op.node.input)
             if actual}
    left_out = set(body.input) - there
    given = {a.name: a for a in op.node.attribute}
    schema = onnx.defs.get_schema(op.node.op_type, op.version, "")
    defaults = {name: entry.default_value
                for name, entry in schema.attributes.items()}
    for source in body.node:
        node = onnx.NodeProto()
        node.CopyFrom(source)
        node.name = f"{title(op.node)}/{source.output[0]}"
        node.input[:] = ["" if name in left_out else name
                         for name in source.input]
        del node.attribute[:]
        for attribute in source.attribute:
            name = attribute.ref_attr_name
            actual = given.get(name) or defaults.get(name) if name \
                else attribute
            if actual is not None and actual.type:
                copy = node.attribute.add()
                copy.CopyFrom(actual)
                copy.name = attribute.name
        yield node


def read(path, shapes):
    """Returns the graph of an ONNX file; shapes by the name or number of an
    input."""
    try:
        model = onnx.load(path)
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror or error}") from None
    except MemoryError:
        raise
    except Exception as error:  # protobuf's are of many kinds
        raise ExportError(f"{path}: is no ONNX model: "
                          f"{str(error).splitlines()[0]}") from None
    if not model.graph.node and not model.graph.output:
        raise ExportError(f"{path}: is no ONNX model, or an empty one")
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    try:
        return Reader(model, dict(shapes)).read()
    except ExportError as error:
        raise ExportError(f"{path}: {error}") from None
