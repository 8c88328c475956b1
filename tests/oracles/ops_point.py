# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators, for ops_oracle.py."""
import numpy as np
import openvino.opset4 as opset4
import openvino.opset10 as opset10
import openvino.opset15 as ops

from infer_point import BINARY, BITWISE, LOGICAL, UNARY
from ops_case import case

# Where a function is defined and not steep; -3 to 3 for the others.
DOMAIN = {
    "Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.9, 0.9), "Acosh": (1, 5),
    "Log": (0.01, 9), "Sqrt": (0, 9), "Tan": (-1.4, 1.4),
}
# No other function is defined for integers.
ALSO_INTEGERS = {"Abs", "Negative", "ReLU", "Sign", "Ceiling", "Floor"}
UNARIES = {("Softsign" if name == "SoftSign" else name): make
           for name, make in UNARY.items() if not name.startswith("Is")}


def unary(c, name):
    """SoftPlus of OpenVINO 2026.4's plugin is right to 1e-3 on arm64."""
    low, high = DOMAIN.get(name, (-3, 3))
    dtype = c.number() if name in ALSO_INTEGERS else c.real()
    if c.random() < 0.2 and name not in DOMAIN:
        low, high = -30, 30
    made = UNARIES[name](c.data(c.any_shape(), dtype, low, high))
    return c.by_reference(made) if name == "SoftPlus" else made


for kind in UNARIES:
    case(kind)(lambda c, name=kind: unary(c, name))


def special(c, dtype):
    """Numbers with NaN and infinities among them."""
    shape = c.any_shape()
    values = c.some(shape, dtype)
    odd = c.numbers.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
    return c.given(np.where(c.some(shape, "boolean"), values,
                            odd).astype(values.dtype))


@case("IsNaN")
def _(c):
    return ops.is_nan(special(c, "f32"))


@case("IsFinite")
def _(c):
    return ops.is_finite(special(c, "f32"))


@case("IsInf")
def _(c):
    return opset10.is_inf(special(c, "f32"),
                          {"detect_negative": c.flag(),
                           "detect_positive": c.flag()})


COMPARISONS = {"Equal", "NotEqual", "Less", "LessEqual", "Greater",
               "GreaterEqual"}


def operands(c, dtype, low, high, right_low=None):
    """Two that broadcast to each other, in either way."""
    shape = c.any_shape()
    left, right = c.smaller(shape), c.smaller(shape)
    if c.flag():
        left = shape
    if c.random() < 0.2:
        left = right = shape
    second = c.either(right, dtype, low if right_low is None else right_low,
                      high)
    return c.data(left, dtype, low, high), second


def binary(c, name):
    make = BINARY[name]
    low, high, right_low = -3, 3, None
    dtype = c.number()
    if name in COMPARISONS:
        dtype = c.choice([dtype, "i32", "boolean"])
        dtype = "i64" if dtype == "boolean" and "q" not in name else dtype
    if name in ("Divide", "Mod", "FloorMod"):
        low, high, right_low = -9, 9, 1
    if name == "Power":
        low, high = (0, 3) if dtype[0] == "i" else (0.1, 3)
    left, right = operands(c, dtype, low, high, right_low)
    if c.flag() and name in ("Divide", "Mod", "FloorMod"):
        right = ops.negative(right)
    made = make(left, right)
    if name == "Divide" and dtype[0] == "i":
        return divided(c, made)
    return made


def divided(c, made):
    """Quotients of integers are rounded down; OpenVINO's CPU plugin truncates
    them, with any value of m_pythondiv."""
    owner = made.input_value(1).get_node()
    sign = -1 if owner.get_type_name() == "Negative" else 1
    owner = owner.input_value(0).get_node() if sign < 0 else owner
    fixed = owner.data if owner.get_type_name() == "Constant" else None

    def compute(*values):
        left = values[-1]
        right = values[0] if fixed is None else fixed
        return [(left // (sign * right)).astype(left.dtype)]

    return c.by_definition(made, compute)


for kind in BINARY:
    case(kind)(lambda c, name=kind: binary(c, name))


@case("Power")
def _(c):
    exponent = c.choice([1, 2, 3, 0.5, -1, -0.5, 0, 4, 1.7, -2])
    shape = c.choice([[], [1], [1, 1]])
    low = -3 if exponent in (1, 2, 3, 4) else 0.2
    return ops.power(c.data(c.any_shape(2), "f32", low, 3),
                     c.const(np.full(shape, exponent), "f32"))


for kind, make_logical in LOGICAL.items():
    case(kind)(lambda c, make=make_logical:
               make(*operands(c, "boolean", 0, 1)))

for kind in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    case(kind)(lambda c, make=BITWISE[kind]:
               make(*operands(c, c.choice(["i32", "i64", "i8", "u8",
                                           "boolean"]), -100, 100)))


@case("LogicalNot")
def _(c):
    return ops.logical_not(c.data(c.any_shape(), "boolean"))


@case("BitwiseNot")
def _(c):
    dtype = c.choice(["i32", "i64", "i8", "u8", "boolean"])
    return ops.bitwise_not(c.data(c.any_shape(), dtype, -100, 100))


@case("Clamp")
def _(c):
    dtype = c.number()
    if dtype[0] == "i":
        low, high = c.choice([(-2, 2), (0, 1), (-1.0, 3.0), (-1.5, 1.5)])
    else:
        low, high = c.choice([(0, 6), (-1.5, 0.25), (1, 1), (-2, 2)])
    return ops.clamp(c.data(c.any_shape(), dtype, -9, 9), low, high)


@case("Convert")
def _(c):
    source = c.choice(["f32", "f16", "i32", "i64", "boolean", "u8", "i8"])
    target = c.choice(["f32", "f16", "i32", "i64", "boolean", "u8", "i8"])
    low = 0 if target[0] == "u" else -100
    return ops.convert(c.data(c.any_shape(), source, low, 100), target)


@case("ConvertLike")
def _(c):
    target = c.choice(["f32", "i32", "i64", "u8"])
    low = 0 if target[0] == "u" else -100
    return ops.convert_like(c.data(c.any_shape(), c.number(), low, 100),
                            c.either(c.any_shape(), target))


@case("Elu")
def _(c):
    return ops.elu(c.data(c.any_shape(), c.real()), c.choice([1.0, 0.3, 2.0]))


@case("Gelu")
def _(c):
    return ops.gelu(c.data(c.any_shape(), c.real(), -6, 6),
                    c.choice(["erf", "tanh"]))


@case("HardSigmoid")
def _(c):
    return ops.hard_sigmoid(c.data(c.any_shape(), "f32"),
                            c.const(c.choice([0.2, 0.5, -0.3]), "f32"),
                            c.const(c.choice([0.5, 0.1, 1.2]), "f32"))


@case("Selu")
def _(c):
    shape = c.choice([[], [1]])
    return ops.selu(c.data(c.any_shape(), "f32"),
                    c.const(np.full(shape, 1.6732), "f32"),
                    c.const(np.full(shape, c.choice([1.0507, 2])), "f32"))


@case("Round")
def _(c):
    data = c.some(c.any_shape(), "f32", -9, 9)
    if c.flag():
        data = np.round(data * 2) / 2
    return ops.round(c.given(data.astype(np.float32)),
                     c.choice(["half_to_even", "half_away_from_zero"]))


@case("Swish")
def _(c):
    data = c.data(c.any_shape(), "f32", -8, 8)
    return ops.swish(data) if c.flag() else opset4.swish(
        data, c.const(c.choice([1.0, 0.5, 2.5]), "f32"))


@case("PReLU")
def _(c):
    dtype = c.real()
    shape = c.any_shape(2)
    slope = c.choice([[shape[1]], [1], []])
    return ops.prelu(c.data(shape, dtype), c.either(slope, dtype))


@case("Select")
def _(c):
    dtype = c.number()
    shape = c.any_shape()
    return c.exact(ops.select(c.data(c.smaller(shape), "boolean"),
                              c.either(c.smaller(shape), dtype),
                              c.data(shape, dtype)))


@case("FakeQuantize")
def _(c):
    shape = c.any_shape(2)
    per_channel = [1, shape[1]] + [1] * (len(shape) - 2)
    limits = c.choice([[], [1], [1] * len(shape), per_channel])
    ends = c.choice([limits, [1] * len(shape)])
    bounds = [c.either(form, "f32", *span)
              for form in (limits, ends) for span in ((-3, -1), (1, 3))]
    return ops.fake_quantize(c.data(shape, "f32", -4, 4), *bounds,
                             c.choice([2, 3, 16, 255, 256]))


# Names that other frameworks have

@case("LeakyReLU")
def _(c):
    data = c.data(c.any_shape(), c.real())
    slope = c.choice([0.01, 0.2, 1.5])
    attributes = c.choice([{"negative_slope": slope}, {"alpha": slope}])
    if slope == 0.01 and c.flag():
        attributes = {}
    factor = ops.convert_like(c.const(slope, "f32"), data)
    return c.stands_for("LeakyReLU", [data], attributes,
                        ops.prelu(data, factor))


@case("MaskedFill")
def _(c):
    shape = c.any_shape()
    data = c.data(shape, "f32")
    mask = c.data(c.smaller(shape), "boolean")
    if c.flag():
        fill = c.data([], "f32")
        inputs, attributes = [data, mask, fill], {}
    else:
        value = c.choice([0, -1.5, "-inf"])
        fill = c.const(float(value), "f32")
        inputs, attributes = [data, mask], {"value": value}
    return c.stands_for("MaskedFill", inputs, attributes,
                        ops.select(mask, fill, data))


@case("Reciprocal")
def _(c):
    data = c.data(c.any_shape(), "f32", 0.2, 3)
    return c.stands_for("Reciprocal", [data], {},
                        ops.divide(c.const(1, "f32"), data))


@case("ReLU6")
def _(c):
    data = c.data(c.any_shape(), c.real(), -9, 9)
    return c.stands_for("ReLU6", [data], {}, ops.clamp(data, 0, 6))


@case("Rsqrt")
def _(c):
    data = c.data(c.any_shape(), "f32", 0.2, 9)
    return c.stands_for("Rsqrt", [data], {},
                        ops.divide(c.const(1, "f32"), ops.sqrt(data)))


@case("Square")
def _(c):
    data = c.data(c.any_shape(), c.number())
    return c.stands_for("Square", [data], {}, ops.multiply(data, data))


@case("BitwiseLeftShift", "BitwiseRightShift")
def _(c):
    make = (ops.bitwise_left_shift if c.name.startswith("BitwiseLeft")
            else ops.bitwise_right_shift)
    shape = c.any_shape()
    dtype = c.choice(["i32", "i64", "u8"])
    return make(c.data(shape, dtype, 0, 99),
                c.data(c.smaller(shape), dtype, 0, 7))
