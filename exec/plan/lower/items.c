/* SPDX-License-Identifier: Apache-2.0 */
/* Emission of items and their calls, in a topological order. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/host.h"
#include "exec/plan/lower/lower_internal.h"
#include "schedule/sim/pairing_heap.h"

typedef struct emission {
    mo_plan_lower_state *l;
    int id, device;
    int item;    /* or MO_PLAN_NONE: created when there is a call for it */
    int *values; /* by operand of the lowered calls; MO_PLAN_NONE so far */
} emission;

static const mo_plan_lower_op *emitted_op(const emission *p)
{
    return &p->l->ops[p->id];
}

/* Type and shape of an operand that some call writes. */
static mo_plan_value output_value(const emission *p, int operand)
{
    const mo_plan_lower_op *op = emitted_op(p);
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

static mo_status read_operand(emission *p, int operand, int *value,
                              mo_error *err)
{
    const mo_plan_lower_op *op = emitted_op(p);
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

static mo_status write_operand(emission *p, int operand,
                               const mo_plan_value *value, mo_error *err)
{
    const mo_plan_lower_op *op = emitted_op(p);
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

/* A constant under another shape is a constant, too. */
static mo_status view_constant(emission *p, const mo_tensor_dense *seen,
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

static mo_status emit_view(emission *p, const mo_call *call, mo_error *err)
{
    mo_plan_value view = output_value(p, call->out[0]);
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

/* Copies what a call points to into the plan's arena. */
static mo_status copy_attributes(emission *p, mo_call *call, mo_error *err)
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

/* There is room: mo_plan_lower_build_items has counted the calls. */
static mo_status emit_call(emission *p, const mo_call *call, mo_error *err)
{
    mo_exec_plan *plan = p->l->plan;
    mo_plan_call *made = &plan->calls[plan->n_calls];
    mo_status status = MO_OK;

    if (p->item == MO_PLAN_NONE) {
        const mo_op *op = &p->l->g->ops[p->id];
        mo_plan_item *item = &plan->items[plan->n_items];

        /* Replicated work is an item on each device. */
        status = mo_plan_lower_copy_text(p->l, op->name, &item->name, err);
        if (status == MO_OK)
            status = mo_plan_lower_copy_text(p->l, op->type, &item->type, err);
        item->class = mo_plan_lower_op_class(op);
        item->op = MO_PLAN_NONE;
        item->device = p->device;
        p->item = plan->n_items++;
    }
    *made = (mo_plan_call){
        .call = *call, .item = p->item, .device = p->device, .timed_as = p->item
    };
    if (status == MO_OK) {
        mo_arena *arena = p->l->plan->arena;

        made->call.in =
            mo_arena_array(arena, (size_t) call->n_in, sizeof *made->call.in);
        made->call.out =
            mo_arena_array(arena, (size_t) call->n_out, sizeof *made->call.out);
        if (!made->call.in || !made->call.out)
            status = mo_fail_memory(err);
        else {
            for (int i = 0; i < call->n_in && status == MO_OK; i++)
                status = read_operand(p, call->in[i], &made->call.in[i], err);
            for (int i = 0; i < call->n_out && status == MO_OK; i++) {
                mo_plan_value value = output_value(p, call->out[i]);

                status = write_operand(p, call->out[i], &value, err);
                made->call.out[i] = p->values[call->out[i]];
            }
        }
    }
    if (status == MO_OK)
        status = copy_attributes(p, &made->call, err);
    plan->n_calls += status == MO_OK;
    return status;
}

/* Emits the calls of op on a device, as a part of item, or of a new item where
 * that is MO_PLAN_NONE. */
static mo_status emit_calls(mo_plan_lower_state *l, int id, int device,
                            int item, mo_error *err)
{
    const mo_plan_lower_op *op = &l->ops[id];
    int n = op->n_in + op->n_out + op->lowered.n_temps;
    emission p = { l, id, device, item, NULL };
    mo_status status;

    if (op->lowered.n_calls == 0)
        return MO_OK;
    p.values = malloc(((size_t) n + 1) * sizeof *p.values);
    if (!p.values)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        p.values[i] = MO_PLAN_NONE;

    const mo_lower_result *lowered = &emitted_op(&p)->lowered;
    status = MO_OK;

    for (int c = 0; c < lowered->n_calls && status == MO_OK; c++)
        status = lowered->calls[c].kind == MO_CALL_VIEW
                     ? emit_view(&p, &lowered->calls[c], err)
                     : emit_call(&p, &lowered->calls[c], err);
    free(p.values);
    return status;
}

mo_class mo_plan_lower_op_class(const mo_op *op)
{
    const mo_operator *known = op->kind;

    return known ? known->class : MO_CLASS_NONE;
}

/* Items of placed ops have the ops' numbers; those of replicated work are
 * appended as they turn up. */
static mo_status create_items(mo_plan_lower_state *l, mo_error *err)
{
    mo_exec_plan *plan = l->plan;
    int n = l->source->placed->n_ops;
    mo_status status = MO_OK;

    plan->items = mo_arena_array(plan->arena, (size_t) n + l->n_needs,
                                 sizeof *plan->items);
    if (!plan->items)
        return mo_fail_memory(err);
    plan->n_items = n;
    for (int i = 0; i < n && status == MO_OK; i++) {
        const mo_plan_source *source = l->source;
        const mo_op *op = &source->placed->ops[i];
        mo_plan_item *item = &l->plan->items[i];
        status = mo_plan_lower_copy_text(l, op->name, &item->name, err);

        if (status == MO_OK)
            status = mo_plan_lower_copy_text(l, op->type, &item->type, err);

        const mo_coarsen_map *map = l->source->map;
        const mo_op *dearest;

        if (!map)
            item->class = mo_plan_lower_op_class(&l->g->ops[i]);
        else {
            dearest = &l->g->ops[map->member[map->start[i]]];
            /* By flops, or bytes where these are equal. */
            for (int k = map->start[i] + 1; k < map->start[i + 1]; k++) {
                const mo_op *other = &l->g->ops[map->member[k]];

                if (other->flops > dearest->flops ||
                    (other->flops == dearest->flops &&
                     other->bytes > dearest->bytes))
                    dearest = other;
            }
            item->class = mo_plan_lower_op_class(dearest);
        }
        item->op = i;
        item->device = source->schedule->device[i];
        item->predicted_ns =
            mo_instance_p_ns(source->instance, i, item->device);
    }
    return status;
}

/* The number of calls of an op, times its devices. */
static size_t count_calls(const mo_plan_lower_state *l, int id)
{
    const mo_plan_lower_op *op = &l->ops[id];
    size_t n = 0, devices = op->device != MO_PLAN_NONE;

    for (int c = 0; c < op->lowered.n_calls; c++)
        n += op->lowered.calls[c].kind != MO_CALL_VIEW;
    for (int k = op->needs; k != MO_PLAN_NONE; k = l->needs[k].next)
        devices++;
    return n * devices;
}

/* Calls are large: they are written in place, and a file of a few megabytes may
 * have more of them than memory holds. */
static mo_status reserve_calls(mo_plan_lower_state *l, mo_error *err)
{
    enum { SMALL_BYTES = 1 << 26 };
    int64_t bytes, free_bytes;
    size_t n = 0;

    for (int id = 0; id < l->g->n_ops; id++)
        n += count_calls(l, id);
    if (n > INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d calls", INT_MAX);
    bytes = (int64_t) (n * sizeof *l->plan->calls);
    free_bytes = mo_host_available_memory_bytes();
    if (bytes > SMALL_BYTES && bytes > free_bytes / 2)
        return mo_fail(err, MO_E_LIMIT,
                       "%zu calls take %lld MB, more than half of the memory "
                       "that is free; run fewer ops at a time",
                       n, (long long) (bytes / 1000000));
    l->plan->calls = mo_arena_array(l->plan->arena, n, sizeof *l->plan->calls);
    return l->plan->calls ? MO_OK : mo_fail_memory(err);
}

/*
 * List order (topological sort): items are ordered by the times at which the
 * schedule ends them, as far as precedence allows. (By ends and not by starts:
 * a transfer during an op is then posted before that op, see
 * exec/plan/schedule/step_order.c.)
 */
typedef struct queue {
    mo_pairing_heap heap;
    int first;
    int *
        n_pending; /* by op: number of edges into it from ops not yet emitted */
} queue;

static mo_status emit_in_order(mo_plan_lower_state *l, queue *q, mo_error *err)
{
    const mo_graph *g = l->source->placed;
    const mo_schedule *s = l->source->schedule;
    mo_status status = MO_OK;

    q->first = MO_PAIRING_HEAP_EMPTY;
    for (int i = 0; i < g->n_ops; i++) {
        q->n_pending[i] = mo_graph_in_degree(g, i);
        q->heap.key[i] = s->start_ns[i] + l->plan->items[i].predicted_ns;
    }
    for (int i = 0; i < g->n_ops; i++)
        if (q->n_pending[i] == 0)
            mo_pairing_heap_push(&q->heap, &q->first, i);
    while (q->first != MO_PAIRING_HEAP_EMPTY && status == MO_OK) {
        int op = mo_pairing_heap_pop(&q->heap, &q->first);

        const mo_coarsen_map *map = l->source->map;
        int device = l->source->schedule->device[op];
        status = MO_OK;

        if (!map)
            status = emit_calls(l, op, device, op, err);
        else {
            for (int k = map->start[op];
                 k < map->start[op + 1] && status == MO_OK; k++)
                status = emit_calls(l, map->member[k], device, op, err);
        }
        for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++)
            if (--q->n_pending[g->edges[e].to] == 0)
                mo_pairing_heap_push(&q->heap, &q->first, g->edges[e].to);
    }
    return status;
}

mo_status mo_plan_lower_build_items(mo_plan_lower_state *l, mo_error *err)
{
    size_t n = (size_t) l->source->placed->n_ops;
    int *numbers = calloc(3 * n + 1, sizeof *numbers);
    int64_t *keys = calloc(n + 1, sizeof *keys);
    mo_status status =
        numbers && keys ? create_items(l, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = reserve_calls(l, err);
    if (status == MO_OK) {
        for (int id = 0; id < l->g->n_ops; id++)
            for (int j = l->ops[id].needs; j != MO_PLAN_NONE && status == MO_OK;
                 j = l->needs[j].next)
                status =
                    emit_calls(l, id, l->needs[j].device, MO_PLAN_NONE, err);
    }
    if (status == MO_OK) {
        queue q = { { numbers, numbers + n, keys }, 0, numbers + 2 * n };

        status = emit_in_order(l, &q, err);
    }
    free(keys);
    free(numbers);
    return status;
}
