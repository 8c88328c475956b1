/* Claims of ingest/infer/rule.h: what every operator makes of shapes, and of
 * values. */
#include "ingest/infer/rule.h"

#include <string.h>

#include "tests/rule_case.h"
#include "tests/suite.h"

/* Every type of the table stands here at least once. */
static const struct {
    const char *type, *version, *attributes, *inputs, *outputs;
    int n_outputs;
} shapes[] = {
#define ONE(type, attributes, inputs, output)                                 \
    { type, NULL, attributes, inputs, output, 1 }
#define OLD(type, version, attributes, inputs, output)                        \
    { type, version, attributes, inputs, output, 1 }
#define MANY(n, type, attributes, inputs, outputs)                            \
    { type, NULL, attributes, inputs, outputs, n }
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
    ONE("Einsum", "equation=...ij,...jk->...ik", "7,1,2,3 ; 5,3,4",
        "7,5,2,4"),
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
    ONE("Convolution", "dilations=2 auto_pad=valid", "1,3,9 ; 7,3,3",
        "1,7,5"),
    ONE("Convolution", "strides=2,3 auto_pad=same_upper",
        "1,3,9,8 ; 7,3,3,3", "1,7,5,3"),
    ONE("GroupConvolution", "strides=1,1", "1,6,9,8 ; 3,4,2,3,3",
        "1,12,7,6"),
    /* (9 - 1) * 2 + 3 - 1 - 1 + 1 = 18 */
    ONE("ConvolutionBackpropData",
        "strides=2 pads_begin=1 pads_end=1 output_padding=1",
        "1,3,9 ; 3,7,3", "1,7,18"),
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
    ONE("MaxPool", "kernel=2 strides=2 pads_end=1 rounding_type=ceil",
        "1,1,4", "1,1,3"),
    ONE("MaxPool", "kernel=2 strides=2 pads_end=1 rounding_type=ceil_torch",
        "1,1,4", "1,1,2"),
    ONE("AvgPool", "kernel=3,3 strides=2,2 auto_pad=same_lower", "1,3,9,8",
        "1,3,5,4"),
    ONE("AdaptiveAvgPool", "", "1,3,9,8 ; =2,1", "1,3,2,1"),
    MANY(2, "AdaptiveMaxPool", "", "1,3,9 ; =2", "1,3,2 ; 1,3,2"),
    ONE("ExtractImagePatches",
        "sizes=3,3 strides=5,5 rates=1,1 auto_pad=valid", "2,3,10,10",
        "2,27,2,2"),
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
    ONE("Interpolate", "shape_calculation_mode=sizes",
        "1,3,5,5 ; =10,7 ; =2,3", "1,3,10,7"),
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
    MANY(2, "LSTMCell", "hidden_size=5",
         "2,3 ; 2,5 ; 2,5 ; 20,3 ; 20,5 ; 20", "2,5 ; 2,5"),
    MANY(2, "RNNSequence", "hidden_size=5",
         "2,9,3 ; 2,1,5 ; 2 ; 1,5,3 ; 1,5,5 ; 1,5", "2,1,9,5 ; 2,1,5"),
    MANY(2, "GRUSequence", "hidden_size=5",
         "2,9,3 ; 2,1,5 ; 2 ; 1,15,3 ; 1,15,5 ; 1,15", "2,1,9,5 ; 2,1,5"),
    MANY(3, "LSTMSequence", "hidden_size=5 direction=bidirectional",
         "2,9,3 ; 2,2,5 ; 2,2,5 ; 2 ; 2,20,3 ; 2,20,5 ; 2,20",
         "2,2,9,5 ; 2,2,5 ; 2,2,5"),
    ONE("ROIAlign", "pooled_h=6 pooled_w=7", "1,3,9,8 ; 5,4 ; 5", "5,3,6,7"),
    ONE("ROIAlignRotated", "pooled_h=6 pooled_w=7", "1,3,9,8 ; 5,5 ; 5",
        "5,3,6,7"),
    ONE("GridSample", "", "2,3,9,8 ; 2,5,6,2", "2,3,5,6"),
    ONE("DFT", "", "4,6,2 ; =-1", "4,6,2"),
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
    MUST(mo_rule_infer(mo_rule_find(c.op.type), &c.op, c.outputs, &err));
    ck_assert_msg(!strcmp(rule_case_shapes(&c), shapes[_i].outputs),
                  "%s(%s) gives %s, not %s", c.op.type, shapes[_i].inputs,
                  rule_case_shapes(&c), shapes[_i].outputs);
    rule_case_free(&c);
}
END_TEST

/* Those that only the data could tell have no shape to be tested. */
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
    for (int i = 0; mo_rule_at(i); i++) {
        const mo_rule *rule = mo_rule_at(i);

        ck_assert_msg(is_tested(rule->type), "%s", rule->type);
        ck_assert_msg(mo_rule_find(rule->type) == rule, "%s is there twice",
                      rule->type);
    }
    ck_assert_ptr_null(mo_rule_find("Fancy"));
}
END_TEST

static const struct {
    const char *type, *attributes, *inputs, *text;
    int n_outputs;
} faults[] = {
    { "Add", "", "2,3 ; 4", "2,3 and 4 do not broadcast", 1 },
    { "Add", "auto_broadcast=none", "2,3 ; 3", "do not broadcast", 1 },
    { "Add", "auto_broadcast=pdpd axis=1", "2,3 ; 2", "do not broadcast", 1 },
    { "Add", "", "2,3", "has 1 inputs, not 2", 1 },
    { "Add", "", "2 ; 2", "has 2 outputs, not 1", 2 },
    { "Swish", "", "2 ; 2 ; 2", "has 3 inputs, at most 2", 1 },
    { "Concat", "axis=0", "", "at least 1", 1 },
    { "Concat", "axis=2", "2,3 ; 2,3", "axis 2 is outside of 2", 1 },
    { "Concat", "axis=0", "2,3 ; 2,4", "cannot join 2,3 and 2,4", 1 },
    { "Concat", "axis=0", "2,3 ; 2", "cannot join 2,3 and 2", 1 },
    { "Reshape", "", "2,3 ; =4", "cannot turn 2,3 into 4", 1 },
    { "Reshape", "", "2,3 ; =4,-1", "cannot turn 2,3 into 4,?", 1 },
    { "Reshape", "", "2,3 ; =-1,-1", "more than one -1", 1 },
    { "Reshape", "", "2,3 ; =-2,3", "asks for -2", 1 },
    { "Reshape", "special_zero=true", "6 ; =6,0", "keeps dimension 1", 1 },
    { "Reshape", "", "2 ; =9223372036854775807,3", "too large", 1 },
    { "Reshape", "", "2,3 ; 2", "needs the value of its input 1", 1 },
    { "Reshape", "", "2,3 ; =1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6",
      "at most 16 integers", 1 },
    { "Unsqueeze", "", "2 ; =0,0", "twice", 1 },
    { "Unsqueeze", "", "2 ; =3", "axis 3 is outside of 2", 1 },
    { "Transpose", "", "2,3 ; =0,0", "names axis 0 twice", 1 },
    { "Transpose", "", "2,3 ; =0", "has 1 axes for 2,3", 1 },
    { "Transpose", "", "2,3 ; =0,2", "axis 2 is outside", 1 },
    { "Transpose", "", "2 ; ~0", "integers", 1 },
    { "Tile", "", "9 ; =9223372036854775807", "too large", 1 },
    { "Broadcast", "", "3 ; =2,4", "3 and 2,4 do not broadcast", 1 },
    { "Broadcast", "", "3,4 ; =4", "do not broadcast", 1 },
    { "Broadcast", "mode=explicit", "3 ; =4,3", "lacks the axes", 1 },
    { "Broadcast", "mode=explicit", "3 ; =4,3 ; =2", "axis 2", 1 },
    { "Broadcast", "", "1 ; =-5", "would have -5 elements", 1 },
    { "Split", "num_splits=4", "2,6 ; #1", "cannot split 2,6", 4 },
    { "Split", "num_splits=3", "2,6 ; #1", "for 2 outputs", 2 },
    { "VariadicSplit", "", "6 ; #0 ; =4,4", "do not split 6", 2 },
    { "VariadicSplit", "", "6 ; #0 ; =-1,-1", "do not split 6", 2 },
    { "VariadicSplit", "", "6 ; #0 ; =3,2", "do not split 6", 2 },
    { "VariadicSplit", "", "6 ; #0 ; =3,3", "do not split 6", 3 },
    { "Slice", "", "9 ; =0 ; =9 ; =0", "a step of 0", 1 },
    { "Slice", "", "9 ; =0,0 ; =9,9 ; =1,1 ; =0,-1", "axis 0 twice", 1 },
    { "Slice", "", "9 ; =0 ; =9,9 ; =1", "lists 2 numbers, not 1", 1 },
    { "StridedSlice", "", "9 ; =0,0 ; =9,9", "more than the 1", 1 },
    { "Gather", "", "9 ; 2 ; #1", "axis 1 is outside of 1", 1 },
    { "Gather", "batch_dims=1", "2,9 ; 3,4 ; #1", "differ in their first 1",
      1 },
    { "Gather", "batch_dims=5", "2,9 ; 3,4 ; #1", "shares 5 dimensions", 1 },
    { "GatherElements", "axis=0", "9,5 ; 2,4", "cannot gather 2,4", 1 },
    { "GatherND", "", "2,3 ; 5,3", "indices of 5,3", 1 },
    { "OneHot", "axis=3", "2 ; #7 ; () ; ()", "axis 3", 1 },
    { "TopK", "axis=0", "9 ; #-1", "would have -1 elements", 2 },
    { "MatMul", "", "2,3 ; 4,5", "3 columns meet 4 rows", 1 },
    { "MatMul", "", "2,2,3 ; 4,3,5", "do not broadcast", 1 },
    { "MatMul", "", "() ; 3", "must have 1 to 16 dimensions", 1 },
    { "Einsum", "", "2,3", "no equation", 1 },
    { "Einsum", "equation=ij,jk->ik", "2,3 ; 4,5", "'j' is both 3 and 4", 1 },
    { "Einsum", "equation=ijk->i", "2,3", "does not fit 2,3", 1 },
    { "Einsum", "equation=ij->k", "2,3", "in no input", 1 },
    { "Einsum", "equation=ij,jk->i", "2,3", "more than 1 inputs", 1 },
    { "Einsum", "equation=i?->i", "2,3", "does not fit", 1 },
    { "Convolution", "strides=0,1", "1,3,9,9 ; 7,3,3,3", "less than 1", 1 },
    { "Convolution", "strides=1", "1,3,9,9 ; 7,3,3,3",
      "'strides' has 1 numbers, not 2", 1 },
    { "Convolution", "strides=a,b", "1,3,9,9 ; 7,3,3,3", "not integers", 1 },
    { "Convolution", "strides=4294967296,1", "1,3,9,9 ; 7,3,3,3",
      "'strides' is too large", 1 },
    { "Convolution", "", "1,4,9,9 ; 7,3,3,3", "does not fit data", 1 },
    { "Convolution", "", "1,3,2,9 ; 7,3,3,3", "spans 3 of 2", 1 },
    { "Convolution", "", "1,3,9 ; 7,3,3,3", "does not fit data", 1 },
    { "Convolution", "", "3,9 ; 7,3,3", "3 to 5 dimensions", 1 },
    { "Convolution", "", "1,3,9 ; 7,3,0", "kernel is empty", 1 },
    { "GroupConvolution", "", "1,3,9 ; 2,4,2,3", "does not fit data", 1 },
    { "ConvolutionBackpropData", "", "1,3,2 ; 3,7,3 ; =1,2",
      "lists 2 numbers", 1 },
    { "ConvolutionBackpropData", "pads_begin=9", "1,3,2 ; 3,7,3",
      "would have -5 elements", 1 },
    { "ConvolutionBackpropData", "strides=2147483647",
      "1,1,281474976710656 ; 1,1,1", "too large", 1 },
    { "MaxPool", "kernel=0", "1,3,9", "kernel is empty", 1 },
    { "MaxPool", "kernel=3 dilations=2147483647", "1,1,9", "spans", 1 },
    { "AdaptiveAvgPool", "", "1,3,9 ; =1,1", "lists 2 numbers", 1 },
    { "DepthToSpace", "block_size=2", "1,3,4,4", "do not divide 1,3,4,4", 1 },
    { "DepthToSpace", "block_size=0", "1,4,4,4", "less than 1", 1 },
    { "DepthToSpace", "block_size=2147483647", "1,4,4,4,4,4", "too large", 1 },
    { "SpaceToDepth", "block_size=3", "1,3,4,4", "do not divide", 1 },
    { "SpaceToBatch", "", "2,6 ; =1,0 ; =0,0 ; =0,0", "out of range", 1 },
    { "BatchToSpace", "", "3,6 ; =1,2 ; =0,0 ; =0,0", "do not divide", 1 },
    { "Pad", "pad_mode=reflect", "3 ; =3 ; =0", "cannot mirror 3", 1 },
    { "Pad", "", "3 ; =-9 ; =0", "would have -6 elements", 1 },
    { "Pad", "", "3 ; =9223372036854775807 ; =0", "too large", 1 },
    { "Range", "", "#0 ; #9 ; #0", "a step of 0", 1 },
    { "Range", "", "=0,1 ; #9 ; #1", "is not one number", 1 },
    { "Range", "", "#0 ; #9223372036854775807 ; #1", "too large", 1 },
    { "Interpolate", "", "1,3 ; =4 ; =2", "axis 2", 1 },
    { "Interpolate", "", "1,3 ; =4 ; =0,1", "1 sizes for 2 axes", 1 },
    { "Interpolate", "shape_calculation_mode=scales", "3 ; ~-2 ; =0",
      "scale 0 is out of range", 1 },
    { "LSTMCell", "", "2,3 ; 2,5 ; 2,5 ; 20,3 ; 20,5 ; 20",
      "'hidden_size' is missing", 2 },
    { "LSTMCell", "hidden_size=5", "2,3 ; 2,5 ; 2,5 ; 20,4 ; 20,5 ; 20",
      "do not fit together", 2 },
    { "BatchNormInference", "", "2,3 ; 4 ; 3 ; 3 ; 3", "4 does not fit", 1 },
    { "GroupNormalization", "num_groups=0", "1,4 ; 4 ; 4", "0 groups", 1 },
    { "ScatterNDUpdate", "", "9,4 ; 2,1 ; 2,5", "do not fit together", 1 },
    { "ScaledDotProductAttention", "", "2,7,64 ; 2,9,63 ; 2,9,32",
      "do not fit together", 1 },
    { "ScaledDotProductAttention", "", "2,7,64 ; 2,9,64 ; 2,9,32 ; 7,8",
      "mask 7,8 does not fit", 1 },
    { "OneHot", "axis=0", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 ; #7 ; () ; ()",
      "more than 16 dimensions", 1 },
    { "Einsum", "equation=...i,...i->i", "2,3 ; 4,3", "do not broadcast", 1 },
    { "SpaceToBatch", "", "2,6 ; =1,4 ; =0,1 ; =0,0", "do not divide", 1 },
    { "Pad", "pad_mode=symmetric", "3 ; =4 ; =0", "cannot mirror 4", 1 },
    { "NonZero", "", "2,3", "depends on the data", 1 },
    { "Eye", "", "#281474976710656 ; #2 ; #0", "too large", 1 },
};

START_TEST(what_contradicts_itself_is_an_error)
{
    mo_error err = { 0 };
    rule_case c;

    rule_case_make(&c, faults[_i].type, NULL, faults[_i].attributes,
                   faults[_i].inputs, faults[_i].n_outputs);
    ck_assert_msg(mo_rule_infer(mo_rule_find(c.op.type), &c.op, c.outputs,
                                &err) != MO_OK,
                  "%s(%s) gives %s", c.op.type, faults[_i].inputs,
                  rule_case_shapes(&c));
    ck_assert_msg(strstr(err.text, faults[_i].text), "%s: %s", c.op.type,
                  err.text);
    rule_case_free(&c);
}
END_TEST

/* The values of an output, all of the inputs' being known. */
static const struct {
    const char *type, *attributes, *inputs, *dtype, *items;
    int output, n_outputs;
} values[] = {
#define VALUE(type, attributes, inputs, dtype, items)                         \
    { type, attributes, inputs, dtype, items, 0, 1 }
    VALUE("ShapeOf", "", "2,3,4", "i64", "2,3,4"),
    VALUE("ShapeOf", "", "2,300", "i32", "2,300"),
    VALUE("Add", "", "=1,2,3 ; #10", "i64", "11,12,13"),
    VALUE("Add", "", "2x1=10,20 ; =1,2", "i64", "11,12,21,22"),
    VALUE("Subtract", "", "=1,2 ; =5,1", "i64", "-4,1"),
    VALUE("Multiply", "", "=3,-4 ; #5", "i64", "15,-20"),
    VALUE("Divide", "", "=7,-7,7,-7 ; =2,2,-2,-2", "i64", "3,-4,-4,3"),
    VALUE("Mod", "", "=7,-7,7,-7 ; =4,4,-4,-4", "i64", "3,-3,3,-3"),
    VALUE("FloorMod", "", "=7,-7,7,-7 ; =4,4,-4,-4", "i64", "3,1,-1,-3"),
    VALUE("Power", "", "=2,3,7 ; =10,3,0", "i64", "1024,27,1"),
    VALUE("Maximum", "", "=2,9 ; #5", "i64", "5,9"),
    VALUE("Minimum", "", "=2,9 ; #5", "i64", "2,5"),
    VALUE("SquaredDifference", "", "=2,9 ; #5", "i64", "9,16"),
    VALUE("Divide", "", "~7,1 ; ~2,4", "f32", "3.5,0.25"),
    VALUE("FloorMod", "", "~-7.5 ; ~2", "f32", "0.5"),
    VALUE("LogicalAnd", "", "=1,1,0 ; =1,0,0", "boolean", "1,0,0"),
    VALUE("LogicalOr", "", "=1,1,0 ; =1,0,0", "boolean", "1,1,0"),
    VALUE("LogicalXor", "", "=1,1,0 ; =1,0,0", "boolean", "0,1,0"),
    VALUE("LogicalNot", "", "=1,0", "boolean", "0,1"),
    VALUE("Equal", "", "=1,2,3 ; #2", "boolean", "0,1,0"),
    VALUE("NotEqual", "", "=1,2,3 ; #2", "boolean", "1,0,1"),
    VALUE("Less", "", "=1,2,3 ; #2", "boolean", "1,0,0"),
    VALUE("LessEqual", "", "=1,2,3 ; #2", "boolean", "1,1,0"),
    VALUE("Greater", "", "~1,2,3 ; ~2", "boolean", "0,0,1"),
    VALUE("GreaterEqual", "", "~1,2,3 ; ~2", "boolean", "0,1,1"),
    VALUE("Select", "", "=1,0,1 ; =1,2,3 ; #9", "i64", "1,9,3"),
    VALUE("Abs", "", "=-1,2", "i64", "1,2"),
    VALUE("Negative", "", "=-1,2", "i64", "1,-2"),
    VALUE("Sign", "", "=-7,0,7", "i64", "-1,0,1"),
    VALUE("ReLU", "", "=-7,0,7", "i64", "0,0,7"),
    VALUE("Floor", "", "~-1.5,1.5", "f32", "-2,1"),
    VALUE("Ceiling", "", "~-1.5,1.5", "f32", "-1,2"),
    VALUE("Sqrt", "", "~9,2.25", "f32", "3,1.5"),
    VALUE("Exp", "", "~0", "f32", "1"),
    VALUE("Log", "", "~1", "f32", "0"),
    VALUE("Convert", "", "~1.9,-1.9", "i64", "1,-1"),
    VALUE("Convert", "", "=4294967303,-1", "i32", "7,-1"),
    VALUE("Convert", "", "=300,-1", "u8", "44,255"),
    VALUE("Convert", "", "=200", "i8", "-56"),
    VALUE("Convert", "", "=16777217", "f32", "16777216"),
    VALUE("Convert", "", "=2049", "f16", "2048"),
    VALUE("Convert", "", "~0.5,0", "boolean", "1,0"),
    VALUE("Convert", "", "~1e30,-1e30", "i64",
          "9223372036854775807,-9223372036854775808"),
    VALUE("ConvertLike", "", "~2.5 ; =1", "i64", "2"),
    VALUE("Reshape", "", "=1,2,3,4 ; =2,2", "i64", "1,2,3,4"),
    VALUE("Squeeze", "", "1x2=1,2", "i64", "1,2"),
    VALUE("Unsqueeze", "", "=1,2 ; =0", "i64", "1,2"),
    VALUE("Transpose", "", "2x3=1,2,3,4,5,6 ; =1,0", "i64", "1,4,2,5,3,6"),
    VALUE("Tile", "", "2x2=1,2,3,4 ; =2,1,2", "i64",
          "1,2,1,2,3,4,3,4,1,2,1,2,3,4,3,4"),
    VALUE("Broadcast", "", "=1,2 ; =2,2", "i64", "1,2,1,2"),
    VALUE("Broadcast", "mode=explicit", "=1,2 ; =2,2 ; =0", "i64", "1,1,2,2"),
    VALUE("Concat", "axis=1", "2x1=1,2 ; 2x2=3,4,5,6", "i64", "1,3,4,2,5,6"),
    { "Split", "num_splits=2", "=1,2,3,4 ; #0", "i64", "3,4", 1, 2 },
    { "Split", "num_splits=2", "2x2=1,2,3,4 ; #1", "i64", "2,4", 1, 2 },
    { "VariadicSplit", "", "=1,2,3,4 ; #0 ; =1,-1", "i64", "2,3,4", 1, 2 },
    { "VariadicSplit", "", "=1,2,3,4 ; #0 ; =-1,1,1", "i64", "3", 1, 3 },
    VALUE("Slice", "", "=1,2,3,4,5 ; =-1 ; =0 ; =-2", "i64", "5,3"),
    VALUE("StridedSlice", "shrink_axis_mask=1", "=1,2,3 ; =-1 ; =0", "i64",
          "3"),
    VALUE("StridedSlice", "new_axis_mask=1,0", "=1,2,3 ; =0,1 ; =0,3", "i64",
          "2,3"),
    VALUE("Gather", "", "=5,6,7 ; =-1,0 ; #0", "i64", "7,5"),
    VALUE("Gather", "", "2x3=1,2,3,4,5,6 ; =2,0 ; #1", "i64", "3,1,6,4"),
    VALUE("ReduceProd", "", "=2,3,4 ; =0", "i64", "24"),
    VALUE("ReduceSum", "", "2x3=1,2,3,4,5,6 ; =0", "i64", "5,7,9"),
    VALUE("ReduceMax", "", "2x3=1,2,3,4,5,6 ; =1", "i64", "3,6"),
    VALUE("ReduceMin", "keep_dims=true", "2x3=1,2,3,4,5,6 ; =1", "i64",
          "1,4"),
    VALUE("ReduceMean", "", "=1,2,4 ; =0", "i64", "2"),
    VALUE("ReduceMean", "", "~1,2 ; =0", "f32", "1.5"),
    VALUE("ReduceLogicalAnd", "", "=1,0 ; =0", "boolean", "0"),
    VALUE("ReduceLogicalOr", "", "=1,0 ; =0", "boolean", "1"),
    VALUE("Range", "output_type=i64", "#2 ; #9 ; #3", "i64", "2,5,8"),
    VALUE("Range", "output_type=f32", "()~1 ; ()~0 ; ()~-0.5", "f32",
          "1,0.5"),
};

/* The rule's shape, then its value of an output. */
static mo_status evaluate(rule_case *c, int output, const char *dtype,
                          mo_value **value, mo_error *why)
{
    const mo_rule *rule = mo_rule_find(c->op.type);

    ck_assert(rule->value != NULL);
    MUST(mo_rule_infer(rule, &c->op, c->outputs, &err));
    *value = mo_value_new(c->arena, &c->outputs[output], dtype);
    return rule->value(&c->op, output, *value, why);
}

START_TEST(values_are_computed)
{
    mo_value *value;
    rule_case c;

    rule_case_make(&c, values[_i].type, NULL, values[_i].attributes,
                   values[_i].inputs, values[_i].n_outputs);
    MUST(evaluate(&c, values[_i].output, values[_i].dtype, &value, &err));
    ck_assert_msg(!strcmp(rule_case_items(value), values[_i].items),
                  "%s(%s) is %s, not %s", c.op.type, values[_i].inputs,
                  rule_case_items(value), values[_i].items);
    rule_case_free(&c);
}
END_TEST

START_TEST(every_value_rule_is_tested)
{
    for (int i = 0; mo_rule_at(i); i++) {
        bool found = !mo_rule_at(i)->value;

        for (int k = 0; k < COUNT(values); k++)
            found |= strcmp(values[k].type, mo_rule_at(i)->type) == 0;
        ck_assert_msg(found, "%s", mo_rule_at(i)->type);
    }
}
END_TEST

static const struct {
    const char *type, *attributes, *inputs, *dtype;
} unvalued[] = {
    { "Divide", "", "=1 ; =0", "i64" },
    { "Mod", "", "=1 ; =0", "i64" },
    { "FloorMod", "", "=-9223372036854775808 ; =-1", "i64" },
    { "Divide", "", "=-9223372036854775808 ; =-1", "i64" },
    { "Add", "", "=9223372036854775807 ; =1", "i64" },
    { "Subtract", "", "=0 ; =-9223372036854775808", "i64" },
    { "Multiply", "", "=9223372036854775807 ; =2", "i64" },
    { "Power", "", "=10 ; =19", "i64" },
    { "Power", "", "=0 ; =-1", "i64" },
    { "SquaredDifference", "", "=9223372036854775807 ; =-1", "i64" },
    { "Negative", "", "=-9223372036854775808", "i64" },
    { "Abs", "", "=-9223372036854775808", "i64" },
    { "Sqrt", "", "=4", "i64" },
    { "Add", "", "=1 ; ~1", "i64" },
    { "Add", "auto_broadcast=pdpd axis=0", "2x3=1,2,3,4,5,6 ; =1,2", "i64" },
    { "Equal", "", "=1 ; ~1", "boolean" },
    { "Select", "", "~1 ; =1 ; =2", "i64" },
    { "LogicalAnd", "", "~1 ; ~1", "f32" },
    { "Gather", "", "=5,6,7 ; =3 ; #0", "i64" },
    { "Gather", "", "=5,6,7 ; =-4 ; #0", "i64" },
    { "ReduceMax", "", "0= ; =0", "i64" },
    { "ReduceSum", "", "~1 ; =0", "i64" },
    { "StridedSlice", "shrink_axis_mask=1", "0x2= ; =0 ; =1", "i64" },
};

START_TEST(what_has_no_result_has_no_value)
{
    mo_error err = { 0 };
    mo_value *value;
    rule_case c;

    rule_case_make(&c, unvalued[_i].type, NULL, unvalued[_i].attributes,
                   unvalued[_i].inputs, 1);
    ck_assert_msg(evaluate(&c, 0, unvalued[_i].dtype, &value, &err) != MO_OK,
                  "%s(%s) is %s", c.op.type, unvalued[_i].inputs,
                  rule_case_items(value));
    ck_assert_str_ne(err.text, "");
    rule_case_free(&c);
}
END_TEST

SUITE(rule)
{
    EACH(shapes_follow_from_the_inputs, COUNT(shapes));
    TEST(every_rule_is_tested_and_found);
    EACH(what_contradicts_itself_is_an_error, COUNT(faults));
    EACH(values_are_computed, COUNT(values));
    TEST(every_value_rule_is_tested);
    EACH(what_has_no_result_has_no_value, COUNT(unvalued));
}
