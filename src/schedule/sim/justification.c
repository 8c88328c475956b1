/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of event_loop.c with all flows reversed.  A transfer waits until
 * all its readers have ended, an op until all its transfers and all its
 * readers on the same device have.
 */
#include "schedule/sim/justification.h"

#include <stdlib.h>

#include "schedule/sim/sim_internal.h"

struct mo_justification {
    mo_sim *sim;
};

mo_status mo_justification_new(const mo_instance *x, const mo_regime *regime,
                               mo_justification **justification, mo_error *err)
{
    mo_justification *b = calloc(1, sizeof *b);
    mo_status status =
        b ? mo_sim_new(x, regime, &b->sim, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        b->sim->backward = true;
        b->sim->carrier =
            malloc(((size_t) x->n_flows + 1) * sizeof *b->sim->carrier);
        if (!b->sim->carrier)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK)
        *justification = b;
    else
        mo_justification_free(b);
    return status;
}

void mo_justification_free(mo_justification *justification)
{
    if (!justification)
        return;
    mo_sim_free(justification->sim);
    free(justification);
}

void mo_sim_end_backward(mo_sim *s, int node)
{
    const mo_instance *x = s->x;

    if (!mo_sim_is_op(s, node)) {
        mo_channel_queues_release(&s->channels, mo_sim_channel(s, node));
        mo_sim_deliver_input(s, mo_sim_flow(s, node)->from);
        return;
    }
    mo_sim_wake_device(s, s->device[node]);
    for (int j = x->in_start[node]; j < x->in_start[node + 1]; j++) {
        int q = x->in_flows[j], from = x->flows[q].from;
        int channel = s->device[from] * s->n_devices + s->device[node];

        if (s->device[from] == s->device[node])
            mo_sim_deliver_input(s, from);
        else if (s->channels.uncongested[channel])
            mo_sim_deliver_uncongested(s, q, channel, from);
        else if (--s->missing[s->carrier[q]] == 0)
            mo_sim_start_transfer(s, s->carrier[q]);
    }
}

void mo_justification_keys(mo_justification *justification, const int *device,
                           const int64_t *end_ns, int64_t *key,
                           int64_t *send_key)
{
    mo_sim *s = justification->sim;
    int64_t all_ns;

    /* Priority: what ended last goes first. */
    for (int i = 0; i < s->n; i++)
        s->device[i] = device[i];
    for (int node = 0; node < s->n_nodes; node++)
        s->queue.key[node] = -end_ns[node];
    mo_sim_clear(s);
    for (int node = 0; node < s->n_nodes; node++)
        s->missing[node] = 0;
    for (int q = 0; q < s->x->n_flows; q++) {
        if (q == s->x->tensor_start[s->x->flows[q].tensor])
            s->bundle.stamp++;
        /* The carrier of flow q is its producer itself, or its own transfer
         * node or that of an earlier flow; the producer waits for each of them
         * once. */
        const mo_flow *flow = &s->x->flows[q];
        int from = s->device[flow->from], to = s->device[flow->to];

        s->carrier[q] = flow->from;
        if (from != to && !s->channels.uncongested[from * s->n_devices + to]) {
            if (!s->once || s->bundle.device_stamp[to] != s->bundle.stamp) {
                s->bundle.device_stamp[to] = s->bundle.stamp;
                s->bundle.node[to] = s->n + q;
                s->missing[flow->from]++;
            }
            s->carrier[q] = s->bundle.node[to];
        }
        s->missing[s->carrier[q]]++;
    }
    for (int i = 0; i < s->n; i++) {
        s->arrival_ns[i] = 0;
        if (s->missing[i] == 0)
            mo_sim_op_ready(s, i);
    }
    all_ns = mo_sim_run_events(s, INT64_MAX);
    for (int i = 0; i < s->n; i++)
        key[i] = all_ns - s->start_ns[i] - mo_sim_p_ns(s, i);
    for (int q = 0; q < s->x->n_flows; q++) {
        int node = s->carrier[q];

        send_key[q] = mo_sim_is_op(s, node) ? key[s->x->flows[q].to]
                                            : all_ns - s->start_ns[node] -
                                                  mo_sim_duration_ns(s, node);
    }
}
