/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/weights/missing_inputs.h: shapes of weights that a graph
 * leaves out. */
#include "exec/weights/missing_inputs.h"

#include <stdio.h>
#include <string.h>

#include "graph/op_attrs.h"
#include "tests/support/suite.h"

#define SAME  "{\"auto_pad\":\"same_upper\"}"
#define PAD_1 "{\"pads_begin\":\"1,1\",\"pads_end\":\"1,1\"}"
#define NONE  "{\"strides\":\"1,1\"}"
#define STRIDE_2_PAD_3                                                         \
    "{\"strides\":\"2,2\",\"pads_begin\":\"3,3\",\"pads_end\":\"3,3\"}"
#define STRIDE_4_PAD_2                                                         \
    "{\"strides\":\"4,4\",\"pads_begin\":\"2,2\",\"pads_end\":\"2,2\"}"

static const struct {
    const char *type, *attrs, *in, *out;
    int64_t weight_bytes; /* 0: unknown */
    double flops;         /* 0: unknown */
    const char *missing;  /* "1:64,3,7,7 2:64" */
} cases[] = {
    /* the window follows from the shapes */
    { "Convolution", NONE, "1,192,28,28", "1,64,28,28", 0, 0, "1:64,192,1,1" },
    { "Convolution", PAD_1, "1,8,28,28", "1,4,28,28", 0, 0, "1:4,8,3,3" },
    { "Convolution", NONE, "2,8,9,28", "2,4,9,24", 0, 0, "1:4,8,1,5" },
    { "Convolution", "{\"dilations\":\"2\"}", "1,2,20", "1,3,16", 0, 0,
      "1:3,2,3" },
    { "Convolution", "{\"strides\":\"1,1,1\"}", "1,2,8,8,8", "1,3,6,6,6", 0, 0,
      "1:3,2,3,3,3" },
    /* of several by the bytes, by the FLOPs, or the usual one */
    { "Convolution", STRIDE_2_PAD_3, "1,3,224,224", "1,64,112,112",
      64 * 3 * 49 * 4, 0, "1:64,3,7,7" },
    { "Convolution", STRIDE_2_PAD_3, "1,3,224,224", "1,64,112,112",
      64 * 3 * 64 * 4, 0, "1:64,3,8,8" },
    { "Convolution", STRIDE_2_PAD_3, "1,3,224,224", "1,64,112,112", 0, 0,
      "1:64,3,7,7" },
    { "Convolution", STRIDE_4_PAD_2, "1,3,224,224", "1,64,55,55", 0, 0,
      "1:64,3,11,11" },
    { "Convolution", SAME, "1,8,16,16", "1,8,16,16", 0,
      2.0 * 8 * 8 * 25 * 16 * 16, "1:8,8,5,5" },
    { "Convolution", SAME, "1,8,16,16", "1,8,16,16", 8 * 8 * 7 * 4 + 8 * 4, 0,
      "1:8,8,1,7" },
    { "Convolution", SAME, "1,8,16,16", "1,8,16,16", 0, 0, "1:8,8,3,3" },
    /* the attributes decide */
    { "Convolution", "{\"auto_pad\":\"same_upper\",\"kernel\":\"5,3\"}",
      "1,8,16,16", "1,8,16,16", 4, 0, "1:8,8,5,3" },
    /* without attributes */
    { "Convolution", NULL, "1,8,56,56", "1,4,28,28", 4 * 8 * 9 * 4, 0,
      "1:4,8,3,3" },
    { "GroupConvolution", PAD_1, "1,8,16,16", "1,8,16,16", 0, 0,
      "1:8,1,1,3,3" },
    { "GroupConvolution",
      "{\"groups\":\"2\",\"pads_begin\":\"1,1\",\"pads_end\":\"1,1\"}",
      "1,8,16,16", "1,12,16,16", 0, 0, "1:2,6,4,3,3" },
    { "ConvolutionBackpropData", "{\"strides\":\"2,2\"}", "1,8,5,5",
      "1,4,12,12", 0, 0, "1:8,4,4,4" },
    { "MatMul", NULL, "50,1,768", "50,1,2304", 0, 0, "1:768,2304" },
    { "MatMul", "{\"transpose_b\":\"true\"}", "7,3", "7,5", 0, 0, "1:5,3" },
    { "MatMul", "{\"transpose_a\":\"true\"}", "3,7", "7,5", 0, 0, "1:3,5" },
    { "Linear", NULL, "2,7,3", "2,7,5", 0, 0, "1:5,3" },
    { "Gemm", "{\"transB\":1}", "7,3", "7,5", 0, 0, "1:5,3" },
    { "Add", NULL, "1,8,4,4", "1,8,4,4", 0, 0, "1:1,8,1,1" },
    { "Multiply", NULL, "2,7,8", "2,7,8", 0, 0, "1:1,1,8" },
    { "BatchNormInference", NULL, "1,8,4,4", "1,8,4,4", 0, 0,
      "1:8 2:8 3:8 4:8" },
    { "Transpose", NULL, "2,3,4", "2,4,3", 0, 0, "1:3" },
    { "ReduceMean", NULL, "2,8,4,4", "2,8", 0, 0, "1:2" },
    { "Pad", NULL, "2,3", "2,5", 0, 0, "1:2 2:2" },
    /* nothing fits, or nothing is missing */
    { "Convolution", NONE, "1,8,28,28", "1,8,30,30", 0, 0, "" },
    { "Convolution", NONE, "1,8,28,28", "1,8", 0, 0, "" },
    { "ReLU", NULL, "2,3", "2,3", 0, 0, "" },
    { "MaxPool", NONE, "1,8,4,4", "1,8,4,4", 0, 0, "" },
};

static mo_tensor_desc desc_of(const char *text)
{
    mo_tensor_desc desc = { .elem = MO_ELEM_F32 };

    ck_assert_int_eq(mo_shape_read(text, strlen(text), &desc.shape),
                     MO_SHAPE_OK);
    return desc;
}

static void write_missing(const mo_weights_missing *missing, char *text,
                          size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int i = 0; i < missing->n; i++) {
        const mo_shape *shape = &missing->desc[i].shape;

        at += (size_t) snprintf(text + at, size - at, "%s%d:", i > 0 ? " " : "",
                                missing->port[i]);
        for (int d = 0; d < shape->rank; d++)
            at +=
                (size_t) snprintf(text + at, size - at, "%s%lld",
                                  d > 0 ? "," : "", (long long) shape->dims[d]);
    }
}

START_TEST(shapes_follow_from_the_tensors_around_an_op)
{
    mo_arena *arena = mo_arena_new();
    mo_op op = { .attrs = cases[_i].attrs,
                 .flops = cases[_i].flops > 0 ? cases[_i].flops : MO_UNKNOWN,
                 .weight_bytes = cases[_i].weight_bytes > 0
                                     ? cases[_i].weight_bytes
                                     : MO_UNKNOWN };
    mo_tensor_desc in = desc_of(cases[_i].in), out = desc_of(cases[_i].out);
    mo_weights_partial_op partial = { &op, cases[_i].type, &in, &out, 1 };
    mo_weights_missing missing;
    char text[128];

    if (op.attrs)
        op.attr_list = mo_attr_list_parse(op.attrs, arena);
    mo_weights_find_missing(&partial, arena, &missing);
    write_missing(&missing, text, sizeof text);
    ck_assert_str_eq(text, cases[_i].missing);
    mo_arena_free(arena);
}
END_TEST

/* Strides and padding that give the output; a pool has a kernel, too. */
START_TEST(windows_without_attributes_get_some)
{
    mo_arena *arena = mo_arena_new();
    mo_op op = { .flops = MO_UNKNOWN, .weight_bytes = MO_UNKNOWN };
    mo_tensor_desc in = desc_of("1,8,57,56"), out = desc_of("1,8,29,14");
    mo_weights_partial_op partial = { &op, "MaxPool", &in, &out, 1 };
    mo_weights_missing missing;
    int64_t numbers[2];

    mo_weights_find_missing(&partial, arena, &missing);
    ck_assert_int_eq(missing.n, 0);
    ck_assert(mo_attr_equals(missing.attrs, "auto_pad", "same_upper"));
    ck_assert_int_eq(mo_attr_ints(missing.attrs, "strides", numbers, 2), 2);
    ck_assert_int_eq(numbers[0], 2);
    ck_assert_int_eq(numbers[1], 4);
    ck_assert_int_eq(mo_attr_ints(missing.attrs, "kernel", numbers, 2), 2);
    mo_arena_free(arena);
}
END_TEST

/* The input of an embedding is the indices; its table has as many rows as its
 * bytes hold. */
START_TEST(a_table_is_as_long_as_its_bytes)
{
    mo_arena *arena = mo_arena_new();
    mo_op op = { .flops = MO_UNKNOWN, .weight_bytes = 100 * 16 * 4 };
    mo_tensor_desc in = desc_of("2,7"), out = desc_of("2,7,16");
    mo_weights_partial_op partial = { &op, "Gather", &in, &out, 1 };
    mo_weights_missing missing;
    char text[128];

    in.elem = MO_ELEM_I64;
    mo_weights_find_missing(&partial, arena, &missing);
    write_missing(&missing, text, sizeof text);
    ck_assert_str_eq(text, "0:100,16 2:");
    ck_assert_int_eq(missing.data_port, 1);
    mo_arena_free(arena);
}
END_TEST

SUITE(missing_inputs)
{
    EACH(shapes_follow_from_the_tensors_around_an_op, COUNT(cases));
    TEST(windows_without_attributes_get_some);
    TEST(a_table_is_as_long_as_its_bytes);
}
