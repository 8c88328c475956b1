# SPDX-License-Identifier: Apache-2.0
"""Random types, shapes, values and attributes of an ONNX node, for
onnx_random.py.  Types are all those of the operator's schema; values include
infinities, NaN, negative zeros, denormals and the ends of integer types."""
import numpy as np
from onnx import defs, helper

TYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64,
    "tensor(float16)": np.float16, "tensor(bool)": np.bool_,
    **{f"tensor({n})": np.dtype(n).type for n in (
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
        "uint64")}}


def number(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class Drawn:
    """A node that is being drawn: its version, inputs and attributes."""

    def __init__(self, rng, kind, version, tame):
        self.rng, self.kind, self.version = rng, kind, version
        self.schema = defs.get_schema(kind, version, "")
        self.since = self.schema.since_version
        # No special values; or "mild", only zeros, infinities and NaN: sums of
        # large numbers overflow in one order and not in another.
        self.tame = tame
        self.inputs, self.attributes, self.known = [], {}, set()
        self.n_outputs = 1
        self.types = {}

    def pick(self, *items):
        return items[self.rng.integers(len(items))]

    def flag(self):
        return bool(self.rng.integers(2))

    def type(self, i=0):
        """The type of input i; inputs of one type variable have one type."""
        given = self.schema.inputs[min(i, len(self.schema.inputs) - 1)]
        if given.type_str not in self.types:
            choice = sorted(set(given.types) & set(TYPES))
            self.types[given.type_str] = TYPES[self.pick(*choice)]
        return self.types[given.type_str]

    def of(self, *dtypes):
        """Draws the type of input 0 among some of those it may have."""
        given = self.schema.inputs[0]
        choice = [d for d in dtypes
                  if f"tensor({helper_name(d)})" in given.types]
        self.types[given.type_str] = self.pick(*choice)
        return self.types[given.type_str]

    def shape(self, rank=None, most=4):
        rank = self.rng.integers(0, 4) if rank is None else rank
        return [int(n) for n in self.rng.integers(1, most + 1, rank)]

    def mild(self):
        self.tame = self.tame or "mild"

    def refused(self):
        """Whether Moirai refuses the node, in every graph."""
        return self.kind in ("Conv", "ConvTranspose") and \
            self.inputs[0].dtype == np.float64

    def values(self, dtype, shape):
        dtype, size = np.dtype(dtype), int(np.prod(shape, dtype=int))
        if dtype.kind == "b":
            flat = self.rng.integers(0, 2, size)
        elif dtype.kind == "f":
            flat = self.rng.normal(0, 2, size)
            if self.tame is not True:
                at = self.rng.integers(0, 3, size) == 0
                some = reals(dtype)
                if self.tame == "mild":
                    at &= self.rng.integers(0, 4, size) == 0
                    some = np.array([0., -0., 1, np.inf, -np.inf, np.nan])
                flat = np.where(at, self.rng.choice(some, size), flat)
        else:
            info = np.iinfo(dtype)
            low = -9 if info.min else 0
            flat = self.rng.integers(low, 10, size).astype(dtype)
            if not self.tame:
                at = self.rng.integers(0, 3, size) == 0
                flat = np.where(at, self.rng.choice(wholes(dtype), size), flat)
        with np.errstate(all="ignore"):
            return np.asarray(flat).astype(dtype).reshape(shape)

    def add(self, array, known=False):
        """Adds an input; known: the operator needs its value."""
        if known:
            self.known.add(len(self.inputs))
        self.inputs.append(array)
        return array

    def data(self, shape=None, i=None):
        i = len(self.inputs) if i is None else i
        shape = self.shape() if shape is None else shape
        return self.add(self.values(self.type(i), shape))

    def ints(self, numbers, dtype=np.int64):
        return self.add(np.array(numbers, dtype), True)

    def absent(self):
        self.inputs.append(None)

    def axis(self, rank):
        return int(self.rng.integers(-rank, rank)) if rank else 0

    def node(self, inputs, outputs):
        names = ["" if a is None else n for a, n in zip(self.inputs, inputs)]
        return helper.make_node(self.kind, names, outputs, **self.attributes)


def helper_name(dtype):
    return {"float32": "float", "float64": "double"}.get(
        np.dtype(dtype).name, np.dtype(dtype).name)


def reals(dtype):
    info = np.finfo(dtype)
    return np.array([0., -0., 1, -1, .5, -.5, 1.5, 2.5, -2.5, np.inf, -np.inf,
                     np.nan, -np.nan, info.max, info.min, info.tiny,
                     info.smallest_subnormal, -info.smallest_subnormal,
                     info.eps, 3.75, 1e-3, 100], "float64")


def wholes(dtype):
    info = np.iinfo(dtype)
    numbers = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.max // 2,
               info.max // 2 + 1, info.max // 2 + 5]
    if info.min:
        numbers += [-1, -2, -7, info.min + 1]
    if info.bits == 64:
        numbers += [2 ** 53 + 1, 2 ** 31, 2 ** 32 + 5, 10 ** 18 + 1]
    return np.array(numbers, dtype)
