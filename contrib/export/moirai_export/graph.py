# SPDX-License-Identifier: Apache-2.0
"""The exported graph: ops with OpenVINO's names and semantics.

Front ends read a framework's network and add its ops in topological order; all
shapes are static, so every output has a known shape and dtype.  Nothing here
depends on a framework.
"""
import math
import struct

# Bytes of an element, by its name in moirai-graph(5).
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2,
         "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "boolean": 1}
REALS = ("f64", "f32", "f16", "bf16")
PACKED = {"f64": "d", "f32": "f", "f16": "e", "i64": "q", "i32": "i",
          "i16": "h", "i8": "b", "u64": "Q", "u32": "I", "u16": "H", "u8": "B",
          "boolean": "?"}


class ExportError(Exception):
    """The network cannot be exported; the text is one line for the user,
    whatever names and other errors it quotes.  code is the exit status."""

    def __init__(self, text, code=1):
        super().__init__(" ".join(text.split()))
        self.code = code


class Unsupported(Exception):
    """One op cannot be translated; the text is the reason."""


def count(shape):
    """Elements of a tensor."""
    product = 1
    for size in shape:
        product *= size
    return product


class Data:
    """Bytes of a constant, made when they are written; views share them."""

    def __init__(self, read):
        self.read = read


class Node:
    """An op, or a constant where data is given."""

    def __init__(self, name, op, inputs, outputs, attrs, data=None):
        self.name = name
        self.op = op
        self.inputs = inputs
        self.outputs = outputs  # (shape, dtype) of each
        self.attrs = attrs
        self.data = data
        self.state = None  # the name of the state that an input or output is


class Value:
    """One output of a node."""

    def __init__(self, node, port=0):
        self.node = node
        self.port = port
        self.shape, self.dtype = node.outputs[port]

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_constant(self):
        return self.node.data is not None


class Graph:
    """Ops in the order in which they were added."""

    def __init__(self):
        self.nodes = []
        self.results = []
        self.scope = "op"
        self._names = {}
        self._small = {}

    def begin(self, name):
        """Ops added from here on are named after this op of the source."""
        self.scope = name or "op"

    def reserve(self, names):
        """Reserves the names of inputs and outputs."""
        for name in names:
            self._names.setdefault(name, 1)

    def unique(self, name):
        """The name, with a number appended if it is taken."""
        if name not in self._names:
            self._names[name] = 1
            return name
        while True:
            self._names[name] += 1
            candidate = f"{name}#{self._names[name]}"
            if candidate not in self._names:
                self._names[candidate] = 1
                return candidate

    def rename(self, node, name):
        """Gives a node another name, unless that is taken."""
        if name not in self._names:
            self._names[name] = 1
            node.name = name

    def _put(self, op, inputs, outputs, attrs, data=None, name=None):
        for _, dtype in outputs:
            if dtype not in SIZES:
                raise Unsupported(f"has elements of type {dtype}")
        outputs = [(tuple(int(size) for size in shape), dtype)
                   for shape, dtype in outputs]
        if any(size < 0 for shape, _ in outputs for size in shape):
            raise Unsupported(f"makes a tensor of {outputs[0][0]}")
        node = Node(name or self.unique(self.scope), op, list(inputs), outputs,
                    attrs, data)
        self.nodes.append(node)
        return node

    def add(self, op, inputs, shape, dtype, **attrs):
        """An op with one output, which is returned."""
        return Value(self._put(op, inputs, [(shape, dtype)], attrs))

    def add_many(self, op, inputs, outputs, **attrs):
        """An op with several outputs, given by shape and dtype."""
        node = self._put(op, inputs, outputs, attrs)
        return [Value(node, port) for port in range(len(outputs))]

    @property
    def inputs(self):
        return [node for node in self.nodes if node.op == "Parameter"]

    def parameter(self, name, shape, dtype):
        """The next input of the network; its name was reserved."""
        index = len(self.inputs)
        return Value(self._put("Parameter", [], [(shape, dtype)],
                               {"index": index}, name=name))

    def result(self, name, value):
        """The next output of the network; its name was reserved, but an input
        may have it as well, or another output."""
        taken = any(node.name == name for node in self.nodes
                    if node.op in ("Parameter", "Result"))
        node = self._put("Result", [value], [(value.shape, value.dtype)],
                         {"index": len(self.results)},
                         name=self.unique(name) if taken else name)
        self.results.append(node)

    def constant(self, read, shape, dtype, name=None):
        """A constant whose bytes read() returns."""
        node = self._put("Const", [], [(shape, dtype)], {}, Data(read),
                         self.unique(name) if name else None)
        return Value(node)

    def view(self, value, shape):
        """A constant's bytes with another shape; nothing is copied."""
        node = value.node
        return Value(self._put("Const", [], [(shape, value.dtype)], {},
                               node.data, self.unique(node.name)))

    def numbers(self, numbers, dtype, shape=None):
        """A small constant of these numbers; equal ones are shared."""
        numbers = list(numbers)
        shape = (len(numbers),) if shape is None else tuple(shape)
        key = (tuple(map(repr, numbers)), dtype, shape)
        if key not in self._small:
            raw = pack(numbers, dtype)
            self._small[key] = self.constant(lambda: raw, shape, dtype,
                                             f"{dtype} constant")
        return self._small[key]

    def ints(self, numbers, shape=None):
        return self.numbers(map(int, numbers), "i64", shape)

    def scalar(self, number, dtype):
        return self.numbers([number], dtype, ())

    def needed(self):
        """Nodes that a result depends on, and all inputs, in order."""
        seen = {id(node) for node in self.nodes if node.op == "Parameter"}
        stack = list(self.results)
        while stack:
            node = stack.pop()
            if id(node) not in seen:
                seen.add(id(node))
                stack += [value.node for value in node.inputs]
        return [node for node in self.nodes if id(node) in seen]


def saturated(number, dtype):
    """A number as a real type has it: what is too large is infinite."""
    number = float(number)
    limit = {"f16": 65519.99, "f32": 3.4028235677973366e38}.get(dtype)
    if limit and abs(number) > limit:
        return math.copysign(math.inf, number)
    return number


def pack(numbers, dtype):
    """Numbers as the bytes of a tensor, little-endian."""
    if dtype == "bf16":
        return b"".join(pack_bf16(x) for x in numbers)
    if dtype in REALS:
        numbers = [saturated(x, dtype) for x in numbers]
    elif dtype != "boolean":
        bits = 8 * SIZES[dtype]
        numbers = [int(x) % 2 ** bits for x in numbers]
        if dtype[0] == "i":
            numbers = [x - 2 ** bits if x >> (bits - 1) else x
                       for x in numbers]
    return struct.pack(f"<{len(numbers)}{PACKED[dtype]}", *numbers)


def pack_bf16(number):
    """Rounded to the nearest, ties to even."""
    bits, = struct.unpack("<I", struct.pack("<f", saturated(number, "f32")))
    if number == number and abs(number) != math.inf:
        bits += 0x7fff + (bits >> 16 & 1)
    return struct.pack("<H", bits >> 16)
