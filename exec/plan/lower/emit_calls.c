/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/lower/lower_internal.h"

typedef struct placing {
    mo_plan_lower_state *l;
    int id, device;
    int item;    /* or MO_PLAN_NONE: a new one, when there is work for it */
    int *values; /* by operand of the lowered calls; MO_PLAN_NONE so far */
} placing;

static const mo_plan_lower_op *op_of(const placing *p)
{
    return &p->l->ops[p->id];
}

/* What an operand that some call writes is like. */
static mo_plan_value new_value(const placing *p, int operand)
{
    const mo_plan_lower_op *op = op_of(p);
    int output = operand - op->n_in, temp = output - op->n_out;
    const mo_plan_lower_tensor *tensors =
        p->l->tensors + p->l->first_tensor[p->id];
    mo_plan_value value =
        temp < 0 ? mo_plan_value_init(tensors[output].name,
                                      &tensors[output].desc, p->device)
                 : mo_plan_value_init(tensors[0].name, &op->lowered.temps[temp],
                                      p->device);

    value.item = p->item;
    return value;
}

static mo_status read_operand(placing *p, int operand, int *value,
                              mo_error *err)
{
    const mo_plan_lower_op *op = op_of(p);
    mo_status status = MO_OK;

    if (p->values[operand] == MO_PLAN_NONE) {
        if (operand >= op->n_in)
            return mo_plan_lower_fail(
                p->l, p->id, err, "its operand %d is read before it is written",
                operand);
        status = mo_plan_lower_value_on_device(p->l, op->in[operand], p->device,
                                               &p->values[operand], err);
    }
    *value = p->values[operand];
    return status;
}

static mo_status write_operand(placing *p, int operand,
                               const mo_plan_value *value, mo_error *err)
{
    const mo_plan_lower_op *op = op_of(p);
    int output = operand - op->n_in;
    mo_status status;

    if (output < 0 || p->values[operand] != MO_PLAN_NONE)
        return mo_plan_lower_fail(p->l, p->id, err,
                                  "its operand %d is written twice", operand);
    status = mo_plan_values_add(&p->l->values, value, &p->values[operand], err);
    if (status == MO_OK && output < op->n_out)
        status =
            mo_plan_lower_add_location(p->l, p->l->first_tensor[p->id] + output,
                                       p->device, p->values[operand], err);
    return status;
}

/* A constant under another shape is a constant still. */
static mo_status view_constant(placing *p, const mo_tensor_dense *seen,
                               mo_plan_value *view, mo_error *err)
{
    mo_tensor_dense *constant =
        mo_arena_alloc(p->l->plan->arena, sizeof *constant);

    if (!constant)
        return mo_fail_memory(err);
    *constant = (mo_tensor_dense){ .desc = view->desc, .data = seen->data };
    view->constant = constant;
    view->item = MO_PLAN_NONE;
    return MO_OK;
}

static mo_status place_view(placing *p, const mo_call *call, mo_error *err)
{
    mo_plan_value view = new_value(p, call->out[0]);
    const mo_tensor_dense *constant;
    int seen;
    mo_status status = read_operand(p, call->in[0], &seen, err);

    if (status != MO_OK)
        return status;
    constant = p->l->values.items[seen].constant;
    if (constant)
        status = view_constant(p, constant, &view, err);
    else
        view.view_of = seen;
    return status == MO_OK ? write_operand(p, call->out[0], &view, err)
                           : status;
}

static mo_status copy_operands(placing *p, const mo_call *from, mo_call *to,
                               mo_error *err)
{
    mo_arena *arena = p->l->plan->arena;
    mo_status status = MO_OK;

    to->in = mo_arena_array(arena, (size_t) from->n_in, sizeof *to->in);
    to->out = mo_arena_array(arena, (size_t) from->n_out, sizeof *to->out);
    if (!to->in || !to->out)
        return mo_fail_memory(err);
    for (int i = 0; i < from->n_in && status == MO_OK; i++)
        status = read_operand(p, from->in[i], &to->in[i], err);
    for (int i = 0; i < from->n_out && status == MO_OK; i++) {
        mo_plan_value value = new_value(p, from->out[i]);

        status = write_operand(p, from->out[i], &value, err);
        to->out[i] = p->values[from->out[i]];
    }
    return status;
}

static mo_status copy_array(mo_arena *arena, const void *from, size_t size,
                            void **to, mo_error *err)
{
    *to = mo_arena_alloc(arena, size);
    if (!*to)
        return mo_fail_memory(err);
    if (size > 0)
        memcpy(*to, from, size);
    return MO_OK;
}

/* What a call points to goes with the plan. */
static mo_status copy_details(placing *p, mo_call *call, mo_error *err)
{
    mo_arena *arena = p->l->plan->arena;
    mo_status status = MO_OK;
    void *copy;

    if (call->kind == MO_CALL_COPY) {
        mo_call_copy *boxes = &call->u.copy;
        size_t size = (size_t) boxes->n_boxes * sizeof *boxes->boxes;

        status = copy_array(arena, boxes->boxes, size, &copy, err);
        boxes->boxes = copy;
    }
    if (status == MO_OK && call->after) {
        status =
            copy_array(arena, call->after, sizeof *call->after, &copy, err);
        call->after = copy;
    }
    return status;
}

/* Work that is done wherever it is read is an item for each device. */
static mo_status add_item(placing *p, mo_error *err)
{
    const mo_op *op = &p->l->g->ops[p->id];
    mo_exec_plan *plan = p->l->plan;
    mo_plan_item *item = &plan->items[plan->n_items];
    mo_status status =
        mo_plan_lower_copy_text(p->l, op->name, &item->name, err);

    if (status == MO_OK)
        status = mo_plan_lower_copy_text(p->l, op->type, &item->type, err);
    item->class = mo_plan_lower_op_class(op);
    item->op = MO_PLAN_NONE;
    item->device = p->device;
    p->item = plan->n_items++;
    return status;
}

/* There is room: mo_plan_lower_build_items has counted. */
static mo_status place_call(placing *p, const mo_call *call, mo_error *err)
{
    mo_exec_plan *plan = p->l->plan;
    mo_plan_call *made = &plan->calls[plan->n_calls];
    mo_status status = MO_OK;

    if (p->item == MO_PLAN_NONE)
        status = add_item(p, err);
    *made = (mo_plan_call){
        .call = *call, .item = p->item, .device = p->device, .timed_as = p->item
    };
    if (status == MO_OK)
        status = copy_operands(p, call, &made->call, err);
    if (status == MO_OK)
        status = copy_details(p, &made->call, err);
    plan->n_calls += status == MO_OK;
    return status;
}

static mo_status place_calls(placing *p, mo_error *err)
{
    const mo_lower_result *lowered = &op_of(p)->lowered;
    mo_status status = MO_OK;

    for (int c = 0; c < lowered->n_calls && status == MO_OK; c++)
        status = lowered->calls[c].kind == MO_CALL_VIEW
                     ? place_view(p, &lowered->calls[c], err)
                     : place_call(p, &lowered->calls[c], err);
    return status;
}

mo_status mo_plan_lower_emit_calls(mo_plan_lower_state *l, int id, int device,
                                   int item, mo_error *err)
{
    const mo_plan_lower_op *op = &l->ops[id];
    int n = op->n_in + op->n_out + op->lowered.n_temps;
    placing p = { l, id, device, item, NULL };
    mo_status status;

    if (op->lowered.n_calls == 0)
        return MO_OK;
    p.values = malloc(((size_t) n + 1) * sizeof *p.values);
    if (!p.values)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        p.values[i] = MO_PLAN_NONE;
    status = place_calls(&p, err);
    free(p.values);
    return status;
}
