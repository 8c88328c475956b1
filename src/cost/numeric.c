/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/numeric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "graph/dtype.h"
#include "graph/output_types.h"
#include "graph/phases.h"

/* Bits of a weight with its share of the scales: one of 16 bits for 32 weights
 * (GPTQ, AWQ, GGUF Q4), one of 8 bits for 16 (NVFP4). */
static const struct {
    const char *name;
    double bits;
} weight_types[] = {
    { "int4", 4.5 }, { "fp4", 4.5 }, { "int8", 8 },
    { "fp8", 8 },    { "f16", 16 },  { "bf16", 16 },
};

enum { N_WEIGHT_TYPES = sizeof weight_types / sizeof *weight_types };

#define WEIGHT_HELP                                                            \
    "write int4, fp4, int8, fp8, f16 or bf16, and the bits of a weight, more " \
    "than 0 and at most 32, as in int4:4.5"

static mo_status parse_weights(const char *text, mo_numeric *numeric,
                               mo_error *err)
{
    size_t length = strcspn(text, ":");
    const char *bits = text[length] ? text + length + 1 : NULL;

    for (int i = 0; i < N_WEIGHT_TYPES; i++) {
        if (strlen(weight_types[i].name) != length ||
            strncmp(weight_types[i].name, text, length) != 0)
            continue;
        numeric->weights = weight_types[i].name;
        numeric->weight_bits = weight_types[i].bits;
    }
    if (!numeric->weights)
        return mo_fail(err, MO_E_USAGE,
                       "--weights %.60s: '%.*s' is no type of weights; "
                       "%s",
                       text, (int) (length < 40 ? length : 40), text,
                       WEIGHT_HELP);
    if (bits && (mo_number_read_double(bits, strlen(bits),
                                       &numeric->weight_bits) != MO_NUMBER_OK ||
                 !(numeric->weight_bits > 0 && numeric->weight_bits <= 32)))
        return mo_fail(err, MO_E_USAGE,
                       "--weights %.60s: '%.40s' is no number of bits; %s",
                       text, bits, WEIGHT_HELP);
    return MO_OK;
}

mo_status mo_numeric_parse(const char *precision, const char *weights,
                           mo_numeric *numeric, mo_error *err)
{
    mo_numeric made = { 0 };
    mo_status status = MO_OK;

    if (precision && (!mo_math_find(precision, &made.precision) ||
                      made.precision > MO_MATH_INT8))
        return mo_fail(err, MO_E_USAGE,
                       "--precision %.60s: is none of f32, tf32, f16, bf16, "
                       "fp8 and int8",
                       precision);
    if (weights)
        status = parse_weights(weights, &made, err);
    if (status == MO_OK)
        *numeric = made;
    return status;
}

void mo_numeric_write(const mo_numeric *numeric, char text[MO_NUMERIC_TEXT])
{
    char bits[MO_NUMBER_SIZE + 1];
    size_t n = 0;

    if (numeric->precision != MO_MATH_F32)
        n = (size_t) snprintf(text, MO_NUMERIC_TEXT, "%s",
                              mo_math_name(numeric->precision));
    text[n] = '\0';
    if (!numeric->weights)
        return;
    bits[mo_number_write_double(bits, numeric->weight_bits)] = '\0';
    snprintf(text + n, MO_NUMERIC_TEXT - n, "+%s:%s", numeric->weights, bits);
}

mo_status mo_numeric_read(const char *text, mo_numeric *numeric, mo_error *err)
{
    const char *plus = strchr(text, '+');
    char precision[MO_NUMERIC_TEXT];
    size_t length = plus ? (size_t) (plus - text) : strlen(text);

    if (length >= sizeof precision)
        return mo_fail(err, MO_E_INPUT, "'%.60s' is no numeric format", text);
    memcpy(precision, text, length);
    precision[length] = '\0';
    return mo_numeric_parse(length > 0 ? precision : NULL,
                            plus ? plus + 1 : NULL, numeric, err);
}

/* An unknown type counts as f32. */
static bool is_f32(const char *dtype)
{
    return !dtype || strcmp(dtype, "f32") == 0;
}

static bool is_half(const char *dtype)
{
    return dtype && (strcmp(dtype, "f16") == 0 || strcmp(dtype, "bf16") == 0);
}

bool mo_numeric_is_product(mo_class class)
{
    return class == MO_CLASS_MATMUL || class == MO_CLASS_CONVOLUTION ||
           class == MO_CLASS_ATTENTION;
}

static bool multiplies_weights(const mo_op *op)
{
    return op->kind && mo_numeric_is_product(op->kind->class);
}

static double bits_of(const char *dtype)
{
    int bits = dtype ? mo_dtype_bits(dtype) : 32;

    return bits > 0 ? bits : 32;
}

/* Returns the bits of an element of activations. */
static double activation_bits(const mo_numeric *numeric, const char *dtype)
{
    if (is_f32(dtype) && numeric->precision >= MO_MATH_F16)
        return 16;
    return bits_of(dtype);
}

/* Returns the bits of an element of a constant that op reads. Vectors, which
 * are biases and scales, are not quantized. */
static double constant_bits(const mo_numeric *numeric, const char *dtype,
                            bool is_weight)
{
    if (!is_weight || !(is_f32(dtype) || is_half(dtype)))
        return activation_bits(numeric, dtype);
    if (numeric->weights)
        return fmin(numeric->weight_bits, bits_of(dtype));
    return numeric->precision >= MO_MATH_FP8 ? 8
                                             : activation_bits(numeric, dtype);
}

mo_math mo_numeric_dtype_math(const char *dtype)
{
    static const struct {
        const char *dtype;
        mo_math math;
    } maths[] = {
        { "f16", MO_MATH_F16 },    { "bf16", MO_MATH_BF16 },
        { "f8e4m3", MO_MATH_FP8 }, { "f8e5m2", MO_MATH_FP8 },
        { "i8", MO_MATH_INT8 },    { "u8", MO_MATH_INT8 },
        { "f4e2m1", MO_MATH_FP4 },
    };

    for (size_t i = 0; i < sizeof maths / sizeof *maths && dtype; i++)
        if (strcmp(maths[i].dtype, dtype) == 0)
            return maths[i].math;
    return MO_MATH_F32;
}

static const char *tensor_dtype(const mo_graph *g, int tensor)
{
    const mo_tensor *t = &g->tensors[tensor];

    return mo_dtype_list_get(g->ops[t->producer].dtypes,
                             t->port > 0 ? t->port : 0);
}

/* Returns the type of the first operand that is no index, else of the output.
 */
static const char *operand_dtype(const mo_graph *g, int op)
{
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        const char *dtype = tensor_dtype(g, g->edges[g->in_edges[i]].tensor);

        if (dtype && (strcmp(dtype, "f32") == 0 ||
                      mo_numeric_dtype_math(dtype) != MO_MATH_F32))
            return dtype;
    }
    return mo_dtype_list_get(g->ops[op].dtypes, 0);
}

mo_math mo_numeric_math(const mo_numeric *numeric, const mo_graph *g, int op,
                        mo_class class)
{
    const char *dtype = operand_dtype(g, op);
    mo_math math = mo_numeric_dtype_math(dtype), wanted = numeric->precision;
    bool product = mo_numeric_is_product(class);

    if (wanted >= MO_MATH_FP8 && product && (is_f32(dtype) || is_half(dtype)))
        return wanted;
    if (!is_f32(dtype) || (wanted == MO_MATH_TF32 && !product))
        return math;
    return wanted >= MO_MATH_FP8 ? MO_MATH_F16 : wanted;
}

double mo_numeric_bytes(mo_math math)
{
    static const double bytes[MO_MATHS] = {
        [MO_MATH_F32] = 4,   [MO_MATH_TF32] = 4, [MO_MATH_F16] = 2,
        [MO_MATH_BF16] = 2,  [MO_MATH_FP8] = 1,  [MO_MATH_INT8] = 1,
        [MO_MATH_FP4] = 0.5,
    };

    return bytes[math];
}

static int64_t scaled_bytes(int64_t bytes, double factor)
{
    return bytes > 0 ? (int64_t) ceil((double) bytes * factor) : bytes;
}

/* Bytes that an op reads and writes: in the graph's types, and in those that it
 * is run with. */
typedef struct byte_scale {
    double graph_bytes, run_bytes;
} byte_scale;

/* Unknown sizes are negative and do not count. */
static void add_bytes(byte_scale *s, int64_t bytes, double factor)
{
    double known = bytes > 0 ? (double) bytes : 0;

    s->graph_bytes += known;
    s->run_bytes += known * factor;
}

static double scale_of(const byte_scale *s, double fallback)
{
    return s->graph_bytes > 0 ? s->run_bytes / s->graph_bytes : fallback;
}

static double activation_factor(const mo_numeric *numeric, const char *dtype)
{
    return activation_bits(numeric, dtype) / bits_of(dtype);
}

/* A constant with an unknown shape may be a matrix. */
static bool is_matrix(const mo_op *constant, int port)
{
    mo_shape shape;

    return !mo_shape_list_get(constant->shapes, port > 0 ? port : 0, &shape) ||
           shape.rank > 1;
}

static double feed_factor(const mo_numeric *numeric, const mo_graph *g,
                          int feed)
{
    const mo_op *constant = &g->ops[g->feeds[feed].from];
    int port = g->feed_port[feed];
    const char *dtype =
        mo_dtype_list_get(constant->dtypes, port > 0 ? port : 0);
    bool is_weight = multiplies_weights(&g->ops[g->feeds[feed].to]) &&
                     is_matrix(constant, port);

    return constant_bits(numeric, dtype, is_weight) / bits_of(dtype);
}

/* Before edges and feeds change. A gather reads rows of its table, which are as
 * many bytes as its output. */
static void apply_to_op(const mo_numeric *numeric, mo_graph *g, int i)
{
    mo_op *op = &g->ops[i];
    const char *dtype = mo_dtype_list_get(op->dtypes, 0);
    double output = activation_factor(numeric, dtype), weight;
    byte_scale all = { 0 }, constants = { 0 };
    int64_t *held =
        op->weight_bytes == MO_UNKNOWN ? &op->memory_bytes : &op->weight_bytes;
    int64_t before = *held;

    for (int f = g->feed_start[i]; f < g->feed_start[i + 1]; f++)
        add_bytes(&constants, g->feeds[f].bytes, feed_factor(numeric, g, f));
    /* Weights without constants are in the type of the op. */
    weight = scale_of(&constants,
                      constant_bits(numeric, dtype, multiplies_weights(op)) /
                          bits_of(dtype));
    if (constants.graph_bytes == 0)
        add_bytes(&constants, op->weight_bytes, weight);
    all = constants;
    for (int e = g->in_start[i]; e < g->in_start[i + 1]; e++) {
        const mo_edge *edge = &g->edges[g->in_edges[e]];

        add_bytes(&all, edge->bytes,
                  activation_factor(numeric, tensor_dtype(g, edge->tensor)));
    }
    add_bytes(&all, op->output_bytes, output);
    if (op->bytes > 0)
        op->bytes *= op->kind && op->kind->class == MO_CLASS_GATHER
                         ? output
                         : scale_of(&all, output);
    op->output_bytes = scaled_bytes(op->output_bytes, output);
    *held = scaled_bytes(*held, weight);
    if (held == &op->weight_bytes)
        op->memory_bytes -= before - *held;
}

void mo_numeric_apply(const mo_numeric *numeric, mo_graph *g)
{
    if (numeric->precision < MO_MATH_F16 && !numeric->weights)
        return;
    for (int i = 0; i < g->n_ops; i++)
        apply_to_op(numeric, g, i);
    for (int f = 0; f < g->n_feeds; f++)
        if (g->feeds[f].to < g->n_ops)
            g->feeds[f].bytes =
                scaled_bytes(g->feeds[f].bytes, feed_factor(numeric, g, f));
    for (int t = 0; t < g->n_tensors; t++) {
        mo_tensor *tensor = &g->tensors[t];
        double factor = activation_factor(numeric, tensor_dtype(g, t));

        tensor->bytes = scaled_bytes(tensor->bytes, factor);
        for (int e = 0; e < tensor->n_edges; e++) {
            mo_edge *edge = &g->edges[tensor->first_edge + e];

            edge->bytes = scaled_bytes(edge->bytes, factor);
        }
    }
}

mo_status mo_numeric_apply_phases(const mo_numeric *numeric, mo_graph **g,
                                  mo_error *err)
{
    mo_phases *phases = (*g)->phases;
    mo_graph *composed = NULL;
    mo_status status;

    if (!phases) {
        mo_numeric_apply(numeric, *g);
        return MO_OK;
    }
    for (int p = 0; p < phases->n; p++)
        mo_numeric_apply(numeric, phases->items[p].graph);
    status =
        mo_phases_compose((*g)->name, phases->items, phases->n, &composed, err);
    if (status == MO_OK)
        status = mo_graph_set_files(composed, (*g)->files, (*g)->n_files, err);
    if (status != MO_OK) {
        if (composed)
            composed->phases->n = 0;
        mo_graph_free(composed);
        return status;
    }
    phases->n = 0; /* their graphs are those of the composition */
    mo_graph_free(*g);
    *g = composed;
    return MO_OK;
}
