# SPDX-License-Identifier: Apache-2.0
"""Reads a PyTorch module or program, with torch and nothing else.

torch.export produces the ATen ops of the network with static sizes.  Ops of
the tables here are kept, others are decomposed by PyTorch.  What depends on
weights only is folded by PyTorch.
"""
import ctypes
import operator

import torch

from . import ops, torch_compute, torch_move, torch_point
from .graph import ExportError, Graph, Unsupported, Value

DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16",
          torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
          torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
          torch.bool: "boolean"}
TABLE = {**torch_point.TABLE, **torch_move.TABLE, **torch_compute.TABLE}
NO_WORK = {"_assert_async", "_assert_scalar", "_assert_tensor_metadata",
           "sym_constrain_range", "sym_constrain_range_for_size"}


def dtype_of(dtype):
    if dtype not in DTYPES:
        raise Unsupported(f"has elements of type {dtype}")
    return DTYPES[dtype]


def name_of(target):
    """relu of aten.relu.default."""
    return target._schema.name.split("::")[-1]


def raw(tensor):
    """The bytes of a tensor; numpy is not required."""
    flat = tensor.detach().cpu().contiguous()
    return ctypes.string_at(flat.data_ptr(), flat.nbytes)


class Op:
    """One call of an ATen op, as its translator accesses it: arguments by
    name."""

    def __init__(self, reader, node):
        self.reader = reader
        self.g = reader.graph
        self.node = node
        self.args = {}
        for i, wanted in enumerate(node.target._schema.arguments):
            given = node.args[i] if i < len(node.args) \
                else node.kwargs.get(wanted.name, wanted.default_value)
            self.args[wanted.name] = reader.known(given)

    @property
    def meta(self):
        """PyTorch's metadata of the results: a tensor, or a list of them."""
        return self.node.meta["val"]

    @property
    def shape(self):
        return tuple(self.meta.shape)

    @property
    def dtype(self):
        return dtype_of(self.meta.dtype)

    @property
    def name(self):
        return name_of(self.node.target)

    def has(self, name):
        return self.args.get(name) is not None

    def __getitem__(self, name):
        """An argument as it is: a number, a list, a constant tensor."""
        return self.args[name]

    def get(self, name, default=None):
        value = self.args.get(name)
        return default if value is None else value

    def value(self, name):
        """A tensor as a Value of the graph; None if it is omitted."""
        return self.lift(self.args[name])

    def lift(self, given):
        """Whatever stands for a tensor, as a Value."""
        if given is None or isinstance(given, Value):
            return given
        return self.reader.lift(given)

    def operand(self, name, dtype):
        """A tensor or a number, as a tensor of this type."""
        given = self.args[name]
        if isinstance(given, (bool, int, float)):
            return self.g.scalar(given, dtype)
        return ops.convert(self.g, self.lift(given), dtype)

    def number(self, name):
        given = self.args[name]
        if isinstance(given, torch.Tensor) and given.numel() == 1:
            return given.item()
        if isinstance(given, (bool, int, float)):
            return given
        raise Unsupported(f"its {name} is not known before it runs")

    def common_type(self, *names):
        """PyTorch's type promotion, where booleans are distinct."""
        given = [self.reader.example(self.node, self.args, name)
                 for name in names]
        return dtype_of(torch.result_type(*given))


class Reader:
    """Traverses the program and builds the graph."""

    def __init__(self, program):
        self.graph = Graph()
        self.program = program
        self.names = {}
        self.lifted = {}
        self.missing = []

    # Names, tensors and values.

    def known(self, given):
        """Resolves an argument of a call: nodes become what they refer to."""
        if isinstance(given, torch.fx.Node):
            return self.names[given]
        if isinstance(given, (list, tuple)):
            return [self.known(entry) for entry in given]
        return given

    def example(self, node, args, name):
        """A fake argument of the same type, for PyTorch's inference."""
        given = args[name]
        if not isinstance(given, Value):
            return given
        for wanted, actual in zip(node.target._schema.arguments, node.args):
            if wanted.name == name:
                return actual.meta["val"]
        return node.kwargs[name].meta["val"]

    def lift(self, tensor):
        """A known tensor as a constant; the same one only once."""
        if id(tensor) not in self.lifted:
            value = self.graph.constant(lambda: raw(tensor), tensor.shape,
                                        dtype_of(tensor.dtype), "constant")
            self.lifted[id(tensor)] = (tensor, value)
        return self.lifted[id(tensor)][1]

    # The program.

    def read(self):
        signature = self.program.graph_signature
        nodes = list(self.program.graph.nodes)
        given = [spec.arg.name for spec in signature.input_specs
                 if spec.kind.name == "USER_INPUT"]
        self.graph.reserve(given)
        specs = {spec.arg.name: spec for spec in signature.input_specs}
        for node in nodes:
            if node.op == "placeholder":
                self.read_input(node, specs[node.name])
            elif node.op == "get_attr":
                self.names[node] = getattr(self.program.graph_module,
                                           node.target)
            elif node.op == "call_function":
                self.read_call(node)
        if self.missing:
            raise ExportError("cannot export " + "; ".join(self.missing))
        self.read_outputs(nodes[-1], signature.output_specs)
        return self.graph

    def read_input(self, node, spec):
        """Weights and buffers are constants, the rest are inputs."""
        kind = spec.kind.name
        if kind == "USER_INPUT":
            example = node.meta["val"]
            if isinstance(example, torch.Tensor):
                self.names[node] = self.parameter(node.name, example)
            else:
                self.names[node] = example
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            stores = (self.program.state_dict, self.program.constants)
            self.names[node] = next(store[spec.target] for store in stores
                                    if spec.target in store)
        else:
            raise ExportError(f"'{node.name}' is a {kind.lower()}, which "
                              "cannot be exported")

    def parameter(self, name, example):
        if not all(isinstance(size, int) for size in example.shape):
            raise ExportError(f"input '{name}' has dynamic dimensions; export "
                              "the program without dynamic_shapes")
        try:
            return self.graph.parameter(name, example.shape,
                                        dtype_of(example.dtype))
        except Unsupported as error:
            raise ExportError(f"input '{name}' {error}") from None

    def read_outputs(self, node, specs):
        wanted = [entry for entry, spec in zip(node.args[0], specs)
                  if spec.kind.name == "USER_OUTPUT"]
        wanted = [entry for entry in wanted if isinstance(entry, torch.fx.Node)]
        names = [f"output{i}" for i in range(len(wanted))]
        for name, entry in zip(names, wanted):
            known = self.names[entry]
            value = known if isinstance(known, Value) else self.lift(known)
            self.graph.result(self.graph.unique(name), value)

    # Calls.

    def read_call(self, node):
        """Translates all calls, so that everything unsupported is reported at
        once."""
        if any(source not in self.names for source in node.all_input_nodes):
            return  # behind something that cannot be exported
        try:
            self.names[node] = self.call(node)
        except Unsupported as error:
            self.missing.append(f"{node.target} '{node.name}': {error}")

    def call(self, node):
        if node.target is operator.getitem:
            return self.known(node.args[0])[node.args[1]]
        if not isinstance(node.target, torch._ops.OpOverload):
            raise Unsupported("there is no such operator to run")
        name = name_of(node.target)
        if name in NO_WORK:
            return None
        if self.is_known(node):
            return self.compute(node)
        if name not in TABLE:
            raise Unsupported("there is no such operator to run")
        self.graph.begin(self.title(node))
        result = TABLE[name](Op(self, node))
        self.check(node.meta["val"], result)
        return result

    def title(self, node):
        """The module it belongs to, and its own name."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        path = stack[-1][0] if stack else ""
        return f"{path}/{node.name}" if path else node.name

    def is_known(self, node):
        random = torch.Tag.nondeterministic_seeded in node.target.tags
        return not random and not any(has_value(self.names[source])
                                      for source in node.all_input_nodes)

    def compute(self, node):
        """Folds an op of constant tensors, on the CPU."""
        def place(key, given):
            return torch.device("cpu") if key == "device" else self.known(given)

        with torch.no_grad():
            return node.target(
                *(self.known(given) for given in node.args),
                **{key: place(key, given)
                   for key, given in node.kwargs.items()})

    def check(self, meta, result):
        """Shapes and types of the graph equal PyTorch's: an internal check."""
        if isinstance(meta, (list, tuple)):
            for one, made in zip(meta, result):
                self.check(one, made)
        elif isinstance(meta, torch.Tensor) and isinstance(result, Value):
            told = (tuple(meta.shape), dtype_of(meta.dtype))
            if told != (result.shape, result.dtype):
                raise Unsupported(f"became {result.dtype}{result.shape} in "
                                  f"place of {told[1]}{told[0]}")


def has_value(known):
    if isinstance(known, (list, tuple)):
        return any(map(has_value, known))
    return isinstance(known, Value)


def whole_ops():
    """PyTorch's decompositions, without those of ops that have a translator.
    """
    table = torch.export.default_decompositions()
    for target in list(table.keys()):
        if target.namespace == "aten" and name_of(target) in TABLE:
            table.pop(target)
    return table


def read_program(program):
    return Reader(program.run_decompositions(whole_ops())).read()


def arguments(inputs):
    """Example inputs by position and by name."""
    if isinstance(inputs, dict):
        return (), inputs
    if isinstance(inputs, (list, tuple)):
        return tuple(inputs), {}
    return (inputs,), {}


def read(module, inputs):
    """Returns the graph of a module, with example inputs, or of a program."""
    if isinstance(module, torch.export.ExportedProgram):
        return read_program(module)
    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"a {type(module).__name__} is no torch.nn.Module")
    if inputs is None:
        raise ExportError("a module needs a tuple of example inputs")
    if module.training:
        raise ExportError("the module is in training mode; call eval() first")
    try:
        with torch.no_grad():
            program = torch.export.export(module, *arguments(inputs))
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, all of them PyTorch's
        reason = str(error).strip().split("\n")[0]
        raise ExportError(f"torch.export failed: {reason}") from error
    return read_program(program)


def read_file(path):
    try:
        program = torch.export.load(path)
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror or error}") from None
    except MemoryError:
        raise
    except Exception as error:  # zip's, pickle's, PyTorch's
        reason = str(error).strip().split("\n")[0]
        raise ExportError(f"{path}: is no program of torch.export: "
                          f"{reason}") from None
    return read_program(program)
