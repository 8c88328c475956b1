#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests of its operators, exported and executed.

    python tests/oracles/export_onnx.py FOLDER [OPERATOR...]

The package onnx has models of one node, with inputs and outputs that it
computed.  Those of the operators below become networks side by side in one
model for each version of the operator set, since a program for each would take
minutes.  FOLDER takes the files.  Exits with 1 where an output differs, or
where something is not exported that should be.
"""
import collections
import os
import subprocess
import sys
import warnings

import numpy
import onnx
from onnx import compose, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                   "..")
sys.path.insert(0, os.path.join(top, "contrib", "export"))
from moirai_export import ExportError, export  # noqa: E402, found just now

OPERATORS = """
    Abs Acos Acosh Add And Asin Asinh Atan Atanh ArgMax ArgMin AveragePool
    BatchNormalization BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Celu Clip
    Concat Constant Conv ConvTranspose Cos Cosh CumSum DepthToSpace
    DequantizeLinear Div Dropout
    Einsum Elu Equal Erf Exp Expand Flatten Floor Gather GatherElements GatherND
    Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual
    GroupNormalization HardSigmoid HardSwish Identity InstanceNormalization
    IsInf IsNaN LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax
    LpNormalization LRN MatMul Max MaxPool Mean MeanVarianceNormalization Min
    Mish Mod Mul Neg Not OneHot Or Pad Pow PRelu QuantizeLinear RMSNormalization
    Reciprocal
    ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
    ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize
    RotaryEmbedding Round ScatterElements ScatterND Selu Shape Shrink Sigmoid
    Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt
    Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu
    Unsqueeze Upsample Where Xor
""".split()

# Substrings of the names of tests that cannot be exported; the export fails
# with an error.
REFUSED = ("2d_uint8", "_expanded", "linear_blocked", "antialias", "averagepool_2d_dilations",
           "averagepool_3d_dilations", "bfloat16", "convtranspose_autopad",
           "convtranspose_kernel_shape", "convtranspose_output_shape",
           "downsample_scales_cubic_align_corners",
           "downsample_scales_linear_align_corners", "dropout_default_mask",
           "einsum_batch_diagonal", "einsum_scalar", "exclude_outside",
           "half_pixel_symmetric", "layer_normalization",
           "maxpool_with_argmax_2d_precomputed_strides", "not_larger",
           "not_smaller", "reduce_max_empty_set_bool", "select_last_index",
           "string", "tf_crop", "training", "wrap_pad")


def wanted(case, operators):
    """Selects tests of these operators with arrays of numeric types."""
    arrays = [a for data in case.data_sets[0] for a in data]
    return (case.model.graph.node[0].op_type in operators
            and not any(part in case.name for part in REFUSED)
            and all(isinstance(a, (numpy.ndarray, numpy.generic))
                    and a.dtype.kind in "biuf" for a in arrays))


class Side:
    """A model of unconnected networks, of one operator set version."""

    def __init__(self, version):
        self.version = version
        self.graph = onnx.GraphProto(name="side by side")
        self.inputs = {}
        self.outputs = []

    def add(self, case):
        """Adds a test.  All inputs but the first become constants, unless
        they are large: most are sizes and axes."""
        graph = compose.add_prefix(case.model, f"{case.name}/").graph
        inputs, outputs = case.data_sets[0]
        for i, (entry, array) in enumerate(zip(graph.input, inputs)):
            array = numpy.asarray(array)
            if i > 0 and (array.dtype.kind != "f" or array.size <= 4):
                self.graph.initializer.append(
                    numpy_helper.from_array(array, entry.name))
            else:
                self.graph.input.append(entry)
                self.inputs[entry.name] = array
        self.graph.node.extend(graph.node)
        self.graph.output.extend(graph.output)
        self.outputs += map(numpy.asarray, outputs)

    def save(self, folder):
        os.makedirs(folder)
        model = helper.make_model(self.graph, opset_imports=[
            helper.make_opsetid("", self.version)])
        onnx.save(model, f"{folder}/model.onnx")
        options = []
        for i, (name, array) in enumerate(self.inputs.items()):
            numpy.save(f"{folder}/input{i}.npy", array)
            options += ["-i", f"{name}={folder}/input{i}.npy"]
        for i, array in enumerate(self.outputs):
            numpy.save(f"{folder}/output{i}.npy", array)
        return options

    def holds(self, folder):
        options = self.save(folder)
        graph = f"{folder}/model.graphml"
        try:
            export(f"{folder}/model.onnx", path=graph)
        except ExportError as error:
            print(str(error).replace("; ", "\n"))
            return False
        command = ["moirai-exec", "-q", "--tolerance", "1e-3", "--reference",
                   folder, *options, graph]
        run = subprocess.run(command, capture_output=True, text=True,
                             check=False)
        print(run.stderr, end="")
        return run.returncode == 0


def main(folder, *operators):
    sides = collections.OrderedDict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflows that tests are about
        cases = [case for case in collect_testcases(None)
                 if wanted(case, operators or OPERATORS)]
    for case in cases:
        version = case.model.opset_import[0].version
        sides.setdefault(version, Side(version)).add(case)
    failed = [version for version, side in sides.items()
              if not side.holds(os.path.join(folder, str(version)))]
    print(f"{len(cases)} tests of {len(sides)} operator sets")
    if failed:
        sys.exit(f"operator sets {failed} differ")


main(*sys.argv[1:])
