/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/work/flops.h"
#include "graph/op_attrs.h"
#include "ingest/einsum.h"

#include <string.h>

enum { UNKNOWN = -1 };

/* True when input number index exists and its shape is known. */
static bool has_input(const mo_work_input *in, int index)
{
    return index < in->n_inputs && in->inputs[index].rank >= 0;
}

static bool has_output(const mo_work_input *in)
{
    return in->n_outputs > 0 && in->outputs[0].rank >= 0;
}

static double count_elements(const mo_shape *shape)
{
    return (double) mo_shape_elements(shape);
}

static double output_elements(const mo_work_input *in)
{
    return has_output(in) ? count_elements(&in->outputs[0]) : UNKNOWN;
}

static double input_elements(const mo_work_input *in)
{
    return has_input(in, 0) ? count_elements(&in->inputs[0]) : UNKNOWN;
}

/* The dimension that stands back places from the end (1: the last); 1 when the
 * shape is shorter, as for the missing dimensions in a broadcast. */
static double dim_from_end(const mo_shape *shape, int back)
{
    return back <= shape->rank ? (double) shape->dims[shape->rank - back] : 1;
}

/* Of the dims in [first, end). */
static double multiply_dims(const mo_shape *shape, int first, int end)
{
    double result = 1;

    for (int i = first; i < end; i++)
        result *= (double) shape->dims[i];
    return result;
}

double mo_flops_output(const mo_work_input *in)
{
    return has_output(in) ? in->kind->per_element * output_elements(in)
                          : UNKNOWN;
}

double mo_flops_input(const mo_work_input *in)
{
    return has_input(in, 0) ? in->kind->per_element * input_elements(in)
                            : UNKNOWN;
}

double mo_flops_largest(const mo_work_input *in)
{
    double largest = output_elements(in);

    for (int i = 0; i < in->n_inputs; i++)
        if (has_input(in, i) && count_elements(&in->inputs[i]) > largest)
            largest = count_elements(&in->inputs[i]);
    return largest < 0 ? UNKNOWN : in->kind->per_element * largest;
}

/* Every output element is a sum of inner products, and one more addition when
 * there is a bias. */
static double inner_products(const mo_work_input *in, double inner, bool bias)
{
    return has_output(in) ? output_elements(in) * (2 * inner + bias) : UNKNOWN;
}

/* A matrix operand, or a stack of them; a vector is a row on the left and a
 * column on the right, which either way has its one dimension inside. */
typedef struct operand {
    const mo_shape *shape;
    bool transposed;
} operand;

static double count_rows(operand m)
{
    return dim_from_end(m.shape, m.transposed ? 1 : 2);
}

static double count_columns(operand m)
{
    return dim_from_end(m.shape, m.transposed ? 2 : 1);
}

static operand operand_at(const mo_work_input *in, int index, const char *key)
{
    const mo_shape *shape = &in->inputs[index];
    bool transposed = mo_attr_bool(in->attrs, key, false);

    return (operand){ shape, transposed && shape->rank > 1 };
}

static bool makes_product(operand a, operand b, const mo_shape *product)
{
    return count_rows(a) == dim_from_end(product, 2) &&
           count_columns(b) == dim_from_end(product, 1);
}

/* A file without ports may give the operands in either order: when only the
 * swapped order makes the output, that one is used. */
double mo_flops_matmul(const mo_work_input *in)
{
    bool has_a = has_input(in, 0), has_b = has_input(in, 1);
    operand a, b;

    if (!has_output(in) || (!has_a && !has_b))
        return UNKNOWN;
    if (!has_a) {
        b = operand_at(in, 1, "transpose_b");
        return inner_products(
            in, b.shape->rank > 1 ? count_rows(b) : count_columns(b), false);
    }
    a = operand_at(in, 0, "transpose_a");
    if (has_b) {
        b = operand_at(in, 1, "transpose_b");
        if (a.shape->rank > 1 && b.shape->rank > 1 &&
            !makes_product(a, b, &in->outputs[0]) &&
            makes_product(b, a, &in->outputs[0]))
            a = b;
    }
    return inner_products(in, count_columns(a), false);
}

double mo_flops_linear(const mo_work_input *in)
{
    if (!has_input(in, 0))
        return UNKNOWN;
    return inner_products(in, dim_from_end(&in->inputs[0], 1),
                          has_input(in, 2));
}

double mo_flops_linear_experts(const mo_work_input *in)
{
    return has_input(in, 0)
               ? inner_products(in, dim_from_end(&in->inputs[0], 1), false)
               : UNKNOWN;
}

double mo_flops_gemm(const mo_work_input *in)
{
    bool across = mo_attr_bool(in->attrs, "transA", false);

    if (!has_input(in, 0))
        return UNKNOWN;
    return inner_products(in, dim_from_end(&in->inputs[0], across ? 2 : 1),
                          has_input(in, 2));
}

double mo_flops_addmm(const mo_work_input *in)
{
    /* A graph without its weights has the activation alone. */
    int a = in->n_inputs > 2 ? 1 : 0;

    if (!has_input(in, a))
        return UNKNOWN;
    return inner_products(in, dim_from_end(&in->inputs[a], 1), true);
}

/* The filter's elements that go into one output (or that one input goes into,
 * backwards): the product of its dims from first on. */
static double filter_products(const mo_work_input *in, double positions,
                              int filter, int first, int bias)
{
    const mo_shape *shape;

    if (positions < 0 || !has_input(in, filter))
        return UNKNOWN;
    shape = &in->inputs[filter];
    if (shape->rank < first)
        return UNKNOWN;
    return positions * (2 * multiply_dims(shape, first, shape->rank) +
                        (bias > 0 && has_input(in, bias)));
}

static double kernel_elements(const mo_work_input *in)
{
    static const char *const keys[] = { "kernel", "kernel_shape",
                                        "kernel_size" };
    int64_t dims[MO_MAX_RANK];
    double size = 1;
    int n = -1, spatial;

    for (int i = 0; i < 3 && n < 0; i++)
        n = mo_attr_ints(in->attrs, keys[i], dims, MO_MAX_RANK);
    if (n <= 0 || n > MO_MAX_RANK || !has_output(in))
        return UNKNOWN;
    /* One number stands for all the spatial dimensions. */
    spatial = n == 1 && in->outputs[0].rank > 3 ? in->outputs[0].rank - 2 : n;
    for (int i = 0; i < spatial; i++) {
        int64_t dim = dims[n == 1 ? 0 : i];

        if (dim <= 0)
            return UNKNOWN;
        size *= (double) dim;
    }
    return size;
}

/* Without a filter's shape (a graph without its constants): from the kernel's
 * size and the input's channels. */
static double convolution_by_kernel(const mo_work_input *in)
{
    double kernel = kernel_elements(in);
    int64_t groups = 1;

    if (kernel < 0 || !has_input(in, 0) || in->inputs[0].rank < 2)
        return UNKNOWN;
    if (mo_attr_ints(in->attrs, "groups", &groups, 1) != 1 &&
        mo_attr_ints(in->attrs, "group", &groups, 1) != 1)
        groups = 1;
    if (groups <= 0)
        return UNKNOWN;
    return 2 * output_elements(in) * kernel * (double) in->inputs[0].dims[1] /
           (double) groups;
}

double mo_flops_convolution(const mo_work_input *in)
{
    return has_input(in, 1) ? filter_products(in, output_elements(in), 1, 1, 2)
                            : convolution_by_kernel(in);
}

/* The filter is input 3, the bias input 8. */
double mo_flops_qlinear_conv(const mo_work_input *in)
{
    return filter_products(in, output_elements(in), 3, 1, 8);
}

double mo_flops_group_convolution(const mo_work_input *in)
{
    return filter_products(in, output_elements(in), 1, 2, 0);
}

double mo_flops_deconvolution(const mo_work_input *in)
{
    return filter_products(in, input_elements(in), 1, 1, 0);
}

double mo_flops_group_deconvolution(const mo_work_input *in)
{
    return filter_products(in, input_elements(in), 1, 2, 0);
}

double mo_flops_deformable(const mo_work_input *in)
{
    return filter_products(in, output_elements(in), 2, 1, 0);
}

double mo_flops_pool(const mo_work_input *in)
{
    double kernel = kernel_elements(in);

    return kernel < 0 ? UNKNOWN : output_elements(in) * kernel;
}

double mo_flops_lrn(const mo_work_input *in)
{
    int64_t size;

    if (!has_output(in) || mo_attr_ints(in->attrs, "size", &size, 1) != 1 ||
        size <= 0)
        return UNKNOWN;
    return output_elements(in) * (2 * (double) size + in->kind->per_element);
}

double mo_flops_interpolate(const mo_work_input *in)
{
    double taps = 4;

    if (mo_attr_equals(in->attrs, "mode", "nearest"))
        return 0;
    if (mo_attr_equals(in->attrs, "mode", "cubic") ||
        mo_attr_equals(in->attrs, "mode", "bicubic"))
        taps = 16;
    return has_output(in) ? output_elements(in) * (2 * taps - 1) : UNKNOWN;
}

double mo_flops_attention(const mo_work_input *in)
{
    const mo_shape *q, *k, *v;
    double queries, keys;

    if (!has_input(in, 0) || !has_input(in, 1) || !has_input(in, 2))
        return UNKNOWN;
    q = &in->inputs[0];
    k = &in->inputs[1];
    v = &in->inputs[2];
    if (q->rank < 2 || k->rank < 2 || v->rank < 2)
        return UNKNOWN;
    /* All queries of all heads and batches; each meets every key. */
    queries = multiply_dims(q, 0, q->rank - 1);
    keys = dim_from_end(k, 2);
    return queries * keys *
           (2 * dim_from_end(q, 1) + 2 * dim_from_end(v, 1) +
            in->kind->per_element);
}

/* W [directions?, gates * hidden, features] at weights, R behind it. */
static double recurrent_flops(const mo_work_input *in, int weights)
{
    const mo_shape *w, *r;
    double rows, features, hidden, directions;

    if (!has_input(in, 0) || !has_input(in, weights) ||
        !has_input(in, weights + 1))
        return UNKNOWN;
    w = &in->inputs[weights];
    r = &in->inputs[weights + 1];
    if (w->rank < 2 || w->rank > 3 || r->rank != w->rank)
        return UNKNOWN;
    rows = dim_from_end(w, 2);
    features = dim_from_end(w, 1);
    hidden = dim_from_end(r, 1);
    directions = dim_from_end(w, 3);
    if (features <= 0)
        return UNKNOWN;
    return input_elements(in) / features * directions *
           (2 * rows * (features + hidden) + in->kind->per_element * hidden);
}

double mo_flops_onnx_rnn(const mo_work_input *in)
{
    return recurrent_flops(in, 1);
}

double mo_flops_cell(const mo_work_input *in)
{
    return recurrent_flops(in, 2);
}

double mo_flops_lstm_cell(const mo_work_input *in)
{
    return recurrent_flops(in, 3);
}

double mo_flops_sequence(const mo_work_input *in)
{
    return recurrent_flops(in, 3);
}

double mo_flops_lstm_sequence(const mo_work_input *in)
{
    return recurrent_flops(in, 4);
}

/*
 * "bij,bjk->bik" does as many steps as its labels have combinations, here
 * b * i * j * k, and in each one multiplication per further operand and, when a
 * label is summed away, an addition.  "..." stands for the dimensions that no
 * letter names; they broadcast.
 */
typedef struct labels {
    int64_t letter[MO_EINSUM_ELLIPSIS]; /* -1: not seen */
    int64_t broadcast[MO_MAX_RANK];     /* of "...", from its end */
    int n_broadcast;
} labels;

static bool set_label(labels *seen, int label, int64_t size)
{
    int64_t *known = &seen->letter[label];

    if (*known > 1 && size > 1 && *known != size)
        return false;
    if (size > *known)
        *known = size;
    return true;
}

/* Merges the n dims that "..." covers, the last of them dims[last]. */
static void set_broadcast(labels *seen, const mo_shape *shape, int last, int n)
{
    for (int i = 0; i < n; i++)
        if (shape->dims[last - i] > seen->broadcast[i])
            seen->broadcast[i] = shape->dims[last - i];
    if (n > seen->n_broadcast)
        seen->n_broadcast = n;
}

/* Matches the subscript of an operand with its shape; false if it does not. */
static bool match_subscript(labels *seen, mo_einsum_text subscript,
                            const mo_shape *shape)
{
    int covered = shape->rank - mo_einsum_count_letters(subscript);
    int dim = 0, label;

    if (covered < 0)
        return false;
    while ((label = mo_einsum_take_label(&subscript)) >= 0) {
        if (label == MO_EINSUM_ELLIPSIS) {
            set_broadcast(seen, shape, dim + covered - 1, covered);
            dim += covered;
            covered = 0;
        } else if (!set_label(seen, label, shape->dims[dim++])) {
            return false;
        }
    }
    return label == MO_EINSUM_END && dim == shape->rank;
}

static double count_combinations(const labels *seen)
{
    double product = 1;

    for (int c = 0; c < MO_EINSUM_ELLIPSIS; c++)
        if (seen->letter[c] >= 0)
            product *= (double) seen->letter[c];
    for (int i = 0; i < seen->n_broadcast; i++)
        product *= (double) seen->broadcast[i];
    return product;
}

/* True when some label is not in the output. */
static bool sums_a_label(const labels *seen, mo_einsum_text output)
{
    size_t length = (size_t) (output.end - output.at);

    for (int c = 0; c < MO_EINSUM_ELLIPSIS; c++)
        if (seen->letter[c] > 1 && !memchr(output.at, c, length))
            return true;
    return false;
}

/* Matches the subscripts with the shapes of the inputs; returns how many
 * subscripts there are, or -1. */
static int match_operands(labels *seen, mo_einsum_text inputs,
                          const mo_work_input *in)
{
    mo_einsum_text subscript;
    int operands = 0;

    do {
        subscript = mo_einsum_take_subscript(&inputs);
        if (operands == in->n_inputs || in->inputs[operands].rank < 0 ||
            !match_subscript(seen, subscript, &in->inputs[operands]))
            return -1;
        operands++;
    } while (subscript.end < inputs.end);
    return operands;
}

double mo_flops_einsum(const mo_work_input *in)
{
    labels seen = { .n_broadcast = 0 };
    mo_einsum_equation equation;
    int operands = -1;

    memset(seen.letter, -1, sizeof seen.letter);
    if (mo_einsum_find(in->attrs, &equation) && equation.output.at)
        operands = match_operands(&seen, equation.inputs, in);
    if (operands < 0)
        return -1;
    return count_combinations(&seen) *
           (operands - 1 + sums_a_label(&seen, equation.output));
}
