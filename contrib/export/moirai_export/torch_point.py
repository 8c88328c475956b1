# SPDX-License-Identifier: Apache-2.0
"""Elementwise ATen ops."""
import math

from . import ops
from .graph import REALS, Unsupported

UNARY = {"abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin",
         "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh", "ceil": "Ceiling",
         "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp",
         "floor": "Floor", "hardsigmoid": "HSigmoid", "hardswish": "HSwish",
         "log": "Log", "logical_not": "LogicalNot", "mish": "Mish",
         "neg": "Negative", "bitwise_not": "BitwiseNot",
         "reciprocal": "Reciprocal", "relu": "ReLU", "sgn": "Sign",
         "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh",
         "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh"}
BINARY = {"mul": "Multiply", "maximum": "Maximum", "minimum": "Minimum",
          "pow": "Power", "remainder": "FloorMod", "fmod": "Mod",
          "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr",
          "bitwise_xor": "BitwiseXor"}
COMPARE = {"eq": "Equal", "ne": "NotEqual", "lt": "Less", "le": "LessEqual",
           "gt": "Greater", "ge": "GreaterEqual"}
LOGICAL = {"logical_and": "LogicalAnd", "logical_or": "LogicalOr",
           "logical_xor": "LogicalXor"}


def unary(op):
    """PyTorch promotes integers to reals if required."""
    x = op.value("self")
    kind = UNARY[op.name]
    if kind != "LogicalNot":
        x = ops.convert(op.g, x, op.dtype)
    return ops.point(op.g, kind, x, dtype=op.dtype)


def base(op):
    """The first of two, which pow calls by another name where it is one
    number."""
    return "self" if "self" in op.args else "input"


def binary(op):
    second = "exponent" if op.name == "pow" else "other"
    return ops.point(op.g, BINARY[op.name], op.operand(base(op), op.dtype),
                     op.operand(second, op.dtype))


def compare(op):
    dtype = op.common_type("self", "other")
    return ops.compare(op.g, COMPARE[op.name], op.operand("self", dtype),
                       op.operand("other", dtype))


def logical(op):
    return ops.point(op.g, LOGICAL[op.name], op.operand("self", "boolean"),
                     op.operand("other", "boolean"))


def sum_or_difference(op):
    """self + alpha other, or minus."""
    a, b = op.operand("self", op.dtype), op.operand("other", op.dtype)
    if op.get("alpha", 1) != 1:
        b = ops.with_number(op.g, "Multiply", b, op["alpha"])
    if op.name == "rsub":
        a, b = b, a
    if op.dtype == "boolean":
        return ops.point(op.g, "LogicalOr", a, b)
    return ops.point(op.g, "Add" if op.name == "add" else "Subtract", a, b)


def divide(op):
    a, b = op.operand("self", op.dtype), op.operand("other", op.dtype)
    rounding = op.get("rounding_mode")
    if op.name == "floor_divide":
        rounding = "floor"
    if op.dtype not in REALS:
        return ops.point(op.g, "Divide", a, b, m_pythondiv=rounding == "floor")
    y = ops.point(op.g, "Divide", a, b)
    if rounding == "floor":
        return ops.point(op.g, "Floor", y)
    return truncate(op.g, y) if rounding == "trunc" else y


def truncate(g, x):
    """Towards zero: the sign times the whole part."""
    whole = ops.point(g, "Floor", ops.point(g, "Abs", x))
    return ops.point(g, "Multiply", ops.point(g, "Sign", x), whole)


def trunc(op):
    return truncate(op.g, op.value("self"))


def rsqrt(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    return ops.with_number(op.g, "Power", x, -0.5)


def square(op):
    x = op.value("self")
    return ops.point(op.g, "Multiply", x, x)


def log1p(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    return ops.point(op.g, "Log", ops.with_number(op.g, "Add", x, 1))


def expm1(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    return ops.with_number(op.g, "Subtract", ops.point(op.g, "Exp", x), 1)


def logarithm_to(number):
    def translate(op):
        x = ops.convert(op.g, op.value("self"), op.dtype)
        return ops.with_number(op.g, "Multiply", ops.point(op.g, "Log", x),
                               1 / math.log(number))
    return translate


def exp2(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    return ops.point(op.g, "Power", op.g.scalar(2, op.dtype), x)


def round_even(op):
    if op.get("decimals", 0):
        raise Unsupported("rounds to decimals")
    return ops.point(op.g, "Round", op.value("self"), mode="half_to_even")


def is_nan(op):
    return ops.point(op.g, "IsNaN", op.value("self"), dtype="boolean")


def is_inf(op):
    return ops.point(op.g, "IsInf", op.value("self"), dtype="boolean",
                     detect_negative=True, detect_positive=True)


def clamp(op):
    """Between numbers, or tensors; either may be left out."""
    x = ops.convert(op.g, op.value("self"), op.dtype)
    bounds = [op.get("min"), op.get("max")]
    if all(b is None or isinstance(b, (int, float)) for b in bounds):
        return ops.clamp(op.g, x, *bounds)
    for name, kind in (("min", "Maximum"), ("max", "Minimum")):
        if op.has(name):
            x = ops.point(op.g, kind, x, op.operand(name, op.dtype))
    return x


def hardtanh(op):
    return ops.clamp(op.g, op.value("self"), op["min_val"], op["max_val"])


def relu6(op):
    return ops.clamp(op.g, op.value("self"), 0, 6)


def silu(op):
    return ops.point(op.g, "Swish", op.value("self"))


def gelu(op):
    mode = "TANH" if op["approximate"] == "tanh" else "ERF"
    return ops.point(op.g, "Gelu", op.value("self"), approximation_mode=mode)


def elu(op):
    if op.get("scale", 1) != 1 or op.get("input_scale", 1) != 1:
        return selu(op)
    return ops.point(op.g, "Elu", op.value("self"), alpha=op["alpha"])


def selu(op):
    """Scaled; PyTorch's selu has its numbers in these arguments."""
    x = op.value("self")
    if op["input_scale"] != 1:
        raise Unsupported("scales its input")
    return ops.point(op.g, "Selu", x, op.g.scalar(op["alpha"], x.dtype),
                     op.g.scalar(op["scale"], x.dtype))


def leaky_relu(op):
    return ops.leaky(op.g, op.value("self"), op["negative_slope"])


def prelu(op):
    """PyTorch's slopes are those of channels; of its kernel, they broadcast."""
    x, slope = op.value("self"), op.value("weight")
    if op.name == "prelu" and x.rank > 1:
        slope = ops.channels(op.g, slope, x.rank)
    return ops.point(op.g, "PReLU", x, slope)


def softplus(op):
    """log(1 + exp(beta x)) / beta; PyTorch's threshold only saves time."""
    x, beta = op.value("self"), op["beta"]
    if beta == 1:
        return ops.point(op.g, "SoftPlus", x)
    y = ops.point(op.g, "SoftPlus", ops.with_number(op.g, "Multiply", x, beta))
    return ops.with_number(op.g, "Divide", y, beta)


def convert(op):
    """To another type; to another device is the identity here."""
    x = op.value("self")
    if op.dtype == "boolean" and x.dtype in REALS:
        return ops.compare(op.g, "NotEqual", x, op.g.scalar(0, x.dtype))
    return ops.convert(op.g, x, op.dtype)


def where(op):
    if not op.has("self"):
        raise Unsupported("finds what is true, which has no fixed size")
    return ops.select(op.g, op.operand("condition", "boolean"),
                      op.operand("self", op.dtype),
                      op.operand("other", op.dtype))


def masked_fill(op):
    mask = op.operand("mask", "boolean")
    fill = op.operand("value", op.dtype)
    return ops.select(op.g, mask, fill, op.value("self"))


def full_like(op):
    """A number all over; of what, only the shape matters."""
    number = {"zeros_like": 0, "ones_like": 1}.get(op.name)
    number = op.number("fill_value") if number is None else number
    return ops.broadcast(op.g, op.g.scalar(number, op.dtype), op.shape)


def nothing(op):
    """Copies, and ops that are the identity in inference."""
    if op.get("train", False) and op.get("p", 1):
        raise Unsupported("drops values, as in training")
    return op.value("input" if "input" in op.args else "self")


def native_dropout(op):
    return [nothing(op), None]


TABLE = {
    **dict.fromkeys(UNARY, unary), **dict.fromkeys(BINARY, binary),
    **dict.fromkeys(COMPARE, compare), **dict.fromkeys(LOGICAL, logical),
    **dict.fromkeys(("add", "sub", "rsub"), sum_or_difference),
    **dict.fromkeys(("div", "floor_divide"), divide),
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max"), clamp),
    **dict.fromkeys(("clone", "contiguous", "detach", "alias", "dropout",
                     "lift_fresh_copy"), nothing),
    **dict.fromkeys(("full_like", "zeros_like", "ones_like"), full_like),
    "_to_copy": convert, "elu": elu, "exp2": exp2, "expm1": expm1,
    "gelu": gelu, "hardtanh": hardtanh, "isinf": is_inf, "isnan": is_nan,
    "leaky_relu": leaky_relu, "log10": logarithm_to(10), "log1p": log1p,
    "log2": logarithm_to(2), "masked_fill": masked_fill,
    "native_dropout": native_dropout, "prelu": prelu, "_prelu_kernel": prelu,
    "relu6": relu6, "round": round_even, "rsqrt": rsqrt, "silu": silu,
    "softplus": softplus, "square": square, "trunc": trunc, "where": where,
}
