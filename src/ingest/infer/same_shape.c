/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators whose outputs have the shape of their data: activations,
 * normalizations, and everything that only changes what stands where.
 */
#include "ingest/infer/value_arith.h"

static mo_status infer_same(const mo_infer_rule_op *op, mo_shape *outputs,
                            mo_error *err)
{
    (void) err;
    for (int i = 0; i < op->n_outputs; i++)
        outputs[i] = op->inputs[0].shape;
    return MO_OK;
}

#define SAME(name, min, max)                                                   \
    {                                                                          \
        .type = name, .inputs = { min, max }, .shapes = infer_same             \
    }
#define COMPUTED(name)                                                         \
    {                                                                          \
        .type = name, .inputs = { 1, 1 }, .shapes = infer_same,                \
        .value = mo_infer_arith_unary, .reads = MO_INFER_RULE_ALL              \
    }

const mo_infer_rule mo_infer_rules_same_shape[] = {
    COMPUTED("Abs"),
    COMPUTED("Negative"),
    COMPUTED("Floor"),
    COMPUTED("Ceiling"),
    COMPUTED("Sqrt"),
    COMPUTED("Exp"),
    COMPUTED("Log"),
    COMPUTED("Sign"),
    COMPUTED("ReLU"),
    COMPUTED("LogicalNot"),
    { .type = "Convert",
      .inputs = { 1, 1 },
      .shapes = infer_same,
      .value = mo_infer_arith_convert,
      .reads = MO_INFER_RULE_ALL },
    { .type = "ConvertLike",
      .inputs = { 2, 2 },
      .shapes = infer_same,
      .value = mo_infer_arith_convert,
      .reads = MO_INFER_RULE_INPUT(0) },
    { .type = "Result",
      .inputs = { 1, 1 },
      .outputs = { 0, 1 },
      .shapes = infer_same },

    SAME("Acos", 1, 1),
    SAME("Acosh", 1, 1),
    SAME("Asin", 1, 1),
    SAME("Asinh", 1, 1),
    SAME("Atan", 1, 1),
    SAME("Atanh", 1, 1),
    SAME("BitwiseNot", 1, 1),
    SAME("Clamp", 1, 1),
    SAME("Cos", 1, 1),
    SAME("Cosh", 1, 1),
    SAME("Elu", 1, 1),
    SAME("Erf", 1, 1),
    SAME("Gelu", 1, 1),
    SAME("HardSigmoid", 3, 3),
    SAME("HSigmoid", 1, 1),
    SAME("HSwish", 1, 1),
    SAME("Identity", 1, 1),
    SAME("IsFinite", 1, 1),
    SAME("IsInf", 1, 1),
    SAME("IsNaN", 1, 1),
    SAME("Mish", 1, 1),
    SAME("PReLU", 2, 2),
    SAME("Round", 1, 1),
    SAME("Selu", 3, 3),
    SAME("Sigmoid", 1, 1),
    SAME("Sin", 1, 1),
    SAME("Sinh", 1, 1),
    SAME("SoftPlus", 1, 1),
    SAME("SoftSign", 1, 1),
    SAME("Swish", 1, 2),
    SAME("Tan", 1, 1),
    SAME("Tanh", 1, 1),

    SAME("FakeConvert", 2, 3),
    SAME("GRN", 1, 1),
    SAME("LogSoftmax", 1, 1),
    SAME("LRN", 1, 2),
    SAME("MVN", 1, 2),
    SAME("NormalizeL2", 2, 2),
    SAME("RMS", 1, 2),
    SAME("SoftMax", 1, 1),
    SAME("Softmax", 1, 1),

    SAME("Assign", 1, 1),
    SAME("Bucketize", 2, 2),
    SAME("CumSum", 2, 2),
    SAME("GatherTree", 4, 4),
    SAME("Inverse", 1, 1),
    SAME("ReadValue", 1, 1),
    SAME("Reverse", 2, 2),
    SAME("ReverseSequence", 2, 2),
    SAME("Roll", 3, 3),
    { .type = NULL },
};
