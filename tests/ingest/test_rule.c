/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/infer/rule.h: output shapes of every operator. */
#include "ingest/infer/rule.h"

#include <string.h>

#include "tests/ingest/rule_case.h"
#include "tests/support/suite.h"

/* Every type with a rule is here at least once. */
static const struct {
    const char *type, *version, *attributes, *inputs, *outputs;
    int n_outputs;
} shapes[] = {
#define ONE(type, attributes, inputs, output)                                  \
    {                                                                          \
        type, NULL, attributes, inputs, output, 1                              \
    }
#define OLD(type, version, attributes, inputs, output)                         \
    {                                                                          \
        type, version, attributes, inputs, output, 1                           \
    }
#define MANY(n, type, attributes, inputs, outputs)                             \
    {                                                                          \
        type, NULL, attributes, inputs, outputs, n                             \
    }
    ONE("Add", "auto_broadcast=numpy", "2,1,4 ; 3,1", "2,3,4"),
    ONE("Add", "", "() ; 2,3", "2,3"),
    ONE("Add", "", "0,3 ; 1,3", "0,3"),
    ONE("Add", "auto_broadcast=none", "2,3 ; 2,3", "2,3"),
    ONE("Add", "auto_broadcast=pdpd axis=1", "2,3,4,5 ; 3,4", "2,3,4,5"),
    ONE("Add", "auto_broadcast=pdpd", "2,3,4,5 ; 4,1", "2,3,4,5"),
    ONE("Subtract", "", "2 ; 3,2", "3,2"),
    ONE("Multiply", "", "2 ; 3,2", "3,2"),
    ONE("Divide", "", "2 ; 3,2", "3,2"),
    ONE("Power", "", "2 ; 3,2", "3,2"),
    ONE("Maximum", "", "2 ; 3,2", "3,2"),
    ONE("Minimum", "", "2 ; 3,2", "3,2"),
    ONE("FloorMod", "", "2 ; 3,2", "3,2"),
    ONE("Mod", "", "2 ; 3,2", "3,2"),
    ONE("SquaredDifference", "", "2 ; 3,2", "3,2"),
    ONE("LogicalAnd", "", "2 ; 3,2", "3,2"),
    ONE("LogicalOr", "", "2 ; 3,2", "3,2"),
    ONE("LogicalXor", "", "2 ; 3,2", "3,2"),
    ONE("Equal", "", "2 ; 3,2", "3,2"),
    ONE("NotEqual", "", "2 ; 3,2", "3,2"),
    ONE("Less", "", "2 ; 3,2", "3,2"),
    ONE("LessEqual", "", "2 ; 3,2", "3,2"),
    ONE("Greater", "", "2 ; 3,2", "3,2"),
    ONE("GreaterEqual", "", "2 ; 3,2", "3,2"),
    ONE("BitwiseAnd", "", "2 ; 3,2", "3,2"),
    ONE("BitwiseOr", "", "2 ; 3,2", "3,2"),
    ONE("BitwiseXor", "", "2 ; 3,2", "3,2"),
    ONE("BitwiseLeftShift", "", "2 ; 3,2", "3,2"),
    ONE("BitwiseRightShift", "", "2 ; 3,2", "3,2"),
    ONE("Select", "", "4,1 ; 3 ; 2,1,1", "2,4,3"),
    ONE("Select", "auto_broadcast=pdpd", "3 ; 2,3 ; 2,1", "2,3"),
    ONE("FakeQuantize", "", "1,3,4 ; 3,1 ; 3,1 ; 1 ; 1", "1,3,4"),

    ONE("Abs", "", "2,3", "2,3"),
    ONE("Negative", "", "2,3", "2,3"),
    ONE("Floor", "", "2,3", "2,3"),
    ONE("Ceiling", "", "2,3", "2,3"),
    ONE("Sqrt", "", "2,3", "2,3"),
    ONE("Exp", "", "2,3", "2,3"),
    ONE("Log", "", "2,3", "2,3"),
    ONE("Sign", "", "2,3", "2,3"),
    ONE("ReLU", "", "2,3", "2,3"),
    ONE("LogicalNot", "", "2,3", "2,3"),
    ONE("Convert", "destination_type=f16", "2,3", "2,3"),
    ONE("ConvertLike", "", "2,3 ; 5", "2,3"),
    ONE("Result", "", "2,3", "2,3"),
    MANY(0, "Result", "", "2,3", ""),
    ONE("Acos", "", "2,3", "2,3"),
    ONE("Acosh", "", "2,3", "2,3"),
    ONE("Asin", "", "2,3", "2,3"),
    ONE("Asinh", "", "2,3", "2,3"),
    ONE("Atan", "", "2,3", "2,3"),
    ONE("Atanh", "", "2,3", "2,3"),
    ONE("BitwiseNot", "", "2,3", "2,3"),
    ONE("Clamp", "min=0 max=6", "2,3", "2,3"),
    ONE("Cos", "", "2,3", "2,3"),
    ONE("Cosh", "", "2,3", "2,3"),
    ONE("Elu", "alpha=1", "2,3", "2,3"),
    ONE("Erf", "", "2,3", "2,3"),
    ONE("Gelu", "", "2,3", "2,3"),
    ONE("HardSigmoid", "", "2,3 ; () ; ()", "2,3"),
    ONE("HSigmoid", "", "2,3", "2,3"),
    ONE("HSwish", "", "2,3", "2,3"),
    ONE("Identity", "", "2,3", "2,3"),
    ONE("IsFinite", "", "2,3", "2,3"),
    ONE("IsInf", "", "2,3", "2,3"),
    ONE("IsNaN", "", "2,3", "2,3"),
    ONE("Mish", "", "2,3", "2,3"),
    ONE("PReLU", "", "2,3 ; 3", "2,3"),
    ONE("Round", "", "2,3", "2,3"),
    ONE("Selu", "", "2,3 ; 1 ; 1", "2,3"),
    ONE("Sigmoid", "", "2,3", "2,3"),
    ONE("Sin", "", "2,3", "2,3"),
    ONE("Sinh", "", "2,3", "2,3"),
    ONE("SoftPlus", "", "2,3", "2,3"),
    ONE("SoftSign", "", "2,3", "2,3"),
    ONE("Swish", "", "2,3 ; ()", "2,3"),
    ONE("Tan", "", "2,3", "2,3"),
    ONE("Tanh", "", "2,3", "2,3"),
    ONE("FakeConvert", "", "2,3 ; ()", "2,3"),
    ONE("GRN", "bias=1", "2,3", "2,3"),
    ONE("LogSoftmax", "axis=1", "2,3", "2,3"),
    ONE("LRN", "", "2,3 ; 1", "2,3"),
    ONE("MVN", "", "2,3 ; 1", "2,3"),
    ONE("NormalizeL2", "", "2,3 ; 1", "2,3"),
    ONE("RMS", "", "2,3 ; 3", "2,3"),
    ONE("SoftMax", "axis=1", "2,3", "2,3"),
    ONE("Softmax", "axis=1", "2,3", "2,3"),
    ONE("Assign", "", "2,3", "2,3"),
    ONE("Bucketize", "", "2,3 ; 5", "2,3"),
    ONE("CumSum", "", "2,3 ; ()", "2,3"),
    ONE("GatherTree", "", "4,2,3 ; 4,2,3 ; 2 ; ()", "4,2,3"),
    ONE("Inverse", "", "2,3,3", "2,3,3"),
    ONE("ReadValue", "", "2,3", "2,3"),
    ONE("Reverse", "", "2,3 ; 1", "2,3"),
    ONE("ReverseSequence", "", "2,3 ; 2", "2,3"),
    ONE("Roll", "", "2,3 ; 1 ; 1", "2,3"),

    ONE("BatchNormInference", "", "2,3,4 ; 3 ; 3 ; 3 ; 3", "2,3,4"),
    OLD("BatchNormInference", "opset1", "", "3 ; 3 ; 2,3,4 ; 3 ; 3", "2,3,4"),
    ONE("GroupNormalization", "num_groups=2", "1,4,5 ; 4 ; 4", "1,4,5"),
    ONE("ShuffleChannels", "axis=-2 group=2", "1,4,5", "1,4,5"),

    ONE("Reshape", "special_zero=true", "2,3,4 ; =0,-1", "2,12"),
    ONE("Reshape", "special_zero=true", "2,3,4 ; =0,0,2,-1", "2,3,2,2"),
    ONE("Reshape", "special_zero=false", "0,3 ; =5,0", "5,0"),
    ONE("Reshape", "special_zero=true", "0,3 ; =0,-1", "0,3"),
    ONE("Reshape", "special_zero=false", "4,0 ; =-1,0", "1,0"),
    ONE("Reshape", "", "1,1 ; #1", "()"),
    ONE("Reshape", "", "1,1 ; =", "()"),
    ONE("Squeeze", "", "1,2,1,3", "2,3"),
    ONE("Squeeze", "", "1,2,1,3 ; =", "2,3"),
    ONE("Squeeze", "", "1,2,1,3 ; =-2", "1,2,3"),
    ONE("Squeeze", "", "1,2 ; #0", "2"),
    ONE("Unsqueeze", "", "2,3 ; =0,-1", "1,2,3,1"),
    ONE("Unsqueeze", "", "() ; #0", "1"),

    ONE("MatMul", "", "2,3 ; 3,4", "2,4"),
    ONE("MatMul", "transpose_a=true", "3,2 ; 3,4", "2,4"),
    ONE("MatMul", "transpose_b=true", "5,1,2,3 ; 7,4,3", "5,7,2,4"),
    ONE("MatMul", "transpose_a=true", "3 ; 3,4", "4"),
    ONE("MatMul", "", "6,2,3 ; 3", "6,2"),
    ONE("MatMul", "", "3 ; 3", "()"),
    ONE("Einsum", "equation=bij,bjk->bik", "5,2,3 ; 5,3,4", "5,2,4"),
    ONE("Einsum", "equation=...ij,...jk->...ik", "7,1,2,3 ; 5,3,4", "7,5,2,4"),
    ONE("Einsum", "equation=ii->i", "3,3", "3"),
    ONE("Einsum", "equation=ij,jk->ijk", "2,3 ; 1,4", "2,3,4"),
    ONE("Einsum", "equation=ij,jk->ijk", "2,1 ; 3,4", "2,3,4"),
    ONE("Einsum", "equation=ij->", "3,4", "()"),
    ONE("Einsum", "equation=ba,ac", "2,3 ; 3,4", "2,4"),

    ONE("Transpose", "", "2,3,4 ; =2,0,1", "4,2,3"),
    ONE("Transpose", "", "2,3,4 ; =", "4,3,2"),
    ONE("Tile", "", "2,3 ; =2,1,3", "2,2,9"),
    ONE("Tile", "", "2,3,4 ; =2", "2,3,8"),
    ONE("Tile", "", "2 ; =-1", "0"),
    ONE("Broadcast", "mode=numpy", "3,1 ; =2,3,4", "2,3,4"),
    ONE("Broadcast", "mode=bidirectional", "3,1,5 ; =2,1", "3,2,5"),
    ONE("Broadcast", "mode=explicit", "3,4 ; =3,2,4 ; =0,2", "3,2,4"),
    ONE("Broadcast", "mode=pdpd axis=1", "3,1 ; =2,3,4", "2,3,4"),
    ONE("Concat", "axis=-1", "2,3 ; 2,0 ; 2,4", "2,7"),
    MANY(3, "Split", "num_splits=3", "2,6 ; #1", "2,2 ; 2,2 ; 2,2"),
    MANY(3, "VariadicSplit", "", "2,6 ; #-1 ; =1,-1,2", "2,1 ; 2,3 ; 2,2"),
    MANY(2, "VariadicSplit", "", "6 ; #0 ; =6,-1", "6 ; 0"),

    ONE("Slice", "", "9 ; =1 ; =8 ; =3", "3"),
    ONE("Slice", "", "9,5 ; =-1 ; =-10 ; =-1 ; =0", "9,5"),
    ONE("Slice", "", "9 ; =8 ; =2 ; =-4", "2"),
    ONE("Slice", "", "9 ; =5 ; =2 ; =1", "0"),
    ONE("Slice", "", "9 ; =0 ; =9223372036854775807 ; =2", "5"),
    ONE("Slice", "", "9 ; =0 ; =9 ; =9223372036854775807", "1"),
    ONE("Slice", "", "9 ; =8 ; =-9223372036854775808 ; =-9223372036854775808",
        "1"),
    ONE("Slice", "", "0 ; =-1 ; =-9 ; =-1", "0"),
    ONE("StridedSlice", "begin_mask=1,0 end_mask=0,1",
        "9,5 ; =4,1 ; =3,0 ; =1,2", "3,2"),
    ONE("StridedSlice", "begin_mask=1 end_mask=1", "9 ; =0 ; =0 ; =-2", "5"),
    ONE("StridedSlice", "shrink_axis_mask=0,1", "9,5,4 ; =0,2 ; =3,3", "3,4"),
    ONE("StridedSlice", "new_axis_mask=1,0", "9 ; =0,2 ; =0,4", "1,2"),
    ONE("StridedSlice", "ellipsis_mask=0,1,0 shrink_axis_mask=0,0,1",
        "2,3,4,5 ; =0,0,1 ; =1,0,2", "1,3,4"),

    ONE("Gather", "", "9,5,4 ; 2,3 ; #1", "9,2,3,4"),
    ONE("Gather", "", "9,5 ; () ; #-1", "9"),
    ONE("Gather", "batch_dims=1", "2,9,4 ; 2,3 ; #1", "2,3,4"),
    ONE("Gather", "batch_dims=-1", "2,9,4 ; 2,3 ; #2", "2,9,3"),
    ONE("GatherElements", "axis=1", "2,9 ; 2,3", "2,3"),
    ONE("GatherND", "batch_dims=0", "2,3,4 ; 5,2", "5,4"),
    ONE("GatherND", "batch_dims=2", "2,3,4 ; 2,3,5,1", "2,3,5"),
    OLD("GatherND", "opset5", "batch_dims=2", "2,3,4 ; 2,3,5,1", "6,5"),
    ONE("SearchSorted", "", "2,9 ; 2,3", "2,3"),
    ONE("OneHot", "axis=-1", "2,3 ; #7 ; () ; ()", "2,3,7"),
    ONE("OneHot", "axis=0", "2,3 ; #7 ; () ; ()", "7,2,3"),
    MANY(2, "TopK", "axis=1", "2,9 ; #4", "2,4 ; 2,4"),
    ONE("EmbeddingBagOffsetsSum", "", "9,4 ; 6 ; 3", "3,4"),
    ONE("EmbeddingBagOffsets", "", "9,4 ; 6 ; 3", "3,4"),
    ONE("EmbeddingBagPackedSum", "", "9,4 ; 2,6", "2,4"),
    ONE("EmbeddingBagPacked", "", "9,4 ; 2,6", "2,4"),
    ONE("EmbeddingSegmentsSum", "", "9,4 ; 6 ; 6 ; #5", "5,4"),

    /* (9 + 1 + 1 - 3) / 2 + 1 = 5 */
    ONE("Convolution", "strides=2,2 pads_begin=1,1 pads_end=1,1",
        "1,3,9,8 ; 7,3,3,3", "1,7,5,4"),
    /* a kernel of 3, dilated by 2, spans 5 */
    ONE("Convolution", "dilations=2 auto_pad=valid", "1,3,9 ; 7,3,3", "1,7,5"),
    ONE("Convolution", "strides=2,3 auto_pad=same_upper", "1,3,9,8 ; 7,3,3,3",
        "1,7,5,3"),
    ONE("GroupConvolution", "strides=1,1", "1,6,9,8 ; 3,4,2,3,3", "1,12,7,6"),
    /* (9 - 1) * 2 + 3 - 1 - 1 + 1 = 18 */
    ONE("ConvolutionBackpropData",
        "strides=2 pads_begin=1 pads_end=1 output_padding=1", "1,3,9 ; 3,7,3",
        "1,7,18"),
    ONE("ConvolutionBackpropData", "strides=2 auto_pad=same_lower",
        "1,3,9 ; 3,7,3 ; =17", "1,7,17"),
    ONE("ConvolutionBackpropData", "strides=2 auto_pad=same_lower",
        "1,3,9 ; 3,7,3", "1,7,19"),
    ONE("GroupConvolutionBackpropData", "strides=2", "1,6,9 ; 3,2,5,3",
        "1,15,19"),
    ONE("BinaryConvolution", "strides=1,1", "1,3,9,8 ; 7,3,3,3", "1,7,7,6"),
    ONE("DeformableConvolution", "strides=1,1 group=2",
        "1,4,9,8 ; 1,18,7,6 ; 6,2,3,3", "1,6,7,6"),
    ONE("MaxPool", "kernel=2,2 strides=2,2", "1,3,9,8", "1,3,4,4"),
    ONE("MaxPool", "kernel=2,2 strides=2,2 rounding_type=ceil", "1,3,9,8",
        "1,3,5,4"),
    MANY(2, "MaxPool", "kernel=3 strides=2 dilations=2", "1,3,9",
         "1,3,3 ; 1,3,3"),
    /* ceil gives 3 windows, the last one of which starts at 4, in the
     * padding */
    ONE("MaxPool", "kernel=2 strides=2 pads_end=1 rounding_type=ceil", "1,1,4",
        "1,1,3"),
    ONE("MaxPool", "kernel=2 strides=2 pads_end=1 rounding_type=ceil_torch",
        "1,1,4", "1,1,2"),
    ONE("AvgPool", "kernel=3,3 strides=2,2 auto_pad=same_lower", "1,3,9,8",
        "1,3,5,4"),
    ONE("AdaptiveAvgPool", "", "1,3,9,8 ; =2,1", "1,3,2,1"),
    MANY(2, "AdaptiveMaxPool", "", "1,3,9 ; =2", "1,3,2 ; 1,3,2"),
    ONE("ExtractImagePatches", "sizes=3,3 strides=5,5 rates=1,1 auto_pad=valid",
        "2,3,10,10", "2,27,2,2"),
    ONE("ExtractImagePatches",
        "sizes=4,4 strides=8,8 rates=1,1 auto_pad=same_upper", "2,3,10,10",
        "2,48,2,2"),

    ONE("ReduceL1", "", "2,3 ; =1", "2"),
    ONE("ReduceL2", "", "2,3 ; =1", "2"),
    ONE("ReduceLogicalAnd", "", "2,3 ; =1", "2"),
    ONE("ReduceLogicalOr", "", "2,3 ; =1", "2"),
    ONE("ReduceMax", "", "2,3 ; =1", "2"),
    ONE("ReduceMean", "keep_dims=true", "2,3,4 ; =-1,0", "1,3,1"),
    ONE("ReduceMin", "", "2,3 ; #0", "3"),
    ONE("ReduceProd", "", "2,3 ; =0,1", "()"),
    ONE("ReduceSum", "", "2,3 ; =", "2,3"),

    ONE("ShapeOf", "", "2,3,4", "3"),
    ONE("ShapeOf", "", "()", "0"),
    ONE("Range", "output_type=i64", "#2 ; #9 ; #3", "3"),
    ONE("Range", "output_type=i64", "#9 ; #2 ; #-3", "3"),
    ONE("Range", "output_type=i64", "#2 ; #2 ; #1", "0"),
    ONE("Range", "output_type=f32", "()~0 ; ()~1 ; ()~0.3", "4"),
    ONE("Range", "output_type=i64", "()~0.9 ; ()~3.9 ; ()~1", "3"),
    ONE("Eye", "", "#3 ; #4 ; #0", "3,4"),
    ONE("Eye", "", "#3 ; #4 ; #0 ; =2,5", "2,5,3,4"),
    ONE("RandomUniform", "", "=2,3 ; () ; ()", "2,3"),

    ONE("ScatterElementsUpdate", "", "9,4 ; 2,3 ; 2,3 ; ()", "9,4"),
    ONE("ScatterUpdate", "", "9,4 ; 2 ; 2,4 ; ()", "9,4"),
    ONE("ScatterNDUpdate", "", "9,4,5 ; 2,1 ; 2,4,5", "9,4,5"),
    ONE("SliceScatter", "", "9,4 ; 2,4 ; 1 ; 1 ; 1", "9,4"),

    ONE("Pad", "", "2,3 ; =1,-1 ; =0,4", "3,6"),
    ONE("Pad", "pad_mode=reflect", "2,3 ; =1,2 ; =0,0", "3,5"),
    ONE("Pad", "pad_mode=symmetric", "2,3 ; =2,3 ; =0,0", "4,6"),
    ONE("DepthToSpace", "block_size=2", "1,12,3,4", "1,3,6,8"),
    ONE("SpaceToDepth", "block_size=2", "1,3,6,8", "1,12,3,4"),
    ONE("SpaceToBatch", "", "2,6,10 ; =1,2,3 ; =0,1,0 ; =0,1,2", "12,4,4"),
    ONE("BatchToSpace", "", "12,4,4 ; =1,2,3 ; =0,1,0 ; =0,1,2", "2,6,10"),
    ONE("Interpolate", "shape_calculation_mode=sizes", "1,3,5,5 ; =10,7 ; =2,3",
        "1,3,10,7"),
    /* as single precision has it: 9 * (1/3 + 1e-6) = 3.000009 */
    ONE("Interpolate", "shape_calculation_mode=scales pads_begin=0,0,1,0",
        "1,3,8,5 ; ~0.3333333,2 ; =2,-1", "1,3,3,10"),
    OLD("Interpolate", "opset4", "shape_calculation_mode=scales",
        "1,3,8,5 ; =0,0 ; ~2,2 ; =2,3", "1,3,16,10"),
    OLD("Interpolate", "opset1", "axes=2,3", "1,3,8,5 ; =7,9", "1,3,7,9"),
    ONE("ScaledDotProductAttention", "causal=false",
        "2,8,7,64 ; 2,8,9,64 ; 2,8,9,32", "2,8,7,32"),
    ONE("ScaledDotProductAttention", "causal=false",
        "2,1,7,64 ; 2,8,9,64 ; 2,8,9,32 ; 7,9 ; ()", "2,8,7,32"),
    ONE("ScaledDotProductAttention", "causal=true",
        "2,7,64 ; 2,9,64 ; 2,9,32 ; ()", "2,7,32"),
    ONE("ScaledDotProductAttention", "causal=false",
        "2,7,64 ; 2,9,64 ; 2,9,32 ; ()", "2,7,32"),

    ONE("RNNCell", "hidden_size=5", "2,3 ; 2,5 ; 5,3 ; 5,5 ; 5", "2,5"),
    ONE("GRUCell", "hidden_size=5", "2,3 ; 2,5 ; 15,3 ; 15,5 ; 15", "2,5"),
    MANY(2, "LSTMCell", "hidden_size=5", "2,3 ; 2,5 ; 2,5 ; 20,3 ; 20,5 ; 20",
         "2,5 ; 2,5"),
    MANY(2, "RNNSequence", "hidden_size=5",
         "2,9,3 ; 2,1,5 ; 2 ; 1,5,3 ; 1,5,5 ; 1,5", "2,1,9,5 ; 2,1,5"),
    MANY(2, "GRUSequence", "hidden_size=5",
         "2,9,3 ; 2,1,5 ; 2 ; 1,15,3 ; 1,15,5 ; 1,15", "2,1,9,5 ; 2,1,5"),
    MANY(3, "LSTMSequence", "hidden_size=5 direction=bidirectional",
         "2,9,3 ; 2,2,5 ; 2,2,5 ; 2 ; 2,20,3 ; 2,20,5 ; 2,20",
         "2,2,9,5 ; 2,2,5 ; 2,2,5"),
    ONE("QuantizeLinear", "", "2,3 ; () ; ()", "2,3"),
    ONE("DequantizeLinear", "", "2,3 ; 3", "2,3"),
    MANY(3, "DynamicQuantizeLinear", "", "2,3", "2,3 ; () ; ()"),
    ONE("MatMulInteger", "", "2,3 ; 3,4 ; ()", "2,4"),
    ONE("QLinearMatMul", "", "5,2,3 ; () ; () ; 3,4 ; () ; () ; () ; ()",
        "5,2,4"),
    ONE("ConvInteger", "group=2", "1,4,9 ; 6,2,3", "1,6,7"),
    ONE("QLinearConv", "pads_begin=1 pads_end=1",
        "1,4,9 ; () ; () ; 6,4,3 ; 6 ; 6 ; () ; () ; 6", "1,6,9"),
    MANY(2, "RNN", "", "9,2,3 ; 1,5,3 ; 1,5,5", "9,1,2,5 ; 1,2,5"),
    MANY(2, "GRU", "layout=1", "2,9,3 ; 1,15,3 ; 1,15,5", "2,9,1,5 ; 2,1,5"),
    MANY(3, "LSTM", "direction=bidirectional", "9,2,3 ; 2,20,3 ; 2,20,5 ; 2,40",
         "9,2,2,5 ; 2,2,5 ; 2,2,5"),
    ONE("ROIAlign", "pooled_h=6 pooled_w=7", "1,3,9,8 ; 5,4 ; 5", "5,3,6,7"),
    ONE("ROIAlignRotated", "pooled_h=6 pooled_w=7", "1,3,9,8 ; 5,5 ; 5",
        "5,3,6,7"),
    ONE("GridSample", "", "2,3,9,8 ; 2,5,6,2", "2,3,5,6"),
    ONE("GridSample", "", "2,3,9,8,7 ; 2,4,5,6,3", "2,3,4,5,6"),
    ONE("DFT", "", "4,6,2 ; =-1", "4,6,2"),
    ONE("STFT", "", "3,20 ; 8 ; =8 ; =3", "3,5,5,2"),
    ONE("STFT", "transpose_frames=true", "20 ; 6 ; =7 ; =3", "4,5,2"),
    ONE("IDFT", "", "4,6,2 ; =0,1 ; =-1,9", "4,9,2"),
    ONE("RDFT", "", "4,6 ; =0,1", "4,4,2"),
    ONE("RDFT", "", "4,6 ; =1 ; =9", "4,5,2"),
    ONE("IRDFT", "", "4,4,2 ; =1", "4,6"),
    ONE("IRDFT", "", "4,4,2 ; =1 ; =9", "4,9"),
};

START_TEST(shapes_follow_from_the_inputs)
{
    rule_case c;

    rule_case_make(&c, shapes[_i].type, shapes[_i].version,
                   shapes[_i].attributes, shapes[_i].inputs,
                   shapes[_i].n_outputs);
    MUST(mo_infer_rule_apply(mo_infer_rule_find(c.op.type), &c.op, c.outputs,
                             &err));
    ck_assert_msg(!strcmp(rule_case_shapes(&c), shapes[_i].outputs),
                  "%s(%s) gives %s, not %s", c.op.type, shapes[_i].inputs,
                  rule_case_shapes(&c), shapes[_i].outputs);
    rule_case_free(&c);
}
END_TEST

/* Types with a shape that depends on data are not tested. */
static bool is_tested(const char *type)
{
    static const char *const from_data[] = {
        "NonZero", "Unique", "NonMaxSuppression", "MulticlassNms", "MatrixNms",
    };

    for (int i = 0; i < COUNT(shapes); i++)
        if (strcmp(shapes[i].type, type) == 0)
            return true;
    for (int i = 0; i < COUNT(from_data); i++)
        if (strcmp(from_data[i], type) == 0)
            return true;
    return false;
}

START_TEST(every_rule_is_tested_and_found)
{
    for (int i = 0; mo_infer_rule_at(i); i++) {
        const mo_infer_rule *rule = mo_infer_rule_at(i);

        ck_assert_msg(is_tested(rule->type), "%s", rule->type);
        ck_assert_msg(mo_infer_rule_find(rule->type) == rule,
                      "%s is there twice", rule->type);
    }
    ck_assert_ptr_null(mo_infer_rule_find("Fancy"));
}
END_TEST

SUITE(rule)
{
    EACH(shapes_follow_from_the_inputs, COUNT(shapes));
    TEST(every_rule_is_tested_and_found);
}
