# SPDX-License-Identifier: Apache-2.0
"""Single ops for bench/operators.py, one line each:

    OPERATOR INPUT... [| ATTRIBUTE=VALUE; ...]

An INPUT is a shape, 8x56x56, of random floats from -1 to 1.  Before it may
stand a type, "i64:", and, of integers, the number of values, "u8<200:"; "p:"
is positive floats; "#" makes it a constant.  A constant is also "[1,2]" (i64)
or "=0.5" (a scalar, f32 unless typed).  "-" is an absent input.
"""
import ast

import numpy
import onnx
from onnx import helper

OPSET, IR = 22, 10
OPSETS = {"Upsample": 9, "DFT": 17, "RMSNormalization": 23, "Attention": 23,
          "RotaryEmbedding": 23, "Swish": 24}
OUTPUTS = {"TopK": 2, "DynamicQuantizeLinear": 3}
DTYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "i64": "i8", "i32": "i4",
          "i8": "i1", "u8": "u1", "bool": "?", "p": "f4"}

# Several lines for the operators whose kernels depend on the shape.
CASES = """
Abs 512x512
Acos 512x512
Acosh p:512x512
Add 512x512 512x512
Add 64x56x56 64x1x1
Add 64x56x56 #64x1x1
Add 4x128x768 768
Add 512x1 1x512
Add 512x512 512x1
Add f16:512x512 f16:512x512
Add f64:512x512 f64:512x512
Add i64<99:512x512 i64<99:512x512
Add i32<99:512x512 i32<99:512x512
And bool:512x512 bool:512x512
ArgMax 1000x256
ArgMax 1x21x128x128 | axis=1
ArgMin 1000x256 | axis=1
Asin 512x512
Asinh 512x512
Atan 512x512
Atanh 512x512
Attention 1x8x128x64 1x8x128x64 1x8x128x64
AveragePool 1x64x56x56 | kernel_shape=[3,3]; pads=[1,1,1,1]
AveragePool 1x256x28x28 | kernel_shape=[2,2]; strides=[2,2]
AveragePool 1x1280x7x7 | kernel_shape=[7,7]
AveragePool 1x64x56x56 | kernel_shape=[3,3]; pads=[1,1,1,1]; count_include_pad=1
BatchNormalization 1x64x56x56 #64 #64 #64 #p:64
BatchNormalization 8x256x14x14 #256 #256 #256 #p:256
BitShift u8<99:512x512 u8<7:512x512 | direction='LEFT'
BitwiseAnd i32<99:512x512 i32<99:512x512
BitwiseNot i32<99:512x512
BitwiseOr i32<99:512x512 i32<99:512x512
BitwiseXor i32<99:512x512 i32<99:512x512
Cast 512x512 | to=10
Cast f16:512x512 | to=1
Cast 512x512 | to=7
Cast i64<99:512x512 | to=1
Cast u8<200:512x512 | to=1
Cast 512x512 | to=2
Cast bool:512x512 | to=1
CastLike i64<99:512x512 =1
Ceil 512x512
Celu 512x512
CenterCropPad 64x60x60 [40,80] | axes=[1,2]
Clip 512x512 =-0.5 =0.5
Col2Im 1x576x784 [28,28] [3,3] | pads=[1,1,1,1]
Compress 512x512 #bool:512 | axis=0
Concat 1x64x56x56 1x64x56x56 | axis=1
Concat 512x128 512x64 | axis=1
Conv 1x64x56x56 #64x64x3x3 #64 | pads=[1,1,1,1]
Conv 1x64x56x56 #256x64x1x1 #256
Conv 1x3x224x224 #64x3x7x7 #64 | pads=[3,3,3,3]; strides=[2,2]
Conv 1x96x56x56 #96x1x3x3 #96 | pads=[1,1,1,1]; group=96
Conv 1x96x112x112 #96x1x3x3 #96 | pads=[1,1,1,1]; group=96; strides=[2,2]
Conv 1x480x14x14 #480x1x5x5 #480 | pads=[2,2,2,2]; group=480
Conv 1x192x28x28 #192x1x7x7 #192 | pads=[3,3,3,3]; group=192
Conv 1x64x56x56 #64x8x3x3 #64 | pads=[1,1,1,1]; group=8
Conv 1x256x400 #256x256x3 #256 | pads=[1,1]
Conv 1x16x8x32x32 #32x16x3x3x3 #32 | pads=[1,1,1,1,1,1]
Conv 1x64x28x28 64x64x3x3 | pads=[2,2,2,2]; dilations=[2,2]
ConvInteger u8<200:1x32x28x28 #u8<200:32x32x3x3
ConvTranspose 1x64x28x28 #64x32x2x2 #32 | strides=[2,2]
ConvTranspose 1x64x28x28 #64x32x4x4 #32 | strides=[2,2]; pads=[1,1,1,1]
Cos 512x512
Cosh 512x512
CumSum 512x512 #i64:[1]
CumSum 512x512 #i64:[0]
DFT 64x512x1 | axis=1
DeformConv 1x16x28x28 #16x16x3x3 1x18x28x28 | pads=[1,1,1,1]
DepthToSpace 1x256x28x28 | blocksize=2
DequantizeLinear u8<200:512x512 =0.1 =u8:7
DequantizeLinear i8<99:512x512 #p:512 | axis=0
Det 256x8x8
Div 512x512 p:512x512
Div i64<99:512x512 #i64:[7]
Dropout 512x512
DynamicQuantizeLinear 512x512
Einsum 8x64x64 8x64x64 | equation='bij,bkj->bik'
Einsum 4x32x64 4x48x64 | equation='bic,bjc->bij'
Elu 512x512
Equal i64<99:512x512 i64<99:512x512
Equal 512x512 512x512
Erf 512x512
Exp 512x512
Expand 512x1 [512,512]
Expand 1x512 [512,512]
EyeLike 512x512
Flatten 64x56x56
Floor 512x512
GRU 32x4x64 #1x384x64 #1x384x128 #1x768 | hidden_size=128
Gather 1000x256 i64<1000:512
Gather 64x1000 i64<1000:512 | axis=1
Gather 512x512 [3] | axis=1
GatherElements 512x512 i64<512:512x512 | axis=1
GatherElements 512x512 i64<512:512x512 | axis=0
GatherND 512x512 i64<512:8192x2
GatherND 512x512 i64<512:400x1
Gelu 512x512
Gelu 512x512 | approximate='tanh'
Gemm 128x768 #768x768 #768
Gemm 1x2048 #1000x2048 #1000 | transB=1
GlobalAveragePool 1x1280x7x7
GlobalAveragePool 1x64x56x56
GlobalMaxPool 1x256x14x14
GlobalLpPool 1x256x14x14
Greater 512x512 512x512
GreaterOrEqual 512x512 512x512
GridSample 1x16x64x64 1x64x64x2
GridSample 1x16x64x64 1x64x64x2 | mode='nearest'
GroupNormalization 1x64x56x56 #64 #64 | num_groups=8
HardSigmoid 512x512
HardSwish 512x512
Hardmax 512x512
Identity 512x512
InstanceNormalization 1x64x56x56 #64 #64
IsInf 512x512
IsNaN 512x512
LRN 1x64x56x56 | size=5
LSTM 32x4x64 #1x512x64 #1x512x128 #1x1024 | hidden_size=128
LayerNormalization 128x768 #768 #768
LayerNormalization 3136x96 #96 #96
LeakyRelu 512x512
Less 512x512 512x512
Less i64<99:512x512 #i64:[50]
LessOrEqual 512x512 512x512
Log p:512x512
LogSoftmax 512x512
LpNormalization 512x512
LpPool 1x64x28x28 | kernel_shape=[2,2]; strides=[2,2]
MatMul 128x768 #768x768
MatMul 12x128x64 12x64x128
MatMul 64x64 64x64
MatMul 1x768 #768x3072
MatMul 64x49x32 64x32x49
MatMulInteger u8<200:128x256 #u8<200:256x256
Max 512x512 512x512
Max 512x512 =0
MaxPool 1x192x28x28 | kernel_shape=[3,3]; pads=[1,1,1,1]
MaxPool 1x64x112x112 | kernel_shape=[3,3]; pads=[1,1,1,1]; strides=[2,2]
MaxPool 1x64x112x112 | kernel_shape=[2,2]; strides=[2,2]
MaxPool u8<200:1x64x56x56 | kernel_shape=[2,2]; strides=[2,2]
MaxPool f16:1x64x56x56 | kernel_shape=[2,2]; strides=[2,2]
MaxUnpool 1x64x28x28 i64<200704:1x64x28x28 | kernel_shape=[2,2]; strides=[2,2]
Mean 512x512 512x512
MeanVarianceNormalization 1x64x56x56
Min 512x512 512x512
Min i64<99:512x512 i64<99:512x512
Mish 512x512
Mod i64<99:512x512 #i64:[7]
Mod 512x512 p:512x512 | fmod=1
Mul 512x512 512x512
Mul 1x96x56x56 1x96x1x1
Mul 1x960x7x7 1x960x1x1
Neg 512x512
NegativeLogLikelihoodLoss 512x100 i64<100:512
NonZero bool:512x512
Not bool:512x512
OneHot i64<100:2048 [100] #[0,1]
Or bool:512x512 bool:512x512
PRelu 1x64x56x56 #64x1x1
Pad 1x64x56x56 [0,0,1,1,0,0,1,1]
Pad 1x64x56x56 [0,0,1,1,0,0,1,1] | mode='reflect'
Pad 1x64x56x56 [0,0,1,1,0,0,1,1] | mode='edge'
Pow p:512x512 =2
Pow p:512x512 =0.5
Pow p:512x512 =1.7
Pow p:512x512 p:512x512
QLinearConv u8<200:1x32x28x28 =0.1 =u8:7 #u8<200:32x32x3x3 =0.1 =u8:9 =9 =u8:3
QLinearMatMul u8<200:128x256 =0.1 =u8:7 #u8<200:256x256 =0.1 =u8:9 =9 =u8:3
QuantizeLinear 512x512 =0.1 =u8:7
QuantizeLinear 512x512 =0.1 =i8:0
RMSNormalization 128x768 #768
RNN 32x4x64 #1x128x64 #1x128x128 #1x256 | hidden_size=128
Range [0] [100000] [1]
Reciprocal p:512x512
ReduceL1 512x512 [1]
ReduceL2 512x512 [1]
ReduceL2 512x512 [0]
ReduceLogSum p:512x512 [1]
ReduceLogSumExp 512x512 [1]
ReduceMax 512x512 [1]
ReduceMax 512x512 [0]
ReduceMax i64<99:512x512 [1]
ReduceMean 512x512 [1]
ReduceMean 512x512 [0]
ReduceMean 1x64x56x56 [2,3]
ReduceMean 1x64x56x56 [1]
ReduceMin 512x512 [1]
ReduceProd 512x512 [1]
ReduceSum 512x512 [1]
ReduceSum 512x512 [0]
ReduceSum 512x512 [0,1]
ReduceSum i64<99:512x512 [1]
ReduceSumSquare 512x512 [1]
Relu 512x512
Relu 64x64
Reshape 512x512 [256,1024]
Resize 1x64x28x28 - =f32:[1,1,2,2] | mode='nearest'; coordinate_transformation_mode='asymmetric'; nearest_mode='floor'
Resize 1x64x28x28 - =f32:[1,1,2,2] | mode='linear'
Resize 1x64x28x28 - =f32:[1,1,2,2] | mode='linear'; coordinate_transformation_mode='align_corners'
Resize 1x16x28x28 - =f32:[1,1,2,2] | mode='cubic'
Resize 1x3x224x224 - =f32:[1,1,0.5,0.5] | mode='linear'; antialias=1
ReverseSequence 64x128x32 i64<64:128
RoiAlign 1x64x32x32 p:50x4 i64<1:50 | output_height=7; output_width=7; sampling_ratio=2
RotaryEmbedding 1x8x128x64 #128x32 #128x32 i64<128:1x128
Round 512x512
STFT 1x16000 =i64:160 #400 =i64:400
ScatterElements 512x512 i64<512:64x512 64x512
ScatterElements 512x512 i64<512:64x512 64x512 | reduction='add'
ScatterND 512x512 i64<512:64x1 64x512
Selu 512x512
Shape 512x512
Shrink 512x512
Sigmoid 512x512
Sign 512x512
Sin 512x512
Sinh 512x512
Size 512x512
Slice 64x56x56 [0,1,1] [64,55,55]
Slice 64x56x56 [0,0] [56,56] [1,2] [2,2]
Slice 512x512 [0] [64] [1]
Softmax 512x512
Softmax 12x128x128
Softmax 1x21x64x64 | axis=1
Softmax 64x10
SoftmaxCrossEntropyLoss 512x100 i64<100:512
Softplus 512x512
Softsign 512x512
SpaceToDepth 1x64x56x56 | blocksize=2
Split 512x512 | num_outputs=2; axis=1
Split 512x512 | num_outputs=4; axis=0
Sqrt p:512x512
Squeeze 1x512x512 [0]
Sub 512x512 512x512
Sum 512x512 512x512 512x512
Swish 512x512
Tan 512x512
Tanh 512x512
ThresholdedRelu 512x512
Tile 128x128 [4,4]
Tile 1x512 [512,1]
TopK 512x512 [5]
TopK 1x20000 [100]
TopK 64x512 [512]
TopK 8x400x32 [10] | axis=1
Transpose 512x512 | perm=[1,0]
Transpose 1x64x56x56 | perm=[0,2,3,1]
Transpose 1x56x56x64 | perm=[0,3,1,2]
Transpose 1x128x12x64 | perm=[0,2,1,3]
Transpose 16x16x32x32 | perm=[1,0,3,2]
Trilu 512x512
Unique i64<99:4096
Unsqueeze 512x512 [0]
Upsample 1x64x28x28 =f32:[1,1,2,2]
Where bool:512x512 512x512 512x512
Where bool:512x512 =0 512x512
Where bool:1x512 512x512 512x512
Xor bool:512x512 bool:512x512
"""

# The pools of CASES in more shapes; the same dtypes and layouts for each.
POOLS = """
1x64x112x112 | kernel_shape=[3,3]; strides=[2,2]; pads=[1,1,1,1]
1x64x56x56 | kernel_shape=[3,3]; strides=[2,2]
1x64x55x55 | kernel_shape=[3,3]; strides=[2,2]; ceil_mode=1
1x192x28x28 | kernel_shape=[3,3]; pads=[1,1,1,1]
1x480x14x14 | kernel_shape=[3,3]; pads=[1,1,1,1]
1x832x7x7 | kernel_shape=[3,3]; pads=[1,1,1,1]
1x64x112x112 | kernel_shape=[2,2]; strides=[2,2]
1x512x14x14 | kernel_shape=[2,2]; strides=[2,2]
1x256x13x13 | kernel_shape=[5,5]; pads=[2,2,2,2]
1x256x13x13 | kernel_shape=[9,9]; pads=[4,4,4,4]
1x256x13x13 | kernel_shape=[13,13]; pads=[6,6,6,6]
1x2048x7x7 | kernel_shape=[7,7]
1x64x56x56 | kernel_shape=[56,56]
1x16x40x40 | kernel_shape=[3,3]; dilations=[2,2]
1x64x28x28 | kernel_shape=[3,3]; strides=[3,3]
1x32x30x30 | kernel_shape=[5,5]; strides=[4,4]; pads=[2,2,2,2]; ceil_mode=1
1x64x1000 | kernel_shape=[3]; strides=[2]; pads=[1,1]
1x256x100 | kernel_shape=[100]
8x32x400 | kernel_shape=[5]; pads=[2,2]
1x16x8x28x28 | kernel_shape=[3,3,3]; pads=[1,1,1,1,1,1]
1x32x8x28x28 | kernel_shape=[2,2,2]; strides=[2,2,2]
1x64x4x7x7 | kernel_shape=[1,7,7]
1x64x100x1 | kernel_shape=[4,1]; strides=[4,1]
1x3x224x224 | kernel_shape=[8,8]; strides=[8,8]
"""


def pool_cases():
    for line in POOLS.strip().splitlines():
        yield f"MaxPool {line}"
        yield f"AveragePool {line}"
        yield f"AveragePool {line}; count_include_pad=1"
        yield f"MaxPool f64:{line}"
        yield f"MaxPool f16:{line}"
        yield f"MaxPool u8<200:{line}"
        yield f"MaxPool i8<99:{line}"
        # Behind a convolution: channels last where it fits.
        yield f"Conv+MaxPool {line}"
        yield f"MaxPool+Conv {line}"


def make_array(random, text):
    """An array by the words above."""
    dtype, _, shape = text.rpartition(":")
    dtype, _, values = dtype.partition("<")
    dtype = dtype or "f32"
    kind = numpy.dtype(DTYPES[dtype])
    if shape[0] == "[":
        return numpy.array(ast.literal_eval(shape), kind)
    dims = [int(dim) for dim in shape.split("x")]
    if kind.kind == "b":
        return random.random(dims) < 0.5
    if kind.kind in "iu":
        return random.integers(0, int(values or 10), dims).astype(kind)
    array = random.uniform(-1, 1, dims)
    return (abs(array) + 1 if dtype == "p" else array).astype(kind)


def make_scalar(text):
    dtype, _, value = text.rpartition(":")
    return numpy.array(ast.literal_eval(value), DTYPES[dtype or "f32"])


class Case:
    """text: the line; model: its ONNX model; inputs: arrays by name."""

    def __init__(self, text):
        random = numpy.random.default_rng(1)
        words, _, attributes = text.partition("|")
        kind, *texts = words.split()
        before, kind, after = {"Conv+": ("Conv", kind[5:], ""),
                               "+Conv": ("", kind[:-5], "Conv")}.get(
            kind[:5] if kind.startswith("Conv+") else kind[-5:],
            ("", kind, ""))
        self.text, self.inputs, self.constants = text, {}, []
        names = [self.operand(random, *one) for one in enumerate(texts)]
        nodes = []
        if before:
            names[0] = self.convolution(nodes, random, names[0], texts[0])
        given = dict(one.strip().split("=", 1)
                     for one in attributes.split(";") if one.strip())
        outputs = ["a", "b", "c", "d"][:OUTPUTS.get(
            kind, int(given.get("num_outputs", 1)))]
        nodes.append(helper.make_node(
            kind, names, outputs,
            **{key: ast.literal_eval(value) for key, value in given.items()}))
        if after:
            outputs = [self.convolution(nodes, random, "a", texts[0])]
        graph = helper.make_graph(
            nodes, "op",
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype),
                array.shape) for name, array in self.inputs.items()],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            self.constants)
        self.model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSETS.get(kind, OPSET))],
            ir_version=IR)

    def operand(self, random, i, text):
        name = f"in{i}"
        if text == "-":
            return ""
        if text[0] in "=[#":
            array = make_scalar(text[1:]) if text[0] == "=" \
                else make_array(random, text[1:]) if text[0] == "#" \
                else make_array(random, "i64:" + text)
            self.constants.append(onnx.numpy_helper.from_array(array, name))
        else:
            self.inputs[name] = make_array(random, text)
        return name

    def convolution(self, nodes, random, name, shape):
        """A pointwise convolution before or after an op."""
        dims = shape.split("x")
        weights = random.uniform(
            -1, 1, [int(dims[1])] * 2 + [1] * (len(dims) - 2)).astype("f4")
        self.constants.append(onnx.numpy_helper.from_array(weights, "weights"))
        nodes.append(helper.make_node("Conv", [name, "weights"], ["conv"]))
        return "conv"
