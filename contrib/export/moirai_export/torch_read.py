# SPDX-License-Identifier: Apache-2.0
"""Reads a PyTorch module or program, with torch and nothing else.

torch.export produces the ATen ops of the network with static sizes.  Ops of
the tables here are kept, others are decomposed by PyTorch.  What depends on
weights only is folded by PyTorch.  A complex tensor is a Pair of real ones.
"""
import ctypes
import operator
import re

import torch

from . import (ops, torch_complex, torch_compute, torch_index, torch_inputs,
               torch_layer, torch_move, torch_number, torch_point,
               torch_program, torch_rnn, torch_trace, torch_window)
from .graph import ExportError, Graph, Unsupported, Value
from .torch_complex import Pair
from .torch_program import name_of

DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16",
          torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
          torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
          torch.bool: "boolean"}
TABLE = {**torch_point.TABLE, **torch_move.TABLE, **torch_index.TABLE,
         **torch_compute.TABLE, **torch_layer.TABLE, **torch_window.TABLE,
         **torch_rnn.TABLE}
NO_WORK = {"_assert_async", "_assert_scalar", "_assert_tensor_metadata",
           "sym_constrain_range", "sym_constrain_range_for_size",
           "_guards_fn"}
REALS_OF = {torch.complex64: torch.float32, torch.complex128: torch.float64,
            torch.complex32: torch.float16}


def dtype_of(dtype):
    if dtype not in DTYPES:
        raise Unsupported(f"has elements of type {dtype}")
    return DTYPES[dtype]


def raw(tensor):
    """The bytes of a tensor, not copied if they are contiguous; numpy is not
    required."""
    flat = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    size = flat.numel() * flat.element_size()
    if size == 0:
        return b""
    made = (ctypes.c_char * size).from_address(flat.data_ptr())
    made.owner = flat
    return made


class Op:
    """One call of an ATen op, as its translator accesses it: arguments by
    name."""

    def __init__(self, reader, node):
        self.reader = reader
        self.g = reader.graph
        self.node = node
        self.args = {}
        self.numbers = set()  # arguments that are no tensors
        for i, wanted in enumerate(node.target._schema.arguments):
            given = node.args[i] if i < len(node.args) \
                else node.kwargs.get(wanted.name, wanted.default_value)
            self.args[wanted.name] = reader.known(given)
            if "Tensor" not in str(wanted.type):
                self.numbers.add(wanted.name)

    @property
    def meta(self):
        """PyTorch's metadata of the results: a tensor, or a list of them."""
        return self.node.meta["val"]

    @property
    def shape(self):
        return tuple(self.meta.shape)

    @property
    def dtype(self):
        """Of a complex tensor, that of its parts."""
        return dtype_of(REALS_OF.get(self.meta.dtype, self.meta.dtype))

    @property
    def name(self):
        return name_of(self.node.target)

    def has(self, name):
        return self.args.get(name) is not None

    def __getitem__(self, name):
        """An argument as it is: a number, a list, a constant tensor."""
        if name in self.numbers and has_value(self.args[name]):
            raise Unsupported("uses a number that is read from a tensor, which "
                              "is not known before it runs")
        return self.args[name]

    def get(self, name, default=None):
        value = self[name] if name in self.args else None
        return default if value is None else value

    def value(self, name):
        """A tensor as a Value of the graph; None if it is omitted."""
        return self.lift(self.args[name])

    def lift(self, given):
        """Whatever stands for a tensor, as a Value."""
        if given is None or isinstance(given, (Value, Pair)):
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
        if isinstance(given, torch.Tensor) and given.numel() == 1 \
                and given.device.type != "meta":
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

    def __init__(self, program, with_weights=True):
        self.graph = Graph()
        self.program = program
        self.with_weights = with_weights
        self.names = {}
        self.lifted = {}
        self.weights = {}  # names of parameters and buffers, by id
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
                return torch_number.example(actual.meta["val"])
        return torch_number.example(node.kwargs[name].meta["val"])

    def lift(self, tensor):
        """A known tensor as a constant; the same one only once."""
        if id(tensor) not in self.lifted:
            self.lifted[id(tensor)] = (tensor, self.constant(tensor))
        return self.lifted[id(tensor)][1]

    def constant(self, tensor):
        if isinstance(tensor, (bool, int, float)):
            tensor = torch.tensor(tensor)
        if not isinstance(tensor, torch.Tensor):
            raise Unsupported(f"reads a {type(tensor).__name__} as a tensor")
        if tensor.is_complex():
            return Pair(self.lift(tensor.real.clone()),
                        self.lift(tensor.imag.clone()))
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise Unsupported("has a constant that is sparse or quantized")
        read = None if tensor.device.type == "meta" else lambda: raw(tensor)
        return self.graph.constant(read, tensor.shape, dtype_of(tensor.dtype),
                                   self.weights.get(id(tensor), "constant"))

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
                self.names[node] = operator.attrgetter(node.target)(
                    self.program.graph_module)
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
            tensor = next(store[spec.target] for store in stores
                          if spec.target in store)
            if kind == "PARAMETER" and not self.with_weights:
                tensor = tensor.to("meta")
            self.weights[id(tensor)] = spec.target
            self.names[node] = tensor
        elif kind == "TOKEN":
            self.names[node] = None
        else:
            raise ExportError(f"'{node.name}' is a {kind.lower()}, which "
                              "cannot be exported")

    def parameter(self, name, example):
        if torch_program.is_dynamic(example):
            shape = torch_program.shape_text(example)
            raise ExportError(f"input '{name}' is {shape}: give the size of "
                              f"what is dynamic with --shape {name}=...")
        if example.is_complex():
            raise ExportError(f"input '{name}' is complex; take its real and "
                              "imaginary parts as inputs and join them with "
                              "torch.complex")
        try:
            return self.graph.parameter(name, example.shape,
                                        dtype_of(example.dtype))
        except Unsupported as error:
            raise ExportError(f"input '{name}' {error}") from None

    def read_outputs(self, node, specs):
        wanted = [entry for entry, spec in zip(node.args[0], specs)
                  if spec.kind.name == "USER_OUTPUT"]
        wanted = [entry for entry in wanted if isinstance(entry, torch.fx.Node)]
        wanted = [entry for entry in wanted if isinstance(
            entry.meta.get("val"), torch.Tensor)] or wanted
        names = [f"output{i}" for i in range(len(wanted))]
        for name, entry in zip(names, wanted):
            known = self.names[entry]
            try:
                value = known if isinstance(known, (Value, Pair)) \
                    else self.lift(known)
                if isinstance(value, Pair):
                    value = torch_complex.joined(self.graph, value)
            except Unsupported as error:
                raise ExportError(f"output '{name}' {error}") from None
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
            line = torch_program.source_line_in(node.meta.get("stack_trace"))
            self.missing.append(f"{node.target} '{node.name}'{line}: {error}")

    def call(self, node):
        if node.target is operator.getitem:
            return self.known(node.args[0])[node.args[1]]
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            return self.call_graphs(node)
        if not isinstance(node.target, torch._ops.OpOverload):
            return self.arithmetic(node)
        name = name_of(node.target)
        if name in NO_WORK:
            return None
        meta = node.meta.get("val")
        if self.is_known(node):
            return self.compute(node)
        if name in ("_local_scalar_dense", "item"):
            self.graph.begin(self.title(node))
            return torch_number.read(self.graph, self.known(node.args[0]))
        if any(has_dynamic(x) for x in flat(meta)):
            raise Unsupported("has a shape that depends on the values of "
                              "tensors; bound it, as nonzero_static does")
        self.graph.begin(self.title(node))
        op = Op(self, node)
        if any(map(is_complex, (*flat(meta), *flat(list(op.args.values()))))):
            result = torch_complex.translate(op, TABLE)
        elif name in TABLE:
            result = TABLE[name](op)
        else:
            raise Unsupported("there is no such operator to run")
        if name not in torch_rnn.TABLE:  # PyTorch 2.4 has wrong states there
            self.check(meta, result)
        return result

    def arithmetic(self, node):
        """Python's own functions, of numbers."""
        args = [self.known(given) for given in node.args]
        if has_value(args):
            self.graph.begin(self.title(node))
            return torch_number.compute(self.graph, node.target, args)
        if all(isinstance(x, (bool, int, float)) for x in flat(args)):
            return node.target(*args)
        raise Unsupported("there is no such operator to run")

    def inline(self, module, operands):
        """Reads a graph within the program in place of its call."""
        given = iter(operands)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self.names[node] = next(given)
            elif node.op == "get_attr":
                self.names[node] = operator.attrgetter(node.target)(module)
            elif node.op == "call_function":
                self.names[node] = self.call(node)
            elif node.op == "output":
                return self.known(node.args[0])
        return None

    def call_graphs(self, node):
        """torch.cond, of which both sides are computed if the condition is no
        constant, and graphs that are called for other reasons."""
        args = [self.known(given) for given in node.args]
        graphs = [x for x in args if isinstance(x, torch.fx.GraphModule)]
        name = node.target.name()
        if len(graphs) == 1 and name.startswith(("wrap", "invoke_subgraph",
                                                 "tag_activation")):
            if "autocast" in name and args[2]:
                raise Unsupported("computes in another type (autocast)")
            after = args[args.index(graphs[0]) + 1:]
            after = [x for x in after if not isinstance(x, str)]
            return self.inline(graphs[0], after)
        if name != "cond" or len(graphs) != 2:
            raise Unsupported("there is no such operator to run")
        condition, operands = args[0], args[3] if len(args) > 3 else []
        if isinstance(condition, torch.Tensor) and \
                condition.device.type != "meta":
            condition = bool(condition.item())
        if isinstance(condition, bool):
            return self.inline(graphs[not condition], operands)
        yes, no = (self.inline(graph, operands) for graph in graphs)
        self.graph.begin(self.title(node))
        return [self.choose(condition, *both) for both in zip(yes, no)]

    def choose(self, condition, yes, no):
        yes, no = (x if isinstance(x, Value) else self.lift(x)
                   for x in (yes, no))
        if yes.shape != no.shape or yes.dtype != no.dtype:
            raise Unsupported("has sides of different shapes")
        flag = ops.reshape(self.graph, condition, (1,) * yes.rank)
        return ops.select(self.graph, flag, yes, no)

    def title(self, node):
        """The module it belongs to, and its own name."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        path = stack[-1][0] if stack else ""
        path = re.sub(r"^L\['\w+'\]\.?", "", path)  # of bytecode analysis
        return f"{path}/{node.name}" if path else node.name

    def is_known(self, node):
        return not torch_program.is_random(node) and not any(
            has_value(self.names[source]) for source in node.all_input_nodes)

    def compute(self, node):
        """Folds an op of constant tensors, on the CPU; what depends on a
        tensor without values has none."""
        def place(key, given):
            return torch.device("cpu") if key == "device" else self.known(given)

        args = [self.known(given) for given in node.args]
        kwargs = {key: place(key, given) for key, given in node.kwargs.items()}
        if any(isinstance(x, torch.Tensor) and x.device.type == "meta"
               for x in flat([args, kwargs])):
            args, kwargs = torch_program.on_device((args, kwargs), "meta")
        try:
            with torch.no_grad():
                return node.target(*args, **kwargs)
        except MemoryError:
            raise
        except Exception as error:  # of many kinds, all of them PyTorch's
            raise Unsupported("cannot be computed in advance: "
                              f"{torch_program.first_line(error)}") from error

    def check(self, meta, result):
        """Shapes and types of the graph equal PyTorch's: an internal check."""
        if isinstance(meta, (list, tuple)):
            for one, made in zip(meta, result):
                self.check(one, made)
        elif isinstance(result, Pair):
            self.check(meta.real, result.re)
            self.check(meta.imag, result.im)
        elif isinstance(meta, torch.Tensor) and isinstance(result, Value):
            expected = (tuple(meta.shape), dtype_of(meta.dtype))
            if expected != (result.shape, result.dtype):
                raise Unsupported(f"became {result.dtype}{result.shape} in "
                                  f"place of {expected[1]}{expected[0]}")


def flat(tree):
    """The leaves of nested lists and dicts."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for branch in tree for leaf in flat(branch)]
    return [tree]


def has_value(known):
    return any(isinstance(x, (Value, Pair)) for x in flat(known))


def has_dynamic(meta):
    return torch_program.is_dynamic(meta) or isinstance(
        meta, (torch.SymInt, torch.SymFloat, torch.SymBool))


def is_complex(x):
    return isinstance(x, (Pair, complex)) or \
        isinstance(x, torch.Tensor) and x.is_complex()


NAMES = TABLE.keys() | torch_complex.TABLE.keys() | NO_WORK


def read_program(program, with_weights):
    names = set(NAMES)
    for node in program.graph.nodes:
        if node.op == "call_function" and "aten.lstm.input" in \
                str(node.target) and torch_rnn.is_projected(node):
            names -= {"lstm"}
            if node.meta["val"][1].dim() != 3:
                raise ExportError(f"PyTorch {torch.__version__} takes the "
                                  "state of an LSTM with proj_size for another "
                                  "shape; use a later one")
        if node.op == "call_function" and "aten.batch_norm" in \
                str(node.target) and node.args[5]:
            names -= {"batch_norm"}  # it writes running statistics
    program = torch_program.decompose(program, names)
    return Reader(program, with_weights).read()


def read_module(module, inputs, shapes, with_weights):
    """With the 0-d inputs that the module reads as constants."""
    values, whole = {}, module
    inputs = torch_inputs.in_order(module, inputs)
    if not shapes and torch_program.can_run(module, inputs):
        whole, values = torch_inputs.specialize(module, inputs)
    graph = read_by_export_or_trace(whole, inputs, shapes, with_weights)
    torch_inputs.restore_names(graph, module, inputs)
    for at, value in values.items():
        graph.inputs[at].attrs["fixed"] = str(value)
    return graph


def read_by_export_or_trace(module, inputs, shapes, with_weights):
    """By torch.export and, if that fails, by running the module once."""
    program = None
    try:
        program = torch_program.of_module(module, inputs, shapes)
        return read_program(program, with_weights)
    except ExportError as error:
        if not torch_program.can_run(module, inputs) or shapes:
            raise
        try:
            program = torch_trace.record(module, inputs, NAMES,
                                         without_branches=bool(program))
            return Reader(program, with_weights).read()
        except ExportError:
            raise error from error.__cause__


def read(module, inputs, shapes, with_weights=True):
    """Returns the graph of a module, with example inputs, or of a program."""
    torch_program.check_version()
    if isinstance(module, torch.export.ExportedProgram):
        program = torch_program.with_shapes(module, shapes)
        return read_program(program, with_weights)
    with torch_program.inference(module):
        return read_module(module, inputs, shapes, with_weights)


def read_file(path, shapes, with_weights=True):
    torch_program.check_version()
    program = torch_program.load(path)
    return read_program(torch_program.with_shapes(program, shapes),
                        with_weights)
