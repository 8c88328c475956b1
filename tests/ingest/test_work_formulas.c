/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/work/flops.h: every formula on a case computed by hand. */
#include "ingest/work.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/ingest/work_case.h"

/* Inputs are separated by '|'. */
static const struct formula {
    const char *type, *attrs, *inputs, *output;
    double flops;
} formulas[] = {
    /* One number per element of the output: 2 * 3 elements. */
    { "Abs", NULL, "2,3", "2,3", 6 },
    { "Acos", NULL, "2,3", "2,3", 6 },
    { "Acosh", NULL, "2,3", "2,3", 6 },
    { "Add", NULL, "2,3|1,3", "2,3", 6 },
    { "Asin", NULL, "2,3", "2,3", 6 },
    { "Asinh", NULL, "2,3", "2,3", 6 },
    { "Atan", NULL, "2,3", "2,3", 6 },
    { "Atanh", NULL, "2,3", "2,3", 6 },
    { "BatchNormInference", NULL, "2,3|3|3|3|3", "2,3", 12 }, /* 2 * 6 */
    { "BitwiseAnd", NULL, "2,3|2,3", "2,3", 6 },
    { "BitwiseNot", NULL, "2,3", "2,3", 6 },
    { "BitwiseOr", NULL, "2,3|2,3", "2,3", 6 },
    { "BitwiseXor", NULL, "2,3|2,3", "2,3", 6 },
    { "Bucketize", NULL, "2,3|100", "2,3", 48 }, /* 8 * 6 */
    { "Ceiling", NULL, "2,3", "2,3", 6 },
    { "Clamp", NULL, "2,3", "2,3", 12 }, /* 2 * 6 */
    { "Cos", NULL, "2,3", "2,3", 6 },
    { "Cosh", NULL, "2,3", "2,3", 24 }, /* 4 * 6 */
    { "Divide", NULL, "2,3|2,3", "2,3", 6 },
    { "Elu", NULL, "2,3", "2,3", 24 }, /* 4 * 6 */
    { "Equal", NULL, "2,3|2,3", "2,3", 6 },
    { "Erf", NULL, "2,3", "2,3", 48 }, /* 8 * 6 */
    { "Exp", NULL, "2,3", "2,3", 6 },
    { "FakeQuantize", NULL, "2,3|1|1|1|1", "2,3", 42 }, /* 7 * 6 */
    { "Floor", NULL, "2,3", "2,3", 6 },
    { "FloorMod", NULL, "2,3|2,3", "2,3", 24 }, /* 4 * 6 */
    { "Gelu", NULL, "2,3", "2,3", 48 },         /* 8 * 6 */
    { "Greater", NULL, "2,3|2,3", "2,3", 6 },
    { "GreaterEqual", NULL, "2,3|2,3", "2,3", 6 },
    { "GroupNormalization", NULL, "2,3|3|3", "2,3", 48 }, /* 8 * 6 */
    { "HardSigmoid", NULL, "2,3||", "2,3", 24 },          /* 4 * 6 */
    { "HSigmoid", NULL, "2,3", "2,3", 24 },               /* 4 * 6 */
    { "HSwish", NULL, "2,3", "2,3", 30 },                 /* 5 * 6 */
    { "InstanceNormalization", NULL, "2,3", "2,3", 48 },  /* 8 * 6 */
    { "IsFinite", NULL, "2,3", "2,3", 6 },
    { "IsInf", NULL, "2,3", "2,3", 6 },
    { "IsNaN", NULL, "2,3", "2,3", 6 },
    { "LayerNormalization", NULL, "2,3|3|3", "2,3", 48 }, /* 8 * 6 */
    { "LeakyReLU", NULL, "2,3", "2,3", 12 },              /* 2 * 6 */
    { "Less", NULL, "2,3|2,3", "2,3", 6 },
    { "LessEqual", NULL, "2,3|2,3", "2,3", 6 },
    { "Log", NULL, "2,3", "2,3", 6 },
    { "LogicalAnd", NULL, "2,3|2,3", "2,3", 6 },
    { "LogicalNot", NULL, "2,3", "2,3", 6 },
    { "LogicalOr", NULL, "2,3|2,3", "2,3", 6 },
    { "LogicalXor", NULL, "2,3|2,3", "2,3", 6 },
    { "LogSoftmax", NULL, "2,3", "2,3", 30 }, /* 5 * 6 */
    { "MaskedFill", NULL, "2,3|2,3", "2,3", 6 },
    { "Mish", NULL, "2,3", "2,3", 60 },    /* 10 * 6 */
    { "Mod", NULL, "2,3|2,3", "2,3", 24 }, /* 4 * 6 */
    { "Multiply", NULL, "2,1|1,3", "2,3", 6 },
    { "MVN", NULL, "2,3|1", "2,3", 48 }, /* 8 * 6 */
    { "Negative", NULL, "2,3", "2,3", 6 },
    { "NormalizeL2", NULL, "2,3|1", "2,3", 18 }, /* 3 * 6 */
    { "NotEqual", NULL, "2,3|2,3", "2,3", 6 },
    { "Power", NULL, "2,3|", "2,3", 6 },
    { "PReLU", NULL, "2,3|3", "2,3", 12 },   /* 2 * 6 */
    { "PriorBox", NULL, "2|2", "2,16", 32 }, /* 2 * 16 */
    { "PriorBoxClustered", NULL, "2|2", "2,16", 32 },
    { "PSROIPooling", NULL, "1,8,4,4|3,5", "3,2,2,2", 24 }, /* 3 * 8 */
    { "RandomUniform", NULL, "2||", "2,3", 60 },            /* 10 * 6 */
    { "Reciprocal", NULL, "2,3", "2,3", 6 },
    { "RegionYolo", NULL, "1,5,2,2", "1,20", 80 }, /* 4 * 20 */
    { "ReLU", NULL, "2,3", "2,3", 6 },
    { "ReLU6", NULL, "2,3", "2,3", 12 },                   /* 2 * 6 */
    { "RMS", NULL, "2,3|3", "2,3", 24 },                   /* 4 * 6 */
    { "ROIAlign", NULL, "1,2,8,8|3,4|3", "3,2,2,2", 768 }, /* 32 * 24 */
    { "ROIPooling", NULL, "1,2,8,8|3,5", "3,2,2,2", 24 },  /* 3*2*2*2 */
    { "Round", NULL, "2,3", "2,3", 6 },
    { "Rsqrt", NULL, "2,3", "2,3", 12 }, /* 2 * 6 */
    { "Select", NULL, "2,3|2,3|2,3", "2,3", 6 },
    { "Selu", NULL, "2,3||", "2,3", 30 },  /* 5 * 6 */
    { "Sigmoid", NULL, "2,3", "2,3", 24 }, /* 4 * 6 */
    { "Sign", NULL, "2,3", "2,3", 6 },
    { "Sin", NULL, "2,3", "2,3", 6 },
    { "Sinh", NULL, "2,3", "2,3", 24 },     /* 4 * 6 */
    { "SoftMax", NULL, "2,3", "2,3", 30 },  /* 5 * 6 */
    { "SoftPlus", NULL, "2,3", "2,3", 18 }, /* 3 * 6 */
    { "Softsign", NULL, "2,3", "2,3", 18 }, /* 3 * 6 */
    { "Sqrt", NULL, "2,3", "2,3", 6 },
    { "Square", NULL, "2,3", "2,3", 6 },
    { "SquaredDifference", NULL, "2,3|2,3", "2,3", 12 }, /* 2 * 6 */
    { "Subtract", NULL, "2,3|2,3", "2,3", 6 },
    { "Swish", NULL, "2,3", "2,3", 30 }, /* 5 * 6 */
    { "Tan", NULL, "2,3", "2,3", 6 },
    { "Tanh", NULL, "2,3", "2,3", 36 }, /* 6 * 6 */

    /* One number per element of the first input: 2 * 3 * 4 elements. */
    { "AdaptiveAvgPool", NULL, "1,2,3,4", "1,2,1,1", 24 },
    { "AdaptiveMaxPool", NULL, "1,2,3,4", "1,2,1,1", 24 },
    { "ArgMax", NULL, "2,3,4", "2,4", 24 },
    { "ArgMin", NULL, "2,3,4", "2,4", 24 },
    { "CTCGreedyDecoder", NULL, "2,3,4|2,3", "3,2,1,1", 24 },
    { "CumSum", NULL, "2,3,4|", "2,3,4", 24 },
    { "GlobalAveragePool", NULL, "1,2,3,4", "1,2,1,1", 24 },
    { "GlobalMaxPool", NULL, "1,2,3,4", "1,2,1,1", 24 },
    { "NonZero", NULL, "2,3,4", "3,24", 24 },
    { "ReduceL1", NULL, "2,3,4|1", "2,4", 48 }, /* 2 * 24 */
    { "ReduceL2", NULL, "2,3,4|1", "2,4", 48 }, /* 2 * 24 */
    { "ReduceLogicalAnd", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceLogicalOr", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceLogSum", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceLogSumExp", NULL, "2,3,4|1", "2,4", 48 }, /* 2 * 24 */
    { "ReduceMax", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceMean", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceMin", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceProd", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceSum", NULL, "2,3,4|1", "2,4", 24 },
    { "ReduceSumSquare", NULL, "2,3,4|1", "2,4", 48 }, /* 2 * 24 */
    { "TopK", NULL, "2,3,4|", "2,3,1", 24 },
    { "Unique", NULL, "2,3,4", "24", 24 },
    { "Variance", NULL, "2,3,4", "2,4", 96 }, /* 4 * 24 */

    /* One per element of the largest tensor. */
    { "DetectionOutput", NULL, "1,8|1,40|1,2,8", "1,1,5,7", 40 },
    { "Maximum", NULL, "2,3|1,3", "2,3", 6 },
    { "Maximum", NULL, "2,3,4", "", 24 }, /* torch's max of all */
    { "Minimum", NULL, "2,3|", "2,3", 6 },
    { "NonMaxSuppression", NULL, "1,10,4|1,80,10", "5,3", 800 },
    { "Proposal", NULL, "1,2,5,5|1,4,5,5|3", "3,5", 100 }, /* 4*5*5 */

    /* 2 * output * inner: 2 * (4 * 6) * 5. */
    { "MatMul", NULL, "4,5|5,6", "4,6", 240 },
    { "MatMul", "{\"transpose_a\":\"true\"}", "5,4|5,6", "4,6", 240 },
    { "MatMul", "{\"transpose_b\":true}", "4,5|6,5", "4,6", 240 },
    /* Batches broadcast: 2 * (7 * 3 * 4 * 6) * 5. */
    { "MatMul", NULL, "7,1,4,5|3,5,6", "7,3,4,6", 5040 },
    /* Vectors: 2 * 6 * 5, and 2 * 5. */
    { "MatMul", "{\"transpose_a\":\"true\"}", "5|5,6", "6", 60 },
    { "MatMul", NULL, "5|5", "", 10 },
    /* The operands the other way round, as a file without ports may have
     * them: 2 * (3 * 4 * 6) * 5. */
    { "MatMul", NULL, "3,5,6|3,4,5", "3,4,6", 720 },
    /* The inner size from the second operand: 2 * 24 * 5. */
    { "MatMul", NULL, "?|5,6", "4,6", 240 },
    { "MatMul", "{\"transpose_b\":\"true\"}", "?|6,5", "4,6", 240 },
    /* 2 * (8 * 6) * 5, and an addition each with a bias: 480 + 48. */
    { "Linear", NULL, "2,4,5|6,5", "2,4,6", 480 },
    { "Linear", NULL, "2,4,5|6,5|6", "2,4,6", 528 },
    { "LinearExperts", NULL, "4,5|8,6,5|4", "4,6", 240 },
    { "LinearExperts", NULL, "4,5|8,6,5|4,3", "4,3,6", 720 },
    /* Two experts for each of 4 rows: 2 * (8 * 6) * 5. */
    { "LinearExperts", NULL, "4,1,5|3,6,5|4,2", "4,2,6", 480 },
    { "Gemm", NULL, "4,5|5,6|6", "4,6", 264 }, /* 240 + 24 */
    { "Gemm", "{\"transA\":1}", "5,4|5,6", "4,6", 240 },
    { "Addmm", NULL, "6|4,5|5,6", "4,6", 264 }, /* 240 + 24 */
    { "Addmm", NULL, "4,5", "4,6", 264 },       /* weights left out */

    /* b 2, i 3, j 4, k 5, summed over j: 2 * 120. */
    { "Einsum", "{\"equation\":\"bij,bjk->bik\"}", "2,3,4|2,4,5", "2,3,5",
      240 },
    /* "..." is 2,6: 2 * (12 * 3 * 4 * 5). */
    { "Einsum", "{\"equation\":\"...qc,...kc->...qk\"}", "2,6,3,5|2,6,4,5",
      "2,6,3,4", 1440 },
    /* The "..." of the second broadcasts: 2 * (2 * 6 * 3 * 4 * 5). */
    { "Einsum", "{\"equation\":\"...qc,...kc->...qk\"}", "2,6,3,5|4,5",
      "2,6,3,4", 1440 },
    { "Einsum", "{\"equation\":\"i,j->ij\"}", "3|4", "3,4", 12 }, /* no sum */
    { "Einsum", "{\"equation\":\"ij->ji\"}", "3,4", "4,3", 0 },
    { "Einsum", "{\"equation\":\"ij->i\"}", "3,4", "3", 12 },
    { "Einsum", "{\"equation\":\"ij,jk->ik\"}", "0,4|4,5", "0,5", 0 },

    /* 2 * (1 * 8 * 5 * 5 outputs) * (3 * 3 * 3 of the filter) = 400 * 27. */
    { "Convolution", NULL, "1,3,7,7|8,3,3,3", "1,8,5,5", 10800 },
    { "Convolution", NULL, "1,3,7,7|8,3,3,3|8", "1,8,5,5", 11000 }, /* + 200 */
    /* Without a filter: 2 * 200 * (6 / 2 channels) * 9. */
    { "Convolution", "{\"kernel_size\":3,\"groups\":2}", "1,6,7,7", "1,8,5,5",
      10800 },
    { "Convolution", "{\"kernel_shape\":[3,3]}", "1,3,7,7", "1,8,5,5", 10800 },
    { "BinaryConvolution", NULL, "1,3,7,7|8,3,3,3", "1,8,5,5", 10800 },
    /* 4 groups of 2 -> 2 channels: 2 * (1 * 8 * 25) * (2 * 9). */
    { "GroupConvolution", NULL, "1,8,7,7|4,2,2,3,3", "1,8,5,5", 7200 },
    /* Every input element goes into 3 * 2 * 2 outputs: 2 * (8 * 25) * 12. */
    { "ConvolutionBackpropData", NULL, "1,8,5,5|8,3,2,2", "1,3,10,10", 4800 },
    /* 4 groups of 2 -> 3 channels: 2 * (8 * 25) * (3 * 4). */
    { "GroupConvolutionBackpropData", NULL, "1,8,5,5|4,2,3,2,2", "1,12,10,10",
      4800 },
    { "DeformableConvolution", NULL, "1,3,7,7|1,18,5,5|8,3,3,3", "1,8,5,5",
      10800 },

    /* 1 * 2 * 3 * 3 outputs, windows of 2 * 2. */
    { "MaxPool", "{\"kernel\":\"2, 2\"}", "1,2,6,6", "1,2,3,3", 72 },
    { "AvgPool", "{\"kernel_shape\":[2,2]}", "1,2,6,6", "1,2,3,3", 72 },
    { "AvgPool", "{\"kernel_size\":2}", "1,2,6,6", "1,2,3,3", 72 },
    /* 1 * 4 * 2 * 2 elements, 2 * 5 + 4 each. */
    { "LRN", "{\"size\":\"5\"}", "1,4,2,2", "1,4,2,2", 224 },
    /* 1 * 1 * 4 * 4 elements: 4 taps are 7, 16 are 31. */
    { "Interpolate", "{\"mode\":\"nearest\"}", "1,1,2,2", "1,1,4,4", 0 },
    { "Interpolate", "{\"mode\":\"linear_onnx\"}", "1,1,2,2", "1,1,4,4", 112 },
    { "Interpolate", "{\"mode\":\"cubic\"}", "1,1,2,2", "1,1,4,4", 496 },
    { "GridSample", "{\"mode\":\"bilinear\"}", "1,1,2,2|1,4,4,2", "1,1,4,4",
      112 },

    /* 2 heads, 3 queries, 5 keys, width 4, values 6 wide:
     * 2 * 3 * 5 * (2 * 4 + 2 * 6 + 5). */
    { "ScaledDotProductAttention", NULL, "1,2,3,4|1,2,5,4|1,2,5,6", "1,2,3,6",
      750 },

    /* Batch 2, 3 features, 4 hidden units.  LSTM, 16 rows of gates:
     * 2 * (2 * 16 * (3 + 4) + 36 * 4). */
    { "LSTMCell", NULL, "2,3|2,4|2,4|16,3|16,4|16", "2,4", 736 },
    /* GRU, 12 rows: 2 * (2 * 12 * 7 + 24 * 4). */
    { "GRUCell", NULL, "2,3|2,4|12,3|12,4|12", "2,4", 528 },
    /* RNN, 4 rows: 2 * (2 * 4 * 7 + 8 * 4). */
    { "RNNCell", NULL, "2,3|2,4|4,3|4,4|4", "2,4", 176 },
    /* 5 steps: five times that; both directions: ten times. */
    { "LSTMSequence", NULL, "2,5,3|2,1,4|2,1,4|2|1,16,3|1,16,4|1,16", "2,1,5,4",
      3680 },
    { "LSTMSequence", NULL, "2,5,3|2,2,4|2,2,4|2|2,16,3|2,16,4|2,16", "2,2,5,4",
      7360 },
    { "GRUSequence", NULL, "2,5,3|2,1,4|2|1,12,3|1,12,4|1,12", "2,1,5,4",
      2640 },
    { "RNNSequence", NULL, "2,5,3|2,1,4|2|1,4,3|1,4,4|1,4", "2,1,5,4", 880 },
    { "BitwiseLeftShift", NULL, "2,3|2,3", "2,3", 6 },
    { "BitwiseRightShift", NULL, "2,3|2,3", "2,3", 6 },
    { "DFT", NULL, "4,2|1", "4,2", 200 },
    { "IDFT", NULL, "4,2|1", "4,2", 200 },
    { "RDFT", NULL, "4|1", "3,2", 150 },
    { "IRDFT", NULL, "3,2|1", "4", 100 },
    { "STFT", NULL, "20|8||", "5,5,2", 1250 },
    { "EmbeddingBagOffsets", NULL, "9,4|5|2", "2,4", 72 },
    { "EmbeddingBagOffsetsSum", NULL, "9,4|5|2", "2,4", 72 },
    { "EmbeddingBagPacked", NULL, "9,4|2,3", "2,4", 72 },
    { "EmbeddingBagPackedSum", NULL, "9,4|2,3", "2,4", 72 },
    { "EmbeddingSegmentsSum", NULL, "9,4|5|5|", "2,4", 72 },
    { "FakeConvert", NULL, "2,3|", "2,3", 18 },
    { "GRN", NULL, "2,3", "2,3", 24 },
    { "Inverse", NULL, "2,2", "2,2", 400 },
    { "MatrixNms", NULL, "1,9,4|1,2,9", "5,6", 36 },
    { "MulticlassNms", NULL, "1,9,4|1,2,9", "5,6", 36 },
    { "ROIAlignRotated", NULL, "1,3,9,8|5,5|5", "5,3,2,2", 1920 },
    { "SearchSorted", NULL, "9|5", "5", 40 },
    { "ConvInteger", NULL, "1,4,9|6,4,3", "1,6,7", 1008 },
    { "QLinearConv", NULL, "1,4,9|||6,4,3|||||6", "1,6,7", 1050 },
    { "MatMulInteger", NULL, "4,5|5,6", "4,6", 240 },
    { "QLinearMatMul", NULL, "4,5|||5,6||||", "4,6", 264 },
    { "QuantizeLinear", NULL, "2,3||", "2,3", 24 },
    { "DequantizeLinear", NULL, "2,3|", "2,3", 12 },
    { "DynamicQuantizeLinear", NULL, "2,3", "2,3", 36 },
    { "DequantizeBlocks", NULL, "3,36", "3,64", 384 },
    { "LSTM", NULL, "5,2,3|1,16,3|1,16,4", "5,1,2,4", 3680 },
    { "GRU", NULL, "5,2,3|1,12,3|1,12,4", "5,1,2,4", 2640 },
    { "RNN", NULL, "5,2,3|1,4,3|1,4,4", "5,1,2,4", 880 },
};

/* Splits "a|b" into at most 8 inputs with ports in order; "?" has no shape. */
static int split_inputs(char *text, work_input *inputs)
{
    int n = 0;

    for (char *at = text; at; n++) {
        char *bar = strchr(at, '|');

        if (bar)
            *bar = '\0';
        inputs[n] = (work_input){ strcmp(at, "?") == 0 ? NULL : at, false, n };
        at = bar ? bar + 1 : NULL;
    }
    return n;
}

static mo_graph *graph_of_formula(const struct formula *f)
{
    static char texts[128];
    work_input inputs[12];
    mo_op x = {
        .type = f->type, .shape = f->output, .dtype = "f32", .attrs = f->attrs
    };
    int n;

    snprintf(texts, sizeof texts, "%s", f->inputs);
    n = split_inputs(texts, inputs);
    return work_graph(&x, inputs, n);
}

START_TEST(formulas_agree_with_a_computation_by_hand)
{
    mo_graph *g = graph_of_formula(&formulas[_i]);

    MUST(mo_work_fill(g, &err));
    ck_assert_msg(work_op(g)->flops == formulas[_i].flops,
                  "%s of %s: %g, not %g", formulas[_i].type,
                  formulas[_i].inputs, work_op(g)->flops, formulas[_i].flops);
    mo_graph_free(g);
}
END_TEST

START_TEST(every_operator_that_computes_has_such_a_case)
{
    for (size_t i = 0; i < mo_n_operators; i++) {
        bool found = !mo_operators[i].flops;

        for (int k = 0; k < COUNT(formulas) && !found; k++)
            found = strcmp(formulas[k].type, mo_operators[i].name) == 0;
        ck_assert_msg(found, "%s has no case", mo_operators[i].name);
    }
}
END_TEST

/* What a formula needs is missing or makes no sense: unknown, not zero. */
static const struct formula unknowns[] = {
    { "Add", NULL, "2,3", NULL, 0 },
    { "Add", NULL, "2,3", "n,3", 0 },
    { "ReduceSum", NULL, "?", "2", 0 },
    { "MatMul", NULL, "?|?", "4,6", 0 },
    { "MatMul", NULL, "4,5|5,6", NULL, 0 },
    { "Linear", NULL, "?", "4,6", 0 },
    { "Gemm", NULL, "?|5,6", "4,6", 0 },
    { "Addmm", NULL, "6|?|5,6", "4,6", 0 },
    { "Convolution", NULL, "1,3,7,7", "1,8,5,5", 0 },
    { "Convolution", "{\"kernel\":[0,3]}", "1,3,7,7", "1,8,5,5", 0 },
    { "Convolution", "{\"kernel\":[3,3],\"groups\":0}", "1,3,7,7", "1,8,5,5",
      0 },
    { "Convolution", NULL, "1,3,7,7|", "1,8,5,5", 0 },
    { "GroupConvolution", NULL, "1,8,7,7|4", "1,8,5,5", 0 },
    { "ConvolutionBackpropData", NULL, "?|8,3,2,2", "1,3,10,10", 0 },
    { "MaxPool", NULL, "1,2,6,6", "1,2,3,3", 0 },
    { "MaxPool", "{\"kernel\":\"wide\"}", "1,2,6,6", "1,2,3,3", 0 },
    { "LRN", "{\"size\":\"-5\"}", "1,4,2,2", "1,4,2,2", 0 },
    { "ScaledDotProductAttention", NULL, "1,2,3,4", "1,2,3,6", 0 },
    { "ScaledDotProductAttention", NULL, "4|4|4", "4", 0 },
    { "LSTMCell", NULL, "2,3|2,4|2,4", "2,4", 0 },
    { "LSTMCell", NULL, "2,3|2,4|2,4|16|16", "2,4", 0 },
    { "Einsum", NULL, "3,4|4,5", "3,5", 0 },
    { "Einsum", "{\"equation\":\"ij,jk\"}", "3,4|4,5", "3,5", 0 },
    { "Einsum", "{\"equation\":\"ij,jk->ik\"}", "3,4", "3,5", 0 },
    { "Einsum", "{\"equation\":\"ij,jk->ik\"}", "3,4|3,5", "3,5", 0 },
    { "Einsum", "{\"equation\":\"i,jk->ik\"}", "3,4|4,5", "3,5", 0 },
    { "Einsum", "{\"equation\":\"i+j->i\"}", "3,4", "3", 0 },
    { "Einsum", "{\"equation\":7}", "3,4", "3", 0 },
    { "Frobnicate", NULL, "2,3", "2,3", 0 },
    { NULL, NULL, "2,3", "2,3", 0 },
};

START_TEST(what_cannot_be_known_stays_unknown)
{
    mo_graph *g = graph_of_formula(&unknowns[_i]);

    MUST(mo_work_fill(g, &err));
    ck_assert_msg(work_op(g)->flops == MO_UNKNOWN, "case %d: %g", _i,
                  work_op(g)->flops);
    mo_graph_free(g);
}
END_TEST

/* All f32: 4 bytes an element. */
static const struct traffic {
    const char *type, *inputs, *output;
    double bytes;
} traffic[] = {
    { "Add", "2,3|1,3", "2,3", 60 },     /* 24 + 12 read, 24 written */
    { "MatMul", "4,5|5,6", "4,6", 296 }, /* 80 + 120 + 96 */
    { "Transpose", "2,3|2", "3,2", 56 }, /* 24 + 8 + 24 */
    { "Split", "2,4|", "2,2;2,2", 68 },  /* 32 + 4 + 16 + 16 */
    { "Reshape", "2,3|1", "6", 0 },      /* only a view */
    { "Squeeze", "1,6", "6", 0 },
    { "Identity", "2,3", "2,3", 0 },
    { "Parameter", "2,3", "2,3", 0 },
    { "Result", "2,3", NULL, 0 },
    { "ShapeOf", "2,3", "2", 0 },
    { "GetItem", "2,3", NULL, 0 },
    /* Two rows of 3 taken and written, 2 indices and the axis read. */
    { "Gather", "100,3|2|", "2,3", 60 }, /* 24 + 8 + 4 + 24 */
    { "Slice", "100,3|1|1", "2,3", 56 }, /* 24 + 4 + 4 + 24 */
    /* The whole tensor is copied. */
    { "ScatterNDUpdate", "4,3|1,1|1,3", "4,3", 112 }, /* 48 + 4 + 12 + 48 */
};

START_TEST(traffic_is_what_is_read_and_written)
{
    struct formula f = { traffic[_i].type, NULL, traffic[_i].inputs,
                         traffic[_i].output, 0 };
    mo_graph *g = graph_of_formula(&f);

    MUST(mo_work_fill(g, &err));
    ck_assert_msg(work_op(g)->bytes == traffic[_i].bytes, "%s: %g, not %g",
                  traffic[_i].type, work_op(g)->bytes, traffic[_i].bytes);
    mo_graph_free(g);
}
END_TEST

SUITE(work_formulas)
{
    EACH(formulas_agree_with_a_computation_by_hand, COUNT(formulas));
    TEST(every_operator_that_computes_has_such_a_case);
    EACH(what_cannot_be_known_stays_unknown, COUNT(unknowns));
    EACH(traffic_is_what_is_read_and_written, COUNT(traffic));
}
