/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/array.h"
#include "exec/plan/lower/lower_internal.h"

/* The op of the placed graph that a fine op is a part of, or below 0. */
static int placed_of(const mo_plan_source *source, int op)
{
    return source->map ? source->map->coarse_of[op] : op;
}

void mo_plan_lower_assign_devices(mo_plan_lower_state *l)
{
    const mo_plan_source *source = l->source;

    assert(source->schedule->n == source->placed->n_ops);
    assert(!source->map || source->map->n_fine == l->g->n_ops);
    for (int id = 0; id < l->g->n_ops; id++) {
        mo_plan_lower_op *op = &l->ops[id];
        int placed = placed_of(source, id);

        op->item = placed < 0 ? MO_PLAN_NONE : placed;
        op->device =
            placed < 0 ? MO_PLAN_NONE : source->schedule->device[placed];
        op->needs = MO_PLAN_NONE;
    }
}

/* Something replicated is wherever it is asked for. */
int mo_plan_lower_output_device(const mo_plan_lower_state *l,
                                const mo_plan_lower_io_port *output)
{
    int device = l->ops[output->op].device;
    int producer = l->tensors[output->tensor].op;

    if (device == MO_PLAN_NONE && producer != MO_PLAN_NONE &&
        producer < l->g->n_ops)
        device = l->ops[producer].device;
    return device == MO_PLAN_NONE ? 0 : device;
}

/* Is there work to be done for it wherever it is read? */
static bool is_replicated(const mo_plan_lower_state *l, int tensor)
{
    const mo_plan_lower_tensor *it = &l->tensors[tensor];

    return !it->known && it->input == MO_PLAN_NONE && it->op != MO_PLAN_NONE &&
           it->op < l->g->n_ops && l->ops[it->op].device == MO_PLAN_NONE;
}

static mo_status need(mo_plan_lower_state *l, int tensor, int device,
                      mo_error *err)
{
    mo_plan_lower_op *op;
    mo_status status;

    if (!is_replicated(l, tensor))
        return MO_OK;
    op = &l->ops[l->tensors[tensor].op];
    for (int n = op->needs; n != MO_PLAN_NONE; n = l->needs[n].next)
        if (l->needs[n].device == device)
            return MO_OK;
    status = MO_ARRAY_GROW(l->needs, l->n_needs, l->needs_room, err);
    if (status != MO_OK)
        return status;
    l->needs[l->n_needs] = (mo_plan_lower_replica){ device, op->needs };
    op->needs = (int) l->n_needs++;
    return MO_OK;
}

static mo_status need_inputs(mo_plan_lower_state *l, const mo_plan_lower_op *op,
                             int device, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < op->n_in && status == MO_OK; i++)
        status = need(l, op->in[i], device, err);
    return status;
}

/* Backwards: readers say where before it is their producers' turn. */
mo_status mo_plan_lower_find_replicas(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < l->n_outputs && status == MO_OK; i++)
        status = need(l, l->outputs[i].tensor,
                      mo_plan_lower_output_device(l, &l->outputs[i]), err);
    for (int id = l->g->n_ops - 1; id >= 0 && status == MO_OK; id--) {
        const mo_plan_lower_op *op = &l->ops[id];

        if (op->device != MO_PLAN_NONE)
            status = need_inputs(l, op, op->device, err);
        for (int n = op->needs; n != MO_PLAN_NONE && status == MO_OK;
             n = l->needs[n].next)
            status = need_inputs(l, op, l->needs[n].device, err);
    }
    return status;
}
