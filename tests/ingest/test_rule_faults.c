/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/infer/rule.h: errors. */
#include "ingest/infer/rule.h"

#include <string.h>

#include "tests/ingest/rule_case.h"
#include "tests/support/suite.h"

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
    { "ConvolutionBackpropData", "", "1,3,2 ; 3,7,3 ; =1,2", "lists 2 numbers",
      1 },
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
    ck_assert_msg(mo_infer_rule_apply(mo_infer_rule_find(c.op.type), &c.op,
                                      c.outputs, &err) != MO_OK,
                  "%s(%s) gives %s", c.op.type, faults[_i].inputs,
                  rule_case_shapes(&c));
    ck_assert_msg(strstr(err.text, faults[_i].text), "%s: %s", c.op.type,
                  err.text);
    rule_case_free(&c);
}
END_TEST

SUITE(rule_faults)
{
    EACH(what_contradicts_itself_is_an_error, COUNT(faults));
}
