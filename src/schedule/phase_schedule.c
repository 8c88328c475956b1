/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/phase_schedule.h"

#include <assert.h>
#include <stdlib.h>

/* Returns the item of the whole instance that carries what an item of the
 * phase carries; sender is the op of the whole that sends it.  Tensors of an op
 * are in the same order in both. */
static int item_in_whole(const mo_phase *phase, const mo_instance *whole,
                         const mo_instance *x, const mo_schedule *s,
                         const mo_transfer *t, int sender)
{
    int tensor = mo_schedule_tensor(x, s, t), from = x->tensor_from[tensor];
    int in_whole = whole->flows[whole->out_start[sender]].tensor + tensor -
                   x->flows[x->out_start[from]].tensor;
    int flow = whole->tensor_start[in_whole];

    if (s->regime.tensors == MO_TENSORS_ONCE)
        return in_whole;
    while (whole->flows[flow].to != phase->op_of[x->flows[t->item].to])
        flow++;
    assert(flow < whole->tensor_start[in_whole + 1]);
    return flow;
}

mo_status mo_phase_schedule_make(const mo_phases *phases, int p,
                                 const mo_instance *whole, const mo_schedule *s,
                                 const mo_instance *x, mo_schedule **schedule,
                                 mo_error *err)
{
    const mo_phase *phase = &phases->items[p];
    size_t n = (size_t) x->n + 1;
    int *device = calloc(n, sizeof *device);
    int *sender = calloc(n, sizeof *sender);
    mo_schedule *made = NULL;
    mo_status status = device && sender ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < x->n && status == MO_OK; i++) {
        sender[i] = phase->op_of[i];
        device[i] = s->device[phase->op_of[i]];
    }
    for (int i = 0; i < whole->n && status == MO_OK; i++)
        if (phases->phase_of[i] == p && phases->cut[i] != MO_UNKNOWN)
            sender[phases->cut[i]] = i;
    if (status == MO_OK)
        status = mo_schedule_new(x, &s->regime, device, &made, err);
    for (int i = 0; i < x->n && status == MO_OK; i++)
        made->start_ns[i] = s->start_ns[phase->op_of[i]];
    for (int i = 0; status == MO_OK && i < made->n_transfers; i++) {
        mo_transfer *t = &made->transfers[i];
        int from = x->tensor_from[mo_schedule_tensor(x, made, t)];
        const mo_transfer *its = mo_schedule_transfer(
            s, item_in_whole(phase, whole, x, made, t, sender[from]), t->to);

        t->start_ns = its->start_ns;
        t->end_ns = its->end_ns;
    }
    if (status == MO_OK)
        status = mo_schedule_left_shift(x, made, err);
    free(device);
    free(sender);
    if (status == MO_OK)
        *schedule = made;
    else
        mo_schedule_free(made);
    return status;
}
