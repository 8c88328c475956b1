/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of Slice and StridedSlice. Both are resolved to a strided view
 * into the input and its shape.
 */
#include "graph/op_attrs.h"
#include "ingest/infer/rule_fns.h"

#include <string.h>

#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

typedef struct range {
    int64_t start, step, count;
} range;

static int64_t clamp_index(int64_t x, int64_t min, int64_t max)
{
    return x < min ? min : x > max ? max : x;
}

/* start:stop:step of dim items, as OpenVINO clips it: a start beyond either end
 * is moved to that end, whatever the direction. */
static mo_status resolve_range(int64_t dim, int64_t start, int64_t stop,
                               int64_t step, range *r, mo_error *err)
{
    int64_t last = step < 0 ? dim - 1 : dim, span;

    if (step == 0)
        return mo_fail(err, MO_E_INPUT, "has a step of 0");
    *r = (range){ .step = step };
    if (dim == 0)
        return MO_OK;
    start = clamp_index(start < 0 ? start + dim : start, 0, last);
    stop = clamp_index(stop < 0 ? stop + dim : stop, step < 0 ? -1 : 0, dim);
    span = stop - start;
    r->start = start;
    if (step > 0 && span > 0)
        r->count = (span - 1) / step + 1;
    if (step < 0 && span < 0)
        r->count = (span + 1) / step + 1;
    return MO_OK;
}

/* Appends the dimension that the range selects of an input dimension with that
 * stride. With less than two items the step does not count: it may be of any
 * size. */
static void add_range(mo_infer_slice *c, int64_t stride, const range *r)
{
    c->view.base += r->start * stride;
    if (c->shape.rank < MO_MAX_RANK)
        c->view.stride[c->shape.rank] = r->count > 1 ? r->step * stride : 0;
    mo_dims_push(&c->shape, r->count);
}

typedef struct bounds {
    mo_infer_arg_list start, stop, step;
} bounds;

static mo_status read_bounds(const mo_infer_rule_op *op, bounds *b,
                             mo_error *err)
{
    mo_status status = mo_infer_arg_list_of(op, 1, &b->start, err);

    if (status == MO_OK)
        status = mo_infer_arg_exactly(op, 2, b->start.count, &b->stop, err);
    if (status == MO_OK && op->n_inputs > 3)
        return mo_infer_arg_exactly(op, 3, b->start.count, &b->step, err);
    if (status == MO_OK)
        for (int i = 0; i < b->start.count; i++)
            b->step.at[i] = 1;
    return status;
}

/* place[d] = index of the bounds of dimension d, or -1. */
static mo_status slice_places(const mo_infer_rule_op *op, int count, int *place,
                              mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    mo_infer_arg_list axes = { .count = count };
    mo_status status = MO_OK;

    for (int d = 0; d < MO_MAX_RANK; d++) {
        place[d] = -1;
        axes.at[d] = d;
    }
    if (op->n_inputs > 4)
        status = mo_infer_arg_exactly(op, 4, count, &axes, err);
    for (int i = 0; status == MO_OK && i < count; i++) {
        int at;

        status = mo_infer_arg_axis(axes.at[i], rank, &at, err);
        if (status == MO_OK && place[at] >= 0)
            return mo_fail(err, MO_E_INPUT, "slices axis %d twice", at);
        if (status == MO_OK)
            place[at] = i;
    }
    return status;
}

static mo_status cut_slice(const mo_infer_rule_op *op, mo_infer_slice *c,
                           mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    mo_infer_view own = mo_infer_view_of(from);
    int place[MO_MAX_RANK];
    bounds b;
    mo_status status = read_bounds(op, &b, err);

    if (status == MO_OK)
        status = slice_places(op, b.start.count, place, err);
    *c = (mo_infer_slice){ 0 };
    for (int d = 0; status == MO_OK && d < from->rank; d++) {
        range r = { 0, 1, from->dims[d] };
        int i = place[d];

        if (i >= 0)
            status = resolve_range(from->dims[d], b.start.at[i], b.stop.at[i],
                                   b.step.at[i], &r, err);
        add_range(c, own.stride[d], &r);
    }
    return status;
}

/* StridedSlice's masks, each as long as the bounds or shorter. */
typedef struct masks {
    bool start[MO_MAX_RANK], stop[MO_MAX_RANK], add[MO_MAX_RANK],
        shrink[MO_MAX_RANK], ellipsis[MO_MAX_RANK];
} masks;

static void read_mask(const mo_infer_rule_op *op, const char *key, bool *mask)
{
    int64_t bits[MO_MAX_RANK];
    int n = mo_attr_ints(op->attrs, key, bits, MO_MAX_RANK);

    for (int i = 0; i < MO_MAX_RANK; i++)
        mask[i] = i < n && bits[i] == 1;
}

static masks read_masks(const mo_infer_rule_op *op)
{
    masks m = { 0 };

    read_mask(op, "begin_mask", m.start);
    read_mask(op, "end_mask", m.stop);
    read_mask(op, "new_axis_mask", m.add);
    read_mask(op, "shrink_axis_mask", m.shrink);
    read_mask(op, "ellipsis_mask", m.ellipsis);
    return m;
}

/* Number of input dimensions that the bounds from first on name. */
static int named_dims(const masks *m, int first, int count)
{
    int named = 0;

    for (int i = first; i < count; i++)
        named += !m->add[i] && !m->ellipsis[i];
    return named;
}

/* One dimension by the i-th bounds, with their masks. */
static mo_status resolve_masked(const bounds *b, const masks *m, int i,
                                int64_t dim, range *r, mo_error *err)
{
    bool back = b->step.at[i] < 0;
    int64_t start = b->start.at[i], stop = b->stop.at[i];

    if (m->start[i])
        start = back ? dim : 0;
    if (m->stop[i])
        stop = back ? -1 - dim : dim;
    return resolve_range(dim, start, stop, b->step.at[i], r, err);
}

/* A single index: it may count from the end, and removes its dimension. */
static int64_t shrink_start(const bounds *b, const masks *m, int i, int64_t dim)
{
    int64_t start = m->start[i] ? 0 : b->start.at[i];

    return clamp_index(start < 0 ? start + dim : start, 0,
                       dim > 0 ? dim - 1 : 0);
}

static void keep_dims(const mo_shape *from, const mo_infer_view *own, int first,
                      int end, mo_infer_slice *c)
{
    for (int d = first; d < end; d++) {
        range all = { 0, 1, from->dims[d] };

        add_range(c, own->stride[d], &all);
    }
}

static mo_status cut_strided(const mo_infer_rule_op *op, mo_infer_slice *c,
                             mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    const range one = { 0, 1, 1 };
    mo_infer_view own = mo_infer_view_of(from);
    masks m = read_masks(op);
    int next = 0; /* dimension of the input */
    bounds b;
    mo_status status = read_bounds(op, &b, err);

    *c = (mo_infer_slice){ 0 };
    for (int i = 0; status == MO_OK && i < b.start.count; i++) {
        range r;

        if (m.ellipsis[i]) {
            int end = from->rank - named_dims(&m, i + 1, b.start.count);

            keep_dims(from, &own, next, end, c);
            next = end > next ? end : next;
        } else if (m.add[i]) {
            add_range(c, 0, &one);
        } else if (next == from->rank) {
            return mo_fail(err, MO_E_INPUT,
                           "slices more than the %d dimensions of its input",
                           from->rank);
        } else if (m.shrink[i]) {
            int64_t start = shrink_start(&b, &m, i, from->dims[next]);

            c->view.base += start * own.stride[next++];
        } else {
            status = resolve_masked(&b, &m, i, from->dims[next], &r, err);
            if (status == MO_OK)
                add_range(c, own.stride[next++], &r);
        }
    }
    keep_dims(from, &own, next, from->rank, c);
    return status;
}

mo_status mo_infer_slice_read(const mo_infer_rule_op *op, mo_infer_slice *c,
                              mo_error *err)
{
    return strcmp(op->type, "Slice") == 0 ? cut_slice(op, c, err)
                                          : cut_strided(op, c, err);
}

mo_status mo_infer_shape_slice(const mo_infer_rule_op *op, mo_shape *outputs,
                               mo_error *err)
{
    mo_infer_slice c;
    mo_status status = mo_infer_slice_read(op, &c, err);

    if (status == MO_OK)
        outputs[0] = c.shape;
    return status;
}

mo_status mo_infer_eval_slice(const mo_infer_rule_op *op, int output,
                              mo_infer_value *value, mo_error *err)
{
    mo_infer_slice c;
    mo_status status = mo_infer_slice_read(op, &c, err);

    (void) output;
    if (status != MO_OK)
        return status;
    if (op->inputs[0].value->count == 0 && value->count > 0)
        return mo_fail(err, MO_E_SUPPORT, "takes an item of an empty tensor");
    mo_infer_value_take(value, op->inputs[0].value, &c.view);
    return MO_OK;
}
