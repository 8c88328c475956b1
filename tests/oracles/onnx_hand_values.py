# SPDX-License-Identifier: Apache-2.0
"""Models of onnx_hand.py: special values, and types of little use."""
import numpy
from onnx import TensorProto, helper

from onnx_hand_case import FLOAT, X, array, good, model, node, of_version

INF = numpy.array([0, numpy.inf, -numpy.inf, 0], "float32")
good("resize_to_the_same_size", model(
    [node("Reshape", "x d", "r"), helper.make_node(
        "Resize", ["r", "", "k"], ["y"], mode="linear")],
    [array([1, 1, 3, 4], "d", "int64"), array([1, 1, 1.3, 1], "k")]),
     [[[[[numpy.interp((i + .5) / 1.3 - .5, range(3), column)
          for column in X.T] for i in range(3)]]]])
good("quotients_of_constants", model(
    [node("Div", "a b", "q"), node("Cast", "q", "y", to=FLOAT)],
    [array([-7, 7, -6], "a", "int64"), array([2, -2, 3], "b", "int64")]),
     [[-3, -3, -2]])
good("large_unsigned", model(
    [node("Cast", "x", "u", to=TensorProto.UINT64), node("Add", "u w", "a"),
     node("Less", "a u", "l"), node("Where", "l u a", "m"),
     node("Cast", "m", "y", to=FLOAT)],
    [array(2 ** 63, dtype="uint64")]), [numpy.trunc(X) + 2.0 ** 63])
good("loss_of_ignored_infinity", model(
    [node("Sub", "x w", "s"),
     node("SoftmaxCrossEntropyLoss", "s t", "y", ignore_index=3)],
    [array([[0, 0, 0, numpy.inf]]), array([3, 0, 1], "t", "int64")]),
     [numpy.mean([numpy.log(numpy.exp(X[i, :3]).sum()) - X[i, i - 1]
                  for i in (1, 2)])])
for coordinates in "pytorch_half_pixel", "tf_crop_and_resize":
    good(f"resize_to_one_{coordinates}", model(
        [node("Reshape", "x d", "r"), helper.make_node(
            "Resize", ["r", "roi", "", "k"], ["y"], mode="cubic",
            exclude_outside=1, coordinate_transformation_mode=coordinates)],
        [array([1, 1, 3, 4], "d", "int64"), array([1, 1, 1, 4], "k", "int64"),
         array([0, 0, 0, 0, 1, 1, 1, 1], "roi")]),
         [[[X[:1] if coordinates[0] == "p" else X[1:2]]]])
good("resize_beside_infinity", model(
    [node("Add", "x w", "s"), node("Reshape", "s d", "r"),
     helper.make_node("Resize", ["r", "", "k"], ["z"], mode="linear",
                      coordinate_transformation_mode="align_corners"),
     node("IsNaN", "z", "n"), node("Cast", "n", "y", to=FLOAT)],
    [array([[0, 0, 0, numpy.inf]]), array([1, 1, 3, 4], "d", "int64"),
     array([1, 1, 1, 2], "k")]), [numpy.zeros([1, 1, 3, 8])])
sums = (X + 1).sum(0)
good("infinite_weights_beside_padding", model(
    [node("Add", "x h", "p"), node("Reshape", "p d", "r"),
     node("ConvTranspose", "r w", "y")],
    [array(1, "h"), array([1, 3, 4], "d", "int64"),
     array([[[1, numpy.inf], [2, 3]]] * 3)]),
     [[[numpy.append(sums[0], [numpy.inf] * 4),
        numpy.convolve(sums, [2, 3])]]])
good("columns_beside_infinity", model(
    [node("Add", "x w", "s"), node("Reshape", "s d", "c"),
     node("Col2Im", "c i b", "y")],
    [array([[0, 0, numpy.inf, 0]]), array([1, 3, 4], "d", "int64"),
     array([6], "i", "int64"), array([3], "b", "int64")]),
     [[[[X[0, 0], X[0, 1] + X[1, 0], numpy.inf, numpy.inf, numpy.inf,
         X[2, 3]]]]])
good("distinct_numbers_and_nan", model(
    [helper.make_node("Unique", ["w"], ["v", "", "", "n"]),
     node("IsNaN", "v", "m"), node("Where", "m z v", "u"),
     node("Cast", "n", "c", to=FLOAT), helper.make_node(
         "Concat", ["u", "c"], ["y"], axis=0)],
    [array([2, numpy.nan, 1, numpy.nan, 2]), array(9, "z")]),
     [[1, 2, 9, 1, 2, 2]])
good("log_sum_exp_of_infinite", model(
    [node("Add", "x w", "s"),
     node("ReduceLogSumExp", "s a", "y", keepdims=0)],
    [array(INF), array([0], "a", "int64")]),
     [numpy.log(numpy.exp(X + INF).sum(0))])
good("logarithm_of_integers", model(
    [node("Mul", "x h", "s"), node("Cast", "s", "i", to=TensorProto.INT32),
     node("ReduceLogSum", "i", "l", keepdims=0), node("Erf", "i", "e"),
     node("ReduceSum", "e", "n", keepdims=0), node("Add", "l n", "z"),
     node("Cast", "z", "y", to=FLOAT)], [array(7, "h")]), [4 + 8])
good("shrink_of_integers", model(
    [node("Mul", "x h", "s"), node("Cast", "s", "i", to=TensorProto.INT32),
     node("Shrink", "i", "z", bias=1.6, lambd=.5),
     node("Cast", "z", "y", to=FLOAT)], [array(7, "h")]),
     [numpy.trunc(numpy.maximum(numpy.round(X * 7) - 1.6, 0))])
good("celu_of_negative_alpha", model(
    [node("Sub", "x h", "s"), node("Celu", "s", "y", alpha=-.5)],
    [array(1, "h")]),
     [numpy.where(X < 1, -.5 * (numpy.exp(-2 * (X - 1)) - 1), X - 1)])
good("mask_of_old_dropout", of_version(7, model(
    [node("Dropout", "x", "y mask")], outputs=("y", "mask"))), [X, 0 * X])
good("clip_of_old_infinity", of_version(7, model(
    [node("Add", "x w", "s"), node("Clip", "s", "c", min=0.0),
     node("Div", "c h", "y")],
    [array([[numpy.inf]]), array(numpy.finfo("float32").max, "h")])),
     [numpy.ones([3, 4])])
good("leaky_relu_of_scalar", model(
    [node("ReduceSum", "x", "s", keepdims=0), node("Neg", "s", "n"),
     node("LeakyRelu", "n", "y", alpha=.5)]), [-X.sum() / 2])
good("prelu_of_integers", model(
    [node("Cast", "x", "i", to=TensorProto.INT64), node("Add", "i w", "a"),
     node("PRelu", "a h", "p"), node("Sub", "p w", "d"),
     node("Cast", "d", "y", to=FLOAT)],
    [array(2 ** 40 + 1, dtype="int64"), array([2], "h", "int64")]),
     [numpy.trunc(X)])
good("least_of_nan", model(
    [node("Add", "x w", "s"), node("ArgMin", "s", "a", axis=1, keepdims=0),
     node("Cast", "a", "y", to=FLOAT)],
    [array([[0, 0, numpy.nan, numpy.nan], [-1, -2, -9, 0], [0] * 4])]),
     [[2, 2, 0]])
half = node("Cast", "x", "h", to=TensorProto.FLOAT16)
good("mean_of_halves", model(
    [half, node("Mean", "w w h", "m"), node("Cast", "m", "y", to=FLOAT)],
    [array(6e4, dtype="float16")]), [numpy.full([3, 4], 4e4)])
good("squares_of_halves", of_version(23, model(
    [half, node("Mul", "h w", "b"), node("RMSNormalization", "b s", "n"),
     node("Cast", "n", "y", to=FLOAT)],
    [array(1000, dtype="float16"), array([1] * 4, "s", "float16")])),
     [X / numpy.sqrt((X ** 2).mean(1, keepdims=True))])
good("hard_sigmoid_of_halves", model(
    [half, node("Mul", "h z", "o"), node("Sub", "o w", "b"),
     node("HardSigmoid", "b", "n"), node("Cast", "n", "c", to=FLOAT),
     node("Mul", "c k", "y")],
    [array(0, "z", "float16"), array(2.5, dtype="float16"),
     array(1e4, "k")]), [0 * X])
