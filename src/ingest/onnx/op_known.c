/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX operators whose results have as many elements as the
 * values of their inputs say: these must be known before the model runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

/* The elements of input i; refuses one that is computed. */
static const mo_infer_value *known_input(mo_onnx_op *op, int i)
{
    const mo_infer_value *value = mo_onnx_known(op->b, mo_onnx_in(op, i));

    if (!value && mo_onnx_builder_status(op->b) == MO_OK)
        mo_onnx_refuse(op->b, "the size of its result depends on data that is "
                              "not known before it runs");
    return value;
}

static bool is_zero(const mo_infer_value *value, int64_t i)
{
    return value->real ? value->items[i].r == 0 : value->items[i].i == 0;
}

static mo_infer_value *new_list(mo_onnx_op *op, int64_t rows, int64_t columns,
                                const char *dtype)
{
    mo_shape shape = { .rank = columns < 0 ? 1 : 2, .dims = { rows, columns } };
    mo_infer_value *list = NULL;

    if (!mo_shape_fits(&shape) ||
        mo_shape_elements(&shape) > MO_INFER_VALUE_MAX_ITEMS)
        mo_onnx_refuse(op->b, "has more than %d indices",
                       MO_INFER_VALUE_MAX_ITEMS);
    else {
        list = mo_infer_value_new(mo_onnx_builder_arena(op->b), &shape, dtype);
        if (!list)
            mo_onnx_fail_memory(op->b);
    }
    return list;
}

/* Coordinates of the elements other than zero, a column for each. */
void mo_onnx_op_non_zero(mo_onnx_op *op)
{
    const mo_infer_value *x = known_input(op, 0);
    mo_infer_value *list;
    int64_t n = 0, at = 0;

    if (!x)
        return;
    for (int64_t i = 0; i < x->count; i++)
        n += !is_zero(x, i);
    list = new_list(op, x->shape.rank, n, "i64");
    if (!list)
        return;
    for (int64_t i = 0; i < x->count; i++) {
        int64_t rest = i;

        if (is_zero(x, i))
            continue;
        for (int d = x->shape.rank - 1; d >= 0; d--) {
            list->items[d * n + at].i = rest % x->shape.dims[d];
            rest /= x->shape.dims[d];
        }
        at++;
    }
    mo_onnx_out(op, mo_onnx_literal(op->b, list));
}

/* Slices along an axis, or elements of all of x, where a condition holds. */
void mo_onnx_op_compress(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_shape flat = { .rank = 1,
                      .dims = { mo_shape_elements(mo_onnx_shape(b, x)) } };
    const mo_onnx_attribute *given = mo_onnx_attr(op, "axis");
    const mo_infer_value *condition = known_input(op, 1);
    mo_infer_value *list;
    int64_t n = 0, size;
    int axis = 0;

    if (!condition)
        return;
    if (given)
        axis = mo_onnx_axis(b, given->i, mo_onnx_shape(b, x)->rank);
    else
        x = mo_onnx_reshape(b, x, &flat);
    size = mo_onnx_shape(b, x)->dims[axis];
    for (int64_t i = 0; i < condition->count && i < size; i++)
        n += !is_zero(condition, i);
    list = new_list(op, n, -1, "i64");
    if (!list)
        return;
    n = 0;
    for (int64_t i = 0; i < condition->count && i < size; i++)
        if (!is_zero(condition, i))
            list->items[n++].i = i;
    mo_onnx_set_int(b, "batch_dims", 0);
    mo_onnx_out(op, mo_onnx_add(b, "Gather",
                                MO_ONNX_REFS(x, mo_onnx_literal(b, list),
                                             mo_onnx_int(b, axis)),
                                3, NULL));
}

/* One slice along the axis; the elements of all slices are count apart. */
typedef struct slice {
    const mo_infer_value *x;
    int64_t outer, size, inner; /* of x, around the axis */
    int64_t index;
} slice;

/* NaN, equal to itself, follows all numbers. */
static int compare_items(const mo_infer_value *x, int64_t i, int64_t j)
{
    if (x->real) {
        double a = x->items[i].r, c = x->items[j].r;

        return isnan(a) || isnan(c) ? (isnan(a) != 0) - (isnan(c) != 0)
                                    : (a > c) - (a < c);
    }
    if (strcmp(x->dtype, "u64") == 0)
        return ((uint64_t) x->items[i].i > (uint64_t) x->items[j].i) -
               ((uint64_t) x->items[i].i < (uint64_t) x->items[j].i);
    return (x->items[i].i > x->items[j].i) - (x->items[i].i < x->items[j].i);
}

static int compare_slices(const slice *a, const slice *b)
{
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t i = 0; i < a->inner; i++) {
            int order =
                compare_items(a->x, (o * a->size + a->index) * a->inner + i,
                              (o * a->size + b->index) * a->inner + i);

            if (order != 0)
                return order;
        }
    return 0;
}

/* Equal slices in the order of the data. */
static int compare_entries(const void *a, const void *b)
{
    int order = compare_slices(a, b);
    int64_t i = ((const slice *) a)->index, j = ((const slice *) b)->index;

    return order != 0 ? order : (i > j) - (i < j);
}

static int compare_first(const void *a, const void *b)
{
    int64_t i = *(const int64_t *) a, j = *(const int64_t *) b;

    return (i > j) - (i < j);
}

/* Fills first, the index of each distinct slice where it occurs first, in
 * order; returns their number. entries are sorted. */
static int64_t find_distinct(const slice *entries, int64_t n, bool sorted,
                             int64_t *first)
{
    int64_t distinct = 0;

    for (int64_t i = 0; i < n; i++)
        if (i == 0 || compare_slices(&entries[i - 1], &entries[i]) != 0)
            first[distinct++] = entries[i].index;
    if (!sorted)
        qsort(first, (size_t) distinct, sizeof *first, compare_first);
    return distinct;
}

/* Sets output number i to the list of n integers. */
static void set_list(mo_onnx_op *op, int i, const int64_t *items, int64_t n)
{
    mo_infer_value *list;

    if (!mo_onnx_uses(op, i))
        return;
    list = new_list(op, n, -1, "i64");
    for (int64_t k = 0; list && k < n; k++)
        list->items[k].i = items[k];
    if (list)
        op->outputs[i] = mo_onnx_literal(op->b, list);
}

/* Distinct slices of a known tensor, where each occurs first, which of them
 * each slice is, and how often they occur. */
void mo_onnx_op_unique(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    const mo_infer_value *x = known_input(op, 0);
    const mo_onnx_attribute *given = mo_onnx_attr(op, "axis");
    mo_onnx_ref data = mo_onnx_in(op, 0);
    mo_shape flat = { .rank = 1 };
    slice *entries;
    int64_t *lists, n, distinct, outer = 1, inner = 1;
    bool sorted = mo_onnx_attr_int(op, "sorted", 1) != 0;
    int axis = 0;

    if (!x)
        return;
    flat.dims[0] = n = x->count;
    if (given) {
        axis = mo_onnx_axis(b, given->i, x->shape.rank);
        n = x->shape.rank > 0 ? x->shape.dims[axis] : 1;
        for (int d = 0; d < axis; d++)
            outer *= x->shape.dims[d];
        for (int d = axis + 1; d < x->shape.rank; d++)
            inner *= x->shape.dims[d];
    } else {
        data = mo_onnx_reshape(b, data, &flat);
    }
    entries = calloc((size_t) n + 1, sizeof *entries);
    lists = calloc(3 * (size_t) n + 1, sizeof *lists);
    if (!entries || !lists) {
        mo_onnx_fail_memory(b);
    } else if (mo_onnx_builder_status(b) == MO_OK) {
        int64_t *first = lists, *inverse = lists + n, *count = inverse + n;

        for (int64_t i = 0; i < n; i++)
            entries[i] = (slice){ x, outer, n, inner, i };
        qsort(entries, (size_t) n, sizeof *entries, compare_entries);
        distinct = find_distinct(entries, n, sorted, first);
        for (int64_t i = 0, own = -1; i < n; i++) {
            if (i == 0 || compare_slices(&entries[i - 1], &entries[i]) != 0)
                own = sorted
                          ? own + 1
                          : (int64_t *) bsearch(&entries[i].index, first,
                                                (size_t) distinct,
                                                sizeof *first, compare_first) -
                                first;
            inverse[entries[i].index] = own;
            count[own]++;
        }
        set_list(op, 1, first, distinct);
        set_list(op, 2, inverse, n);
        set_list(op, 3, count, distinct);
        mo_onnx_set_int(b, "batch_dims", 0);
        mo_onnx_out(
            op, mo_onnx_add(b, "Gather",
                            MO_ONNX_REFS(data,
                                         mo_onnx_ints(b, first, (int) distinct),
                                         mo_onnx_int(b, axis)),
                            3, NULL));
    }
    free(entries);
    free(lists);
}
