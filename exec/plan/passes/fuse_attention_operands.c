/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where what attention reads comes from, and where its result goes.
 */
#include "exec/plan/passes/fuse_attention_internal.h"

#include <string.h>

#include "exec/plan/ir/value_table.h"

const mo_tensor_dense *mo_pass_attention_constant(const mo_exec_plan *plan,
                                                  int value)
{
    const mo_tensor_dense *constant =
        plan->values[mo_plan_value_root(plan->values, value)].constant;
    bool readable =
        constant &&
        (uintptr_t) constant->data % mo_elem_size(constant->desc.elem) == 0;

    return readable ? constant : NULL;
}

static int64_t elements_of(const mo_exec_plan *plan, int value)
{
    return mo_tensor_desc_elements(&plan->values[value].desc);
}

static int64_t elements_in(const mo_call_copy_box *box)
{
    int64_t elements = 1;

    for (int d = 0; d < box->rank; d++)
        elements *= box->extent[d];
    return elements;
}

/* The only box that writes to out[to], all of it; NULL where there are several.
 */
static const mo_call_copy_box *whole_box(const mo_exec_plan *plan,
                                         const mo_call *call, int to)
{
    const mo_call_copy_box *found = NULL;

    for (int i = 0; i < call->u.copy.n_boxes; i++) {
        const mo_call_copy_box *box = &call->u.copy.boxes[i];

        if (box->to != to || elements_in(box) == 0)
            continue;
        if (found || box->from == MO_CALL_COPY_FILL)
            return NULL;
        found = box;
    }
    return found && elements_in(found) == elements_of(plan, call->out[to])
               ? found
               : NULL;
}

static bool through_copy(const mo_exec_plan *plan, const mo_call *call,
                         mo_pass_attention_operand *from)
{
    const mo_call_copy_box *box;
    mo_tensor_copy_map map;
    int to = 0;

    while (call->out[to] != from->value)
        to++;
    box = whole_box(plan, call, to);
    if (!box || !mo_pass_copy_map(box, &map) ||
        !mo_tensor_view_compose_unsplit(&map, &from->trail))
        return false;
    from->value = call->in[box->from];
    return true;
}

/* One index that is known picks a slice as a copy does. */
static bool through_gather(const mo_exec_plan *plan, const mo_call *call,
                           mo_pass_attention_operand *from)
{
    const mo_call_gather *g = &call->u.gather;
    const mo_tensor_dense *index =
        mo_pass_attention_constant(plan, call->in[1]);
    int64_t at, rows = g->batch * g->outer;
    mo_call_copy_box box = { .rank = 2,
                             .extent = { rows, g->inner },
                             .in_stride = { g->axis * g->inner, 1 },
                             .out_stride = { g->inner, 1 } };
    mo_tensor_copy_map map;

    if (g->kind != MO_CALL_GATHER_AXIS || g->count != 1 || g->batch != 1 ||
        !index)
        return false;
    at = mo_tensor_get_int(index, 0);
    at += at < 0 ? g->axis : 0;
    if (at < 0 || at >= g->axis)
        return false;
    box.in_offset = at * g->inner;
    if (!mo_pass_copy_map(&box, &map) ||
        !mo_tensor_view_compose_unsplit(&map, &from->trail))
        return false;
    from->value = call->in[0];
    return true;
}

static bool through_scaling(const mo_exec_plan *plan, const mo_call *call,
                            mo_pass_attention_operand *from, double *factor)
{
    double more;

    for (int at = 0; factor && at < call->n_in; at++)
        if (mo_pass_attention_is_elementwise(plan, call, at) &&
            mo_pass_attention_is_scaling(plan, call, at, &more)) {
            from->value = call->in[at];
            *factor *= more;
            return true;
        }
    return false;
}

static bool go_back(const mo_pass_attention *a, int device,
                    mo_pass_attention_operand *from, double *factor)
{
    const mo_exec_plan *plan = a->plan;
    mo_elem elem = plan->values[from->value].desc.elem;
    const mo_plan_call *call;
    bool goes = false;
    int c;

    from->value = mo_plan_value_root(plan->values, from->value);
    c = a->uses.maker[from->value];
    if (c == MO_PLAN_NONE || plan->calls[c].device != device)
        return false;
    call = &plan->calls[c];
    if (call->call.kind == MO_CALL_COPY)
        goes = through_copy(plan, &call->call, from);
    else if (call->call.kind == MO_CALL_GATHER)
        goes = through_gather(plan, &call->call, from);
    else if (call->call.kind == MO_CALL_POINT)
        goes = through_scaling(plan, &call->call, from, factor);
    return goes && plan->values[from->value].device == device &&
           plan->values[from->value].desc.elem == elem;
}

void mo_pass_attention_trace_source(const mo_pass_attention *a, int device,
                                    mo_pass_attention_operand *from,
                                    double *factor)
{
    mo_pass_attention_operand at = *from;
    double so_far = 1;

    while (go_back(a, device, &at, factor ? &so_far : NULL))
        if (mo_tensor_view_has_unit_stride(&at.trail)) {
            *from = at;
            if (factor) {
                *factor *= so_far;
                so_far = 1;
            }
        }
}

/* The value under its last shape: views of which there is but one. */
static int last_view(const mo_pass_attention *a, int value)
{
    while (value != MO_PLAN_NONE && a->uses.reads[value] == 1 &&
           a->uses.view[value] != MO_PLAN_NONE)
        value = a->uses.view[value];
    return value;
}

int mo_pass_attention_trace_sink(const mo_pass_attention *a, int c,
                                 mo_pass_attention_operand *to)
{
    const mo_exec_plan *plan = a->plan;
    int value = last_view(a, to->value), reader = a->uses.reader[value];
    const mo_call_copy_box *box;
    const mo_call *copy;
    mo_tensor_view trail = to->trail;
    mo_tensor_copy_map map;

    if (a->uses.reads[value] != 1 || reader == MO_PLAN_NONE)
        return MO_PLAN_NONE;
    copy = &plan->calls[reader].call;
    if (copy->kind != MO_CALL_COPY || copy->n_out != 1 ||
        plan->calls[reader].device != plan->calls[c].device)
        return MO_PLAN_NONE;
    box = whole_box(plan, copy, 0);
    if (!box || copy->in[box->from] != value ||
        elements_in(box) != elements_of(plan, value) ||
        !mo_pass_copy_map_inverse(box, &map) ||
        !mo_tensor_view_compose_unsplit(&map, &trail) ||
        !mo_tensor_view_has_unit_stride(&trail) || trail.offset != 0)
        return MO_PLAN_NONE;
    to->value = copy->out[0];
    to->trail = trail;
    return reader;
}
