/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX operators of shapes, views and creation of tensors. */
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

static const mo_shape scalar_shape = { .rank = 0 };

/* Lists of an attribute, of any length that a literal may have. */
static mo_onnx_ref constant_list(mo_onnx_op *op, const mo_onnx_attribute *ints,
                                 const mo_onnx_attribute *floats)
{
    size_t n = ints ? ints->n_ints : floats->n_floats;
    mo_shape shape = { .rank = 1, .dims = { (int64_t) n } };
    mo_infer_value *value;

    if (n > MO_INFER_VALUE_MAX_ITEMS)
        return mo_onnx_refuse(op->b, "has a list of more than %d numbers",
                              MO_INFER_VALUE_MAX_ITEMS);
    if (floats)
        return mo_onnx_numbers(op->b, floats->floats, &shape, "f32");
    value = mo_infer_value_new(mo_onnx_builder_arena(op->b), &shape, "i64");
    if (!value)
        return mo_onnx_fail_memory(op->b);
    for (size_t i = 0; i < n; i++)
        value->items[i].i = ints->ints[i];
    return mo_onnx_literal(op->b, value);
}

void mo_onnx_op_constant(mo_onnx_op *op)
{
    const mo_onnx_attribute *tensor = mo_onnx_attr(op, "value");
    const mo_onnx_attribute *number = mo_onnx_attr(op, "value_int");
    const mo_onnx_attribute *real = mo_onnx_attr(op, "value_float");
    const mo_onnx_attribute *ints = mo_onnx_attr(op, "value_ints");
    const mo_onnx_attribute *floats = mo_onnx_attr(op, "value_floats");

    if (tensor && tensor->t)
        mo_onnx_out(op,
                    mo_onnx_constant(op->b, tensor->t,
                                     op->n_outputs > 0 ? op->node->outputs[0]
                                                       : "constant"));
    else if (number)
        mo_onnx_out(op, mo_onnx_int(op->b, number->i));
    else if (real)
        mo_onnx_out(op, mo_onnx_number(op->b, real->f, "f32"));
    else if (ints || floats)
        mo_onnx_out(op, constant_list(op, ints, floats));
    else
        mo_onnx_refuse(op->b, "is no constant of numbers");
}

void mo_onnx_op_constant_of_shape(mo_onnx_op *op)
{
    const mo_onnx_attribute *value = mo_onnx_attr(op, "value");
    mo_onnx_list sizes = mo_onnx_in_ints(op, 0, "shape");
    mo_shape shape = { .rank = sizes.n < 0 ? 0 : sizes.n };
    mo_onnx_ref x = value && value->t
                        ? mo_onnx_constant(op->b, value->t, "fill")
                        : mo_onnx_number(op->b, 0, "f32");

    if (sizes.n > MO_MAX_RANK) {
        mo_onnx_refuse(op->b, "has more than %d dimensions", MO_MAX_RANK);
        return;
    }
    for (int d = 0; d < sizes.n; d++)
        shape.dims[d] = sizes.at[d];
    x = mo_onnx_reshape(op->b, x, &scalar_shape);
    mo_onnx_out(op, mo_onnx_broadcast(op->b, x, &shape));
}

/* A bound of a range of dimensions, counted from the front. */
static int dimension_bound(int64_t bound, int rank)
{
    if (bound < 0)
        bound += rank;
    return (int) (bound < 0 ? 0 : bound > rank ? rank : bound);
}

void mo_onnx_op_shape(mo_onnx_op *op)
{
    const mo_shape *shape = mo_onnx_shape(op->b, mo_onnx_in(op, 0));
    int start = dimension_bound(mo_onnx_attr_int(op, "start", 0), shape->rank);
    int end =
        dimension_bound(mo_onnx_attr_int(op, "end", shape->rank), shape->rank);

    mo_onnx_out(op, mo_onnx_ints(op->b, shape->dims + start,
                                 end > start ? end - start : 0));
}

void mo_onnx_op_size(mo_onnx_op *op)
{
    mo_onnx_out(op, mo_onnx_int(op->b, mo_shape_elements(mo_onnx_shape(
                                           op->b, mo_onnx_in(op, 0)))));
}

/* A size of 0 is that of the input, one of -1 follows from the others. */
void mo_onnx_op_reshape(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *old = mo_onnx_shape(op->b, x);
    mo_onnx_list sizes = mo_onnx_list_of(op, "shape", 1, 5);
    mo_shape shape = { .rank = sizes.n < 0 ? 0 : sizes.n };
    int64_t others = 1;
    int open = -1;

    if (sizes.n > MO_MAX_RANK) {
        mo_onnx_refuse(op->b, "makes more than %d dimensions", MO_MAX_RANK);
        return;
    }
    for (int d = 0; d < sizes.n; d++) {
        shape.dims[d] = sizes.at[d];
        if (sizes.at[d] == 0 && !mo_onnx_attr_int(op, "allowzero", 0) &&
            d < old->rank)
            shape.dims[d] = old->dims[d];
        if (shape.dims[d] == -1 && open < 0) {
            open = d;
            shape.dims[d] = 1;
        }
    }
    if (!mo_shape_is_static(&shape) || !mo_shape_fits(&shape)) {
        mo_onnx_wrong(op->b, "has two sizes of -1, or too large ones");
        return;
    }
    others = mo_shape_elements(&shape);
    if (open >= 0 && (others == 0 || mo_shape_elements(old) % others != 0)) {
        mo_onnx_wrong(op->b, "cannot divide %lld elements by %lld",
                      (long long) mo_shape_elements(old), (long long) others);
        return;
    }
    if (open >= 0)
        shape.dims[open] = mo_shape_elements(old) / others;
    mo_onnx_out(op, mo_onnx_reshape(op->b, x, &shape));
}

void mo_onnx_op_flatten(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *old = mo_onnx_shape(op->b, x);
    int axis = dimension_bound(mo_onnx_attr_int(op, "axis", 1), old->rank);
    mo_shape shape = { .rank = 2, .dims = { 1, 1 } };

    for (int d = 0; d < old->rank; d++)
        shape.dims[d >= axis] *= old->dims[d];
    mo_onnx_out(op, mo_onnx_reshape(op->b, x, &shape));
}

void mo_onnx_op_squeeze(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *old = mo_onnx_shape(op->b, x);
    mo_onnx_list axes = mo_onnx_list_of(op, "axes", 1, 13);
    bool marks[MO_MAX_RANK] = { false };

    for (int d = 0; d < old->rank; d++)
        marks[d] = axes.n < 0 && old->dims[d] == 1;
    for (int i = 0; i < axes.n; i++)
        marks[mo_onnx_axis(op->b, axes.at[i], old->rank)] = true;
    mo_onnx_out(op, mo_onnx_squeeze(op->b, x, marks));
}

void mo_onnx_op_unsqueeze(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *old = mo_onnx_shape(op->b, x);
    mo_onnx_list axes = mo_onnx_list_of(op, "axes", 1, 13);
    mo_shape shape = { .rank = old->rank + (axes.n < 0 ? 0 : axes.n) };
    bool marks[MO_ONNX_MAX_LIST + MO_MAX_RANK] = { false };
    int next = 0;

    if (shape.rank > MO_MAX_RANK) {
        mo_onnx_refuse(op->b, "makes more than %d dimensions", MO_MAX_RANK);
        return;
    }
    for (int i = 0; i < axes.n; i++)
        marks[mo_onnx_axis(op->b, axes.at[i], shape.rank)] = true;
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = marks[d] || next >= old->rank ? 1 : old->dims[next++];
    mo_onnx_out(op, mo_onnx_reshape(op->b, x, &shape));
}

void mo_onnx_op_range(mo_onnx_op *op)
{
    const char *dtype = mo_onnx_dtype(op->b, mo_onnx_in(op, 0));
    mo_onnx_ref bounds[3];

    for (int i = 0; i < 3; i++)
        bounds[i] = mo_onnx_reshape(op->b, mo_onnx_in(op, i), &scalar_shape);
    mo_onnx_set_text(op->b, "output_type", dtype);
    mo_onnx_out(op, mo_onnx_add(op->b, "Range", bounds, 3, dtype));
}

/* A matrix of rows and columns with ones where test holds of column - row. */
static mo_onnx_ref banded_matrix(mo_onnx_builder *b, int64_t rows,
                                 int64_t columns, int64_t from, int64_t to,
                                 const char *dtype)
{
    mo_shape shape = { .rank = 2, .dims = { rows, columns } };
    int64_t n = rows * columns;
    double *items;
    mo_onnx_ref made;

    if (n > MO_INFER_VALUE_MAX_ITEMS)
        return mo_onnx_refuse(b, "has a matrix of more than %d elements",
                              MO_INFER_VALUE_MAX_ITEMS);
    items = calloc((size_t) n + 1, sizeof *items);
    if (!items)
        return mo_onnx_fail_memory(b);
    for (int64_t i = 0; i < n; i++) {
        int64_t diagonal = i % columns - i / columns;

        items[i] = diagonal >= from && diagonal <= to;
    }
    made = mo_onnx_numbers(b, items, &shape, dtype);
    free(items);
    return made;
}

void mo_onnx_op_eye_like(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *shape = mo_onnx_shape(op->b, x);
    const mo_onnx_attribute *type = mo_onnx_attr(op, "dtype");
    const char *dtype = !type ? mo_onnx_dtype(op->b, x)
                        : type->i > 0 && type->i < 1000
                            ? mo_onnx_dtype_of((int) type->i)
                            : NULL;
    int64_t k = mo_onnx_attr_int(op, "k", 0);

    if (shape->rank != 2 || !dtype)
        mo_onnx_refuse(op->b, "is no matrix of numbers");
    else
        mo_onnx_out(op, banded_matrix(op->b, shape->dims[0], shape->dims[1], k,
                                      k, dtype));
}

/* A triangle of x, zeros elsewhere. Row and column numbers are compared, so
 * that no matrix is stored. */
void mo_onnx_op_trilu(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), rows, columns, mask;
    const mo_shape *shape = mo_onnx_shape(b, x);
    int64_t k = mo_onnx_in_int(op, 1, "diagonal", 0);
    bool upper = mo_onnx_attr_int(op, "upper", 1) != 0;
    mo_shape column = { .rank = 2, .dims = { 0, 1 } };
    int64_t n_rows, n_columns;

    if (shape->rank < 2) {
        mo_onnx_wrong(b, "has no matrix");
        return;
    }
    n_rows = shape->dims[shape->rank - 2];
    n_columns = shape->dims[shape->rank - 1];
    if (n_rows > MO_INFER_VALUE_MAX_ITEMS ||
        n_columns > MO_INFER_VALUE_MAX_ITEMS) {
        mo_onnx_refuse(b, "has a matrix of more than %d rows or columns",
                       MO_INFER_VALUE_MAX_ITEMS);
        return;
    }
    column.dims[0] = n_rows;
    mo_onnx_set_text(b, "output_type", "i64");
    rows =
        mo_onnx_add(b, "Range",
                    MO_ONNX_REFS(mo_onnx_int(b, k), mo_onnx_int(b, n_rows + k),
                                 mo_onnx_int(b, 1)),
                    3, "i64");
    mo_onnx_set_text(b, "output_type", "i64");
    columns =
        mo_onnx_add(b, "Range",
                    MO_ONNX_REFS(mo_onnx_int(b, 0), mo_onnx_int(b, n_columns),
                                 mo_onnx_int(b, 1)),
                    3, "i64");
    mask = mo_onnx_binary(b, upper ? "GreaterEqual" : "LessEqual", columns,
                          mo_onnx_reshape(b, rows, &column), "boolean");
    mo_onnx_out(op, mo_onnx_select(b, mask, x,
                                   mo_onnx_number(b, 0, mo_onnx_dtype(b, x))));
}

/* Negative indices count from the end. */
void mo_onnx_op_one_hot(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), values = mo_onnx_in(op, 2), off, on;
    int rank = mo_onnx_shape(b, x)->rank;
    int64_t depth = mo_onnx_in_int(op, 1, "depth", 0);
    int axis = mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", -1), rank + 1);
    const char *dtype = mo_onnx_dtype(b, x);

    off = mo_onnx_reshape(b, mo_onnx_cut(b, values, 0, 0, 1), &scalar_shape);
    on = mo_onnx_reshape(b, mo_onnx_cut(b, values, 0, 1, 2), &scalar_shape);
    if (strcmp(dtype, "i64") != 0 && strcmp(dtype, "i32") != 0)
        x = mo_onnx_convert(b, x, "i64");
    mo_onnx_set_int(b, "axis", axis);
    mo_onnx_set_text(b, "negative_indices_mode", "normalize");
    mo_onnx_out(op, mo_onnx_add(b, "OneHot",
                                MO_ONNX_REFS(x, mo_onnx_int(b, depth), on, off),
                                4, mo_onnx_dtype(b, on)));
}

/* One at the first maximum along an axis, zeros elsewhere. */
void mo_onnx_op_hardmax(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), top;
    mo_shape shape = *mo_onnx_shape(b, x);
    const char *dtype = mo_onnx_dtype(b, x);
    bool old = op->version < 13;
    int axis =
        mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", old ? 1 : -1), shape.rank);
    bool marks[MO_MAX_RANK] = { false };

    if (old) { /* over all dimensions from axis on */
        mo_shape flat = { .rank = axis + 1 };

        for (int d = 0; d <= axis; d++)
            flat.dims[d] = d < axis ? shape.dims[d] : 1;
        for (int d = axis; d < shape.rank; d++)
            flat.dims[axis] *= shape.dims[d];
        x = mo_onnx_reshape(b, x, &flat);
    }
    mo_onnx_set_int(b, "axis", axis);
    mo_onnx_set_text(b, "mode", "max");
    mo_onnx_set_text(b, "sort", "value");
    mo_onnx_set_text(b, "index_element_type", "i64");
    top = mo_onnx_add_outputs(b, "TopK", MO_ONNX_REFS(x, mo_onnx_int(b, 1)), 2,
                              2, NULL, "i64");
    top.port = 1;
    marks[axis] = true;
    if (mo_onnx_is(top))
        top = mo_onnx_squeeze(b, top, marks);
    mo_onnx_set_int(b, "axis", axis);
    top = mo_onnx_add(
        b, "OneHot",
        MO_ONNX_REFS(top, mo_onnx_int(b, mo_onnx_shape(b, x)->dims[axis]),
                     mo_onnx_number(b, 1, dtype), mo_onnx_number(b, 0, dtype)),
        4, dtype);
    mo_onnx_out(op, mo_onnx_reshape(b, top, &shape));
}
