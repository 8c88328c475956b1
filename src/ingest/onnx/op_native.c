/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translators of ONNX operators that are operators here, too, with the same
 * inputs and attributes: recurrent layers and quantized ones, among others.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

enum { MAX_INPUTS = 16 };

/* Copies the inputs up to the last one; an absent one in between has no
 * elements. Returns their number. */
static int copy_inputs(mo_onnx_op *op, mo_onnx_ref inputs[MAX_INPUTS])
{
    static const mo_shape empty = { .rank = 1, .dims = { 0 } };
    int n = 0;

    for (int i = 0; i < op->n_inputs; i++)
        n = mo_onnx_has(op, i) ? i + 1 : n;
    if (n > MAX_INPUTS) {
        mo_onnx_wrong(op->b, "has %d inputs", n);
        return 0;
    }
    for (int i = 0; i < n; i++)
        inputs[i] = mo_onnx_has(op, i)
                        ? op->inputs[i]
                        : mo_onnx_numbers(op->b, NULL, &empty, "f32");
    return n;
}

void mo_onnx_add_native(mo_onnx_op *op, const char *dtype)
{
    mo_onnx_ref inputs[MAX_INPUTS], made;
    int n = copy_inputs(op, inputs), n_outputs = op->n_outputs;

    while (n_outputs > 1 && !mo_onnx_uses(op, n_outputs - 1))
        n_outputs--;
    if (n == 0 || n_outputs == 0) {
        mo_onnx_wrong(op->b, "has no inputs or no outputs");
        return;
    }
    made = mo_onnx_add_outputs(op->b, op->argument, inputs, n, n_outputs, dtype,
                               NULL);
    for (int i = 0; i < n_outputs && mo_onnx_is(made); i++)
        op->outputs[i] = (mo_onnx_ref){ made.layer, i };
}

/* The same with the attributes of the node. */
static void add_as_is(mo_onnx_op *op, const char *dtype)
{
    mo_onnx_copy_attributes(op);
    mo_onnx_add_native(op, dtype);
}

/* LSTM, GRU, RNN and GridSample. */
void mo_onnx_op_as_is(mo_onnx_op *op)
{
    add_as_is(op, NULL);
}

/* A signed number shifted to the right by its width or more, or by less than
 * 0, is only its sign. */
void mo_onnx_op_bit_shift(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), by = mo_onnx_in(op, 1), fits;
    const char *dtype = mo_onnx_dtype(b, x);
    bool is_left = strcmp(mo_onnx_attr_text(op, "direction", ""), "LEFT") == 0;

    if (!is_left && dtype[0] == 'i') {
        int last = atoi(dtype + 1) - 1;
        mo_onnx_ref most = mo_onnx_number(b, last, dtype);

        fits = mo_onnx_binary(
            b, "LogicalAnd",
            mo_onnx_binary(b, "GreaterEqual", by, mo_onnx_number(b, 0, dtype),
                           "boolean"),
            mo_onnx_binary(b, "LessEqual", by, most, "boolean"), NULL);
        by = mo_onnx_select(b, fits, by, most);
    }
    mo_onnx_out(op, mo_onnx_binary(
                        b, is_left ? "BitwiseLeftShift" : "BitwiseRightShift",
                        x, by, NULL));
}

/* The type that an attribute of the node names; fallback where there is none,
 * NULL where it is unknown. */
static const char *attribute_type(mo_onnx_op *op, const char *name,
                                  const char *fallback)
{
    int64_t type = mo_onnx_attr_int(op, name, 0);
    const char *dtype =
        type > 0 && type < 1000 ? mo_onnx_dtype_of((int) type) : NULL;

    if (type != 0 && !dtype)
        mo_onnx_refuse(op->b, "makes elements of type %lld of ONNX",
                       (long long) type);
    return type == 0 ? fallback : dtype;
}

void mo_onnx_op_quantize(mo_onnx_op *op)
{
    const char *dtype = attribute_type(
        op, "output_dtype",
        mo_onnx_has(op, 2) ? mo_onnx_dtype(op->b, mo_onnx_in(op, 2)) : "u8");

    if (dtype)
        add_as_is(op, dtype);
}

void mo_onnx_op_dequantize(mo_onnx_op *op)
{
    const char *dtype = attribute_type(op, "output_dtype",
                                       mo_onnx_dtype(op->b, mo_onnx_in(op, 1)));

    if (dtype)
        add_as_is(op, dtype);
}

void mo_onnx_op_quantized_product(mo_onnx_op *op)
{
    bool is_whole = strncmp(op->argument, "QLinear", 7) == 0;

    add_as_is(op, is_whole ? mo_onnx_dtype(op->b, mo_onnx_in(op, 7)) : "i32");
}

/* Values, their scale and their zero point. */
void mo_onnx_op_dynamic_quantize(mo_onnx_op *op)
{
    static const char *const dtypes[] = { "u8", "f32", "u8" };
    mo_onnx_ref x = mo_onnx_in(op, 0), made;
    mo_shape shapes[3] = { *mo_onnx_shape(op->b, x),
                           { .rank = 0 },
                           { .rank = 0 } };
    int n = op->n_outputs < 3 ? op->n_outputs : 3;

    made =
        mo_onnx_add_all_shaped(op->b, op->argument, &x, 1, shapes, dtypes, n);
    for (int i = 0; i < n && mo_onnx_is(made); i++)
        op->outputs[i] = (mo_onnx_ref){ made.layer, i };
}
