/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout assignment: convolutions are fastest on channels-last (NHWC) tensors.
 * Each convolution produces one; pointwise calls, pools, concatenations and
 * splits propagate the layout, and every other reader is given a transposed
 * copy. A tensor is transposed at most once for each device that reads it in
 * the other layout.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/passes/passes.h"
#include "exec/plan/passes/nhwc_strides.h"
#include "exec/plan/ir/value_table.h"

typedef struct layout_state {
    mo_exec_plan *plan;
    mo_plan_values values;
    mo_plan_call *calls; /* the plan's, with transposes between them */
    size_t n, room;
    int *twin; /* by value of the plan: the same in the other layout, or
                  MO_PLAN_NONE */
    bool *has_views;
} layout_state;

static mo_plan_value *value_at(layout_state *l, int value)
{
    return &l->values.items[value];
}

static bool is_nhwc(layout_state *l, int value)
{
    return value_at(l, value)->channels_last;
}

static mo_status append_copy(layout_state *l, const mo_plan_call *call,
                             mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(l->calls, l->n, l->room, err);

    if (status == MO_OK)
        l->calls[l->n++] = *call;
    return status;
}

/* One box over all of the shape, from one layout to the other. */
static mo_status make_transpose_box(layout_state *l, int from,
                                    mo_call_copy_box **made, mo_error *err)
{
    const mo_shape *shape = &value_at(l, from)->desc.shape;
    mo_point_access plain = mo_point_access_dense(shape),
                    last = mo_pass_nhwc_access(shape);
    const mo_point_access *in = is_nhwc(l, from) ? &last : &plain;
    const mo_point_access *out = is_nhwc(l, from) ? &plain : &last;
    mo_call_copy_box *box = mo_arena_alloc(l->plan->arena, sizeof *box);

    if (!box)
        return mo_fail_memory(err);
    box->rank = shape->rank;
    memcpy(box->extent, shape->dims, sizeof box->extent);
    memcpy(box->in_stride, in->stride, sizeof box->in_stride);
    memcpy(box->out_stride, out->stride, sizeof box->out_stride);
    *made = box;
    return MO_OK;
}

/* Appends a transposing call on the device and for the item of another one. */
static mo_status add_transpose(layout_state *l, int from, int to,
                               const mo_plan_call *other, mo_error *err)
{
    int *operands = mo_arena_array(l->plan->arena, 2, sizeof *operands);
    mo_plan_call turning = *other;
    mo_call_copy_box *box = NULL;
    mo_status status =
        operands ? make_transpose_box(l, from, &box, err) : mo_fail_memory(err);

    if (status != MO_OK)
        return status;
    operands[0] = from;
    operands[1] = to;
    turning.call = (mo_call){ .kind = MO_CALL_COPY,
                              .n_in = 1,
                              .n_out = 1,
                              .in = operands,
                              .out = operands + 1,
                              .first_extra = 1 };
    turning.call.u.copy = (mo_call_copy){ box, 1, -1 };
    return append_copy(l, &turning, err);
}

/* Operand i of the call in the wanted layout. */
static mo_status require_layout(layout_state *l, mo_plan_call *call, int i,
                                bool last, mo_error *err)
{
    int value = call->call.in[i];
    int *turned;
    mo_plan_value copy;
    int twin;
    mo_status status;

    if (is_nhwc(l, value) == last ||
        (last && !mo_pass_nhwc_differs(&value_at(l, value)->desc.shape)))
        return MO_OK;
    turned = &call->call.in[i];
    copy = *value_at(l, value);
    twin = l->twin[value];
    if (twin != MO_PLAN_NONE && value_at(l, twin)->device == call->device) {
        *turned = twin;
        return MO_OK;
    }
    copy.channels_last = !copy.channels_last;
    copy.device = call->device;
    copy.item = call->item;
    copy.view_of = copy.input = MO_PLAN_NONE;
    copy.constant = NULL;
    status = mo_plan_values_add(&l->values, &copy, turned, err);
    if (status == MO_OK)
        status = add_transpose(l, value, *turned, call, err);
    if (status == MO_OK)
        l->twin[value] = *turned;
    return status;
}

static mo_status require_nchw(layout_state *l, mo_plan_call *call,
                              mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < call->call.n_in && status == MO_OK; i++)
        status = require_layout(l, call, i, false, err);
    return status;
}

static void set_nhwc(layout_state *l, int value)
{
    value_at(l, value)->channels_last =
        mo_pass_nhwc_differs(&value_at(l, value)->desc.shape);
}

/* Operand number `operand` of a program is in[i]. One of the result's shape
 * gets the result's layout; constants are read as they are. */
static mo_status assign_operand(layout_state *l, mo_plan_call *call,
                                mo_point_program *point, int operand, int i,
                                mo_error *err)
{
    const mo_shape *shape = &value_at(l, call->call.out[0])->desc.shape;
    const mo_plan_value *value = value_at(l, call->call.in[i]);
    bool follows =
        !value->constant && mo_shape_equal(&value->desc.shape, shape);
    mo_status status = require_layout(l, call, i, follows, err);

    if (status == MO_OK && follows)
        point->operands[operand].access = mo_pass_nhwc_access(shape);
    return status;
}

/* The program of a call with a channels-last result; operands first, ... of
 * it are in[first_in], .... */
static mo_status assign_program(layout_state *l, mo_plan_call *call,
                                mo_point_program *point, int first,
                                int first_in, mo_error *err)
{
    const mo_shape *shape = &value_at(l, call->call.out[0])->desc.shape;
    mo_status status = MO_OK;

    for (int i = 0; i < first; i++)
        point->operands[i].access = mo_pass_nhwc_access(shape);
    for (int i = first; i < point->n_operands && status == MO_OK; i++)
        status = assign_operand(l, call, point, i, first_in + i - first, err);
    point->out = mo_pass_nhwc_access(shape);
    set_nhwc(l, call->call.out[0]);
    return status;
}

/* A convolution or pool. */
static mo_status assign_window(layout_state *l, mo_plan_call *call,
                               mo_error *err)
{
    mo_status status = require_layout(l, call, 0, true, err);

    if (call->call.kind == MO_CALL_CONV)
        call->call.u.conv.channels_last = true;
    else
        call->call.u.pool.channels_last = true;
    set_nhwc(l, call->call.out[0]);
    if (status == MO_OK && call->call.after)
        status = assign_program(l, call, call->call.after, 1,
                                call->call.first_extra, err);
    return status;
}

/* Returns whether an operand of the result's shape is channels-last. */
static bool has_nhwc_operand(layout_state *l, const mo_call *call)
{
    const mo_shape *shape = &value_at(l, call->out[0])->desc.shape;

    for (int i = 0; i < call->n_in; i++)
        if (is_nhwc(l, call->in[i]) &&
            mo_shape_equal(&value_at(l, call->in[i])->desc.shape, shape))
            return true;
    return false;
}

static bool convert_box(layout_state *l, const mo_call *call,
                        mo_call_copy_box *box)
{
    const mo_plan_value *out = value_at(l, call->out[box->to]);
    const mo_plan_value *in = box->from == MO_CALL_COPY_FILL
                                  ? NULL
                                  : value_at(l, call->in[box->from]);

    if (in && in->channels_last &&
        !mo_pass_nhwc_box_input(box, &in->desc.shape))
        return false;
    return !mo_pass_nhwc_differs(&out->desc.shape) ||
           mo_pass_nhwc_box_output(box, &out->desc.shape);
}

static bool reads_nhwc(layout_state *l, const mo_call *call)
{
    for (int i = 0; i < call->n_in; i++)
        if (is_nhwc(l, call->in[i]))
            return true;
    return false;
}

/* Convolutions that begin a chain of channels-last tensors. */
static bool prefers_nhwc(const mo_call *c, const mo_plan_value *values)
{
    return c->kind == MO_CALL_CONV &&
           values[c->out[0]].desc.elem == MO_ELEM_F32;
}

static mo_status assign_call(layout_state *l, mo_plan_call *call, mo_error *err)
{
    mo_call *c = &call->call;

    if (prefers_nhwc(c, l->values.items))
        return assign_window(l, call, err);
    if (!reads_nhwc(l, c))
        return MO_OK;
    if (c->kind == MO_CALL_POOL && c->n_out == 1 && is_nhwc(l, c->in[0]))
        return assign_window(l, call, err);
    if (c->kind == MO_CALL_POINT && has_nhwc_operand(l, c))
        return assign_program(l, call, &c->u.point, 0, 0, err);
    if (c->kind == MO_CALL_COPY) {
        /* Boxes can convert between any layouts; where the strides do not allow
         * it, the call stays in NCHW. */
        mo_call_copy *copy = &call->call.u.copy;
        size_t n = (size_t) copy->n_boxes;
        mo_call_copy_box *boxes =
            mo_arena_array(l->plan->arena, n, sizeof *boxes);
        bool works = true;

        if (!boxes)
            return mo_fail_memory(err);
        memcpy(boxes, copy->boxes, n * sizeof *boxes);
        for (size_t i = 0; i < n && works; i++)
            works = convert_box(l, &call->call, &boxes[i]);
        if (!works)
            return require_nchw(l, call, err);
        copy->boxes = boxes;
        for (int i = 0; i < call->call.n_out; i++)
            set_nhwc(l, call->call.out[i]);
        return MO_OK;
    }
    if (c->kind == MO_CALL_REDUCE) {
        const mo_plan_value *in = value_at(l, call->call.in[0]);
        mo_status status = MO_OK;

        if (!is_nhwc(l, call->call.in[0]) ||
            !mo_pass_nhwc_reduce_input(&call->call.u.reduce, &in->desc.shape))
            return require_nchw(l, call, err);
        for (int i = 1; i < call->call.n_in && status == MO_OK; i++)
            status = require_layout(l, call, i, false, err);
        return status;
    }
    return require_nchw(l, call, err);
}

/* Views of a value under another shape need its bytes in NCHW: the call
 * produces a twin, from which the value is transposed. */
static mo_status keep_views_nchw(layout_state *l, const mo_plan_call *call,
                                 int i, mo_error *err)
{
    int value = call->call.out[i], last;
    mo_plan_value copy = *value_at(l, value);
    mo_status status = mo_plan_values_add(&l->values, &copy, &last, err);

    if (status != MO_OK)
        return status;
    value_at(l, value)->channels_last = false;
    call->call.out[i] = last;
    l->twin[value] = last;
    return add_transpose(l, last, value, call, err);
}

static mo_status init_state(mo_exec_plan *plan, layout_state *l, mo_error *err)
{
    size_t n = (size_t) plan->n_values + 1;
    mo_status status;

    l->plan = plan;
    l->twin = calloc(n, sizeof *l->twin);
    l->has_views = calloc(n, sizeof *l->has_views);
    status = l->twin && l->has_views
                 ? mo_plan_values_copy(plan, &l->values, err)
                 : mo_fail_memory(err);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        l->twin[v] = MO_PLAN_NONE;
        if (plan->values[v].view_of != MO_PLAN_NONE)
            l->has_views[plan->values[v].view_of] = true;
    }
    return status;
}

mo_status mo_pass_nhwc_layout(mo_exec_plan *plan, mo_error *err)
{
    layout_state l = { 0 };
    mo_status status;
    int first = 0;

    assert(plan->n_transfers == 0);
    /* Calls are large: no second list of them for a plan that stays. */
    while (first < plan->n_calls &&
           !prefers_nhwc(&plan->calls[first].call, plan->values))
        first++;
    if (first == plan->n_calls)
        return MO_OK;
    status = init_state(plan, &l, err);
    for (int c = 0; c < l.plan->n_calls && status == MO_OK; c++) {
        mo_plan_call call = l.plan->calls[c];

        status = assign_call(&l, &call, err);
        if (status == MO_OK) {
            status = append_copy(&l, &call, err);

            for (int i = 0; i < call.call.n_out && status == MO_OK; i++) {
                int value = call.call.out[i];

                if (is_nhwc(&l, value) && l.has_views[value])
                    status = keep_views_nchw(&l, &call, i, err);
            }
        }
    }
    if (status == MO_OK) {
        mo_plan_call *calls = mo_arena_array(l.plan->arena, l.n, sizeof *calls);

        if (!calls)
            status = mo_fail_memory(err);
        else {
            if (l.n > 0)
                memcpy(calls, l.calls, l.n * sizeof *calls);
            l.plan->calls = calls;
            l.plan->n_calls = (int) l.n;
            status = mo_plan_values_commit(&l.values, l.plan, err);
        }
    }
    free(l.calls);
    free(l.has_views);
    free(l.twin);
    mo_plan_values_clear(&l.values);
    return status;
}
