# SPDX-License-Identifier: Apache-2.0
"""Networks with dynamic dimensions, with random weights, as ONNX.

    dynamic_models.py FOLDER [CASE/]N,L ...

writes FOLDER/NAME.onnx for each network and, in FOLDER/NAME, --shape as the
file shape.INPUT, of batches and lengths without CASE, and for each of them
[CASE/]N,L/INPUT=.npy and the outputs of ONNX Runtime.
"""
import pathlib
import sys

import numpy

# By network: its inputs with the symbols of their dimensions, its outputs, its
# weights, and its nodes.  Symbols: N, the batch, and L, the length.
NETWORKS = {
    "cnn": ("float[N,3,16,16] x", "float[N,7] y",
            {"w": (8, 3, 3, 3), "b": (8,), "v": (12, 8, 3, 3), "d": (12, 7)},
            """a = Conv<pads=[1,1,1,1]>(x, w, b)
               r = Relu(a)
               p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)
               c = Conv<pads=[1,1,1,1]>(p, v)
               s = Sigmoid(c)
               g = GlobalAveragePool(s)
               f = Flatten(g)
               y = MatMul(f, d)"""),
    "bert": ("int64[N,L] ids, int64[N,L] mask", "float[N,L,16] h, float[N,3] y",
             {"table": (50, 16), "places": (64, 16), "g": (16,), "b": (16,),
              "q": (16, 16), "k": (16, 16), "v": (16, 16), "o": (16, 16),
              "up": (16, 32), "down": (32, 16), "head": (16, 3)},
             """e = Gather(table, ids)
                s = Shape(ids)
                one = Constant<value_ints=[1]>()
                zero = Constant<value_ints=[0]>()
                end = Gather(s, one)
                part = Slice(places, zero, end, zero)
                x0 = Add(e, part)
                x = LayerNormalization(x0, g, b)
                to_heads = Constant<value_ints=[0,0,2,8]>()
                from_heads = Constant<value_ints=[0,0,16]>()
                q0 = MatMul(x, q)
                q1 = Reshape(q0, to_heads)
                q2 = Transpose<perm=[0,2,1,3]>(q1)
                k0 = MatMul(x, k)
                k1 = Reshape(k0, to_heads)
                k2 = Transpose<perm=[0,2,3,1]>(k1)
                v0 = MatMul(x, v)
                v1 = Reshape(v0, to_heads)
                v2 = Transpose<perm=[0,2,1,3]>(v1)
                scale = Constant<value_float=0.35>()
                w0 = MatMul(q2, k2)
                w1 = Mul(w0, scale)
                axes = Constant<value_ints=[1,2]>()
                m0 = Unsqueeze(mask, axes)
                m1 = Cast<to=1>(m0)
                unit = Constant<value_float=1.0>()
                m2 = Sub(unit, m1)
                low = Constant<value_float=-10000.0>()
                m3 = Mul(m2, low)
                w2 = Add(w1, m3)
                w3 = Softmax<axis=-1>(w2)
                c0 = MatMul(w3, v2)
                c1 = Transpose<perm=[0,2,1,3]>(c0)
                c2 = Reshape(c1, from_heads)
                c3 = MatMul(c2, o)
                c4 = Add(c3, x)
                u0 = MatMul(c4, up)
                u1 = Gelu(u0)
                u2 = MatMul(u1, down)
                h = Add(u2, c4)
                first = Constant<value_int=0>()
                h0 = Gather<axis=1>(h, first)
                t = Tanh(h0)
                y = MatMul(t, head)"""),
    # The arithmetic on shapes that PyTorch exports.
    "shapes": ("float[N,L,12] x", "float[N,L,12] y, float[N,M] z",
               {"w": (12, 12), "b": (12,)},
               """s = Shape(x)
                  i0 = Constant<value_int=0>()
                  i1 = Constant<value_int=1>()
                  axis = Constant<value_ints=[0]>()
                  n = Gather(s, i0)
                  l = Gather(s, i1)
                  nl = Mul(n, l)
                  nl1 = Unsqueeze(nl, axis)
                  n1 = Unsqueeze(n, axis)
                  l1 = Unsqueeze(l, axis)
                  width = Constant<value_ints=[12]>()
                  flat = Concat<axis=0>(nl1, width)
                  rows = Reshape(x, flat)
                  p = MatMul(rows, w)
                  many = Concat<axis=0>(nl1, width)
                  wide = Expand(b, many)
                  q = Add(p, wide)
                  full = Concat<axis=0>(n1, l1, width)
                  y = Reshape(q, full)
                  rest = Constant<value_ints=[-1]>()
                  end = Concat<axis=0>(n1, rest)
                  zeros = ConstantOfShape(full)
                  u = Sub(zeros, y)
                  z = Reshape(u, end)"""),
    "lstm": ("float[L,N,6] x", "float[L,1,N,8] y, float[1,N,8] h",
             {"p": (6, 6), "w": (1, 32, 6), "r": (1, 32, 8), "b": (1, 64)},
             """a = MatMul(x, p)
                y, h, c = LSTM<hidden_size=8>(a, w, r, b)"""),
    "text": ("int64[N,L] ids", "float[N,4] y",
             {"table": (50, 8), "w": (10, 8, 3), "v": (10, 10, 3),
              "d": (10, 4)},
             """e = Gather(table, ids)
                t = Transpose<perm=[0,2,1]>(e)
                c = Conv<pads=[1,1]>(t, w)
                r = Relu(c)
                c2 = Conv<pads=[2,2], dilations=[2]>(r, v)
                r2 = Add(r, c2)
                axes = Constant<value_ints=[2]>()
                m = ReduceMax<keepdims=0>(r2, axes)
                y = MatMul(m, d)"""),
    "causal": ("float[N,L,8] x", "float[N,L,8] y",
               {"q": (8, 8), "k": (8, 8), "v": (8, 8)},
               """s = Shape(x)
                  i1 = Constant<value_int=1>()
                  i0 = Constant<value_int=0>()
                  l = Gather(s, i1)
                  r = Range(i0, l, i1)
                  a0 = Constant<value_ints=[0]>()
                  a1 = Constant<value_ints=[1]>()
                  row = Unsqueeze(r, a1)
                  column = Unsqueeze(r, a0)
                  later = Less(row, column)
                  q0 = MatMul(x, q)
                  k0 = MatMul(x, k)
                  v0 = MatMul(x, v)
                  k1 = Transpose<perm=[0,2,1]>(k0)
                  w0 = MatMul(q0, k1)
                  low = Constant<value_float=-10000.0>()
                  w1 = Where(later, low, w0)
                  w2 = Softmax<axis=-1>(w1)
                  c = MatMul(w2, v0)
                  y = Add(c, x)"""),
}


def model(name):
    import onnx.parser
    inputs, outputs, weights, nodes = NETWORKS[name]
    made = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["": 20]> g '
        f"({inputs}) => ({outputs}) {{{nodes}}}")
    draw = numpy.random.default_rng(7)
    for key, shape in weights.items():
        values = draw.standard_normal(shape).astype("f4") * 0.3
        made.graph.initializer.append(onnx.numpy_helper.from_array(values, key))
    return made


def shapes(name, n, length):
    """Returns the shape of each input, by name."""
    sizes = {"N": n, "L": length}
    found = {}
    for text in NETWORKS[name][0].split(", "):
        kind, key = text.split(" ")
        dims = kind[kind.index("[") + 1:-1].split(",")
        found[key] = tuple(sizes.get(one) or int(one) for one in dims)
    return found


def inputs(name, n, length):
    """Returns arrays of inputs, by name."""
    draw = numpy.random.default_rng(1000 * n + length)
    made = {}
    for key, shape in shapes(name, n, length).items():
        if f"int64[N,L] {key}" not in NETWORKS[name][0]:
            made[key] = draw.standard_normal(shape).astype("f4")
        elif key == "mask":
            made[key] = (draw.random(shape) < 0.8).astype("i8")
            made[key][:, 0] = 1
        else:
            made[key] = draw.integers(0, 50, shape)
    return made


def runtime(path):
    import onnxruntime
    return onnxruntime.InferenceSession(str(path),
                                        providers=["CPUExecutionProvider"])


def write(folder, cases):
    import onnx
    for name in NETWORKS:
        own = folder / name
        own.mkdir(parents=True, exist_ok=True)
        onnx.save(model(name), str(folder / f"{name}.onnx"))
        lists = {}
        for case in cases:
            n, length = map(int, case.split("/")[-1].split(","))
            for key, shape in shapes(name, n, length).items():
                if "/" not in case:
                    lists.setdefault(key, []).append(",".join(map(str, shape)))
            at = own / case
            at.mkdir(parents=True, exist_ok=True)
            given = inputs(name, n, length)
            for key, value in given.items():
                numpy.save(at / f"{key}=.npy", value)
            session = runtime(folder / f"{name}.onnx")
            for i, value in enumerate(session.run(None, given)):
                numpy.save(at / f"output{i}.npy", value)
        for key, values in lists.items():
            (own / f"shape.{key}").write_text(f"{key}={';'.join(values)}")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), sys.argv[2:])
