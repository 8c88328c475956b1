/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>

#include "exec/plan/lower/lower_internal.h"
#include "schedule/sim/pairing_heap.h"

mo_class mo_plan_lower_op_class(const mo_op *op)
{
    const mo_operator *known = op->type ? mo_operator_find(op->type) : NULL;

    return known ? known->class : MO_CLASS_NONE;
}

/* Whether a costs more than b, as far as that is known. */
static bool is_dearer(const mo_op *a, const mo_op *b)
{
    return a->flops != b->flops ? a->flops > b->flops : a->bytes > b->bytes;
}

static mo_class class_of(const mo_plan_lower_state *l, int placed)
{
    const mo_coarsen_map *map = l->source->map;
    const mo_op *dearest;

    if (!map)
        return mo_plan_lower_op_class(&l->g->ops[placed]);
    dearest = &l->g->ops[map->member[map->start[placed]]];
    for (int k = map->start[placed] + 1; k < map->start[placed + 1]; k++)
        if (is_dearer(&l->g->ops[map->member[k]], dearest))
            dearest = &l->g->ops[map->member[k]];
    return mo_plan_lower_op_class(dearest);
}

static mo_status fill_item(mo_plan_lower_state *l, int placed, mo_error *err)
{
    const mo_plan_source *source = l->source;
    const mo_op *op = &source->placed->ops[placed];
    mo_plan_item *item = &l->plan->items[placed];
    mo_status status = mo_plan_lower_copy_text(l, op->name, &item->name, err);

    if (status == MO_OK)
        status = mo_plan_lower_copy_text(l, op->type, &item->type, err);
    item->class = class_of(l, placed);
    item->op = placed;
    item->device = source->schedule->device[placed];
    item->predicted_ns =
        mo_instance_p_ns(source->instance, placed, item->device);
    return status;
}

/* Items of the placed ops have the ops' numbers; those of replicated work come
 * behind them, as they are found to be any. */
static mo_status make_items(mo_plan_lower_state *l, mo_error *err)
{
    mo_exec_plan *plan = l->plan;
    int n = l->source->placed->n_ops;
    mo_status status = MO_OK;

    plan->items = mo_arena_array(plan->arena, (size_t) n + l->n_needs,
                                 sizeof *plan->items);
    if (!plan->items)
        return mo_fail_memory(err);
    plan->n_items = n;
    for (int i = 0; i < n && status == MO_OK; i++)
        status = fill_item(l, i, err);
    return status;
}

/* How many calls an op is, and on how many devices. */
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

/* Calls are large: they are made in their place. */
static mo_status make_room(mo_plan_lower_state *l, mo_error *err)
{
    size_t n = 0;

    for (int id = 0; id < l->g->n_ops; id++)
        n += count_calls(l, id);
    if (n > INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d calls", INT_MAX);
    l->plan->calls = mo_arena_array(l->plan->arena, n, sizeof *l->plan->calls);
    return l->plan->calls ? MO_OK : mo_fail_memory(err);
}

static mo_status place_replicated(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int id = 0; id < l->g->n_ops; id++)
        for (int n = l->ops[id].needs; n != MO_PLAN_NONE && status == MO_OK;
             n = l->needs[n].next)
            status = mo_plan_lower_emit_calls(l, id, l->needs[n].device,
                                              MO_PLAN_NONE, err);
    return status;
}

static mo_status place_item(mo_plan_lower_state *l, int placed, mo_error *err)
{
    const mo_coarsen_map *map = l->source->map;
    int device = l->source->schedule->device[placed];
    mo_status status = MO_OK;

    if (!map)
        return mo_plan_lower_emit_calls(l, placed, device, placed, err);
    for (int k = map->start[placed];
         k < map->start[placed + 1] && status == MO_OK; k++)
        status =
            mo_plan_lower_emit_calls(l, map->member[k], device, placed, err);
    return status;
}

/*
 * Items stand in the order in which the schedule ends them, as far as the graph
 * allows.  (By their ends and not by their starts: what is sent while an op
 * runs is then begun before that op, see order.c.)
 */
typedef struct queue {
    mo_pairing_heap heap;
    int first;
    int *depends_on; /* by op: how many edges into it are still to come */
} queue;

static void release(const mo_graph *g, queue *q, int op)
{
    for (int e = g->out_start[op]; e < g->out_start[op + 1]; e++)
        if (--q->depends_on[g->edges[e].to] == 0)
            mo_pairing_heap_push(&q->heap, &q->first, g->edges[e].to);
}

static mo_status place_in_order(mo_plan_lower_state *l, queue *q, mo_error *err)
{
    const mo_graph *g = l->source->placed;
    const mo_schedule *s = l->source->schedule;
    mo_status status = MO_OK;

    q->first = MO_PAIRING_HEAP_EMPTY;
    for (int i = 0; i < g->n_ops; i++) {
        q->depends_on[i] = mo_graph_in_degree(g, i);
        q->heap.key[i] = s->start_ns[i] + l->plan->items[i].predicted_ns;
    }
    for (int i = 0; i < g->n_ops; i++)
        if (q->depends_on[i] == 0)
            mo_pairing_heap_push(&q->heap, &q->first, i);
    while (q->first != MO_PAIRING_HEAP_EMPTY && status == MO_OK) {
        int op = mo_pairing_heap_pop(&q->heap, &q->first);

        status = place_item(l, op, err);
        release(g, q, op);
    }
    return status;
}

mo_status mo_plan_lower_build_items(mo_plan_lower_state *l, mo_error *err)
{
    size_t n = (size_t) l->source->placed->n_ops;
    int *numbers = calloc(3 * n + 1, sizeof *numbers);
    int64_t *keys = calloc(n + 1, sizeof *keys);
    mo_status status =
        numbers && keys ? make_items(l, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = make_room(l, err);
    if (status == MO_OK)
        status = place_replicated(l, err);
    if (status == MO_OK) {
        queue q = { { numbers, numbers + n, keys }, 0, numbers + 2 * n };

        status = place_in_order(l, &q, err);
    }
    free(keys);
    free(numbers);
    return status;
}
