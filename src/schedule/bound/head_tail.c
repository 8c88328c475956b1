/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/head_tail.h"

enum {
    POLL_WORK = 1 << 18, /* transfers between polls */
    TRANSFER_WORK = 2    /* of one of them (mo_stop_spend) */
};

int64_t mo_head_tail_with_p(const mo_head_tail *pass, int op, int device)
{
    return pass->time_ns[mo_allowed_devices_index(pass->domains, op, device)] +
           mo_instance_p_ns(pass->domains->x, op, device);
}

void mo_head_tail_raise(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

static int comm_row(const mo_allowed_devices *p, int flow)
{
    const mo_instance *x = p->x;

    return p->regime.tensors == MO_TENSORS_ONCE
               ? x->comm.tensor_row[x->flows[flow].tensor]
               : x->comm.flow_row[flow];
}

/* The time of a row between here, where the pass is, and there. */
static int64_t transfer_ns(const mo_head_tail *pass, int row, int here,
                           int there)
{
    return pass->backward
               ? mo_instance_row_ns(pass->domains->x, row, there, here)
               : mo_instance_row_ns(pass->domains->x, row, here, there);
}

/* Flows of op: [first_flow(op), first_flow(op + 1)). */
static int first_flow(const mo_head_tail *pass, int op)
{
    return pass->backward ? pass->domains->x->in_start[op]
                          : pass->domains->x->out_start[op];
}

static int flow_at(const mo_head_tail *pass, int arrival_ns)
{
    return pass->backward ? pass->domains->x->in_flows[arrival_ns] : arrival_ns;
}

static int other_end(const mo_head_tail *pass, int flow)
{
    return pass->backward ? pass->domains->x->flows[flow].from
                          : pass->domains->x->flows[flow].to;
}

/* Polls the stop condition once in many transfers: an op has as many as there
 * are pairs of devices. */
static bool is_stopped(mo_head_tail *pass)
{
    int64_t n_devices = pass->domains->x->n_devices;

    pass->work += n_devices * n_devices;
    if (pass->stop && pass->work >= POLL_WORK) {
        pass->work = 0;
        pass->stopped = pass->stopped ||
                        mo_stop_spend(pass->stop, TRANSFER_WORK * POLL_WORK);
    }
    return pass->stopped;
}

void mo_head_tail_propagate(mo_head_tail *pass, int op)
{
    const mo_allowed_devices *p = pass->domains;
    int row = -1;

    if (is_stopped(pass))
        return;

    for (int e = first_flow(pass, op); e < first_flow(pass, op + 1); e++) {
        int flow = flow_at(pass, e), other = other_end(pass, flow);
        bool stays =
            p->x->group[op] != MO_FREE && p->x->group[op] == p->x->group[other];

        if (!stays && row != comm_row(p, flow)) {
            row = comm_row(p, flow);
            /* arrival_ns[k]: the earliest arrival on k of what is sent with
             * that row, over the allowed devices of op. */
            int n_devices = pass->domains->x->n_devices;

            for (int k = 0; k < n_devices; k++)
                pass->arrival_ns[k] = INT64_MAX;
            for (int a = 0; a < n_devices; a++) {
                int64_t here_ns = mo_head_tail_with_p(pass, op, a);
                if (!mo_allowed_devices_has(pass->domains, op, a))
                    continue;
                for (int k = 0; k < n_devices; k++)
                    if (here_ns + transfer_ns(pass, row, a, k) <
                        pass->arrival_ns[k])
                        pass->arrival_ns[k] =
                            here_ns + transfer_ns(pass, row, a, k);
            }
        }
        for (int k = 0; k < p->x->n_devices; k++)
            if (mo_allowed_devices_has(p, other, k))
                mo_head_tail_raise(
                    &pass->time_ns[mo_allowed_devices_index(p, other, k)],
                    stays ? mo_head_tail_with_p(pass, op, k)
                          : pass->arrival_ns[k]);
    }
}

void mo_head_tail_propagate_from(mo_head_tail *pass, int op, int device)
{
    const mo_allowed_devices *p = pass->domains;

    for (int e = first_flow(pass, op); e < first_flow(pass, op + 1); e++) {
        int flow = flow_at(pass, e), other = other_end(pass, flow);

        for (int k = 0; k < p->x->n_devices; k++)
            if (mo_allowed_devices_has(p, other, k))
                mo_head_tail_raise(
                    &pass->time_ns[mo_allowed_devices_index(p, other, k)],
                    transfer_ns(pass, comm_row(p, flow), device, k));
    }
}
