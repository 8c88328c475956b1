/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translators of operators of ONNX Runtime (domain com.microsoft): what its
 * optimizer fuses, and products of quantized weights.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

static mo_onnx_ref add_if(mo_onnx_op *op, mo_onnx_ref x, int i)
{
    return mo_onnx_has(op, i)
               ? mo_onnx_binary(op->b, "Add", x, mo_onnx_in(op, i), NULL)
               : x;
}

enum { LATE_VERSION = 21 };

/* Another operator, of an opset, with these inputs and the attributes of the
 * node. */
static mo_onnx_ref translate_as(mo_onnx_op *op, mo_onnx_translator *translate,
                                int version, const mo_onnx_ref *inputs, int n)
{
    mo_onnx_ref made = MO_ONNX_NONE;
    mo_onnx_op other = *op;

    other.inputs = inputs;
    other.n_inputs = n;
    other.outputs = &made;
    other.n_outputs = 1;
    other.version = version;
    if (mo_onnx_builder_status(op->b) == MO_OK)
        translate(&other);
    return made;
}

/* Normalization of a sum, which is output 3: of an input and a residual, and
 * perhaps a bias. */
void mo_onnx_op_skip_norm(mo_onnx_op *op)
{
    enum { INPUT, SKIP, GAMMA };
    bool rms = strcmp(op->argument, "rms") == 0;
    mo_onnx_ref x = mo_onnx_binary(op->b, "Add", mo_onnx_in(op, INPUT),
                                   mo_onnx_in(op, SKIP), NULL);

    x = add_if(op, x, rms ? 3 : 4);
    mo_onnx_out(
        op, translate_as(op, rms ? mo_onnx_op_rms_norm : mo_onnx_op_layer_norm,
                         LATE_VERSION,
                         MO_ONNX_REFS(x, mo_onnx_in(op, GAMMA),
                                      rms ? MO_ONNX_NONE : mo_onnx_in(op, 3)),
                         3));
    if (mo_onnx_uses(op, 3))
        op->outputs[3] = x;
}

static mo_onnx_ref rows_of(mo_onnx_builder *b, mo_onnx_ref table,
                           mo_onnx_ref indices)
{
    mo_onnx_set_int(b, "batch_dims", 0);
    return mo_onnx_add(
        b, "Gather", MO_ONNX_REFS(table, indices, mo_onnx_int(b, 0)), 3, NULL);
}

/* The sum of embeddings of words, positions and segments, normalized. Output 1
 * is the number of words that the mask leaves of each sequence. */
void mo_onnx_op_embed_norm(mo_onnx_op *op)
{
    enum { IDS, SEGMENTS, WORDS, PLACES, KINDS, GAMMA, BETA, MASK, AT };
    mo_onnx_builder *b = op->b;
    const mo_shape *shape = mo_onnx_shape(b, mo_onnx_in(op, IDS));
    mo_onnx_ref x, mask = mo_onnx_in(op, MASK);
    bool marks[MO_MAX_RANK] = { [1] = true };

    if (shape->rank != 2 || !mo_onnx_has(op, WORDS) ||
        !mo_onnx_has(op, PLACES) || !mo_onnx_has(op, GAMMA)) {
        mo_onnx_wrong(b, "has no embeddings, or ids of %d dimensions",
                      shape->rank);
        return;
    }
    x = rows_of(b, mo_onnx_in(op, WORDS), mo_onnx_in(op, IDS));
    x = mo_onnx_binary(
        b, "Add", x,
        rows_of(b, mo_onnx_in(op, PLACES),
                mo_onnx_has(op, AT)
                    ? mo_onnx_in(op, AT)
                    : mo_onnx_count_along(b, 0, shape->dims[1], 1, 2)),
        NULL);
    if (mo_onnx_has(op, SEGMENTS) && mo_onnx_has(op, KINDS))
        x = mo_onnx_binary(
            b, "Add", x,
            rows_of(b, mo_onnx_in(op, KINDS), mo_onnx_in(op, SEGMENTS)), NULL);
    mo_onnx_out(op, translate_as(op, mo_onnx_op_layer_norm, LATE_VERSION,
                                 MO_ONNX_REFS(x, mo_onnx_in(op, GAMMA),
                                              mo_onnx_in(op, BETA)),
                                 3));
    if (mo_onnx_uses(op, 1)) {
        if (!mo_onnx_is(mask))
            mask = mo_onnx_broadcast(b, mo_onnx_number(b, 0, "i32"), shape);
        op->outputs[1] = mo_onnx_reduce(b, "ReduceSum", mask, marks, false);
    }
    if (mo_onnx_uses(op, 2))
        op->outputs[2] = x;
}

/* GELU of an input, and perhaps of a bias that is added. */
void mo_onnx_op_ort_gelu(mo_onnx_op *op)
{
    mo_onnx_ref x = add_if(op, mo_onnx_in(op, 0), 1);

    mo_onnx_set_text(op->b, "approximation_mode", op->argument);
    mo_onnx_out(op, mo_onnx_unary(op->b, "Gelu", x, NULL));
}

/* x sigmoid(alpha x). */
void mo_onnx_op_quick_gelu(mo_onnx_op *op)
{
    mo_onnx_out(op,
                mo_onnx_with_number(op->b, "Swish", mo_onnx_in(op, 0),
                                    mo_onnx_attr_real(op, "alpha", 1.702f)));
}

void mo_onnx_op_fused_matmul(mo_onnx_op *op)
{
    double alpha = mo_onnx_attr_real(op, "alpha", 1);
    mo_onnx_ref y;

    if (mo_onnx_attr_int(op, "transBatchA", 0) != 0 ||
        mo_onnx_attr_int(op, "transBatchB", 0) != 0)
        mo_onnx_refuse(op->b, "transposes the batch");
    y = mo_onnx_matmul(op->b, mo_onnx_in(op, 0), mo_onnx_in(op, 1),
                       mo_onnx_attr_int(op, "transA", 0) != 0,
                       mo_onnx_attr_int(op, "transB", 0) != 0);
    mo_onnx_out(
        op, alpha == 1 ? y : mo_onnx_with_number(op->b, "Multiply", y, alpha));
}

/* A convolution, a sum and an activation. */
void mo_onnx_op_fused_conv(mo_onnx_op *op)
{
    static const struct {
        const char *name, *type;
        int n;
    } functions[] = { { "", NULL, 0 },
                      { "Relu", "ReLU", 0 },
                      { "Sigmoid", "Sigmoid", 0 },
                      { "Tanh", "Tanh", 0 },
                      { "LeakyRelu", "PReLU", 1 },
                      { "Clip", "Clamp", 2 },
                      { "HardSigmoid", "HardSigmoid", 2 } };
    mo_onnx_builder *b = op->b;
    const char *name = mo_onnx_attr_text(op, "activation", "");
    const mo_onnx_attribute *given = mo_onnx_attr(op, "activation_params");
    size_t n = given ? given->n_floats : 0, f = 0;
    mo_onnx_ref y = translate_as(op, mo_onnx_op_conv, LATE_VERSION, op->inputs,
                                 op->n_inputs > 3 ? 3 : op->n_inputs);

    while (f < sizeof functions / sizeof *functions &&
           strcmp(functions[f].name, name) != 0)
        f++;
    if (f == sizeof functions / sizeof *functions ||
        n != (size_t) functions[f].n) {
        mo_onnx_refuse(b, "has the activation '%.40s' with %zu parameters",
                       name, n);
        return;
    }
    y = add_if(op, y, 3);
    if (strcmp(name, "Clip") == 0) {
        mo_onnx_set_real(b, "min", given->floats[0]);
        mo_onnx_set_real(b, "max", given->floats[1]);
    }
    if (strcmp(name, "LeakyRelu") == 0)
        y = mo_onnx_with_number(b, "PReLU", y, given->floats[0]);
    else if (strcmp(name, "HardSigmoid") == 0)
        y = mo_onnx_add(
            b, "HardSigmoid",
            MO_ONNX_REFS(y, mo_onnx_number(b, given->floats[0], "f32"),
                         mo_onnx_number(b, given->floats[1], "f32")),
            3, NULL);
    else if (functions[f].type)
        y = mo_onnx_unary(b, functions[f].type, y, NULL);
    mo_onnx_out(op, y);
}

/* (x - zero) scale in f32; scales and zero points are single numbers, or those
 * of the last axis. */
static mo_onnx_ref dequantized(mo_onnx_builder *b, mo_onnx_ref x,
                               mo_onnx_ref scale, mo_onnx_ref zero)
{
    x = mo_onnx_convert(b, x, "f32");
    if (mo_onnx_is(zero))
        x = mo_onnx_binary(b, "Subtract", x, mo_onnx_convert(b, zero, "f32"),
                           NULL);
    return mo_onnx_binary(b, "Multiply", x, scale, NULL);
}

/* Input i with its scale and zero point behind it. */
static mo_onnx_ref read_quantized(mo_onnx_op *op, int i)
{
    return dequantized(op->b, mo_onnx_in(op, i), mo_onnx_in(op, i + 1),
                       mo_onnx_in(op, i + 2));
}

/* y by the scale in input i and the zero point behind it, in the type of the
 * latter or dtype. */
static mo_onnx_ref quantized(mo_onnx_op *op, mo_onnx_ref y, int i,
                             const char *dtype)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref zero = mo_onnx_in(op, i + 1);

    if (!mo_onnx_is(zero))
        zero = mo_onnx_number(b, 0, dtype);
    return mo_onnx_add(b, "QuantizeLinear",
                       MO_ONNX_REFS(y, mo_onnx_in(op, i), zero), 3,
                       mo_onnx_dtype(b, zero));
}

/* An operator on quantized values: it is computed in f32 and rounded again.
 * The argument is its name, of one value or two. */
void mo_onnx_op_quantized_point(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    const char *name = op->argument;
    bool two = strcmp(name, "Add") == 0 || strcmp(name, "Multiply") == 0;
    mo_onnx_ref x = read_quantized(op, 0), y;

    if (two)
        y = mo_onnx_binary(b, name, x, read_quantized(op, 3), NULL);
    else if (strcmp(name, "PReLU") == 0)
        y = mo_onnx_with_number(b, name, x,
                                mo_onnx_attr_real(op, "alpha", 0.01f));
    else if (strcmp(name, "SoftMax") == 0)
        y = translate_as(op, mo_onnx_op_softmax,
                         (int) mo_onnx_attr_int(op, "opset", LATE_VERSION), &x,
                         1);
    else
        y = mo_onnx_unary(b, name, x, NULL);
    mo_onnx_out(
        op, quantized(op, y, two ? 6 : 3, mo_onnx_dtype(b, mo_onnx_in(op, 0))));
}

/* Pools of quantized values, with channels in front. */
void mo_onnx_op_quantized_pool(mo_onnx_op *op)
{
    bool whole = strcmp(op->argument, "global") == 0;
    mo_onnx_ref x = read_quantized(op, 0);

    if (mo_onnx_attr_int(op, "channels_last", 0) != 0)
        mo_onnx_refuse(op->b, "has channels_last");
    if (whole)
        op->argument = "ReduceMean";
    mo_onnx_out(op, quantized(op,
                              translate_as(op,
                                           whole ? mo_onnx_op_global_pool
                                                 : mo_onnx_op_average_pool,
                                           LATE_VERSION, &x, 1),
                              3, mo_onnx_dtype(op->b, mo_onnx_in(op, 0))));
}

/* Scale and zero point of the result, then values with theirs. */
void mo_onnx_op_quantized_concat(mo_onnx_op *op)
{
    enum { MAX_PARTS = 256 };
    mo_onnx_ref parts[MAX_PARTS];
    int n = (op->n_inputs - 2) / 3;

    if (n < 1 || n > MAX_PARTS || op->n_inputs != 2 + 3 * n) {
        mo_onnx_refuse(op->b, "has %d inputs", op->n_inputs);
        return;
    }
    for (int i = 0; i < n; i++)
        parts[i] = read_quantized(op, 2 + 3 * i);
    mo_onnx_out(op, quantized(op,
                              translate_as(op, mo_onnx_op_concat, LATE_VERSION,
                                           parts, n),
                              0, mo_onnx_dtype(op->b, mo_onnx_in(op, 2))));
}

/* x rounded to 256 levels of its range. */
static mo_onnx_ref rounded(mo_onnx_builder *b, mo_onnx_ref x)
{
    static const char *const dtypes[] = { "u8", "f32", "u8" };
    const mo_shape shapes[3] = { *mo_onnx_shape(b, x) };
    int layer = mo_onnx_add_all_shaped(b, "DynamicQuantizeLinear", &x, 1,
                                       shapes, dtypes, 3)
                    .layer;

    return dequantized(b, (mo_onnx_ref){ layer, 0 }, (mo_onnx_ref){ layer, 1 },
                       (mo_onnx_ref){ layer, 2 });
}

/* A product of an input, which is quantized first, with quantized weights. */
void mo_onnx_op_dynamic_matmul(mo_onnx_op *op)
{
    enum { A, B, SCALE, ZERO, BIAS };
    mo_onnx_builder *b = op->b;
    mo_onnx_ref weights = dequantized(
        b, mo_onnx_in(op, B), mo_onnx_in(op, SCALE), mo_onnx_in(op, ZERO));

    mo_onnx_out(op, add_if(op,
                           mo_onnx_matmul(b, rounded(b, mo_onnx_in(op, A)),
                                          weights, false, false),
                           BIAS));
}

/* A product of quantized values as numbers. */
void mo_onnx_op_matmul_to_float(mo_onnx_op *op)
{
    enum { A, B, A_SCALE, B_SCALE, A_ZERO, B_ZERO, BIAS };
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = dequantized(b, mo_onnx_in(op, A), mo_onnx_in(op, A_SCALE),
                                mo_onnx_in(op, A_ZERO));
    mo_onnx_ref y = dequantized(b, mo_onnx_in(op, B), mo_onnx_in(op, B_SCALE),
                                mo_onnx_in(op, B_ZERO));

    mo_onnx_out(op, add_if(op, mo_onnx_matmul(b, x, y, false, false), BIAS));
}

/* Quantized weights of each direction as numbers: scales and zero points are
 * one for all of them, or one for each row of a gate. ONNX's LSTM has the gates
 * before the inputs. */
static mo_onnx_ref dequantized_weights(mo_onnx_op *op, int input, int scale)
{
    static const int64_t order[] = { 0, 2, 1 };
    mo_onnx_builder *b = op->b;
    mo_onnx_ref zero = mo_onnx_in(op, scale + 1), by = mo_onnx_in(op, scale);
    const mo_shape *weights = mo_onnx_shape(b, mo_onnx_in(op, input));
    mo_shape rows = *mo_onnx_shape(b, by);

    if (weights->rank != 3 || rows.rank < 1 || rows.rank > 2 ||
        !mo_shape_equal(&rows, mo_onnx_shape(b, zero)))
        return mo_onnx_wrong(b, "has weights or scales of other shapes");
    rows = (mo_shape){ .rank = 3,
                       .dims = { rows.dims[0], 1,
                                 rows.rank == 2 ? rows.dims[1] : 1 } };
    by = mo_onnx_reshape(b, by, &rows);
    zero = mo_onnx_reshape(b, mo_onnx_convert(b, zero, "f32"), &rows);
    return mo_onnx_transpose(
        b,
        mo_onnx_binary(
            b, "Multiply",
            mo_onnx_binary(b, "Subtract",
                           mo_onnx_convert(b, mo_onnx_in(op, input), "f32"),
                           zero, NULL),
            by, NULL),
        order);
}

/* An LSTM with quantized weights. Its input is quantized as
 * ONNX Runtime does it; the hidden state between steps is not. */
void mo_onnx_op_quantized_lstm(mo_onnx_op *op)
{
    enum { X, W, R, W_SCALE = 8, R_SCALE = 10 };
    mo_onnx_ref inputs[W_SCALE];
    mo_onnx_op lstm = *op;

    for (int i = W_SCALE; i < R_SCALE + 2; i++)
        if (!mo_onnx_has(op, i))
            mo_onnx_wrong(op->b, "has no input %d", i);
    for (int i = 0; i < W_SCALE; i++)
        inputs[i] = mo_onnx_in(op, i);
    inputs[X] = rounded(op->b, inputs[X]);
    inputs[W] = dequantized_weights(op, W, W_SCALE);
    inputs[R] = dequantized_weights(op, R, R_SCALE);
    lstm.argument = "LSTM";
    lstm.inputs = inputs;
    lstm.n_inputs = W_SCALE;
    if (mo_onnx_builder_status(op->b) == MO_OK)
        mo_onnx_op_as_is(&lstm);
}

/* Numbers of bits bits, packed from the lowest bit of each byte of the last
 * axis on: as many more along it, in dtype. */
static mo_onnx_ref unpack(mo_onnx_builder *b, mo_onnx_ref x, int64_t bits,
                          const char *dtype)
{
    mo_shape shape = *mo_onnx_shape(b, x), one = shape;
    mo_onnx_ref parts[8];
    int n = (int) (8 / bits);

    if (n == 1 || shape.rank < 1 || shape.rank == MO_MAX_RANK)
        return mo_onnx_convert(b, x, dtype);
    one.dims[one.rank++] = 1;
    x = mo_onnx_reshape(b, x, &one);
    for (int i = 0; i < n; i++)
        parts[i] = mo_onnx_binary(
            b, "BitwiseAnd",
            mo_onnx_binary(b, "BitwiseRightShift", x,
                           mo_onnx_number(b, (double) (i * bits), "u8"), NULL),
            mo_onnx_number(b, (double) ((1 << bits) - 1), "u8"), NULL);
    shape.dims[shape.rank - 1] *= n;
    return mo_onnx_convert(
        b,
        mo_onnx_reshape(b, mo_onnx_concat(b, parts, n, one.rank - 1), &shape),
        dtype);
}

/* Weights in blocks of the last axis, [rows, blocks, bytes], as numbers [rows,
 * n]: each block has a scale, and perhaps a zero point, packed likewise or a
 * number. */
static mo_onnx_ref unpack_blocks(mo_onnx_op *op, int weights, int64_t n,
                                 int64_t bits)
{
    mo_onnx_builder *b = op->b;
    const mo_shape *shape = mo_onnx_shape(b, mo_onnx_in(op, weights));
    mo_onnx_ref scale = mo_onnx_in(op, weights + 1);
    mo_onnx_ref zero = mo_onnx_in(op, weights + 2), w;
    const char *dtype = mo_onnx_dtype(b, scale);
    mo_shape blocks = { .rank = 3 }, rows = { .rank = 2 };

    rows.dims[0] = blocks.dims[0] = shape->dims[0];
    blocks.dims[1] = shape->dims[1];
    blocks.dims[2] = 1;
    w = unpack(b, mo_onnx_in(op, weights), bits, dtype);
    rows.dims[1] = blocks.dims[1] * mo_onnx_shape(b, w)->dims[2];
    if (mo_onnx_is(zero) && strcmp(mo_onnx_dtype(b, zero), "u8") == 0) {
        mo_shape bytes = rows;

        bytes.dims[1] = (blocks.dims[1] * bits + 7) / 8;
        zero = unpack(b, mo_onnx_reshape(b, zero, &bytes), bits, dtype);
        zero = mo_onnx_cut(b, zero, 1, 0, blocks.dims[1]);
    }
    if (mo_onnx_is(zero))
        w = mo_onnx_binary(b, "Subtract", w, mo_onnx_reshape(b, zero, &blocks),
                           NULL);
    else
        w = mo_onnx_with_number(b, "Subtract", w, (double) (1 << (bits - 1)));
    w = mo_onnx_binary(b, "Multiply", w, mo_onnx_reshape(b, scale, &blocks),
                       NULL);
    return mo_onnx_cut(b, mo_onnx_reshape(b, w, &rows), 1, 0, n);
}

/* A product with weights of 2, 4 or 8 bits in blocks; they become numbers when
 * the constants are folded. */
void mo_onnx_op_matmul_bits(mo_onnx_op *op)
{
    enum { A, WEIGHTS, ORDER = 4, BIAS };
    mo_onnx_builder *b = op->b;
    int64_t bits = mo_onnx_attr_int(op, "bits", 4);
    int64_t columns = mo_onnx_attr_int(op, "K", 0);
    int64_t block = mo_onnx_attr_int(op, "block_size", 0);
    const mo_shape *weights = mo_onnx_shape(b, mo_onnx_in(op, WEIGHTS));

    if (bits != 2 && bits != 4 && bits != 8)
        mo_onnx_refuse(b, "has weights of %lld bits", (long long) bits);
    if (mo_onnx_has(op, ORDER))
        mo_onnx_refuse(b, "has its weights in another order (g_idx)");
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (weights->rank != 3 ||
        weights->dims[0] != mo_onnx_attr_int(op, "N", 0) || columns < 1 ||
        block < 1 || weights->dims[1] != (columns - 1) / block + 1 ||
        block != weights->dims[2] * (8 / bits)) {
        mo_onnx_wrong(
            b, "has weights of %s, which N, K, bits and block_size contradict",
            mo_dims_format(weights).text);
        return;
    }
    mo_onnx_out(op,
                add_if(op,
                       mo_onnx_matmul(b, mo_onnx_in(op, A),
                                      unpack_blocks(op, WEIGHTS, columns, bits),
                                      false, true),
                       BIAS));
}
