# SPDX-License-Identifier: Apache-2.0
"""Cases of infer_models.py: small expressions over shapes, the values of which
become shapes again.
"""
import openvino.opset15 as ops

from infer_case import KINDS, case, const, data

# Values
#
# A value becomes visible as the shape of what is broadcast to it.

def visible(value):
    """A tensor with the items of value, at most eight, as its shape."""
    small = ops.floor_mod(ops.convert(value, "i64"), const(50))
    flat = ops.reshape(ops.add(small, const(1)), const([-1]), False)
    return ops.broadcast(const(0), flat)


def sizes_of(r, count, low=1):
    """count integers that are known by ShapeOf only."""
    return ops.shape_of(data(r.dims(count, low, 9)),
                        r.choice(["i64", "i32"]))


@case("value of arithmetic")
def _(r):
    make = r.choice([ops.add, ops.subtract, ops.multiply, ops.divide,
                     ops.floor_mod, ops.mod, ops.maximum, ops.minimum,
                     ops.power])
    count = r.randint(1, 4)
    left = sizes_of(r, count)
    kind = left.get_element_type().to_dtype()
    right = const(r.dims(r.choice([1, count]), 1, 4), kind)
    sign = const(r.choice([1, -1]), kind)
    if make is not ops.power:
        left = ops.multiply(left, sign)
    return visible(make(left, right))


@case("value of float arithmetic")
def _(r):
    make = r.choice([ops.add, ops.subtract, ops.multiply, ops.divide,
                     ops.floor_mod, ops.maximum, ops.minimum])
    turn = r.choice([ops.floor, ops.ceiling, ops.abs, ops.negative, ops.sqrt,
                     ops.relu, ops.sign])
    kind = r.choice(["f32", "f32", "f16"])
    count = r.randint(1, 4)
    left = ops.convert(sizes_of(r, count), kind)
    factor = const([r.choice([0.5, 0.1, 3.0, 1.3]) for _ in range(count)],
                   KINDS[kind])
    return visible(ops.convert(turn(ops.abs(make(left, factor))), "i64"))


@case("value of comparisons")
def _(r):
    make = r.choice([ops.equal, ops.not_equal, ops.less, ops.less_equal,
                     ops.greater, ops.greater_equal])
    both = r.choice([ops.logical_and, ops.logical_or, ops.logical_xor])
    sizes = ops.convert(sizes_of(r, 4), "i64")
    middle = const(r.randint(3, 7))
    holds = both(make(sizes, middle),
                 ops.logical_not(ops.less(sizes, const(4))))
    return visible(ops.select(holds, sizes, ops.negative(sizes)))


@case("value of moves")
def _(r):
    sizes = ops.convert(sizes_of(r, 6), "i64")
    table = ops.reshape(sizes, const([2, 3]), False)
    return visible(r.choice([
        lambda: ops.gather(table, const([-1, 0]), const(1)),
        lambda: ops.gather(table, const(1), const(0)),
        lambda: ops.gather(ops.concat([table, const([[7], [8]])], 1),
                           const([3, 0]), const(1)),
        lambda: ops.transpose(table, const([1, 0])),
        lambda: ops.slice(table, const([2]), const([-9]), const([-2]),
                          const([1])),
        lambda: ops.strided_slice(table, const([0, -1]), const([0, -4]),
                                  const([1, -1]), [1, 0], [1, 0], [0, 0],
                                  [0, 0], [0, 0]),
        lambda: ops.strided_slice(table, const([1, 1]), const([2, 2]),
                                  const([1, 1]), [0, 0], [0, 1], [0, 0],
                                  [1, 0], [0, 0]),
        lambda: ops.tile(ops.gather(table, const([1]), const(0)),
                         const([2, 1])),
        lambda: ops.broadcast(ops.gather(table, const([1]), const(0)),
                              const([2, 3])),
        lambda: ops.broadcast(ops.gather(table, const(1), const(0)),
                              const([3, 2]), const([0]), "explicit"),
        lambda: ops.squeeze(ops.unsqueeze(table, const([0, -1])),
                            const([0])),
    ])())


@case("value of splits")
def _(r):
    sizes = ops.convert(sizes_of(r, 6), "i64")
    if r.flag():
        return visible(ops.split(sizes, const(0), 3).output(r.randrange(3)))
    lengths = r.choice([[1, -1, 2], [-1, 1, 2], [1, 2, 3], [4, 2, -1]])
    parts = ops.variadic_split(sizes, const(0), const(lengths))
    return visible(parts.output(r.randrange(3)))


@case("value of reductions")
def _(r):
    make = r.choice([ops.reduce_sum, ops.reduce_prod, ops.reduce_max,
                     ops.reduce_min, ops.reduce_mean])
    table = ops.reshape(sizes_of(r, 6), const([2, 3]), False)
    return visible(make(table, const(r.choice([[0], [1], [-1], [0, 1]])),
                        r.flag()))


@case("value of ranges")
def _(r):
    size = ops.gather(sizes_of(r, 2), const(0), const(0))
    kind = size.get_element_type().to_dtype()
    start, by = const(r.randint(-2, 2), kind), const(r.randint(2, 3), kind)
    return visible(ops.range(start, size, by, "i64"))


@case("value of conversions")
def _(r):
    values = {"i64": [-1, 70000, 7], "i32": [-1, 70000, 7], "u8": [255, 0, 7],
              "i8": [-128, 127, 7], "i16": [-1, 300, 7],
              "u16": [65535, 300, 7], "u32": [70000, 0, 7],
              "u64": [70000, 0, 7], "boolean": [True, False, True],
              "f32": [1.5, 2.9, 7.0], "f16": [1.5, 2.9, 7.0],
              "f64": [1.5, 2.9, 7.0]}
    kind = r.choice(sorted(values))
    tensor = const(values[kind], KINDS[kind])
    narrow = r.choice(["i64", "i32", "f32"])
    shift = ops.convert(sizes_of(r, 3), narrow)
    return visible(ops.convert(ops.add(ops.convert(tensor, narrow), shift),
                               "i64"))


@case("value of conversions")
def _(r):
    """An integer that does not fit wraps around."""
    tensor = const([2 ** 40 + 9, -2 ** 40 - 9, 2 ** 32 - 1])
    narrow = r.choice(["i32", "i16", "u8", "i8"])
    shift = ops.convert(sizes_of(r, 3), "i64")
    return visible(ops.add(ops.convert(ops.convert(tensor, narrow), "i64"),
                           shift))
