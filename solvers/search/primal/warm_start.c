/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/warm_start.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "schedule/sim/sim.h"

typedef struct op_start {
    int64_t start_ns;
    int op;
} op_start;

struct mo_primal_warm_start {
    const mo_instance *x;
    mo_sim *sim;
    mo_sim_plan plan;
    op_start *starts; /* sorted, they give the ranks */
    int *first_op;    /* by group */
};

mo_status mo_primal_warm_start_new(const mo_instance *x,
                                   const mo_regime *regime,
                                   mo_primal_warm_start **warm, mo_error *err)
{
    mo_primal_warm_start *made = calloc(1, sizeof *made);
    size_t n = (size_t) x->n + 1;
    mo_status status = MO_OK;

    if (!made)
        return mo_fail_memory(err);
    made->x = x;
    made->plan.device = calloc(n, sizeof *made->plan.device);
    made->plan.rank = calloc(n, sizeof *made->plan.rank);
    made->starts = calloc(n, sizeof *made->starts);
    made->first_op = calloc((size_t) x->n_groups + 1, sizeof *made->first_op);
    if (!made->plan.device || !made->plan.rank || !made->starts ||
        !made->first_op)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_sim_new(x, regime, &made->sim, err);
    if (status == MO_OK)
        *warm = made;
    else
        mo_primal_warm_start_free(made);
    return status;
}

void mo_primal_warm_start_free(mo_primal_warm_start *warm)
{
    if (!warm)
        return;
    mo_sim_free(warm->sim);
    free(warm->plan.device);
    free(warm->plan.rank);
    free(warm->starts);
    free(warm->first_op);
    free(warm);
}

static int compare_starts(const void *a, const void *b)
{
    const op_start *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return (s->op > t->op) - (s->op < t->op);
}

/* Simulates a schedule's devices and order with the pins of the instance. */
static mo_status replay(mo_primal_warm_start *warm, const mo_schedule *original,
                        int64_t below_ns, mo_schedule **made, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status;
    bool fits = false;

    *made = NULL;
    /* Devices of the schedule, except for pinned ops; ranks by its starts. */
    for (int i = 0; i < original->n; i++) {
        warm->starts[i] = (op_start){ original->start_ns[i], i };
        warm->plan.device[i] =
            warm->x->pin[i] == MO_FREE ? original->device[i] : warm->x->pin[i];
    }
    qsort(warm->starts, (size_t) original->n, sizeof *warm->starts,
          compare_starts);
    for (int i = 0; i < original->n; i++)
        warm->plan.rank[warm->starts[i].op] = i;
    if (mo_sim_run(warm->sim, &warm->plan, below_ns) >= below_ns)
        return MO_OK;
    status = mo_sim_schedule(warm->sim, &warm->plan, &s, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(warm->x, s, &fits, err);
    if (status == MO_OK && fits)
        *made = s;
    else
        mo_schedule_free(s);
    return status;
}

mo_status mo_primal_warm_start_from_schedule(mo_primal_warm_start *warm,
                                             const mo_schedule *original,
                                             int64_t below_ns,
                                             mo_schedule **made, mo_error *err)
{
    *made = NULL;
    return mo_ablated(MO_ABLATION_warm_start)
               ? MO_OK
               : replay(warm, original, below_ns, made, err);
}

mo_status mo_primal_warm_start_from_hint(mo_primal_warm_start *warm,
                                         const mo_schedule *original,
                                         const mo_bound_segment *segment,
                                         int boundary,
                                         const mo_decomp_solution_hint *hint,
                                         mo_schedule **made, mo_error *err)
{
    mo_schedule *copy = NULL;
    mo_status status = mo_schedule_copy(warm->x, original, &copy, err);

    *made = NULL;
    if (status != MO_OK || mo_ablated(MO_ABLATION_hint_start)) {
        mo_schedule_free(copy);
        return status;
    }
    int u = segment->u, v = segment->v, n = warm->x->n_devices;
    int64_t begin_ns =
        u == MO_FREE
            ? 0
            : copy->start_ns[u] + mo_instance_p_ns(warm->x, u, copy->device[u]);

    for (int i = 0; i < segment->n; i++) {
        copy->device[segment->ops[i]] = hint->device[i];
        copy->start_ns[segment->ops[i]] = begin_ns + hint->start_ns[i];
    }
    if (u != MO_FREE)
        copy->device[u] = boundary / n;
    if (v != MO_FREE)
        copy->device[v] = boundary % n;
    /* Places all ops of a group on the device of its first op. */
    for (int g = 0; g < warm->x->n_groups; g++)
        warm->first_op[g] = -1;
    for (int i = 0; i < warm->x->n; i++) {
        int group = warm->x->group[i];

        if (group == MO_FREE)
            continue;
        if (warm->first_op[group] < 0)
            warm->first_op[group] = i;
        copy->device[i] = copy->device[warm->first_op[group]];
    }
    status = replay(warm, copy, INT64_MAX, made, err);
    mo_schedule_free(copy);
    return status;
}
