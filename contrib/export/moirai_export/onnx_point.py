# SPDX-License-Identifier: Apache-2.0
"""Elementwise ONNX operators."""
from . import ops
from .graph import REALS, Unsupported
from .onnx_types import dtype_of

UNARY = {"Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin",
         "Asinh": "Asinh", "Atan": "Atan", "Atanh": "Atanh", "Ceil": "Ceiling",
         "Cos": "Cos", "Cosh": "Cosh", "Erf": "Erf", "Exp": "Exp",
         "Floor": "Floor", "HardSwish": "HSwish", "Log": "Log", "Mish": "Mish",
         "Neg": "Negative", "Not": "LogicalNot", "Reciprocal": "Reciprocal",
         "Relu": "ReLU", "Sigmoid": "Sigmoid", "Sign": "Sign", "Sin": "Sin",
         "Sinh": "Sinh", "Softplus": "SoftPlus", "Softsign": "Softsign",
         "Sqrt": "Sqrt", "Tan": "Tan", "Tanh": "Tanh",
         "BitwiseNot": "BitwiseNot"}
BINARY = {"Add": "Add", "Sub": "Subtract", "Mul": "Multiply", "PRelu": "PReLU",
          "And": "LogicalAnd", "Or": "LogicalOr", "Xor": "LogicalXor",
          "BitwiseAnd": "BitwiseAnd", "BitwiseOr": "BitwiseOr",
          "BitwiseXor": "BitwiseXor"}
COMPARE = {"Equal": "Equal", "Less": "Less", "LessOrEqual": "LessEqual",
           "Greater": "Greater", "GreaterOrEqual": "GreaterEqual"}
MANY = {"Sum": "Add", "Max": "Maximum", "Min": "Minimum"}


def old_broadcast(op):
    """Before opset 7, the second operand was aligned at an axis of the first.
    """
    a, b = op.value(0), op.value(1)
    if op.version < 7 and op.attr("broadcast", 0) and "axis" in op.attrs:
        axis = ops.axis_of(op.attr("axis"), a.rank)
        b = ops.reshape(op.g, b, b.shape + (1,) * (a.rank - axis - b.rank))
    return a, b


def unary(op):
    return ops.point(op.g, UNARY[op.node.op_type], op.value(0))


def binary(op):
    return ops.point(op.g, BINARY[op.node.op_type], *old_broadcast(op))


def prelu(op):
    """The slope broadcasts as in numpy, not along channels."""
    x, slope = op.value(0), op.value(1)
    if slope.rank == 1 and slope.shape != (1,) and x.rank > 1:
        slope = ops.reshape(op.g, slope, (1,) * (x.rank - 1) + slope.shape)
    return ops.point(op.g, "PReLU", x, slope)


def compare(op):
    return ops.compare(op.g, COMPARE[op.node.op_type], *old_broadcast(op))


def many(op):
    return ops.fold(op.g, MANY[op.node.op_type], op.values())


def mean(op):
    values = op.values()
    total = ops.fold(op.g, "Add", values)
    return ops.with_number(op.g, "Divide", total, len(values))


def div(op):
    """Integers are truncated towards zero."""
    a, b = old_broadcast(op)
    if a.dtype in REALS:
        return ops.point(op.g, "Divide", a, b)
    return ops.point(op.g, "Divide", a, b, m_pythondiv=False)


def mod(op):
    kind = "Mod" if op.attr("fmod", 0) else "FloorMod"
    return ops.point(op.g, kind, op.value(0), op.value(1))


def power(op):
    a, b = old_broadcast(op)
    return ops.point(op.g, "Power", a, ops.convert(op.g, b, a.dtype))


def where(op):
    return ops.select(op.g, op.value(0), op.value(1), op.value(2))


def cast(op):
    x, dtype = op.value(0), dtype_of(op.attr("to"))
    if dtype == "boolean" and x.dtype in REALS:
        return ops.compare(op.g, "NotEqual", x, op.g.scalar(0, x.dtype))
    return ops.convert(op.g, x, dtype)


def cast_like(op):
    return ops.convert(op.g, op.value(0), op.value(1).dtype)


def clip(op):
    """Bounds were attributes, then inputs, which may be computed."""
    x = op.value(0)
    if op.version < 11:
        return ops.clamp(op.g, x, op.attr("min"), op.attr("max"))
    if all(op.array(i) is not None for i in (1, 2) if op.has(i)):
        return ops.clamp(op.g, x, op.number(1, "min"), op.number(2, "max"))
    if op.has(1):
        x = ops.point(op.g, "Maximum", x, op.value(1))
    return ops.point(op.g, "Minimum", x, op.value(2)) if op.has(2) else x


def leaky_relu(op):
    return ops.leaky(op.g, op.value(0), op.attr("alpha", 0.01))


def elu(op):
    return ops.point(op.g, "Elu", op.value(0), alpha=op.attr("alpha", 1.0))


def selu(op):
    x = op.value(0)
    alpha = op.attr("alpha", 1.67326319217681884765625)
    gamma = op.attr("gamma", 1.05070102214813232421875)
    return ops.point(op.g, "Selu", x, op.g.scalar(alpha, x.dtype),
                     op.g.scalar(gamma, x.dtype))


def hard_sigmoid(op):
    x = op.value(0)
    return ops.point(op.g, "HardSigmoid", x,
                     op.g.scalar(op.attr("alpha", 0.2), x.dtype),
                     op.g.scalar(op.attr("beta", 0.5), x.dtype))


def gelu(op):
    mode = "TANH" if op.attr("approximate", "none") == "tanh" else "ERF"
    return ops.point(op.g, "Gelu", op.value(0), approximation_mode=mode)


def swish(op):
    x = op.value(0)
    return ops.point(op.g, "Swish", x,
                     op.g.scalar(op.attr("alpha", 1.0), x.dtype))


def round_even(op):
    return ops.point(op.g, "Round", op.value(0), mode="half_to_even")


def is_nan(op):
    return ops.point(op.g, "IsNaN", op.value(0), dtype="boolean")


def is_inf(op):
    return ops.point(op.g, "IsInf", op.value(0), dtype="boolean",
                     detect_negative=bool(op.attr("detect_negative", 1)),
                     detect_positive=bool(op.attr("detect_positive", 1)))


def dropout(op):
    """Identity in inference."""
    if op.uses(1):
        raise Unsupported("somebody reads its mask")
    if op.number(2, "its training_mode", False):
        raise Unsupported("drops values, as in training")
    return op.value(0)


TABLE = {
    **dict.fromkeys(UNARY, unary), **dict.fromkeys(BINARY, binary),
    **dict.fromkeys(COMPARE, compare), **dict.fromkeys(MANY, many),
    "Cast": cast, "CastLike": cast_like, "Clip": clip, "Div": div,
    "Dropout": dropout, "Elu": elu, "Gelu": gelu, "HardSigmoid": hard_sigmoid,
    "Identity": lambda op: op.value(0), "IsInf": is_inf, "IsNaN": is_nan,
    "LeakyRelu": leaky_relu, "Mean": mean, "Mod": mod, "PRelu": prelu,
    "Pow": power, "Round": round_even, "Selu": selu, "Swish": swish,
    "Where": where,
}
