/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's products, reductions and normalizations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

void mo_onnx_op_matmul(mo_onnx_op *op)
{
    mo_onnx_out(op, mo_onnx_matmul(op->b, mo_onnx_in(op, 0), mo_onnx_in(op, 1),
                                   false, false));
}

/* alpha A B + beta C. */
void mo_onnx_op_gemm(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    double alpha = mo_onnx_attr_real(op, "alpha", 1);
    double beta = mo_onnx_attr_real(op, "beta", 1);
    mo_onnx_ref y = mo_onnx_matmul(b, mo_onnx_in(op, 0), mo_onnx_in(op, 1),
                                   mo_onnx_attr_int(op, "transA", 0) != 0,
                                   mo_onnx_attr_int(op, "transB", 0) != 0);
    mo_onnx_ref added = mo_onnx_in(op, 2);

    if (alpha != 1)
        y = mo_onnx_with_number(b, "Multiply", y, alpha);
    if (mo_onnx_is(added) && beta != 0) {
        if (beta != 1)
            added = mo_onnx_with_number(b, "Multiply", added, beta);
        y = mo_onnx_binary(b, "Add", y, added, NULL);
    }
    mo_onnx_out(op, y);
}

enum { MAX_DET = 4 };

/* Laplace expansion of the determinant of the rows from row on and the columns
 * whose bits are set. */
static mo_onnx_ref expand_det(mo_onnx_builder *b,
                              mo_onnx_ref (*element)[MAX_DET], int n, int row,
                              unsigned columns)
{
    mo_onnx_ref sum = MO_ONNX_NONE, term;
    const char *type = "Add";

    for (int j = 0; j < n; j++) {
        if (!(columns >> j & 1))
            continue;
        term = element[row][j];
        if (row + 1 < n)
            term = mo_onnx_binary(
                b, "Multiply", term,
                expand_det(b, element, n, row + 1, columns & ~(1u << j)), NULL);
        sum = mo_onnx_is(sum) ? mo_onnx_binary(b, type, sum, term, NULL) : term;
        type = strcmp(type, "Add") == 0 ? "Subtract" : "Add";
    }
    return sum;
}

void mo_onnx_op_det(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_widen(b, mo_onnx_in(op, 0)), y;
    mo_onnx_ref element[MAX_DET][MAX_DET];
    mo_shape shape = *mo_onnx_shape(b, x);
    int rank = shape.rank, n;

    if (rank < 2 || shape.dims[rank - 1] != shape.dims[rank - 2]) {
        mo_onnx_wrong(b, "has no square matrices: %s",
                      mo_dims_format(&shape).text);
        return;
    }
    if (shape.dims[rank - 1] < 1 || shape.dims[rank - 1] > MAX_DET) {
        mo_onnx_refuse(b, "has matrices of %lld rows, not 1 to %d",
                       (long long) shape.dims[rank - 1], MAX_DET);
        return;
    }
    n = (int) shape.dims[rank - 1];
    for (int i = 0; i < n; i++) {
        mo_onnx_ref row = mo_onnx_cut(b, x, rank - 2, i, i + 1);

        for (int j = 0; j < n; j++)
            element[i][j] = mo_onnx_cut(b, row, rank - 1, j, j + 1);
    }
    shape.rank = rank - 2;
    y = mo_onnx_reshape(b, expand_det(b, element, n, 0, (1u << n) - 1), &shape);
    mo_onnx_out(op, mo_onnx_convert(b, y, mo_onnx_dtype(b, mo_onnx_in(op, 0))));
}

/* The output of an equation without one: the ellipsis, then letters that occur
 * once, sorted. */
static void complete_equation(char *equation, size_t room)
{
    size_t used = strlen(equation);
    int count[256] = { 0 };

    if (strstr(equation, "->") || used + 64 > room)
        return;
    for (size_t i = 0; i < used; i++)
        count[(unsigned char) equation[i]]++;
    equation[used++] = '-';
    equation[used++] = '>';
    for (int i = 0; count['.'] > 0 && i < 3; i++)
        equation[used++] = '.';
    for (int c = 'A'; c <= 'z'; c++)
        if (count[c] == 1 && used + 1 < room)
            equation[used++] = (char) c;
    equation[used] = '\0';
}

void mo_onnx_op_einsum(mo_onnx_op *op)
{
    const char *given = mo_onnx_attr_text(op, "equation", "");
    char equation[512];
    size_t n = 0;

    for (; *given && n + 80 < sizeof equation; given++)
        if (*given != ' ')
            equation[n++] = *given;
    equation[n] = '\0';
    if (*given) {
        mo_onnx_refuse(op->b, "has an equation of more than 400 letters");
        return;
    }
    complete_equation(equation, sizeof equation);
    mo_onnx_set_text(op->b, "equation", equation);
    mo_onnx_out(op,
                mo_onnx_add(op->b, "Einsum", op->inputs, op->n_inputs, NULL));
}

/* Marks the reduced axes: no axes are all of them, or none. Axes became an
 * input with opset 18, of ReduceSum with 13. */
static bool mark_axes(mo_onnx_op *op, bool *marks)
{
    int since = strcmp(op->node->op_type, "ReduceSum") == 0 ? 13 : 18;
    int rank = mo_onnx_shape(op->b, mo_onnx_in(op, 0))->rank;
    mo_onnx_list axes = mo_onnx_list_of(op, "axes", 1, since);
    bool all = axes.n <= 0 && !mo_onnx_attr_int(op, "noop_with_empty_axes", 0);

    for (int d = 0; d < MO_MAX_RANK; d++)
        marks[d] = all && d < rank;
    for (int i = 0; i < axes.n; i++)
        marks[mo_onnx_axis(op->b, axes.at[i], rank)] = true;
    return mo_onnx_attr_int(op, "keepdims", 1) != 0;
}

static bool any_marked(const bool marks[MO_MAX_RANK])
{
    for (int d = 0; d < MO_MAX_RANK; d++)
        if (marks[d])
            return true;
    return false;
}

/* The norm of one element is its magnitude. */
void mo_onnx_op_reduce(mo_onnx_op *op)
{
    bool marks[MO_MAX_RANK], keep = mark_axes(op, marks);
    mo_onnx_ref x = mo_onnx_in(op, 0);

    if (strcmp(mo_onnx_dtype(op->b, x), "boolean") == 0 &&
        mo_shape_elements(mo_onnx_shape(op->b, x)) == 0)
        mo_onnx_refuse(op->b, "reduces an empty set of booleans");
    if (strncmp(op->argument, "ReduceL", 7) == 0 && !any_marked(marks)) {
        mo_onnx_out(op, mo_onnx_unary(op->b, "Abs", x, NULL));
        return;
    }
    mo_onnx_out(op, mo_onnx_reduce(op->b, op->argument, mo_onnx_in(op, 0),
                                   marks, keep));
}

/* A real type for logarithms of x, which are truncated if x is an integer. */
static const char *real_dtype(const mo_onnx_builder *b, mo_onnx_ref x)
{
    return mo_onnx_is_real(b, x) ? mo_onnx_dtype(b, x) : "f64";
}

void mo_onnx_op_reduce_log_sum(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    bool marks[MO_MAX_RANK], keep = mark_axes(op, marks);
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_onnx_ref y = mo_onnx_reduce(b, "ReduceSum", x, marks, keep);

    y = mo_onnx_unary(b, "Log", mo_onnx_convert(b, y, real_dtype(b, x)), NULL);
    mo_onnx_out(op, mo_onnx_convert(b, y, mo_onnx_dtype(b, x)));
}

void mo_onnx_op_reduce_sum_square(mo_onnx_op *op)
{
    bool marks[MO_MAX_RANK], keep = mark_axes(op, marks);
    mo_onnx_ref x = mo_onnx_in(op, 0);

    x = mo_onnx_binary(op->b, "Multiply", x, x, NULL);
    mo_onnx_out(op, mo_onnx_reduce(op->b, "ReduceSum", x, marks, keep));
}

/* The maximum is subtracted first, so that nothing overflows; 0 in place of an
 * infinite one. */
void mo_onnx_op_reduce_log_sum_exp(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    bool marks[MO_MAX_RANK], keep = mark_axes(op, marks);
    const char *type = mo_onnx_dtype(b, mo_onnx_in(op, 0));
    const char *dtype = real_dtype(b, mo_onnx_in(op, 0));
    mo_onnx_ref x = mo_onnx_convert(b, mo_onnx_in(op, 0), dtype), top, y;

    top = mo_onnx_reduce(b, "ReduceMax", x, marks, true);
    top = mo_onnx_select(b, mo_onnx_unary(b, "IsInf", top, "boolean"),
                         mo_onnx_number(b, 0, dtype), top);
    y = mo_onnx_unary(b, "Exp", mo_onnx_binary(b, "Subtract", x, top, NULL),
                      NULL);
    y = mo_onnx_unary(b, "Log", mo_onnx_reduce(b, "ReduceSum", y, marks, true),
                      NULL);
    y = mo_onnx_convert(b, mo_onnx_binary(b, "Add", y, top, NULL), type);
    mo_onnx_out(op, keep ? y : mo_onnx_squeeze(b, y, marks));
}

void mo_onnx_op_cum_sum(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    int axis = mo_onnx_axis(b, mo_onnx_in_int(op, 1, "axis", 0),
                            mo_onnx_shape(b, x)->rank);
    mo_onnx_ref at = mo_onnx_int(b, axis);

    mo_onnx_set_bool(b, "exclusive", mo_onnx_attr_int(op, "exclusive", 0) != 0);
    mo_onnx_set_bool(b, "reverse", mo_onnx_attr_int(op, "reverse", 0) != 0);
    mo_onnx_out(op, mo_onnx_binary(b, "CumSum", x, at, NULL));
}

/* x moved by so many elements along an axis, filled with ones. */
static mo_onnx_ref shift_in_ones(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                                 int64_t by, bool reverse)
{
    mo_shape shape = *mo_onnx_shape(b, x);
    int64_t size = shape.dims[axis];
    mo_onnx_ref ones, rest;

    shape.dims[axis] = by;
    ones =
        mo_onnx_broadcast(b, mo_onnx_number(b, 1, mo_onnx_dtype(b, x)), &shape);
    if (by >= size)
        return ones;
    rest = reverse ? mo_onnx_cut(b, x, axis, by, size)
                   : mo_onnx_cut(b, x, axis, 0, size - by);
    return reverse ? mo_onnx_concat(b, MO_ONNX_REFS(rest, ones), 2, axis)
                   : mo_onnx_concat(b, MO_ONNX_REFS(ones, rest), 2, axis);
}

/* Products of all elements up to each: a scan in steps of 1, 2, 4, ... (Hillis
 * and Steele). */
void mo_onnx_op_cum_prod(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *shape = mo_onnx_shape(b, x);
    int axis = mo_onnx_axis(b, mo_onnx_in_int(op, 1, "axis", 0), shape->rank);
    int64_t size = shape->rank > 0 ? shape->dims[axis] : 0;
    bool reverse = mo_onnx_attr_int(op, "reverse", 0) != 0;

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (mo_onnx_attr_int(op, "exclusive", 0) && size > 0)
        x = shift_in_ones(b, x, axis, 1, reverse);
    for (int64_t by = 1; by < size && mo_onnx_is(x); by *= 2)
        x = mo_onnx_binary(b, "Multiply", x,
                           shift_in_ones(b, x, axis, by, reverse), NULL);
    mo_onnx_out(op, x);
}

/* Before opset 13, over all dimensions from axis on. */
void mo_onnx_op_softmax(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_shape shape = *mo_onnx_shape(b, x), flat = { .rank = 1, .dims = { 1 } };
    bool old = op->version < 13;
    int axis =
        mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", old ? 1 : -1), shape.rank);

    if (old) {
        flat.rank = axis + 1;
        for (int d = 0; d <= axis; d++)
            flat.dims[d] = d < axis ? shape.dims[d] : 1;
        for (int d = axis; d < shape.rank; d++)
            flat.dims[axis] *= shape.dims[d];
    } else if (shape.rank > 0) {
        flat = shape;
    }
    x = mo_onnx_softmax(b, op->argument, mo_onnx_reshape(b, x, &flat), axis);
    mo_onnx_out(op, mo_onnx_reshape(b, x, &shape));
}

/* Zeros stay zeros. */
void mo_onnx_op_lp_normalization(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_widen(b, mo_onnx_in(op, 0)), norm, empty;
    const char *dtype = mo_onnx_dtype(b, x);
    bool marks[MO_MAX_RANK] = { false };

    marks[mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", -1),
                       mo_onnx_shape(b, x)->rank)] = true;
    norm = mo_onnx_reduce(
        b, mo_onnx_attr_int(op, "p", 2) == 1 ? "ReduceL1" : "ReduceL2", x,
        marks, true);
    empty = mo_onnx_binary(b, "Equal", norm, mo_onnx_number(b, 0, dtype),
                           "boolean");
    norm = mo_onnx_select(b, empty, mo_onnx_number(b, 1, dtype), norm);
    mo_onnx_out(op,
                mo_onnx_convert(b, mo_onnx_binary(b, "Divide", x, norm, NULL),
                                mo_onnx_dtype(b, mo_onnx_in(op, 0))));
}

void mo_onnx_op_mean_variance(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_list axes = mo_onnx_attr_ints(op, "axes");
    mo_onnx_ref list;

    if (axes.n < 0)
        axes = (mo_onnx_list){ .n = 3, .at = { 0, 2, 3 } };
    list = mo_onnx_ints(b, axes.at, axes.n);
    mo_onnx_set_real(b, "eps", 1e-9);
    mo_onnx_set_bool(b, "normalize_variance", true);
    mo_onnx_set_text(b, "eps_mode", "outside_sqrt");
    mo_onnx_out(op, mo_onnx_binary(b, "MVN", mo_onnx_in(op, 0), list, NULL));
}

/* In training, mean and variance are those of x; outputs 1 and 2 are averages
 * with those of the node. */
static void take_statistics(mo_onnx_op *op, mo_onnx_ref inputs[5])
{
    mo_onnx_builder *b = op->b;
    double momentum = mo_onnx_attr_real(op, "momentum", 0.9f);
    bool marks[MO_MAX_RANK] = { false };
    mo_onnx_ref mean;

    for (int d = 0; d < mo_onnx_shape(b, inputs[0])->rank; d++)
        marks[d] = d != 1;
    mean = mo_onnx_reduce(b, "ReduceMean", inputs[0], marks, true);
    inputs[3] = mo_onnx_squeeze(b, mean, marks);
    mean = mo_onnx_binary(b, "SquaredDifference", inputs[0], mean, NULL);
    inputs[4] = mo_onnx_reduce(b, "ReduceMean", mean, marks, false);
    for (int i = 1; i < 3; i++)
        if (mo_onnx_uses(op, i))
            op->outputs[i] = mo_onnx_binary(
                b, "Add",
                mo_onnx_with_number(b, "Multiply", mo_onnx_in(op, 2 + i),
                                    momentum),
                mo_onnx_with_number(b, "Multiply", inputs[2 + i], 1 - momentum),
                NULL);
}

void mo_onnx_op_batch_norm(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref inputs[5] = { mo_onnx_in(op, 0) };
    bool trains = mo_onnx_attr_int(op, "training_mode", 0) != 0;

    if (!trains && mo_onnx_uses(op, 1)) {
        mo_onnx_refuse(b, "is in training mode");
        return;
    }
    for (int i = 1; i < 5; i++)
        inputs[i] =
            mo_onnx_convert(b, mo_onnx_in(op, i), mo_onnx_dtype(b, inputs[0]));
    if (trains)
        take_statistics(op, inputs);
    mo_onnx_set_real(b, "epsilon", mo_onnx_attr_real(op, "epsilon", 1e-5f));
    mo_onnx_out(op, mo_onnx_add(b, "BatchNormInference", inputs, 5, NULL));
}

/* Mean and inverse deviation, those of halves in f32, are computed only where a
 * node reads them. */
static void add_statistics(mo_onnx_op *op, mo_onnx_ref x, int axis,
                           double epsilon)
{
    mo_onnx_builder *b = op->b;
    bool marks[MO_MAX_RANK] = { false };
    mo_onnx_ref mean, y;

    for (int d = axis; d < mo_onnx_shape(b, x)->rank; d++)
        marks[d] = true;
    if (!mo_onnx_uses(op, 1) && !mo_onnx_uses(op, 2))
        return;
    x = mo_onnx_widen(b, x);
    mean = mo_onnx_reduce(b, "ReduceMean", x, marks, true);
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = mean;
    if (!mo_onnx_uses(op, 2))
        return;
    y = mo_onnx_binary(b, "SquaredDifference", x, mean, NULL);
    y = mo_onnx_reduce(b, "ReduceMean", y, marks, true);
    y = mo_onnx_with_number(b, "Add", y, epsilon);
    op->outputs[2] =
        mo_onnx_unary(b, "Reciprocal", mo_onnx_unary(b, "Sqrt", y, NULL), NULL);
}

void mo_onnx_op_layer_norm(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), y;
    double epsilon = mo_onnx_attr_real(op, "epsilon", 1e-5f);
    int axis = mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", -1),
                            mo_onnx_shape(b, x)->rank);

    y = mo_onnx_normalize(b, x, axis, epsilon);
    if (mo_onnx_has(op, 1))
        y = mo_onnx_binary(b, "Multiply", y, mo_onnx_in(op, 1), NULL);
    if (mo_onnx_has(op, 2))
        y = mo_onnx_binary(b, "Add", y, mo_onnx_in(op, 2), NULL);
    mo_onnx_out(op, y);
    add_statistics(op, x, axis, epsilon);
}

/* x / sqrt(mean of squares + epsilon), times the scale. The squares of halves
 * may be infinite: they are computed in f32. */
void mo_onnx_op_rms_norm(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_widen(b, mo_onnx_in(op, 0)), y;
    int rank = mo_onnx_shape(b, x)->rank;
    int axis = mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", -1), rank);
    double epsilon = mo_onnx_attr_real(op, "epsilon", 1e-5f);
    bool marks[MO_MAX_RANK] = { false };

    for (int d = axis; d < rank; d++)
        marks[d] = true;
    y = mo_onnx_binary(b, "Multiply", x, x, NULL);
    y = mo_onnx_reduce(b, "ReduceMean", y, marks, true);
    y = mo_onnx_with_number(b, "Add", y, epsilon);
    y = mo_onnx_binary(b, "Divide", x, mo_onnx_unary(b, "Sqrt", y, NULL), NULL);
    y = mo_onnx_convert(b, y, mo_onnx_dtype(b, mo_onnx_in(op, 1)));
    mo_onnx_out(op, mo_onnx_binary(b, "Multiply", y, mo_onnx_in(op, 1), NULL));
}

/* Each channel by itself. */
void mo_onnx_op_instance_norm(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), y;
    int rank = mo_onnx_shape(b, x)->rank;

    if (rank < 3) {
        mo_onnx_wrong(b, "has an image of %d dimensions", rank);
        return;
    }
    y = mo_onnx_normalize(b, x, 2, mo_onnx_attr_real(op, "epsilon", 1e-5f));
    y = mo_onnx_binary(b, "Multiply", y,
                       mo_onnx_channels(b, mo_onnx_in(op, 1), rank), NULL);
    mo_onnx_out(op, mo_onnx_binary(b, "Add", y,
                                   mo_onnx_channels(b, mo_onnx_in(op, 2), rank),
                                   NULL));
}

/* Before opset 21, scale and bias were those of groups. */
void mo_onnx_op_group_norm(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), values[2];
    const mo_shape *shape = mo_onnx_shape(b, x);
    int64_t groups = mo_onnx_attr_int(op, "num_groups", 1);
    int64_t channels = shape->rank > 1 ? shape->dims[1] : 0;

    if (groups < 1 || channels % groups != 0 || channels == 0) {
        mo_onnx_wrong(b, "has %lld groups of %lld channels", (long long) groups,
                      (long long) channels);
        return;
    }
    for (int i = 0; i < 2; i++) {
        mo_shape column = { .rank = 2, .dims = { groups, 1 } };
        mo_shape wide = { .rank = 2, .dims = { groups, channels / groups } };
        mo_shape list = { .rank = 1, .dims = { channels } };

        values[i] = mo_onnx_in(op, 1 + i);
        if (op->version >= 21)
            continue;
        values[i] =
            mo_onnx_broadcast(b, mo_onnx_reshape(b, values[i], &column), &wide);
        values[i] = mo_onnx_reshape(b, values[i], &list);
    }
    mo_onnx_set_int(b, "num_groups", groups);
    mo_onnx_set_real(b, "epsilon", mo_onnx_attr_real(op, "epsilon", 1e-5f));
    mo_onnx_out(op,
                mo_onnx_add(b, "GroupNormalization",
                            MO_ONNX_REFS(x, values[0], values[1]), 3, NULL));
}
