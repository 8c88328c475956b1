/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/load_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"

mo_status mo_period_problem_init(mo_period_problem *p, const mo_instance *x,
                                 const mo_regime *regime, mo_error *err)
{
    size_t n;
    mo_status status;

    *p = (mo_period_problem){ .x = x,
                              .regime = *regime,
                              .domains = { x, *regime, NULL } };
    p->n_resources = mo_period_resource_count(x, regime->congestion);
    p->host = mo_period_host(x, regime->congestion);
    if (!mo_size_mul((size_t) x->n, (size_t) x->n_devices, &n))
        return mo_fail_memory(err);
    p->domains.allowed = calloc(n + 1, sizeof *p->domains.allowed);
    if (!p->domains.allowed)
        return mo_fail_memory(err);
    status = mo_allowed_devices_find(&p->domains, err);
    if (status == MO_OK)
        status = mo_placement_units_make(x, regime, &p->units, err);
    return status;
}

void mo_period_problem_clear(mo_period_problem *p)
{
    free(p->domains.allowed);
    mo_placement_units_free(p->units);
    *p = (mo_period_problem){ 0 };
}

void mo_period_fill_single(const mo_period_problem *p, int k, int *device)
{
    for (int i = 0; i < p->x->n; i++) {
        device[i] = k;
        for (int l = 0; !mo_allowed_devices_has(&p->domains, i, device[i]) &&
                        l < p->x->n_devices;
             l++)
            device[i] = l;
    }
}

mo_status mo_period_state_init(mo_period_state *s, const mo_period_problem *p,
                               mo_error *err)
{
    const mo_instance *x = p->x;
    size_t n_readers = 0;

    *s = (mo_period_state){ .problem = p };
    if (p->regime.tensors == MO_TENSORS_ONCE &&
        !mo_size_mul((size_t) x->n_tensors, (size_t) x->n_devices, &n_readers))
        return mo_fail_memory(err);
    s->device = calloc((size_t) x->n + 1, sizeof *s->device);
    s->load_ns = calloc((size_t) p->n_resources + 1, sizeof *s->load_ns);
    s->used_bytes = calloc((size_t) x->n_devices + 1, sizeof *s->used_bytes);
    s->readers = calloc(n_readers + 1, sizeof *s->readers);
    return s->device && s->load_ns && s->used_bytes && s->readers
               ? MO_OK
               : mo_fail_memory(err);
}

void mo_period_state_clear(mo_period_state *s)
{
    free(s->device);
    free(s->load_ns);
    free(s->used_bytes);
    free(s->readers);
    *s = (mo_period_state){ 0 };
}

/* Adds a transfer that takes ns to its resources, or removes it (sign -1). */
static void add_transfer(mo_period_state *s, int tensor, int a, int b,
                         int64_t ns, int sign)
{
    const mo_period_problem *p = s->problem;
    int pair[2];
    const int *ids;
    int n;

    if (a == b)
        return;
    s->n_transfers += sign;
    if (p->host >= 0)
        s->load_ns[p->host] += sign * p->x->load.host_transfer_ns;
    if (p->x->load.overhead_ns) {
        s->load_ns[a] += sign * mo_instance_overhead_ns(p->x, tensor, a);
        s->load_ns[b] += sign * mo_instance_overhead_ns(p->x, tensor, b);
    }
    if (ns == 0)
        return;
    n = mo_resource_list(p->x, p->regime.congestion, a, b, pair, &ids);
    for (int i = 0; i < n; i++)
        s->load_ns[p->x->n_devices + ids[i]] += sign * ns;
}

/* Adds the transfers of the op's inputs and outputs, or removes them (sign
 * -1), with a transfer per edge. */
static void add_flows(mo_period_state *s, int op, int sign)
{
    const mo_instance *x = s->problem->x;

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        int a = s->device[op], b = s->device[x->flows[q].to];

        add_transfer(s, x->flows[q].tensor, a, b,
                     mo_instance_flow_ns(x, q, a, b), sign);
    }
    for (int i = x->in_start[op]; i < x->in_start[op + 1]; i++) {
        int q = x->in_flows[i];
        int a = s->device[x->flows[q].from], b = s->device[op];

        add_transfer(s, x->flows[q].tensor, a, b,
                     mo_instance_flow_ns(x, q, a, b), sign);
    }
}

/* Counts op as a reader of its inputs on its device: the first, or the last
 * (sign -1), there adds or removes the transfer. */
static void count_reader(mo_period_state *s, int op, int sign)
{
    const mo_instance *x = s->problem->x;

    for (int i = x->in_start[op]; i < x->in_start[op + 1]; i++) {
        const mo_flow *f = &x->flows[x->in_flows[i]];
        int a = s->device[f->from], b = s->device[op];
        int *readers = &s->readers[(int64_t) f->tensor * x->n_devices + b];

        *readers += sign;
        if (*readers == (sign > 0 ? 1 : 0))
            add_transfer(s, f->tensor, a, b,
                         mo_instance_tensor_ns(x, f->tensor, a, b), sign);
    }
}

static void add_tensors(mo_period_state *s, int op, int sign)
{
    const mo_instance *x = s->problem->x;
    int a = s->device[op];

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        int t = x->flows[q].tensor;

        if (q != x->tensor_start[t])
            continue;
        for (int b = 0; b < x->n_devices; b++)
            if (s->readers[(int64_t) t * x->n_devices + b] > 0)
                add_transfer(s, t, a, b, mo_instance_tensor_ns(x, t, a, b),
                             sign);
    }
}

void mo_period_state_set(mo_period_state *s, const int *device)
{
    const mo_period_problem *p = s->problem;
    const mo_instance *x = p->x;
    bool once = p->regime.tensors == MO_TENSORS_ONCE;
    bool sends = p->regime.congestion != MO_CONGESTION_NONE;

    memset(s->load_ns, 0, (size_t) p->n_resources * sizeof *s->load_ns);
    memset(s->used_bytes, 0, (size_t) x->n_devices * sizeof *s->used_bytes);
    if (once)
        memset(s->readers, 0,
               (size_t) x->n_tensors * (size_t) x->n_devices *
                   sizeof *s->readers);
    memmove(s->device, device, (size_t) x->n * sizeof *device);
    s->n_transfers = 0;
    if (p->host >= 0)
        s->load_ns[p->host] = x->load.host_request_ns;
    for (int i = 0; i < x->n; i++) {
        s->load_ns[device[i]] += mo_instance_p_ns(x, i, device[i]);
        s->used_bytes[device[i]] +=
            mo_regime_resident_bytes(x, p->regime.memory, i);
        if (once && sends)
            count_reader(s, i, 1);
    }
    for (int q = 0; q < x->n_flows && !once && sends; q++) {
        int a = device[x->flows[q].from], b = device[x->flows[q].to];

        add_transfer(s, x->flows[q].tensor, a, b,
                     mo_instance_flow_ns(x, q, a, b), 1);
    }
}

void mo_period_state_move(mo_period_state *s, int unit, int device)
{
    const mo_placement_units *units = s->problem->units;

    for (int i = units->start[unit]; i < units->start[unit + 1]; i++) {
        int op = units->ops[i];
        const mo_period_problem *p = s->problem;
        bool once = p->regime.tensors == MO_TENSORS_ONCE;
        int64_t bytes = mo_regime_resident_bytes(p->x, p->regime.memory, op);
        int from = s->device[op];

        s->load_ns[from] -= mo_instance_p_ns(p->x, op, from);
        s->load_ns[device] += mo_instance_p_ns(p->x, op, device);
        s->used_bytes[from] -= bytes;
        s->used_bytes[device] += bytes;
        if (p->regime.congestion == MO_CONGESTION_NONE) {
            s->device[op] = device;
        } else if (once) {
            count_reader(s, op, -1);
            add_tensors(s, op, -1);
            s->device[op] = device;
            add_tensors(s, op, 1);
            count_reader(s, op, 1);
        } else {
            add_flows(s, op, -1);
            s->device[op] = device;
            add_flows(s, op, 1);
        }
    }
}

int64_t mo_period_state_period_ns(const mo_period_state *s)
{
    int64_t most_ns = 0;

    for (int r = 0; r < s->problem->n_resources; r++)
        most_ns = mo_max_i64(most_ns, s->load_ns[r]);
    return most_ns;
}

int64_t mo_period_state_excess_bytes(const mo_period_state *s)
{
    const mo_instance *x = s->problem->x;
    int64_t excess = 0;

    for (int k = 0; k < x->n_devices; k++)
        if (s->used_bytes[k] > x->capacity_bytes[k])
            excess += s->used_bytes[k] - x->capacity_bytes[k];
    return excess;
}

bool mo_period_state_is_allowed(const mo_period_state *s)
{
    for (int i = 0; i < s->problem->x->n; i++)
        if (!mo_allowed_devices_has(&s->problem->domains, i, s->device[i]))
            return false;
    return true;
}

bool mo_period_state_next(mo_period_state *s)
{
    for (int unit = 0; unit < s->problem->units->n; unit++) {
        int k = mo_period_state_device(s, unit) + 1;
        bool over = k == s->problem->x->n_devices;

        mo_period_state_move(s, unit, over ? 0 : k);
        if (!over)
            return true;
    }
    return false;
}
