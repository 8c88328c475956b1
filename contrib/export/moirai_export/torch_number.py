# SPDX-License-Identifier: Apache-2.0
"""Numbers that are read from tensors (.item()) while the network runs.

They are tensors without dimensions: i64, f64 or boolean as Python's int, float
and bool.
"""
import operator

import torch

from . import ops
from .graph import Unsupported, Value

BINARY = {operator.add: "Add", operator.sub: "Subtract",
          operator.mul: "Multiply", operator.truediv: "Divide",
          operator.floordiv: "Divide", operator.mod: "FloorMod",
          torch.sym_max: "Maximum", torch.sym_min: "Minimum"}
COMPARE = {operator.eq: "Equal", operator.ne: "NotEqual",
           operator.lt: "Less", operator.le: "LessEqual",
           operator.gt: "Greater", operator.ge: "GreaterEqual"}
LOGICAL = {operator.and_: "LogicalAnd", operator.or_: "LogicalOr"}
TYPES = {bool: "boolean", int: "i64", float: "f64"}


def read(g, x):
    """The one element of a tensor, as a number."""
    x = ops.reshape(g, x, ())
    if x.dtype == "boolean":
        return x
    return ops.convert(g, x, "f64" if x.dtype in (
        "f64", "f32", "f16", "bf16") else "i64")


def example(number):
    """A number of Python of the same type, for PyTorch's inference."""
    kinds = {torch.SymInt: 1, torch.SymFloat: 1.0, torch.SymBool: True}
    return kinds.get(type(number), number)


def of_type(g, number, dtype):
    return ops.convert(g, number, dtype) if isinstance(number, Value) \
        else g.scalar(number, dtype)


def common_type(args):
    types = {x.dtype if isinstance(x, Value) else TYPES[type(x)]
             for x in args}
    return "f64" if "f64" in types else "i64"


def compute(g, function, args):
    """Python's arithmetic of numbers, some of which are Values."""
    if function is getattr(torch, "sym_sum", None):
        args = args[0]
    dtype = common_type(args)
    if function is operator.truediv or function is torch.sym_float:
        dtype = "f64"
    if function in LOGICAL or function in (torch.sym_not, operator.not_):
        dtype = "boolean"
    values = [of_type(g, x, dtype) for x in args]
    if function in COMPARE:
        return ops.compare(g, COMPARE[function], *values)
    if function in LOGICAL:
        return ops.point(g, LOGICAL[function], *values)
    if function in (torch.sym_not, operator.not_):
        return ops.point(g, "LogicalNot", *values)
    if function is torch.sym_float:
        return values[0]
    if function is operator.neg:
        return ops.point(g, "Negative", *values)
    if function is getattr(torch, "sym_sum", None):
        return ops.fold(g, "Add", values)
    if function is operator.floordiv and dtype == "i64":
        return ops.point(g, "Divide", *values, m_pythondiv=True)
    if function in BINARY:
        y = ops.point(g, BINARY[function], *values)
        return ops.point(g, "Floor", y) if function is operator.floordiv else y
    raise Unsupported("computes with a number that is read from a tensor, "
                      "which is not known before it runs")
