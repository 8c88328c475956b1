/* Steps to other orders. */
#include "schedule/resource.h"
#include "solvers/search/anneal_walk.h"

/* All flows that go with the transfer get the key. */
static void send_by(mo_walk *w, int node, int64_t key)
{
    const mo_instance *x = w->x;
    const mo_flow *flow = mo_walk_flow(w, node);
    int q = node - x->n, last = q + 1;

    if (w->regime.tensors == MO_TENSORS_ONCE)
        last = x->tensor_start[flow->tensor + 1];
    for (; q < last; q++)
        if (w->at->device[x->flows[q].to] == w->at->device[flow->to])
            mo_trial_send(w->trial, q, key);
}

static int64_t send_key(const mo_walk *w, int node)
{
    const mo_instance *x = w->x;
    const mo_flow *flow = mo_walk_flow(w, node);
    int q = node - x->n, last = q + 1;
    int64_t key = w->at->send_key[q];

    if (w->regime.tensors == MO_TENSORS_ONCE)
        last = x->tensor_start[flow->tensor + 1];
    for (; q < last; q++)
        if (w->at->device[x->flows[q].to] == w->at->device[flow->to] &&
            w->at->send_key[q] < key)
            key = w->at->send_key[q];
    return key;
}

bool mo_walk_step_before(mo_walk *w, int node, int other)
{
    if (mo_walk_is_op(w, node))
        mo_trial_order(w->trial, node, w->at->key[other] - 1);
    else
        send_by(w, node, send_key(w, other) - 1);
    return true;
}

/* Some op of the same device that started while this one was ready. */
bool mo_walk_step_order(mo_walk *w, int op)
{
    const mo_instance *x = w->x;
    int other = mo_walk_below(w, x->n);

    for (int tries = 0; tries < x->n; tries++) {
        if (other != op && w->at->device[other] == w->at->device[op] &&
            w->at->end_ns[other] > w->at->ready_ns[op] &&
            w->at->start_ns[other] < w->at->start_ns[op]) {
            mo_trial_order(w->trial, op, w->at->key[other] - 1);
            return true;
        }
        other = other + 1 < x->n ? other + 1 : 0;
    }
    return false;
}

/* Until some other op of the device has ended, or at once again. */
bool mo_walk_step_release(mo_walk *w, int op)
{
    int other;

    if (w->at->release_ns[op] > 0 && mo_walk_below(w, 2) == 0) {
        mo_trial_release(w->trial, op, 0);
        return true;
    }
    other = mo_walk_below(w, w->x->n);
    if (w->at->device[other] != w->at->device[op] ||
        w->at->end_ns[other] <= w->at->start_ns[op] || other == op)
        return false;
    mo_trial_release(w->trial, op, w->at->end_ns[other]);
    return true;
}

bool mo_walk_step_back(mo_walk *w)
{
    const mo_instance *x = w->x;

    w->is_new = false;
    mo_back_order(w->back, w->at, w->key, w->send_key);
    for (int i = 0; i < x->n; i++)
        mo_trial_order(w->trial, i, w->key[i]);
    for (int q = 0; q < x->n_flows; q++)
        mo_trial_send(w->trial, q, w->send_key[q]);
    return true;
}
