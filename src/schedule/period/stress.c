/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With a fixed order the makespan is a longest path, so an op that takes d ns
 * longer makes it the larger of itself and the longest path through the op,
 * plus d: one forward and one backward pass have the scenarios of all ops.
 */
#include "schedule/period/stress.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"
#include "schedule/shift_state.h"

static int64_t more_ns(int64_t ns, double factor)
{
    double more = ceil((double) ns * (factor - 1));

    return more < (double) MO_MAX_TOTAL_NS ? (int64_t) more : MO_MAX_TOTAL_NS;
}

static void keep_worst(mo_stress *stress, const mo_stress *other)
{
    if (other->worst_ns > stress->worst_ns)
        *stress = *other;
}

static int64_t latest_op(const mo_shift_state *h)
{
    int64_t ns = 0;

    for (int i = 0; i < h->s->n; i++)
        ns = mo_max_i64(ns, h->end_ns[i]);
    return ns;
}

static mo_status stress_ops(mo_shift_state *h, double factor, mo_stress *stress,
                            mo_error *err)
{
    int64_t *tail_ns = calloc((size_t) h->n_nodes + 1, sizeof *tail_ns);

    if (!tail_ns)
        return mo_fail_memory(err);
    mo_shift_state_tails(h, tail_ns);
    for (int i = 0; i < h->s->n; i++) {
        int64_t ns = mo_instance_p_ns(h->x, i, h->s->device[i]);
        const mo_stress slow = { .worst_ns = h->end_ns[i] - ns + tail_ns[i] +
                                             more_ns(ns, factor),
                                 .op = i,
                                 .from = MO_FREE,
                                 .to = MO_FREE };

        keep_worst(stress, &slow);
    }
    free(tail_ns);
    return MO_OK;
}

/* Scales the transfers from a to b; returns whether there are any. */
static bool scale_transfers(mo_shift_state *h, int a, int b, double factor)
{
    bool any = false;

    for (int v = 0; v < h->n_nodes; v++) {
        mo_shift_node *it = &h->nodes[v];
        const mo_transfer *t;

        if (it->number < h->s->n)
            continue;
        t = &h->s->transfers[it->number - h->s->n];
        it->length_ns =
            mo_schedule_item_ns(h->x, &h->s->regime, t->item, t->from, t->to);
        if (t->from != a || t->to != b)
            continue;
        it->length_ns += more_ns(it->length_ns, factor);
        any = true;
    }
    return any;
}

static mo_status stress_makespan(const mo_instance *x, const mo_schedule *s,
                                 double factor, mo_stress *stress,
                                 mo_error *err)
{
    mo_shift_state h;
    mo_status status = mo_shift_state_open(&h, x, s, err);

    if (status == MO_OK)
        status = mo_shift_state_run(&h, err);
    if (status == MO_OK) {
        stress->worst_ns = latest_op(&h);
        status = stress_ops(&h, factor, stress, err);
    }
    for (int a = 0; a < x->n_devices && s->n_transfers > 0; a++)
        for (int b = 0; b < x->n_devices && status == MO_OK; b++) {
            if (!scale_transfers(&h, a, b, factor))
                continue;
            status = mo_shift_state_run(&h, err);
            if (status == MO_OK)
                keep_worst(stress, &(mo_stress){ .worst_ns = latest_op(&h),
                                                 .op = MO_FREE,
                                                 .from = a,
                                                 .to = b });
        }
    mo_shift_state_clear(&h);
    return status;
}

static mo_status stress_period(const mo_instance *x, const mo_schedule *s,
                               double factor, mo_stress *stress, mo_error *err)
{
    const size_t K = (size_t) x->n_devices;
    int64_t *pair_ns = calloc(K * K + 1, sizeof *pair_ns);
    mo_period_loads loads = { 0 };
    mo_status status =
        pair_ns ? mo_period_loads_compute(x, &s->regime, s->device, &loads, err)
                : mo_fail_memory(err);

    if (status == MO_OK) {
        stress->worst_ns = loads.period_ns;
        for (int i = 0; i < s->n_transfers; i++) {
            const mo_transfer *t = &s->transfers[i];

            pair_ns[(int64_t) t->from * x->n_devices + t->to] +=
                mo_schedule_item_ns(x, &s->regime, t->item, t->from, t->to);
        }
    }
    for (int i = 0; i < s->n && status == MO_OK; i++) {
        int k = s->device[i];
        int64_t more = more_ns(mo_instance_p_ns(x, i, k), factor);

        keep_worst(stress, &(mo_stress){ .worst_ns = loads.load_ns[k] + more,
                                         .op = i,
                                         .from = MO_FREE,
                                         .to = MO_FREE });
    }
    for (int a = 0; a < x->n_devices && status == MO_OK; a++)
        for (int b = 0; b < x->n_devices; b++) {
            int64_t ns = pair_ns[(int64_t) a * x->n_devices + b];
            int pair[2];
            const int *held;
            int n = ns == 0 ? 0
                            : mo_resource_list(x, s->regime.congestion, a, b,
                                               pair, &held);

            for (int r = 0; r < n; r++)
                keep_worst(
                    stress,
                    &(mo_stress){ .worst_ns =
                                      loads.load_ns[x->n_devices + held[r]] +
                                      more_ns(ns, factor),
                                  .op = MO_FREE,
                                  .from = a,
                                  .to = b });
        }
    mo_period_loads_clear(&loads);
    free(pair_ns);
    return status;
}

mo_status mo_stress_find(const mo_instance *x, mo_objective objective,
                         const mo_schedule *s, double factor, mo_stress *stress,
                         mo_error *err)
{
    *stress = (mo_stress){ .op = MO_FREE, .from = MO_FREE, .to = MO_FREE };
    return objective == MO_OBJECTIVE_PERIOD
               ? stress_period(x, s, factor, stress, err)
               : stress_makespan(x, s, factor, stress, err);
}
