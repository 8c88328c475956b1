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
          "bitwise_xor": "BitwiseXor", "__and__": "BitwiseAnd",
          "__or__": "BitwiseOr", "__xor__": "BitwiseXor",
          "bitwise_left_shift": "BitwiseLeftShift",
          "bitwise_right_shift": "BitwiseRightShift",
          "__lshift__": "BitwiseLeftShift", "__rshift__": "BitwiseRightShift"}
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
    x, decimals = op.value("self"), op.get("decimals", 0)
    if x.dtype not in REALS:
        return x
    if decimals:
        x = ops.with_number(op.g, "Multiply", x, 10.0 ** decimals)
    y = ops.point(op.g, "Round", x, mode="half_to_even")
    return ops.with_number(op.g, "Divide", y, 10.0 ** decimals) \
        if decimals else y


def atan2(op):
    return ops.atan2(op.g, op.operand("self", op.dtype),
                     op.operand("other", op.dtype))


def hypot(op):
    squares = []
    for name in ("self", "other"):
        x = op.operand(name, op.dtype)
        squares.append(ops.point(op.g, "Multiply", x, x))
    return ops.point(op.g, "Sqrt", ops.point(op.g, "Add", *squares))


def is_negative(g, x):
    """With the sign bit, which minus zero has, too."""
    if x.dtype not in REALS:
        return ops.compare(g, "Less", x, g.scalar(0, x.dtype))
    inverse = ops.point(g, "Divide", g.scalar(1, x.dtype), x)
    return ops.point(g, "LogicalOr",
                     ops.compare(g, "Less", x, g.scalar(0, x.dtype)),
                     ops.compare(g, "Less", inverse, g.scalar(0, x.dtype)))


def sign_bit(op):
    return is_negative(op.g, op.value("self"))


def copy_sign(op):
    size = ops.point(op.g, "Abs", op.operand("self", op.dtype))
    return ops.select(op.g, is_negative(op.g, op.operand("other", op.dtype)),
                      ops.point(op.g, "Negative", size), size)


def without_nan(op):
    """The larger or smaller; of a NaN and a number, the number."""
    a, b = (op.operand(name, op.dtype) for name in ("self", "other"))
    kind = {"fmax": "Maximum", "fmin": "Minimum"}[op.name]
    y = ops.point(op.g, kind, a, b)
    if op.dtype not in REALS:
        return y
    for one, other in ((a, b), (b, a)):
        nan = ops.point(op.g, "IsNaN", one, dtype="boolean")
        y = ops.select(op.g, nan, other, y)
    return y


def copy(op):
    """The source, in the shape and type of what it overwrites."""
    source = ops.convert(op.g, op.value("src"), op.dtype)
    return ops.broadcast(op.g, source, op.shape)


def rrelu(op):
    """In inference, the slope is the mean of its range."""
    if op["training"]:
        raise Unsupported("is in training mode")
    slope = (op.number("lower") + op.number("upper")) / 2
    y = ops.leaky(op.g, op.value("self"), slope)
    return [y, None] if "functional" in op.name else y


def randomness(op):
    raise Unsupported("draws random numbers, which would differ from "
                      "PyTorch's; make them an input")


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
    """log(1 + exp(beta x)) / beta, and x where beta x is above a threshold:
    the usual one changes nothing."""
    x, beta, threshold = op.value("self"), op["beta"], op["threshold"]
    inner = x if beta == 1 else ops.with_number(op.g, "Multiply", x, beta)
    y = ops.point(op.g, "SoftPlus", inner)
    y = y if beta == 1 else ops.with_number(op.g, "Divide", y, beta)
    if threshold >= 20:
        return y
    above = ops.compare(op.g, "Greater", inner,
                        op.g.scalar(threshold, x.dtype))
    return ops.select(op.g, above, x, y)


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


NUMBERS = {"zeros_like": 0, "ones_like": 1, "new_zeros": 0, "new_ones": 1,
           "empty_like": 0, "new_empty": 0}


def full_like(op):
    """A number all over; of what, only the shape matters."""
    number = NUMBERS.get(op.name)
    value = op.operand("fill_value", op.dtype) if number is None \
        else op.g.scalar(number, op.dtype)
    return ops.broadcast(op.g, value, op.shape)


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
                     "lift_fresh_copy", "lift_fresh", "detach_copy",
                     "alias_copy", "feature_dropout", "alpha_dropout",
                     "resolve_conj", "resolve_neg", "positive"), nothing),
    **dict.fromkeys(("full", "full_like", "new_full", *NUMBERS), full_like),
    **dict.fromkeys(("_to_copy", "to", "type_as",
                     "_autocast_to_reduced_precision",
                     "_autocast_to_full_precision"), convert),
    **dict.fromkeys(("fmax", "fmin"), without_nan),
    **dict.fromkeys(("rrelu_with_noise", "rrelu_with_noise_functional"),
                    rrelu),
    **dict.fromkeys(("rand", "randn", "rand_like", "randn_like", "bernoulli",
                     "randint", "randint_like", "normal", "normal_functional",
                     "uniform", "exponential", "multinomial", "randperm"),
                    randomness),
    "atan2": atan2, "copy": copy, "copysign": copy_sign,
    "hypot": hypot, "signbit": sign_bit, "elu": elu, "exp2": exp2,
    "expm1": expm1,
    "gelu": gelu, "hardtanh": hardtanh, "isinf": is_inf, "isnan": is_nan,
    "leaky_relu": leaky_relu, "log10": logarithm_to(10), "log1p": log1p,
    "log2": logarithm_to(2), "masked_fill": masked_fill,
    "native_dropout": native_dropout, "prelu": prelu, "_prelu_kernel": prelu,
    "relu6": relu6, "round": round_even, "rsqrt": rsqrt, "silu": silu,
    "softplus": softplus, "square": square, "trunc": trunc, "where": where,
}
