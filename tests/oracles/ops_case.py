# SPDX-License-Identifier: Apache-2.0
"""Random test cases of operators: registry and source of random inputs.

    @case("Concat")
    def _(c):
        ...
        return ops.concat([c.data(shape), c.data(other)], axis)

CASES maps an operator type to the functions that make a node of it.  Their
argument is a source of random numbers that also makes the node's inputs and
keeps their values.
"""
import numpy as np
import openvino.opset15 as ops

from infer_case import Random

CASES = {}

# Relative tolerance: sums of a few hundred products in another order, and
# functions approximated in other ways.
CLOSE = 2e-5
# Absolute tolerance: differences of nearly equal numbers near 1, as in
# Gelu(-5).
FLOOR = 1e-6
# One unit in the last place of the stored type, and a margin for results that
# are not rounded at the same places.
TYPES = {"f16": 2e-3, "bf16": 2e-2}

# A tensor of so many elements is divided among threads.
PARALLEL_ELEMENTS = 40000
# Types of operators that only copy elements; a type that is listed twice is
# chosen twice as often.
COPIED_TYPES = ["f32", "f32", "f16", "i32", "i64", "i8", "u8", "boolean"]


def case(*types):
    """Registers a function that makes a random node of these types."""
    def register(make):
        for kind in types:
            CASES.setdefault(kind, []).append(make)
        return make
    return register


def to_bf16(array):
    """Truncates to the precision of bf16."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return (bits & 0xffff0000).view(np.float32).reshape(array.shape)


NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "bf16": np.float32, "i64": np.int64, "i32": np.int32, "i16": np.int16,
    "i8": np.int8, "u64": np.uint64, "u32": np.uint32, "u16": np.uint16,
    "u8": np.uint8, "boolean": np.bool_,
}


class Case(Random):
    """One operator with its inputs."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name
        self.numbers = np.random.RandomState(self.randrange(2 ** 31))
        self.parameters = []    # OpenVINO nodes of the inputs
        self.values = []        # arrays of the inputs
        self.is_exact = False   # results must be bit-identical
        self.tolerance = CLOSE  # otherwise: relative
        # Type, inputs and attributes of an operator that OpenVINO lacks.
        self.foreign = None
        # Where the expected outputs come from: definition(*values) if it is
        # set; OpenVINO's reference code if evaluated, which computes oracle
        # instead of the node if it is set; otherwise OpenVINO's CPU plugin.
        self.definition = None
        self.evaluated = False
        self.oracle = None

    # -- shapes

    def maybe_empty(self, dims):
        """Makes one dimension 0 at times."""
        if dims and self.random() < 0.06:
            dims[self.randrange(len(dims))] = 0
        return dims

    def any_shape(self, low=0, high=4, most=6):
        """At times with many elements, enough for several threads."""
        dims = self.maybe_empty(self.dims(self.randint(low, high), 1, most))
        if dims and self.random() < 0.05:
            at = self.randrange(len(dims))
            dims[at] *= max(1, PARALLEL_ELEMENTS // max(1, int(np.prod(dims))))
        return dims

    def smaller(self, shape):
        """One that broadcasts to this one, of the same rank or less."""
        keep = self.randint(0, len(shape)) if self.random() < 0.5 else 0
        return [1 if self.random() < 0.3 else d for d in shape[keep:]]

    # -- types

    def real(self):
        return self.choice(["f32"] * 7 + ["f16", "f16", "bf16"])

    def number(self):
        return self.choice([self.real(), self.real(), "i32", "i64"])

    def integer(self):
        return self.choice(["i32", "i64"])

    # -- tensors

    def some(self, shape, dtype="f32", low=-3.0, high=3.0):
        """Random numbers as an array."""
        if dtype == "boolean":
            return self.numbers.rand(*shape) < 0.5
        if dtype[0] in "iu":
            low = max(low, 0) if dtype[0] == "u" else low
            made = self.numbers.randint(int(low), int(high) + 1, shape)
            return np.asarray(made, NUMPY[dtype])
        made = np.asarray(low + (high - low) * self.numbers.rand(*shape),
                          NUMPY[dtype])
        return to_bf16(made) if dtype == "bf16" else made

    def given(self, array, dtype=None):
        """An input that is computed elsewhere, with these values.  numpy has
        no bf16: such an input is converted."""
        array = np.asarray(array)
        parameter = ops.parameter(list(array.shape), array.dtype)
        self.parameters.append(parameter)
        self.values.append(array)
        if dtype != "bf16":
            return parameter
        self.tolerance = max(self.tolerance, TYPES["bf16"])
        return ops.convert(parameter, "bf16")

    def data(self, shape, dtype="f32", low=-3.0, high=3.0):
        self.tolerance = max(self.tolerance, TYPES.get(dtype, 0))
        return self.given(self.some(shape, dtype, low, high), dtype)

    def const(self, values, dtype="i64"):
        return ops.constant(np.asarray(values, NUMPY[dtype]))

    def ints(self, values):
        return self.const(values, self.integer())

    def either(self, shape, dtype="f32", low=-3.0, high=3.0):
        """A constant, as weights are, or an input like others."""
        if dtype == "bf16" or self.flag():
            return self.data(shape, dtype, low, high)
        self.tolerance = max(self.tolerance, TYPES.get(dtype, 0))
        return ops.constant(self.some(shape, dtype, low, high))

    # -- results

    def exact(self, node):
        """The results must be bit-identical."""
        self.is_exact = True
        return node

    def within(self, tolerance, node):
        """The results may differ by this relative tolerance."""
        self.tolerance = max(self.tolerance, tolerance)
        return node

    def stands_for(self, kind, inputs, attributes, node):
        """An operator that OpenVINO lacks, composed of those it has."""
        self.foreign = kind, inputs, attributes
        return node

    def by_reference(self, node, other=None):
        """Where OpenVINO's plugin is wrong: its reference code, which is the
        same on every processor, computes node, or other in its place."""
        self.evaluated, self.oracle = True, other
        return node

    def by_definition(self, node, compute):
        """Where OpenVINO deviates from its specification: compute(*values)
        returns the list of expected outputs; values are the arrays of the
        inputs that are not constant, in the order in which they were made."""
        self.definition = compute
        return node
