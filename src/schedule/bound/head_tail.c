/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/head_tail.h"

int64_t mo_head_tail_with_p(const mo_head_tail *pass, int op, int device)
{
    return pass->side[mo_allowed_devices_index(pass->places, op, device)] +
           mo_instance_p_ns(pass->places->x, op, device);
}

void mo_head_tail_raise(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

static int row_of(const mo_allowed_devices *p, int flow)
{
    const mo_instance *x = p->x;

    return p->regime.tensors == MO_TENSORS_ONCE
               ? x->tensor_row[x->flows[flow].tensor]
               : x->flow_row[flow];
}

/* The time of a row between here, where the pass is, and there. */
static int64_t row_ns(const mo_head_tail *pass, int row, int here, int there)
{
    return pass->backward
               ? mo_instance_row_ns(pass->places->x, row, there, here)
               : mo_instance_row_ns(pass->places->x, row, here, there);
}

/* Flows of op: [first_flow(op), first_flow(op + 1)). */
static int first_flow(const mo_head_tail *pass, int op)
{
    return pass->backward ? pass->places->x->in_start[op]
                          : pass->places->x->out_start[op];
}

static int flow_at(const mo_head_tail *pass, int at)
{
    return pass->backward ? pass->places->x->in_flows[at] : at;
}

static int other_end(const mo_head_tail *pass, int flow)
{
    return pass->backward ? pass->places->x->flows[flow].from
                          : pass->places->x->flows[flow].to;
}

static bool share_group(const mo_instance *x, int a, int b)
{
    return x->group[a] != MO_FREE && x->group[a] == x->group[b];
}

/* at[k]: when what goes with that row, from wherever op may be, is on k. */
static void find_at(mo_head_tail *pass, int op, int row)
{
    int n_devices = pass->places->x->n_devices;

    for (int k = 0; k < n_devices; k++)
        pass->at[k] = INT64_MAX;
    for (int a = 0; a < n_devices; a++) {
        int64_t here_ns = mo_head_tail_with_p(pass, op, a);
        if (!mo_allowed_devices_has(pass->places, op, a))
            continue;
        for (int k = 0; k < n_devices; k++)
            if (here_ns + row_ns(pass, row, a, k) < pass->at[k])
                pass->at[k] = here_ns + row_ns(pass, row, a, k);
    }
}

void mo_head_tail_propagate(mo_head_tail *pass, int op)
{
    const mo_allowed_devices *p = pass->places;
    int row = -1;

    for (int e = first_flow(pass, op); e < first_flow(pass, op + 1); e++) {
        int flow = flow_at(pass, e), other = other_end(pass, flow);
        bool stays = share_group(p->x, op, other);

        if (!stays && row != row_of(p, flow)) {
            row = row_of(p, flow);
            find_at(pass, op, row);
        }
        for (int k = 0; k < p->x->n_devices; k++)
            if (mo_allowed_devices_has(p, other, k))
                mo_head_tail_raise(
                    &pass->side[mo_allowed_devices_index(p, other, k)],
                    stays ? mo_head_tail_with_p(pass, op, k) : pass->at[k]);
    }
}

void mo_head_tail_propagate_from(mo_head_tail *pass, int op, int device)
{
    const mo_allowed_devices *p = pass->places;

    for (int e = first_flow(pass, op); e < first_flow(pass, op + 1); e++) {
        int flow = flow_at(pass, e), other = other_end(pass, flow);

        for (int k = 0; k < p->x->n_devices; k++)
            if (mo_allowed_devices_has(p, other, k))
                mo_head_tail_raise(
                    &pass->side[mo_allowed_devices_index(p, other, k)],
                    row_ns(pass, row_of(p, flow), device, k));
    }
}
