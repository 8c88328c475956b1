/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/operator.h. */
#include "ingest/operator.h"

#include <string.h>
#include <strings.h>

#include "tests/support/suite.h"

START_TEST(the_tables_are_sorted)
{
    for (size_t i = 1; i < mo_n_operators; i++)
        ck_assert_msg(
            strcasecmp(mo_operators[i - 1].name, mo_operators[i].name) < 0,
            "%s before %s", mo_operators[i - 1].name, mo_operators[i].name);
    for (size_t i = 1; i < mo_n_operator_aliases; i++)
        ck_assert_msg(strcmp(mo_operator_aliases[i - 1].alias,
                             mo_operator_aliases[i].alias) < 0,
                      "%s before %s", mo_operator_aliases[i - 1].alias,
                      mo_operator_aliases[i].alias);
}
END_TEST

START_TEST(every_operator_is_found_by_its_name)
{
    for (size_t i = 0; i < mo_n_operators; i++)
        ck_assert_ptr_eq(mo_operator_find(mo_operators[i].name),
                         &mo_operators[i]);
}
END_TEST

/* An alias equal to an operator's own name would never be found. */
START_TEST(every_alias_leads_to_its_operator)
{
    for (size_t i = 0; i < mo_n_operator_aliases; i++) {
        const mo_operator_alias *a = &mo_operator_aliases[i];
        const mo_operator *found = mo_operator_find(a->alias);

        ck_assert_msg(found && strcmp(found->name, a->name) == 0,
                      "%s leads to %s, not %s", a->alias,
                      found ? found->name : "nothing", a->name);
    }
}
END_TEST

static const struct {
    const char *name, *operator;
} names[] = {
    /* OpenVINO, in any case. */
    { "Convolution", "Convolution" },
    { "MATMUL", "MatMul" },
    { "softmax", "SoftMax" },
    /* ONNX */
    { "Conv", "Convolution" },
    { "ConvTranspose", "ConvolutionBackpropData" },
    { "Gemm", "Gemm" },
    { "Relu", "ReLU" },
    { "BatchNormalization", "BatchNormInference" },
    { "LayerNormalization", "LayerNormalization" },
    { "GlobalAveragePool", "GlobalAveragePool" },
    { "Where", "Select" },
    { "Max", "Maximum" },
    { "Mul", "Multiply" },
    { "onnx::Add", "Add" },
    { "LSTM", "LSTM" },
    /* torch.fx */
    { "placeholder", "Parameter" },
    { "get_attr", "Const" },
    { "getattr", "GetAttr" },
    { "getitem", "GetItem" },
    { "output", "Result" },
    { "size", "ShapeOf" },
    { "dim", "GetAttr" },
    { "eq", "Equal" },
    { "view", "Reshape" },
    { "permute", "Transpose" },
    { "transpose", "Transpose" },
    { "contiguous", "Copy" },
    { "truediv", "Divide" },
    { "expand", "Broadcast" },
    { "ones", "Broadcast" },
    { "to", "Convert" },
    { "sub", "Subtract" },
    { "Linear", "Linear" },
    { "LayerNorm", "LayerNormalization" },
    { "Embedding", "Gather" },
    { "Dropout", "Identity" },
    { "gelu", "Gelu" },
    { "Tanh", "Tanh" },
    { "matmul", "MatMul" },
    { "bmm", "MatMul" },
    { "silu", "Swish" },
    { "torch.nn.functional.softmax", "SoftMax" },
    { "torch.nn.Conv2d", "Convolution" },
    { "torch.nn.modules.conv.Conv2d", "Convolution" },
    { "torch.nn.modules.activation.ReLU", "ReLU" },
    { "operator.add", "Add" },
    /* ATen */
    { "aten.addmm.default", "Addmm" },
    { "aten::conv2d", "Convolution" },
    { "aten.convolution.default", "Convolution" },
    { "aten.add.Tensor", "Add" },
    { "aten.mean.dim", "ReduceMean" },
    { "aten.relu_.default", "ReLU" },
    { "aten.native_layer_norm.default", "LayerNormalization" },
    { "torch.ops.aten.mm.default", "MatMul" },
    { "aten._to_copy.default", "Convert" },
    { "aten.max.dim", "ReduceMax" },
    { "aten.select.int", "Slice" },
    { "aten::gather", "GatherElements" },
    { "aten.hardsigmoid.default", "HSigmoid" },
    { "aten.hardsigmoid_.default", "HSigmoid" },
    { "aten.scaled_dot_product_attention", "ScaledDotProductAttention" },
    { "relu_", "ReLU" },
    /* unknown */
    { "op", NULL },
    { "ln1", NULL },
    { "q", NULL },
    { "bias", NULL },
    { "scores", NULL },
    { "fc1", NULL },
    { "proj", NULL },
    { "", NULL },
    { "_", NULL },
    { ".", NULL },
    { "aten.", NULL },
    { "aten::", NULL },
    { "torch.", NULL },
    { "\xff\xfe", NULL },
    { "convolutionconvolutionconvolutionconvolutionconvolutionconvolutionconv",
      NULL },
    { NULL, NULL },
};

START_TEST(names_of_all_frameworks_are_known)
{
    const mo_operator *found = mo_operator_find(names[_i].name);

    if (names[_i].operator)
        ck_assert_msg(found && strcmp(found->name, names[_i].operator) == 0,
                      "%s is %s, not %s", names[_i].name,
                      found ? found->name : "unknown", names[_i].operator);
    else
        ck_assert_msg(!found, "%s is %s", names[_i].name, found->name);
}
END_TEST

START_TEST(every_class_has_a_name_of_its_own)
{
    for (int a = 0; a <= MO_CLASS_SHAPE; a++) {
        ck_assert_ptr_nonnull(mo_class_name((mo_class) a));
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(mo_class_name((mo_class) a),
                             mo_class_name((mo_class) b));
    }
}
END_TEST

/* Classes without computation have no formula, all others have one. */
START_TEST(classes_and_formulas_agree)
{
    for (size_t i = 0; i < mo_n_operators; i++) {
        const mo_operator *o = &mo_operators[i];
        bool idle = o->class == MO_CLASS_NONE || o->class == MO_CLASS_FREE ||
                    o->class == MO_CLASS_SHAPE;
        bool mover = o->class == MO_CLASS_MOVE || o->class == MO_CLASS_GATHER;

        if (idle)
            ck_assert_msg(!o->flops, "%s computes", o->name);
        else if (!mover)
            ck_assert_msg(o->flops != NULL, "%s has no formula", o->name);
        ck_assert_msg(!o->picks || mover, "%s picks", o->name);
    }
}
END_TEST

START_TEST(every_class_is_found_by_its_name)
{
    mo_class found;

    for (int a = 0; a <= MO_CLASS_SHAPE; a++) {
        ck_assert(mo_class_find(mo_class_name((mo_class) a), &found));
        ck_assert_int_eq(found, a);
    }
    ck_assert(!mo_class_find("Matmul", &found));
    ck_assert(!mo_class_find("", &found));
}
END_TEST

SUITE(operator)
{
    TEST(the_tables_are_sorted);
    TEST(every_operator_is_found_by_its_name);
    TEST(every_alias_leads_to_its_operator);
    EACH(names_of_all_frameworks_are_known, COUNT(names));
    TEST(every_class_has_a_name_of_its_own);
    TEST(every_class_is_found_by_its_name);
    TEST(classes_and_formulas_agree);
}
